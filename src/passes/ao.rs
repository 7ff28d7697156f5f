//! Ambient occlusion and bent normals from the depth buffer (docs/ambient-occlusion.md).

use std::sync::Arc;

use super::{gbuffer::Gbuffer, pixel_groups};
use crate::{
    gpu::{ComputePipeline, Gpu, GpuResult, shader_structs::ao::AoConstants, vk},
    gpu_scene::FrameData,
    graph::{Graph, ImageHandle},
    settings::AoSettings,
};

/// Intermediate: occluded direction and fraction. After the filter: bent normal and visibility.
const BENT_NORMAL_AO: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// Pipelines of the ambient occlusion passes.
pub struct AoPass {
    search: Arc<ComputePipeline>,
    filter: Arc<ComputePipeline>,
}

impl AoPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            search: ComputePipeline::new(gpu, "ao", "ao.comp")?,
            filter: ComputePipeline::new(gpu, "ao filter", "ao_filter.comp")?,
        })
    }

    /// Declares the passes. Returns the image of the bent normal (world axes) and visibility of
    /// each pixel.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        gbuffer: Gbuffer,
        settings: &AoSettings,
    ) -> ImageHandle {
        let [width, height] = data.uniforms.values.size;
        let scale = settings.resolution.divisor();
        let constants = AoConstants {
            radius: settings.radius as f32,
            falloff: settings.falloff as f32,
            thickness: settings.thickness as f32,
            slices: settings.slices,
            steps: settings.steps,
            scale,
            filtered: u32::from(settings.filter),
            pad0: 0,
        };
        let [across, down] = [width, height].map(|side| side.div_ceil(scale));
        let raw = g.image("bent normal ao, unfiltered", across, down, BENT_NORMAL_AO);
        g.compute("ao", &self.search)
            .binds([data.uniform()])
            .sampled_each(gbuffer.depth_and_normal())
            .storage("probe_block", &data.probes)
            .push(&constants)
            .image_written("out_hidden_image", raw)
            .dispatch(pixel_groups::dispatch([across, down]));
        let out = g.image("bent normal ao", width, height, BENT_NORMAL_AO);
        g.compute("ao filter", &self.filter)
            .binds([data.uniform()])
            .sampled("hidden_image", raw)
            .sampled_each(gbuffer.depth_and_normal())
            .push(&constants)
            .image_written("out_open_image", out)
            .dispatch(pixel_groups::dispatch([width, height]));
        out
    }
}
