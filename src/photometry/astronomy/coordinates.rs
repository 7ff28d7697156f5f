//! Coordinates of bodies: ecliptic from Earth's center, horizontal from a place; nutation.

use glam::{DVec3, dvec3};

use super::{tables, time::Moment};

/// Meters in an astronomical unit: IAU 2012 resolution B2.
pub const ASTRONOMICAL_UNIT: f64 = 149_597_870_700.0;

/// A direction in the sky, in horizontal coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HorizontalCoordinates {
    /// Elevation in rad above the horizon, -pi/2 to pi/2.
    pub elevation: f64,
    /// Azimuth in rad from north over east, 0 to 2 pi.
    pub azimuth: f64,
}

impl HorizontalCoordinates {
    /// Unit vector of the direction: +X east, +Y up, -Z north.
    #[must_use]
    pub fn direction(self) -> DVec3 {
        let (sin_e, cos_e) = self.elevation.sin_cos();
        let (sin_a, cos_a) = self.azimuth.sin_cos();
        dvec3(cos_e * sin_a, sin_e, -cos_e * cos_a)
    }
}

/// Apparent geocentric ecliptic coordinates of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ecliptic {
    /// Radians, 0 to 2 pi.
    pub longitude: f64,
    /// Radians.
    pub latitude: f64,
    /// Meters.
    pub distance: f64,
}

/// Nutation in longitude and obliquity, and the true obliquity, in radians: NREL/TP-560-34302,
/// sections 3.4 and 3.5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nutation {
    pub(super) longitude: f64,
    pub(super) obliquity: f64,
}

pub(super) fn nutation(moment: Moment) -> Nutation {
    let t = moment.ephemeris_centuries();
    let x = [
        polynomial(t, &[297.850_36, 445_267.111_48, -0.001_914_2, 1.0 / 189_474.0]),
        polynomial(t, &[357.527_72, 35_999.050_34, -0.000_160_3, -1.0 / 300_000.0]),
        polynomial(t, &[134.962_98, 477_198.867_398, 0.008_697_2, 1.0 / 56_250.0]),
        polynomial(t, &[93.271_91, 483_202.017_538, -0.003_682_5, 1.0 / 327_270.0]),
        polynomial(t, &[125.044_52, -1_934.136_261, 0.002_070_8, 1.0 / 450_000.0]),
    ];
    let (mut longitude, mut obliquity) = (0.0, 0.0);
    for &[y0, y1, y2, y3, y4, a, b, c, d] in &tables::NUTATION {
        let angle: f64 = (y0 * x[0] + y1 * x[1] + y2 * x[2] + y3 * x[3] + y4 * x[4]).to_radians();
        longitude += (a + b * t) * angle.sin();
        obliquity += (c + d * t) * angle.cos();
    }
    let mean = polynomial(
        t / 100.0,
        &[84_381.448, -4680.93, -1.55, 1999.25, -51.38, -249.67, -39.05, 7.12, 27.87, 5.79, 2.45],
    );
    Nutation {
        longitude: (longitude / 36e6).to_radians(),
        obliquity: (mean / 3600.0 + obliquity / 36e6).to_radians(),
    }
}

/// `c0 + c1 x + c2 x^2 ...`
pub(super) fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn directions() {
        let north = HorizontalCoordinates { elevation: 0.0, azimuth: 0.0 }.direction();
        let east = HorizontalCoordinates { elevation: 0.0, azimuth: FRAC_PI_2 }.direction();
        assert!((north - DVec3::NEG_Z).length() < 1e-12 && (east - DVec3::X).length() < 1e-12);
    }
}
