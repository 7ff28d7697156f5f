//! `camera.metering.*`, `camera.exposure.*` except the settings themselves, the ranges of the
//! settings, and `camera.white_balance.*`.

use super::{LookError, reader::Reader};
use crate::{
    camera::{Body, CameraLens, Dials, ExposureControl, MeteringMode},
    photometry::{
        Kelvin,
        color::{Adaptation, KELVIN_LIMITS, WhiteBalance},
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

/// Sets one property; false if this section has none of this path.
pub(super) fn set(
    body: &mut Body,
    lens: &mut CameraLens,
    dials: &mut Dials,
    read: &Reader<'_>,
) -> Result<bool, LookError> {
    let balance = &mut dials.white_balance;
    match read.path {
        "camera.body.iso_range" => body.iso_range = range(read)?,
        "camera.body.shutter_range" => body.shutter_range = range(read)?,
        "camera.lens.f_stop_range" => lens.f_stop_range = range(read)?,
        "camera.exposure.mode" => {
            dials.control =
                Some(ExposureControl::from_name(read.value).ok_or_else(|| read.bad_value())?);
        }
        "camera.exposure.auto_iso" => dials.auto_iso = read.boolean()?,
        "camera.exposure.adaptation" => {
            let (brighter, darker) = read.value.split_once(',').unwrap_or((read.value, read.value));
            let part = |value: &str| {
                let part = Reader { value: value.trim(), ..*read }.non_negative();
                part.map_err(|_| read.bad_value())
            };
            dials.adaptation = Some([part(brighter)?, part(darker)?]);
        }
        "camera.metering.mode" => {
            dials.metering.mode =
                MeteringMode::from_name(read.value).ok_or_else(|| read.bad_value())?;
        }
        "camera.metering.position" => {
            dials.metering.position = read.value.parse().map_err(|_| read.bad_value())?;
        }
        "camera.metering.spot_angle" => {
            let degrees =
                read.in_range(0.0, 90.0).ok().filter(|angle| *angle > 0.0 && *angle < 90.0);
            dials.metering.spot_angle = degrees.ok_or_else(|| read.bad_value())?.to_radians();
        }
        "camera.white_balance" | "camera.white_balance.white" => {
            (balance.white, balance.gray_card) = (white(read)?, None);
        }
        "camera.white_balance.gray_card" => {
            let card = read.value.parse().map_err(|_| read.bad_value())?;
            (balance.white, balance.gray_card) = (WhiteBalance::Neutral, Some(card));
        }
        "camera.white_balance.tint" => balance.tint = read.in_range(-0.05, 0.05)?,
        "camera.white_balance.method" => {
            balance.method = match read.value {
                "cat16" => Adaptation::Cat16,
                "bradford" => Adaptation::Bradford,
                _ => return Err(read.bad_value()),
            };
        }
        _ => return Ok(false),
    }
    Ok(true)
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
    use super::{
        super::{CameraLook, Look},
        *,
    };
    use crate::camera::{AutoExposure, DialRanges, ExposureMode};

    fn set(settings: &[&str]) -> Result<CameraLook, LookError> {
        let mut look = Look::default();
        for setting in settings {
            look.assign(setting)?;
        }
        Ok(look.camera)
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
        let ranges = DialRanges::of(&look.body, &look.lens);
        assert_eq!((ranges.iso, ranges.shutter_s), ([100.0, 6400.0], [1.0 / 4000.0, 30.0]));
        assert_eq!(ranges.f_stop, [2.8, 16.0]);
        let dials = look.dials;
        assert_eq!(dials.control, Some(ExposureControl::Dials(ExposureMode::AperturePriority)));
        assert_eq!((dials.auto_iso, dials.adaptation), (true, Some([0.5, 2.0])));
        assert_eq!(dials.metering.mode, MeteringMode::Spot);
        assert_eq!(dials.metering.position.pixel(99, 99), Some([10, 20]));
        assert!((dials.metering.spot_angle.to_degrees() - 3.0).abs() < 1e-12);
        let balance = dials.white_balance;
        assert_eq!((balance.tint, balance.method), (-0.01, Adaptation::Bradford));
        assert_eq!(balance.white, WhiteBalance::Temperature { kelvin: Kelvin(2700.0), duv: 0.0 });
        let one = set(&["camera.exposure.adaptation=1"]).unwrap().dials;
        assert_eq!(one.adaptation, Some([1.0, 1.0]));
        let wrong = set(&["camera.exposure.adaptation=0.3,1,2"]).err();
        assert!(matches!(&wrong, Some(LookError::BadValue { value, .. }) if value == "0.3,1,2"));
        // Compensation is applied after adaptation.
        let auto = dials.auto_exposure();
        assert_eq!((auto.brighter_s, auto.darker_s, auto.compensation), (0.5, 2.0, 0.0));
        let (plain, default) = (Dials::default().auto_exposure(), AutoExposure::default());
        assert_eq!((plain.brighter_s, plain.darker_s), (default.brighter_s, default.darker_s));
        // All lit pixels count, as for the meter of a still.
        assert_eq!((plain.low_percentile, plain.high_percentile), (0.0, 1.0));
    }

    #[test]
    fn look_files_take_lists_and_the_short_form() {
        let mut look = Look::default();
        let text = "[camera]\nwhite_balance = \"shade\"\n[camera.body]\niso_range = [200, 1600]\n\
                    [camera.metering]\nposition = [3, 4]\n";
        look.parse("a", text).unwrap();
        assert_eq!(look.camera.dials.white_balance.white, WhiteBalance::Shade);
        assert_eq!(look.camera.body.iso_range, [200.0, 1600.0]);
        assert_eq!(look.camera.dials.metering.position.pixel(9, 9), Some([3, 4]));
        look.parse("b", "[camera.white_balance]\nwhite = 3200\ntint = 0.004\n").unwrap();
        assert_eq!(
            look.camera.dials.white_balance.white,
            WhiteBalance::Temperature { kelvin: Kelvin(3200.0), duv: 0.0 }
        );
        // The last one set applies.
        look.assign("camera.white_balance.gray_card=5,5").unwrap();
        let balance = look.camera.dials.white_balance;
        assert!(balance.white == WhiteBalance::Neutral && balance.gray_card.is_some());
        look.assign("camera.white_balance=neutral").unwrap();
        assert!(look.camera.dials.white_balance.gray_card.is_none());
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
}
