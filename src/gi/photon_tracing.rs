//! Photon tracing.
//!
//! After Keller 1997 and Jensen, "Global Illumination using Photon Maps" (1996), section 2. At each
//! surface a photon leaves a VPL with the diffusely reflected flux. Then Russian roulette chooses
//! among the lobes, each with the probability `q` of its strongest channel. The photon continues
//! with its flux times `rho / q`.

use glam::{DVec2, DVec3, Vec3};

use super::{
    emission::PhotonSource,
    lobes::{Lobes, outward, refracted, sample_cosine_hemisphere, sample_ggx_reflection},
    sequence::Sequence,
    surface_hit::{SurfaceHit, TraceScene},
};
use crate::bvh::{PreciseRay, pack_normal};

/// A VPL of a light with flux 1 per channel that emits one photon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnitVpl {
    pub position: Vec3,
    pub normal: u32,
    pub weight: Vec3,
}

/// The outcome of a photon, as fractions of an even share of its light's flux.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PhotonResult {
    /// Number of its VPLs, which follow those of the previous photon.
    pub marks: u32,
    pub rays: u32,
    /// VPLs or photons dropped because of NaN or infinity.
    pub dropped: u32,
    pub emitted: Vec3,
    pub escaped: Vec3,
    pub cut: Vec3,
}

/// Maximum number of successive surfaces without a counted reflection.
const LAYERS: u32 = 64;
/// Maximum number of surfaces among which a photon of an unshadowed light chooses.
const PIERCED: usize = 16;

/// Outcome of a photon at a surface.
enum Next {
    Reflected(DVec3, DVec3),
    Transmitted(DVec3, DVec3),
    Absorbed,
}

/// State of a photon's path.
struct PhotonPath<'a> {
    stage: &'a TraceScene<'a>,
    sequence: Sequence,
    number: u32,
    /// Remainder of the roulette number, within 0 and 1; uniform among the photons that survive.
    roulette: f64,
    /// Groups of the sequence consumed so far.
    groups: u32,
    choices: u32,
}

/// Traces the photon with this index; appends its VPLs to `marks`.
pub(super) fn trace(
    stage: &TraceScene,
    source: &PhotonSource,
    sequence: Sequence,
    number: u32,
    bounces: u32,
    marks: &mut Vec<UnitVpl>,
) -> PhotonResult {
    let numbers = sequence.point(0, number);
    let mut photon_result = PhotonResult::default();
    let Some(photon) = source.emission.photon(stage, numbers) else {
        photon_result.dropped = 1;
        return photon_result;
    };
    let mut flux = photon.weight;
    photon_result.emitted = flux.as_vec3();
    if bounces == 0 || flux.max_element() <= 0.0 {
        photon_result.cut = photon_result.emitted;
        return photon_result;
    }
    let mut photon_path = PhotonPath {
        stage,
        sequence,
        number,
        roulette: refined(numbers[4], sequence, number),
        groups: 0,
        choices: 0,
    };
    let mut ray = PreciseRay::new(photon.origin, photon.direction, photon.offset_normal);
    let (mut reflections, mut layers, mut first) = (0, 0, true);
    loop {
        photon_result.rays += 1;
        let met = if first && photon.unshadowed {
            photon_path.pierced(&ray, &mut photon_result)
        } else {
            photon_path.closest(&ray)
        };
        let Some((surface, of)) = met else {
            photon_result.escaped += flux.as_vec3();
            return photon_result;
        };
        flux *= of;
        if first && let Some(range) = photon.range {
            // KHR_lights_punctual, "Range Property".
            flux *= (1.0 - (surface.position.distance(photon.origin) / range).powi(4)).max(0.0);
        }
        layers += 1;
        if surface.material.unlit || layers > LAYERS || flux.max_element() <= 0.0 {
            return photon_result;
        }
        let direction = ray.direction;
        if first && photon.unshadowed {
            flux *= surface.opacity;
        } else if surface.opacity < 1.0 && photon_path.choice() >= surface.opacity {
            // Continues behind the surface, as if it were absent.
            ray = PreciseRay::new(surface.position, direction, -surface.geometric);
            continue;
        }
        first = false;
        if let Some(absorption) = surface.material.border.filter(|_| !surface.front) {
            let traveled = surface.position.distance(ray.origin);
            flux *= (absorption * -traveled).map(exponential);
        }
        let cosine = -direction.dot(surface.normal);
        let lobes = surface.material.lobes(cosine, surface.front, stage.scene.multiscatter);
        for (lobe, normal) in [
            (lobes.diffuse, surface.emission_normal),
            (lobes.diffuse_transmission, -surface.emission_normal),
        ] {
            let weight = (flux * lobe * surface.emission_weight).as_vec3();
            if weight.max_element() <= 0.0 {
                continue;
            }
            let position = surface.position.as_vec3();
            if weight.is_finite() && weight.min_element() >= 0.0 && position.is_finite() {
                marks.push(UnitVpl { position, normal: pack_normal(normal.as_vec3()), weight });
                photon_result.marks += 1;
            } else {
                photon_result.dropped += 1;
            }
        }
        let (towards, next) = match photon_path.next(&surface, &lobes, direction) {
            Next::Absorbed => return photon_result,
            Next::Reflected(towards, factor) => {
                reflections += 1;
                layers = 0;
                (towards, factor)
            }
            Next::Transmitted(towards, factor) => (towards, factor),
        };
        flux *= next;
        if reflections == bounces {
            photon_result.cut += flux.as_vec3();
            return photon_result;
        }
        if !(flux.is_finite() && towards.is_finite()) {
            photon_result.dropped += 1;
            return photon_result;
        }
        let away = surface.geometric * surface.geometric.dot(towards).signum();
        ray = PreciseRay::new(surface.position, towards, away);
    }
}

/// `exp`, and 0 for infinite absorption over zero distance.
fn exponential(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.exp() }
}

/// Extends a number by as many digits again: the roulette consumes some at each surface.
fn refined(u: f64, sequence: Sequence, number: u32) -> f64 {
    let step = 1.0 / 4_294_967_296.0;
    u + (sequence.single(number, u32::MAX) - 0.5) * step
}

impl PhotonPath<'_> {
    /// The nearest surface, and the factor of the flux.
    fn closest(&self, ray: &PreciseRay) -> Option<(SurfaceHit, f64)> {
        let hit = self.stage.bvh.closest_f64(self.stage.tlas, ray)?;
        Some((self.stage.surface(ray.direction, &hit)?, 1.0))
    }

    /// Light without shadows falls on all surfaces along the ray: one of them is chosen and
    /// weighted to stand for all.
    fn pierced(
        &mut self,
        ray: &PreciseRay,
        photon_result: &mut PhotonResult,
    ) -> Option<(SurfaceHit, f64)> {
        let mut ray = *ray;
        let mut hits = Vec::new();
        while hits.len() < PIERCED {
            let Some(hit) = self.stage.bvh.closest_f64(self.stage.tlas, &ray) else { break };
            photon_result.rays += 1;
            ray.t_min = hit.t.next_up() * (1.0 + 1e-10);
            hits.push(hit);
        }
        let chosen = (self.choice() * hits.len() as f64) as usize;
        let hit = hits.get(chosen)?;
        Some((self.stage.surface(ray.direction, hit)?, hits.len() as f64))
    }

    /// An independent random number for a choice that few photons make.
    fn choice(&mut self) -> f64 {
        self.choices += 1;
        self.sequence.single(self.number, self.choices)
    }

    fn pair(&mut self) -> DVec2 {
        self.groups += 1;
        DVec2::from_array(self.sequence.point(self.groups, self.number))
    }

    /// Russian roulette over the lobes. After each choice the remainder of the number is uniform
    /// again, so that exactly the right fraction of many photons survives (Kollig and Keller,
    /// "Efficient Bidirectional Path Tracing by Randomized Quasi-Monte Carlo Integration", MCQMC
    /// 2000, for splitting and roulette by one number).
    fn next(&mut self, surface: &SurfaceHit, lobes: &Lobes, direction: DVec3) -> Next {
        let all =
            [lobes.diffuse, lobes.diffuse_transmission, lobes.specular, lobes.coat, lobes.glass];
        let mut chances = all.map(|lobe| lobe.max_element().clamp(0.0, 1.0));
        let sum: f64 = chances.iter().sum();
        if sum > 1.0 {
            chances = chances.map(|chance| chance / sum);
        }
        let SurfaceHit {
            normal, geometric, emission_normal, emission_weight: lit, material, ..
        } = surface;
        let (normal, geometric, emission_normal) = (*normal, *geometric, *emission_normal);
        let mut from = 0.0;
        for (index, (&lobe, &chance)) in all.iter().zip(&chances).enumerate() {
            if chance <= 0.0 {
                continue;
            }
            if self.roulette >= from + chance {
                from += chance;
                continue;
            }
            self.roulette = ((self.roulette - from) / chance).clamp(0.0, 1.0 - f64::EPSILON);
            let factor = lobe / chance;
            return match index {
                0 => Next::Reflected(
                    outward(sample_cosine_hemisphere(emission_normal, self.pair()), geometric),
                    factor * *lit,
                ),
                1 => Next::Reflected(
                    outward(sample_cosine_hemisphere(-emission_normal, self.pair()), -geometric),
                    factor * *lit,
                ),
                2 | 3 => {
                    let alpha = if index == 2 { material.alpha } else { material.coat_alpha };
                    let towards = sample_ggx_reflection(direction, normal, alpha, self.pair());
                    Next::Reflected(outward(towards, geometric), factor)
                }
                _ => {
                    let eta = if surface.front { material.ior } else { 1.0 / material.ior };
                    let bent = material.border.and_then(|_| refracted(direction, normal, eta));
                    let towards = bent.unwrap_or(direction);
                    Next::Transmitted(-outward(-towards, geometric), factor)
                }
            };
        }
        Next::Absorbed
    }
}
