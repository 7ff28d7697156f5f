//! Exposed light to sRGB bytes by the chosen tone mapper.

use std::sync::Arc;

use crate::{
    camera::ToneMapper,
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// The pipeline.
pub struct TonemapPass {
    pipeline: Arc<GraphicsPipeline>,
}

/// The shader's number of a mapper.
fn number(mapper: ToneMapper) -> u32 {
    match mapper {
        ToneMapper::Linear => 0,
        ToneMapper::Aces => 1,
        ToneMapper::Agx => 2,
        ToneMapper::PbrNeutral => 3,
    }
}

impl TonemapPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(vk::Format::R8G8B8A8_UNORM, false)], ..GraphicsState::default() };
        Ok(Self { pipeline: GraphicsPipeline::new(gpu, "tonemap", "fullscreen.vert", "tonemap.frag", &state)? })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        mapper: ToneMapper,
    ) -> ImageHandle {
        let out = g.image("display", size[0], size[1], vk::Format::R8G8B8A8_UNORM);
        g.pass("tonemap").uses(light, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(move |cx| {
            let light = cx.image(light);
            cx.rec.bind_graphics(&self.pipeline, &[("light_image", Bind::Sampled(&light))])?;
            cx.rec.push_graphics(&self.pipeline, &number(mapper));
            cx.rec.draw_fullscreen();
            Ok(())
        });
        out
    }
}
