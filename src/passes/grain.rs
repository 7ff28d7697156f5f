//! Grain of the sensor on exposed light.

use super::{effects_shared::GrainConstants, fullscreen::FullscreenEffect};
use crate::{
    camera::effects::Grain,
    gpu::{Gpu, GpuResult},
    graph::{Graph, ImageHandle},
};

/// The pipeline.
pub struct GrainPass {
    pass: FullscreenEffect,
}

impl GrainPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self { pass: FullscreenEffect::new(gpu, "grain", "grain.frag")? })
    }

    /// Declares the pass. The same frame number gives the same grain.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        grain: &Grain,
        frame: u32,
    ) -> ImageHandle {
        let constants =
            GrainConstants { shot: grain.shot as f32, read: grain.read as f32, frame, pad0: 0 };
        self.pass.declare(g, size, light, constants)
    }
}
