//! Indirect light of all pixels from one gathered pixel of each block
//! (docs/instant-radiosity.md, "Half resolution").

use std::sync::Arc;

use super::{
    creation::LazyPipeline,
    denoiser::{DenoiserImages, HISTORY, SAMPLE_WEIGHTS, SampleWeights},
    formats::LIGHT,
    gbuffer::Gbuffer,
    pixel_groups,
};
use crate::{
    gpu::{Buffer, Gpu},
    gpu_scene::FrameData,
    graph::Graph,
};

/// Pipeline of the pass, created on first use.
pub struct GiUpsamplePass(LazyPipeline);

impl GiUpsamplePass {
    /// Creates the pass without its pipeline.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self(LazyPipeline::new(gpu, "gi upsample", "gi_upsample.comp"))
    }

    /// Declares the pass. `name`: prefix of the signal's passes and images. Returns the light at
    /// full resolution and the weights of its samples.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        (name, constants): (&str, &Arc<Buffer>),
        gbuffer: Gbuffer,
        gathered: DenoiserImages,
    ) -> (DenoiserImages, SampleWeights) {
        let [width, height] = data.uniforms.values.size;
        let [diffuse, specular, weights] = [
            ("diffuse, upsampled", LIGHT),
            ("specular, upsampled", HISTORY),
            ("sample weights", SAMPLE_WEIGHTS),
        ]
        .map(|(what, format)| g.image(&format!("{name} {what}"), width, height, format));
        g.compute_with(&format!("{name} upsample"), move || self.0.get())
            .binds([data.uniform()])
            .uniform("gi_block", constants)
            .sampled_each(gbuffer.all())
            .sampled("gathered_diffuse_image", gathered.diffuse)
            .sampled("gathered_specular_image", gathered.specular)
            .image_written("out_diffuse_image", diffuse)
            .image_written("out_specular_image", specular)
            .image_written("out_weights_image", weights)
            .dispatch(pixel_groups::dispatch([width, height]));
        (DenoiserImages { diffuse, specular }, SampleWeights(weights))
    }
}
