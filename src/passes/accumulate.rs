//! Progressive accumulation of a static view: running mean of pre-exposed light over frames. A
//! change of exposure rescales the history by `history_scale`, as in all other temporal passes.

use std::sync::Arc;

use super::formats::LIGHT;
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    gpu_scene::FrameUniforms,
    graph::{Graph, ImageHandle},
};

/// 32-bit floats: the mean of many frames exceeds the precision of half floats.
const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

/// Pipeline of the accumulation pass.
pub struct AccumulatePass {
    pipeline: Arc<GraphicsPipeline>,
}

impl AccumulatePass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState {
            colors: vec![(HISTORY, false), (LIGHT, false)],
            ..GraphicsState::default()
        };
        Ok(Self {
            pipeline: GraphicsPipeline::new(
                gpu,
                "accumulate",
                "fullscreen.vert",
                "accumulate.frag",
                &state,
            )?,
        })
    }

    /// Declares the pass and returns the accumulated light. `frames`: number of frames already in
    /// the history.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        frame: &FrameUniforms,
        light: ImageHandle,
        frames: u32,
    ) -> ImageHandle {
        let [width, height] = frame.values.size;
        let (previous, current) = g.history("accumulated light", width, height, HISTORY);
        let out = g.image("accumulated light", width, height, LIGHT);
        let weight = (1.0 / (f64::from(frames) + 1.0)) as f32;
        g.fullscreen("accumulate", &self.pipeline)
            .binds([frame.uniform()])
            .sampled("light_image", light)
            .sampled("history_image", previous)
            .push(&weight)
            .target(current)
            .target(out)
            .draw();
        out
    }
}
