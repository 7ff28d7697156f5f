//! Light along the rays of an irradiance volume's probes (docs/irradiance-volumes.md).

use std::sync::Arc;

use super::{
    gi_probe_rays::{ProbeBuffers, ProbeImages, groups},
    variants::{Features, LightVariants, WantedVariant},
};
use crate::{
    gpu::{
        Buffer, ComputePipeline, Gpu,
        shader_structs::{
            features::{
                FEATURE_AREA_LIGHTS, FEATURE_ENVIRONMENT, FEATURE_IES_PROFILES, FEATURE_SUN_DISKS,
            },
            gi_probes::ProbeUpdateConstants,
        },
    },
    gpu_scene::{FrameBvh, FrameData},
    graph::Graph,
};

/// Features that the shader reads.
const READ_FEATURES: u32 =
    FEATURE_AREA_LIGHTS | FEATURE_ENVIRONMENT | FEATURE_IES_PROFILES | FEATURE_SUN_DISKS;

/// Pipelines of the pass.
pub struct GiProbeShadePass(LightVariants<ComputePipeline>);

impl GiProbeShadePass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, shader: &str, features: Features| {
            ComputePipeline::specialized(gpu, name, shader, &[features.bits])
        };
        Self(LightVariants::new(gpu, "gi_probe_shade.comp", READ_FEATURES, make))
    }

    /// The pipeline that a frame needs.
    #[must_use]
    pub fn wanted(&self, data: &FrameData) -> WantedVariant<'_, ComputePipeline> {
        (&self.0, Features { bits: data.features, ..Features::default() })
    }

    /// Declares the pass, which writes the light along the rays and the shadow rays of their hits.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (data, hit_materials): (&FrameData, &Arc<Buffer>),
        (volume, images): (&Arc<Buffer>, ProbeImages),
        gpu_bvh: &FrameBvh,
        (update, buffers): (&ProbeUpdateConstants, ProbeBuffers),
    ) {
        let (variants, features) = self.wanted(data);
        g.compute_with("gi probe shade", move || variants.get(features))
            .binds([data.uniform()])
            .uniform("probe_volume_block", volume)
            .sampled("probe_irradiance_image", images.irradiance)
            .sampled("probe_visibility_image", images.visibility)
            .sampled("probe_state_image", images.states)
            .storage("light_block", &data.lights)
            .storage("node_block", &data.nodes)
            .storage("profile_block", &data.profiles)
            .storage("environment_block", &data.environment)
            .storage("ltc_block", &data.ltc)
            .storage("hit_material_block", hit_materials)
            .storage("ray_block", buffers.rays.rays)
            .storage("hit_block", buffers.rays.hits)
            .written("shadow_ray_block", buffers.shadows.rays)
            .written("probe_ray_block", buffers.found)
            .binds(gpu_bvh.hit_binds())
            .push(update)
            .dispatch(groups(update));
    }
}
