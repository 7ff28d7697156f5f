//! Denoiser of stochastic diffuse and specular light: temporal accumulation with reprojection,
//! followed by a variance-guided a-trous filter (docs/denoiser.md). Each signal has its own
//! histories. In frames that are averaged the result is the frame's increment of the mean.

use std::sync::Arc;

use super::{
    creation::{LazyPipeline, PipelineJob},
    gbuffer::Gbuffer,
    pixel_groups,
    temporal::{FrameMotion, HistoryFrame},
};
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult,
        shader_structs::{
            denoiser::{
                DENOISER_CHOSEN, DENOISER_CLIPPED, DENOISER_FROZEN, DENOISER_PRE_EXPOSED,
                DENOISER_WEIGHTED, DenoiserConstants,
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
/// Luminance that guides the filter of increments.
const GUIDE: vk::Format = vk::Format::R32_SFLOAT;
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
    /// Each frame chooses the surface of a pixel again: in a static view too, the history is used
    /// only if it is that of the same surface.
    pub chosen: bool,
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
            (settings.chosen, DENOISER_CHOSEN),
        ];
        let values = DenoiserConstants {
            motion: motion.constants(),
            history: HistoryConstants {
                max_frames: history.max_frames.min(settings.max_stale_frames),
                ..history
            },
            size: [view.width, view.height],
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
            pad0: 0,
        };
        let label = format!("{} denoiser constants", settings.name);
        Ok(Self { settings, values, constants: dynamic_buffer(gpu, &label, &[values])? })
    }

    /// Prefix of the signal's passes and images.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.settings.name
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

    /// Kind of the pipelines.
    const fn averaging(&self) -> Averaging {
        // Without a history the samples of frames are independent.
        let history = self.settings.history;
        match history.averaged_frames {
            Some(_) if history.kept => Averaging::Mean,
            _ => Averaging::Alone,
        }
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

/// How frames are displayed: alone, or as their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Averaging {
    Alone,
    Mean,
}

/// Parts of a signal between the passes, and the luminance that guides the filter of increments.
#[derive(Clone, Copy)]
struct Filtered {
    images: DenoiserImages,
    guide: Option<ImageHandle>,
}

/// Pipelines of the denoiser, for any number of signals, in the order of `Averaging`; created on
/// first use.
pub struct Denoiser {
    temporal: [LazyPipeline; 2],
    variance: [LazyPipeline; 2],
    filter: [LazyPipeline; 2],
}

impl Denoiser {
    /// Creates the denoiser without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let lazy = |name, shaders: [&'static str; 2]| {
            shaders.map(|shader| LazyPipeline::new(gpu, name, shader))
        };
        Self {
            temporal: lazy(
                "denoiser temporal",
                ["denoiser_temporal.comp", "denoiser_temporal.comp+AVERAGED"],
            ),
            variance: lazy(
                "denoiser variance",
                ["denoiser.comp+VARIANCE", "denoiser.comp+VARIANCE+AVERAGED"],
            ),
            filter: lazy("denoiser filter", ["denoiser.comp", "denoiser.comp+AVERAGED"]),
        }
    }

    /// The jobs that create those pipelines of a frame's signals that do not exist.
    pub fn jobs<'a, 's>(
        &'a self,
        signals: impl Iterator<Item = &'s DenoiserSignal>,
    ) -> Vec<PipelineJob<'a>> {
        let mut wanted: Vec<&LazyPipeline> = Vec::new();
        for signal in signals {
            let kind = signal.averaging() as usize;
            let filters = [&self.variance[kind], &self.filter[kind]];
            let filters = filters.into_iter().filter(|_| signal.settings.filter);
            for pipeline in std::iter::once(&self.temporal[kind]).chain(filters) {
                if !pipeline.exists() && !wanted.iter().any(|other| std::ptr::eq(*other, pipeline))
                {
                    wanted.push(pipeline);
                }
            }
        }
        wanted
            .into_iter()
            .map(|pipeline| -> PipelineJob<'a> { Box::new(move || pipeline.get().map(drop)) })
            .collect()
    }

    /// Declares the passes of one signal: temporal accumulation, and with `SignalSettings::filter`
    /// the variance pass and the a-trous passes. Returns the denoised signal.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        signal: &DenoiserSignal,
        inputs: DenoiserInputs,
    ) -> DenoiserImages {
        let DenoiserInputs { gbuffer, .. } = inputs;
        let (mean, increment) = self.declare_temporal(g, data, signal, inputs);
        if !signal.settings.filter {
            return increment.unwrap_or(mean);
        }
        let mut denoised = self.declare_variance(g, data, (signal, gbuffer), mean, increment);
        let all = SPACINGS.len() - usize::from(!signal.settings.weighted);
        let passes = match signal.settings.max_filter_passes {
            0 => all,
            most => all.min(most as usize),
        };
        for &spacing in &SPACINGS[..passes] {
            denoised = self.declare_filter(g, data, (signal, gbuffer), spacing, denoised);
        }
        denoised.images
    }

    /// Returns the accumulated signal, and in frames that are averaged the increments of the mean.
    fn declare_temporal<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        signal: &DenoiserSignal,
        DenoiserInputs { gbuffer, velocity, noisy, weights }: DenoiserInputs,
    ) -> (DenoiserImages, Option<DenoiserImages>) {
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
        let averaging = signal.averaging();
        let name = signal.settings.name;
        let increment = (averaging == Averaging::Mean)
            .then(|| output_images(g, &format!("{name} increment"), signal.values.size));
        let pipeline = &self.temporal[averaging as usize];
        g.compute_with(&format!("{name} temporal"), move || pipeline.get())
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
            .with(increment, |pass, DenoiserImages { diffuse, specular }| {
                pass.image_written("out_diffuse_increment_image", diffuse)
                    .image_written("out_specular_increment_image", specular)
            })
            .dispatch(pixel_groups::dispatch(signal.values.size));
        (DenoiserImages { diffuse: diffuse.1, specular: specular.1 }, increment)
    }

    /// The variance pass. Returns the signal with its variance.
    fn declare_variance<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        (signal, gbuffer): (&DenoiserSignal, Gbuffer),
        DenoiserImages { diffuse, specular }: DenoiserImages,
        increment: Option<DenoiserImages>,
    ) -> Filtered {
        let name = format!("{} variance", signal.settings.name);
        let out = Filtered::outputs(g, &name, signal);
        let pipeline = &self.variance[signal.averaging() as usize];
        g.compute_with(&name, move || pipeline.get())
            .binds([data.uniform()])
            .sampled_each(gbuffer.depth_and_normal())
            .sampled("diffuse_image", diffuse)
            .sampled("specular_image", specular)
            .with(increment, |pass, DenoiserImages { diffuse, specular }| {
                pass.sampled("diffuse_increment_image", diffuse)
                    .sampled("specular_increment_image", specular)
            })
            .image_written("out_diffuse_image", out.images.diffuse)
            .image_written("out_specular_image", out.images.specular)
            .with(out.guide, |pass, guide| pass.image_written("out_guide_image", guide))
            .dispatch(pixel_groups::dispatch(signal.values.size));
        out
    }

    /// One pass of the filter, with taps `spacing` pixels apart.
    fn declare_filter<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        (signal, gbuffer): (&DenoiserSignal, Gbuffer),
        spacing: i32,
        Filtered { images: DenoiserImages { diffuse, specular }, guide }: Filtered,
    ) -> Filtered {
        let name = format!("{} filter {spacing}", signal.settings.name);
        let out = Filtered::outputs(g, &name, signal);
        let pipeline = &self.filter[signal.averaging() as usize];
        g.compute_with(&name, move || pipeline.get())
            .binds([data.uniform()])
            .sampled_each(gbuffer.depth_and_normal())
            .sampled("diffuse_image", diffuse)
            .sampled("specular_image", specular)
            .sampled("surface_image", gbuffer.surface)
            .with(guide, |pass, guide| pass.sampled("guide_image", guide))
            .push(&spacing)
            .image_written("out_diffuse_image", out.images.diffuse)
            .image_written("out_specular_image", out.images.specular)
            .with(out.guide, |pass, guide| pass.image_written("out_guide_image", guide))
            .dispatch(pixel_groups::dispatch(signal.values.size));
        out
    }
}

impl Filtered {
    /// Images that a pass of the filter writes.
    fn outputs(g: &mut Graph<'_>, pass: &str, signal: &DenoiserSignal) -> Self {
        let [width, height] = signal.values.size;
        let guide = (signal.averaging() == Averaging::Mean)
            .then(|| g.image(&format!("{pass}, guide"), width, height, GUIDE));
        Self { images: output_images(g, pass, signal.values.size), guide }
    }
}

fn output_images(g: &mut Graph<'_>, pass: &str, [width, height]: [u32; 2]) -> DenoiserImages {
    let [diffuse, specular] = ["light", "highlights"]
        .map(|part| g.image(&format!("{pass}, {part}"), width, height, HISTORY));
    DenoiserImages { diffuse, specular }
}
