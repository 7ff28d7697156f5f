//! A scene with its look applied, its camera and its picture size, on the host.

use std::sync::Arc;

use glam::DMat4;

use super::{playback::Playback, request::OpenRequest, size::Size};
use crate::{
    camera::{Camera, CameraEffects},
    gpu_scene::View,
    optics::MountedLens,
    scene::{Projection, Scene, look::Look},
};

/// A scene with its look applied, its camera and its picture size. Clones share the scene.
#[derive(Clone)]
pub struct OpenScene {
    /// The request that opened the scene.
    pub request: OpenRequest,
    /// The scene at the playback time, with the look applied.
    pub scene: Arc<Scene>,
    /// The look.
    pub look: Look,
    /// Name of the camera; its address or a description if it has none.
    pub camera_name: String,
    /// Camera-to-world transform (m; the camera looks down -Z) and projection.
    pub camera: (DMat4, Projection),
    /// Picture size in pixels.
    pub size: Size,
    /// Aspect ratio (width / height) of pictures without an explicit size.
    pub default_aspect_ratio: f32,
    /// True if the camera's look sets the resolution, and with it the aspect ratio.
    pub fixed_resolution: bool,
    /// The physical camera of the look.
    pub physical_camera: Camera,
    /// Camera effects.
    pub effects: CameraEffects,
    /// The lens of the look's prescription, with its dials set.
    pub lens: Option<Arc<MountedLens>>,
    /// Animation playback; `None` for a scene at rest.
    pub playback: Option<Playback>,
    /// Warnings and notes for the user, one each.
    pub warnings: Vec<String>,
}

impl OpenScene {
    /// View of the session's camera.
    #[must_use]
    pub fn view(&self) -> View {
        View::new(self.camera.0, &self.camera.1, self.size.width, self.size.height)
    }

    /// Animation time in s; `None` for a scene at rest.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        self.playback.as_ref().map(|animated| animated.time)
    }
}
