//! Temporal anti-aliasing (TAA) with upscaling: jittered frames accumulate in a reprojected history
//! (docs/anti-aliasing.md). The output may have more pixels than the input.

use std::sync::Arc;

use glam::{Vec2, Vec4};

use super::{formats::LIGHT, pixel_groups, temporal::HistoryFrame};
use crate::{
    gpu::{ComputePipeline, Gpu, GpuResult, SamplerInfo, shader_structs::taa::TaaConstants, vk},
    gpu_scene::FrameData,
    graph::{BufferHandle, Graph, ImageHandle},
};

/// Depth and speed of the last frame.
const PAST: vk::Format = vk::Format::R16G16_SFLOAT;
/// Depth at output resolution.
const DEPTH: vk::Format = vk::Format::R32_SFLOAT;
/// Maximum effective length in frames of a static history: half floats cannot resolve a finer mean.
const MAX_STATIC_FRAMES: f32 = 1024.0;

/// Inputs from this frame.
#[derive(Clone, Copy)]
pub struct TaaInputs {
    /// Light of this frame.
    pub light: ImageHandle,
    /// Depth, at the same resolution.
    pub depth: ImageHandle,
    /// Motion from the last frame to this one (pixels, `passes::velocity`), at the same resolution.
    pub velocity: ImageHandle,
    /// Counters of `passes::limit_counters`.
    pub limit_counters: BufferHandle,
}

/// History parameters of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaaFrame {
    /// Output size (pixels).
    pub size: [u32; 2],
    /// Sample offset of this frame from the pixel center (input pixels).
    pub jitter: Vec2,
    /// `View::depth_from` of the last frame's camera relative to this one's.
    pub previous_depth: Vec4,
    /// State of the history.
    pub history: HistoryFrame,
    /// Maximum history length in frames, in motion.
    pub max_history_frames: f32,
    /// Variance clipping: half-width of the history clamp in standard deviations of the
    /// neighborhood, where nothing moves.
    pub gamma: f32,
}

/// Outputs at output resolution.
#[derive(Clone, Copy)]
pub struct TaaOutput {
    /// Light; alpha is the weight of the samples in it.
    pub light: ImageHandle,
    /// Depth, at the same resolution.
    pub depth: ImageHandle,
}

/// Pipelines of temporal anti-aliasing.
pub struct TaaPass {
    pipeline: Arc<ComputePipeline>,
    with_depth: Arc<ComputePipeline>,
}

impl TaaPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            pipeline: ComputePipeline::new(gpu, "taa", "taa.comp")?,
            with_depth: ComputePipeline::new(gpu, "taa with depth", "taa.comp+DEPTH")?,
        })
    }

    /// Declares the pass. Returns the displayed history, which differs from the history itself only
    /// in a static view.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        inputs: TaaInputs,
        frame: TaaFrame,
    ) -> TaaOutput {
        let [width, height] = frame.size;
        let (history, joined) = g.history("taa light", width, height, LIGHT);
        let (shown, light) = g.history("taa displayed", width, height, LIGHT);
        let (past, now) = g.history("taa depth and speed", width, height, PAST);
        let scaled = data.uniforms.values.size != frame.size;
        let depth = if scaled { g.image("taa depth", width, height, DEPTH) } else { inputs.depth };
        let constants = TaaConstants {
            previous_depth: frame.previous_depth,
            size: Vec2::new(width as f32, height as f32),
            jitter: frame.jitter,
            history: frame.history.constants(frame.max_history_frames, MAX_STATIC_FRAMES),
            gamma: frame.gamma,
            pad0: [0; 3],
        };
        let pipeline = if scaled { &self.with_depth } else { &self.pipeline };
        g.compute("taa", pipeline)
            .binds([data.uniform()])
            .sampled("light_image", inputs.light)
            .sampled("depth_image", inputs.depth)
            .sampled("velocity_image", inputs.velocity)
            .texture("history_image", history, SamplerInfo::LINEAR)
            .sampled("history_data_image", past)
            .sampled("displayed_image", shown)
            .updated("limit_counter_block", inputs.limit_counters)
            .push(&constants)
            .image_written("out_history_image", joined)
            .image_written("out_past_image", now)
            .image_written("out_displayed_image", light)
            .with(scaled.then_some(depth), |pass, depth| {
                pass.image_written("out_depth_image", depth)
            })
            .dispatch(pixel_groups::dispatch(frame.size));
        TaaOutput { light, depth }
    }
}
