//! The open scene: its picture, look, camera, selection and pointer.

use std::sync::Arc;

use super::{
    document::{Document, Recovered},
    error::ViewError,
    pixel_reading::PixelReading,
    pointer::{Pointer, SurfacePoint},
    scene_items::lights_with,
    selection::Selection,
    viewport::Viewport,
};
use crate::{
    camera_control::{CameraPose, CollisionMesh, Controller},
    scene::look::Look,
    session,
};

/// What chooses the camera.
pub(super) struct CameraChoice {
    /// The choice of the command line, which precedes the look's.
    pub(super) requested: Option<String>,
    /// The look's choice.
    pub(super) in_look: Option<String>,
}

/// An open scene.
pub struct Workspace {
    /// The scene as uploaded to the device.
    pub viewport: Viewport,
    /// The look.
    pub document: Document,
    pub(super) controller: Controller,
    /// The controller's pose when the document last placed the camera; any other pose is unsaved.
    pub(super) placed: CameraPose,
    /// The camera at opening.
    pub(super) opened_camera: CameraChoice,
    pub(super) recovered: Option<Recovered>,
    pub(super) selected: Selection,
    pub(super) pointer: Pointer,
    /// Error of a look that does not fit the scene; the picture shows the last look that does.
    pub(super) broken: Option<String>,
    /// The last render error since the current request was last drawn.
    pub(super) trouble: Option<String>,
    /// Reason why the picture does not have the window's size.
    pub(super) misfit: Option<String>,
    pub(super) walls: Option<Arc<CollisionMesh>>,
    /// Stored looks: name and text.
    pub(super) snapshots: Vec<(String, String)>,
    /// The light that was copied last, as text of a look.
    pub(super) copied: Option<String>,
    /// The light that is soloed, in the picture only; the look is unchanged.
    pub(super) solo: Option<String>,
}

impl Workspace {
    /// Sets the selection, as a click in the outliner does.
    pub fn select(&mut self, selection: Selection) {
        self.selected = selection;
    }

    /// The surface under the pointer.
    #[must_use]
    pub fn surface(&self) -> Option<SurfacePoint> {
        self.pointer.surface
    }

    /// Meter readings of the pixel under the pointer.
    #[must_use]
    pub fn reading(&self) -> Option<PixelReading> {
        let finished = self.viewport.last_frame.as_ref()?;
        let mut reading = PixelReading::of(finished, &self.pointer)?;
        if finished.request_id != self.viewport.request_id() {
            // No picture answers the current request yet.
            reading.frames[0] = 0;
        }
        Some(reading)
    }

    /// The look that the picture shows: the document's look, or with a soloed light all other
    /// lights off. The soloed light's own `enabled` is ignored.
    pub(super) fn shown_look(&self) -> Result<Look, ViewError> {
        let mut look = self.document.look().map_err(session::SessionError::from)?;
        if let Some(alone) = &self.solo {
            for name in lights_with(&self.viewport, &look) {
                let enabled = (name != *alone).then_some(false);
                look.lights.entry(name).or_default().enabled = enabled;
            }
        }
        Ok(look)
    }

    /// Text of the last incident-light reading.
    #[must_use]
    pub fn incident(&self) -> Option<&str> {
        self.pointer.incident.as_ref().map(|incident| incident.text.as_str())
    }
}
