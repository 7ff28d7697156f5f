//! Anti-aliasing methods; a frame uses at most one. Pipelines are created on first use.

use std::sync::OnceLock;

use super::{
    effects::make,
    morphological::MorphologicalPass,
    taa::{TaaFrame, TaaInputs, TaaOutput, TaaPass},
};
use crate::{
    gpu::{Gpu, GpuResult},
    gpu_scene::FrameData,
    graph::{BufferHandle, Graph, ImageHandle},
};

/// Anti-aliasing passes created so far.
#[derive(Default)]
pub struct AntiAliasingPasses {
    morphological: OnceLock<MorphologicalPass>,
    temporal: OnceLock<TaaPass>,
}

/// Anti-aliasing method of a frame.
#[derive(Clone, Copy)]
pub enum Method {
    /// No anti-aliasing.
    None,
    /// Morphological anti-aliasing of a single frame.
    Morphological,
    /// Temporal anti-aliasing.
    Temporal(TaaFrame),
}

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct AntiAliasingInputs {
    /// Light at render resolution.
    pub light: ImageHandle,
    /// Depth at render resolution.
    pub depth: ImageHandle,
    /// Motion since the last frame; only for temporal anti-aliasing.
    pub velocity: Option<ImageHandle>,
    /// Counters of `passes::limit_counters`.
    pub limit_counters: BufferHandle,
}

impl AntiAliasingPasses {
    /// Creates the pipelines of a method unless they exist.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(&self, gpu: &Gpu, morphological: bool, temporal: bool) -> GpuResult<()> {
        make(&self.morphological, morphological, || MorphologicalPass::new(gpu))?;
        make(&self.temporal, temporal, || TaaPass::new(gpu))
    }

    /// Declares the passes of the frame's method. Returns light and depth unchanged if it is
    /// `None`.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        inputs: AntiAliasingInputs,
        method: Method,
    ) -> TaaOutput {
        let AntiAliasingInputs { light, depth, velocity, limit_counters } = inputs;
        match (method, velocity) {
            (Method::Morphological, _) => self.morphological.get().map(|pass| TaaOutput {
                light: pass.declare(g, data.uniforms.values.size, light),
                depth,
            }),
            (Method::Temporal(taa), Some(velocity)) => self.temporal.get().map(|pass| {
                pass.declare(g, data, TaaInputs { light, depth, velocity, limit_counters }, taa)
            }),
            _ => None,
        }
        .unwrap_or(TaaOutput { light, depth })
    }
}
