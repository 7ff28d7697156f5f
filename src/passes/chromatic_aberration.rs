//! Lateral chromatic aberration: red and blue are imaged larger and smaller than green.

use std::sync::Arc;

use glam::Vec2;

use super::{effects_shared::ChromaticAberrationConstants, gbuffer::LIGHT};
use crate::{
    camera::chain::ChromaticAberration,
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph, ImageHandle},
};

/// The pipeline.
pub struct ChromaticAberrationPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl ChromaticAberrationPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
        let name = "chromatic aberration";
        Ok(Self { pipeline: GraphicsPipeline::new(gpu, name, "fullscreen.vert", "chromatic_aberration.frag", &state)? })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        [width, height]: [u32; 2],
        light: ImageHandle,
        aberration: &ChromaticAberration,
    ) -> ImageHandle {
        let out = g.image("light with chromatic aberration", width, height, LIGHT);
        let half = aberration.red_over_blue / 2.0;
        let constants = ChromaticAberrationConstants {
            center: Vec2::new(width as f32, height as f32) * 0.5,
            red: (1.0 + half) as f32,
            blue: (1.0 - half) as f32,
        };
        g.pass("chromatic aberration").uses(light, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(
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
