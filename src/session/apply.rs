//! Applies a change of the look, the camera or the time to the scene on the device.

use std::sync::Arc;

use super::{
    error::SessionError,
    expose::is_adaptive,
    look_change::{LookChange, classify_change, meters_alike, relights},
    open::{Session, upload},
    open_scene::OpenScene,
    timeline::TimelineReach,
};
use crate::scene::{Scene, look::Look};

/// Work on the device for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceWork {
    /// None: the next frame applies the change.
    None,
    /// Lights, poses or VPLs were updated.
    Update,
    /// The scene was uploaded again.
    Upload,
}

/// Consequences of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Class of the look's change.
    pub change: LookChange,
    /// Work on the device.
    pub work: DeviceWork,
    /// True if the last reading of the light meter holds: the exposure follows from it and the new
    /// dials.
    pub keeps_reading: bool,
}

/// The state of an open scene that the device has.
pub(super) struct AppliedState {
    look: Look,
    time: Option<f64>,
    adapts: bool,
}

impl AppliedState {
    pub fn of(opened: &OpenScene) -> Self {
        Self { look: opened.look.clone(), time: opened.time(), adapts: is_adaptive(opened) }
    }
}

impl Session {
    /// Sets the playback time in s, on the host and on the device.
    ///
    /// # Errors
    /// [`SessionError::Look`] if the lens cannot be set for the camera at that time, or the look's
    /// values at that time cannot be applied;
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn seek(&mut self, time: f64) -> Result<(), SessionError> {
        let Some(base) = self.opened.timeline.as_ref().map(|timed| Arc::clone(&timed.base)) else {
            self.opened.seek(time)?;
            return self.update_pose();
        };
        let before = AppliedState::of(&self.opened);
        self.opened.seek(time)?;
        self.apply_since(&before, &base).map(drop)
    }

    /// Replaces the open scene by `next`: the same scene with another look, camera or time.
    /// `base` is the scene before any look. Only what the change affects is uploaded again.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn apply(&mut self, next: OpenScene, base: &Scene) -> Result<Applied, SessionError> {
        let before = AppliedState::of(&self.opened);
        self.opened = next;
        self.apply_since(&before, base)
    }

    /// Updates the device to the open scene, which has changed since `before`.
    pub(super) fn apply_since(
        &mut self,
        before: &AppliedState,
        base: &Scene,
    ) -> Result<Applied, SessionError> {
        let (old, new) = (&before.look, &self.opened.look);
        let change = classify_change(old, new);
        let keeps_reading = before.adapts == is_adaptive(&self.opened) && meters_alike(old, new);
        let moved = before.time != self.opened.time();
        // An upload at each time, so that no frame depends on the frames before it.
        let uploads =
            self.opened.timeline.as_ref().map(|timed| timed.reach) == Some(TimelineReach::Scene);
        let work = match change {
            _ if moved && uploads => {
                self.gpu_scene = upload(&mut self.renderer, &self.opened)?;
                DeviceWork::Upload
            }
            LookChange::Scene if relights(old, new, base) => {
                self.relight()?;
                DeviceWork::Update
            }
            LookChange::Scene => {
                self.gpu_scene = upload(&mut self.renderer, &self.opened)?;
                DeviceWork::Upload
            }
            LookChange::Vpls => {
                // Traced from the start, as after an upload: updated VPLs depend on the former.
                self.gpu_scene.gi = None;
                self.reset_history();
                self.update_pose()?;
                DeviceWork::Update
            }
            // Without playback, only the look changes with the time.
            _ if moved && self.opened.playback.is_some() => {
                self.update_pose()?;
                DeviceWork::Update
            }
            _ => DeviceWork::None,
        };
        Ok(Applied { change, work, keeps_reading })
    }
}
