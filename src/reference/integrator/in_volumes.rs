//! A path on its way through participating volumes.

use glam::DVec3;

use super::{First, Parts, State, Strategy, Walk, balance, fade};
use crate::reference::{
    lights::LightSample,
    sampler::Sampler,
    volumes::{Flight, Numbers, henyey_greenstein, sample_henyey_greenstein},
    world::World,
};

impl World<'_> {
    /// Numbers for walks through volumes; none where there are none, so that paths without them are as they were.
    pub(super) fn numbers(&self, sampler: &mut Sampler) -> Option<Numbers> {
        (!self.volumes.is_empty()).then(|| Numbers::new(sampler))
    }

    /// How much of a light's sample volumes let through, where there is anything of it.
    pub(super) fn through_volumes(
        &self,
        from: DVec3,
        light: &LightSample,
        weight: DVec3,
        sampler: &mut Sampler,
    ) -> DVec3 {
        match self.numbers(sampler) {
            Some(mut numbers) if weight != DVec3::ZERO => {
                self.volumes.transmittance(from, light.direction, light.distance, &mut numbers)
            }
            _ => DVec3::ONE,
        }
    }

    /// On through volumes up to `limit` (m): the anisotropy of what scattered the path on its way, where it now is.
    pub(super) fn fly(&self, path: &mut State, limit: f64, numbers: &mut Numbers, parts: &mut Parts) -> Option<f64> {
        let mut emitted = DVec3::ZERO;
        let ray = (path.origin, path.direction);
        let flight = self.volumes.fly(ray, limit, path.throughput, numbers, &mut emitted);
        parts.add(path.throughput * emitted, path.surfaces, &path.first);
        match flight {
            Flight::Through(weight) => {
                path.throughput *= weight;
                None
            }
            Flight::Scattered { distance, weight, anisotropy } => {
                path.throughput *= weight * fade(self.medium(&path.media), distance);
                (path.origin, path.away) = (path.origin + path.direction * distance, DVec3::ZERO);
                Some(anisotropy)
            }
        }
    }

    /// Light at a place within a volume, and on in a direction of the phase function.
    pub(super) fn scatter_in_volume(
        &self,
        path: &mut State,
        anisotropy: f64,
        walk: &Walk,
        sampler: &mut Sampler,
        parts: &mut Parts,
    ) {
        if path.surfaces == 1 {
            path.first = First { diffuse: DVec3::ZERO, transmission: DVec3::ONE };
        }
        let (choice, u) = (sampler.next_1d(), sampler.next_2d());
        let sampled = self.lights.sample(path.origin, choice, u).filter(|_| walk.strategy != Strategy::Brdf);
        if let Some(light) = sampled {
            let phase = henyey_greenstein(path.direction.dot(light.direction), anisotropy);
            let mut weight = path.throughput * light.weight * phase;
            if let (Some(density), Strategy::Both) = (light.density, walk.strategy) {
                weight *= balance(density, phase);
            }
            if let Some(on) = light.on.as_ref().filter(|on| on.varied) {
                weight *= self.presence(on, light.direction);
            }
            if light.shadow {
                weight *= self.transmittance(path.origin, DVec3::ZERO, &light);
            }
            weight *= self.through_volumes(path.origin, &light, weight, sampler);
            weight *= fade(self.medium(&path.media), light.distance);
            parts.add(weight, path.surfaces, &path.first);
        }
        let next = sample_henyey_greenstein(path.direction, anisotropy, sampler.next_2d());
        path.density = Some(henyey_greenstein(path.direction.dot(next), anisotropy));
        (path.back, path.shows) = (0.0, DVec3::ZERO);
        path.direction = next;
    }
}
