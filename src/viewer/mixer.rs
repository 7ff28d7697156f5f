//! Light mixer: weighted sums of the contributions of lights to a picture.

use std::sync::Arc;

use egui::{ColorImage, TextureHandle, TextureOptions};
use glam::Vec3;

use super::{
    background::BackgroundWorker,
    viewport::{LightContributions, Viewport},
    wake::Wake,
};
use crate::session::preview::ViewTransform;

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
    pub(super) contributions: Option<Arc<LightContributions>>,
    /// Separation of the lights is in progress.
    pub(super) waits: bool,
    /// First the environment and emission, then the lights.
    pub(super) faders: Vec<Fader>,
    sums: Option<BackgroundWorker<Sum, (usize, ColorImage)>>,
    /// The faders of the last requested sum.
    requested_faders: Option<Vec<Fader>>,
    shown: Option<TextureHandle>,
}

impl Mixer {
    /// The contributions, if they belong to the current request.
    pub(super) fn current(&self, order: u64) -> Option<&Arc<LightContributions>> {
        self.contributions.as_ref().filter(|mixed| mixed.request_id == order)
    }

    /// True if the contributions of this request's picture are available.
    #[must_use]
    pub fn ready(&self, order: u64) -> bool {
        self.current(order).is_some()
    }

    /// Drops the contributions, because another scene is opened.
    pub(super) fn forget(&mut self) {
        *self = Self { open: self.open, ..Self::default() };
    }

    /// Takes the lights' contributions; none if they failed.
    pub(super) fn take(&mut self, mixed: Option<LightContributions>) {
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

    /// Recomputes the sum after a fader has moved; an error, as text, closes the mixer.
    pub(super) fn update(
        &mut self,
        ctx: &egui::Context,
        viewport: &Viewport,
        wake: &Wake,
    ) -> Result<(), String> {
        let Some(mixed) = self.current(viewport.request_id()).cloned() else { return Ok(()) };
        let sum = BackgroundWorker::take_result(&mut self.sums).inspect_err(|_| self.close())?;
        if let Some((_, image)) = sum.filter(|(parts, _)| *parts == self.faders.len()) {
            self.shown = Some(ctx.load_texture("mixed", image, TextureOptions::LINEAR));
        }
        if self.requested_faders.as_ref() == Some(&self.faders) {
            return Ok(());
        }
        let tonemap = viewport.session.passes().tonemap;
        let development = ViewTransform {
            exposure: mixed.exposed.exposure,
            white_balance: mixed.white_balance,
            mapper: tonemap.operator,
            dither: tonemap.dither,
        };
        let faders = self.faders.clone();
        let factors = faders.iter().map(|fader| fader.factor()).collect();
        let sum = Sum { mixed, factors, development };
        BackgroundWorker::submit_to(&mut self.sums, "mixer", wake, composite, sum)
            .inspect_err(|_| self.close())?;
        self.requested_faders = Some(faders);
        Ok(())
    }

    /// Closes the mixer after an error of its thread.
    fn close(&mut self) {
        (self.open, self.requested_faders) = (false, None);
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
