//! Layout of the window: bar, outliner, inspector, scopes, picture, status line.

pub mod choice;
pub mod gallery;
mod handles;
pub mod inspector;
pub mod mixer;
pub mod outliner;
pub mod palette;
pub mod reference_view;
pub mod scopes;
pub mod status;
pub mod viewport;
pub mod water;

use std::path::PathBuf;

use egui::{
    ComboBox, Key, KeyboardShortcut, Modifiers, Ui,
    containers::menu::{MenuButton, MenuConfig},
    text_selection::LabelSelectionState,
};

use super::{
    MIN_WINDOW_SIZE,
    app::{App, PendingClose},
    recent,
    settings::WindowSettings,
    viewport::{Job, Sequence},
};
use crate::{camera::DisplayRange, camera_control::NavigationMode, output, photometry::Nit};

const SAVE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
const REDO: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
const REDO_TOO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Y);
const QUIT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Q);
const PALETTE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::P);

const SIDES: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Space);

/// Width of the comparison list in the bar (points).
const COMPARES: f32 = 110.0;

/// Height of the list of recent scenes in the menu (points); it scrolls.
const RECENT_HEIGHT: f32 = 90.0;

impl App {
    /// Lays out all panels.
    pub(super) fn layout(&mut self, ui: &mut Ui) {
        self.shortcuts(ui);
        // Updated before the panels that show them.
        let ctx = ui.ctx().clone();
        self.update_scopes(&ctx);
        egui::Panel::top("bar").show(ui, |ui| self.bar(ui));
        egui::Panel::bottom("status").exact_size(26.0).show(ui, |ui| self.status(ui));
        if self.workspace.is_none() && self.loading.is_some() {
            // Loading takes the whole window.
            egui::CentralPanel::default().show(ui, |_| {});
        } else if self.workspace.is_none() || self.gallery {
            egui::CentralPanel::default().show(ui, |ui| self.show_gallery(ui));
        } else {
            // A small window has panels of its own ids, so that the normal ones keep their widths.
            let size = ui.ctx().content_rect().size();
            let small = f64::from(size.x) < MIN_WINDOW_SIZE.width
                || f64::from(size.y) < MIN_WINDOW_SIZE.height;
            let id = |name: &str| {
                egui::Id::new(if small { format!("{name} of a small window") } else { name.into() })
            };
            if self.sides {
                self.show_sides(ui, id);
            }
            if self.scopes.open {
                egui::Panel::bottom(id("scopes"))
                    .default_size(190.0)
                    .min_size(150.0)
                    .resizable(true)
                    .show(ui, |ui| self.show_scopes(ui));
            }
            egui::CentralPanel::no_frame().show(ui, |ui| self.picture(ui));
        }
        self.show_mixer(ui);
        self.show_loading(ui);
        self.notices(ui);
        self.dialogs(ui);
        self.show_palette(ui);
        let ctx = ui.ctx().clone();
        self.follow_snapshots(&ctx);
    }

    /// The side panels: outliner and inspector.
    fn show_sides(&mut self, ui: &mut Ui, id: impl Fn(&str) -> egui::Id) {
        egui::Panel::left(id("outliner"))
            .default_size(210.0)
            .min_size(150.0)
            .resizable(true)
            .show(ui, |ui| self.outliner(ui));
        egui::Panel::right(id("inspector"))
            .default_size(300.0)
            .min_size(220.0)
            .resizable(true)
            .show(ui, |ui| self.inspector(ui));
    }

    fn shortcuts(&mut self, ui: &Ui) {
        let ctx = ui.ctx().clone();
        let pressed =
            |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));
        // Text fields have their own undo.
        if !ctx.text_edit_focused() {
            if pressed(&REDO) || pressed(&REDO_TOO) {
                self.redo();
            } else if pressed(&UNDO) {
                self.undo();
            }
        }
        if pressed(&SAVE) {
            self.save();
        }
        if pressed(&QUIT) {
            self.close();
        }
        if pressed(&PALETTE) {
            self.palette.toggle();
        }
        if pressed(&SIDES) {
            self.sides = !self.sides;
        }
        // Window systems report a copy event, not its key. egui copies selected text itself.
        let copies = ctx.input(|input| input.events.contains(&egui::Event::Copy));
        let marked = ctx
            .with_plugin(|marks: &mut LabelSelectionState| marks.has_selection())
            .unwrap_or(false);
        if copies && !marked && !ctx.egui_wants_keyboard_input() && self.workspace.is_some() {
            self.copy_reading();
        }
        // Unmodified keys go to a focused text field.
        if ctx.egui_wants_keyboard_input() || self.workspace.is_none() {
            return;
        }
        let key = |key: Key| ctx.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        if key(Key::F5) {
            self.reload_shaders();
        }
        if key(Key::Home) {
            self.home();
        }
        if key(Key::F) {
            self.frame_selected();
        }
        if key(Key::V) {
            self.reference_view.next_mode();
        }
        if key(Key::H) {
            self.scopes.open = !self.scopes.open;
        }
        if key(Key::X) {
            self.mixer.open = !self.mixer.open;
        }
        for (bracket, by) in [(Key::OpenBracket, -0.02), (Key::CloseBracket, 0.02)] {
            // A tap between two frames is down in neither, so events are read.
            let steps = ctx.input(|input| {
                input.num_presses(bracket).max(usize::from(input.key_down(bracket)))
            });
            if steps > 0 {
                self.reference_view.move_wipe(by * steps as f32);
            }
        }
        if key(Key::N) {
            let settings = self.settings();
            self.set_settings(WindowSettings { hdr: !settings.hdr, ..settings });
        }
        if key(Key::C) {
            self.scopes.next_overlay();
        }
        for (letter, tool) in [
            (Key::G, viewport::Tool::Move),
            (Key::R, viewport::Tool::Turn),
            (Key::T, viewport::Tool::Size),
            (Key::B, viewport::Tool::Flow),
        ] {
            if key(letter) {
                self.set_tool(tool);
            }
        }
        if key(Key::M) {
            self.set_tool(viewport::Tool::Meter);
        }
        if key(Key::P) {
            self.set_tool(viewport::Tool::Focus);
        }
        if key(Key::Escape) {
            self.set_tool(viewport::Tool::Select);
        }
        if key(Key::Space) {
            self.play();
        }
        if key(Key::F12) {
            self.screenshot();
        }
        for (number, mode) in [
            (Key::Num1, NavigationMode::Orbit),
            (Key::Num2, NavigationMode::Fly),
            (Key::Num3, NavigationMode::Walk),
        ] {
            if key(number) {
                self.set_camera_mode(mode);
            }
        }
    }

    fn bar(&mut self, ui: &mut Ui) {
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

    /// Progress of loading, with a cancel button.
    fn show_loading(&mut self, ui: &Ui) {
        let Some(loading) = &self.loading else { return };
        let text = format!(
            "Opening {}, {:.0} s",
            loading.request.name(),
            loading.since.elapsed().as_secs_f64()
        );
        let mut stop = false;
        egui::Area::new("opening".into())
            .anchor(egui::Align2::CENTER_CENTER, egui::Vec2::ZERO)
            .show(ui.ctx(), |ui| {
                egui::Frame::popup(ui.style()).show(ui, |ui| {
                    ui.horizontal(|ui| {
                        ui.spinner();
                        ui.label(text);
                        stop = ui.button("Cancel").on_hover_text("keeps the open scene").clicked();
                    });
                });
            });
        if stop || ui.input(|input| input.key_pressed(Key::Escape)) {
            self.cancel_opening();
        }
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
                ui.add(
                    inspector::drag(value)
                        .speed(1.0)
                        .range(low..=high)
                        .max_decimals(0)
                        .suffix(" nit"),
                )
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
            viewport::Tool::ALL.into_iter().partition(|(tool, ..)| tool.drags());
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
        } else if ui
            .add(inspector::drag(&mut time).speed(0.02).max_decimals(2).suffix(" s"))
            .changed()
        {
            work.viewport.seek(time);
            work.pointer.incident = None;
            self.reference_view.restart();
        }
    }

    /// Starts or pauses playback.
    fn play(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        if work.viewport.time().is_none() {
            return self.info("the scene has no animation".into());
        }
        work.viewport.set_playing(!work.viewport.is_playing());
        work.pointer.incident = None;
        self.reference_view.restart();
    }

    /// Writes the current picture beside the look, accumulated or not.
    pub(super) fn screenshot(&mut self) {
        let Some(work) = &self.workspace else { return };
        let Some(finished) = &work.viewport.last_frame else { return };
        let name = work.document.file().map_or_else(
            || PathBuf::from("picture"),
            |file| {
                // `name.look.toml` gives `name`, in any case.
                let less = |file: PathBuf, ending: &str| {
                    if output::has_extension(&file, ending) {
                        file.with_extension("")
                    } else {
                        file
                    }
                };
                less(less(file.to_owned(), "toml"), "look")
            },
        );
        let free = (0..10_000).find_map(|number| {
            let png = output::with_suffix(&name, &format!(".{number:04}.png"));
            (!png.exists()).then_some(png)
        });
        let Some(png) = free else {
            return self.error(format!(
                "{}: 10,000 numbered pictures exist; move some away",
                name.display()
            ));
        };
        let image = &finished.image;
        let nits: Vec<[f32; 4]> = image.nits.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect();
        let layers = [output::ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &nits }];
        let exr = png.with_extension("exr");
        let written = output::write_png(&png, image.width, image.height, &image.display)
            .and_then(|()| output::write_exr(&exr, image.width, image.height, 1.0, &layers));
        match written {
            Ok(()) => self.info(format!(
                "{} and .exr, {} of {} frames",
                png.display(),
                finished.samples[0],
                finished.samples[1]
            )),
            Err(error) => self.error(error.to_string()),
        }
    }

    /// Dialog for writing a sequence.
    fn sequence_dialog(&mut self, ctx: &egui::Context) {
        let Some((mut file, mut first, mut seconds, mut fps)) = self.sequence.take() else {
            return;
        };
        let mut open = true;
        egui::Modal::new("sequence".into()).show(ctx, |ui| {
            ui.heading("Write a sequence of pictures");
            ui.text_edit_singleline(&mut file)
                .on_hover_text("each file name gets the picture's number");
            egui::Grid::new("sequence").show(ui, |ui| {
                let value = |ui: &mut Ui, name: &str, value: &mut f64, unit: &str, range| {
                    ui.label(name);
                    ui.add(inspector::drag(value).speed(0.1).range(range).suffix(unit));
                    ui.end_row();
                };
                value(ui, "Start", &mut first, " s", -1e6..=1e6);
                value(ui, "Duration", &mut seconds, " s", 0.0..=1e5);
                value(ui, "Pictures per second", &mut fps, "", 0.1..=1000.0);
            });
            let count = (seconds * fps).round().clamp(1.0, 100_000.0) as u32;
            ui.label(format!(
                "{count} pictures of {}",
                self.workspace.as_ref().map_or("", |work| work
                    .viewport
                    .session
                    .camera_name
                    .as_str())
            ));
            ui.horizontal(|ui| {
                if ui.button("Write").clicked()
                    && let Some(work) = &mut self.workspace
                {
                    open = false;
                    let file = PathBuf::from(file.trim()).with_extension("png");
                    work.viewport.set_playing(false);
                    let size = work.viewport.full_size();
                    work.viewport.submit_job(Job::WriteSequence(Sequence {
                        file,
                        first,
                        fps,
                        count,
                        size,
                    }));
                }
                open &= !ui.button("Cancel").clicked()
                    && !ui.input(|input| input.key_pressed(Key::Escape));
            });
        });
        if open {
            self.sequence = Some((file, first, seconds, fps));
        }
    }

    /// True if no dialog is open.
    pub(super) fn no_dialog(&self) -> bool {
        let recovered = self.workspace.as_ref().is_some_and(|work| work.recovered.is_some());
        self.pending_close.is_none()
            && self.save_field.is_none()
            && self.sequence.is_none()
            && !recovered
    }

    /// Dialog about unsaved changes.
    fn unsaved_changes_dialog(&mut self, ctx: &egui::Context) {
        let Some(leave) = self.pending_close.clone() else { return };
        // Saved meanwhile by the save dialog.
        if self.workspace.as_ref().is_none_or(|work| !work.document.changed()) {
            return self.proceed();
        }
        if self.save_field.is_some() {
            return;
        }
        let (save, drop) = match leave {
            PendingClose::Close => ("Save and close", "Close without saving"),
            PendingClose::Open(_) => ("Save and open", "Open without saving"),
        };
        egui::Modal::new("leave".into()).show(ctx, |ui| {
            ui.heading("The look has unsaved changes");
            ui.horizontal(|ui| {
                if ui.button(save).clicked() {
                    self.save();
                    if self.save_field.is_none()
                        && self.workspace.as_ref().is_some_and(|work| work.document.changed())
                    {
                        // Saving failed and was reported.
                        self.pending_close = None;
                    }
                }
                if ui.button(drop).clicked() {
                    if let Some(work) = &mut self.workspace {
                        work.document.discard();
                    }
                    self.proceed();
                }
                if ui.button("Cancel").clicked() || ui.input(|input| input.key_pressed(Key::Escape))
                {
                    self.pending_close = None;
                }
            });
        });
    }

    /// Dialog for the look's file.
    fn save_dialog(&mut self, ctx: &egui::Context) {
        let Some(mut place) = self.save_field.take() else { return };
        let mut open = true;
        egui::Modal::new("save".into()).show(ctx, |ui| {
            ui.heading("Save the look as");
            let field = ui.text_edit_singleline(&mut place);
            if field.changed() {
                self.replaces = None;
            }
            field.request_focus();
            let entered = ui.input(|input| input.key_pressed(Key::Enter));
            let file = PathBuf::from(place.trim());
            let asked = self.replaces.as_ref() == Some(&file);
            if asked {
                ui.label(
                    egui::RichText::new(format!("{} exists already", file.display()))
                        .color(status::ERROR_COLOR),
                );
            }
            ui.horizontal(|ui| {
                if ui.button(if asked { "Replace" } else { "Save" }).clicked() || entered {
                    let own = self.workspace.as_ref().and_then(|work| work.document.file())
                        == Some(file.as_path());
                    if file.exists() && !own && !asked {
                        self.replaces = Some(file);
                    } else if let Some(work) = &mut self.workspace {
                        open = false;
                        match work.document.save_as(file) {
                            Ok(file) => self.info(format!("saved {}", file.display())),
                            Err(error) => {
                                self.pending_close = None;
                                self.error(error.to_string());
                            }
                        }
                    }
                }
                if ui.button("Cancel").clicked() || ui.input(|input| input.key_pressed(Key::Escape))
                {
                    (open, self.pending_close) = (false, None);
                }
            });
        });
        if open {
            self.save_field = Some(place);
        } else {
            self.replaces = None;
        }
    }

    fn dialogs(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.unsaved_changes_dialog(&ctx);
        self.save_dialog(&ctx);
        self.sequence_dialog(&ctx);
        let recovered = self.workspace.as_mut().and_then(|work| work.recovered.take());
        if let Some(recovered) = recovered {
            let (mut take, mut leave) = (false, false);
            egui::Modal::new("recovered".into()).show(&ctx, |ui| {
                ui.heading("Restore the autosave?");
                ui.label(format!(
                    "{} holds unsaved changes of an earlier run.",
                    recovered.file.display()
                ));
                ui.horizontal(|ui| {
                    take = ui.button("Restore").clicked();
                    leave = ui.button("Not now").clicked();
                });
            });
            match &mut self.workspace {
                Some(work) if take => work.document.restore(recovered),
                Some(work) if !leave => work.recovered = Some(recovered),
                _ => {}
            }
            if take {
                self.apply_document();
            }
        }
    }
}
