//! Indirect light of all pixels from one gathered pixel of each block
//! (docs/instant-radiosity.md, "Half resolution").

use std::sync::Arc;

use super::{
    creation::LazyPipeline,
    denoiser::{DenoiserImages, HISTORY, SAMPLE_WEIGHTS, SampleWeights},
    formats::LIGHT,
    gbuffer::Gbuffer,
};
use crate::{
    gpu::{Buffer, Gpu, GraphicsState},
    gpu_scene::FrameData,
    graph::Graph,
};

/// Pipeline of the pass, created on first use.
pub struct GiUpsamplePass(LazyPipeline);

impl GiUpsamplePass {
    /// Creates the pass without its pipeline.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let colors = [LIGHT, HISTORY, SAMPLE_WEIGHTS].map(|format| (format, false)).to_vec();
        let state = GraphicsState { colors, ..GraphicsState::default() };
        Self(LazyPipeline::new(gpu, "gi upsample", ["fullscreen.vert", "gi_upsample.frag"], state))
    }

    /// Declares the pass. Returns the light at full resolution and the weights of its samples.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        constants: &Arc<Buffer>,
        gbuffer: Gbuffer,
        gathered: DenoiserImages,
    ) -> (DenoiserImages, SampleWeights) {
        let [width, height] = data.uniforms.values.size;
        let [diffuse, specular, weights] = [
            ("gi diffuse, upsampled", LIGHT),
            ("gi specular, upsampled", HISTORY),
            ("gi sample weights", SAMPLE_WEIGHTS),
        ]
        .map(|(name, format)| g.image(name, width, height, format));
        g.fullscreen_with("gi upsample", move || self.0.get())
            .binds([data.uniform()])
            .uniform("gi_block", constants)
            .sampled_each(gbuffer.all())
            .sampled("gathered_diffuse_image", gathered.diffuse)
            .sampled("gathered_specular_image", gathered.specular)
            .target(diffuse)
            .target(specular)
            .target(weights)
            .draw();
        (DenoiserImages { diffuse, specular }, SampleWeights(weights))
    }
}
