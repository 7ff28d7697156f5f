//! A pass that makes one picture of light from another, pixel by pixel of the whole of it: what
//! most of the camera's effects are.

use std::sync::Arc;

use super::gbuffer::LIGHT;
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph, ImageHandle},
};

/// The pipeline; its shader reads `light_image` and has push constants.
pub struct FullscreenEffect {
    name: &'static str,
    pipeline: Arc<GraphicsPipeline>,
}

impl FullscreenEffect {
    /// Makes the pipeline of a fragment shader; `name` is the pass's too.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu, name: &'static str, fragment: &str) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
        Ok(Self {
            name,
            pipeline: GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)?,
        })
    }

    /// Declares the pass.
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
