//! One path: Kajiya, "The Rendering Equation" (1986), with light sampling and multiple importance sampling (Veach 1997,
//! chapter 9: balance of the squared densities).

use glam::DVec3;

use super::{
    bsdf::{Bsdf, Reflected},
    sampler::Sampler,
    world::{SurfacePoint, World},
};
use crate::photometry::color::luminance;

/// Which ways to find light are used; both are right alone, and their agreement is a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Both, weighed.
    #[default]
    Both,
    /// Points on lights.
    Lights,
    /// Directions of the BRDF; lights without a surface are not found.
    Brdf,
}

/// How paths are walked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// Surfaces that a path may meet: 0 shows what glows, 1 adds direct light, more indirect.
    pub bounces: u32,
    /// How light is found.
    pub strategy: Strategy,
    /// Surfaces after which paths may end by chance.
    pub roulette_after: u32,
}

impl Default for Walk {
    fn default() -> Self {
        Self { bounces: 64, strategy: Strategy::Both, roulette_after: 4 }
    }
}

/// Luminance (nits by channel) of one path, by its parts, which add up to all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// What glows by itself, seen directly.
    pub emission: DVec3,
    /// Light that was reflected once, diffusely.
    pub direct_diffuse: DVec3,
    /// Light that was reflected once, specularly.
    pub direct_specular: DVec3,
    /// Light that was reflected more often, last diffusely.
    pub indirect_diffuse: DVec3,
    /// Light that was reflected more often, last specularly.
    pub indirect_specular: DVec3,
}

impl Parts {
    /// All light.
    #[must_use]
    pub fn total(&self) -> DVec3 {
        self.emission + self.direct_diffuse + self.direct_specular + self.indirect_diffuse + self.indirect_specular
    }
}

/// The frame of a shading normal.
struct Frame {
    x: DVec3,
    y: DVec3,
    z: DVec3,
}

impl Frame {
    fn new(z: DVec3) -> Self {
        let (x, y) = z.any_orthonormal_pair();
        Self { x, y, z }
    }

    fn inside(&self, v: DVec3) -> DVec3 {
        DVec3::new(v.dot(self.x), v.dot(self.y), v.dot(self.z))
    }

    fn outside(&self, v: DVec3) -> DVec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }
}

/// The weight of the strategy of density `a` beside one of density `b`: Veach 1997, equation 9.13 with exponent 2.
fn balance(a: f64, b: f64) -> f64 {
    let (a2, b2) = (a * a, b * b);
    if a2.is_infinite() { 1.0 } else { a2 / (a2 + b2).max(1e-300) }
}

/// What the path's first surface made of light, to tell parts apart.
#[derive(Clone, Copy)]
struct First {
    /// Throughput by channel of the diffuse lobe over that of both.
    diffuse_share: DVec3,
}

impl World<'_> {
    /// The light along a ray from the eye.
    #[must_use]
    pub fn path(&self, origin: DVec3, direction: DVec3, walk: &Walk, sampler: &mut Sampler) -> Parts {
        let mut parts = Parts::default();
        let (mut origin, mut direction, mut away) = (origin, direction, DVec3::ZERO);
        let mut throughput = DVec3::ONE;
        let mut surfaces = 0;
        let mut first: Option<First> = None;
        // Density of the BRDF's sample that led here; none from the camera.
        let mut density: Option<f64> = None;
        // Blended layers do not count as surfaces, but must end some time.
        for _ in 0..walk.bounces.saturating_add(256) {
            let hit = self.closest(origin, direction, away);
            let distance = hit.map_or(f64::INFINITY, |hit| hit.distance);
            let mut emitted = DVec3::ZERO;
            if let Some((radiance, _, by_light)) = self.lights.hit(origin, direction, distance) {
                // Lamps are not in the way of rays: they light what they stand before, and are seen, no more.
                emitted += radiance * weight_of_hit(density, by_light, walk.strategy, surfaces);
            }
            if let Some(hit) = &hit {
                let by_light = hit.emitter.map_or(0.0, |t| self.lights.density_of_triangle(t, direction, hit.distance));
                let opaque = hit.opacity;
                emitted += hit.emission * opaque * weight_of_hit(density, by_light, walk.strategy, surfaces);
            }
            if hit.is_none() {
                let (around, by_light) = self.lights.around(direction);
                emitted += around * weight_of_hit(density, by_light, walk.strategy, surfaces);
            }
            add(&mut parts, throughput * emitted, surfaces, first);
            let Some(hit) = hit else { break };
            if sampler.next_1d() >= hit.opacity {
                // Through a blended layer, as though it were not there.
                origin = hit.position;
                away = -hit.geometric;
                continue;
            }
            if hit.unlit.is_some() || surfaces >= walk.bounces {
                break;
            }
            surfaces += 1;
            let frame = Frame::new(hit.normal);
            let v = view_in(&frame, -direction);
            if walk.strategy != Strategy::Brdf {
                self.add_sampled_light(&hit, &frame, v, throughput, surfaces, first, walk, sampler, &mut parts);
            } else {
                // The numbers are used up alike, so that strategies see the same paths.
                let _ = (sampler.next_1d(), sampler.next_2d());
            }
            let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
            let Some(l) = hit.bsdf.sample(v, lobe, u) else { break };
            let next = frame.outside(l);
            if next.dot(hit.geometric) <= 0.0 {
                break;
            }
            let chance = hit.bsdf.density(v, l);
            let reflected = hit.bsdf.evaluate(v, l);
            if chance <= 0.0 {
                break;
            }
            first = first.or_else(|| Some(First { diffuse_share: share(reflected) }));
            throughput *= reflected.total() / chance;
            if surfaces > walk.roulette_after {
                let survive = throughput.max_element().clamp(0.05, 1.0);
                if sampler.next_1d() >= survive {
                    break;
                }
                throughput /= survive;
            }
            density = Some(chance);
            (origin, direction, away) = (hit.position, next, hit.geometric);
        }
        parts
    }

    #[allow(clippy::too_many_arguments)]
    fn add_sampled_light(
        &self,
        hit: &SurfacePoint,
        frame: &Frame,
        v: DVec3,
        throughput: DVec3,
        surfaces: u32,
        first: Option<First>,
        walk: &Walk,
        sampler: &mut Sampler,
        parts: &mut Parts,
    ) {
        let (choice, u) = (sampler.next_1d(), sampler.next_2d());
        let Some(light) = self.lights.sample(hit.position, choice, u) else { return };
        if light.direction.dot(hit.geometric) <= 0.0 {
            return;
        }
        let l = frame.inside(light.direction);
        let reflected = hit.bsdf.evaluate(v, l);
        if reflected.total() == DVec3::ZERO {
            return;
        }
        let mut weight = throughput * light.weight;
        if let (Some(density), Strategy::Both) = (light.density, walk.strategy) {
            weight *= balance(density, hit.bsdf.density(v, l));
        }
        if light.shadow {
            weight *= self.transmittance(hit.position, light.direction, light.distance, hit.geometric);
        }
        if surfaces == 1 {
            parts.direct_diffuse += weight * reflected.diffuse;
            parts.direct_specular += weight * reflected.specular;
        } else {
            let share = first.map_or(DVec3::ZERO, |first| first.diffuse_share);
            parts.indirect_diffuse += weight * reflected.total() * share;
            parts.indirect_specular += weight * reflected.total() * (DVec3::ONE - share);
        }
    }
}

/// The view direction in the shading frame. A bent normal may turn the surface from the eye: then it is seen at grazing
/// incidence, as the raster renderer has it (`shaders/lib/brdf.glsl`).
fn view_in(frame: &Frame, view: DVec3) -> DVec3 {
    let v = frame.inside(view);
    if v.z >= 1e-4 { v } else { DVec3::new(v.x, v.y, 1e-4).normalize() }
}

fn share(reflected: Reflected) -> DVec3 {
    let total = reflected.total();
    DVec3::from_array(std::array::from_fn(|i| if total[i] > 0.0 { reflected.diffuse[i] / total[i] } else { 0.0 }))
}

/// The weight of light that a path meets by itself.
fn weight_of_hit(density: Option<f64>, by_light: f64, strategy: Strategy, surfaces: u32) -> f64 {
    match (density, strategy) {
        // Seen from the camera, perhaps through blended layers: nothing else finds it.
        (None, _) => 1.0,
        (_, Strategy::Brdf) => 1.0,
        (_, Strategy::Lights) => 0.0,
        (Some(density), Strategy::Both) => {
            debug_assert!(surfaces > 0);
            balance(density, by_light)
        }
    }
}

fn add(parts: &mut Parts, light: DVec3, surfaces: u32, first: Option<First>) {
    let share = first.map_or(DVec3::ZERO, |first| first.diffuse_share);
    match surfaces {
        0 => parts.emission += light,
        1 => {
            parts.direct_diffuse += light * share;
            parts.direct_specular += light * (DVec3::ONE - share);
        }
        _ => {
            parts.indirect_diffuse += light * share;
            parts.indirect_specular += light * (DVec3::ONE - share);
        }
    }
}

/// The reflectance that a denoiser is guided by.
#[must_use]
pub fn albedo(bsdf: &Bsdf) -> f64 {
    luminance(bsdf.base_color)
}
