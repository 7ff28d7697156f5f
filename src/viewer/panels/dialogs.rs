//! Dialogs: progress of loading, unsaved changes, the file of the look, sequences, autosaves.

use std::path::PathBuf;

use egui::{Key, Ui};

use super::{
    fields::{drag, named},
    status::ERROR_COLOR,
};
use crate::viewer::{
    action::{Actions, DocumentAction, EngineAction, SceneAction},
    state::{PanelState, PendingClose, ViewState},
    viewport::Sequence,
};

/// Progress of loading, with a cancel button.
pub(super) fn show_loading(ui: &Ui, state: &ViewState, actions: &mut Actions) {
    let Some(loading) = &state.loading else { return };
    let text = format!(
        "Opening {}, {:.0} s",
        loading.request.name(),
        loading.since.elapsed().as_secs_f64()
    );
    let mut stop = false;
    egui::Area::new("opening".into()).anchor(egui::Align2::CENTER_CENTER, egui::Vec2::ZERO).show(
        ui.ctx(),
        |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label(text);
                    stop = ui.button("Cancel").on_hover_text("keeps the open scene").clicked();
                });
            });
        },
    );
    if stop || ui.input(|input| input.key_pressed(Key::Escape)) {
        actions.push(SceneAction::CancelOpening);
    }
}

/// Dialog for writing a sequence.
pub(super) fn sequence(
    ctx: &egui::Context,
    state: &ViewState,
    panels: &mut PanelState,
    actions: &mut Actions,
) {
    let Some(mut form) = panels.sequence.take() else { return };
    let mut open = true;
    egui::Modal::new("sequence".into()).show(ctx, |ui| {
        ui.heading("Write a sequence of pictures");
        named(ui.text_edit_singleline(&mut form.file), "File of the sequence")
            .on_hover_text("each file name gets the picture's number");
        egui::Grid::new("sequence").show(ui, |ui| {
            let value = |ui: &mut Ui, name: &str, value: &mut f64, unit: &str, range| {
                ui.label(name);
                named(ui.add(drag(value).speed(0.1).range(range).suffix(unit)), name);
                ui.end_row();
            };
            value(ui, "Start", &mut form.first, " s", -1e6..=1e6);
            value(ui, "Duration", &mut form.seconds, " s", 0.0..=1e5);
            value(ui, "Pictures per second", &mut form.fps, "", 0.1..=1000.0);
        });
        let count = (form.seconds * form.fps).round().clamp(1.0, 100_000.0) as u32;
        ui.label(format!(
            "{count} pictures of {}",
            state.workspace.as_ref().map_or("", |work| &work.viewport.session.camera_name)
        ));
        ui.horizontal(|ui| {
            if ui.button("Write").clicked()
                && let Some(work) = &state.workspace
            {
                open = false;
                actions.push(EngineAction::WriteSequence(Sequence {
                    file: PathBuf::from(form.file.trim()).with_extension("png"),
                    first: form.first,
                    fps: form.fps,
                    count,
                    size: work.viewport.full_size(),
                }));
            }
            open &=
                !ui.button("Cancel").clicked() && !ui.input(|input| input.key_pressed(Key::Escape));
        });
    });
    if open {
        panels.sequence = Some(form);
    }
}

/// Dialog about unsaved changes.
pub(super) fn unsaved_changes(
    ctx: &egui::Context,
    state: &ViewState,
    panels: &PanelState,
    actions: &mut Actions,
) {
    let Some(leave) = &state.pending_close else { return };
    // Saved meanwhile by the save dialog.
    if !state.unsaved() {
        return actions.push(SceneAction::Proceed);
    }
    if panels.save_path.is_some() {
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
                actions.push(DocumentAction::SaveAndProceed);
            }
            if ui.button(drop).clicked() {
                actions.push(DocumentAction::DiscardAndProceed);
            }
            if ui.button("Cancel").clicked() || ui.input(|input| input.key_pressed(Key::Escape)) {
                actions.push(SceneAction::Stay);
            }
        });
    });
}

/// Dialog for the look's file.
pub(super) fn save(
    ctx: &egui::Context,
    state: &ViewState,
    panels: &mut PanelState,
    actions: &mut Actions,
) {
    let Some(mut place) = panels.save_path.take() else { return };
    let mut open = true;
    egui::Modal::new("save".into()).show(ctx, |ui| {
        ui.heading("Save the look as");
        let field = named(ui.text_edit_singleline(&mut place), "File of the look");
        if field.changed() {
            panels.replaces = None;
        }
        field.request_focus();
        let entered = ui.input(|input| input.key_pressed(Key::Enter));
        let file = PathBuf::from(place.trim());
        let asked = panels.replaces.as_ref() == Some(&file);
        if asked {
            ui.label(
                egui::RichText::new(format!("{} exists already", file.display()))
                    .color(ERROR_COLOR),
            );
        }
        ui.horizontal(|ui| {
            if ui.button(if asked { "Replace" } else { "Save" }).clicked() || entered {
                let work = state.workspace.as_ref();
                let own = work.and_then(|work| work.document.file()) == Some(file.as_path());
                if file.exists() && !own && !asked {
                    panels.replaces = Some(file);
                } else if work.is_some() {
                    open = false;
                    actions.push(DocumentAction::SaveAs(file));
                }
            }
            if ui.button("Cancel").clicked() || ui.input(|input| input.key_pressed(Key::Escape)) {
                open = false;
                actions.push(SceneAction::Stay);
            }
        });
    });
    if open {
        panels.save_path = Some(place);
    } else {
        panels.replaces = None;
    }
}

/// Dialog about the autosave of an earlier run.
pub(super) fn autosave(ctx: &egui::Context, state: &ViewState, actions: &mut Actions) {
    let Some(recovered) = state.workspace.as_ref().and_then(|work| work.recovered.as_ref()) else {
        return;
    };
    egui::Modal::new("recovered".into()).show(ctx, |ui| {
        ui.heading("Restore the autosave?");
        ui.label(format!("{} holds unsaved changes of an earlier run.", recovered.file.display()));
        ui.horizontal(|ui| {
            if ui.button("Restore").clicked() {
                actions.push(DocumentAction::Recover(true));
            }
            if ui.button("Not now").clicked() {
                actions.push(DocumentAction::Recover(false));
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;

    use super::*;
    use crate::viewer::panels::testing::PanelTest;

    #[test]
    fn without_unsaved_changes_the_pending_action_proceeds() {
        let mut test = PanelTest::new(|ui, state, panels, actions| {
            unsaved_changes(ui.ctx(), state, panels, actions);
        });
        assert_eq!(test.frame(vec![]), []);
        test.state.pending_close = Some(PendingClose::Close);
        assert_eq!(test.frame(vec![]), [SceneAction::Proceed.into()]);
    }

    #[test]
    fn the_save_dialog_closes_on_escape_and_warns_of_an_existing_file() {
        let mut test = PanelTest::new(|ui, state, panels, actions| {
            save(ui.ctx(), state, panels, actions);
        });
        let existing = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        test.panels.save_path = Some(existing.display().to_string());
        test.frame(vec![]);
        assert_eq!(test.press(Modifiers::NONE, Key::Enter), []);
        assert_eq!(test.panels.replaces, Some(existing));
        assert!(test.shows("Replace"));
        assert_eq!(test.press(Modifiers::NONE, Key::Escape), [SceneAction::Stay.into()]);
        assert_eq!((test.panels.save_path.take(), test.panels.replaces.take()), (None, None));
    }
}
