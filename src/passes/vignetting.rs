//! Vignetting by field angle and by the barrel's rim, exact for each pixel.

use std::sync::Arc;

use glam::Vec2;

use super::{effects_shared::VignettingConstants, gbuffer::LIGHT};
use crate::{
    camera::chain::Vignetting,
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph, ImageHandle},
};

/// The pipeline.
pub struct VignettingPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl VignettingPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
        let name = "vignetting";
        Ok(Self { pipeline: GraphicsPipeline::new(gpu, name, "fullscreen.vert", "vignetting.frag", &state)? })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        [width, height]: [u32; 2],
        light: ImageHandle,
        vignetting: &Vignetting,
    ) -> ImageHandle {
        let out = g.image("light with vignetting", width, height, LIGHT);
        let rim = vignetting.rim.filter(|rim| rim.distance > 0.0);
        let pitch = vignetting.width / f64::from(width);
        let pupil = vignetting.pupil_radius;
        let constants = VignettingConstants {
            center: Vec2::new(width as f32, height as f32) * 0.5,
            pitch: pitch as f32,
            natural: vignetting.exponent as f32,
            rim_radius: rim.map_or(0.0, |rim| rim.radius / pupil) as f32,
            rim_shift: rim.map_or(0.0, |rim| rim.distance / pupil * pitch) as f32,
        };
        g.pass("vignetting").uses(light, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(move |cx| {
            let light = cx.image(light);
            cx.rec.bind_graphics(&self.pipeline, &[("light_image", Bind::Sampled(&light))])?;
            cx.rec.push_graphics(&self.pipeline, &constants);
            cx.rec.draw_fullscreen();
            Ok(())
        });
        out
    }
}
