//! Light mixer: renders each light's contribution once, then balances them without rendering again.

use egui::{RichText, Ui};

use super::fields::{drag, named};
pub use crate::viewer::mixer::{Fader, Mixer};
use crate::viewer::{
    action::{Actions, DocumentAction, EngineAction, ViewAction},
    state::ViewState,
};

/// Maximum absolute gain of a fader (stops).
const MAX_STOPS: f64 = 8.0;

/// The mixer's window.
pub(super) fn show(ui: &Ui, state: &ViewState, actions: &mut Actions) {
    let Some(work) = &state.workspace else { return };
    let order = work.viewport.request_id();
    let mixer = &state.mixer;
    let mut open = mixer.open;
    egui::Window::new("Light mixer")
        .open(&mut open)
        .resizable(false)
        .default_pos([230.0, 60.0])
        .show(ui.ctx(), |ui| {
            let there = mixer.ready(order);
            if mixer.waits {
                ui.label("separating the lights ...");
            } else if !there {
                let why = if mixer.contributions.is_some() {
                    "the picture has changed"
                } else {
                    "lights are not separated yet"
                };
                ui.label(why);
                if ui.button("Separate lights").clicked() {
                    actions.push(EngineAction::SeparateLights);
                }
            }
            let Some(mixed) = mixer.contributions.as_ref().filter(|_| there) else { return };
            let names = std::iter::once("Environment and emission")
                .chain(mixed.lights.iter().map(|(n, _)| n.as_str()));
            egui::ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                egui::Grid::new("faders").num_columns(3).show(ui, |ui| {
                    for (index, (name, now)) in names.zip(&mixer.faders).enumerate() {
                        let (mut fader, mut on) = (*now, !now.off);
                        ui.checkbox(&mut on, name);
                        fader.off = !on;
                        let slider = egui::Slider::new(&mut fader.stops, -MAX_STOPS..=MAX_STOPS);
                        named(ui.add(slider.show_value(false)), &format!("{name}: fader"));
                        let field = drag(&mut fader.stops)
                            .speed(0.02)
                            .range(-MAX_STOPS..=MAX_STOPS)
                            .suffix(" stops");
                        named(ui.add(field), &format!("{name}: stops"));
                        ui.end_row();
                        if fader != *now {
                            actions.push(ViewAction::Fader(index, fader));
                        }
                    }
                });
            });
            ui.horizontal(|ui| {
                if ui
                    .button("Apply to look")
                    .on_hover_text("sets the strengths of the lights, as one undo step")
                    .clicked()
                {
                    actions.push(DocumentAction::ApplyMix);
                }
                if ui.button("Reset").clicked() {
                    actions.push(ViewAction::ResetFaders);
                }
            });
            ui.label(RichText::new("without grain; bloom and lens as in the picture").weak());
        });
    if open != mixer.open {
        actions.push(ViewAction::ToggleMixer);
    }
}
