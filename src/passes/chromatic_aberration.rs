//! Lateral chromatic aberration: the image scales of red and blue differ from that of green.

use glam::Vec2;

use super::fullscreen::FullscreenEffect;
use crate::{
    camera::effects::ChromaticAberration,
    gpu::{Gpu, GpuResult, shader_structs::effects::ChromaticAberrationConstants},
    graph::{Graph, ImageHandle},
};

/// Pipeline of the chromatic aberration pass.
pub struct ChromaticAberrationPass {
    pass: FullscreenEffect,
}

impl ChromaticAberrationPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            pass: FullscreenEffect::new(gpu, "chromatic aberration", "chromatic_aberration.frag")?,
        })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        aberration: &ChromaticAberration,
    ) -> ImageHandle {
        let half = aberration.red_over_blue / 2.0;
        let constants = ChromaticAberrationConstants {
            center: Vec2::from(size.map(|side| side as f32)) * 0.5,
            red: (1.0 + half) as f32,
            blue: (1.0 - half) as f32,
        };
        self.pass.declare(g, size, light, constants)
    }
}
