//! The Moon's position, phase and illuminance.
//!
//! Meeus, Astronomical Algorithms, 2nd edition (1998), chapters 47 (place: about 10" in longitude,
//! 4" in latitude) and 48 (phase).

use std::f64::consts::{PI, TAU};

use super::{
    coordinates::{
        ASTRONOMICAL_UNIT, Ecliptic, HorizontalCoordinates, Nutation, nutation, polynomial,
    },
    geolocation::{EARTH_RADIUS, GeoLocation, topocentric},
    sun,
    tables::{MOON_LATITUDE, MOON_LONGITUDE_DISTANCE},
    time::Moment,
};
use crate::photometry::Lux;

/// The Moon's mean radius in meters: IAU Working Group on Cartographic Coordinates 2015.
const RADIUS: f64 = 1_737_400.0;
/// The Moon's mean distance in meters, for which its magnitude is given.
const MEAN_DISTANCE: f64 = 384_400e3;

/// The Moon as seen from a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moon {
    /// True position, without refraction.
    pub geometric: HorizontalCoordinates,
    /// Apparent position, with refraction.
    pub apparent: HorizontalCoordinates,
    /// Distance from Earth's center in meters.
    pub distance: f64,
    /// Angular radius in rad, from the observer.
    pub angular_radius: f64,
    /// Phase angle Sun-Moon-Earth in rad; 0 is full, pi is new.
    pub phase_angle: f64,
    /// Illuminated fraction of the disk, 0 to 1.
    pub illuminated: f64,
    /// True if the Moon is waxing.
    pub waxing: bool,
    /// Illuminance on a plane that faces it, outside of the atmosphere.
    pub illuminance: Lux,
}

/// The Moon from a place at a moment. Always finite, also below the horizon.
#[must_use]
pub fn moon(moment: Moment, place: GeoLocation) -> Moon {
    let nutation = nutation(moment);
    let body = ecliptic(moment, nutation);
    let sun = sun::ecliptic(moment, nutation);
    let geometric = topocentric(moment, place, body, nutation);
    let lifted = geometric.elevation + place.refraction(geometric.elevation);
    // Topocentric: the observer is nearer to a high Moon by up to an Earth radius.
    let nearer = EARTH_RADIUS * geometric.elevation.sin();
    // Meeus, equations 48.2, 48.3 and 48.1.
    let elongation =
        (body.latitude.cos() * (body.longitude - sun.longitude).cos()).clamp(-1.0, 1.0).acos();
    let phase_angle =
        (sun.distance * elongation.sin()).atan2(body.distance - sun.distance * elongation.cos());
    Moon {
        geometric,
        apparent: HorizontalCoordinates { elevation: lifted.min(PI / 2.0), ..geometric },
        distance: body.distance,
        angular_radius: (RADIUS / (body.distance - nearer)).asin(),
        phase_angle,
        illuminated: f64::midpoint(1.0, phase_angle.cos()),
        waxing: (body.longitude - sun.longitude).rem_euclid(TAU) < PI,
        illuminance: illuminance(phase_angle, body.distance, sun.distance),
    }
}

/// The Moon from Earth's center: Meeus, chapter 47, with nutation.
fn ecliptic(moment: Moment, nutation: Nutation) -> Ecliptic {
    let t = moment.ephemeris_centuries();
    let degrees = |c: &[f64]| polynomial(t, c).rem_euclid(360.0).to_radians();
    let mean = degrees(&[
        218.316_447_7,
        481_267.881_234_21,
        -0.001_578_6,
        1.0 / 538_841.0,
        -1.0 / 65_194_000.0,
    ]);
    let d = degrees(&[
        297.850_192_1,
        445_267.111_403_4,
        -0.001_881_9,
        1.0 / 545_868.0,
        -1.0 / 113_065_000.0,
    ]);
    let m = degrees(&[357.529_109_2, 35_999.050_290_9, -0.000_153_6, 1.0 / 24_490_000.0]);
    let m1 = degrees(&[
        134.963_396_4,
        477_198.867_505_5,
        0.008_741_4,
        1.0 / 69_699.0,
        -1.0 / 14_712_000.0,
    ]);
    let f = degrees(&[
        93.272_095,
        483_202.017_523_3,
        -0.003_653_9,
        -1.0 / 3_526_000.0,
        1.0 / 863_310_000.0,
    ]);
    let (a1, a2, a3) = (
        degrees(&[119.75, 131.849]),
        degrees(&[53.09, 479_264.29]),
        degrees(&[313.45, 481_266.484]),
    );
    // Earth's eccentricity shrinks: terms with the Sun's anomaly go with it (equation 47.6).
    let e = polynomial(t, &[1.0, -0.002_516, -0.000_007_4]);
    let weight = |multiple: f64| e.powf(multiple.abs());
    let (mut longitude, mut distance, mut latitude) = (0.0, 0.0, 0.0);
    for &[kd, km, km1, kf, l, r] in &MOON_LONGITUDE_DISTANCE {
        let (sin, cos) = (kd * d + km * m + km1 * m1 + kf * f).sin_cos();
        longitude += l * weight(km) * sin;
        distance += r * weight(km) * cos;
    }
    for &[kd, km, km1, kf, b] in &MOON_LATITUDE {
        latitude += b * weight(km) * (kd * d + km * m + km1 * m1 + kf * f).sin();
    }
    longitude += 3958.0 * a1.sin() + 1962.0 * (mean - f).sin() + 318.0 * a2.sin();
    latitude += -2235.0 * mean.sin()
        + 382.0 * a3.sin()
        + 175.0 * ((a1 - f).sin() + (a1 + f).sin())
        + 127.0 * (mean - m1).sin()
        - 115.0 * (mean + m1).sin();
    Ecliptic {
        longitude: (mean + (longitude * 1e-6).to_radians() + nutation.longitude).rem_euclid(TAU),
        latitude: (latitude * 1e-6).to_radians(),
        distance: 385_000_560.0 + distance,
    }
}

/// Illuminance outside of the atmosphere at a phase angle (rad) and distances of Moon and Sun (m).
///
/// Krisciunas and Schaefer, "A model of the brightness of moonlight", PASP 103 (1991), equations 8
/// and 9 (Allen's magnitudes): `m = -12.73 + 0.026 |a| + 4e-9 a^4`, a in degrees, with 1 lx at
/// -13.98; 0.31 lx when full. Within 7 degrees of full the Moon is up to a third brighter than that
/// (the opposition effect, their section 2).
fn illuminance(phase_angle: f64, distance: f64, sun_distance: f64) -> Lux {
    let a = phase_angle.to_degrees().abs();
    // The fit leaves a millionth at new moon: an unlit disk gives 0.
    let lit = f64::midpoint(1.0, phase_angle.cos());
    let magnitude = -12.73 + 0.026 * a + 4e-9 * a.powi(4);
    let nearer = (MEAN_DISTANCE / distance).powi(2) * (ASTRONOMICAL_UNIT / sun_distance).powi(2);
    Lux(if lit > 0.0 { 10f64.powf(-0.4 * (magnitude + 13.98)) * nearer } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    /// Meeus, examples 47.a and 48.a: 1992 April 12, 0 h terrestrial time.
    #[test]
    fn the_worked_example() {
        let moment = Moment::new(1992, 4, 12, 0.0, 0.0).unwrap().with_delta_t(0.0);
        let without = Nutation { longitude: 0.0, obliquity: 0.0 };
        let body = ecliptic(moment, without);
        near(body.longitude.to_degrees(), 133.162_655, 1e-6);
        near(body.latitude.to_degrees(), -3.229_126, 1e-6);
        near(body.distance, 368_409.7e3, 50.0);
        near(ecliptic(moment, nutation(moment)).longitude.to_degrees(), 133.167_265, 2e-6);
        let moon = moon(moment, GeoLocation::new(0.0, 0.0).unwrap());
        near(moon.phase_angle.to_degrees(), 69.0756, 5e-3);
        near(moon.illuminated, 0.6786, 5e-4);
        assert!(moon.waxing);
    }

    #[test]
    fn full_new_and_between() {
        let at = |degrees: f64| {
            illuminance(f64::to_radians(degrees), MEAN_DISTANCE, ASTRONOMICAL_UNIT).0
        };
        // Full moon 0.25 to 0.32 lx (Allen); the half moon gives about a tenth of it, not a half.
        near(at(0.0), 0.316, 0.002);
        assert!((0.06..0.12).contains(&(at(90.0) / at(0.0))), "{}", at(90.0) / at(0.0));
        assert!(at(180.0) < 1e-4 && at(170.0) < at(90.0));
        // A total eclipse of the Moon, 2000 January 21, 4:44: full to a degree. Of the Sun, 1999
        // August 11: new.
        let place = GeoLocation::new(0.0, 0.0).unwrap();
        let full = moon(Moment::parse("2000-01-21", "04:44", 0.0).unwrap(), place);
        assert!(full.illuminated > 0.9999, "{}", full.illuminated);
        let new = moon(Moment::parse("1999-08-11", "11:03", 0.0).unwrap(), place);
        assert!(new.illuminated < 1e-4 && new.illuminance.0 < 1e-4, "{new:?}");
    }

    #[test]
    fn sizes_and_no_nan() {
        let place = GeoLocation::new(0.9, 0.2).unwrap();
        let (mut min, mut max) = (f64::MAX, f64::MIN);
        for day in 0..400 {
            let moon =
                moon(Moment::from_julian_day(2_460_000.5 + f64::from(day) * 0.97).unwrap(), place);
            assert!(moon.illuminance.0 >= 0.0 && moon.apparent.elevation.is_finite());
            min = min.min(moon.angular_radius.to_degrees() * 60.0);
            max = max.max(moon.angular_radius.to_degrees() * 60.0);
        }
        // 14.7 to 16.8 minutes of arc between apogee and perigee, a little more high up.
        assert!((14.5..15.0).contains(&min) && (16.5..17.1).contains(&max), "{min} {max}");
    }
}
