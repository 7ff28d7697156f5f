//! Path segments in participating volumes.

use glam::DVec3;

use super::{fade, power_heuristic};
use crate::reference::{
    light_components::{FirstScatter, LightComponents},
    lights::LightSample,
    path_settings::{PathSettings, SamplingStrategy},
    path_state::PathState,
    receiver::Receiver,
    sampler::Sampler,
    volumes::{FreeFlight, VolumeRng, henyey_greenstein, sample_henyey_greenstein},
    world::World,
};

impl World<'_> {
    /// Random numbers for volume walks; `None` in scenes without volumes, whose paths remain
    /// unchanged.
    pub(super) fn volume_rng(&self, sampler: &mut Sampler) -> Option<VolumeRng> {
        (!self.volumes.is_empty()).then(|| VolumeRng::new(sampler))
    }

    /// Transmittance of volumes for a light sample; skipped where its weight is zero.
    pub(super) fn volume_transmittance(
        &self,
        from: DVec3,
        light: &LightSample,
        weight: DVec3,
        sampler: &mut Sampler,
    ) -> DVec3 {
        match self.volume_rng(sampler) {
            Some(mut numbers) if weight != DVec3::ZERO => {
                self.volumes.transmittance(from, light.direction, light.distance, &mut numbers)
            }
            _ => DVec3::ONE,
        }
    }

    /// Advances through volumes up to `limit` (m). After a scattering event the path is at its
    /// position, and the result is the anisotropy of the scattering volume.
    pub(super) fn advance_through_volumes(
        &self,
        path: &mut PathState,
        limit: f64,
        numbers: &mut VolumeRng,
        parts: &mut LightComponents,
    ) -> Option<f64> {
        let mut emitted = DVec3::ZERO;
        let ray = (path.origin, path.direction);
        let flight =
            self.volumes.sample_free_flight(ray, limit, path.throughput, numbers, &mut emitted);
        parts.add(path.throughput * emitted, path.bounces, &path.first_scatter);
        match flight {
            FreeFlight::Transmitted(weight) => {
                path.throughput *= weight;
                None
            }
            FreeFlight::Scattered { distance, weight, anisotropy } => {
                path.throughput *= weight * fade(self.medium(&path.media), distance);
                (path.origin, path.offset_normal) =
                    (path.origin + path.direction * distance, DVec3::ZERO);
                Some(anisotropy)
            }
        }
    }

    /// Samples light at a position in a volume, and a new direction from the phase function.
    pub(super) fn scatter_in_volume(
        &self,
        path: &mut PathState,
        anisotropy: f64,
        walk: &PathSettings,
        sampler: &mut Sampler,
        parts: &mut LightComponents,
    ) {
        if path.bounces == 1 {
            path.first_scatter = FirstScatter { diffuse: DVec3::ZERO, transmission: DVec3::ONE };
        }
        let u = sampler.next_2d();
        let mut sampled = None;
        if walk.strategy != SamplingStrategy::Bsdf {
            let receiver = Receiver::in_volume(path.origin, path.direction, anisotropy);
            path.light_choice = self.light_choice(&receiver);
            sampled = self.lights.sample(&path.light_choice, u);
        }
        if let Some(light) = sampled {
            let phase = henyey_greenstein(path.direction.dot(light.direction), anisotropy);
            let mut weight = path.throughput * light.weight * phase;
            if let (Some(density), SamplingStrategy::Mis) = (light.pdf, walk.strategy) {
                weight *= power_heuristic(density, phase);
            }
            if let Some(on) = light.triangle_point.as_ref().filter(|on| on.varied) {
                weight *= self.emission_coverage(on, light.direction);
            }
            if light.shadow {
                weight *= self.transmittance(path.origin, DVec3::ZERO, &light);
            }
            weight *= self.volume_transmittance(path.origin, &light, weight, sampler);
            weight *= fade(self.medium(&path.media), light.distance);
            parts.add(weight, path.bounces, &path.first_scatter);
        }
        let next = sample_henyey_greenstein(path.direction, anisotropy, sampler.next_2d());
        path.pdf = Some(henyey_greenstein(path.direction.dot(next), anisotropy));
        (path.distance_since_vertex, path.emission_visibility) = (0.0, DVec3::ZERO);
        path.direction = next;
    }
}
