//! The light mixer: what each light gives to the picture is drawn once, and then balanced without drawing anything again.

use std::sync::Arc;

use egui::{ColorImage, RichText, TextureHandle, TextureOptions, Ui};
use glam::Vec3;

use super::{inspector, outliner};
use crate::{
    studio::preview::Development,
    viewer::{
        app::App,
        background::Background,
        stage::{Errand, Mixed},
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
const MOST: f64 = 8.0;

/// A picture to be put together.
struct Sum {
    mixed: Arc<Mixed>,
    factors: Vec<f32>,
    development: Development,
}

/// The mixer's state.
#[derive(Default)]
pub struct Mixer {
    /// Whether it is shown.
    pub open: bool,
    mixed: Option<Arc<Mixed>>,
    /// The picture is being taken apart.
    waits: bool,
    /// First of what is beyond the lights, then of each light.
    faders: Vec<Fader>,
    sums: Option<Background<Sum, (usize, ColorImage)>>,
    /// The faders of the sum that was asked for last.
    asked: Option<Vec<Fader>>,
    shown: Option<TextureHandle>,
}

impl Mixer {
    /// The parts, where they are of the picture that is wanted now.
    fn current(&self, order: u64) -> Option<&Arc<Mixed>> {
        self.mixed.as_ref().filter(|mixed| mixed.order == order)
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
    pub(in crate::viewer) fn take(&mut self, mixed: Option<Mixed>) {
        self.waits = false;
        if let Some(mixed) = mixed {
            self.faders = vec![Fader::default(); mixed.lights.len() + 1];
            (self.mixed, self.asked) = (Some(Arc::new(mixed)), None);
        }
    }

    /// Sets a light's fader; false where there is no such light.
    pub fn set(&mut self, light: &str, fader: Fader) -> bool {
        let Some(mixed) = &self.mixed else { return false };
        let found = mixed.lights.iter().position(|(name, _)| name == light);
        let slot = found.and_then(|index| self.faders.get_mut(index + 1));
        slot.map(|slot| *slot = fader).is_some()
    }

    /// The picture in nits as the faders have it.
    #[must_use]
    pub fn sum(&self) -> Option<Vec<[f32; 3]>> {
        let factors: Vec<f32> = self.faders.iter().map(|fader| fader.factor()).collect();
        self.mixed.as_ref().map(|mixed| mixed.with(&factors))
    }

    /// The mixed picture, while it differs from the one that is drawn.
    pub(super) fn shown(&self, order: u64) -> Option<&TextureHandle> {
        let moved = self.faders.iter().any(|fader| *fader != Fader::default());
        self.shown.as_ref().filter(|_| self.open && moved && self.ready(order))
    }
}

impl App {
    /// Has each light drawn alone.
    pub fn take_apart(&mut self) {
        let Some(work) = &mut self.work else { return };
        let looks = &work.stage.opened.look.lights;
        let on = |name: &String| looks.get(name).and_then(|look| look.enabled) != Some(false);
        let lights: Vec<String> = outliner::lights(&work.stage).into_iter().filter(on).collect();
        if work.stage.finished.is_none() {
            return self.complain("wait for the first picture".into());
        }
        work.stage.send_on(Errand::Mix(lights));
        self.mixer.waits = true;
    }

    /// Puts the picture together anew where a fader has moved.
    pub(super) fn update_mixer(&mut self, ctx: &egui::Context) {
        let Some(work) = &self.work else { return };
        let mixer = &mut self.mixer;
        let Some(mixed) = mixer.current(work.stage.order()).cloned() else { return };
        if let Some((parts, image)) = mixer.sums.as_ref().and_then(Background::result)
            && parts == mixer.faders.len()
        {
            mixer.shown = Some(ctx.load_texture("mixed", image, TextureOptions::LINEAR));
        }
        if mixer.asked.as_ref() == Some(&mixer.faders) {
            return;
        }
        let passes = &work.stage.opened.look.passes;
        let development = Development {
            exposure: mixed.exposed.exposure,
            white_balance: mixed.white_balance,
            mapper: passes.tone_mapper.unwrap_or_default(),
            dither: passes.dither.unwrap_or(true),
        };
        let faders = mixer.faders.clone();
        let sums = match &mut mixer.sums {
            Some(sums) => Ok(&*sums),
            none @ None => Background::new("mixer", Arc::clone(&self.wake), put_together).map(|new| &*none.insert(new)),
        };
        match sums {
            Ok(sums) => {
                sums.ask(Sum { mixed, factors: faders.iter().map(|fader| fader.factor()).collect(), development });
                mixer.asked = Some(faders);
            }
            Err(error) => {
                mixer.open = false;
                self.complain(format!("no thread for the mixer: {error}"));
            }
        }
    }

    /// The mixer's own window.
    pub(super) fn show_mixer(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.update_mixer(&ctx);
        let Some(work) = &self.work else { return };
        let order = work.stage.order();
        let mut open = self.mixer.open;
        let (mut again, mut apply, mut reset) = (false, false, false);
        egui::Window::new("Light mixer").open(&mut open).resizable(false).default_pos([230.0, 60.0]).show(&ctx, |ui| {
            let mixer = &mut self.mixer;
            let there = mixer.ready(order);
            if mixer.waits {
                ui.label("each light is drawn alone ...");
            } else if !there {
                let why = if mixer.mixed.is_some() { "the picture has changed" } else { "nothing is taken apart yet" };
                ui.label(why);
                again = ui.button("Draw each light alone").clicked();
            }
            let Some(mixed) = mixer.mixed.clone().filter(|_| there) else { return };
            let names =
                std::iter::once("Surroundings and what glows").chain(mixed.lights.iter().map(|(n, _)| n.as_str()));
            egui::ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                egui::Grid::new("faders").num_columns(3).show(ui, |ui| {
                    for (name, fader) in names.zip(&mut mixer.faders) {
                        let mut on = !fader.off;
                        ui.checkbox(&mut on, name);
                        fader.off = !on;
                        ui.add(egui::Slider::new(&mut fader.stops, -MOST..=MOST).show_value(false));
                        ui.add(inspector::drag(&mut fader.stops).speed(0.02).range(-MOST..=MOST).suffix(" stops"));
                        ui.end_row();
                    }
                });
            });
            ui.horizontal(|ui| {
                apply = ui.button("Into the look").on_hover_text("strengths of the lights, as one step").clicked();
                reset = ui.button("Back").clicked();
            });
            ui.label(RichText::new("without grain; bloom and lens as in the picture").weak());
        });
        self.mixer.open = open;
        if again {
            self.take_apart();
        }
        if reset {
            self.mixer.faders.fill(Fader::default());
        }
        if apply {
            self.keep_mix();
        }
    }

    /// Puts the faders into the look: lights get their strengths in the units that they have, those that are off are switched off.
    pub fn keep_mix(&mut self) {
        let Some(work) = &self.work else { return };
        let Some(mixed) = self.mixer.current(work.stage.order()) else { return };
        let mut changes: Vec<(String, Option<String>)> = Vec::new();
        for ((name, _), fader) in mixed.lights.iter().zip(self.mixer.faders.iter().skip(1)) {
            if fader.off {
                changes.push((format!("lights.{name}.enabled"), Some("false".into())));
            } else if fader.stops != 0.0
                && let Some((light, _)) = inspector::light_of(&work.stage, name)
                && let Some((property, value)) = inspector::strength(light)
            {
                // EV counts stops itself.
                let value = if property == "ev100" { value + fader.stops } else { value * fader.stops.exp2() };
                changes.push((format!("lights.{name}.{property}"), Some(inspector::short(value))));
            }
        }
        let beyond = self.mixer.faders.first().is_some_and(|fader| *fader != Fader::default());
        let changes: Vec<(&str, Option<&str>)> =
            changes.iter().map(|(path, value)| (path.as_str(), value.as_deref())).collect();
        if beyond {
            self.say("surroundings keep their strength: set environment.lux or the sky's own properties".into());
        }
        if !changes.is_empty() {
            self.set(&changes);
        }
        self.mixer.faders.fill(Fader::default());
    }
}

/// A sum of the parts as the display shows it, and of how many parts it is.
fn put_together(sum: Sum) -> (usize, ColorImage) {
    let Sum { mixed, factors, development } = sum;
    let nits = mixed.with(&factors);
    let bytes = development.display(nits.iter().map(|c| Vec3::from_array(*c).as_dvec3()), mixed.size[0]);
    // Alpha is 1 everywhere.
    (factors.len(), ColorImage::from_rgba_premultiplied(mixed.size, &bytes))
}
