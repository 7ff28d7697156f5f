//! Opening of scenes and files.

use std::{path::Path, sync::Arc};

use super::{App, look::fov};
use crate::{
    camera_control::{CameraPose, Controller, NavigationMode},
    frame::limits::ShownLimits,
    image_io::Format,
    scene::gltf,
    session::OpenRequest,
    viewer::{
        load::{LoadResult, LoadedScene, Loading},
        pointer::Pointer,
        selection::Selection,
        state::PendingClose,
        viewport::Viewport,
        workspace::{CameraChoice, Workspace},
    },
};

impl App {
    /// Opens a scene in place of the current one. Unsaved changes prompt first; if opening fails,
    /// the current scene stays. Loading is asynchronous: `opening` reports it, `finish_opening`
    /// waits.
    pub fn open(&mut self, request: &OpenRequest) {
        if self.state.unsaved() {
            self.state.pending_close = Some(PendingClose::Open(Box::new(request.clone())));
        } else {
            self.open_now(request);
        }
    }

    /// Opens a scene without prompting for unsaved changes. It loads on its own thread; the current
    /// scene stays until then, and a newer request replaces this one.
    pub(super) fn open_now(&mut self, request: &OpenRequest) {
        let request = whole_name(request);
        let text = self.state.workspace.as_ref().map(|work| work.document.text().to_owned());
        match Loading::begin(request, self.options.state.clone(), text, Arc::clone(&self.wake)) {
            Ok(loading) => self.state.loading = Some(loading),
            Err(error) => self.error(format!("cannot start the loading thread: {error}")),
        }
    }

    /// True if a scene is being loaded.
    #[must_use]
    pub const fn opening(&self) -> bool {
        self.state.loading.is_some()
    }

    /// Cancels the loading of a scene.
    pub(super) fn cancel_opening(&mut self) {
        if let Some(loading) = self.state.loading.take() {
            self.state.gallery |= self.state.workspace.is_none();
            self.info(format!("opening of {} canceled", loading.request.name()));
        }
    }

    /// Waits for the scene being loaded, if any.
    pub fn finish_opening(&mut self) {
        while let Some(loading) = &self.state.loading {
            let read = loading.wait();
            self.take_read(read);
        }
    }

    /// Takes the loaded scene when it is ready.
    pub(in crate::viewer) fn take_opened(&mut self) {
        if let Some(read) = self.state.loading.as_ref().and_then(Loading::result) {
            self.take_read(read);
        }
    }

    fn take_read(&mut self, read: LoadResult) {
        let Some(loading) = self.state.loading.take() else { return };
        let begun_with = loading.text.as_deref();
        if self
            .state
            .workspace
            .as_ref()
            .is_some_and(|work| work.document.changed() && begun_with != Some(work.document.text()))
        {
            // The look changed during loading: prompt.
            self.state.pending_close = Some(PendingClose::Open(Box::new(loading.request)));
            return;
        }
        match read {
            Ok(ready) => self.take_its_place(loading.request, *ready),
            Err(error) => {
                self.error(error.to_string());
                self.state.gallery |= self.state.workspace.is_none();
            }
        }
    }

    fn take_its_place(&mut self, request: OpenRequest, ready: LoadedScene) {
        let LoadedScene { prepared, document, recovered } = ready;
        let viewport = Viewport::new(&self.engine, prepared);
        let pose = CameraPose::from_world(viewport.pose());
        let mut controller = Controller::new(pose, fov(&viewport));
        controller.set_mode(NavigationMode::Orbit);
        if let Some((low, high)) = viewport.session.scene.bounds() {
            // The target lies on the view axis, at the depth of the scene's center.
            let distance = ((low + high) / 2.0 - pose.position).dot(pose.forward()).max(0.1);
            controller.set_target(pose.position + pose.forward() * distance);
        }
        self.engine.cancel_all_jobs();
        self.state.mixer.forget();
        for warning in
            viewport.session.warnings.iter().cloned().chain(viewport.session.raster_limits())
        {
            self.info(warning);
        }
        if let Some(Err(error)) = request.scene.as_deref().map(|scene| self.state.recent.put(scene))
        {
            self.error(format!("cannot save the list of recent scenes: {error}"));
        }
        self.shown_limits = ShownLimits::default();
        // A light can be pasted into another scene.
        let copied = self.state.workspace.as_ref().and_then(|work| work.copied.clone());
        let opened_camera = CameraChoice {
            requested: viewport.session.request.camera.clone(),
            in_look: viewport.session.look.camera.name.clone(),
        };
        self.state.workspace = Some(Workspace {
            viewport,
            document,
            controller,
            placed: pose,
            opened_camera,
            recovered,
            selected: Selection::default(),
            pointer: Pointer::default(),
            broken: None,
            trouble: None,
            misfit: None,
            walls: None,
            snapshots: Vec::new(),
            copied,
            solo: None,
        });
        self.state.displayed_frame = None;
        self.state.screenshot_due = false;
        self.state.reference_view.restart();
        self.state.scopes.forget();
        self.state.gallery = false;
        self.options.request = request;
    }

    /// Opens a scene file. The window's root folder applies if it contains the file.
    pub(super) fn open_scene(&mut self, file: &Path) {
        let root = self.root.clone().filter(|root| gltf::contains(root, file));
        self.open(&OpenRequest { scene: Some(file.into()), root, ..OpenRequest::default() });
    }

    /// Opens a file by its kind: scene, look, reference, photometric profile, lens or environment
    /// map.
    pub fn open_file(&mut self, file: &Path) {
        let name =
            file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ends = |ending: &str| name.ends_with(ending);
        let text = file.display().to_string();
        // An absolute path: the look may lie outside of the working directory.
        let whole = std::path::absolute(file)
            .map_or_else(|_| text.clone(), |whole| whole.display().to_string());
        if ends(".glb") || ends(".gltf") {
            self.open_scene(file);
        } else if ends(".look.toml") {
            let request = OpenRequest { look: Some(file.into()), ..self.options.request.clone() };
            self.open(&request);
        } else if ends(".ies") || ends(".ldt") {
            match self.state.workspace.as_ref().and_then(|work| work.selected.light_name()) {
                Some(light) => self.set(&[(&format!("lights.{light}.ies"), Some(&whole))]),
                None => self.error(
                    "no light selected: select the light for this profile, then drop the file again".into(),
                ),
            }
        } else if ends(".json") {
            self.set(&[("camera.lens.prescription", Some(&whole))]);
        } else {
            // Image formats are detected by their first bytes, not by their names.
            match Format::of_file(file) {
                Ok(Format::Radiance) => self.set(&[("environment.file", Some(&whole))]),
                Ok(Format::Exr | Format::Png | Format::Jpeg) => match self.state.reference_view.load(file) {
                    Ok(()) => self.info(format!("{text} is the reference; V shows it")),
                    Err(error) => self.error(error),
                },
                Err(error) => self.error(format!(
                    "{text}: {error}; drop a .glb or .gltf scene, a .look.toml, an .ies or .ldt profile, a .json lens, an .hdr \
                     map, or an EXR, PNG or JPEG reference"
                )),
            }
        }
    }
}

/// A request with the full name of a built-in scene.
fn whole_name(request: &OpenRequest) -> OpenRequest {
    match request.builtin() {
        Ok(Some(builtin)) => {
            let scene = format!("{}{}", crate::scene::procedural::PREFIX, builtin.name);
            OpenRequest { scene: Some(scene.into()), ..request.clone() }
        }
        _ => request.clone(),
    }
}
