//! State of the temporal histories between frames.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use super::{aov::Aov, settings::RenderSettings};
use crate::{
    camera::Exposure,
    gpu_scene::{GpuScene, GpuScenePose, View},
    passes::{gi::GiHistory, temporal::HistoryFrame},
    settings::AntiAliasing,
};

impl RenderSettings {
    /// Number of a history's frame after `last`, if the history exists.
    pub(super) fn next_number(&self, last: Option<u32>) -> u32 {
        self.history_number.unwrap_or_else(|| HistoryFrame::next_number(last))
    }

    /// True if a frame with these settings depends on the frames before it.
    #[must_use]
    pub fn has_history(&self) -> bool {
        self.anti_aliasing == AntiAliasing::Temporal
            || keeps_ssr_history(self)
            || keeps_gi_history(self)
            || keeps_shadow_history(self)
    }
}

/// State of the previous frame.
#[derive(Clone, Debug)]
pub(super) struct PreviousFrame {
    /// Smoothed exposure, at which its histories were clipped.
    smoothed_exposure: Exposure,
    pub(super) view: View,
    scene: u64,
    pub(super) posed: Arc<GpuScenePose>,
    /// Frames before it in the mean that it showed (`averaged_frames`).
    averaged: Option<u32>,
    /// Frame number since the TAA history began, if the frame wrote it.
    pub(super) temporal: Option<u32>,
    /// Frame number since the SSR history began, if the frame wrote it.
    pub(super) ssr_state: Option<u32>,
    /// GI history, if the frame wrote it.
    pub(super) gi_state: Option<GiHistory>,
    /// History of denoised shadows, if the frame wrote it.
    pub(super) shadow_state: Option<ShadowHistory>,
}

/// State of the last frame that kept the history of denoised shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShadowHistory {
    /// Frame index since the history began.
    pub(super) number: u32,
    /// Fingerprint of the lights.
    pub(super) lights: u64,
    /// Consecutive frames, up to it, in which nothing moved and the lights did not change.
    pub(super) still: u32,
}

/// State of the temporal histories. Frames that do not write them, such as those of a meter, leave
/// the state unchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct HistoryState {
    /// Number of frames that wrote a history; selects the ping-pong image to write next.
    pub number: u64,
    /// Exposure of the last frame that wrote a history.
    exposure: Option<Exposure>,
    /// Last frame that wrote a history or output velocities.
    previous: Option<PreviousFrame>,
}

impl HistoryState {
    /// Advances the state after a frame.
    pub fn advance(&mut self, scene: &GpuScene, view: &View, settings: &RenderSettings) {
        let temporal = settings.anti_aliasing == AntiAliasing::Temporal;
        let ssr_state = keeps_ssr_history(settings);
        let gi_state = scene
            .gi
            .as_ref()
            .filter(|_| keeps_gi_history(settings))
            .map(|indirect| indirect.generation);
        let shadow_state = keeps_shadow_history(settings);
        let written = temporal
            || ssr_state
            || gi_state.is_some()
            || shadow_state
            || settings.accumulated_frames.is_some();
        if written {
            self.number += 1;
            self.exposure = Some(settings.exposure);
        }
        if written || settings.aovs.contains(&Aov::Velocity) {
            let next = |last: Option<u32>| settings.next_number(last);
            let before = self.matching_previous(scene, view);
            let numbers = [
                before.and_then(|before| before.temporal),
                before.and_then(|before| before.ssr_state),
            ];
            let last = before.and_then(|before| before.gi_state);
            let last_shadows = before.and_then(|before| before.shadow_state);
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
            let averaged = averaged_frames(before, settings, was_static);
            self.previous = Some(PreviousFrame {
                smoothed_exposure: smooth_exposure(before, settings.exposure),
                view: *view,
                scene: scene.upload_id,
                averaged,
                posed: Arc::clone(&scene.current_pose),
                temporal: temporal.then_some(temporal_number),
                ssr_state: ssr_state.then_some(reflected_number),
                gi_state,
                shadow_state: shadow_state.then(|| {
                    let lights = lights_fingerprint(scene, settings);
                    ShadowHistory {
                        number: next(last_shadows.map(|last| last.number)),
                        lights,
                        still: last_shadows
                            .filter(|last| was_static && last.lights == lights)
                            .map_or(1, |last| last.still.saturating_add(1)),
                    }
                }),
            });
        }
    }

    /// Drops the previous frame: the histories restart.
    pub fn reset(&mut self) {
        self.previous = None;
    }

    /// Factor from pre-exposed values of the histories to an exposure, within the range of `f32`
    /// for exposure steps of any size.
    pub fn scale(&self, exposure: Exposure) -> f32 {
        exposure.rescale_from(self.exposure.unwrap_or(exposure)).clamp(1e-37, 1e37) as f32
    }

    /// The previous frame, if it showed the same scene at the same size.
    pub(super) fn matching_previous(
        &self,
        scene: &GpuScene,
        view: &View,
    ) -> Option<&PreviousFrame> {
        let size = |view: &View| [view.width, view.height];
        self.previous
            .as_ref()
            .filter(|before| before.scene == scene.upload_id && size(&before.view) == size(view))
    }
}

/// Frames before this one in the mean that the picture shows, at least: the history of temporal
/// anti-aliasing may be longer where a moving view became static. `None` if the picture does not
/// show the mean of static frames, and if AOVs show parts of this frame's light. `is_static`: nothing has moved since `before`.
pub(super) fn averaged_frames(
    before: Option<&PreviousFrame>,
    settings: &RenderSettings,
    is_static: bool,
) -> Option<u32> {
    let temporal = settings.anti_aliasing == AntiAliasing::Temporal
        && settings.taa.still
        && !settings.is_upscaled()
        && is_static;
    let last = before.filter(|_| is_static).and_then(|before| before.averaged);
    let shown = settings.accumulated_frames.or_else(|| {
        // The first static frame has at least the last moving one before it.
        temporal.then(|| last.map_or(1, |last| last.saturating_add(1)))
    });
    shown.filter(|_| !settings.splits_lighting())
}

/// Step in stops per frame of the smoothed exposure towards the image's exposure.
const EXPOSURE_STEP_STOPS: f64 = 1.0 / 32.0;

/// Maximum lag of the smoothed exposure in stops: beyond it, the precision of half floats and of
/// the tone-compressed range would show.
const MAX_EXPOSURE_LAG_STOPS: f64 = 8.0;

/// Smoothed exposure of a frame, at which histories are clipped. Clipping depends on perceived
/// brightness, but a step of exposure must not change the means in the histories.
pub(super) fn smooth_exposure(before: Option<&PreviousFrame>, exposure: Exposure) -> Exposure {
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
pub(super) fn keeps_ssr_history(settings: &RenderSettings) -> bool {
    settings.ssr.enabled
        && settings.ssr.max_history_frames > 0
        && settings.sample.is_none()
        && settings.accumulated_frames.is_none()
}

/// True if a frame writes the history of denoised shadows.
pub(super) fn keeps_shadow_history(settings: &RenderSettings) -> bool {
    settings.denoises_shadows() && !settings.metered
}

/// Fingerprint of the lights; 0 if the frame keeps no history of shadows.
pub(super) fn lights_fingerprint(scene: &GpuScene, settings: &RenderSettings) -> u64 {
    if !keeps_shadow_history(settings) {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    for light in &scene.lights {
        bytemuck::bytes_of(&light.shader).hash(&mut hasher);
        bytemuck::cast::<_, [u64; 3]>(light.position.to_array()).hash(&mut hasher);
    }
    hasher.finish()
}

/// True if a frame writes the GI history. Frames of an accumulated image do: their mean also
/// averages what they see on either side of an edge.
pub(super) fn keeps_gi_history(settings: &RenderSettings) -> bool {
    settings.gi.has_history()
}
