//! Subpixel sampling of frames, and the state of temporal histories.

use std::sync::Arc;

use glam::DVec2;

use crate::{
    camera::Exposure,
    gpu::GpuResult,
    passes::{
        GpuScene, View, anti_aliasing::Method, gi::GiHistory, jitter, scene_data::GpuScenePose,
        ssr::SsrFrame, taa::TaaFrame, velocity::MotionState,
    },
};

use super::{Aov, ClusteredLightSettings, Readback, RenderSettings, RenderedImage, Renderer};

/// Anti-aliasing methods (docs/anti-aliasing.md).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AntiAliasing {
    /// No anti-aliasing: each pixel is sampled at its center.
    #[default]
    None,
    /// Morphological anti-aliasing, from the shapes of edges in one frame.
    Morphological,
    /// Temporal anti-aliasing (TAA), from previous frames.
    Temporal(TemporalSettings),
}

/// Settings of temporal anti-aliasing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemporalSettings {
    /// Render resolution over output resolution, per side, 0.25 to 1.
    pub scale: f64,
    /// Variance clipping: half-width of the history clamp in standard deviations of the
    /// neighborhood (Salvi 2016) for static pixels. At 2 pixels of motion per frame and more it is
    /// at most 1.
    pub variance_gamma: f32,
    /// Maximum history length in frames, in motion.
    pub max_history_frames: f32,
    /// Mip bias of textures, in addition to that of `scale`.
    pub mip_bias: f64,
    /// Average all frames while nothing moves. Off: the history is clipped as in motion.
    pub still: bool,
}

impl Default for TemporalSettings {
    fn default() -> Self {
        Self {
            scale: 1.0,
            variance_gamma: 2.5,
            max_history_frames: 16.0,
            mip_bias: -1.0,
            still: true,
        }
    }
}

impl TemporalSettings {
    /// Render resolution in pixels for an output size in pixels.
    #[must_use]
    pub fn input_size(&self, [width, height]: [u32; 2]) -> [u32; 2] {
        let scale = self.scale.clamp(0.25, 1.0);
        [width, height].map(|side| ((f64::from(side) * scale).round() as u32).clamp(1, side.max(1)))
    }
}

/// Index of a frame among those whose mean is a still image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSample {
    /// Index, from 0.
    pub number: u32,
    /// Number of frames.
    pub count: u32,
}

/// Maximum effective length in frames of a static history: half floats cannot resolve a finer mean.
const MAX_STATIC_FRAMES: f32 = 1024.0;

/// Mip bias of textures while nothing moves: 16 samples per pixel are a quarter of a pixel apart.
const STATIC_MIP_BIAS: f64 = -2.0;

/// Offset per frame of the pixel that seeds the noise, for temporal interleaved gradient noise
/// (Jimenez 2014, "Next Generation Post Processing in Call of Duty: Advanced Warfare").
const NOISE_STEP: f32 = 5.588_238;
/// Period of the noise in frames.
const NOISE_FRAMES: u32 = 64;

/// State of the previous frame.
#[derive(Clone, Debug)]
pub(super) struct PreviousFrame {
    /// Smoothed exposure, at which its histories were clipped.
    smoothed_exposure: Exposure,
    view: View,
    scene: u64,
    posed: Arc<GpuScenePose>,
    /// Frame number since the TAA history began, if the frame wrote it.
    temporal: Option<u32>,
    /// Frame number since the SSR history began, if the frame wrote it.
    ssr_state: Option<u32>,
    /// GI history, if the frame wrote it.
    gi_state: Option<GiHistory>,
}

/// State of the temporal histories. Frames that do not write them, such as those of a meter, leave
/// the state unchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct HistoryState {
    /// Number of frames that wrote a history; selects the ping-pong image to write next.
    pub number: u64,
    /// Exposure of the last frame that wrote a history.
    pub exposure: Option<Exposure>,
    /// Last frame that wrote a history or output velocities.
    previous: Option<PreviousFrame>,
}

impl HistoryState {
    /// Advances the state after a frame.
    pub fn advance(&mut self, scene: &GpuScene, view: &View, settings: &RenderSettings) {
        let temporal = matches!(settings.anti_aliasing, AntiAliasing::Temporal(_));
        let ssr_state = keeps_ssr_history(settings);
        let gi_state = scene
            .gi
            .as_ref()
            .filter(|_| keeps_gi_history(settings))
            .map(|indirect| indirect.generation);
        let written =
            temporal || ssr_state || gi_state.is_some() || settings.accumulated_frames.is_some();
        if written {
            self.number += 1;
            self.exposure = Some(settings.exposure);
        }
        if written || settings.aovs.contains(&Aov::Velocity) {
            let next = |last: Option<u32>| last.map_or(0, |last| last.wrapping_add(1));
            let before = self.matching_previous(scene, view);
            let numbers = [
                before.and_then(|before| before.temporal),
                before.and_then(|before| before.ssr_state),
            ];
            let last = before.and_then(|before| before.gi_state);
            let was_static = before.is_some_and(|b| {
                Arc::ptr_eq(&b.posed, &scene.current_pose) && b.view.same_camera(view)
            });
            let gi_state = gi_state.map(|generation| GiHistory {
                number: next(last.map(|last| last.number)),
                generation,
                settings: settings.gi,
                still: last
                    .filter(|last| {
                        was_static && last.generation == generation && last.settings == settings.gi
                    })
                    .map_or(1, |last| last.still.saturating_add(1)),
            });
            let [temporal_number, reflected_number] = numbers.map(next);
            self.previous = Some(PreviousFrame {
                smoothed_exposure: smooth_exposure(before, settings.exposure),
                view: *view,
                scene: scene.upload_id,
                posed: Arc::clone(&scene.current_pose),
                temporal: temporal.then_some(temporal_number),
                ssr_state: ssr_state.then_some(reflected_number),
                gi_state,
            });
        }
    }

    /// Drops the previous frame: the histories restart.
    pub fn reset(&mut self) {
        self.previous = None;
    }

    /// The previous frame, if it showed the same scene at the same size.
    fn matching_previous(&self, scene: &GpuScene, view: &View) -> Option<&PreviousFrame> {
        let size = |view: &View| [view.width, view.height];
        self.previous
            .as_ref()
            .filter(|before| before.scene == scene.upload_id && size(&before.view) == size(view))
    }
}

/// Step in stops per frame of the smoothed exposure towards the image's exposure.
const EXPOSURE_STEP_STOPS: f64 = 1.0 / 32.0;

/// Maximum lag of the smoothed exposure in stops: beyond it, the precision of half floats and of
/// the tone-compressed range would show.
const MAX_EXPOSURE_LAG_STOPS: f64 = 8.0;

/// Smoothed exposure of a frame, at which histories are clipped. Clipping depends on perceived
/// brightness, but a step of exposure must not change the means in the histories.
fn smooth_exposure(before: Option<&PreviousFrame>, exposure: Exposure) -> Exposure {
    let Some(before) = before else { return exposure };
    let behind = before.smoothed_exposure.stops_above(exposure);
    let left = (behind.abs() - EXPOSURE_STEP_STOPS).min(MAX_EXPOSURE_LAG_STOPS);
    if left <= 0.0 {
        exposure
    } else {
        exposure.compensated(left.copysign(behind)).unwrap_or(exposure)
    }
}

/// True if a frame writes the SSR history: not if it is one sample of an image's mean.
fn keeps_ssr_history(settings: &RenderSettings) -> bool {
    settings.ssr.enabled
        && settings.ssr.max_history_frames > 0
        && settings.sample.is_none()
        && settings.accumulated_frames.is_none()
}

/// True if a frame writes the GI history. Frames of an accumulated image do: their mean also
/// averages what they see on either side of an edge.
fn keeps_gi_history(settings: &RenderSettings) -> bool {
    settings.gi.has_history()
}

/// Sampling of one frame.
pub(super) struct FrameSampling {
    /// The camera at render resolution with this frame's jitter.
    pub input: View,
    /// Exposure at which histories are clipped.
    pub smoothed_exposure: Exposure,
    /// Scale of texture derivatives.
    pub texture_scale: f32,
    /// Offset of the pixel that seeds the noise.
    pub noise_shift: f32,
    /// The previous frame and this one.
    pub motion: [MotionState; 2],
    /// Reprojection of the SSR history.
    pub ssr: SsrFrame,
    /// Reprojection of the GI history.
    pub gi: SsrFrame,
    /// The previous GI history.
    pub previous_gi: Option<GiHistory>,
    /// Parameters of temporal anti-aliasing.
    temporal: Option<TaaFrame>,
    /// True if morphological anti-aliasing runs.
    morphological: bool,
}

impl FrameSampling {
    /// Sampling of a frame that shows `view`.
    pub fn new(
        history: &HistoryState,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> Self {
        let before = history.matching_previous(scene, view);
        let old = before.map_or(view, |before| &before.view);
        let posed = before
            .filter(|before| !Arc::ptr_eq(&before.posed, &scene.current_pose))
            .map(|b| Arc::clone(&b.posed));
        let moved = posed.is_some() || !old.same_camera(view);
        let ssr_state = before.and_then(|before| before.ssr_state);
        let reflections = SsrFrame {
            number: match settings.sample {
                Some(sample) => sample.number,
                None => ssr_state.map_or(0, |last| last.wrapping_add(1)),
            },
            has_history: ssr_state.is_some(),
            still: ssr_state.is_some() && !moved,
            only_camera_moved: posed.is_none(),
            single_frame: !keeps_ssr_history(settings),
            previous_jitter: before
                .and_then(|before| before.temporal)
                .map_or(DVec2::ZERO, jitter::halton),
            before: (old.inverse, old.position - view.position),
        };
        let previous_gi = before.and_then(|before| before.gi_state);
        let last = previous_gi.map(|before| before.number);
        // Without a GI history the noise differs per sample or temporal frame, since the image is
        // their mean.
        let temporal =
            before.and_then(|before| before.temporal).map_or(0, |last| last.wrapping_add(1));
        let gi_state = SsrFrame {
            number: last.map_or(settings.sample.map_or(temporal, |sample| sample.number), |last| {
                last.wrapping_add(1)
            }),
            has_history: last.is_some(),
            still: last.is_some() && !moved,
            single_frame: !keeps_gi_history(settings),
            ..reflections
        };
        let plain = Self {
            ssr: reflections,
            gi: gi_state,
            previous_gi,
            input: *view,
            smoothed_exposure: smooth_exposure(before, settings.exposure),
            texture_scale: 1.0,
            noise_shift: 0.0,
            motion: [
                MotionState::for_view(old, view.position, posed),
                MotionState::for_view(view, view.position, None),
            ],
            temporal: None,
            morphological: settings.anti_aliasing == AntiAliasing::Morphological,
        };
        let noise = |number: u32| (number % NOISE_FRAMES) as f32 * NOISE_STEP;
        match (settings.anti_aliasing, settings.sample) {
            (AntiAliasing::Temporal(temporal), _) => {
                let [width, height] = temporal.input_size([view.width, view.height]);
                let last = before.and_then(|before| before.temporal);
                // Counted from the start of the history, so that equal sequences give equal images.
                let number = last.map_or(0, |last| last.wrapping_add(1));
                let place = jitter::halton(number);
                let still = temporal.still && last.is_some() && !moved;
                let frame = TaaFrame {
                    size: [view.width, view.height],
                    jitter: place.as_vec2(),
                    previous_depth: old.depth_from(view),
                    max_frames: match last {
                        None => 0.0,
                        Some(_) if still => MAX_STATIC_FRAMES,
                        Some(_) => temporal.max_history_frames,
                    },
                    gamma: temporal.variance_gamma,
                    still,
                    number,
                };
                // Static histories have denser samples.
                let bias =
                    if still { temporal.mip_bias.min(STATIC_MIP_BIAS) } else { temporal.mip_bias };
                Self {
                    input: view.resized(width, height).jittered(place),
                    texture_scale: (f64::from(width) / f64::from(view.width) * bias.exp2()) as f32,
                    noise_shift: noise(number),
                    temporal: Some(frame),
                    ..plain
                }
            }
            (_, Some(FrameSample { number, count: of })) => Self {
                input: view.jittered(jitter::hammersley(number, of)),
                // Texture detail of an image with `of` times as many pixels.
                texture_scale: (1.0 / f64::from(of.max(1)).sqrt()) as f32,
                noise_shift: noise(number),
                ..plain
            },
            _ => plain,
        }
    }

    /// The anti-aliasing method of the frame.
    pub fn method(&self) -> Method<'_> {
        match self.temporal {
            Some(frame) => Method::Temporal(frame, &self.motion),
            None if self.morphological => Method::Morphological,
            None => Method::None,
        }
    }
}

impl Renderer {
    /// Renders a still image as the mean of `samples` frames with different subpixel offsets. TAA
    /// at `scale` below 1 renders as many frames through its history. AOVs are sampled at pixel
    /// centers. One sample is equal to `render`.
    ///
    /// # Errors
    /// [`GpuError`](crate::gpu::GpuError) if memory is exhausted or the device is lost.
    pub fn render_still(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
        samples: u32,
    ) -> GpuResult<RenderedImage> {
        let scaled = matches!(settings.anti_aliasing, AntiAliasing::Temporal(TemporalSettings { scale, .. }) if scale < 1.0);
        if samples <= 1 && !scaled {
            return self.render(scene, view, settings);
        }
        // AOVs are sampled at pixel centers.
        let single = RenderSettings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
        let wants_center = !settings.aovs.is_empty() || settings.histogram;
        // The GI history accumulates over the samples, so they are rendered first.
        let joined = settings.gi.has_history() && !scaled;
        let mut center =
            (wants_center && !joined).then(|| self.render(scene, view, &single)).transpose()?;
        self.history.reset();
        let mut light_lists = settings.clustered_lights;
        let one = |number: u32, light_lists: ClusteredLightSettings| {
            let plain = RenderSettings {
                aovs: Vec::new(),
                histogram: false,
                clustered_lights: light_lists,
                ..settings.clone()
            };
            if scaled {
                return plain;
            }
            let sample = Some(FrameSample { number, count: samples });
            RenderSettings {
                anti_aliasing: AntiAliasing::None,
                accumulated_frames: Some(number),
                sample,
                ..plain
            }
        };
        // The first frame finds the needed capacity of the light lists.
        let mut picture = self.render(scene, view, &one(0, light_lists))?;
        light_lists.enabled &= picture.clustered_light_stats.overflowed == 0;
        let nothing = Readback { display: false, nits: false };
        let mut ahead = None;
        for number in 1..samples {
            let wanted = if number + 1 == samples { Readback::ALL } else { nothing };
            let next = self.submit(scene, view, &one(number, light_lists), wanted)?;
            if let Some(pending) = ahead.replace(next) {
                self.collect(pending)?;
            }
        }
        if let Some(pending) = ahead {
            picture = self.collect(pending)?;
        }
        if wants_center && joined {
            center = Some(self.render(scene, view, &single)?);
        }
        Ok(match center {
            Some(center) => {
                RenderedImage { aovs: center.aovs, histogram: center.histogram, ..picture }
            }
            None => picture,
        })
    }
}
