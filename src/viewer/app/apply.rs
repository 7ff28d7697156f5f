//! Carries out actions.

use super::App;
use crate::{
    scene::procedural::PREFIX,
    session::OpenRequest,
    viewer::{
        action::{
            Action, CameraAction, Changes, Direction, DocumentAction, EngineAction, PaintedFlow,
            SceneAction, SelectionAction, ViewAction, WindowAction,
        },
        mixer::Fader,
        settings::WindowSettings,
        tour::Tour,
        viewport::Job,
    },
};

impl App {
    /// Carries out an action. All changes by the user pass here.
    pub fn apply(&mut self, action: impl Into<Action>) {
        match action.into() {
            Action::Document(action) => self.apply_to_document(action),
            Action::Item(action) => self.apply_to_items(action),
            Action::Scene(action) => self.apply_to_scene(action),
            Action::Selection(action) => self.apply_to_selection(action),
            Action::Camera(action) => self.apply_to_camera(action),
            Action::View(action) => self.apply_to_view(action),
            Action::Engine(action) => self.apply_to_engine(action),
            Action::Window(action) => self.apply_to_window(action),
        }
    }

    fn apply_to_document(&mut self, action: DocumentAction) {
        match action {
            DocumentAction::Set(changes) => self.set_all(&changes),
            DocumentAction::Undo => self.undo(),
            DocumentAction::Redo => self.redo(),
            DocumentAction::Save => self.save(),
            DocumentAction::SaveAs(file) => {
                let Some(work) = &mut self.state.workspace else { return };
                match work.document.save_as(file) {
                    Ok(file) => self.info(format!("saved {}", file.display())),
                    Err(error) => {
                        self.state.pending_close = None;
                        self.error(error.to_string());
                    }
                }
            }
            DocumentAction::SaveAndProceed => {
                self.save();
                if self.panels.save_path.is_none() && self.state.unsaved() {
                    // Saving failed and was reported.
                    self.state.pending_close = None;
                }
            }
            DocumentAction::DiscardAndProceed => {
                if let Some(work) = &mut self.state.workspace {
                    work.document.discard();
                }
                self.proceed();
            }
            DocumentAction::Recover(restore) => {
                let Some(work) = &mut self.state.workspace else { return };
                if let Some(recovered) = work.recovered.take().filter(|_| restore) {
                    work.document.restore(recovered);
                    self.apply_document();
                }
            }
            DocumentAction::StoreLook => {
                let Some(work) = &mut self.state.workspace else { return };
                let name = char::from(b'A' + (work.snapshots.len() % 26) as u8).to_string();
                work.snapshots.push((name, work.document.text().to_owned()));
            }
            DocumentAction::RecallLook(index) => {
                let Some(work) = &mut self.state.workspace else { return };
                if let Some((name, text)) = work.snapshots.get(index).cloned() {
                    work.document.replace(text, &format!("look {name}"));
                    self.apply_document();
                }
            }
            DocumentAction::SetKey(path, value) => self.set_key(&path, &value),
            DocumentAction::KeepCamera => self.keep_camera(),
            DocumentAction::ApplyMix => self.apply_mix_to_look(),
            DocumentAction::PaintFlow(PaintedFlow { water, before, map, rectangle, speed }) => {
                let Some(work) = &mut self.state.workspace else { return };
                match work.document.paint(&water, &before, map, rectangle, speed) {
                    Ok(()) => self.apply_document(),
                    Err(error) => self.error(error.to_string()),
                }
            }
        }
    }

    fn apply_to_scene(&mut self, action: SceneAction) {
        match action {
            SceneAction::OpenFile(file) => self.open_file(&file),
            SceneAction::OpenScene(file) => self.open_scene(&file),
            SceneAction::OpenBuiltin(name) => self.open(&OpenRequest {
                scene: Some(format!("{PREFIX}{name}").into()),
                ..OpenRequest::default()
            }),
            SceneAction::CancelOpening => self.cancel_opening(),
            SceneAction::Proceed => self.proceed(),
            SceneAction::Stay => self.state.pending_close = None,
        }
    }

    fn apply_to_selection(&mut self, action: SelectionAction) {
        match action {
            SelectionAction::Select(selection) => {
                if let Some(work) = &mut self.state.workspace {
                    work.selected = selection;
                }
            }
            SelectionAction::Solo(light) => self.solo(light),
            SelectionAction::Tool(tool) => self.set_tool(tool),
            SelectionAction::Brush(brush) => self.state.brush = brush,
            SelectionAction::Point(position) => self.point(position),
            SelectionAction::Click(position) => self.click(position),
        }
    }

    fn apply_to_camera(&mut self, action: CameraAction) {
        match action {
            CameraAction::Mode(mode) => self.set_camera_mode(mode),
            CameraAction::Home => self.home(),
            CameraAction::FrameSelected => self.frame_selected(),
            CameraAction::Move(input) => self.move_camera(&input),
            CameraAction::Play => self.play(),
            CameraAction::Seek(time) => self.seek(time),
            CameraAction::SeekKey(direction) => self.seek_key(direction),
        }
    }

    fn apply_to_view(&mut self, action: ViewAction) {
        let state = &mut self.state;
        match action {
            ViewAction::ToggleSides => state.sides = !state.sides,
            ViewAction::ToggleScopes => state.scopes.open = !state.scopes.open,
            ViewAction::ToggleMixer => state.mixer.open = !state.mixer.open,
            ViewAction::Gallery(shown) => state.gallery = shown,
            ViewAction::Overlay(overlay) => state.scopes.overlay = overlay,
            ViewAction::NextOverlay => state.scopes.next_overlay(),
            ViewAction::ShowAov(aov) => state.scopes.aov = aov,
            ViewAction::Compare(mode) => state.reference_view.set_mode(mode),
            ViewAction::NextCompare => state.reference_view.next_mode(),
            ViewAction::MoveWipe(by) => state.reference_view.move_wipe(by),
            ViewAction::DirectOnly(only) => {
                state.reference_view.bounces = only.then_some(1);
                state.reference_view.restart();
            }
            ViewAction::UsePathTracer => state.reference_view.use_path_tracer(),
            ViewAction::Fader(index, fader) => {
                if let Some(slot) = state.mixer.faders.get_mut(index) {
                    *slot = fader;
                }
            }
            ViewAction::ResetFaders => state.mixer.faders.fill(Fader::default()),
            ViewAction::Hold(held) => {
                if let Some(work) = &mut state.workspace {
                    work.viewport.set_held(held);
                }
            }
            ViewAction::Resize(size) => {
                if let Some(work) = &mut state.workspace {
                    let resized = work.viewport.resize(size);
                    // Reported until it fits again.
                    work.misfit = resized.err().map(|error| error.to_string());
                }
            }
        }
    }

    fn apply_to_engine(&mut self, action: EngineAction) {
        match action {
            EngineAction::SeparateLights => self.separate_lights(),
            EngineAction::WriteSequence(sequence) => {
                if let Some(work) = &mut self.state.workspace {
                    work.viewport.set_playing(false);
                    work.viewport.submit_job(Job::WriteSequence(sequence));
                }
            }
            EngineAction::CancelJob => {
                if let Some(work) = &self.state.workspace {
                    work.viewport.cancel();
                }
            }
            EngineAction::ReloadShaders => self.reload_shaders(),
            EngineAction::Screenshot => self.screenshot(),
        }
    }

    fn apply_to_window(&mut self, action: WindowAction) {
        match action {
            WindowAction::Settings(settings) => self.set_settings(settings),
            WindowAction::ToggleHdr => {
                let settings = self.settings();
                self.set_settings(WindowSettings { hdr: !settings.hdr, ..settings });
            }
            WindowAction::TogglePalette => self.panels.palette.toggle(),
            WindowAction::ToggleKeys => self.panels.keys.toggle(),
            WindowAction::Tour(direction) => self.step_tour(direction),
            WindowAction::EndTour => self.end_tour(),
            WindowAction::CopyReading => self.copy_reading(),
            WindowAction::Error(text) => self.error(text),
            WindowAction::Close => self.close(),
        }
    }

    fn step_tour(&mut self, direction: Direction) {
        match direction {
            Direction::Forward => self.panels.tour.forward(),
            Direction::Backward => self.panels.tour.back(),
        }
        if self.panels.tour == Tour::default() {
            self.end_tour();
        }
    }

    /// Ends the tour; it is not shown at the next start.
    fn end_tour(&mut self) {
        self.panels.tour = Tour::default();
        self.set_settings(WindowSettings { toured: true, ..self.settings() });
    }

    /// Sets properties of the look as one undo step, and applies it.
    pub(super) fn set_all(&mut self, changes: &Changes) {
        let changes: Vec<(&str, Option<&str>)> =
            changes.iter().map(|(path, value)| (path.as_str(), value.as_deref())).collect();
        self.set(&changes);
    }
}
