//! Film grain on exposed light.

use super::fullscreen::FullscreenEffect;
use crate::{
    camera::effect_models::Grain,
    gpu::{Gpu, GpuResult, shader_structs::effects::GrainConstants},
    graph::{Graph, ImageHandle},
};

/// Pipeline of the film grain pass.
pub struct GrainPass {
    pass: FullscreenEffect,
}

impl GrainPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self { pass: FullscreenEffect::new(gpu, "grain", "grain.frag")? })
    }

    /// Declares the pass. Equal frame indices give equal grain.
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
