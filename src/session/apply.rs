//! Applies a change of the look, the camera or the time to the scene on the device.

use super::{
    error::SessionError,
    expose::is_adaptive,
    look_change::{LookChange, classify_change, meters_alike, relights},
    open::{Session, upload},
    open_scene::OpenScene,
};
use crate::scene::Scene;

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

impl Session {
    /// Replaces the open scene by `next`: the same scene with another look, camera or time.
    /// `base` is the scene before any look. Only what the change affects is uploaded again.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn apply(&mut self, next: OpenScene, base: &Scene) -> Result<Applied, SessionError> {
        let before = std::mem::replace(&mut self.opened, next);
        let (old, new) = (&before.look, &self.opened.look);
        let change = classify_change(old, new);
        let keeps_reading =
            is_adaptive(&before) == is_adaptive(&self.opened) && meters_alike(old, new);
        let work = match change {
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
            _ if before.time() != self.opened.time() => {
                self.update_pose()?;
                DeviceWork::Update
            }
            _ => DeviceWork::None,
        };
        Ok(Applied { change, work, keeps_reading })
    }
}
