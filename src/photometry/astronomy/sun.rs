//! The Sun's position: NREL's Solar Position Algorithm.
//!
//! Reda and Andreas, "Solar Position Algorithm for Solar Radiation Applications",
//! NREL/TP-560-34302, revised 2008: its authors state 0.0003 degrees for the years -2000 to 6000.

use std::f64::consts::{PI, TAU};

use super::{
    coordinates::{
        ASTRONOMICAL_UNIT, Ecliptic, HorizontalCoordinates, Nutation, nutation, polynomial,
    },
    geolocation::{GeoLocation, topocentric},
    tables::{B0, B1, L0, L1, L2, L3, L4, L5, R0, R1, R2, R3, R4},
    time::Moment,
};

/// The Sun's angular radius in radians from 1 au: IAU 2015 resolution B3 (695 700 km).
const RADIUS_AT_1_AU: f64 = 695_700e3 / ASTRONOMICAL_UNIT;

/// The Sun as seen from a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// True position, without refraction.
    pub geometric: HorizontalCoordinates,
    /// Apparent position, with refraction.
    pub apparent: HorizontalCoordinates,
    /// Distance from Earth's center in meters.
    pub distance: f64,
    /// Angular radius in rad.
    pub angular_radius: f64,
}

impl Sun {
    /// Illuminance outside of the atmosphere relative to 1 au: the inverse square of the distance.
    #[must_use]
    pub fn strength(&self) -> f64 {
        (ASTRONOMICAL_UNIT / self.distance).powi(2)
    }
}

/// The Sun from a place at a moment. Always finite, also below the horizon.
#[must_use]
pub fn sun(moment: Moment, place: GeoLocation) -> Sun {
    let nutation = nutation(moment);
    let body = ecliptic(moment, nutation);
    let geometric = topocentric(moment, place, body, nutation);
    let lifted = geometric.elevation + place.refraction(geometric.elevation);
    Sun {
        geometric,
        apparent: HorizontalCoordinates { elevation: lifted.min(PI / 2.0), ..geometric },
        distance: body.distance,
        angular_radius: (RADIUS_AT_1_AU * ASTRONOMICAL_UNIT / body.distance).asin(),
    }
}

/// Sum of `A cos(B + C t)`: NREL/TP-560-34302, equations 9 and 10.
fn series(rows: &[[f64; 3]], t: f64) -> f64 {
    rows.iter().map(|&[a, b, c]| a * (b + c * t).cos()).sum()
}

/// The Sun from Earth's center, with aberration: NREL/TP-560-34302, sections 3.2 to 3.7.
pub(super) fn ecliptic(moment: Moment, nutation: Nutation) -> Ecliptic {
    let t = moment.ephemeris_centuries() / 10.0;
    let longitude = polynomial(
        t,
        &[
            series(&L0, t),
            series(&L1, t),
            series(&L2, t),
            series(&L3, t),
            series(&L4, t),
            series(&L5, t),
        ],
    ) * 1e-8;
    let latitude = polynomial(t, &[series(&B0, t), series(&B1, t)]) * 1e-8;
    let distance = polynomial(
        t,
        &[series(&R0, t), series(&R1, t), series(&R2, t), series(&R3, t), series(&R4, t)],
    ) * 1e-8;
    let aberration = (-20.4898 / 3600.0 / distance).to_radians();
    Ecliptic {
        longitude: (longitude + PI + nutation.longitude + aberration).rem_euclid(TAU),
        latitude: -latitude,
        distance: distance * ASTRONOMICAL_UNIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    /// NREL/TP-560-34302, table A5.1.
    #[test]
    fn the_worked_example() {
        let moment = Moment::parse("2003-10-17", "12:30:30", -7.0).unwrap().with_delta_t(67.0);
        let place =
            GeoLocation::new(39.742_476_f64.to_radians(), (-105.1786_f64).to_radians()).unwrap();
        let place = place.at_altitude(1830.14).unwrap().with_air(820.0, 11.0).unwrap();
        let nutation = nutation(moment);
        near(nutation.longitude.to_degrees(), -0.003_998_40, 5e-9);
        near(nutation.obliquity.to_degrees(), 23.440_465, 5e-7);
        let body = ecliptic(moment, nutation);
        near(body.longitude.to_degrees(), 204.008_551_928_1, 5e-8);
        near(body.latitude.to_degrees(), 0.000_101_121_9, 5e-9);
        near(body.distance / ASTRONOMICAL_UNIT, 0.996_542_297_4, 5e-10);
        let sun = sun(moment, place);
        near(90.0 - sun.apparent.elevation.to_degrees(), 50.111_62, 5e-6);
        near(sun.apparent.azimuth.to_degrees(), 194.340_24, 5e-6);
        near(sun.angular_radius.to_degrees(), 0.266_45 / 0.996_542, 1e-5);
        near(sun.strength(), 1.0 / (0.996_542_297_4 * 0.996_542_297_4), 1e-9);
    }

    #[test]
    fn solstices_poles_and_nights() {
        // The Sun stands in the zenith over the tropic at the solstice, and circles the pole at
        // 23.4 degrees.
        let noon = Moment::parse("2024-06-20", "12:00", 0.0).unwrap();
        let tropic = sun(noon, GeoLocation::new(23.44_f64.to_radians(), 0.0).unwrap());
        assert!(
            tropic.apparent.elevation.to_degrees() > 89.4,
            "{}",
            tropic.apparent.elevation.to_degrees()
        );
        for (date, want) in [("2024-06-20", 23.4), ("2024-12-21", -23.4)] {
            for hour in 0..24 {
                let moment = Moment::parse(date, &format!("{hour}:00"), 0.0).unwrap();
                let pole = sun(moment, GeoLocation::new(PI / 2.0, 0.0).unwrap());
                near(pole.geometric.elevation.to_degrees(), want, 0.05);
                assert!(pole.apparent.azimuth.is_finite());
            }
        }
    }
}
