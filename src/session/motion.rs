//! Animated motion of a session: seeking, and what moves while the shutter is open.

use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::{
    camera::{choose_camera, mount_camera},
    error::SessionError,
    open_scene::OpenScene,
};
use crate::{
    camera::{CameraEffects, effects::MotionBlur},
    frame::RenderSettings,
    gpu_scene::GpuScene,
    scene::{Scene, animation::Trs},
};

/// Velocity (m/s) and angular velocity (rad/s) of a camera in its own axes at `middle`, for the
/// motion from `from` to `to` in `seconds`.
fn camera_motion(middle: DMat4, [from, to]: [DMat4; 2], seconds: f64) -> (DVec3, DVec3) {
    let axes = |world: DMat4| {
        glam::DQuat::from_mat4(&Trs { scale: DVec3::ONE, ..Trs::of_matrix(&world) }.matrix())
    };
    let own = axes(middle).inverse();
    let moved = own * (to.w_axis.truncate() - from.w_axis.truncate());
    let mut turned = own * axes(to) * axes(from).inverse() * axes(middle);
    if turned.w < 0.0 {
        turned = -turned;
    }
    (moved / seconds, turned.to_scaled_axis() / seconds)
}

impl OpenScene {
    /// Sets the playback time in s; no effect for a scene at rest without a timeline.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the lens cannot be set for the camera at that time, or the look's
    /// values at that time cannot be applied.
    pub fn seek(&mut self, time: f64) -> Result<(), SessionError> {
        if self.timeline.is_some() {
            return self.seek_timeline(time);
        }
        self.seek_pose(time);
        if self.playback.as_ref().is_some_and(|animated| animated.camera.is_some()) {
            let (_, _, world, projection) = choose_camera(&self.request, &self.look, &self.scene)?;
            let (projection, effects, lens) =
                mount_camera(&self.physical_camera, projection, self.size, self.lens.clone())?;
            (self.camera, self.effects, self.lens) = ((world, projection), effects, lens);
        }
        Ok(())
    }

    /// Sets the pose of the scene to a time in s; no effect for a scene at rest.
    pub(super) fn seek_pose(&mut self, time: f64) {
        let Some(animated) = &mut self.playback else { return };
        animated.time = time;
        let scene = Arc::make_mut(&mut self.scene);
        scene.time = time;
        scene.apply(&animated.rest.pose(&animated.play, time));
        scene.bake();
    }

    /// Motion blur of the open shutter, with the camera's animated motion; `None` for a scene at
    /// rest and if the look disables motion blur.
    #[must_use]
    pub fn animated_motion_blur(&self, effects: &CameraEffects) -> Option<MotionBlur> {
        let animated = self.playback.as_ref()?;
        let mut blur = effects.motion_blur.or_else(|| self.physical_camera.object_motion_blur())?;
        if let Some(node) = animated.camera {
            let half = blur.exposure / 2.0;
            let places = [-half, half].map(|offset| {
                let mut nodes = Scene { nodes: self.scene.nodes.clone(), ..Scene::default() };
                nodes.apply(&animated.rest.pose_at_offset(&animated.play, animated.time, offset));
                nodes.world_transforms().get(node).copied().unwrap_or(self.camera.0)
            });
            let (velocity, rotation) = camera_motion(self.camera.0, places, blur.exposure);
            blur.velocity += velocity;
            blur.rotation += rotation;
        }
        Some(blur)
    }

    /// Adds animated motion during the exposure to `settings`: of the camera, and the poses of
    /// objects when the shutter opens and closes.
    pub fn set_motion(&mut self, settings: &mut RenderSettings, on_device: &GpuScene) {
        let (Some(blur), Some(animated)) =
            (self.animated_motion_blur(&settings.effects), &self.playback)
        else {
            return;
        };
        let (half, scene) = (blur.exposure / 2.0, Arc::make_mut(&mut self.scene));
        let poses = [-half, half].map(|offset| {
            scene.apply(&animated.rest.pose_at_offset(&animated.play, animated.time, offset));
            on_device.pose(scene)
        });
        scene.apply(&animated.rest.pose(&animated.play, animated.time));
        settings.effects.motion_blur = Some(blur);
        settings.shutter = Some(poses);
    }

    /// The scene at `offset` seconds from the playback time; `None` for a scene at rest.
    #[must_use]
    pub fn scene_at_offset(&self, offset: f64) -> Option<Scene> {
        let animated = self.playback.as_ref()?;
        let mut scene = Scene::clone(&self.scene);
        scene.apply(&animated.rest.pose_at_offset(&animated.play, animated.time, offset));
        scene.bake();
        scene.time = animated.time + offset;
        Some(scene)
    }
}
