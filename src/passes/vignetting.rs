//! Vignetting by field angle and by the barrel rim, exact for each pixel.

use glam::Vec2;

use super::fullscreen::FullscreenEffect;
use crate::{
    camera::effects::Vignetting,
    gpu::{Gpu, GpuResult, shader_structs::effects::VignettingConstants},
    graph::{Graph, ImageHandle},
};

/// Pipeline of the vignetting pass.
pub struct VignettingPass {
    pass: FullscreenEffect,
}

impl VignettingPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self { pass: FullscreenEffect::new(gpu, "vignetting", "vignetting.frag")? })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        vignetting: &Vignetting,
    ) -> ImageHandle {
        let rim = vignetting.rim.filter(|rim| rim.distance != 0.0);
        let pitch = vignetting.width / f64::from(size[0]);
        let pupil = vignetting.pupil_radius;
        let constants = VignettingConstants {
            center: Vec2::from(size.map(|side| side as f32)) * 0.5,
            pitch: pitch as f32,
            natural: vignetting.exponent as f32,
            rim_radius: rim.map_or(0.0, |rim| rim.radius / pupil) as f32,
            rim_shift: rim.map_or(0.0, |rim| rim.distance.abs() / pupil * pitch) as f32,
        };
        self.pass.declare(g, size, light, constants)
    }
}
