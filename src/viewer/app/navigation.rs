//! Movement of the camera and of the time.

use std::sync::Arc;

use super::App;
use crate::{
    camera_control::{CollisionMesh, Input, NavigationMode},
    viewer::{scene_items::light_world, selection::Selection},
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

    /// Starts or pauses playback.
    pub(super) fn play(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        if work.viewport.time().is_none() {
            return self.info("the scene has no animation".into());
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
