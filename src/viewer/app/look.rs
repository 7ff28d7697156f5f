//! Changes of the look, and their effect on the picture.

use glam::DVec3;

use super::App;
use crate::{
    camera_control::CameraPose,
    scene::{
        Projection,
        address::AddressTable,
        look::{AddedCameraLook, CameraLook, Look},
    },
    session::look_change::LookChange,
    viewer::{
        number_text::view_text,
        scene_items::{added_camera, camera_path, lights, parent_space},
        selection::Selection,
        viewport::Viewport,
        workspace::{CameraChoice, Workspace},
    },
};

impl App {
    /// Sets properties of the look as one undo step, and applies it.
    pub fn set(&mut self, changes: &[(&str, Option<&str>)]) {
        let Some(work) = &mut self.state.workspace else { return };
        if let Err(error) = work.document.set(changes) {
            // A rejected value is in no line of the file.
            let rejected =
                changes.iter().find_map(|(path, value)| Look::default().set(path, (*value)?).err());
            return self.error(rejected.unwrap_or(error).to_string());
        }
        self.apply_document();
    }

    /// Applies the document's look to the picture.
    pub(super) fn apply_document(&mut self) {
        self.apply_document_after(Step::Edit);
    }

    fn apply_document_after(&mut self, step: Step) {
        let Some(work) = &mut self.state.workspace else { return };
        let old = work.viewport.session.written_look().clone();
        let followed = work.shown_look().and_then(|look| {
            let moves = placed_elsewhere(&old, &look);
            let chosen = requested_camera(work, &old, &look, step);
            work.viewport.session.request.camera = chosen;
            if moves {
                work.viewport.set_pose(None);
            }
            work.viewport.apply_look(look).map(|change| (moves, change))
        });
        match followed {
            Ok((moved, change)) => {
                work.broken = None;
                if change == LookChange::Scene {
                    // The reading was taken in other light.
                    work.pointer.incident = None;
                }
                let gone = |name: &str| work.viewport.light_nodes(name).is_empty();
                let is_off = |name: &str| lights(&work.viewport).iter().any(|known| known == name);
                if work.selected.light_name().is_some_and(|name| gone(name) && !is_off(name)) {
                    // Its step was undone.
                    work.selected = Selection::default();
                }
                work.controller.set_fov(fov(&work.viewport));
                if moved {
                    work.placed = CameraPose::from_world(work.viewport.pose());
                    work.controller.place(work.placed);
                }
                self.state.reference_view.restart();
            }
            Err(error) if error.is_fatal() => self.lost(error.to_string()),
            Err(error) => {
                // An unknown light or missing sizes: the text stays, and undo reverts it.
                let text = error.to_string();
                work.broken = Some(text.clone());
                self.error(text);
            }
        }
    }

    pub(super) fn undo(&mut self) {
        let done = self.state.workspace.as_mut().and_then(|work| work.document.undo());
        if let Some(what) = done {
            self.info(format!("undone: {what}"));
            self.apply_document_after(Step::Undo);
        }
    }

    pub(super) fn redo(&mut self) {
        let done = self.state.workspace.as_mut().and_then(|work| work.document.redo());
        if let Some(what) = done {
            self.info(format!("redone: {what}"));
            self.apply_document();
        }
    }

    /// Saves the look; asks for a file if it has none.
    pub fn save(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        if work.document.file().is_none() {
            self.panels.save_path.get_or_insert_with(|| "scene.look.toml".into());
            return;
        }
        match work.document.save() {
            Ok(file) => self.info(format!("saved {}", file.display())),
            Err(error) => self.error(error.to_string()),
        }
    }

    /// Writes the camera's pose to the look, so that it is saved.
    pub(super) fn keep_camera(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        let pose = work.controller.pose();
        let target = pose.position
            + pose.forward() * (work.controller.target() - pose.position).length().max(0.1);
        let parent = added_camera(&work.viewport).and_then(|(_, camera)| camera.parent.as_deref());
        let to_look = parent_space(&work.viewport, parent).inverse();
        let text = |v: DVec3| view_text(to_look.transform_point3(v));
        let (position, target) = (text(pose.position), text(target));
        let paths = ["camera.position", "camera.target"];
        let paths = paths.map(|path| camera_path(&work.viewport, path));
        self.set(&[(&paths[0], Some(&position)), (&paths[1], Some(&target))]);
    }

    /// Isolates a light in the picture, or with none shows all lights again. The look is unchanged.
    pub(super) fn solo(&mut self, light: Option<String>) {
        if let Some(work) = &mut self.state.workspace {
            work.solo = light;
            self.apply_document();
        }
    }
}

/// How the document has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Edit,
    Undo,
}

/// The camera that the command line still chooses with a new look: not after a newer choice or the
/// camera's deletion, but again once these are undone.
fn requested_camera(work: &Workspace, old: &Look, new: &Look, step: Step) -> Option<String> {
    let CameraChoice { requested, in_look } = &work.opened_camera;
    let has = |look: &Look, name: &str| {
        look.cameras.get(name).is_some_and(AddedCameraLook::is_added)
            || !AddressTable::cameras(work.viewport.base()).find(name).is_empty()
    };
    let is_newer = old.camera.name != new.camera.name;
    let present = work.viewport.session.request.camera.clone().filter(|_| !is_newer);
    let is_undone = step == Step::Undo && new.camera.name == *in_look;
    let returns = |name: &String| is_undone && (is_newer || !has(old, name));
    present.or_else(|| requested.clone().filter(returns)).filter(|name| has(new, name))
}

/// True if a look places the camera elsewhere than the previous look.
fn placed_elsewhere(old: &Look, new: &Look) -> bool {
    let pose = |look: &Look| {
        let CameraLook { name, position, target, roll, .. } = look.camera.clone();
        let added: Vec<_> =
            look.cameras.iter().map(|(name, camera)| (name.clone(), camera.in_scene())).collect();
        (name, position, target, roll, added)
    };
    pose(old) != pose(new)
}

/// Vertical field of view (rad).
pub(super) fn fov(viewport: &Viewport) -> f64 {
    match viewport.session.camera.1 {
        Projection::Perspective { vertical_fov, .. } => f64::from(vertical_fov),
        Projection::Orthographic { .. } => 0.5,
    }
}
