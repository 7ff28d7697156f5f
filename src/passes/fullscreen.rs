//! Full-screen pass from one light image to another; most camera effects are one.

use std::sync::Arc;

use super::gbuffer::LIGHT;
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph, ImageHandle},
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

    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        [width, height]: [u32; 2],
        light: ImageHandle,
        constants: impl bytemuck::Pod,
    ) -> ImageHandle {
        let out = g.image(&format!("light with {}", self.name), width, height, LIGHT);
        g.pass(self.name).uses(light, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(
            move |cx| {
                let light = cx.image(light);
                cx.rec.bind_graphics(&self.pipeline, &[("light_image", Bind::Sampled(&light))])?;
                cx.rec.push_graphics(&self.pipeline, &constants);
                cx.rec.draw_fullscreen();
                Ok(())
            },
        );
        out
    }
}
