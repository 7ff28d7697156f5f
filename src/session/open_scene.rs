//! A scene with its look applied, its camera and its picture size, on the host.

use std::sync::Arc;

use glam::DMat4;

use super::{playback::Playback, request::OpenRequest, size::Size, timeline::TimedLook};
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
    /// The look; with the values of its timeline at the playback time.
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
    /// The look's timeline; `None` without one.
    pub timeline: Option<TimedLook>,
    /// Warnings and notes for the user, one each.
    pub warnings: Vec<String>,
}

impl OpenScene {
    /// View of the session's camera.
    #[must_use]
    pub fn view(&self) -> View {
        View::new(self.camera.0, &self.camera.1, self.size.width, self.size.height)
    }

    /// Animation time in s; `None` for a scene at rest without a timeline.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        let played = self.playback.as_ref().map(|animated| animated.time);
        played.or(self.timeline.as_ref().map(|timed| timed.time))
    }

    /// The look as written: with its timeline, if it has one, in place of the values at a time.
    #[must_use]
    pub fn written_look(&self) -> &Look {
        self.timeline.as_ref().map_or(&self.look, TimedLook::look)
    }
}
