//! Bar of the window: file menu, tools, camera, playback, comparison.

use std::path::PathBuf;

use egui::{
    ComboBox, Key, Ui,
    containers::menu::{MenuButton, MenuConfig},
};

use super::fields::drag;
use crate::{
    camera::DisplayRange,
    camera_control::NavigationMode,
    photometry::Nit,
    viewer::{app::App, recent, tool::Tool},
};

/// Width of the comparison list in the bar (points).
const COMPARES: f32 = 110.0;

/// Height of the list of recent scenes in the menu (points); it scrolls.
const RECENT_HEIGHT: f32 = 90.0;

impl App {
    pub(super) fn bar(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            // Clicks into the text field keep the menu open; entries close it.
            let stays =
                MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
            MenuButton::new("File").config(stays).ui(ui, |ui| {
                ui.label("Open a scene or look");
                let field = ui.text_edit_singleline(&mut self.open_field);
                let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
                if (ui.button("Open").clicked() || entered) && !self.open_field.is_empty() {
                    let file = PathBuf::from(self.open_field.trim());
                    self.open_file(&file);
                    ui.close();
                }
                if ui.button("Gallery").clicked() {
                    self.gallery = true;
                    ui.close();
                }
                let recent = self.recent.scenes().to_vec();
                if !recent.is_empty() {
                    ui.separator();
                    egui::ScrollArea::vertical().max_height(RECENT_HEIGHT).show(ui, |ui| {
                        for scene in recent {
                            let button = egui::Button::new(scene.display().to_string());
                            let there = recent::is_there(&scene);
                            let entry = ui
                                .add_enabled(there, button)
                                .on_disabled_hover_text("file not found");
                            if entry.clicked() {
                                self.open_scene(&scene);
                                ui.close();
                            }
                        }
                    });
                }
                ui.separator();
                if ui.button("Save look    Ctrl+S").clicked() {
                    self.save();
                    ui.close();
                }
                if ui.button("Save look as...").clicked() {
                    let now = self.workspace.as_ref().and_then(|work| work.document.file());
                    self.save_field = Some(now.map_or_else(
                        || "scene.look.toml".into(),
                        |file| file.display().to_string(),
                    ));
                    ui.close();
                }
                if ui.button("Picture to PNG and EXR    F12").clicked() {
                    self.screenshot();
                    ui.close();
                }
                let played = self.workspace.as_ref().and_then(|work| work.viewport.time());
                if ui
                    .add_enabled(played.is_some(), egui::Button::new("Sequence to PNG files..."))
                    .clicked()
                {
                    let file = PathBuf::from("sequence.png");
                    self.sequence =
                        Some((file.display().to_string(), played.unwrap_or(0.0), 1.0, 24.0));
                    ui.close();
                }
                let reload = egui::Button::new("Reload shaders    F5");
                let entry = ui.add_enabled(self.can_reload(), reload);
                if entry
                    .on_hover_text(
                        "recompiles changed files of shaders/, then again after each change",
                    )
                    .on_disabled_hover_text("shader sources not found on this machine")
                    .clicked()
                {
                    self.reload_shaders();
                    ui.close();
                }
                ui.separator();
                self.display_menu(ui);
                ui.separator();
                if ui.button("Quit    Ctrl+Q").clicked() {
                    ui.close();
                    self.close();
                }
            });
            let steps = self
                .workspace
                .as_ref()
                .map_or([None, None], |work| work.document.steps().map(|s| s.map(str::to_owned)));
            let [undo, redo] = steps;
            if ui
                .add_enabled(undo.is_some(), egui::Button::new("Undo"))
                .on_hover_text(undo.unwrap_or_default())
                .clicked()
            {
                self.undo();
            }
            if ui
                .add_enabled(redo.is_some(), egui::Button::new("Redo"))
                .on_hover_text(redo.unwrap_or_default())
                .clicked()
            {
                self.redo();
            }
            ui.separator();
            self.tools(ui);
            ui.separator();
            self.camera_menu(ui);
            self.time_bar(ui);
            ui.separator();
            ui.toggle_value(&mut self.scopes.open, "Scopes").on_hover_text("H");
            ui.toggle_value(&mut self.mixer.open, "Mixer")
                .on_hover_text("X: balances lights without rendering again");
            if ui.available_size_before_wrap().x < COMPARES {
                // Drop-down lists do not wrap by themselves.
                ui.end_row();
            }
            self.reference_bar(ui);
        });
    }

    /// HDR display settings.
    fn display_menu(&mut self, ui: &mut Ui) {
        let mut settings = self.settings();
        ui.checkbox(&mut settings.hdr, "HDR display    N")
            .on_hover_text("HDR output, where the window's display offers HDR10 or scRGB");
        ui.horizontal(|ui| {
            ui.label("white");
            let mut nits = [settings.range.paper_white(), settings.range.peak()].map(Nit::get);
            let [white, peak] = &mut nits;
            let dial = |ui: &mut Ui, value: &mut f64, [low, high]: [f64; 2]| {
                ui.add(drag(value).speed(1.0).range(low..=high).max_decimals(0).suffix(" nit"))
                    .changed()
            };
            let whiter = dial(ui, white, DisplayRange::PAPER_WHITES);
            ui.label("peak");
            let higher = dial(ui, peak, DisplayRange::PEAKS);
            if let Some(range) =
                DisplayRange::new(Nit(*white), Nit(*peak)).filter(|_| whiter || higher)
            {
                settings.range = range;
            }
        });
        if settings != self.settings() {
            self.set_settings(settings);
        }
    }

    /// Tools of the picture: buttons for drags, a list for clicks.
    fn tools(&mut self, ui: &mut Ui) {
        let (drags, clicks): (Vec<_>, Vec<_>) =
            Tool::ALL.into_iter().partition(|(tool, ..)| tool.drags());
        let mut chosen = self.tool;
        for (tool, name, hint) in drags {
            ui.selectable_value(&mut chosen, tool, name).on_hover_text(hint);
        }
        let now = clicks
            .iter()
            .find(|(tool, ..)| *tool == self.tool)
            .map_or("Tools", |(_, name, _)| name);
        ComboBox::from_id_salt("tools").selected_text(now).width(74.0).show_ui(ui, |ui| {
            for (tool, name, hint) in clicks {
                ui.selectable_value(&mut chosen, tool, name).on_hover_text(hint);
            }
        });
        if chosen != self.tool {
            self.set_tool(chosen);
        }
    }

    /// Camera navigation.
    fn camera_menu(&mut self, ui: &mut Ui) {
        const WAYS: [(NavigationMode, &str, &str); 3] = [
            (
                NavigationMode::Orbit,
                "Orbit",
                "1: middle button orbits the target, with Shift it pans, the wheel dollies",
            ),
            (
                NavigationMode::Fly,
                "Fly",
                "2: right button looks around, W A S D Q E move, Shift is faster",
            ),
            (NavigationMode::Walk, "Walk", "3: fly controls on foot, with collisions and stairs"),
        ];
        let mode = self.workspace.as_ref().map(|work| work.controller.mode());
        let now =
            WAYS.iter().find(|(way, ..)| mode == Some(*way)).map_or("Camera", |(_, name, _)| name);
        ui.menu_button(now, |ui| {
            for (wanted, name, hint) in WAYS {
                if ui.selectable_label(mode == Some(wanted), name).on_hover_text(hint).clicked() {
                    self.set_camera_mode(wanted);
                }
            }
            ui.separator();
            if ui.button("Home").on_hover_text("Home: returns to the look's camera").clicked() {
                self.home();
            }
            if ui
                .button("Keep camera")
                .on_hover_text("writes the camera's pose to the look")
                .clicked()
            {
                self.keep_camera();
            }
        })
        .response
        .on_hover_text("camera navigation");
    }

    /// Playback and the animation time, for animated scenes.
    fn time_bar(&mut self, ui: &mut Ui) {
        let Some(work) = &mut self.workspace else { return };
        let Some(mut time) = work.viewport.time() else { return };
        ui.separator();
        let plays = work.viewport.is_playing();
        if ui.selectable_label(plays, "Play").on_hover_text("Space").clicked() {
            work.viewport.set_playing(!plays);
            self.reference_view.restart();
        } else if ui.add(drag(&mut time).speed(0.02).max_decimals(2).suffix(" s")).changed() {
            work.viewport.seek(time);
            work.pointer.incident = None;
            self.reference_view.restart();
        }
    }
}
