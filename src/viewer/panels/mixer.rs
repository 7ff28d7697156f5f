//! The light mixer: what each light gives to the picture is drawn once, and then balanced without
//! drawing anything again.

use std::sync::Arc;

use egui::{ColorImage, RichText, TextureHandle, TextureOptions, Ui};
use glam::Vec3;

use super::{inspector, outliner};
use crate::{
    session::preview::ViewTransform,
    viewer::{
        app::App,
        background::BackgroundWorker,
        viewport::{Job, LightContributions},
    },
};

/// One part's share of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fader {
    /// By how many stops it is more than it was.
    pub stops: f64,
    /// It gives nothing.
    pub off: bool,
}

impl Fader {
    fn factor(self) -> f32 {
        if self.off { 0.0 } else { self.stops.exp2() as f32 }
    }
}

/// Stops that a fader goes to at most, both ways.
const MAX_STOPS: f64 = 8.0;

/// A picture to be put together.
struct Sum {
    mixed: Arc<LightContributions>,
    factors: Vec<f32>,
    development: ViewTransform,
}

/// The mixer's state.
#[derive(Default)]
pub struct Mixer {
    /// Whether it is shown.
    pub open: bool,
    contributions: Option<Arc<LightContributions>>,
    /// The picture is being taken apart.
    waits: bool,
    /// First of what is beyond the lights, then of each light.
    faders: Vec<Fader>,
    sums: Option<BackgroundWorker<Sum, (usize, ColorImage)>>,
    /// The faders of the sum that was asked for last.
    asked: Option<Vec<Fader>>,
    shown: Option<TextureHandle>,
}

impl Mixer {
    /// The parts, where they are of the picture that is wanted now.
    fn current(&self, order: u64) -> Option<&Arc<LightContributions>> {
        self.contributions.as_ref().filter(|mixed| mixed.request_id == order)
    }

    /// Whether the parts of the picture of this wish are there.
    #[must_use]
    pub fn ready(&self, order: u64) -> bool {
        self.current(order).is_some()
    }

    /// Lets the parts go: another scene is open.
    pub(in crate::viewer) fn forget(&mut self) {
        *self = Self { open: self.open, ..Self::default() };
    }

    /// Takes what each light gives, or that it is not to be had.
    pub(in crate::viewer) fn take(&mut self, mixed: Option<LightContributions>) {
        self.waits = false;
        if let Some(mixed) = mixed {
            self.faders = vec![Fader::default(); mixed.lights.len() + 1];
            (self.contributions, self.asked) = (Some(Arc::new(mixed)), None);
        }
    }

    /// Sets a light's fader; false where there is no such light.
    pub fn set(&mut self, light: &str, fader: Fader) -> bool {
        let Some(mixed) = &self.contributions else { return false };
        let found = mixed.lights.iter().position(|(name, _)| name == light);
        let slot = found.and_then(|index| self.faders.get_mut(index + 1));
        slot.map(|slot| *slot = fader).is_some()
    }

    /// The picture in nits as the faders have it.
    #[must_use]
    pub fn sum(&self) -> Option<Vec<[f32; 3]>> {
        let factors: Vec<f32> = self.faders.iter().map(|fader| fader.factor()).collect();
        self.contributions.as_ref().map(|mixed| mixed.combine(&factors))
    }

    /// The mixed picture, while it differs from the one that is drawn.
    pub(super) fn shown(&self, order: u64) -> Option<&TextureHandle> {
        let moved = self.faders.iter().any(|fader| *fader != Fader::default());
        self.shown.as_ref().filter(|_| self.open && moved && self.ready(order))
    }
}

impl App {
    /// Has each light drawn alone.
    pub fn separate_lights(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        let looks = &work.viewport.session.look.lights;
        let on = |name: &String| looks.get(name).and_then(|look| look.enabled) != Some(false);
        let lights: Vec<String> = outliner::lights(&work.viewport).into_iter().filter(on).collect();
        if work.viewport.last_frame.is_none() {
            return self.error("wait for the first picture".into());
        }
        work.viewport.submit_job(Job::SeparateLights(lights));
        self.mixer.waits = true;
    }

    /// Puts the picture together anew where a fader has moved.
    pub(super) fn update_mixer(&mut self, ctx: &egui::Context) {
        let Some(work) = &self.workspace else { return };
        let mixer = &mut self.mixer;
        let Some(mixed) = mixer.current(work.viewport.request_id()).cloned() else { return };
        if let Some((parts, image)) = mixer.sums.as_ref().and_then(BackgroundWorker::result)
            && parts == mixer.faders.len()
        {
            mixer.shown = Some(ctx.load_texture("mixed", image, TextureOptions::LINEAR));
        }
        if mixer.asked.as_ref() == Some(&mixer.faders) {
            return;
        }
        let passes = &work.viewport.session.look.passes;
        let development = ViewTransform {
            exposure: mixed.exposed.exposure,
            white_balance: mixed.white_balance,
            mapper: passes.tone_mapper.unwrap_or_default(),
            dither: passes.dither.unwrap_or(true),
        };
        let faders = mixer.faders.clone();
        let sums = match &mut mixer.sums {
            Some(sums) => Ok(&*sums),
            none @ None => BackgroundWorker::new("mixer", Arc::clone(&self.wake), composite)
                .map(|new| &*none.insert(new)),
        };
        match sums {
            Ok(sums) => {
                sums.submit(Sum {
                    mixed,
                    factors: faders.iter().map(|fader| fader.factor()).collect(),
                    development,
                });
                mixer.asked = Some(faders);
            }
            Err(error) => {
                mixer.open = false;
                self.error(format!("no thread for the mixer: {error}"));
            }
        }
    }

    /// The mixer's own window.
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
                    ui.label("each light is drawn alone ...");
                } else if !there {
                    let why = if mixer.contributions.is_some() {
                        "the picture has changed"
                    } else {
                        "nothing is taken apart yet"
                    };
                    ui.label(why);
                    again = ui.button("Draw each light alone").clicked();
                }
                let Some(mixed) = mixer.contributions.clone().filter(|_| there) else { return };
                let names = std::iter::once("Surroundings and what glows")
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
                                inspector::drag(&mut fader.stops)
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
                        .button("Into the look")
                        .on_hover_text("strengths of the lights, as one step")
                        .clicked();
                    reset = ui.button("Back").clicked();
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

    /// Puts the faders into the look: lights get their strengths in the units that they have, those
    /// that are off are switched off.
    pub fn apply_mix_to_look(&mut self) {
        let Some(work) = &self.workspace else { return };
        let Some(mixed) = self.mixer.current(work.viewport.request_id()) else { return };
        let mut changes: Vec<(String, Option<String>)> = Vec::new();
        for ((name, _), fader) in mixed.lights.iter().zip(self.mixer.faders.iter().skip(1)) {
            if fader.off {
                changes.push((format!("lights.{name}.enabled"), Some("false".into())));
            } else if fader.stops != 0.0
                && let Some((light, _)) = inspector::light_of(&work.viewport, name)
                && let Some((property, value)) = inspector::strength(light)
            {
                // EV counts stops itself.
                let value = if property == "ev100" {
                    value + fader.stops
                } else {
                    value * fader.stops.exp2()
                };
                changes.push((format!("lights.{name}.{property}"), Some(inspector::short(value))));
            }
        }
        let beyond = self.mixer.faders.first().is_some_and(|fader| *fader != Fader::default());
        let changes: Vec<(&str, Option<&str>)> =
            changes.iter().map(|(path, value)| (path.as_str(), value.as_deref())).collect();
        if beyond {
            self.info(
                "surroundings keep their strength: set environment.lux or the sky's own properties"
                    .into(),
            );
        }
        if !changes.is_empty() {
            self.set(&changes);
        }
        self.mixer.faders.fill(Fader::default());
    }
}

/// A sum of the parts as the display shows it, and of how many parts it is.
fn composite(sum: Sum) -> (usize, ColorImage) {
    let Sum { mixed, factors, development } = sum;
    let nits = mixed.combine(&factors);
    let bytes =
        development.display(nits.iter().map(|c| Vec3::from_array(*c).as_dvec3()), mixed.size[0]);
    // Alpha is 1 everywhere.
    (factors.len(), ColorImage::from_rgba_premultiplied(mixed.size, &bytes))
}
