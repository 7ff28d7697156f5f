//! Photographic values as text: times, lengths, ranges of dials, sensors, positions in a picture,
//! white balance.

use std::path::PathBuf;

use glam::DVec3;

use crate::{
    camera::{
        SensorSize,
        body::{SENSORS, SensorPreset},
        dials::ImagePosition,
    },
    photometry::{
        Ev100, Kelvin,
        color::{KELVIN_LIMITS, WhiteBalance},
    },
    settings::{Accepts, Input, Setting, names, number, units::in_unit},
};

/// A world position (m), within the range of single precision.
pub(super) const PLACE: Accepts = Accepts::Components { min: -1e9, max: 1e9, one: false };

/// Three finite numbers.
pub(super) const VECTOR: Accepts =
    Accepts::Components { min: -f64::MAX, max: f64::MAX, one: false };

pub(super) const ROLL: Accepts = Accepts::Angle { min: -180.0, max: 180.0 };

pub(super) const SPOT_ANGLE: Accepts = Accepts::Above { min: 0.0, max: 90.0_f64.next_down() };

/// A number or a fraction.
const FRACTION: Accepts = Accepts::Pattern("^[^/,]+(/[^/,]+)?$");

/// A time in seconds above 0, or a fraction of a second.
pub(super) const SECONDS: Accepts = Accepts::OneOf(&[Accepts::POSITIVE, FRACTION]);

pub(super) const READOUT_TIME: Accepts =
    Accepts::OneOf(&[Accepts::Above { min: 0.0, max: 1000.0 }, FRACTION]);

const LENGTH: Accepts = Accepts::Pattern("^[0-9.eE+-]+ *(m|cm|mm|um|ft|in)?$");

pub(super) const FOCAL_LENGTH: Accepts =
    Accepts::OneOf(&[Accepts::Range { min: 0.1, max: 10_000.0, integer: false }, LENGTH]);

pub(super) const BARREL_LENGTH: Accepts =
    Accepts::OneOf(&[Accepts::Range { min: 0.0, max: 10_000.0, integer: false }, LENGTH]);

pub(super) const BLADES: Accepts = Accepts::OneOf(&[
    Accepts::Range { min: 3.0, max: 64.0, integer: true },
    Accepts::Range { min: 0.0, max: 0.0, integer: true },
]);

/// Two times or numbers, separated by a comma.
pub(super) const PAIR: Accepts =
    Accepts::OneOf(&[Accepts::Pattern("^[^,]+,[^,]+$"), Accepts::List(2)]);

pub(super) const ADAPTATION: Accepts =
    Accepts::OneOf(&[Accepts::NonNegative, Accepts::Pattern("^[^,]+(,[^,]+)?$"), Accepts::List(2)]);

/// Pixels or percents of a position in a picture.
pub(super) const POSITION: Accepts =
    Accepts::OneOf(&[Accepts::Pattern("^[0-9.]+ *%? *, *[0-9.]+ *%?$"), Accepts::List(2)]);

pub(super) const RESOLUTION: Accepts = Accepts::Pattern("^[0-9]+ *[xX] *[0-9]+$");

const SENSOR_NAMES: [&str; SENSORS.len()] = {
    let mut names = [""; SENSORS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = SENSORS[index].name;
        index += 1;
    }
    names
};

pub(super) const SENSOR: Accepts = Accepts::OneOf(&[
    Accepts::Choice(&SENSOR_NAMES),
    Accepts::Pattern("^[0-9.eE+-]+ *[xX] *[0-9.eE+-]+$"),
]);

pub(super) const WHITE: Accepts = Accepts::OneOf(&[
    Accepts::Range { min: KELVIN_LIMITS[0], max: KELVIN_LIMITS[1], integer: false },
    Accepts::Choice(&["neutral"]),
    Accepts::Choice(&names(WhiteBalance::PRESETS)),
    Accepts::Pattern("^[0-9.eE+]+ *(K|mired)?$"),
]);

/// A distance in meters above 0, or infinity.
pub(super) const DISTANCE: Accepts = Accepts::OneOf(&[
    Accepts::POSITIVE,
    Accepts::Pattern("^(inf|infinity|[0-9.eE+-]+ *(m|cm|mm|um|ft|in)?)$"),
]);

/// A time (s), as a number or as a fraction.
pub(super) fn seconds(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    let Some((above, below)) = input.text.split_once('/') else {
        return number(input.text, accepts);
    };
    let part = |text: &str| number(text.trim(), &Accepts::POSITIVE);
    Some(part(above)? / part(below)?).filter(|&time| accepts.includes(time))
}

/// A distance (m); may be infinite.
pub(super) fn distance(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    if matches!(input.text, "infinity" | "inf") {
        return Some(f64::INFINITY);
    }
    number(input.text, accepts)
}

/// Micrometers as meters.
pub(super) fn micrometers(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    number(input.text, accepts).map(|micrometers| micrometers * 1e-6)
}

/// Millimeters as meters.
pub(super) fn millimeters(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    number(input.text, accepts).map(|millimeters| millimeters * 1e-3)
}

/// Degrees as radians.
pub(super) fn radians(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    number(input.text, accepts).map(f64::to_radians)
}

/// Degrees per second about three axes as radians per second.
pub(super) fn angular_velocity(input: &Input<'_>, accepts: &Accepts) -> Option<DVec3> {
    DVec3::parse(input, accepts).map(|degrees| degrees.map(f64::to_radians))
}

pub(super) fn exposure_value(input: &Input<'_>, accepts: &Accepts) -> Option<Ev100> {
    number(input.text, accepts).map(Ev100)
}

/// A file as text, relative to the working directory.
pub(super) fn file_name(input: &Input<'_>, accepts: &Accepts) -> Option<String> {
    PathBuf::parse(input, accepts).map(|file| file.display().to_string())
}

pub(super) fn blades(input: &Input<'_>, _: &Accepts) -> Option<u32> {
    input.text.parse().ok().filter(|blades| *blades == 0 || (3..=64).contains(blades))
}

/// Two numbers or times above 0, not decreasing.
pub(super) fn range(input: &Input<'_>, _: &Accepts) -> Option<[f64; 2]> {
    let (min, max) = input.text.split_once(',')?;
    let part = |text: &str| {
        let part = Input { text: text.trim(), ..*input };
        seconds(&part, &Accepts::POSITIVE)
    };
    let (min, max) = (part(min)?, part(max)?);
    (min <= max).then_some([min, max])
}

/// Time constants (s) of adaptation to brighter and to darker scenes; one stands for both.
pub(super) fn adaptation(input: &Input<'_>, accepts: &Accepts) -> Option<[f64; 2]> {
    let (brighter, darker) = input.text.split_once(',').unwrap_or((input.text, input.text));
    Some([number(brighter.trim(), accepts)?, number(darker.trim(), accepts)?])
}

pub(super) fn position(input: &Input<'_>, _: &Accepts) -> Option<ImagePosition> {
    input.text.parse().ok()
}

/// Width and height.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (width, height) = text.split_once(['x', 'X'])?;
    Some((width.trim(), height.trim()))
}

/// Picture size in pixels, each side 1 to 65536.
pub(super) fn resolution(input: &Input<'_>, _: &Accepts) -> Option<[u32; 2]> {
    let (width, height) = pair(input.text)?;
    let side = |text: &str| text.parse().ok().filter(|side| (1..=65_536).contains(side));
    Some([side(width)?, side(height)?])
}

/// A sensor by name, or its millimeters.
pub(super) fn sensor(input: &Input<'_>, _: &Accepts) -> Option<SensorSize> {
    if let Some(preset) = SensorPreset::from_name(input.text) {
        return Some(preset.size());
    }
    let (width, height) = pair(input.text)?;
    let side = |text: &str| text.parse().ok().filter(|mm| (0.1..=1e4).contains(mm));
    SensorSize::from_mm(side(width)?, side(height)?).ok()
}

/// A white by name or by color temperature (K).
pub(super) fn white(input: &Input<'_>, accepts: &Accepts) -> Option<WhiteBalance> {
    if input.text == "neutral" {
        return Some(WhiteBalance::Neutral);
    }
    let mut presets = WhiteBalance::PRESETS.into_iter();
    if let Some((_, preset)) = presets.find(|(name, _)| *name == input.text) {
        return Some(preset);
    }
    let kelvin = number(&in_unit(input.text, "K"), accepts)?;
    Some(WhiteBalance::Temperature { kelvin: Kelvin(kelvin), duv: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{CameraLook, Look, LookError},
        *,
    };
    use crate::{
        camera::{AutoExposure, DialRanges, Dials, ExposureControl, ExposureMode, MeteringMode},
        photometry::color::Adaptation,
    };

    fn set(settings: &[&str]) -> Result<CameraLook, LookError> {
        Look::of(settings).map(|look| look.camera)
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
    fn numbers_may_have_their_unit() {
        for (with, without) in [
            ("camera.lens.f_stop=f/2.8", "camera.lens.f_stop=2.8"),
            ("camera.body.iso=ISO 100", "camera.body.iso=100"),
            ("camera.body.iso=ISO100", "camera.body.iso=100"),
            ("camera.lens.t_stop=T3.1", "camera.lens.t_stop=3.1"),
            ("effects.starburst.f_stop=f/16", "effects.starburst.f_stop=16"),
            ("camera.body.shutter=1/125s", "camera.body.shutter=1/125"),
            ("camera.body.shutter=0.5 s", "camera.body.shutter=0.5"),
            ("camera.body.readout_time=1/250 s", "camera.body.readout_time=1/250"),
            ("camera.lens.focal_length=35 mm", "camera.lens.focal_length=35"),
            ("camera.lens.focus=2 m", "camera.lens.focus=2"),
            ("camera.exposure.ev100=12 EV", "camera.exposure.ev100=12"),
            ("camera.roll=5deg", "camera.roll=5"),
            ("camera.metering.spot_angle=3\u{b0}", "camera.metering.spot_angle=3"),
            ("camera.white_balance=5600 K", "camera.white_balance=5600"),
            ("lights.Key.kelvin=5600K", "lights.Key.kelvin=5600"),
            ("lights.Key.lumens=2000lm", "lights.Key.lumens=2000"),
            ("lights.Key.candela=7.5 cd", "lights.Key.candela=7.5"),
            ("lights.Key.lux=1e5 lux", "lights.Key.lux=1e5"),
            ("lights.Key.nits=300 cd/m2", "lights.Key.nits=300"),
            ("lights.Key.radius=0.2 m", "lights.Key.radius=0.2"),
            ("passes.ao.radius=2m", "passes.ao.radius=2"),
            ("volumes.Fog.scattering=0.51/m", "volumes.Fog.scattering=0.51"),
        ] {
            assert_eq!(Look::of([with]).unwrap(), Look::of([without]).unwrap(), "{with}");
        }
        // Other units of the same quantity.
        for (with, without) in [
            ("lights.Key.radius=20mm", "lights.Key.radius=0.02"),
            ("camera.body.shutter=8 ms", "camera.body.shutter=0.008"),
            ("camera.lens.focal_length=8.5cm", "camera.lens.focal_length=85"),
            ("camera.lens.focus=10ft", "camera.lens.focus=3.048"),
            ("camera.white_balance=200mired", "camera.white_balance=5000"),
            ("lights.Key.kelvin=250 mired", "lights.Key.kelvin=4000"),
        ] {
            assert_eq!(Look::of([with]).unwrap(), Look::of([without]).unwrap(), "{with}");
        }
        let error = Look::of(["lights.Key.radius=20g"]).unwrap_err();
        let said = error.to_string();
        assert!(said.ends_with("unknown unit 'g', expected m, cm, mm, um, ft, in"), "{said}");
        // A unit of another quantity is none of the property.
        for bad in [
            "lights.Key.radius=20g",
            "lights.Key.lumens=2000cd",
            "camera.body.shutter=5lm",
            "camera.lens.f_stop=f/",
            "camera.body.shutter=s",
            "lights.Key.kelvin=warm K",
            // The prefix kilo has no unit behind it.
            "lights.Key.kelvin=5k",
            "camera.white_balance=5k",
        ] {
            assert!(Look::of([bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_above_the_maximum_are_told_it() {
        for (bad, most) in [
            ("lights.Key.lumens=1e40", "at most 1e30"),
            ("lights.Key.lumens=2e40 lm", "at most 1e30"),
            ("camera.lens.max_aperture=4000", "0.5 to 1024"),
        ] {
            let error = Look::of([bad]).unwrap_err().to_string();
            assert!(error.contains(most), "{error}");
        }
        assert!(!Look::of(["lights.Key.lumens=-1"]).unwrap_err().to_string().contains("at most"));
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
