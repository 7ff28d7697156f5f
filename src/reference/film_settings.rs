//! Settings of a film.

use super::{path_settings::PathSettings, sampler::SamplerKind};

/// How many paths a film takes, from which sample sequence, and when it stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSettings {
    /// Settings of the paths.
    pub path: PathSettings,
    /// Type of the sample sequence.
    pub sampler: SamplerKind,
    /// Seed of the sample sequence.
    pub seed: u32,
    /// Jitters samples over the pixel; otherwise rays pass through its center, as in the raster
    /// renderer.
    pub pixel_jitter: bool,
    /// Relative error below which a tile gets no more samples (0.01 is 1 %); `None`: uniform
    /// sampling.
    pub target_error: Option<f64>,
}

impl Default for FilmSettings {
    fn default() -> Self {
        Self {
            path: PathSettings::default(),
            sampler: SamplerKind::Sobol,
            seed: 0,
            pixel_jitter: true,
            target_error: None,
        }
    }
}
