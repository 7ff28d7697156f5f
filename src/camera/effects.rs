//! What the dials do to the picture beside exposure and focus: grain, vignetting, motion blur.

use std::f64::consts::TAU;

/// Photo-electrons per square metre of sensor at saturation and ISO 100: 1400 in each square micrometre, the order of
/// full-frame sensors of the 2010s (Clark, "Digital Camera Sensor Performance Summary", clarkvision.com).
pub const ELECTRONS_PER_SQUARE_METRE: f64 = 1400e12;

/// Read noise in electrons, the order of the same sensors.
pub const READ_NOISE_ELECTRONS: f64 = 3.0;

/// The grain of a sensor: shot and read noise of the exposed value of a pixel, whose mean it keeps.
///
/// `variance = g x + (g r)^2`, where `x` is the exposed value (1 at saturation), `1/g` the electrons at saturation and
/// `r` the read noise in electrons: EMVA Standard 1288, release 4.0 (linear camera model). `g` is proportional to ISO.
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

    /// Of a sensor with pixels of a pitch (m) at an ISO speed; `NONE` unless both are finite and above 0.
    #[must_use]
    pub fn of_sensor(pixel_pitch: f64, iso: f64) -> Self {
        let saturation = ELECTRONS_PER_SQUARE_METRE * pixel_pitch * pixel_pitch * 100.0 / iso;
        let possible = pixel_pitch > 0.0 && iso > 0.0 && saturation.is_finite() && saturation > 0.0;
        if possible { Self { shot: 1.0 / saturation, read: READ_NOISE_ELECTRONS / saturation } } else { Self::NONE }
    }

    /// Standard deviation of a pixel of that exposed value; a negative value counts as 0.
    #[must_use]
    pub fn deviation(self, exposed: f64) -> f64 {
        (self.shot * exposed.max(0.0) + self.read * self.read).sqrt()
    }
}

/// Natural vignetting: illuminance over that on the axis, `cos^4`, at a distance (m) from the picture's centre on the
/// sensor; 0 to 1. `image_distance` (m) is that of `ThinLens::image_distance`.
///
/// Born and Wolf, "Principles of Optics", 7th ed., section 4.8; the cosine is `v / sqrt(v^2 + r^2)`.
#[must_use]
pub fn natural_vignetting(radius: f64, image_distance: f64) -> f64 {
    let (r2, v2) = (radius * radius, image_distance * image_distance);
    if v2 > 0.0 { (v2 / (v2 + r2)).powi(2) } else { 0.0 }
}

/// Shutter angle (rad) of an exposure time (s) at a frame rate (1/s): `2 pi t fps`. SMPTE practice: 180 degrees is
/// half of the frame's time.
#[must_use]
pub fn shutter_angle(shutter_s: f64, frames_per_second: f64) -> f64 {
    TAU * shutter_s * frames_per_second
}

/// Exposure time (s) of a shutter angle (rad) at a frame rate (1/s): the inverse of `shutter_angle`.
#[must_use]
pub fn shutter_time(angle: f64, frames_per_second: f64) -> f64 {
    angle / (TAU * frames_per_second)
}

/// The part of a frame's motion that is blurred: `t fps`. The blur vector is the motion over one frame times this; it
/// exceeds 1 where the shutter stays open for longer than a frame.
#[must_use]
pub fn motion_blur_fraction(shutter_s: f64, frames_per_second: f64) -> f64 {
    shutter_s * frames_per_second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want} within {tolerance}");
    }

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
    fn vignetting() {
        near(natural_vignetting(0.0, 0.05), 1.0, 0.0);
        near(natural_vignetting(0.05, 0.05), 0.25, 1e-12);
        let corner = 0.036_f64.hypot(0.024) / 2.0;
        near(natural_vignetting(corner, 0.024), (corner / 0.024).atan().cos().powi(4), 1e-12);
    }

    #[test]
    fn motion() {
        near(shutter_angle(1.0 / 48.0, 24.0).to_degrees(), 180.0, 1e-9);
        near(shutter_time(180.0_f64.to_radians(), 24.0), 1.0 / 48.0, 1e-12);
        near(motion_blur_fraction(1.0 / 48.0, 24.0), 0.5, 1e-12);
    }
}
