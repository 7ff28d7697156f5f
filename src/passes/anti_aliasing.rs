//! Anti-aliasing methods; a frame uses at most one. Pipelines are created on first use.

use std::sync::OnceLock;

use super::{
    effects::make,
    morphological::MorphologicalPass,
    scene_frame::SceneFrame,
    skin::SkinPass,
    taa::{TaaFrame, TaaInputs, TaaOutput, TaaPass},
    velocity::{MotionState, VelocityPass},
};
use crate::{
    gpu::{Gpu, GpuResult},
    graph::{Graph, ImageHandle},
};

/// Anti-aliasing passes created so far.
#[derive(Default)]
pub struct AntiAliasingPasses {
    morphological: OnceLock<MorphologicalPass>,
    velocity: OnceLock<VelocityPass>,
    temporal: OnceLock<TaaPass>,
}

/// Anti-aliasing method of a frame.
pub enum Method<'a> {
    /// No anti-aliasing.
    None,
    /// Morphological anti-aliasing of a single frame.
    Morphological,
    /// Temporal anti-aliasing: history parameters, and the motion states of the last and this
    /// frame.
    Temporal(TaaFrame, &'a [MotionState; 2]),
}

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct AntiAliasingInputs {
    /// Light at render resolution.
    pub light: ImageHandle,
    /// Depth at render resolution.
    pub depth: ImageHandle,
    /// Motion since the last frame, if another pass has declared it.
    pub velocity: Option<ImageHandle>,
}

impl AntiAliasingPasses {
    /// Creates the pipelines of a method, or of the velocity pass alone, unless they exist.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(
        &self,
        gpu: &Gpu,
        morphological: bool,
        temporal: bool,
        velocity: bool,
    ) -> GpuResult<()> {
        make(&self.morphological, morphological, || MorphologicalPass::new(gpu))?;
        make(&self.velocity, velocity || temporal, || VelocityPass::new(gpu))?;
        make(&self.temporal, temporal, || TaaPass::new(gpu))
    }

    /// Declares the velocity pass: motion of each pixel since the last frame (pixels).
    pub fn velocity<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        skin: &SkinPass,
        depth: ImageHandle,
        motion: &[MotionState; 2],
    ) -> ImageHandle {
        match self.velocity.get() {
            Some(pass) => {
                pass.declare(g, frame, skin, depth, "velocity from the last frame", motion)
            }
            None => depth,
        }
    }

    /// Declares the passes of the frame's method. Returns light and depth unchanged if it is
    /// `None`.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        skin: &SkinPass,
        inputs: AntiAliasingInputs,
        method: Method<'_>,
    ) -> TaaOutput {
        let AntiAliasingInputs { light, depth, velocity } = inputs;
        let data = frame.data;
        match (method, self.morphological.get(), self.temporal.get()) {
            (Method::Morphological, Some(pass), _) => {
                TaaOutput { light: pass.declare(g, data.uniforms.values.size, light), depth }
            }
            (Method::Temporal(taa, motion), _, Some(pass)) => {
                let velocity =
                    velocity.unwrap_or_else(|| self.velocity(g, frame, skin, depth, motion));
                pass.declare(g, data, TaaInputs { light, depth, velocity }, taa)
            }
            _ => TaaOutput { light, depth },
        }
    }
}
