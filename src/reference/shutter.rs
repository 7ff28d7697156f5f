//! Motion blur of objects: a picture is the mean over moments of the exposure, each with the
//! scene's pose at that time. Cook, Porter and Carpenter, "Distributed Ray Tracing" (1984), section
//! 4.4, distribute rays in time. Here the rays of one moment share its BVH, so time has as many
//! steps as there are moments.

use glam::DVec2;

use super::camera::{CameraModel, CameraRay};

/// A time interval of an exposure. The camera's own motion continues within it.
#[derive(Clone, Copy, Debug)]
pub struct ShutterInterval<'a, O> {
    optics: &'a O,
    first: f64,
    length: f64,
}

impl<'a, O: CameraModel> ShutterInterval<'a, O> {
    /// Interval `part` (from 0) of `parts` equal ones.
    #[must_use]
    pub fn new(optics: &'a O, part: u32, parts: u32) -> Self {
        let length = 1.0 / f64::from(parts.max(1));
        Self { optics, first: f64::from(part) * length, length }
    }

    /// Center of the interval, as a fraction of the exposure relative to its middle: -0.5 to 0.5.
    #[must_use]
    pub fn middle(&self) -> f64 {
        self.first + 0.5 * self.length - 0.5
    }
}

impl<O: CameraModel> CameraModel for ShutterInterval<'_, O> {
    fn ray(&self, place: DVec2, lens: DVec2, time: f64) -> CameraRay {
        self.optics.ray(place, lens, self.first + self.length * time)
    }
}

/// Cumulative samples per pixel after a part, when all parts together have `samples`.
#[must_use]
pub fn samples_after(part: u32, parts: u32, samples: u32) -> u32 {
    let parts = u64::from(parts.max(1));
    u32::try_from(u64::from(samples) * (u64::from(part) + 1) / parts).unwrap_or(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_samples_and_time() {
        assert_eq!([0, 1, 2, 3].map(|part| samples_after(part, 4, 10)), [2, 5, 7, 10]);
        assert_eq!(samples_after(0, 0, 10), 10);
        struct Clock;
        impl CameraModel for Clock {
            fn ray(&self, _: DVec2, _: DVec2, time: f64) -> CameraRay {
                CameraRay {
                    origin: glam::DVec3::ZERO,
                    direction: glam::DVec3::NEG_Z,
                    weight: glam::DVec3::splat(time),
                }
            }
        }
        let part = ShutterInterval::new(&Clock, 3, 4);
        assert!((part.middle() - 0.375).abs() < 1e-12);
        assert!((part.ray(DVec2::ZERO, DVec2::ZERO, 0.5).weight.x - 0.875).abs() < 1e-12);
    }
}
