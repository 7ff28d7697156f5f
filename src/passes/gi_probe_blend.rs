//! Blends the light of an irradiance volume's rays into the maps of its probes
//! (docs/irradiance-volumes.md).

use std::sync::Arc;

use super::{
    creation::LazyPipeline,
    gi_probe_rays::{ProbeBuffers, ProbeImages},
};
use crate::{
    gpu::{Buffer, Gpu, shader_structs::gi_probes::ProbeUpdateConstants},
    graph::Graph,
};

/// Pipeline of the pass, created on first use.
pub struct GiProbeBlendPass(LazyPipeline);

impl GiProbeBlendPass {
    /// Creates the pass without its pipeline.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self(LazyPipeline::new(gpu, "gi probe blend", "gi_probe_blend.comp"))
    }

    /// Declares the pass, which updates maps and states of the probes.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (volume, images): (&Arc<Buffer>, ProbeImages),
        (update, buffers): (&ProbeUpdateConstants, ProbeBuffers),
    ) {
        g.compute_with("gi probe blend", move || self.0.get())
            .uniform("probe_volume_block", volume)
            .storage("ray_block", buffers.rays.rays)
            .storage("probe_ray_block", buffers.found)
            .storage("shadow_hit_block", buffers.shadows.hits)
            .image_updated("probe_irradiance_image", images.irradiance)
            .image_updated("probe_visibility_image", images.visibility)
            .image_updated("probe_state_image", images.states)
            .push(update)
            .dispatch([update.count, 1, 1]);
    }
}
