//! Subpixel sampling of frames.

use std::sync::Arc;

use glam::DVec2;

use super::{
    history::{HistoryState, keeps_gi_history, keeps_ssr_history, smooth_exposure},
    jitter,
    settings::{FrameSample, RenderSettings},
};
use crate::{
    camera::Exposure,
    gpu_scene::{GpuScene, View},
    passes::{
        anti_aliasing::Method, gi::GiHistory, ssr::SsrFrame, taa::TaaFrame, velocity::MotionState,
    },
    settings::AntiAliasing,
};

/// Maximum effective length in frames of a static history: half floats cannot resolve a finer mean.
const MAX_STATIC_FRAMES: f32 = 1024.0;

/// Mip bias of textures while nothing moves: 16 samples per pixel are a quarter of a pixel apart.
const STATIC_MIP_BIAS: f64 = -2.0;

/// Offset per frame of the pixel that seeds the noise, for temporal interleaved gradient noise
/// (Jimenez 2014, "Next Generation Post Processing in Call of Duty: Advanced Warfare").
const NOISE_STEP: f32 = 5.588_238;
/// Period of the noise in frames.
const NOISE_FRAMES: u32 = 64;

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
            (AntiAliasing::Temporal, _) => {
                let temporal = &settings.taa;
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
                        Some(_) => temporal.max_history_frames as f32,
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
