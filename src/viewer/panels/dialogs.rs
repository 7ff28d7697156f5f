//! Dialogs: progress of loading, unsaved changes, the file of the look, sequences, autosaves.

use std::path::PathBuf;

use egui::{Key, Ui};

use super::{fields::drag, status::ERROR_COLOR};
use crate::viewer::{
    app::{App, PendingClose},
    viewport::{Job, Sequence},
};

impl App {
    /// Progress of loading, with a cancel button.
    pub(super) fn show_loading(&mut self, ui: &Ui) {
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
                    ui.add(drag(value).speed(0.1).range(range).suffix(unit));
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
                        .color(ERROR_COLOR),
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

    /// Shows the open dialog.
    pub(super) fn dialogs(&mut self, ui: &mut Ui) {
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
