//! How frames sample the picture, and what they remember of each other.

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

/// How edges are made smooth (docs/anti-aliasing.md).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AntiAliasing {
    /// Not at all: each pixel is sampled at its centre.
    #[default]
    None,
    /// By the shapes of edges in one frame.
    Morphological,
    /// By the frames before.
    Temporal(TemporalSettings),
}

/// Temporal anti-aliasing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemporalSettings {
    /// Pixels that are rendered over those of the picture, on each side: from 1/4 to 1.
    pub scale: f64,
    /// Standard deviations of its neighbourhood that a history may be off its mean (Salvi 2016)
    /// where nothing moves; from 2 pixels a frame on it is 1 at most.
    pub variance_gamma: f32,
    /// Frames that a moving history is the mean of at most.
    pub max_history_frames: f32,
    /// Added to the mip level of textures, beyond what `scale` asks for.
    pub mip_bias: f64,
    /// While nothing moves the history is the mean of all frames. Off: it is clipped as if things
    /// moved.
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
    /// Pixels that are rendered for a picture.
    #[must_use]
    pub fn input_size(&self, [width, height]: [u32; 2]) -> [u32; 2] {
        let scale = self.scale.clamp(0.25, 1.0);
        [width, height].map(|side| ((f64::from(side) * scale).round() as u32).clamp(1, side.max(1)))
    }
}

/// One of the frames that a still picture is the mean of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSample {
    /// Its number, from 0.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

/// Frames of a still history beyond which each counts as much as the last: half floats hold no
/// finer mean.
const MAX_STATIC_FRAMES: f32 = 1024.0;

/// Added to the mip level of textures while nothing moves: 16 samples a pixel are a quarter of it
/// apart.
const STATIC_MIP_BIAS: f64 = -2.0;

/// Added to the pixel that noise is drawn by, each frame. Jimenez 2014, "Next Generation Post
/// Processing in Call of Duty: Advanced Warfare": interleaved gradient noise, turned by frame.
const NOISE_STEP: f32 = 5.588_238;
/// Frames after which noise comes again.
const NOISE_FRAMES: u32 = 64;

/// What the last frame saw.
#[derive(Clone, Debug)]
pub(super) struct PreviousFrame {
    /// The exposure that its histories were judged at.
    judged: Exposure,
    view: View,
    scene: u64,
    posed: Arc<GpuScenePose>,
    /// It wrote the temporal history, as this number since that began.
    temporal: Option<u32>,
    /// It wrote that of reflections, likewise.
    reflected: Option<u32>,
    /// It wrote that of bounced light.
    bounced: Option<GiHistory>,
}

/// Where the histories stand: frames that do not write them, such as a meter's, leave them as they
/// are.
#[derive(Clone, Debug, Default)]
pub(super) struct HistoryState {
    /// Frames that wrote them: which of a pair is written next.
    pub number: u64,
    /// The exposure of the last of those frames.
    pub exposure: Option<Exposure>,
    /// The last of those frames, or of those that were asked for velocities.
    before: Option<PreviousFrame>,
}

impl HistoryState {
    /// After a frame.
    pub fn advance(&mut self, scene: &GpuScene, view: &View, settings: &RenderSettings) {
        let temporal = matches!(settings.anti_aliasing, AntiAliasing::Temporal(_));
        let reflected = keeps_ssr_history(settings);
        let bounced = scene
            .gi
            .as_ref()
            .filter(|_| keeps_gi_history(settings))
            .map(|indirect| indirect.generation);
        let written =
            temporal || reflected || bounced.is_some() || settings.accumulated_frames.is_some();
        if written {
            self.number += 1;
            self.exposure = Some(settings.exposure);
        }
        if written || settings.aovs.contains(&Aov::Velocity) {
            let next = |last: Option<u32>| last.map_or(0, |last| last.wrapping_add(1));
            let before = self.before(scene, view);
            let numbers = [
                before.and_then(|before| before.temporal),
                before.and_then(|before| before.reflected),
            ];
            let last = before.and_then(|before| before.bounced);
            let stood = before.is_some_and(|b| {
                Arc::ptr_eq(&b.posed, &scene.current_pose) && b.view.same_camera(view)
            });
            let bounced = bounced.map(|generation| GiHistory {
                number: next(last.map(|last| last.number)),
                generation,
                settings: settings.gi,
                still: last
                    .filter(|last| {
                        stood && last.generation == generation && last.settings == settings.gi
                    })
                    .map_or(1, |last| last.still.saturating_add(1)),
            });
            let [temporal_number, reflected_number] = numbers.map(next);
            self.before = Some(PreviousFrame {
                judged: judged(before, settings.exposure),
                view: *view,
                scene: scene.upload_id,
                posed: Arc::clone(&scene.current_pose),
                temporal: temporal.then_some(temporal_number),
                reflected: reflected.then_some(reflected_number),
                bounced,
            });
        }
    }

    /// Forgets what was seen: the next frame begins anew.
    pub fn reset(&mut self) {
        self.before = None;
    }

    /// The last frame, if it showed the same scene in as many pixels.
    fn before(&self, scene: &GpuScene, view: &View) -> Option<&PreviousFrame> {
        let size = |view: &View| [view.width, view.height];
        self.before
            .as_ref()
            .filter(|before| before.scene == scene.upload_id && size(&before.view) == size(view))
    }
}

/// Stops a frame by which the exposure that histories are judged at goes after the picture's.
const EXPOSURE_STEP_STOPS: f64 = 1.0 / 32.0;

/// Stops that it is behind at most: beyond, half floats and the squeeze's own precision would show.
const MAX_EXPOSURE_LAG_STOPS: f64 = 8.0;

/// The exposure that a frame's histories are judged at: what is light and what is noise is told by
/// what the eye sees, but a step of exposure must not make other means of what is in them.
fn judged(before: Option<&PreviousFrame>, exposure: Exposure) -> Exposure {
    let Some(before) = before else { return exposure };
    let behind = before.judged.stops_above(exposure);
    let left = (behind.abs() - EXPOSURE_STEP_STOPS).min(MAX_EXPOSURE_LAG_STOPS);
    if left <= 0.0 {
        exposure
    } else {
        exposure.compensated(left.copysign(behind)).unwrap_or(exposure)
    }
}

/// Whether a frame writes the history of reflections: not where it is one of those whose mean is
/// the picture.
fn keeps_ssr_history(settings: &RenderSettings) -> bool {
    settings.ssr.enabled
        && settings.ssr.max_history_frames > 0
        && settings.sample.is_none()
        && settings.accumulated_frames.is_none()
}

/// Whether a frame writes the history of bounced light. Frames whose mean is the picture do: what
/// they see on either side of an edge is their mean too.
fn keeps_gi_history(settings: &RenderSettings) -> bool {
    settings.gi.has_history()
}

/// How a frame samples its picture.
pub(super) struct FrameSampling {
    /// The camera with this frame's pixels and jitter.
    pub input: View,
    /// The exposure that histories are judged at.
    pub smoothed_exposure: Exposure,
    /// What textures' derivatives are multiplied by.
    pub texture_scale: f32,
    /// Added to the pixel that noise is drawn by.
    pub noise_shift: f32,
    /// The last frame, and this one.
    pub motion: [MotionState; 2],
    /// How reflections join theirs.
    pub ssr: SsrFrame,
    /// How bounced light joins its own.
    pub gi: SsrFrame,
    /// What that is of.
    pub bounced_before: Option<GiHistory>,
    /// How the frame joins the temporal history.
    temporal: Option<TaaFrame>,
    /// Edges are smoothed by their shapes.
    morphological: bool,
}

impl FrameSampling {
    /// Of a frame that shows `view`.
    pub fn new(
        history: &HistoryState,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> Self {
        let before = history.before(scene, view);
        let old = before.map_or(view, |before| &before.view);
        let posed = before
            .filter(|before| !Arc::ptr_eq(&before.posed, &scene.current_pose))
            .map(|b| Arc::clone(&b.posed));
        let moved = posed.is_some() || !old.same_camera(view);
        let reflected = before.and_then(|before| before.reflected);
        let reflections = SsrFrame {
            number: match settings.sample {
                Some(sample) => sample.number,
                None => reflected.map_or(0, |last| last.wrapping_add(1)),
            },
            has_history: reflected.is_some(),
            still: reflected.is_some() && !moved,
            only_camera_moved: posed.is_none(),
            single_frame: !keeps_ssr_history(settings),
            previous_jitter: before
                .and_then(|before| before.temporal)
                .map_or(DVec2::ZERO, jitter::halton),
            before: (old.inverse, old.position - view.position),
        };
        let bounced_before = before.and_then(|before| before.bounced);
        let last = bounced_before.map(|before| before.number);
        // Without a history of its own it is the mean of samples, or of temporal frames: other
        // noise in each.
        let temporal =
            before.and_then(|before| before.temporal).map_or(0, |last| last.wrapping_add(1));
        let bounced = SsrFrame {
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
            gi: bounced,
            bounced_before,
            input: *view,
            smoothed_exposure: judged(before, settings.exposure),
            texture_scale: 1.0,
            noise_shift: 0.0,
            motion: [
                MotionState::seen_by(old, view.position, posed),
                MotionState::seen_by(view, view.position, None),
            ],
            temporal: None,
            morphological: settings.anti_aliasing == AntiAliasing::Morphological,
        };
        let noise = |number: u32| (number % NOISE_FRAMES) as f32 * NOISE_STEP;
        match (settings.anti_aliasing, settings.sample) {
            (AntiAliasing::Temporal(temporal), _) => {
                let [width, height] = temporal.input_size([view.width, view.height]);
                let last = before.and_then(|before| before.temporal);
                // Counted from where the history began: the same frames give the same pictures.
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
                // Samples that stay lie ever denser.
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
            (_, Some(FrameSample { number, of })) => Self {
                input: view.jittered(jitter::hammersley(number, of)),
                // As a picture with so many pixels in each would have it.
                texture_scale: (1.0 / f64::from(of.max(1)).sqrt()) as f32,
                noise_shift: noise(number),
                ..plain
            },
            _ => plain,
        }
    }

    /// What the frame is smoothed by.
    pub fn method(&self) -> Method<'_> {
        match self.temporal {
            Some(frame) => Method::Temporal(frame, &self.motion),
            None if self.morphological => Method::Morphological,
            None => Method::None,
        }
    }
}

impl Renderer {
    /// A picture of a view that stands still, as the mean of `samples` frames, each sampling its
    /// pixels at another place; with temporal anti-aliasing at less than the full size, of as many
    /// frames through its history. Further outputs are of pixels' centres. One sample is `render`.
    ///
    /// # Errors
    /// Out of memory; a lost device.
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
        // Further outputs are of pixels' centres.
        let single = RenderSettings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
        let wants_center = !settings.aovs.is_empty() || settings.histogram;
        // Bounced light is joined over the samples: they come first.
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
            let sample = Some(FrameSample { number, of: samples });
            RenderSettings {
                anti_aliasing: AntiAliasing::None,
                accumulated_frames: Some(number),
                sample,
                ..plain
            }
        };
        // The first finds the room that light lists take.
        let mut picture = self.render(scene, view, &one(0, light_lists))?;
        light_lists.enabled &= picture.lists.overflowed == 0;
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
