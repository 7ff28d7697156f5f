//! Formulas of camera effects: sensor grain, the pupil that a rim leaves, glare.

use std::f64::consts::PI;

/// Photo-electrons per square meter of sensor at saturation and ISO 100: 1400 in each square
/// micrometer, the order of full-frame sensors of the 2010s (Clark, "Digital Camera Sensor
/// Performance Summary", clarkvision.com).
pub const ELECTRONS_PER_SQUARE_METER: f64 = 1400e12;

/// Read noise in electrons, the order of the same sensors.
pub const READ_NOISE_ELECTRONS: f64 = 3.0;

/// The grain of a sensor: shot and read noise of the exposed value of a pixel, whose mean it keeps.
///
/// `variance = g x + (g r)^2`, where `x` is the exposed value (1 at saturation), `1/g` the
/// electrons at saturation and `r` the read noise in electrons: EMVA Standard 1288, release 4.0
/// (linear camera model). `g` is proportional to ISO.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// Variance per exposed value, at least 0: one over the electrons at saturation.
    pub shot: f64,
    /// Standard deviation of a black pixel, at least 0.
    pub read: f64,
}

impl Grain {
    /// No grain.
    pub const NONE: Self = Self { shot: 0.0, read: 0.0 };

    /// Of a sensor with pixels of a pitch (m) at an ISO speed; `NONE` unless both are finite and
    /// above 0.
    #[must_use]
    pub fn of_sensor(pixel_pitch: f64, iso: f64) -> Self {
        let saturation = ELECTRONS_PER_SQUARE_METER * pixel_pitch * pixel_pitch * 100.0 / iso;
        let possible = pixel_pitch > 0.0 && iso > 0.0 && saturation.is_finite() && saturation > 0.0;
        if possible {
            Self { shot: 1.0 / saturation, read: READ_NOISE_ELECTRONS / saturation }
        } else {
            Self::NONE
        }
    }

    /// Standard deviation of a pixel of that exposed value; a negative value counts as 0.
    #[must_use]
    pub fn deviation(self, exposed: f64) -> f64 {
        (self.shot * exposed.max(0.0) + self.read * self.read).sqrt()
    }
}

/// Mechanical vignetting: the unobstructed fraction of a round pupil of radius 1 behind a rim; 0 to
/// 1. The rim's radius and the distance between the centers are in pupil radii.
///
/// The area common to two circles (Weisstein, "Circle-Circle Intersection", MathWorld, equation
/// 14), over the pupil's.
#[must_use]
pub fn pupil_overlap(rim: f64, distance: f64) -> f64 {
    let (r, d) = (rim.max(0.0), distance.abs());
    if d <= (r - 1.0).abs() {
        return r.min(1.0).powi(2);
    }
    if d >= r + 1.0 {
        return 0.0;
    }
    let own = ((d * d + 1.0 - r * r) / (2.0 * d)).clamp(-1.0, 1.0).acos();
    let other = ((d * d + r * r - 1.0) / (2.0 * d * r)).clamp(-1.0, 1.0).acos();
    let kite = (r + 1.0 - d) * (d + 1.0 - r) * (d - 1.0 + r) * (d + 1.0 + r);
    (own + r * r * other - 0.5 * kite.max(0.0).sqrt()) / PI
}

/// Fraction of the scattered light within an angle (rad) of its source; 0 to 1.
///
/// The wings of Spencer, Shirley, Zimmerman and Greenberg, "Physically-Based Glare Effects for
/// Digital Images", SIGGRAPH 1995, section 3 (photopic): `0.478 f1 + 0.138 f2`, `f1 = 20.91 / (a +
/// 0.02)^3`, `f2 = 72.37 / (a + 0.02)^2` with the angle `a` in degrees, integrated over the solid
/// angle and normalized over 90 degrees. Their core `f0` is the direct image. The functions
/// describe the eye; lenses scatter with a similar shape, a steep center with a wide veil. `Bloom`
/// has the scattered fraction.
#[must_use]
pub fn glare_within(angle: f64) -> f64 {
    const SOFT: f64 = 0.02;
    let energy = |a: f64| {
        let cubic = a * a / (2.0 * SOFT * (a + SOFT).powi(2));
        let square = ((a + SOFT) / SOFT).ln() - a / (a + SOFT);
        0.478 * 20.91 * cubic + 0.138 * 72.37 * square
    };
    energy(angle.to_degrees().clamp(0.0, 90.0)) / energy(90.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    #[test]
    fn grain_grows_with_iso() {
        let (slow, fast) = (Grain::of_sensor(6e-6, 100.0), Grain::of_sensor(6e-6, 1600.0));
        let shot = |g: Grain| Grain { read: 0.0, ..g }.deviation(0.18);
        near(shot(fast) / shot(slow), 4.0, 1e-12);
        near(fast.shot / slow.shot, 16.0, 1e-12);
        near(fast.read / slow.read, 16.0, 1e-12);
        near(slow.deviation(0.0), slow.read, 1e-15);
        // Saturation of 50 400 electrons: a signal to noise ratio of their root.
        near(1.0 / slow.deviation(1.0), 50_400.0_f64.sqrt(), 0.05);
        near(slow.deviation(-1.0), slow.read, 1e-15);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Grain::of_sensor(6e-6, bad), Grain::NONE);
            assert_eq!(Grain::of_sensor(bad, 100.0), Grain::NONE);
        }
    }

    #[test]
    fn a_rim_cuts_the_pupil() {
        near(pupil_overlap(1.0, 0.0), 1.0, 0.0);
        near(pupil_overlap(2.0, 1.0), 1.0, 0.0);
        near(pupil_overlap(1.0, 2.0), 0.0, 0.0);
        near(pupil_overlap(0.5, 0.1), 0.25, 1e-15);
        // Two equal circles through each other's centers: 2/3 - sqrt(3) / (2 pi).
        near(pupil_overlap(1.0, 1.0), 2.0 / 3.0 - 3.0_f64.sqrt() / (2.0 * PI), 1e-12);
        // By counting points.
        let (r, d, n) = (1.3, 0.9, 1000);
        let inside = (0..n * n).filter(|i| {
            let at = |i: i32| (f64::from(i) + 0.5) / f64::from(n) * 2.0 - 1.0;
            let (x, y) = (at(i % n), at(i / n));
            x.hypot(y) < 1.0 && (x - d).hypot(y) < r
        });
        near(pupil_overlap(r, d), inside.count() as f64 / f64::from(n * n) * 4.0 / PI, 2e-4);
    }

    #[test]
    fn glare_is_normalized() {
        near(glare_within(0.0), 0.0, 0.0);
        near(glare_within(90.0_f64.to_radians()), 1.0, 1e-12);
        // By the midpoint rule in the logarithm of the angle, from the published functions.
        let density =
            |a: f64| 0.478 * 20.91 / (a + 0.02).powi(3) + 0.138 * 72.37 / (a + 0.02).powi(2);
        let sum = |to: f64| {
            let (low, n) = (1e-6_f64.ln(), 20_000);
            let step = (to.ln() - low) / f64::from(n);
            (0..n)
                .map(|i| (low + (f64::from(i) + 0.5) * step).exp())
                .map(|a| density(a) * a * a * step)
                .sum::<f64>()
        };
        for degrees in [0.01, 0.1, 1.0, 10.0] {
            near(glare_within(f64::to_radians(degrees)), sum(degrees) / sum(90.0), 1e-5);
        }
    }
}
