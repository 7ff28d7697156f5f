//! Light mixer: renders each light's contribution once, then balances them without rendering again.

use egui::{RichText, Ui};

use super::{
    fields::{drag, short},
    inspector::strength,
};
pub use crate::viewer::mixer::{Fader, Mixer};
use crate::viewer::{
    app::App,
    scene_items::{light_of, lights},
    viewport::Job,
};

/// Maximum absolute gain of a fader (stops).
const MAX_STOPS: f64 = 8.0;

impl App {
    /// Renders each light's contribution.
    pub fn separate_lights(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        let looks = &work.viewport.session.look.lights;
        let on = |name: &String| looks.get(name).and_then(|look| look.enabled) != Some(false);
        let lights: Vec<String> = lights(&work.viewport).into_iter().filter(on).collect();
        if work.viewport.last_frame.is_none() {
            return self.error("wait for the first picture".into());
        }
        work.viewport.submit_job(Job::SeparateLights(lights));
        self.mixer.waits = true;
    }

    /// Recomputes the sum after a fader has moved.
    fn update_mixer(&mut self, ctx: &egui::Context) {
        let Some(work) = &self.workspace else { return };
        if let Err(error) = self.mixer.update(ctx, &work.viewport, &self.wake) {
            self.error(error);
        }
    }

    /// The mixer's window.
    pub(super) fn show_mixer(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.update_mixer(&ctx);
        let Some(work) = &self.workspace else { return };
        let order = work.viewport.request_id();
        let mut open = self.mixer.open;
        let (mut again, mut apply, mut reset) = (false, false, false);
        egui::Window::new("Light mixer")
            .open(&mut open)
            .resizable(false)
            .default_pos([230.0, 60.0])
            .show(&ctx, |ui| {
                let mixer = &mut self.mixer;
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
                    again = ui.button("Separate lights").clicked();
                }
                let Some(mixed) = mixer.contributions.clone().filter(|_| there) else { return };
                let names = std::iter::once("Environment and emission")
                    .chain(mixed.lights.iter().map(|(n, _)| n.as_str()));
                egui::ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                    egui::Grid::new("faders").num_columns(3).show(ui, |ui| {
                        for (name, fader) in names.zip(&mut mixer.faders) {
                            let mut on = !fader.off;
                            ui.checkbox(&mut on, name);
                            fader.off = !on;
                            ui.add(
                                egui::Slider::new(&mut fader.stops, -MAX_STOPS..=MAX_STOPS)
                                    .show_value(false),
                            );
                            ui.add(
                                drag(&mut fader.stops)
                                    .speed(0.02)
                                    .range(-MAX_STOPS..=MAX_STOPS)
                                    .suffix(" stops"),
                            );
                            ui.end_row();
                        }
                    });
                });
                ui.horizontal(|ui| {
                    apply = ui
                        .button("Apply to look")
                        .on_hover_text("sets the strengths of the lights, as one undo step")
                        .clicked();
                    reset = ui.button("Reset").clicked();
                });
                ui.label(RichText::new("without grain; bloom and lens as in the picture").weak());
            });
        self.mixer.open = open;
        if again {
            self.separate_lights();
        }
        if reset {
            self.mixer.faders.fill(Fader::default());
        }
        if apply {
            self.apply_mix_to_look();
        }
    }

    /// Writes the faders to the look: light strengths change in their own units, muted lights are
    /// disabled.
    pub fn apply_mix_to_look(&mut self) {
        let Some(work) = &self.workspace else { return };
        let Some(mixed) = self.mixer.current(work.viewport.request_id()) else { return };
        let mut changes: Vec<(String, Option<String>)> = Vec::new();
        for ((name, _), fader) in mixed.lights.iter().zip(self.mixer.faders.iter().skip(1)) {
            if fader.off {
                changes.push((format!("lights.{name}.enabled"), Some("false".into())));
            } else if fader.stops != 0.0
                && let Some((light, _)) = light_of(&work.viewport, name)
                && let Some((property, value)) = strength(light)
            {
                // EV is in stops already.
                let value = if property == "ev100" {
                    value + fader.stops
                } else {
                    value * fader.stops.exp2()
                };
                changes.push((format!("lights.{name}.{property}"), Some(short(value))));
            }
        }
        let beyond = self.mixer.faders.first().is_some_and(|fader| *fader != Fader::default());
        let changes: Vec<(&str, Option<&str>)> =
            changes.iter().map(|(path, value)| (path.as_str(), value.as_deref())).collect();
        if beyond {
            self.info(
                "the mixer does not change the environment: set environment.lux or the sky's properties"
                    .into(),
            );
        }
        if !changes.is_empty() {
            self.set(&changes);
        }
        self.mixer.faders.fill(Fader::default());
    }
}
