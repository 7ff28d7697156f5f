//! Path integrator: Kajiya, "The Rendering Equation" (1986), with light sampling and multiple
//! importance sampling (Veach 1997, chapter 9: balance of the squared densities).

mod volume_scattering;

use glam::DVec3;

use super::{
    bsdf::GlassInterface,
    light_components::{FirstScatter, LightComponents},
    lights::{LightChoice, LightHit},
    media::{MediaStack, Medium},
    path_settings::{PathSettings, SamplingStrategy},
    path_state::{PathState, Vertex},
    receiver::Receiver,
    sampler::Sampler,
    shading::view_in,
    volumes::VolumeRng,
    world::{SurfacePoint, World},
};

/// Power heuristic with exponent 2: the weight of the strategy of density `a` beside one of density
/// `b` (Veach 1997, equation 9.13).
fn power_heuristic(a: f64, b: f64) -> f64 {
    let (a2, b2) = (a * a, b * b);
    if a2.is_infinite() { 1.0 } else { a2 / (a2 + b2).max(1e-300) }
}

/// Maximum number of pass-through layers of a path; more transmit no visible light.
const MAX_PASS_THROUGH_LAYERS: u32 = 4096;

impl World<'_> {
    /// The radiance along a camera ray, by components. The origin is relative to the eye (m).
    #[must_use]
    pub fn trace_path(
        &self,
        origin: DVec3,
        direction: DVec3,
        walk: &PathSettings,
        sampler: &mut Sampler,
    ) -> LightComponents {
        let mut parts = LightComponents::default();
        let mut path = PathState {
            origin,
            direction,
            offset_normal: DVec3::ZERO,
            media: self.media_at(origin),
            channel: None,
            throughput: DVec3::ONE,
            eta_scale: 1.0,
            bounces: 0,
            first_scatter: FirstScatter::default(),
            pdf: None,
            light_choice: LightChoice::default(),
            distance_since_vertex: 0.0,
            emission_visibility: DVec3::ONE,
        };
        // Pass-through layers do not count as surfaces, but their number is limited.
        let mut layers = 0;
        while layers < MAX_PASS_THROUGH_LAYERS {
            let hit = self.closest(path.origin, path.direction, path.offset_normal);
            let limit = hit.as_ref().map_or(f64::INFINITY, |hit| hit.distance);
            let mut numbers = self.volume_rng(sampler);
            self.add_hit_emission(&path, hit.as_ref(), walk, &mut parts, numbers.as_mut());
            if let Some(numbers) = &mut numbers
                && let Some(anisotropy) =
                    self.advance_through_volumes(&mut path, limit, numbers, &mut parts)
            {
                if path.bounces >= walk.bounces {
                    break;
                }
                path.bounces += 1;
                self.scatter_in_volume(&mut path, anisotropy, walk, sampler, &mut parts);
                if path.terminated_by_roulette(walk, sampler) {
                    break;
                }
                continue;
            }
            if self.advance_through_medium(&mut path, limit, sampler) {
                if path.bounces >= walk.bounces || !self.scatter_in_water(&mut path, walk, sampler)
                {
                    break;
                }
                continue;
            }
            let Some(mut hit) = hit else { break };
            // Passes through with the probability of straight transmission, else scatters with full
            // weight.
            let straight = hit.straight_through(path.direction);
            let chance = hit.opacity * (1.0 - straight.max_element());
            // An opaque surface blocks for any number, so the draw is skipped.
            let u = if chance >= 1.0 { sampler.skip_1d() } else { sampler.next_1d() };
            if u >= chance {
                if u < hit.opacity {
                    path.throughput *= straight / straight.max_element();
                }
                path.pass_through(&hit, path.media);
                layers += 1;
                continue;
            }
            if straight != DVec3::ZERO {
                path.throughput /= 1.0 - straight.max_element();
            }
            if path.channel.is_none() && self.disperses(&hit, &path.media) {
                path.choose_channel(sampler.next_1d());
            }
            let beyond = self.cross_boundary(&mut hit, &path.media, path.channel);
            let Some(beyond) = beyond else {
                path.pass_through(
                    &hit,
                    hit.boundary_material.and_then(|m| path.media.exit(m)).unwrap_or(path.media),
                );
                layers += 1;
                continue;
            };
            if let Some(color) = hit.unlit {
                // An unlit color is visible only to the eye: it illuminates nothing, and no mirror
                // shows it.
                if path.bounces == 0 {
                    parts.unlit += path.throughput * color;
                }
                break;
            }
            if path.bounces >= walk.bounces {
                break;
            }
            path.bounces += 1;
            let frame = hit.frame();
            let seen = hit.bsdf.evaluator(view_in(&frame, -path.direction));
            let guide = self.sun_guide(&path.media, &hit.bsdf, walk);
            let vertex = Vertex {
                hit: &hit,
                frame,
                evaluator: seen,
                sun_guide: guide,
                transmitted_media: beyond,
            };
            if walk.strategy != SamplingStrategy::Bsdf {
                self.add_sampled_light(&mut path, &vertex, walk, sampler, &mut parts);
            } else {
                // Consumes the same numbers, so that all strategies trace the same paths.
                let _ = sampler.next_2d();
            }
            let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
            let sampled = match &vertex.sun_guide {
                Some(guide) => guide.sample(&vertex.evaluator, &vertex.frame, lobe, u),
                None => vertex.evaluator.sample(lobe, u),
            };
            let Some(sampled) = sampled else { break };
            if !path.scatter(&vertex, &sampled) {
                break;
            }
            if path.terminated_by_roulette(walk, sampler) {
                break;
            }
        }
        parts
    }

    /// Adds the emission that a path segment hits before or at its next surface.
    fn add_hit_emission(
        &self,
        path: &PathState,
        hit: Option<&SurfacePoint>,
        walk: &PathSettings,
        parts: &mut LightComponents,
        mut numbers: Option<&mut VolumeRng>,
    ) {
        let medium = self.medium(&path.media);
        let mut remains = |distance: f64| {
            let volumes = numbers.as_mut();
            let volumes = volumes
                .map(|n| self.volumes.transmittance(path.origin, path.direction, distance, n));
            fade(medium, distance) * volumes.unwrap_or(DVec3::ONE)
        };
        let limit = hit.map_or(f64::INFINITY, |hit| hit.distance);
        let mut emitted = DVec3::ZERO;
        let mut nearest: Option<LightHit> = None;
        // Area lights do not block rays: they illuminate and are visible, but cast no shadows.
        self.lights.for_each_light_hit(
            &path.light_choice,
            path.origin,
            path.direction,
            limit,
            path.distance_since_vertex,
            |light| {
                if path.bounces > 0 {
                    let weight = match (light.pdf, path.pdf, walk.strategy) {
                        (Some(by_light), density, strategy) => {
                            weight_of_hit(density, by_light, strategy)
                        }
                        (None, None, _) | (None, _, SamplingStrategy::Bsdf) => 1.0,
                        (None, Some(_), _) => 0.0,
                    };
                    emitted += light.radiance * remains(light.distance) * weight;
                } else if light.visible
                    && nearest.is_none_or(|before| light.distance < before.distance)
                {
                    nearest = Some(light);
                }
            },
        );
        if let Some(light) = nearest {
            emitted += light.radiance * remains(light.distance);
        }
        if let Some(hit) = hit {
            if hit.emission != DVec3::ZERO {
                let weight = if self.emissive_surfaces_illuminate() {
                    let distance = hit.distance + path.distance_since_vertex;
                    let by_light = match (hit.emitter, path.pdf) {
                        (Some(triangle), Some(_)) => self.lights.triangle_pdf(
                            &path.light_choice,
                            triangle,
                            path.direction,
                            distance,
                        ),
                        _ => 0.0,
                    };
                    DVec3::splat(weight_of_hit(path.pdf, by_light, walk.strategy))
                } else {
                    path.emission_visibility
                };
                emitted += hit.emission * remains(hit.distance) * weight * hit.opacity;
            }
        } else {
            let (around, by_light) =
                self.lights.environment_radiance(&path.light_choice, path.direction);
            let weight = weight_of_hit(path.pdf, by_light, walk.strategy);
            if around != DVec3::ZERO {
                emitted += around * remains(f64::INFINITY) * weight;
            }
        }
        parts.add(path.throughput * emitted, path.bounces, &path.first_scatter);
    }

    /// Media behind a surface; also sets its glass interface. `None` where a volume ends that
    /// overlaps the current one: the current medium stays.
    fn cross_boundary(
        &self,
        hit: &mut SurfacePoint,
        here: &MediaStack,
        channel: Option<usize>,
    ) -> Option<MediaStack> {
        let Some(material) = hit.boundary_material else { return Some(*here) };
        let ior =
            |media: &MediaStack| self.medium(media).map_or(1.0, |medium| medium.ior_of(channel));
        let own = ior(&MediaStack::default().enter(material));
        let (eta, beyond) = if hit.front {
            (own / ior(here), here.enter(material))
        } else if let Some(outside) = here.exit(material) {
            if here.current() != Some(material) {
                return None;
            }
            (ior(&outside) / own, outside)
        } else {
            // An open mesh: the path entered where there is no face.
            (ior(here) / own, *here)
        };
        hit.bsdf.interface = GlassInterface::VolumeBoundary { eta };
        Some(beyond)
    }

    /// True if a surface disperses colors: it bounds, on either side, a volume whose index differs
    /// by channel.
    fn disperses(&self, hit: &SurfacePoint, here: &MediaStack) -> bool {
        let Some(material) = hit.boundary_material else { return false };
        let spreads =
            |media: &MediaStack| self.medium(media).is_some_and(|medium| medium.ior_spread > 0.0);
        spreads(&MediaStack::default().enter(material))
            || spreads(here)
            || here.exit(material).is_some_and(|outside| spreads(&outside))
    }

    fn add_sampled_light(
        &self,
        path: &mut PathState,
        vertex: &Vertex<'_>,
        walk: &PathSettings,
        sampler: &mut Sampler,
        parts: &mut LightComponents,
    ) {
        let u = sampler.next_2d();
        let hit = vertex.hit;
        let receiver = Receiver::on_surface(hit.position, hit.normal, -path.direction, &hit.bsdf);
        path.light_choice = self.light_choice(&receiver);
        let Some(light) = self.lights.sample(&path.light_choice, u) else { return };
        let l = vertex.frame.to_local(light.direction);
        let through = l.z < 0.0;
        let origin = if through {
            let behind = light.direction.dot(hit.geometric_normal) < 0.0;
            (behind && hit.bsdf.has_rough_transmission()).then_some(hit.position)
        } else {
            hit.reflection_origin(light.direction)
        };
        let Some(origin) = origin else { return };
        let (scattered, by_surface) = match &vertex.sun_guide {
            Some(guide) => guide.evaluate(&vertex.evaluator, &vertex.frame, l),
            None => vertex.evaluator.evaluate(l),
        };
        let total = scattered.total();
        if total == DVec3::ZERO {
            return;
        }
        let mut weight = path.throughput * light.weight;
        if let (Some(density), SamplingStrategy::Mis) = (light.pdf, walk.strategy) {
            weight *= power_heuristic(density, by_surface);
        }
        let (away, media) = if through {
            (-hit.geometric_normal, &vertex.transmitted_media)
        } else {
            (hit.geometric_normal, &path.media)
        };
        if let Some(on) = light.triangle_point.as_ref().filter(|on| on.varied) {
            weight *= self.emission_coverage(on, light.direction);
        }
        if light.shadow {
            weight *= self.transmittance(origin, away, &light.seen_from(hit.position, origin));
        }
        weight *= self.volume_transmittance(origin, &light, weight, sampler);
        weight *= fade(self.medium(media), light.distance);
        let first =
            if path.bounces == 1 { FirstScatter::of(&scattered) } else { path.first_scatter };
        parts.add(weight * total, path.bounces, &first);
    }
}

/// Transmittance of a medium over a distance (m).
fn fade(medium: Option<&Medium>, distance: f64) -> DVec3 {
    medium.map_or(DVec3::ONE, |medium| medium.transmittance(distance))
}

/// MIS weight of light that a path hits.
fn weight_of_hit(density: Option<f64>, by_light: f64, strategy: SamplingStrategy) -> f64 {
    match (density, strategy) {
        // From the eye or from smooth glass, perhaps through layers: light sampling contributes
        // nothing.
        (None, _) | (_, SamplingStrategy::Bsdf) => 1.0,
        (_, SamplingStrategy::Lights) => 0.0,
        (Some(density), SamplingStrategy::Mis) => power_heuristic(density, by_light),
    }
}
