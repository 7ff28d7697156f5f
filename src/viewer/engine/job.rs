//! Jobs of the engine beside the picture, and their results.

use std::path::PathBuf;

use glam::{DVec3, Mat3};

use crate::{photometry::Lux, session::expose::ExposureState};

/// A job beside the picture.
pub enum Job {
    /// Measures the illuminance at a point (m) with a normal.
    MeasureIlluminance(DVec3, DVec3),
    /// Renders the contribution of each of these lights to the picture.
    SeparateLights(Vec<String>),
    /// Writes pictures of the animation.
    WriteSequence(Sequence),
}

impl Job {
    /// True if the job's pictures have the size of the request, which must be the full one.
    pub(super) fn needs_full_size(&self) -> bool {
        matches!(self, Self::SeparateLights(_))
    }
}

/// The result of a job; failure or cancellation as text.
pub enum JobResult {
    /// The point (m) and the illuminance there.
    Illuminance(DVec3, Result<Lux, String>),
    /// The picture separated by lights.
    LightContributions(Result<LightContributions, String>),
    /// Number of pictures written.
    Written(Result<u32, String>),
}

/// Pictures of the animation, one file each.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// File name; each picture's number is inserted: `a.png` makes `a.0000.png`.
    pub file: PathBuf,
    /// Time of the first picture (s).
    pub first: f64,
    /// Pictures per second.
    pub fps: f64,
    /// Number of pictures.
    pub count: u32,
    /// Width and height in pixels, independent of the window's size.
    pub size: [u32; 2],
}

/// A picture separated by light, in nits.
pub struct LightContributions {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// The picture without these lights: environment and emissive surfaces.
    pub without_lights: Vec<[f32; 3]>,
    /// Names and contributions.
    pub lights: Vec<(String, Vec<[f32; 3]>)>,
    /// Origin of the exposure.
    pub exposed: ExposureState,
    /// White-balance matrix.
    pub white_balance: Mat3,
    /// The request it answers.
    pub request_id: u64,
}

impl LightContributions {
    /// The weighted sum of the parts: first the picture without lights, then the lights in order.
    /// Missing factors leave lights out.
    #[must_use]
    pub fn combine(&self, factors: &[f32]) -> Vec<[f32; 3]> {
        let mut factors = factors.iter().copied();
        let first = factors.next().unwrap_or(1.0);
        let mut sum: Vec<[f32; 3]> =
            self.without_lights.iter().map(|c| c.map(|v| v * first)).collect();
        for ((_, light), factor) in self.lights.iter().zip(factors) {
            for (into, c) in sum.iter_mut().zip(light) {
                *into = std::array::from_fn(|i| into[i] + c[i] * factor);
            }
        }
        sum
    }
}
