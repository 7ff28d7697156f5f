//! Subpixel sampling of frames.

use std::sync::Arc;

use glam::DVec2;

use super::{
    history::{
        HistoryState, averaged_frames, keeps_gi_history, keeps_shadow_history, keeps_ssr_history,
        lights_fingerprint, smooth_exposure,
    },
    jitter,
    settings::{FrameSample, RenderSettings},
};
use crate::{
    gpu::shader_structs::gi_probes::ProbeUpdateConstants,
    gpu_scene::{GpuScene, View},
    passes::{
        anti_aliasing::Method,
        gi::GiHistory,
        shadow_rays::ShadowHistoryFrame,
        taa::TaaFrame,
        temporal::{FrameMotion, HistoryFrame},
    },
    settings::AntiAliasing,
};

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
    /// Factor from the last frame's pre-exposed values to this frame's exposure.
    pub history_scale: f32,
    /// Factor from pre-exposed values to the exposure at which histories are clipped.
    pub smoothed_exposure_scale: f32,
    /// Scale of texture derivatives.
    pub texture_scale: f32,
    /// Offset of the pixel that seeds the noise.
    pub noise_shift: f32,
    /// Motion since the last frame.
    pub motion: FrameMotion,
    /// State of the SSR history.
    pub ssr: HistoryFrame,
    /// Number of the random numbers by which rays pass blended surfaces: successive ones in frames
    /// whose noise differs.
    pub ray_number: u32,
    /// State of the GI history.
    pub gi: HistoryFrame,
    /// The previous GI history.
    pub previous_gi: Option<GiHistory>,
    /// History of denoised shadows.
    pub shadows: ShadowHistoryFrame,
    /// Updates of the irradiance volume.
    pub probe_updates: Vec<ProbeUpdateConstants>,
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
        let last_sample = before.and_then(|before| before.temporal);
        let previous_jitter = match settings.sample.and_then(FrameSample::before) {
            Some(sample) => jitter::hammersley(sample.number, sample.count),
            None => last_sample.map_or(DVec2::ZERO, jitter::halton),
        };
        let motion = FrameMotion::new(old, view, posed, previous_jitter);
        let averaged_frames =
            averaged_frames(before, settings, before.is_some() && motion.is_still());
        let history_frame = |last: Option<u32>, kept: bool| {
            let counted = HistoryFrame::new(last, &motion, kept);
            let number = if kept { settings.next_number(last) } else { counted.number };
            HistoryFrame { number, averaged_frames, ..counted }
        };
        let is_temporal = settings.anti_aliasing == AntiAliasing::Temporal;
        let mut ssr =
            history_frame(before.and_then(|before| before.ssr_state), keeps_ssr_history(settings));
        let previous_gi = before.and_then(|before| before.gi_state);
        let mut gi =
            history_frame(previous_gi.map(|before| before.number), keeps_gi_history(settings));
        // Without a history the noise differs per sample or temporal frame, since the image is their
        // mean.
        if !ssr.kept && is_temporal {
            ssr.number = settings.next_number(last_sample);
        }
        if !gi.exists {
            gi.number = match is_temporal {
                true => settings.next_number(last_sample),
                false => HistoryFrame::next_number(last_sample),
            };
        }
        if let Some(sample) = settings.sample {
            ssr.number = sample.number;
            if !gi.exists {
                gi.number = sample.number;
            }
        }
        let last_shadows = before.and_then(|before| before.shadow_state);
        let shadows =
            history_frame(last_shadows.map(|last| last.number), keeps_shadow_history(settings));
        let lights_changed =
            last_shadows.is_some_and(|last| last.lights != lights_fingerprint(scene, settings));
        let still_frames = last_shadows.filter(|_| !lights_changed).map_or(0, |last| last.still);
        let noise = |number: u32| (number % NOISE_FRAMES) as f32 * NOISE_STEP;
        let plain = Self {
            shadows: ShadowHistoryFrame { history: shadows, lights_changed, still_frames },
            ssr,
            ray_number: gi.number.max(if shadows.kept { shadows.number } else { 0 }),
            gi,
            previous_gi,
            input: *view,
            history_scale: history.scale(settings.exposure),
            smoothed_exposure_scale: smooth_exposure(before, settings.exposure)
                .rescale_from(settings.exposure) as f32,
            texture_scale: 1.0,
            // Denoised shadows are accumulated over frames.
            noise_shift: if shadows.kept { noise(shadows.number) } else { 0.0 },
            motion,
            probe_updates: Vec::new(),
            temporal: None,
            morphological: settings.anti_aliasing == AntiAliasing::Morphological,
        };
        match (settings.anti_aliasing, settings.sample) {
            (AntiAliasing::Temporal, _) => {
                let temporal = &settings.taa;
                let [width, height] = temporal.input_size([view.width, view.height]);
                let state = HistoryFrame {
                    number: settings.next_number(last_sample),
                    ..HistoryFrame::new(last_sample, &plain.motion, true)
                };
                let history = HistoryFrame { still: temporal.still && state.still, ..state };
                let HistoryFrame { number, still, .. } = history;
                let place = jitter::halton(number);
                let frame = TaaFrame {
                    size: [view.width, view.height],
                    jitter: place.as_vec2(),
                    previous_depth: old.depth_from(view),
                    history,
                    max_history_frames: temporal.max_history_frames as f32,
                    gamma: temporal.variance_gamma,
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

    /// Takes the noise of the first frame, for light that does not depend on earlier frames.
    pub const fn restart_noise(&mut self) {
        (self.gi.number, self.ray_number, self.noise_shift) = (0, 0, 0.0);
    }

    /// The anti-aliasing method of the frame.
    pub fn method(&self) -> Method {
        match self.temporal {
            Some(frame) => Method::Temporal(frame),
            None if self.morphological => Method::Morphological,
            None => Method::None,
        }
    }
}
