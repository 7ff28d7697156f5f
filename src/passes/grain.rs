//! Grain of the sensor on exposed light.

use std::sync::Arc;

use super::{effects_shared::GrainConstants, gbuffer::LIGHT};
use crate::{
    camera::effects::Grain,
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph, ImageHandle},
};

/// The pipeline.
pub struct GrainPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl GrainPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
        let name = "grain";
        Ok(Self { pipeline: GraphicsPipeline::new(gpu, name, "fullscreen.vert", "grain.frag", &state)? })
    }

    /// Declares the pass. The same frame number gives the same grain.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        [width, height]: [u32; 2],
        light: ImageHandle,
        grain: &Grain,
        frame: u32,
    ) -> ImageHandle {
        let out = g.image("light with grain", width, height, LIGHT);
        let constants = GrainConstants { shot: grain.shot as f32, read: grain.read as f32, frame, pad0: 0 };
        g.pass("grain").uses(light, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(move |cx| {
            let light = cx.image(light);
            cx.rec.bind_graphics(&self.pipeline, &[("light_image", Bind::Sampled(&light))])?;
            cx.rec.push_graphics(&self.pipeline, &constants);
            cx.rec.draw_fullscreen();
            Ok(())
        });
        out
    }
}
