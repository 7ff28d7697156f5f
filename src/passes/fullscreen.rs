//! Full-screen pass from one light image to another; most camera effects are one.

use std::sync::Arc;

use super::formats::LIGHT;
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Graph, ImageHandle},
};

/// Pipeline of a full-screen effect. Its shader reads `light_image` and has push constants.
pub struct FullscreenEffect {
    name: &'static str,
    pipeline: Arc<GraphicsPipeline>,
}

impl FullscreenEffect {
    /// Creates the pipeline of a fragment shader; `name` is also the pass name.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu, name: &'static str, fragment: &str) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
        Ok(Self {
            name,
            pipeline: GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)?,
        })
    }

    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        [width, height]: [u32; 2],
        light: ImageHandle,
        constants: impl bytemuck::Pod,
    ) -> ImageHandle {
        let out = g.image(&format!("light with {}", self.name), width, height, LIGHT);
        g.fullscreen(self.name, &self.pipeline)
            .sampled("light_image", light)
            .push(&constants)
            .target(out)
            .draw();
        out
    }
}
