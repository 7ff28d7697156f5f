//! The dials of a camera: aperture, shutter and ISO speed, exposure mode, metering, white balance.

use std::str::FromStr;

use glam::{DMat3, DVec3};

use super::{
    error::CameraError,
    exposure::Exposure,
    exposure_mode::{ExposureDials, ExposureMode},
    metering::AutoExposure,
};
use crate::photometry::{
    Ev100,
    color::{Adaptation, ColorError, WhiteBalance, correlated_temperature},
};

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

    /// The same position in images of other sizes: pixels of an image of this size become fractions
    /// at their centers.
    #[must_use]
    pub fn resizable(self, width: u32, height: u32) -> Self {
        let of = |coordinate, size: u32| match coordinate {
            Coordinate::Pixel(pixel) => {
                Coordinate::Part(((f64::from(pixel) + 0.5) / f64::from(size.max(1))).min(1.0))
            }
            part @ Coordinate::Part(_) => part,
        };
        Self([of(self.0[0], width), of(self.0[1], height)])
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

/// Settings of the light meter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metering {
    /// Metering mode.
    pub mode: MeteringMode,
    /// Position of the spot or of the incident light meter.
    pub position: ImagePosition,
    /// Full angle of view of the spot meter (rad), above 0 and below pi/2.
    pub spot_angle: f64,
}

impl Metering {
    /// Full angle of a common spot meter (rad): 1 degree.
    pub const SPOT_ANGLE: f64 = std::f64::consts::PI / 180.0;
}

impl Default for Metering {
    /// The mean log luminance; a spot of 1 degree in the center.
    fn default() -> Self {
        Self {
            mode: MeteringMode::LogAverage,
            position: ImagePosition::CENTER,
            spot_angle: Self::SPOT_ANGLE,
        }
    }
}

/// White balance of the camera.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WhiteBalanceDials {
    /// The white, unless a gray card is set.
    pub white: WhiteBalance,
    /// Position of a gray surface, whose color is the white.
    pub gray_card: Option<ImagePosition>,
    /// Tint of the white (Duv); positive is greener than a black body.
    pub tint: f64,
    /// Chromatic adaptation.
    pub method: Adaptation,
}

impl WhiteBalanceDials {
    /// White balance matrix on exposed linear Rec.709; `picked` is the color of the gray card, if
    /// one is set.
    ///
    /// # Errors
    /// A color that no light has, or that cannot be adapted to white.
    pub fn matrix(&self, picked: Option<DVec3>) -> Result<DMat3, CameraError> {
        let (property, white) = match picked {
            Some(sample) => {
                ("camera.white_balance.gray_card", WhiteBalance::from_gray_card(sample))
            }
            None => ("camera.white_balance", Ok(self.white)),
        };
        let tinted = |white: WhiteBalance| {
            if self.tint == 0.0 {
                return Ok(white);
            }
            let (kelvin, duv) = correlated_temperature(white.white()?)?;
            Ok(WhiteBalance::Temperature { kelvin, duv: duv + self.tint })
        };
        white
            .and_then(tinted)
            .and_then(|white| white.matrix(self.method))
            .map_err(|error: ColorError| CameraError::WhiteBalance { property, error })
    }
}

/// The dials; `None` is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dials {
    /// F-number, above 0.
    pub f_stop: Option<f64>,
    /// T-number, at least the f-number.
    pub t_stop: Option<f64>,
    /// Exposure time (s), above 0.
    pub shutter_s: Option<f64>,
    /// ISO speed, above 0.
    pub iso: Option<f64>,
    /// Exposure value, which overrides the dials above.
    pub ev100: Option<Ev100>,
    /// Exposure compensation in stops; positive is brighter.
    pub compensation: f64,
    /// Exposure control; see [`Dials::control`].
    pub control: Option<ExposureControl>,
    /// True if ISO also changes once the other dials are at the end of their range.
    pub auto_iso: bool,
    /// Time constants (s) of adaptation to brighter and to darker scenes, at least 0.
    pub adaptation: Option<[f64; 2]>,
    /// The light meter.
    pub metering: Metering,
    /// White balance.
    pub white_balance: WhiteBalanceDials,
}

impl Dials {
    /// F-number if none is set.
    const F_STOP: f64 = 8.0;
    /// Exposure time (s) if none is set.
    pub const SHUTTER_S: f64 = 1.0 / 125.0;
    /// ISO speed if none is set.
    pub const ISO: f64 = 100.0;

    /// True if the exposure is set, by dials or by value.
    #[must_use]
    pub fn set_exposure(&self) -> bool {
        self.ev100.is_some()
            || self.f_stop.or(self.t_stop).or(self.shutter_s).or(self.iso).is_some()
    }

    /// The exposure control that is set; else manual if the exposure is set, else automatic.
    #[must_use]
    pub fn control(&self) -> ExposureControl {
        let manual = ExposureControl::Dials(ExposureMode::Manual);
        let default = if self.set_exposure() { manual } else { ExposureControl::Auto };
        self.control.unwrap_or(default)
    }

    /// Remark about an exposure value that the exposure mode replaces.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let ev = self.ev100?;
        let control = self.control();
        (control != ExposureControl::Dials(ExposureMode::Manual)).then(|| {
            format!(
                "note: camera.exposure.ev100 = {}: no effect with camera.exposure.mode = {}, which exposes by the light meter; remove it, or set the mode to manual",
                ev.0,
                control.name()
            )
        })
    }

    /// The dials that expose; a T-number replaces the f-number. By default f/8, 1/125 s, ISO 100.
    #[must_use]
    pub fn exposing(&self) -> ExposureDials {
        ExposureDials {
            f_stop: self.t_stop.or(self.f_stop).unwrap_or(Self::F_STOP),
            shutter_s: self.shutter_s.unwrap_or(Self::SHUTTER_S),
            iso: self.iso.unwrap_or(Self::ISO),
        }
    }

    /// F-number of the iris; the T-number, f/8 by default, if none is set.
    #[must_use]
    pub fn iris_stop(&self) -> f64 {
        self.f_stop.or(self.t_stop).unwrap_or(Self::F_STOP)
    }

    /// T-number over f-number; 1 unless both are set.
    #[must_use]
    pub fn stop_losses(&self) -> f64 {
        self.t_stop.zip(self.f_stop).map_or(1.0, |(t_stop, f_stop)| t_stop / f_stop)
    }

    /// The exposure of the exposing dials or of the exposure value, with compensation.
    ///
    /// # Errors
    /// Dials out of range of an exposure; a T-number below the f-number.
    pub fn exposure(&self) -> Result<Exposure, CameraError> {
        if let Some((f_stop, t_stop)) = self.f_stop.zip(self.t_stop)
            && t_stop < f_stop
        {
            return Err(CameraError::t_stop(t_stop, f_stop));
        }
        let exposure = match self.ev100 {
            Some(ev) => Exposure::from_ev100(ev)?,
            None => self.exposing().exposure()?,
        };
        self.compensated(exposure)
    }

    /// An exposure with the compensation.
    ///
    /// # Errors
    /// A result out of range of an exposure.
    pub fn compensated(&self, exposure: Exposure) -> Result<Exposure, CameraError> {
        Ok(exposure.compensated(self.compensation)?)
    }

    /// These dials with solved ones. The solved stop is the exposing one: with a T-number it
    /// replaces that, and the f-number scales in proportion.
    #[must_use]
    pub fn with(&self, solved: ExposureDials) -> Self {
        let scale = self.t_stop.zip(self.f_stop).map_or(1.0, |(t_stop, f_stop)| f_stop / t_stop);
        Self {
            f_stop: Some(solved.f_stop * scale),
            t_stop: self.t_stop.map(|_| solved.f_stop),
            shutter_s: Some(solved.shutter_s),
            iso: Some(solved.iso),
            ..*self
        }
    }

    /// Automatic exposure over a sequence, before compensation. It converges to the meter reading
    /// of a still, the mean of all lit pixels, without bounds.
    #[must_use]
    pub fn auto_exposure(&self) -> AutoExposure {
        let default = AutoExposure::default();
        let [brighter_s, darker_s] =
            self.adaptation.unwrap_or([default.brighter_s, default.darker_s]);
        AutoExposure {
            low_percentile: 0.0,
            high_percentile: 1.0,
            compensation: 0.0,
            range: [Ev100(f64::NEG_INFINITY), Ev100(f64::INFINITY)],
            brighter_s,
            darker_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::Kelvin;

    #[test]
    fn positions() {
        let at = |text: &str| text.parse::<ImagePosition>().unwrap().pixel(640, 360);
        assert_eq!(at("320,180"), Some([320, 180]));
        assert_eq!(at(" 50% , 100%"), Some([320, 359]));
        assert_eq!(at("639,0%"), Some([639, 0]));
        assert_eq!((at("640,0"), at("0,360")), (None, None));
        for bad in ["", "3", "3;4", "-1,0", "1.5,2", "101%,0", "NaN%,0", "1,2,3"] {
            assert!(bad.parse::<ImagePosition>().is_err(), "{bad}");
        }
        assert_eq!(ImagePosition::CENTER.pixel(1, 1), Some([0, 0]));
        let resizable = |text: &str| text.parse::<ImagePosition>().unwrap().resizable(640, 360);
        assert_eq!(resizable("320,180").pixel(640, 360), Some([320, 180]));
        assert_eq!(resizable("639,1").pixel(160, 90), Some([159, 0]));
        assert_eq!(resizable("25%,50%").pixel(160, 90), Some([40, 45]));
    }

    #[test]
    fn modes_are_found_by_their_names() {
        for (name, mode) in MeteringMode::ALL {
            assert_eq!((MeteringMode::from_name(name), mode.name()), (Some(mode), name));
        }
        for (name, control) in ExposureControl::ALL {
            assert_eq!((ExposureControl::from_name(name), control.name()), (Some(control), name));
        }
    }

    #[test]
    fn solved_dials_keep_the_losses_of_the_glass() {
        let solved = ExposureDials { f_stop: 5.0, shutter_s: 0.5, iso: 200.0 };
        let both = Dials { f_stop: Some(2.0), t_stop: Some(2.5), ..Dials::default() };
        let dials = both.with(solved);
        assert_eq!((dials.f_stop, dials.t_stop), (Some(4.0), Some(5.0)));
        assert_eq!(dials.exposing(), solved);
        assert_eq!((dials.stop_losses(), dials.iris_stop()), (1.25, 4.0));
        let t_alone = Dials { t_stop: Some(2.5), ..Dials::default() }.with(solved);
        assert_eq!((t_alone.f_stop, t_alone.t_stop), (Some(5.0), Some(5.0)));
        let none = Dials::default().with(solved);
        assert_eq!((none.f_stop, none.t_stop), (Some(5.0), None));
        assert_eq!(Dials::default().control(), ExposureControl::Auto);
        assert_eq!(none.control(), ExposureControl::Dials(ExposureMode::Manual));
        assert_eq!(none.note(), None);
        let by_value = Dials { ev100: Some(Ev100(9.0)), ..none };
        assert_eq!(by_value.note(), None);
        let mode = ExposureControl::Dials(ExposureMode::Program);
        let note = Dials { control: Some(mode), ..by_value }.note().unwrap();
        assert!(
            note.contains("ev100 = 9: no effect with camera.exposure.mode = program"),
            "{note}"
        );
        let wrong = Dials { t_stop: Some(1.8), ..both }.exposure().unwrap_err().to_string();
        assert!(wrong.starts_with("camera.lens.t_stop = 1.8: "), "{wrong}");
    }

    #[test]
    fn a_tint_moves_the_white_off_the_locus() {
        let neutral = WhiteBalanceDials::default();
        assert_eq!(neutral.matrix(None).unwrap(), DMat3::IDENTITY);
        let warm = |tint: f64| WhiteBalanceDials {
            white: WhiteBalance::Temperature { kelvin: Kelvin(4000.0), duv: 0.0 },
            tint,
            ..neutral
        };
        let green = |tint: f64| {
            let shown = warm(tint).matrix(None).unwrap() * DVec3::ONE;
            shown.y / (shown.x + shown.z)
        };
        // White light looks more magenta if the white is taken to be greener.
        assert!(green(0.02) < green(0.0) && green(0.0) < green(-0.02));
        // The tint of a light is undone.
        let white = crate::photometry::color::planckian_tinted(Kelvin(4000.0), 0.01).unwrap();
        let light = crate::photometry::color::light_color(white).unwrap();
        let shown = warm(0.01).matrix(None).unwrap() * light;
        assert!((shown - DVec3::ONE).abs().max_element() < 2e-3, "{shown}");
        // A gray card, and black.
        let shown = neutral.matrix(Some(light * 3.0)).unwrap() * light;
        assert!((shown - DVec3::ONE).abs().max_element() < 1e-9, "{shown}");
        let error = neutral.matrix(Some(DVec3::ZERO)).unwrap_err().to_string();
        assert!(error.contains("gray_card") && error.contains("pick"), "{error}");
    }
}
