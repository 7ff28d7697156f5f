//! `camera.metering.*`, `camera.exposure.*` except the settings themselves, the ranges of the
//! settings, and `camera.white_balance.*`.

use std::str::FromStr;

use glam::{DMat3, DVec3};

use super::{LookError, reader::Reader};
use crate::{
    camera::{AutoExposure, Body, DialRanges, ExposureMode, LensSpec},
    photometry::{
        Ev100, Kelvin,
        color::{Adaptation, ColorError, KELVIN_LIMITS, WhiteBalance, correlated_temperature},
    },
};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("camera.body.iso_range", "minimum and maximum ISO speed, e.g. \"100,6400\""),
    (
        "camera.body.shutter_range",
        "minimum and maximum shutter time in seconds, e.g. \"1/4000,30\"",
    ),
    ("camera.lens.f_stop_range", "minimum and maximum f-number, e.g. \"1.4,22\""),
    ("camera.exposure.mode", "exposure mode: auto, manual, aperture, shutter, iso or program"),
    (
        "camera.exposure.auto_iso",
        "true or false: the ISO speed also changes once the other dials are at the end of their range",
    ),
    (
        "camera.exposure.adaptation",
        "adaptation time constants in seconds, 0 or more: one number, or two for brighter and darker scenes",
    ),
    (
        "camera.metering.mode",
        "metering mode: log-average, average, center, matrix, spot or incident",
    ),
    (
        "camera.metering.position",
        "position of the spot or of the incident light meter, in pixels or percent from the upper left, e.g. \"320,180\" or \"50%,50%\"",
    ),
    (
        "camera.metering.spot_angle",
        "angle of view of the spot meter in degrees, above 0 and below 90",
    ),
    (
        "camera.white_balance",
        "white balance: neutral, incandescent, fluorescent, daylight, flash, cloudy, shade, or kelvins from 500 to 1000000",
    ),
    (
        "camera.white_balance.white",
        "same values as camera.white_balance, for look files that also set a tint",
    ),
    (
        "camera.white_balance.tint",
        "tint of the white as Duv, -0.05 to 0.05, positive is greener than a black body",
    ),
    ("camera.white_balance.gray_card", "position of a gray surface: \"X,Y\" in pixels or percent"),
    ("camera.white_balance.method", "chromatic adaptation: cat16 or bradford"),
];

/// A position in an image, relative to its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImagePosition([Coordinate; 2]);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Coordinate {
    /// Pixel index.
    Pixel(u32),
    /// Fraction of the image, 0 to 1.
    Part(f64),
}

impl ImagePosition {
    /// Center of the image.
    pub const CENTER: Self = Self([Coordinate::Part(0.5); 2]);

    /// Column and row of the pixel in an image of this size; `None` if it is outside.
    #[must_use]
    pub fn pixel(self, width: u32, height: u32) -> Option<[u32; 2]> {
        let of = |coordinate, size: u32| match coordinate {
            Coordinate::Pixel(pixel) => (pixel < size).then_some(pixel),
            Coordinate::Part(part) => {
                Some(((part * f64::from(size)) as u32).min(size.saturating_sub(1)))
            }
        };
        Some([of(self.0[0], width)?, of(self.0[1], height)?])
    }
}

impl FromStr for ImagePosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "invalid position '{text}': expected X,Y in pixels or percent, e.g. 320,180 or 50%,50%"
            )
        };
        let one = |text: &str| {
            let text = text.trim();
            match text.strip_suffix('%') {
                Some(percent) => {
                    let percent: f64 = percent.trim().parse().ok()?;
                    (0.0..=100.0).contains(&percent).then_some(Coordinate::Part(percent / 100.0))
                }
                None => text.parse().ok().map(Coordinate::Pixel),
            }
        };
        let (x, y) = text.split_once(',').ok_or_else(invalid)?;
        Ok(Self([one(x).ok_or_else(invalid)?, one(y).ok_or_else(invalid)?]))
    }
}

/// Metering mode: `camera::MeterMode` without the numbers that depend on the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeteringMode {
    /// Mean log luminance of all lit pixels.
    #[default]
    LogAverage,
    /// Mean luminance.
    Average,
    /// Center-weighted mean.
    Center,
    /// Matrix of zones.
    Matrix,
    /// Spot: a disk around a position.
    Spot,
    /// Incident light at a position: the illuminance of a flat receptor that faces along the
    /// surface normal, independent of the image.
    Incident,
}

impl MeteringMode {
    /// All modes by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("incident", Self::Incident),
        ("spot", Self::Spot),
        ("center", Self::Center),
        ("matrix", Self::Matrix),
        ("average", Self::Average),
        ("log-average", Self::LogAverage),
    ];

    /// The mode of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if matches!(name, "centre" | "centre-weighted" | "center-weighted") {
            "center"
        } else {
            name
        };
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, mode)| mode)
    }

    /// Name of the mode.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

/// Exposure control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExposureControl {
    /// The meter alone, without the exposure settings.
    Auto,
    /// The exposure settings, adjusted by the mode.
    Dials(ExposureMode),
}

impl ExposureControl {
    /// All controls by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("auto", Self::Auto),
        ("manual", Self::Dials(ExposureMode::Manual)),
        ("aperture", Self::Dials(ExposureMode::AperturePriority)),
        ("shutter", Self::Dials(ExposureMode::ShutterPriority)),
        ("iso", Self::Dials(ExposureMode::IsoPriority)),
        ("program", Self::Dials(ExposureMode::Program)),
    ];

    /// The control of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, control)| control)
    }

    /// Name of the control.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, control)| *control == self).map_or("", |(name, _)| name)
    }
}

/// Overrides of metering, auto exposure and white balance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeteringLook {
    /// `body.iso_range`.
    pub iso_range: Option<[f64; 2]>,
    /// `body.shutter_range` (s).
    pub shutter_range: Option<[f64; 2]>,
    /// `lens.f_stop_range`.
    pub f_stop_range: Option<[f64; 2]>,
    /// `exposure.mode`.
    pub control: Option<ExposureControl>,
    /// `exposure.auto_iso`.
    pub auto_iso: Option<bool>,
    /// `exposure.adaptation` (s): time constants to brighter and to darker scenes.
    pub adaptation: Option<[f64; 2]>,
    /// `metering.mode`.
    pub mode: Option<MeteringMode>,
    /// `metering.position`.
    pub position: Option<ImagePosition>,
    /// `metering.spot_angle` (rad).
    pub spot_angle: Option<f64>,
    /// `white_balance`, or `white_balance.white`; the last one of this and `gray_card` applies.
    pub white: Option<WhiteBalance>,
    /// `white_balance.gray_card`.
    pub gray_card: Option<ImagePosition>,
    /// `white_balance.tint` (Duv).
    pub tint: Option<f64>,
    /// `white_balance.method`.
    pub method: Option<Adaptation>,
}

impl MeteringLook {
    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "camera.body.iso_range" => self.iso_range = Some(range(read)?),
            "camera.body.shutter_range" => self.shutter_range = Some(range(read)?),
            "camera.lens.f_stop_range" => self.f_stop_range = Some(range(read)?),
            "camera.exposure.mode" => {
                self.control =
                    Some(ExposureControl::from_name(read.value).ok_or_else(|| read.bad_value())?);
            }
            "camera.exposure.auto_iso" => self.auto_iso = Some(read.boolean()?),
            "camera.exposure.adaptation" => {
                let (brighter, darker) =
                    read.value.split_once(',').unwrap_or((read.value, read.value));
                let part = |value: &str| Reader { value: value.trim(), ..*read }.non_negative();
                self.adaptation = Some([part(brighter)?, part(darker)?]);
            }
            "camera.metering.mode" => {
                self.mode =
                    Some(MeteringMode::from_name(read.value).ok_or_else(|| read.bad_value())?)
            }
            "camera.metering.position" => {
                self.position = Some(read.value.parse().map_err(|_| read.bad_value())?)
            }
            "camera.metering.spot_angle" => {
                let degrees =
                    read.in_range(0.0, 90.0).ok().filter(|angle| *angle > 0.0 && *angle < 90.0);
                self.spot_angle = Some(degrees.ok_or_else(|| read.bad_value())?.to_radians());
            }
            "camera.white_balance" | "camera.white_balance.white" => {
                self.white = Some(white(read)?);
                self.gray_card = None;
            }
            "camera.white_balance.gray_card" => {
                self.gray_card = Some(read.value.parse().map_err(|_| read.bad_value())?);
                self.white = None;
            }
            "camera.white_balance.tint" => self.tint = Some(read.in_range(-0.05, 0.05)?),
            "camera.white_balance.method" => {
                self.method = Some(match read.value {
                    "cat16" => Adaptation::Cat16,
                    "bradford" => Adaptation::Bradford,
                    _ => return Err(read.bad_value()),
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Ranges of aperture, shutter time and ISO: the look's, else those of the default body and
    /// lens.
    #[must_use]
    pub fn ranges(&self) -> DialRanges {
        let default = DialRanges::of(&Body::default(), &LensSpec::default());
        DialRanges {
            f_stop: self.f_stop_range.unwrap_or(default.f_stop),
            shutter_s: self.shutter_range.unwrap_or(default.shutter_s),
            iso: self.iso_range.unwrap_or(default.iso),
        }
    }

    /// Auto exposure over a sequence: the look's time constants, with a compensation in stops. It
    /// converges to the meter reading of a still, the mean of all lit pixels, without bounds.
    #[must_use]
    pub fn auto_exposure(&self, compensation: f64) -> AutoExposure {
        let range = [Ev100(f64::NEG_INFINITY), Ev100(f64::INFINITY)];
        let default = AutoExposure {
            low_percentile: 0.0,
            high_percentile: 1.0,
            compensation,
            range,
            ..AutoExposure::default()
        };
        match self.adaptation {
            Some([brighter_s, darker_s]) => AutoExposure { brighter_s, darker_s, ..default },
            None => default,
        }
    }

    /// White balance matrix on exposed linear Rec.709; `picked` is the color of the gray card, if
    /// the look sets one.
    ///
    /// # Errors
    /// A color that no light has, or that cannot be adapted to white.
    pub fn white_balance(&self, picked: Option<DVec3>) -> Result<DMat3, LookError> {
        let (property, white) = match picked {
            Some(sample) => {
                ("camera.white_balance.gray_card", WhiteBalance::from_gray_card(sample))
            }
            None => ("camera.white_balance", Ok(self.white.unwrap_or_default())),
        };
        let tinted = |white: WhiteBalance| match self.tint.filter(|tint| *tint != 0.0) {
            Some(tint) => {
                let (kelvin, duv) = correlated_temperature(white.white()?)?;
                Ok(WhiteBalance::Temperature { kelvin, duv: duv + tint })
            }
            None => Ok(white),
        };
        let matrix = |white: WhiteBalance| white.matrix(self.method.unwrap_or_default());
        white
            .and_then(tinted)
            .and_then(matrix)
            .map_err(|error: ColorError| LookError::WhiteBalance { property, error })
    }
}

/// Two positive numbers or times, not decreasing.
fn range(read: &Reader<'_>) -> Result<[f64; 2], LookError> {
    let (min, max) = read.value.split_once(',').ok_or_else(|| read.bad_value())?;
    let part = |value: &str| Reader { value: value.trim(), ..*read }.seconds();
    let (min, max) = (part(min)?, part(max)?);
    if min <= max { Ok([min, max]) } else { Err(read.bad_value()) }
}

fn white(read: &Reader<'_>) -> Result<WhiteBalance, LookError> {
    if matches!(read.value, "neutral" | "none") {
        return Ok(WhiteBalance::Neutral);
    }
    if let Some((_, preset)) =
        WhiteBalance::PRESETS.into_iter().find(|(name, _)| *name == read.value)
    {
        return Ok(preset);
    }
    let kelvin = read.value.trim_end_matches(['K', 'k']).trim();
    let kelvin = Reader { value: kelvin, ..*read }.in_range(KELVIN_LIMITS[0], KELVIN_LIMITS[1]);
    Ok(WhiteBalance::Temperature {
        kelvin: Kelvin(kelvin.map_err(|_| read.bad_value())?),
        duv: 0.0,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Look;
    use super::*;

    fn set(settings: &[&str]) -> Result<MeteringLook, LookError> {
        let mut look = Look::default();
        for setting in settings {
            look.assign(setting)?;
        }
        Ok(look.metering)
    }

    #[test]
    fn places() {
        let at = |text: &str| text.parse::<ImagePosition>().unwrap().pixel(640, 360);
        assert_eq!(at("320,180"), Some([320, 180]));
        assert_eq!(at(" 50% , 100%"), Some([320, 359]));
        assert_eq!(at("639,0%"), Some([639, 0]));
        assert_eq!((at("640,0"), at("0,360")), (None, None));
        for bad in ["", "3", "3;4", "-1,0", "1.5,2", "101%,0", "NaN%,0", "1,2,3"] {
            assert!(bad.parse::<ImagePosition>().is_err(), "{bad}");
        }
        assert_eq!(ImagePosition::CENTER.pixel(1, 1), Some([0, 0]));
    }

    #[test]
    fn all_that_is_set_is_there() {
        let look = set(&[
            "camera.body.iso_range=100,6400",
            "camera.body.shutter_range=1/4000,30",
            "camera.lens.f_stop_range=2.8,16",
            "camera.exposure.mode=aperture",
            "camera.exposure.auto_iso=true",
            "camera.exposure.adaptation=0.5,2",
            "camera.metering.mode=spot",
            "camera.metering.position=10,20",
            "camera.metering.spot_angle=3",
            "camera.white_balance=2700K",
            "camera.white_balance.tint=-0.01",
            "camera.white_balance.method=bradford",
        ])
        .unwrap();
        let ranges = look.ranges();
        assert_eq!((ranges.iso, ranges.shutter_s), ([100.0, 6400.0], [1.0 / 4000.0, 30.0]));
        assert_eq!(ranges.f_stop, [2.8, 16.0]);
        assert_eq!(look.control, Some(ExposureControl::Dials(ExposureMode::AperturePriority)));
        assert_eq!((look.auto_iso, look.adaptation), (Some(true), Some([0.5, 2.0])));
        assert_eq!(
            (look.mode, look.method),
            (Some(MeteringMode::Spot), Some(Adaptation::Bradford))
        );
        assert_eq!(
            look.white,
            Some(WhiteBalance::Temperature { kelvin: Kelvin(2700.0), duv: 0.0 })
        );
        assert_eq!(set(&["camera.exposure.adaptation=1"]).unwrap().adaptation, Some([1.0, 1.0]));
        let auto = look.auto_exposure(0.7);
        assert_eq!((auto.brighter_s, auto.darker_s, auto.compensation), (0.5, 2.0, 0.7));
        let (plain, default) =
            (MeteringLook::default().auto_exposure(0.0), AutoExposure::default());
        assert_eq!((plain.brighter_s, plain.darker_s), (default.brighter_s, default.darker_s));
        // All lit pixels count, as for the meter of a still.
        assert_eq!((plain.low_percentile, plain.high_percentile), (0.0, 1.0));
        for (name, mode) in MeteringMode::ALL {
            assert_eq!((MeteringMode::from_name(name), mode.name()), (Some(mode), name));
        }
        for (name, control) in ExposureControl::ALL {
            assert_eq!((ExposureControl::from_name(name), control.name()), (Some(control), name));
        }
    }

    #[test]
    fn look_files_take_lists_and_the_short_form() {
        let mut look = Look::default();
        let text = "[camera]\nwhite_balance = \"shade\"\n[camera.body]\niso_range = [200, 1600]\n\
                    [camera.metering]\nposition = [3, 4]\n";
        look.parse("a", text).unwrap();
        assert_eq!(look.metering.white, Some(WhiteBalance::Shade));
        assert_eq!(look.metering.iso_range, Some([200.0, 1600.0]));
        assert_eq!(look.metering.position.unwrap().pixel(9, 9), Some([3, 4]));
        look.parse("b", "[camera.white_balance]\nwhite = 3200\ntint = 0.004\n").unwrap();
        assert_eq!(
            look.metering.white,
            Some(WhiteBalance::Temperature { kelvin: Kelvin(3200.0), duv: 0.0 })
        );
        // The last one set applies.
        look.assign("camera.white_balance.gray_card=5,5").unwrap();
        assert!(look.metering.white.is_none() && look.metering.gray_card.is_some());
        look.assign("camera.white_balance=neutral").unwrap();
        assert!(look.metering.gray_card.is_none());
    }

    #[test]
    fn wrong_values_are_named() {
        for bad in [
            "camera.body.iso_range=100",
            "camera.body.iso_range=6400,100",
            "camera.body.shutter_range=0,1",
            "camera.exposure.mode=sport",
            "camera.exposure.adaptation=-1",
            "camera.exposure.adaptation=nan",
            "camera.metering.mode=dome",
            "camera.metering.position=a,b",
            "camera.metering.spot_angle=0",
            "camera.white_balance=warm",
            "camera.white_balance=100",
            "camera.white_balance=nan",
            "camera.white_balance.tint=0.1",
            "camera.white_balance.gray_card=-1,0",
            "camera.white_balance.method=von-kries",
        ] {
            let error = set(&[bad]).unwrap_err().to_string();
            assert!(error.contains("expected"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_tint_moves_the_white_off_the_locus() {
        let neutral = MeteringLook::default().white_balance(None).unwrap();
        assert_eq!(neutral, DMat3::IDENTITY);
        let green = |tint: f64| {
            let look =
                set(&["camera.white_balance=4000", &format!("camera.white_balance.tint={tint}")])
                    .unwrap();
            let shown = look.white_balance(None).unwrap() * DVec3::ONE;
            shown.y / (shown.x + shown.z)
        };
        // White light looks more magenta if the white is taken to be greener.
        assert!(green(0.02) < green(0.0) && green(0.0) < green(-0.02));
        // The tint of a light is undone.
        let look = set(&["camera.white_balance=4000", "camera.white_balance.tint=0.01"]).unwrap();
        let white = crate::photometry::color::planckian_tinted(Kelvin(4000.0), 0.01).unwrap();
        let light = crate::photometry::color::light_color(white).unwrap();
        let shown = look.white_balance(None).unwrap() * light;
        assert!((shown - DVec3::ONE).abs().max_element() < 2e-3, "{shown}");
        // A gray card, and black.
        let shown = MeteringLook::default().white_balance(Some(light * 3.0)).unwrap() * light;
        assert!((shown - DVec3::ONE).abs().max_element() < 1e-9, "{shown}");
        let error =
            MeteringLook::default().white_balance(Some(DVec3::ZERO)).unwrap_err().to_string();
        assert!(error.contains("gray_card") && error.contains("pick"), "{error}");
    }
}
