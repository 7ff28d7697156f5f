//! The ways to smooth edges, one of which a frame may take. Pipelines are made when they are first
//! used.

use std::sync::OnceLock;

use super::{
    FrameData, GpuScene,
    effects::make,
    morphological::MorphologicalPass,
    skin::SkinPass,
    taa::{TaaFrame, TaaInputs, TaaOutput, TaaPass},
    velocity::{MotionState, VelocityPass},
};
use crate::{
    gpu::{Gpu, GpuResult},
    graph::{Graph, ImageHandle},
};

/// The passes that have been asked for.
#[derive(Default)]
pub struct AntiAliasingPasses {
    morphological: OnceLock<MorphologicalPass>,
    velocity: OnceLock<VelocityPass>,
    temporal: OnceLock<TaaPass>,
}

/// What a frame is smoothed by.
pub enum Method<'a> {
    /// Nothing.
    None,
    /// The shapes of its edges.
    Morphological,
    /// The frames before it: how it joins them, and where the camera and all things were and are.
    Temporal(TaaFrame, &'a [MotionState; 2]),
}

impl AntiAliasingPasses {
    /// Makes the pipelines of a method, or of velocity by itself, where they are not there yet.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
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

    /// Declares how far each pixel has moved since the last frame (pixels).
    pub fn velocity<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data, skin): (&'a GpuScene, &'a FrameData, &'a SkinPass),
        depth: ImageHandle,
        motion: &[MotionState; 2],
    ) -> ImageHandle {
        match self.velocity.get() {
            Some(pass) => {
                pass.declare(g, (scene, data, skin), depth, "velocity from the last frame", motion)
            }
            None => depth,
        }
    }

    /// Declares the passes of the frame's method; light and depth as they are where it has none.
    /// `velocity` where it is known already.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data, skin): (&'a GpuScene, &'a FrameData, &'a SkinPass),
        (depth, velocity): (ImageHandle, Option<ImageHandle>),
        light: ImageHandle,
        method: Method<'_>,
    ) -> TaaOutput {
        match (method, self.morphological.get(), self.temporal.get()) {
            (Method::Morphological, Some(pass), _) => {
                TaaOutput { light: pass.declare(g, data.values.size, light), depth }
            }
            (Method::Temporal(frame, motion), _, Some(pass)) => {
                let velocity = velocity
                    .unwrap_or_else(|| self.velocity(g, (scene, data, skin), depth, motion));
                pass.declare(g, data, TaaInputs { light, depth, velocity }, frame)
            }
            _ => TaaOutput { light, depth },
        }
    }
}
