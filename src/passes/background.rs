//! Background where no surface is hit: the environment and the disks of suns.

use std::sync::Arc;

use super::{formats::LIGHT, gbuffer::Gbuffer, lighting::LitImages};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    gpu_scene::FrameData,
    graph::{BufferHandle, Graph},
};

/// Pipeline of the background pass.
pub struct BackgroundPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl BackgroundPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, true)], ..GraphicsState::default() };
        Ok(Self {
            pipeline: GraphicsPipeline::new(
                gpu,
                "background",
                "fullscreen.vert",
                "background.frag",
                &state,
            )?,
        })
    }

    /// Declares the pass, unless the scene has neither an environment nor a sun with a disk.
    /// `limit_counters`: of `passes::limit_counters`.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        (gbuffer, lit): (Gbuffer, LitImages),
        limit_counters: BufferHandle,
    ) {
        if !data.has_background {
            return;
        }
        g.fullscreen("background", &self.pipeline)
            .binds([data.uniform()])
            .sampled("depth_image", gbuffer.depth)
            .storage("light_block", &data.lights)
            .storage("environment_block", &data.environment)
            .updated("limit_counter_block", limit_counters)
            .target_loaded(lit.light)
            .draw();
    }
}
