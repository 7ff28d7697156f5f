//! Bounds outliers of gathered indirect light (docs/instant-radiosity.md, "Accumulation and
//! filter").

use super::{creation::LazyPipeline, formats::LIGHT, pixel_groups};
use crate::{
    gpu::Gpu,
    graph::{Graph, ImageHandle},
};

/// Pipeline of the pass, created on first use.
pub struct GiFirefliesPass(LazyPipeline);

impl GiFirefliesPass {
    /// Creates the pass without its pipeline.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self(LazyPipeline::new(gpu, "gi fireflies", "gi_fireflies.comp"))
    }

    /// Declares the pass for diffuse light of this size (pixels). `name`: prefix of the signal's
    /// passes and images. Returns the bounded light.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        name: &str,
        size: [u32; 2],
        gathered: ImageHandle,
    ) -> ImageHandle {
        let bounded = g.image(&format!("{name} diffuse, bounded"), size[0], size[1], LIGHT);
        g.compute_with(&format!("{name} fireflies"), move || self.0.get())
            .sampled("gathered_diffuse_image", gathered)
            .image_written("out_diffuse_image", bounded)
            .dispatch(pixel_groups::dispatch(size));
        bounded
    }
}
