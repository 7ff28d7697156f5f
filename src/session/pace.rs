//! Pace of the path tracer on a scene: samples a second, and the samples that a wanted error takes.

use std::time::{Duration, Instant};

use super::open_scene::OpenScene;
use crate::{
    compare::{LinearImage, reference_noise::ReferenceNoise, summary::CompareSettings},
    reference::{CancelToken, Film, FilmSettings, LensCamera, LightComponents},
};

/// Pixels of the measured picture: its pace is that of larger ones.
const PIXELS: f64 = 5000.0;
/// Maximum samples a pixel of the measured picture.
const MAX_SAMPLES: u32 = 64;
/// Minimum samples a pixel for an estimate of the error.
const MIN_SAMPLES: u32 = 4;
/// Minimum samples a pixel that an error is said to take: with fewer, pixels in small parts of the
/// picture are still without light, which the mean error over a plain background hides.
const MIN_TAKEN: u32 = 16;
/// Maximum samples a pixel that an error is said to take.
const MAX_NEEDED: f64 = 65_536.0;
/// Maximum triangles of a scene that is measured: its BVH is built for the measurement.
const MAX_TRIANGLES: usize = 500_000;

/// Pace of the path tracer on a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPace {
    /// Samples a second, of all pixels together.
    pub samples_per_second: f64,
    /// Time to build the BVH (s).
    pub build_seconds: f64,
    /// Mean LDR-FLIP against a converged picture that `samples` give.
    pub flip: f64,
    /// Samples a pixel for that error, at least 1.
    pub samples: u32,
}

/// Stops at a deadline.
struct Deadline(Instant);

impl CancelToken for Deadline {
    fn should_stop(&self) -> bool {
        Instant::now() >= self.0
    }
}

impl PathPace {
    /// Traces a small picture of the scene for about `budget`, after the BVH is built. `settings`
    /// are exposure and view of the picture, `flip` is the wanted error.
    ///
    /// The error is estimated from two halves of the samples, and falls with the root of their
    /// number. `None` for a scene of more than
    /// 500,000 triangles, a black picture, or a budget that is too short.
    #[must_use]
    pub fn measure(
        opened: &OpenScene,
        settings: &CompareSettings,
        flip: f64,
        budget: Duration,
    ) -> Option<Self> {
        if opened.scene.instanced_triangles() > MAX_TRIANGLES {
            return None;
        }
        let begun = Instant::now();
        let world = opened.world();
        let build_seconds = begun.elapsed().as_secs_f64();
        let full = [opened.size.width, opened.size.height].map(f64::from);
        let scale = (PIXELS / (full[0] * full[1])).sqrt().min(1.0);
        let [width, height] = full.map(|side| ((side * scale).round() as usize).max(1));
        let camera =
            LensCamera::new(opened.camera.0, opened.camera.1, width, height, &opened.effects)
                .with_lens(opened.lens.clone());
        let mut film = Film::new(width, height, FilmSettings::default());
        let traced = Instant::now();
        let deadline = Deadline(traced + budget);
        // Each step completes a sample count, so that all pixels have it.
        while film.samples() < MAX_SAMPLES && !deadline.should_stop() {
            let goal = (film.samples() * 2).max(1);
            film.advance(&world, &camera, goal, &deadline);
        }
        let samples_per_second = film.total_samples() as f64 / traced.elapsed().as_secs_f64();
        let have = film.samples();
        if have < MIN_SAMPLES {
            return None;
        }
        let light = film.mean(LightComponents::total);
        let pixels = light.iter().map(|color| color.as_vec3().to_array()).collect();
        let picture = LinearImage::from_nits(width, height, pixels).ok()?;
        let errors = film.half_difference();
        let error = |samples: f64| {
            let part = (f64::from(have) / samples).sqrt();
            let scaled: Vec<f32> = errors.iter().map(|value| (value * part) as f32).collect();
            ReferenceNoise::of(&picture, &scaled, settings).map(|noise| noise.flip)
        };
        let samples = samples_for(flip, error)?.max(MIN_TAKEN);
        Some(Self { samples_per_second, build_seconds, flip, samples })
    }

    /// Time of a picture of this many pixels in s, from an open scene to the last sample.
    #[must_use]
    pub fn seconds(&self, pixels: f64) -> f64 {
        self.build_seconds + f64::from(self.samples) * pixels / self.samples_per_second
    }
}

/// The least number of samples whose error is at most `wanted`, by bisection of its logarithm;
/// `error` falls with the samples. `None` without an error, or if no number suffices.
fn samples_for(wanted: f64, error: impl Fn(f64) -> Option<f64>) -> Option<u32> {
    if error(1.0)? <= wanted {
        return Some(1);
    }
    if error(MAX_NEEDED)? > wanted {
        return None;
    }
    let (mut low, mut high) = (0.0, MAX_NEEDED.log2());
    // To 6 %: the estimate is no more exact.
    while high - low > 0.08 {
        let middle: f64 = 0.5 * (low + high);
        if error(middle.exp2())? <= wanted {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high.exp2().ceil() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_follow_the_error() {
        // FLIP 0.4 of one sample falls with the root: 64 samples for 0.05.
        let error = |samples: f64| Some(0.4 / samples.sqrt());
        let found = samples_for(0.05, error).unwrap();
        assert!((64..=68).contains(&found), "{found}");
        assert_eq!(samples_for(0.5, error), Some(1));
        assert_eq!(samples_for(1e-6, error), None);
        assert_eq!(samples_for(0.05, |_| None), None);
    }

    #[test]
    fn time_is_that_of_the_samples_after_the_build() {
        let pace =
            PathPace { samples_per_second: 1e6, build_seconds: 0.5, flip: 0.05, samples: 20 };
        assert!((pace.seconds(100_000.0) - 2.5).abs() < 1e-9);
    }
}
