//! Work of the light mixer.

use super::App;
use crate::viewer::{
    action::Changes,
    light_strength::strength,
    mixer::Fader,
    number_text::short,
    scene_items::{light_of, lights},
    viewport::Job,
};

impl App {
    /// Renders each light's contribution.
    pub(super) fn separate_lights(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        let looks = &work.viewport.session.look.lights;
        let on = |name: &String| looks.get(name).and_then(|look| look.enabled) != Some(false);
        let lights: Vec<String> = lights(&work.viewport).into_iter().filter(on).collect();
        if work.viewport.last_frame.is_none() {
            return self.error("wait for the first picture".into());
        }
        work.viewport.submit_job(Job::SeparateLights(lights));
        self.state.mixer.waits = true;
    }

    /// Recomputes the sum after a fader has moved.
    pub(in crate::viewer) fn update_mixer(&mut self) {
        let Some(work) = &self.state.workspace else { return };
        if let Err(error) = self.state.mixer.update(&self.ctx, &work.viewport, &self.wake) {
            self.error(error);
        }
    }

    /// Writes the faders to the look: light strengths change in their own units, muted lights are
    /// disabled.
    pub(super) fn apply_mix_to_look(&mut self) {
        let Some(work) = &self.state.workspace else { return };
        let mixer = &self.state.mixer;
        let Some(mixed) = mixer.current(work.viewport.request_id()) else { return };
        let mut changes = Changes::new();
        for ((name, _), fader) in mixed.lights.iter().zip(mixer.faders.iter().skip(1)) {
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
        if mixer.faders.first().is_some_and(|fader| *fader != Fader::default()) {
            self.info(
                "the mixer does not change the environment: set environment.lux or the sky's properties"
                    .into(),
            );
        }
        if !changes.is_empty() {
            self.set_all(&changes);
        }
        self.state.mixer.faders.fill(Fader::default());
    }
}
