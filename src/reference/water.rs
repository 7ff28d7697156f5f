//! Path segments in the medium of a volume, with scattering in water.

use glam::DVec3;

use super::{path_settings::PathSettings, path_state::PathState, sampler::Sampler, world::World};

impl World<'_> {
    /// Advances through the current medium over a free distance (m). Returns true after scattering,
    /// with the origin at the event. Lengths are sampled from the mean of the channels' densities,
    /// which weights all channels.
    pub(super) fn advance_through_medium(
        &self,
        path: &mut PathState,
        free: f64,
        sampler: &mut Sampler,
    ) -> bool {
        let Some(medium) = self.medium(&path.media) else { return false };
        if medium.scattering == DVec3::ZERO {
            path.throughput *= medium.transmittance(free);
            return false;
        }
        let rates = medium.extinction;
        let channel = (sampler.next_1d() * 3.0) as usize % 3;
        let length = -(1.0 - sampler.next_1d()).max(1e-300).ln() / rates[channel].max(1e-9);
        let scattered = length < free;
        let left = medium.transmittance(length.min(free));
        if scattered {
            let density = (rates * left).element_sum() / 3.0;
            path.throughput *= medium.scattering * left / density.max(1e-300);
            path.origin += path.direction * length;
            path.offset_normal = DVec3::ZERO;
        } else {
            path.throughput *= left / (left.element_sum() / 3.0).max(1e-300);
        }
        scattered
    }

    /// Scatters isotropically in water: half of the samples uniform, half towards suns. Lights
    /// without a surface are not visible from there. Returns false where the path ends.
    pub(super) fn scatter_in_water(
        &self,
        path: &mut PathState,
        walk: &PathSettings,
        sampler: &mut Sampler,
    ) -> bool {
        path.bounces += 1;
        path.scattered_first();
        let (choice, u) = (sampler.next_1d(), sampler.next_2d());
        let even = 1.0 / (4.0 * std::f64::consts::PI);
        let anywhere = || {
            let z = 1.0 - 2.0 * u.x;
            let (sin, cos) = (std::f64::consts::TAU * u.y).sin_cos();
            let across = (1.0 - z * z).max(0.0).sqrt();
            DVec3::new(across * cos, z, across * sin)
        };
        path.direction = match self.suns_from_below(&path.media) {
            Some(guide) => {
                let direction = if choice < 0.5 {
                    anywhere()
                } else {
                    guide.sample_direction((choice - 0.5) * 2.0, u)
                };
                path.throughput *= even / (0.5 * even + 0.5 * guide.pdf(direction));
                direction
            }
            None => anywhere(),
        };
        // No light sampling here: hits count with full weight.
        (path.pdf, path.distance_since_vertex, path.emission_visibility) = (None, 0.0, DVec3::ZERO);
        if path.bounces > walk.roulette_after {
            let survive = path.throughput.max_element().clamp(0.05, 0.95);
            if sampler.next_1d() >= survive {
                return false;
            }
            path.throughput /= survive;
        }
        true
    }
}
