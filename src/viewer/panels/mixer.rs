//! Light mixer: renders each light's contribution once, then balances them without rendering again.

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

/// Weight of one part of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fader {
    /// Gain in stops.
    pub stops: f64,
    /// Mutes the part.
    pub off: bool,
}

impl Fader {
    fn factor(self) -> f32 {
        if self.off { 0.0 } else { self.stops.exp2() as f32 }
    }
}

/// Maximum absolute gain of a fader (stops).
const MAX_STOPS: f64 = 8.0;

/// A weighted sum to compute.
struct Sum {
    mixed: Arc<LightContributions>,
    factors: Vec<f32>,
    development: ViewTransform,
}

/// State of the mixer.
#[derive(Default)]
pub struct Mixer {
    /// True if it is visible.
    pub open: bool,
    contributions: Option<Arc<LightContributions>>,
    /// Separation of the lights is in progress.
    waits: bool,
    /// First the environment and emission, then the lights.
    faders: Vec<Fader>,
    sums: Option<BackgroundWorker<Sum, (usize, ColorImage)>>,
    /// The faders of the last requested sum.
    requested_faders: Option<Vec<Fader>>,
    shown: Option<TextureHandle>,
}

impl Mixer {
    /// The contributions, if they belong to the current request.
    fn current(&self, order: u64) -> Option<&Arc<LightContributions>> {
        self.contributions.as_ref().filter(|mixed| mixed.request_id == order)
    }

    /// True if the contributions of this request's picture are available.
    #[must_use]
    pub fn ready(&self, order: u64) -> bool {
        self.current(order).is_some()
    }

    /// Drops the contributions, because another scene is opened.
    pub(in crate::viewer) fn forget(&mut self) {
        *self = Self { open: self.open, ..Self::default() };
    }

    /// Takes the lights' contributions; none if they failed.
    pub(in crate::viewer) fn take(&mut self, mixed: Option<LightContributions>) {
        self.waits = false;
        if let Some(mixed) = mixed {
            self.faders = vec![Fader::default(); mixed.lights.len() + 1];
            (self.contributions, self.requested_faders) = (Some(Arc::new(mixed)), None);
        }
    }

    /// Sets a light's fader; false if there is no such light.
    pub fn set(&mut self, light: &str, fader: Fader) -> bool {
        let Some(mixed) = &self.contributions else { return false };
        let found = mixed.lights.iter().position(|(name, _)| name == light);
        let slot = found.and_then(|index| self.faders.get_mut(index + 1));
        slot.map(|slot| *slot = fader).is_some()
    }

    /// The mixed picture in nits.
    #[must_use]
    pub fn sum(&self) -> Option<Vec<[f32; 3]>> {
        let factors: Vec<f32> = self.faders.iter().map(|fader| fader.factor()).collect();
        self.contributions.as_ref().map(|mixed| mixed.combine(&factors))
    }

    /// The mixed picture, while it differs from the rendered one.
    pub(super) fn shown(&self, order: u64) -> Option<&TextureHandle> {
        let moved = self.faders.iter().any(|fader| *fader != Fader::default());
        self.shown.as_ref().filter(|_| self.open && moved && self.ready(order))
    }
}

impl App {
    /// Renders each light's contribution.
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

    /// Recomputes the sum after a fader has moved.
    pub(super) fn update_mixer(&mut self, ctx: &egui::Context) {
        let Some(work) = &self.workspace else { return };
        let mixer = &mut self.mixer;
        let Some(mixed) = mixer.current(work.viewport.request_id()).cloned() else { return };
        if let Some((parts, image)) = mixer.sums.as_ref().and_then(BackgroundWorker::result)
            && parts == mixer.faders.len()
        {
            mixer.shown = Some(ctx.load_texture("mixed", image, TextureOptions::LINEAR));
        }
        if mixer.requested_faders.as_ref() == Some(&mixer.faders) {
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
                mixer.requested_faders = Some(faders);
            }
            Err(error) => {
                mixer.open = false;
                self.error(format!("cannot start the mixer's thread: {error}"));
            }
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
                && let Some((light, _)) = inspector::light_of(&work.viewport, name)
                && let Some((property, value)) = inspector::strength(light)
            {
                // EV is in stops already.
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

/// The developed sum, and its number of parts.
fn composite(sum: Sum) -> (usize, ColorImage) {
    let Sum { mixed, factors, development } = sum;
    let nits = mixed.combine(&factors);
    let bytes =
        development.display(nits.iter().map(|c| Vec3::from_array(*c).as_dvec3()), mixed.size[0]);
    // Alpha is 1 everywhere.
    (factors.len(), ColorImage::from_rgba_premultiplied(mixed.size, &bytes))
}
