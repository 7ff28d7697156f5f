//! Denoiser of stochastic diffuse and specular light: temporal accumulation with reprojection,
//! followed by a variance-guided a-trous filter (docs/denoiser.md). Each signal has its own
//! histories.

use std::sync::Arc;

use super::{
    gbuffer::Gbuffer,
    pixel_groups,
    temporal::{FrameMotion, HistoryFrame},
};
use crate::{
    gpu::{
        Buffer, ComputePipeline, Gpu, GpuResult,
        shader_structs::{
            denoiser::{
                DENOISER_CLIPPED, DENOISER_FROZEN, DENOISER_PRE_EXPOSED, DENOISER_WEIGHTED,
                DenoiserConstants,
            },
            temporal::HistoryConstants,
        },
        vk,
    },
    gpu_scene::{FrameData, View, dynamic_buffer},
    graph::{Graph, ImageHandle},
};

/// Histories and filtered images. 32-bit floats: the mean of many frames exceeds the precision of
/// half floats.
pub const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Depth and normal of the last frame.
const HISTORY_DATA: vk::Format = vk::Format::R32G32_UINT;
/// Displayed light; half floats suffice for 8-bit steps.
pub const DISPLAYED: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Weights of a signal's samples; half floats suffice.
pub const SAMPLE_WEIGHTS: vk::Format = vk::Format::R16G16_SFLOAT;
/// Maximum history length of a static view (frames).
const MAX_STATIC_FRAMES: f32 = 4096.0;
/// Tap spacing of each filter pass (pixels). The last one is for weighted signals, whose samples
/// are farther apart.
const SPACINGS: [i32; 5] = [1, 2, 4, 8, 16];
/// Temporal stabilization: after this many static frames, the image changes by at most
/// `STABILIZATION_STEP` 8-bit steps per frame.
const STABILIZE_AFTER: u32 = 8;
const STABILIZATION_STEP: f32 = 0.4;

/// How a signal is denoised in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalSettings {
    /// Prefix of the signal's passes, images and histories; unique in a frame.
    pub name: &'static str,
    /// State of the histories.
    pub history: HistoryFrame,
    /// Maximum history length in frames, in motion.
    pub max_history_frames: f32,
    /// Further limit on the history length (frames) in this frame, for a signal that has changed.
    /// 0 discards the history; `f32::MAX` leaves it.
    pub max_stale_frames: f32,
    /// Consecutive frames, up to the last one, in which nothing moved and the signal did not
    /// change.
    pub still_frames: u32,
    /// Keeps the history as it is and does not read this frame's signal.
    pub frozen: bool,
    /// True for light (pre-exposed), whose history is rescaled with the exposure; false for
    /// ratios, such as visibility.
    pub pre_exposed: bool,
    /// In motion, clips the history to the neighborhood of this frame's signal, and limits its
    /// length by alpha of the noisy diffuse part (frames): for signals whose single frames have
    /// little noise.
    pub clipped: bool,
    /// Not each pixel has its own sample: `DenoiserInputs::weights` has their weights.
    pub weighted: bool,
    /// Applies the spatial filter after the accumulation.
    pub filter: bool,
    /// Maximum number of a-trous passes of the filter; 0: all.
    pub max_filter_passes: u32,
    /// Stabilizes the displayed light in a static view: for frames that are displayed as they are,
    /// not averaged with others.
    pub stabilized: bool,
}

/// One signal in a frame: its name, the state of its histories and its constants.
#[derive(Clone)]
pub struct DenoiserSignal {
    settings: SignalSettings,
    values: DenoiserConstants,
    constants: Arc<Buffer>,
}

impl DenoiserSignal {
    /// Prepares a frame.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        view: &View,
        motion: &FrameMotion,
        settings: SignalSettings,
    ) -> GpuResult<Self> {
        let history = settings.history.constants(settings.max_history_frames, MAX_STATIC_FRAMES);
        let flags = [
            (settings.frozen, DENOISER_FROZEN),
            (settings.pre_exposed, DENOISER_PRE_EXPOSED),
            (settings.clipped, DENOISER_CLIPPED),
            (settings.weighted, DENOISER_WEIGHTED),
        ];
        let values = DenoiserConstants {
            motion: motion.constants(),
            history: HistoryConstants {
                max_frames: history.max_frames.min(settings.max_stale_frames),
                ..history
            },
            size: [view.width, view.height],
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
            pad0: [0; 2],
        };
        let label = format!("{} denoiser constants", settings.name);
        Ok(Self { settings, values, constants: dynamic_buffer(gpu, &label, &[values])? })
    }

    /// State of the history in shaders.
    #[must_use]
    pub const fn history(&self) -> HistoryConstants {
        self.values.history
    }

    /// Maximum change of the displayed light since the last frame in 8-bit steps; 0: unlimited. For
    /// `lib/temporal_stabilization.glsl` in the pass that displays the signal.
    #[must_use]
    pub const fn stabilization_step(&self) -> f32 {
        let SignalSettings { history, still_frames, stabilized, .. } = self.settings;
        let rests = history.static_frames(still_frames) >= STABILIZE_AFTER;
        if stabilized && rests { STABILIZATION_STEP } else { 0.0 }
    }

    /// The displayed light of the last frame, if there is a history, and the image for that of this
    /// frame: half floats, written by the pass that displays the signal.
    pub fn displayed_images(&self, g: &mut Graph<'_>) -> (Option<ImageHandle>, ImageHandle) {
        self.images(g, ["displayed", "displayed single frame"], DISPLAYED)
    }

    /// `HistoryFrame::images` with the signal's name before the names.
    fn images(
        &self,
        g: &mut Graph<'_>,
        names: [&str; 2],
        format: vk::Format,
    ) -> (Option<ImageHandle>, ImageHandle) {
        let [name, alone] = names.map(|what| format!("{} {what}", self.settings.name));
        self.settings.history.images(g, [&name, &alone], self.values.size, format)
    }
}

/// Inputs of the denoiser.
#[derive(Clone, Copy)]
pub struct DenoiserInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Motion from the last frame to this one (pixels).
    pub velocity: ImageHandle,
    /// The noisy signal.
    pub noisy: DenoiserImages,
    /// Weights of its samples, with `SignalSettings::weighted`.
    pub weights: Option<SampleWeights>,
}

/// Weights of the diffuse and of the specular sample of each pixel: 1 is a sample of the pixel's own,
/// less is taken from other pixels, 0 is none. History lengths count by them.
#[derive(Clone, Copy)]
pub struct SampleWeights(pub ImageHandle);

/// Diffuse and specular part of a signal, RGB, at render resolution: noisy ones of any float
/// format, denoised ones of 32-bit floats. Alpha of the noisy images is not read, except the
/// diffuse one with `SignalSettings::clipped`; of the denoised ones it is internal.
#[derive(Clone, Copy)]
pub struct DenoiserImages {
    /// Part that does not depend on the direction of view, without the surface's albedo.
    pub diffuse: ImageHandle,
    /// Part that depends on the direction of view; its history in motion is shorter on smooth
    /// surfaces.
    pub specular: ImageHandle,
}

/// Pipelines of the denoiser, for any number of signals.
pub struct Denoiser {
    temporal: Arc<ComputePipeline>,
    variance: Arc<ComputePipeline>,
    filter: Arc<ComputePipeline>,
}

impl Denoiser {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, shader: &str| ComputePipeline::new(gpu, name, shader);
        Ok(Self {
            temporal: make("denoiser temporal", "denoiser_temporal.comp")?,
            variance: make("denoiser variance", "denoiser.comp+VARIANCE")?,
            filter: make("denoiser filter", "denoiser.comp")?,
        })
    }

    /// Declares the passes of one signal: temporal accumulation, and with `SignalSettings::filter`
    /// the variance pass and the a-trous passes. Returns the denoised signal.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        signal: &DenoiserSignal,
        inputs: DenoiserInputs,
    ) -> DenoiserImages {
        let DenoiserInputs { gbuffer, .. } = inputs;
        let mut denoised = self.declare_temporal(g, data, signal, inputs);
        if signal.settings.filter {
            let name = signal.settings.name;
            denoised = self.declare_filter(g, data, gbuffer, (name, None), denoised);
            let all = SPACINGS.len() - usize::from(!signal.settings.weighted);
            let passes = match signal.settings.max_filter_passes {
                0 => all,
                most => all.min(most as usize),
            };
            for &spacing in &SPACINGS[..passes] {
                denoised = self.declare_filter(g, data, gbuffer, (name, Some(spacing)), denoised);
            }
        }
        denoised
    }

    fn declare_temporal(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        signal: &DenoiserSignal,
        DenoiserInputs { gbuffer, velocity, noisy, weights }: DenoiserInputs,
    ) -> DenoiserImages {
        // A single frame does not read the placeholders of its histories.
        let [diffuse, specular, past] = [
            (["diffuse history", "diffuse single frame"], HISTORY, noisy.diffuse),
            (["specular history", "specular single frame"], HISTORY, noisy.specular),
            (["history data", "history data single frame"], HISTORY_DATA, gbuffer.normal),
        ]
        .map(|(names, format, placeholder)| {
            let (previous, current) = signal.images(g, names, format);
            (previous.unwrap_or(placeholder), current)
        });
        g.compute(&format!("{} temporal", signal.settings.name), &self.temporal)
            .binds([data.uniform()])
            .storage("denoiser_block", &signal.constants)
            .sampled_each(gbuffer.without_emission())
            .sampled("diffuse_image", noisy.diffuse)
            .sampled("specular_image", noisy.specular)
            .sampled("weights_image", weights.map_or(noisy.specular, |SampleWeights(image)| image))
            .sampled("velocity_image", velocity)
            .sampled("history_image", diffuse.0)
            .sampled("history_specular_image", specular.0)
            .sampled("history_data_image", past.0)
            .image_written("out_history_image", diffuse.1)
            .image_written("out_specular_image", specular.1)
            .image_written("out_past_image", past.1)
            .dispatch(pixel_groups::dispatch(signal.values.size));
        DenoiserImages { diffuse: diffuse.1, specular: specular.1 }
    }

    /// One pass of the filter; without a spacing, the variance pass.
    fn declare_filter(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        gbuffer: Gbuffer,
        (signal, spacing): (&str, Option<i32>),
        DenoiserImages { diffuse, specular }: DenoiserImages,
    ) -> DenoiserImages {
        let size = data.uniforms.values.size;
        let (name, pipeline) = match spacing {
            None => (format!("{signal} variance"), &self.variance),
            Some(spacing) => (format!("{signal} filter {spacing}"), &self.filter),
        };
        let outs = ["light", "highlights"]
            .map(|what| g.image(&format!("{name}, {what}"), size[0], size[1], HISTORY));
        g.compute(&name, pipeline)
            .binds([data.uniform()])
            .sampled_each(gbuffer.depth_and_normal())
            .sampled("diffuse_image", diffuse)
            .sampled("specular_image", specular)
            .with(spacing, |pass, spacing| {
                pass.sampled("surface_image", gbuffer.surface).push(&spacing)
            })
            .image_written("out_diffuse_image", outs[0])
            .image_written("out_specular_image", outs[1])
            .dispatch(pixel_groups::dispatch(size));
        DenoiserImages { diffuse: outs[0], specular: outs[1] }
    }
}
