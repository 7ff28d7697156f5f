//! Movement of the camera and of the time.

use std::sync::Arc;

use super::App;
use crate::{
    camera_control::{CollisionMesh, Input, NavigationMode},
    session::{DEFAULT_RATE, TimedLook},
    viewer::{action::Direction, scene_items::light_world, selection::Selection},
};

impl App {
    /// Returns to the look's camera.
    pub(super) fn home(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        work.controller.place(work.placed);
        work.viewport.set_pose(None);
        self.state.reference_view.restart();
    }

    /// Sets the navigation mode: walk, fly or orbit.
    pub(super) fn set_camera_mode(&mut self, mode: NavigationMode) {
        let Some(work) = &mut self.state.workspace else { return };
        if mode == NavigationMode::Walk && work.walls.is_none() {
            match CollisionMesh::of(&work.viewport.session.scene, crate::camera_control::is_solid) {
                Ok(walls) => {
                    let walls = Arc::new(walls);
                    work.controller.set_walls(Arc::clone(&walls));
                    work.walls = Some(walls);
                }
                Err(error) => return self.error(error.to_string()),
            }
        }
        if let Some(work) = &mut self.state.workspace {
            work.controller.set_mode(mode);
        }
    }

    /// Moves the camera by the user's input.
    pub(super) fn move_camera(&mut self, input: &Input) {
        let dt = self.last_frame.elapsed().as_secs_f64();
        let Some(work) = &mut self.state.workspace else { return };
        let before = work.controller.pose();
        let pose = work.controller.update(input, dt);
        if pose != before {
            work.viewport.set_pose(Some(pose.world()));
            self.state.reference_view.restart();
        }
    }

    /// Seeks to a time (s).
    pub(super) fn seek(&mut self, time: f64) {
        let Some(work) = &mut self.state.workspace else { return };
        work.viewport.seek(time);
        work.pointer.incident = None;
        self.state.reference_view.restart();
    }

    /// Seeks to the next key of the timeline, or to the one before.
    pub(super) fn seek_key(&mut self, direction: Direction) {
        let Some(work) = &self.state.workspace else { return };
        let timed = work.viewport.session.timeline.as_ref();
        let key = timed.zip(work.viewport.time()).and_then(|(timed, time)| {
            let forward = direction == Direction::Forward;
            timed.look().timeline.neighbor_key(time, forward, timed.rate())
        });
        match key {
            Some(time) => self.seek(time),
            None => self.info("the timeline has no further key in this direction".into()),
        }
    }

    /// Sets a key of the timeline at the present time, 0 s without an animation.
    pub(super) fn set_key(&mut self, path: &str, value: &str) {
        let Some(work) = &mut self.state.workspace else { return };
        let timed = work.viewport.session.timeline.as_ref();
        let rate = timed.map_or(DEFAULT_RATE, TimedLook::rate);
        let time = work.viewport.time().unwrap_or(0.0);
        match work.document.set_key((path, value), (time, rate)) {
            Ok(()) => self.apply_document(),
            Err(error) => self.error(error.to_string()),
        }
    }

    /// Starts or pauses playback.
    pub(super) fn play(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        if work.viewport.time().is_none() {
            return self.info("neither the scene nor the look is animated".into());
        }
        work.viewport.set_playing(!work.viewport.is_playing());
        work.pointer.incident = None;
        self.state.reference_view.restart();
    }

    /// Moves the view to frame the selection.
    pub(super) fn frame_selected(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        let scene = work.viewport.current_scene();
        let around = |place: glam::DVec3| (place - 0.5, place + 0.5);
        let bounds = match &work.selected {
            Selection::Light(name) => {
                light_world(&work.viewport, name).map(|world| around(world.w_axis.truncate()))
            }
            _ => {
                work.pointer.surface.map(|surface| around(surface.point)).or_else(|| scene.bounds())
            }
        };
        let [width, height] = work.viewport.full_size();
        if let Some(bounds) = bounds {
            work.controller.frame(bounds, f64::from(width) / f64::from(height));
        }
    }
}
