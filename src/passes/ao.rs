//! Ambient occlusion and bent normals from the depth buffer (docs/ambient-occlusion.md).

use std::sync::Arc;

use super::gbuffer::Gbuffer;
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState, shader_structs::ao::AoConstants, vk},
    gpu_scene::FrameData,
    graph::{Graph, ImageHandle},
    settings::AoSettings,
};

/// Intermediate: occluded direction and fraction. After the filter: bent normal and visibility.
const BENT_NORMAL_AO: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// Pipelines of the ambient occlusion passes.
pub struct AoPass {
    search: Arc<GraphicsPipeline>,
    filter: Arc<GraphicsPipeline>,
}

impl AoPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str| {
            let state =
                GraphicsState { colors: vec![(BENT_NORMAL_AO, false)], ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Ok(Self { search: make("ao", "ao.frag")?, filter: make("ao filter", "ao_filter.frag")? })
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
        let raw = g.image(
            "bent normal ao, unfiltered",
            width.div_ceil(scale),
            height.div_ceil(scale),
            BENT_NORMAL_AO,
        );
        g.fullscreen("ao", &self.search)
            .binds([data.uniform()])
            .sampled_each(gbuffer.depth_and_normal())
            .storage("probe_block", &data.probes)
            .push(&constants)
            .target(raw)
            .draw();
        let out = g.image("bent normal ao", width, height, BENT_NORMAL_AO);
        g.fullscreen("ao filter", &self.filter)
            .binds([data.uniform()])
            .sampled("hidden_image", raw)
            .sampled_each(gbuffer.depth_and_normal())
            .push(&constants)
            .target(out)
            .draw();
        out
    }
}
