//! Light sampling for every kind of light, and the emission and density of lights that rays hit.

use std::{
    collections::HashMap,
    f64::consts::{FRAC_PI_2, PI},
};

use glam::{DVec2, DVec3, Vec2};
use rayon::prelude::*;

use super::{
    environment_sampler::EnvironmentSampler,
    light_tree::{LightBounds, LightCut, LightTree},
    receiver::{Receiver, Subtended},
};
use crate::{
    bvh::{SLACK, SceneBvh, SceneTlas},
    photometry::{
        Candela, Nit,
        color::luminance,
        lights::{Emitter, Sides},
    },
    scene::{AlphaMode, Light, Scene},
};

/// A light with its pose relative to the eye.
#[derive(Clone, Debug)]
pub struct PlacedLight {
    light: Light,
    position: DVec3,
    /// Emission axis.
    direction: DVec3,
    right: DVec3,
    up: DVec3,
}

/// A triangle of an emissive material.
#[derive(Clone, Copy, Debug)]
struct EmissiveTriangle {
    corners: [DVec3; 3],
    normal: DVec3,
    area: f64,
    emission: DVec3,
    two_sided: bool,
    /// Instance and triangle of the BVH.
    at: (u32, u32),
    /// True if a texture or opacity varies the emission.
    varied: bool,
    /// Mean luminance of the emission over the triangle (nits), head-on.
    mean: f64,
}

/// All light sources of a scene.
#[derive(Clone, Debug, Default)]
pub struct Lights {
    placed: Vec<PlacedLight>,
    triangles: Vec<EmissiveTriangle>,
    of_triangle: HashMap<(u32, u32), usize>,
    environment: Option<EnvironmentSampler>,
    /// Tree of all lights except suns: placed lights, then emissive triangles.
    tree: LightTree,
    /// Indices of the suns among the placed lights.
    suns: Vec<usize>,
    /// Indices of the placed lights with a surface that rays hit.
    surfaces: Vec<usize>,
}

/// Kinds of light sources: local lights, suns, environment.
pub(super) const KINDS: usize = 3;
/// Part of the chance that all kinds share equally, as the estimates may be wrong.
const EQUAL_PART: f64 = 0.25;

/// Probabilities of the choice of a light at a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct LightChoice {
    receiver: Receiver,
    /// Probabilities of the kinds; all 0 where no light contributes.
    kinds: [f64; KINDS],
    cut: LightCut,
    /// Sum of the suns' estimates.
    suns: f64,
}

/// A chosen light source.
#[derive(Clone, Copy, Debug)]
enum LightSource {
    /// A placed light by its index, or an emissive triangle by its index after those.
    Light(usize),
    Environment,
}

/// Number of texture lookups for the mean emission of a scene's triangles, and bounds of the number
/// for each triangle.
const POINTS: usize = 1 << 20;
const MIN_POINTS: usize = 16;
const MAX_POINTS: usize = 4096;

/// The largest number in [0, 1).
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

/// A sampled point on a light.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Unit direction from the shaded point.
    pub direction: DVec3,
    /// Distance to the light (m).
    pub distance: f64,
    /// Light over density. Punctual and directional lights: illuminance (lx per channel) on a
    /// facing plane; others: luminance over the density by solid angle.
    pub weight: DVec3,
    /// Density by solid angle; `None` for lights that no ray can hit.
    pub pdf: Option<f64>,
    /// True if surfaces occlude it. Volumes attenuate it either way.
    pub shadow: bool,
    /// The sampled point of an emissive triangle; `None` for lights that are not in the BVH.
    pub triangle_point: Option<TrianglePoint>,
}

impl LightSample {
    /// The sample of a point at a finite distance, taken from `from`, as seen from `origin` (m).
    #[must_use]
    pub(super) fn seen_from(mut self, from: DVec3, origin: DVec3) -> Self {
        if origin != from && self.distance.is_finite() {
            let to = from + self.direction * self.distance - origin;
            (self.direction, self.distance) = (to.normalize_or(self.direction), to.length());
        }
        self
    }

    /// End of a shadow ray from a point (m): the light's distance minus a margin for rounding. A
    /// surface that contains the light does not occlude it, and glass just in front of a light is
    /// not skipped.
    #[must_use]
    pub fn end(&self, origin: DVec3) -> f64 {
        let target = origin + self.direction * self.distance;
        let coordinates = origin.abs().max_element() + target.abs().max_element();
        // The test recognizes an emissive triangle when the ray hits it. An area light may lie in
        // an unrelated surface.
        let margin = if self.triangle_point.is_some() { 1e-10 } else { 16.0 * f64::from(SLACK) };
        self.distance - margin * coordinates.min(1e15)
    }
}

/// A point on a triangle of the BVH.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePoint {
    /// Index of the TLAS instance.
    pub instance: u32,
    /// Index of the triangle.
    pub triangle: u32,
    /// Barycentric weights of the second and third vertex.
    pub barycentric: Vec2,
    /// True if a texture or opacity varies the emission: multiply by `World::emission_coverage`.
    pub varied: bool,
}

/// A ray hit on an area light's surface.
#[derive(Clone, Copy, Debug)]
pub struct LightHit {
    /// Luminance (nits per channel).
    pub radiance: DVec3,
    /// Distance (m); infinite for the sun's disk.
    pub distance: f64,
    /// Density by solid angle with which `Lights::sample` gives the direction at the path's last
    /// vertex; `None` for lights without shadows, for which only light sampling is used.
    pub pdf: Option<f64>,
    /// True if the light is directly visible.
    pub visible: bool,
}

impl Lights {
    /// Suns with a disk: the direction to each, and its angular radius (rad).
    pub(super) fn disks(&self) -> impl Iterator<Item = (DVec3, f64)> + '_ {
        self.placed.iter().filter_map(|placed| match placed.light.emitter() {
            Emitter::Sun { angular_radius } if angular_radius > 0.0 => {
                Some((-placed.direction, angular_radius))
            }
            _ => None,
        })
    }

    /// The lights of a scene, relative to an eye. `coverage` is the emission factor of a point of
    /// an emissive triangle in the direction opposite to the given one.
    #[must_use]
    pub fn new(
        scene: &Scene,
        eye: DVec3,
        bvh: &SceneBvh,
        top: &SceneTlas,
        coverage: impl Fn(&TrianglePoint, DVec3) -> DVec3 + Sync,
    ) -> Self {
        let mut placed = Vec::new();
        for node in scene.walk() {
            let Some(light) = node.node.light.and_then(|light| scene.lights.get(light)) else {
                continue;
            };
            let direction = (-node.world.z_axis.truncate()).normalize_or(DVec3::NEG_Z);
            let across = node.world.x_axis.truncate();
            let right = (across - direction * across.dot(direction))
                .normalize_or(direction.any_orthonormal_vector());
            placed.push(PlacedLight {
                light: light.clone(),
                position: node.world.w_axis.truncate() - eye,
                direction,
                right,
                up: right.cross(direction),
            });
        }
        let mut lights = Self { placed, ..Self::default() };
        if scene.emissive_lights {
            lights.add_triangles(scene, bvh, top);
            lights.average_emission(coverage);
        }
        lights.environment = scene.environment.as_ref().and_then(EnvironmentSampler::new);
        let of = |is: fn(&Light) -> bool| -> Vec<usize> {
            let placed = lights.placed.iter().enumerate();
            placed.filter(|(_, placed)| is(&placed.light)).map(|(index, _)| index).collect()
        };
        (lights.suns, lights.surfaces) =
            (of(Light::is_directional), of(|light| light.source.nits().is_some()));
        lights.tree = LightTree::new(&lights.bounds());
        lights
    }

    fn add_triangles(&mut self, scene: &Scene, bvh: &SceneBvh, top: &SceneTlas) {
        let nodes: HashMap<usize, _> =
            scene.walk().into_iter().map(|placed| (placed.index, placed.world)).collect();
        for instance in 0..top.instances.len() as u32 {
            let Some((node, blas)) = bvh.instance_blas(instance) else { continue };
            let Some(primitive) =
                scene.meshes.get(blas.mesh).and_then(|m| m.primitives.get(blas.primitive))
            else {
                continue;
            };
            let Some(material) = primitive.material.and_then(|m| scene.materials.get(m)) else {
                continue;
            };
            let Some(world) = nodes.get(&node) else { continue };
            if material.emission.max_element() <= 0.0 || material.unlit {
                continue;
            }
            let Some(to_eye) = bvh.to_eye(top, instance) else { continue };
            let mirrored = world.determinant() < 0.0;
            let coated = material.clearcoat.factor > 0.0;
            let varied = coated
                || material.emissive_texture.is_some()
                || material.alpha != AlphaMode::Opaque;
            for triangle in blas.triangles.0..blas.triangles.0 + blas.triangles.1 {
                // The positions that rays hit.
                let shape = bvh.triangles[triangle as usize];
                let corners = [shape.a, shape.b, shape.c]
                    .map(|corner| to_eye.transform_point3(corner.as_dvec3()));
                let cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
                let area = cross.length() / 2.0;
                if area <= 0.0 || !area.is_finite() {
                    continue;
                }
                self.of_triangle.insert((instance, triangle), self.triangles.len());
                self.triangles.push(EmissiveTriangle {
                    corners,
                    normal: cross.normalize_or(DVec3::Y) * if mirrored { -1.0 } else { 1.0 },
                    area,
                    emission: material.emission.as_dvec3(),
                    two_sided: material.double_sided,
                    at: (instance, triangle),
                    varied,
                    mean: luminance(material.emission.as_dvec3()),
                });
            }
        }
    }

    /// Averages textures and opacity over each triangle.
    fn average_emission(&mut self, coverage: impl Fn(&TrianglePoint, DVec3) -> DVec3 + Sync) {
        let varied = self.triangles.iter().filter(|triangle| triangle.varied).count();
        let points = (POINTS / varied.max(1)).clamp(MIN_POINTS, MAX_POINTS);
        self.triangles.par_iter_mut().filter(|triangle| triangle.varied).for_each(|triangle| {
            let (instance, index) = triangle.at;
            let sum: f64 = (0..points)
                .map(|point| {
                    // Martin Roberts 2018, the R2 sequence.
                    let u = DVec2::new(0.754_877_666_246_693, 0.569_840_290_998_053)
                        * (point as f64 + 0.5);
                    let (_, barycentric) = triangle_point(u.fract());
                    let at = TrianglePoint {
                        instance,
                        triangle: index,
                        barycentric: barycentric.as_vec2(),
                        varied: true,
                    };
                    luminance(coverage(&at, -triangle.normal) * triangle.emission)
                })
                .sum();
            // Light that all points missed may exist.
            triangle.mean = (sum / points as f64).max(0.25 * triangle.mean / points as f64);
        });
    }

    /// Bounds of the local lights: placed ones, then emissive triangles.
    fn bounds(&self) -> Vec<Option<LightBounds>> {
        let placed = self.placed.iter().map(PlacedLight::bounds);
        let triangles = self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.corners;
            Some(LightBounds {
                low: a.min(b).min(c),
                high: a.max(b).max(c),
                axis: triangle.normal,
                normals: 0.0,
                spread: FRAC_PI_2,
                two_sided: triangle.two_sided,
                intensity: triangle.mean * triangle.area,
            })
        });
        placed.chain(triangles).collect()
    }

    /// What a light without a surface contributes at a receiver, unoccluded (nits); `None` for
    /// lights with a surface.
    fn exact(&self, light: u32, receiver: &Receiver) -> Option<f64> {
        self.placed.get(light as usize)?.point_contribution(receiver)
    }

    fn sun_estimate(&self, sun: usize, receiver: &Receiver) -> f64 {
        self.placed.get(sun).map_or(0.0, |light| light.sun_estimate(receiver))
    }

    /// Number of kinds of light sources in the scene.
    pub(super) fn kinds(&self) -> usize {
        usize::from(!self.tree.is_empty())
            + usize::from(!self.suns.is_empty())
            + usize::from(self.environment.is_some())
    }

    /// Prepares the choice of a light at a receiver, without regard to occlusion.
    #[must_use]
    pub fn choice_at(&self, receiver: &Receiver) -> LightChoice {
        self.choice_by_visibility(receiver, [1.0; KINDS])
    }

    /// Prepares the choice of a light at a receiver, given the visible fraction of each kind of
    /// light sources.
    pub(super) fn choice_by_visibility(
        &self,
        receiver: &Receiver,
        visible: [f64; KINDS],
    ) -> LightChoice {
        let cut = self.tree.cut(receiver, &|light| self.exact(light, receiver));
        let suns = self.suns.iter().map(|&sun| self.sun_estimate(sun, receiver)).sum();
        let around = self.environment.as_ref().map_or(0.0, |around| around.estimate(receiver));
        let estimates: [f64; KINDS] = [cut.sum, suns, around];
        let present = estimates.iter().filter(|estimate| **estimate > 0.0).count() as f64;
        let seen: [f64; KINDS] = std::array::from_fn(|kind| estimates[kind] * visible[kind]);
        let sum: f64 = seen.iter().sum();
        let kinds = std::array::from_fn(|kind| {
            let equal = 1.0 / present;
            let by_estimate = if sum > 0.0 { seen[kind] / sum } else { equal };
            if estimates[kind] > 0.0 {
                EQUAL_PART * equal + (1.0 - EQUAL_PART) * by_estimate
            } else {
                0.0
            }
        });
        LightChoice { receiver: *receiver, kinds, cut, suns }
    }

    /// Index of the emissive triangle that a ray hit.
    #[must_use]
    pub fn emitter_at(&self, instance: u32, triangle: u32) -> Option<usize> {
        self.of_triangle.get(&(instance, triangle)).copied()
    }

    /// Probability with which `sample` chooses a light: a placed one by its index, or an emissive
    /// triangle by its index after those.
    #[must_use]
    pub fn probability(&self, choice: &LightChoice, light: usize) -> f64 {
        let (receiver, [local, suns, _]) = (&choice.receiver, choice.kinds);
        if self.placed.get(light).is_some_and(|placed| placed.light.is_directional()) {
            return if suns > 0.0 {
                suns * self.sun_estimate(light, receiver) / choice.suns
            } else {
                0.0
            };
        }
        if local <= 0.0 {
            return 0.0;
        }
        let exact = |light| self.exact(light, receiver);
        local * self.tree.probability(&choice.cut, receiver, light as u32, &exact)
    }

    /// Chooses a light by the first number of a pair. Returns it, its probability, and the
    /// remainder of the number, uniform again.
    fn choose(&self, choice: &LightChoice, u: f64) -> Option<(LightSource, f64, f64)> {
        let mut kind = None;
        let mut below = 0.0;
        for (index, chance) in choice.kinds.into_iter().enumerate().filter(|(_, c)| *c > 0.0) {
            kind = Some((index, chance, ((u - below) / chance).clamp(0.0, BELOW_ONE)));
            below += chance;
            if u < below {
                break;
            }
        }
        let (kind, chance, u) = kind?;
        match kind {
            0 => {
                let exact = |light| self.exact(light, &choice.receiver);
                let (light, of_kind, u) =
                    self.tree.sample(&choice.cut, &choice.receiver, u, &exact)?;
                Some((LightSource::Light(light as usize), chance * of_kind, u))
            }
            1 => {
                let mut left = u * choice.suns;
                let mut chosen = None;
                for &sun in &self.suns {
                    let value = self.sun_estimate(sun, &choice.receiver);
                    if value > 0.0 {
                        let rest = (left / value).min(BELOW_ONE);
                        chosen =
                            Some((LightSource::Light(sun), chance * value / choice.suns, rest));
                        if left < value {
                            break;
                        }
                        left -= value;
                    }
                }
                chosen
            }
            _ => Some((LightSource::Environment, chance, u)),
        }
    }

    /// The light that `sample` chooses, and its probability.
    #[cfg(test)]
    pub(super) fn choose_light(&self, choice: &LightChoice, u: f64) -> Option<(usize, f64)> {
        match self.choose(choice, u)? {
            (LightSource::Light(light), chance, _) => Some((light, chance)),
            (LightSource::Environment, ..) => None,
        }
    }

    /// Samples a light point for the receiver of a choice by a pair of numbers; `None` where the
    /// light does not emit in that direction. The first number chooses the light, and its remainder
    /// places the point: light and point are stratified together.
    #[must_use]
    pub fn sample(&self, choice: &LightChoice, u: DVec2) -> Option<LightSample> {
        let (source, chance, x) = self.choose(choice, u.x)?;
        let (from, u) = (choice.receiver.position, DVec2::new(x, u.y));
        let mut sample = match source {
            LightSource::Environment => {
                let (direction, weight, density) = self.environment.as_ref()?.sample(u)?;
                LightSample {
                    direction,
                    distance: 1e30,
                    weight,
                    pdf: Some(density),
                    shadow: true,
                    triangle_point: None,
                }
            }
            LightSource::Light(index) => match self.placed.get(index) {
                Some(light) => light.sample(from, u)?,
                None => self.triangles.get(index - self.placed.len())?.sample(from, u)?,
            },
        };
        sample.weight /= chance;
        // Lights without shadows use light sampling alone: a ray may hit a surface first.
        sample.pdf = sample.pdf.filter(|_| sample.shadow).map(|density| density * chance);
        Some(sample)
    }

    /// Samples a light point of one kind for a position.
    pub(super) fn sample_kind(
        &self,
        position: DVec3,
        kind: usize,
        u: DVec2,
    ) -> Option<LightSample> {
        let mut choice = self.choice_at(&Receiver::at(position));
        for (index, chance) in choice.kinds.iter_mut().enumerate() {
            *chance = if index == kind && *chance > 0.0 { 1.0 } else { 0.0 };
        }
        self.sample(&choice, u)
    }

    /// Density by solid angle of the direction to a hit emissive triangle in `sample`.
    #[must_use]
    pub fn triangle_pdf(
        &self,
        choice: &LightChoice,
        triangle: usize,
        direction: DVec3,
        distance: f64,
    ) -> f64 {
        let Some(t) = self.triangles.get(triangle) else { return 0.0 };
        self.probability(choice, self.placed.len() + triangle) * distance * distance
            / (t.area * t.normal.dot(direction).abs().max(1e-12))
    }

    /// Environment along a ray without a hit: luminance (nits per channel), and the density of its
    /// direction in `sample`.
    #[must_use]
    pub fn environment_radiance(&self, choice: &LightChoice, direction: DVec3) -> (DVec3, f64) {
        let Some(around) = &self.environment else { return (DVec3::ZERO, 0.0) };
        (around.luminance(direction), around.pdf(direction) * choice.kinds[2])
    }

    /// Calls back for every area light that a ray hits before `limit` (m). The path's last vertex,
    /// the receiver of `choice`, lies `back` (m) behind the ray's origin.
    pub fn for_each_light_hit(
        &self,
        choice: &LightChoice,
        origin: DVec3,
        direction: DVec3,
        limit: f64,
        back: f64,
        mut on_hit: impl FnMut(LightHit),
    ) {
        for &index in &self.surfaces {
            let Some(placed) = self.placed.get(index) else { continue };
            if let Some((distance, density)) = placed.hit(origin, direction, limit, back) {
                let density =
                    placed.light.shadow.then(|| density * self.probability(choice, index));
                on_hit(LightHit {
                    radiance: placed.radiance(),
                    distance,
                    pdf: density,
                    visible: placed.light.visible,
                });
            }
        }
    }
}

/// A uniform point in a triangle: weights of the first vertex, and of the second and third. Turk
/// 1990, "Generating Random Points in Triangles", Graphics Gems.
fn triangle_point(u: DVec2) -> (f64, DVec2) {
    let root = u.x.sqrt();
    (1.0 - root, DVec2::new(root * (1.0 - u.y), root * u.y))
}

impl EmissiveTriangle {
    fn sample(&self, from: DVec3, u: DVec2) -> Option<LightSample> {
        let (first, others) = triangle_point(u);
        let [a, b, c] = self.corners;
        let point = a * first + b * others.x + c * others.y;
        let sample =
            surface_sample(from, point, self.normal, self.area, self.emission, self.two_sided)?;
        let (barycentric, (instance, triangle)) = (others.as_vec2(), self.at);
        let on = Some(TrianglePoint { instance, triangle, barycentric, varied: self.varied });
        Some(LightSample { triangle_point: on, ..sample })
    }
}

/// A uniform point on a surface, with its density converted to solid angle.
fn surface_sample(
    from: DVec3,
    point: DVec3,
    normal: DVec3,
    area: f64,
    luminance: DVec3,
    two_sided: bool,
) -> Option<LightSample> {
    let d = point - from;
    let distance = d.length();
    let direction = d / distance.max(1e-300);
    let facing = -normal.dot(direction);
    if !(distance > 0.0 && (facing > 0.0 || (two_sided && facing != 0.0))) {
        return None;
    }
    let density = distance * distance / (area * facing.abs());
    Some(LightSample {
        direction,
        distance,
        weight: luminance / density,
        pdf: Some(density),
        shadow: true,
        triangle_point: None,
    })
}

/// Two unit vectors orthogonal to a third.
fn frame(z: DVec3) -> (DVec3, DVec3) {
    z.any_orthonormal_pair()
}

/// Uniform direction in a cone, whose half angle is given as `1 - cos`.
fn cone(axis: DVec3, one_minus_cos: f64, u: DVec2) -> DVec3 {
    let below = u.x * one_minus_cos;
    let (cos, sin) = (1.0 - below, (below * (2.0 - below)).max(0.0).sqrt());
    let phi = 2.0 * PI * u.y;
    let (x, y) = frame(axis);
    (x * (sin * phi.cos()) + y * (sin * phi.sin()) + axis * cos).normalize()
}

impl PlacedLight {
    /// Bounds in the light tree; `None` for suns.
    fn bounds(&self) -> Option<LightBounds> {
        let emitter = self.light.emitter();
        let (normals, spread, two_sided) = match emitter {
            Emitter::Sun { .. } => return None,
            // Slightly wider than the cone, so that rounding cuts nothing.
            Emitter::Spot { cone, .. } => (cone.outer(), 1e-3, false),
            Emitter::Disk { sides, .. } | Emitter::Rectangle { sides, .. } => {
                (0.0, FRAC_PI_2, sides == Sides::Two)
            }
            Emitter::Point | Emitter::Sphere { .. } | Emitter::Tube { .. } => {
                (PI, FRAC_PI_2, false)
            }
        };
        let half = match emitter {
            Emitter::Sphere { radius } => DVec3::splat(radius),
            Emitter::Disk { radius, .. } => {
                (self.right.abs() + self.up.abs()).min(DVec3::ONE) * radius
            }
            Emitter::Rectangle { width, height, .. } => {
                (self.right.abs() * width + self.up.abs() * height) * 0.5
            }
            Emitter::Tube { radius, length } => self.right.abs() * (length * 0.5) + radius,
            _ => DVec3::ZERO,
        };
        Some(LightBounds {
            low: self.position - half,
            high: self.position + half,
            axis: self.direction,
            normals,
            spread,
            two_sided,
            intensity: self.light.candela().map_or(0.0, Candela::get)
                * self.light.color_luminance(),
        })
    }

    /// What a point or spot light contributes at a receiver, unoccluded (nits).
    fn point_contribution(&self, receiver: &Receiver) -> Option<f64> {
        if !matches!(self.light.emitter(), Emitter::Point | Emitter::Spot { .. }) {
            return None;
        }
        let Some(sample) = self.sample(receiver.position, DVec2::ZERO) else { return Some(0.0) };
        let lux = luminance(sample.weight);
        Some(if lux > 0.0 {
            lux * receiver.response(sample.direction, Subtended::POINT)
        } else {
            0.0
        })
    }

    /// Estimate of what a sun contributes at a receiver, unoccluded (nits).
    fn sun_estimate(&self, receiver: &Receiver) -> f64 {
        let Emitter::Sun { angular_radius } = self.light.emitter() else { return 0.0 };
        let (towards, (sine, cosine)) = (-self.direction, angular_radius.sin_cos());
        if self.light.clip_at_horizon && towards.y < -sine {
            return 0.0;
        }
        self.light.source.lux(1.0).get()
            * self.light.color_luminance()
            * receiver.response(towards, Subtended { sine, cosine })
    }

    fn radiance(&self) -> DVec3 {
        self.light.color.as_dvec3() * self.light.source.nits().map_or(0.0, Nit::get)
    }

    fn color(&self) -> DVec3 {
        self.light.color.as_dvec3()
    }

    fn sample(&self, from: DVec3, u: DVec2) -> Option<LightSample> {
        let shadow = self.light.shadow;
        let sample = match self.light.emitter() {
            Emitter::Point | Emitter::Spot { .. } => {
                let d = self.position - from;
                let d2 = d.length_squared().max(1e-12);
                let direction = d / d2.sqrt();
                let candela =
                    self.light.candela().map_or(0.0, Candela::get) * self.relative(-direction);
                let window = self
                    .light
                    .range
                    .map_or(1.0, |range| (1.0 - (d2.sqrt() / f64::from(range)).powi(4)).max(0.0));
                let weight = self.color() * (candela * window / d2);
                LightSample {
                    direction,
                    distance: d2.sqrt(),
                    weight,
                    pdf: None,
                    shadow,
                    triangle_point: None,
                }
            }
            Emitter::Sun { angular_radius: 0.0 }
                if self.light.clip_at_horizon && self.direction.y > 0.0 =>
            {
                return None;
            }
            Emitter::Sun { angular_radius: 0.0 } => {
                let weight = self.color() * self.light.source.lux(1.0).get();
                LightSample {
                    direction: -self.direction,
                    distance: 1e30,
                    weight,
                    pdf: None,
                    shadow,
                    triangle_point: None,
                }
            }
            Emitter::Sun { angular_radius } => {
                let part = 2.0 * (angular_radius / 2.0).sin().powi(2);
                let density = 1.0 / (2.0 * PI * part);
                let direction = cone(-self.direction, part, u);
                if self.light.clip_at_horizon && direction.y < 0.0 {
                    return None;
                }
                LightSample {
                    direction,
                    distance: 1e30,
                    weight: self.radiance() / density,
                    pdf: Some(density),
                    shadow,
                    triangle_point: None,
                }
            }
            Emitter::Sphere { radius } => {
                let part = sphere_cap(self.position - from, radius)?;
                let density = 1.0 / (2.0 * PI * part);
                let direction = cone((self.position - from).normalize(), part, u);
                let distance = sphere_distance(self.position - from, direction, radius)
                    .unwrap_or((self.position - from).dot(direction));
                let weight = self.radiance() / density;
                LightSample {
                    direction,
                    distance,
                    weight,
                    pdf: Some(density),
                    shadow,
                    triangle_point: None,
                }
            }
            Emitter::Disk { radius, sides } => {
                let (r, phi) = (radius * u.x.sqrt(), 2.0 * PI * u.y);
                let point =
                    self.position + self.right * (r * phi.cos()) + self.up * (r * phi.sin());
                let area = PI * radius * radius;
                surface_sample(
                    from,
                    point,
                    self.direction,
                    area,
                    self.radiance(),
                    sides == Sides::Two,
                )?
            }
            Emitter::Rectangle { width, height, sides } => {
                let point = self.position
                    + self.right * (width * (u.x - 0.5))
                    + self.up * (height * (u.y - 0.5));
                let area = width * height;
                surface_sample(
                    from,
                    point,
                    self.direction,
                    area,
                    self.radiance(),
                    sides == Sides::Two,
                )?
            }
            Emitter::Tube { radius, length } => {
                // The side and both hemispheres in proportion to their areas; a sampled sphere
                // point selects its hemisphere.
                let (side, caps) = (2.0 * PI * radius * length, 4.0 * PI * radius * radius);
                let chosen = u.x * (side + caps);
                let (offset, normal) = if chosen < side {
                    let phi = 2.0 * PI * u.y;
                    let normal = self.up * phi.cos() + self.direction * phi.sin();
                    (self.right * (length * (chosen / side - 0.5)), normal)
                } else {
                    let z = 1.0 - 2.0 * (chosen - side) / caps;
                    let phi = 2.0 * PI * u.y;
                    let sin = (1.0 - z * z).max(0.0).sqrt();
                    let normal =
                        self.right * z + (self.up * phi.cos() + self.direction * phi.sin()) * sin;
                    (self.right * (length * 0.5 * z.signum()), normal)
                };
                let point = self.position + offset + normal * radius;
                surface_sample(from, point, normal, side + caps, self.radiance(), false)?
            }
        };
        Some(LightSample { shadow, ..sample })
    }

    /// Intensity in a direction (away from the light) over the peak.
    fn relative(&self, away: DVec3) -> f64 {
        let cone = self.light.emitter().relative_intensity(self.direction.dot(away)).unwrap_or(0.0);
        let Some(profile) = &self.light.profile else { return cone };
        // The light's axes: nadir along -Z, C0 along +X.
        let local = DVec3::new(away.dot(self.right), away.dot(self.up), -away.dot(self.direction));
        let peak = profile.peak().get();
        if peak > 0.0 { cone * profile.candela_towards(local).get() / peak } else { 0.0 }
    }

    /// Hit of a ray on the light's surface before `limit`, and the density (by solid angle, of this
    /// light alone) of the ray's direction in `sample` from the point `back` behind its origin.
    fn hit(&self, origin: DVec3, direction: DVec3, limit: f64, back: f64) -> Option<(f64, f64)> {
        let to_center = self.position - origin;
        let far = |distance: f64| (distance + back) * (distance + back);
        let flat = |half: &dyn Fn(DVec3) -> bool, area: f64, sides: Sides| {
            let facing = -self.direction.dot(direction);
            if facing == 0.0 || (facing < 0.0 && sides == Sides::One) {
                return None;
            }
            let distance = to_center.dot(self.direction) / direction.dot(self.direction);
            let inside =
                distance > 0.0 && distance < limit && half(direction * distance - to_center);
            inside.then(|| (distance, far(distance) / (area * facing.abs())))
        };
        match self.light.emitter() {
            Emitter::Point | Emitter::Spot { .. } | Emitter::Sun { angular_radius: 0.0 } => None,
            Emitter::Sun { angular_radius } => {
                let part = 2.0 * (angular_radius / 2.0).sin().powi(2);
                let above = !self.light.clip_at_horizon || direction.y >= 0.0;
                let inside =
                    above && limit == f64::INFINITY && 1.0 + self.direction.dot(direction) < part;
                inside.then(|| (f64::INFINITY, 1.0 / (2.0 * PI * part)))
            }
            Emitter::Sphere { radius } => {
                let distance =
                    sphere_distance(to_center, direction, radius).filter(|d| *d < limit)?;
                // From inside, `sample` returns nothing.
                let density = sphere_cap(to_center + direction * back, radius)
                    .map_or(0.0, |part| 1.0 / (2.0 * PI * part));
                Some((distance, density))
            }
            Emitter::Disk { radius, sides } => {
                flat(&|p| p.length() < radius, PI * radius * radius, sides)
            }
            Emitter::Rectangle { width, height, sides } => flat(
                &|p| p.dot(self.right).abs() < width / 2.0 && p.dot(self.up).abs() < height / 2.0,
                width * height,
                sides,
            ),
            Emitter::Tube { radius, length } => {
                let (distance, normal) = self.capsule(origin, direction, radius, length)?;
                let facing = -normal.dot(direction);
                let area = 2.0 * PI * radius * length + 4.0 * PI * radius * radius;
                (distance < limit && facing > 0.0)
                    .then(|| (distance, far(distance) / (area * facing)))
            }
        }
    }

    /// Nearest hit on a capsule along a ray from outside, and the normal there.
    fn capsule(
        &self,
        origin: DVec3,
        direction: DVec3,
        radius: f64,
        length: f64,
    ) -> Option<(f64, DVec3)> {
        let o = origin - self.position;
        let along = |v: DVec3| v.dot(self.right);
        let across = |v: DVec3| v - self.right * along(v);
        let mut best: Option<(f64, DVec3)> = None;
        let mut offer = |t: f64, normal: DVec3| {
            if t > 0.0 && best.is_none_or(|(b, _)| t < b) {
                best = Some((t, normal));
            }
        };
        let (a, b, c) = (
            across(direction).length_squared(),
            across(o).dot(across(direction)),
            across(o).length_squared() - radius * radius,
        );
        let root = b * b - a * c;
        if a > 1e-18 && root > 0.0 {
            let t = (-b - root.sqrt()) / a;
            let p = o + direction * t;
            if along(p).abs() <= length / 2.0 {
                offer(t, across(p) / radius);
            }
        }
        for end in [-0.5, 0.5] {
            let center = self.right * (length * end) - o;
            if let Some(t) = sphere_distance(center, direction, radius) {
                let normal = (direction * t - center) / radius;
                if along(normal) * end >= 0.0 {
                    offer(t, normal);
                }
            }
        }
        best
    }
}

/// `1 - cos` of the cone that a sphere subtends; `None` from inside.
fn sphere_cap(to_center: DVec3, radius: f64) -> Option<f64> {
    let sin2 = radius * radius / to_center.length_squared();
    (sin2 < 1.0).then(|| sin2 / (1.0 + (1.0 - sin2).sqrt()))
}

/// Distance along a unit direction to a sphere from outside.
fn sphere_distance(to_center: DVec3, direction: DVec3, radius: f64) -> Option<f64> {
    let along = to_center.dot(direction);
    // The distance of the line from the center without cancellation.
    let apart = (to_center - direction * along).length_squared();
    let inside = radius * radius - apart;
    let t = along - inside.max(0.0).sqrt();
    (inside >= 0.0 && t > 0.0).then_some(t)
}
