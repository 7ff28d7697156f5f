//! State of a path between two of its vertices.

use glam::DVec3;

use super::{
    bsdf::{BsdfEvaluator, BsdfSample},
    light_components::FirstScatter,
    lights::LightChoice,
    media::MediaStack,
    path_settings::PathSettings,
    sampler::Sampler,
    shading::ShadingFrame,
    sun_guide::SunGuide,
    world::SurfacePoint,
};

/// Number of surfaces after which lossless paths may end too: a path in a closed white room must
/// end at some point.
const LONG: u32 = 64;
/// Maximum survival probability of such a path.
const MAX_SURVIVAL: f64 = 0.95;

/// State of a path at its current vertex.
pub(super) struct PathState {
    pub(super) origin: DVec3,
    pub(super) direction: DVec3,
    /// Normal on the side of the surface that the path left; zero at the eye.
    pub(super) offset_normal: DVec3,
    /// Media around the vertex.
    pub(super) media: MediaStack,
    /// The only channel that the path still carries after dispersion.
    pub(super) channel: Option<usize>,
    pub(super) throughput: DVec3,
    /// Factor by which refracted radiance will be rescaled; excluded from Russian roulette.
    pub(super) eta_scale: f64,
    pub(super) bounces: u32,
    pub(super) first_scatter: FirstScatter,
    /// Density of the sample that led here; `None` from the eye and from smooth glass, where light
    /// sampling contributes nothing.
    pub(super) pdf: Option<f64>,
    /// Choice of lights at the vertex of that sample.
    pub(super) light_choice: LightChoice,
    /// Distance (m) from the vertex of that sample to the origin, which lies behind pass-through
    /// layers.
    pub(super) distance_since_vertex: f64,
    /// Fraction of the throughput, per channel, in which emission that does not illuminate is
    /// visible: 1 at the eye. Light from a mirror to a diffuse wall has none of it.
    pub(super) emission_visibility: DVec3,
}

/// A surface point prepared for shading.
pub(super) struct Vertex<'a> {
    pub(super) hit: &'a SurfacePoint,
    pub(super) frame: ShadingFrame,
    /// The BSDF for the direction that the path comes from.
    pub(super) evaluator: BsdfEvaluator<'a>,
    /// Sampling guide to suns, for surfaces in water.
    pub(super) sun_guide: Option<SunGuide>,
    /// Media on the other side.
    pub(super) transmitted_media: MediaStack,
}

impl PathState {
    /// Volume scattering before any surface counts as transmission.
    pub(super) fn scattered_first(&mut self) {
        if self.bounces == 1 {
            self.first_scatter = FirstScatter { diffuse: DVec3::ZERO, transmission: DVec3::ONE };
        }
    }

    /// Russian roulette by throughput; survivors are reweighted.
    pub(super) fn terminated_by_roulette(
        &mut self,
        walk: &PathSettings,
        sampler: &mut Sampler,
    ) -> bool {
        if self.bounces > walk.roulette_after {
            let max = if self.bounces > LONG { MAX_SURVIVAL } else { 1.0 };
            let survive = (self.throughput.max_element() * self.eta_scale).clamp(0.05, max);
            if sampler.next_1d() >= survive {
                return true;
            }
            self.throughput /= survive;
        }
        false
    }

    /// Continues behind a surface as if it were absent.
    pub(super) fn pass_through(&mut self, hit: &SurfacePoint, media: MediaStack) {
        self.distance_since_vertex += hit.distance;
        (self.origin, self.offset_normal, self.media) =
            (hit.position, -hit.geometric_normal, media);
    }

    /// Continues with one channel, chosen in proportion to the throughput, that carries the weight
    /// of all: each channel's mean is kept.
    pub(super) fn choose_channel(&mut self, u: f64) {
        let carried = self.throughput;
        let sum = carried.element_sum();
        let chosen = if u * sum < carried.x {
            0
        } else if u * sum < carried.x + carried.y {
            1
        } else {
            2
        };
        self.throughput = DVec3::ZERO;
        self.throughput[chosen] = sum;
        self.channel = Some(chosen);
    }

    /// Continues in a sampled direction; false if it is on the wrong side of the triangle.
    pub(super) fn scatter(&mut self, vertex: &Vertex<'_>, sampled: &BsdfSample) -> bool {
        let through = sampled.l.z < 0.0;
        let next = vertex.frame.to_world(sampled.l);
        let geometric = vertex.hit.geometric_normal;
        let (origin, side) = if through {
            let behind = next.dot(geometric) < 0.0;
            (behind.then_some(vertex.hit.position), -geometric)
        } else {
            (vertex.hit.reflection_origin(next), geometric)
        };
        let Some(origin) = origin else { return false };
        if self.bounces == 1 {
            self.first_scatter = FirstScatter::of(&sampled.weight);
        }
        self.emission_visibility *= vertex.hit.bsdf.emission_visibility(&sampled.weight);
        self.throughput *= sampled.weight.total();
        self.eta_scale *= sampled.eta_scale;
        self.pdf = sampled.pdf;
        self.distance_since_vertex = 0.0;
        if through {
            self.media = vertex.transmitted_media;
        }
        (self.origin, self.direction, self.offset_normal) = (origin, next, side);
        true
    }
}
