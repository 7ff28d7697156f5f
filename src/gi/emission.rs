//! Photon emission: the lights of a scene as photon sources.

use std::{collections::HashMap, sync::Arc};

use glam::{DMat4, DVec2, DVec3};

use super::{
    emissive::EmissiveSource,
    environment::EnvironmentSource,
    light_source::PhotonLight,
    sequence::{DIMENSIONS, joined},
    surface_hit::TraceScene,
};
use crate::{bvh::SceneBvh, scene::Scene};

/// A photon at emission, relative to the anchor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Photon {
    pub origin: DVec3,
    /// Unit direction.
    pub direction: DVec3,
    /// Unit normal of the surface that the photon leaves; zero in free space.
    pub offset_normal: DVec3,
    /// Flux relative to an even share of the source's flux, per channel; the mean is 1.
    pub weight: DVec3,
    /// Range (m) at which the light ends (glTF), measured from the origin.
    pub range: Option<f64>,
    /// Occluders are ignored: the light casts no shadows.
    pub unshadowed: bool,
}

/// Identity of a light source across frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The light of a node.
    Node(usize),
    /// All surfaces of a material.
    Material(usize),
    /// The environment.
    Sky,
}

impl Key {
    pub fn seed(self) -> u32 {
        match self {
            Self::Node(index) => joined(1, index as u32),
            Self::Material(index) => joined(2, index as u32),
            Self::Sky => joined(3, 0),
        }
    }
}

/// Emission distribution of a source. Equal distributions emit the same photons along the same
/// paths.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Emission {
    Light(PhotonLight),
    Emissive(EmissiveSource),
    Environment(EnvironmentSource),
}

impl Emission {
    /// Samples a photon from the first group of its sequence.
    pub fn photon(&self, stage: &TraceScene, u: [f64; DIMENSIONS]) -> Option<Photon> {
        let [a, b, c, d, _] = u;
        let (direction, position) = (DVec2::new(a, b), DVec2::new(c, d));
        let photon = match self {
            Self::Light(photon_light) => photon_light.photon(direction, position)?,
            Self::Emissive(glow) => glow.photon(stage, direction, position)?,
            Self::Environment(sky) => sky.photon(direction, position)?,
        };
        let sound =
            photon.origin.is_finite() && photon.direction.is_finite() && photon.weight.is_finite();
        sound.then_some(photon)
    }
}

/// A light source with its distribution and flux.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PhotonSource {
    pub key: Key,
    pub emission: Emission,
    /// Total flux (lm per channel). Dimming and tinting change only this.
    pub flux: DVec3,
}

/// World-space bounds of a scene (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    low: DVec3,
    high: DVec3,
}

impl Extent {
    /// `None` for an empty scene and for bounds without size. Returns `before` while it still
    /// contains the scene and is less than a tenth too large. So an object that moves to and fro
    /// soon leaves the photons of suns and environments on the same paths in every frame.
    pub fn new(bvh: &SceneBvh, before: Option<Self>) -> Option<Self> {
        let (low, high) = bvh.bounds()?;
        let now = Self { low, high };
        let size = (high - low).max_element();
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let holds = |last: &Self| {
            last.low.cmple(low).all()
                && last.high.cmpge(high).all()
                && last.area() <= 1.1 * now.area()
        };
        Some(before.filter(holds).unwrap_or(now))
    }

    /// Surface area (m2).
    fn area(&self) -> f64 {
        let s = self.high - self.low;
        2.0 * (s.x * s.y + s.y * s.z + s.z * s.x)
    }

    pub fn middle(&self) -> DVec3 {
        self.low * 0.5 + self.high * 0.5
    }

    /// Bounds relative to the anchor, slightly enlarged so that surfaces in their faces are inside.
    pub fn relative_to(&self, anchor: DVec3) -> Bounds {
        let half = (self.high - self.low) * 0.5;
        Bounds { middle: self.middle() - anchor, half: half * 1.0001 + 1e-4 * half.max_element() }
    }
}

/// Bounds of a scene relative to the anchor, slightly enlarged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    middle: DVec3,
    half: DVec3,
}

impl Bounds {
    /// Areas (m2) of the faces across x, y and z.
    pub fn sides(&self) -> DVec3 {
        let s = self.half * 2.0;
        DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y)
    }

    /// Projected area (m2) along a unit direction.
    pub fn shadow(&self, direction: DVec3) -> f64 {
        self.sides().dot(direction.abs())
    }

    /// Entry point of parallel light along a direction, uniform over the projected area of the box.
    pub fn entry(&self, direction: DVec3, u: DVec2) -> DVec3 {
        let areas = self.sides() * direction.abs();
        let mut chosen = u.x * areas.element_sum();
        let mut axis = 0;
        while axis < 2 && chosen >= areas[axis] {
            chosen -= areas[axis];
            axis += 1;
        }
        let rest = (chosen / areas[axis].max(1e-300)).clamp(0.0, 1.0);
        let mut place = DVec3::ZERO;
        place[axis] = -direction[axis].signum();
        place[(axis + 1) % 3] = 2.0 * rest - 1.0;
        place[(axis + 2) % 3] = 2.0 * u.y - 1.0;
        self.middle + place * self.half
    }

    /// Radius (m) of the bounding sphere.
    pub fn radius(&self) -> f64 {
        self.half.length()
    }
}

/// World-space frame of a light's node, relative to the anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub position: DVec3,
    /// Emission axis.
    pub axis: DVec3,
    /// Axis of the width or the length.
    pub right: DVec3,
    pub up: DVec3,
}

impl Pose {
    fn new(world: &DMat4, anchor: DVec3) -> Self {
        let axis = (-world.z_axis.truncate()).try_normalize().unwrap_or(DVec3::NEG_Z);
        let across = world.x_axis.truncate();
        let right = (across - axis * across.dot(axis))
            .try_normalize()
            .unwrap_or(axis.any_orthonormal_vector());
        Self { position: world.w_axis.truncate() - anchor, axis, right, up: right.cross(axis) }
    }
}

/// All light sources of a scene, in scene order: punctual and area lights, emissive materials, the
/// environment. `before` holds the previous sources; their tables are kept where they are still
/// valid. Tables over triangles are valid while shapes and materials are unchanged (`unmoved`).
pub(super) fn sources(
    stage: &TraceScene,
    anchor: DVec3,
    bounds: &Bounds,
    before: &HashMap<Key, &PhotonSource>,
    unmoved: bool,
) -> Vec<PhotonSource> {
    let known = |key: Key| before.get(&key).map(|source| &source.emission);
    let mut found = Vec::new();
    let scene: &Scene = stage.scene;
    for placed in scene.walk() {
        let Some(light) = placed.node.light.and_then(|light| scene.lights.get(light)) else {
            continue;
        };
        let key = Key::Node(placed.index);
        let last = match known(key) {
            Some(Emission::Light(photon_light)) => Some(photon_light),
            _ => None,
        };
        let photon_light = PhotonLight::new(light, Pose::new(&placed.world, anchor), bounds, last);
        let flux = photon_light.flux(light);
        found.push(PhotonSource {
            key,
            emission: Emission::Light(photon_light),
            flux: light.color.as_dvec3() * flux,
        });
    }
    if scene.emissive_lights {
        let known = |material: usize| match known(Key::Material(material)) {
            Some(Emission::Emissive(glow)) if unmoved => Some(glow),
            _ => None,
        };
        found.extend(EmissiveSource::all(stage, known).into_iter().map(
            |(material, glow, flux)| PhotonSource {
                key: Key::Material(material),
                emission: Emission::Emissive(glow),
                flux,
            },
        ));
    }
    if let Some(environment) = &scene.environment {
        let last = match known(Key::Sky) {
            Some(Emission::Environment(sky)) => Some(sky),
            _ => None,
        };
        if let Some(sky) = EnvironmentSource::new(environment, bounds, last) {
            let flux = DVec3::splat(sky.flux());
            found.push(PhotonSource { key: Key::Sky, emission: Emission::Environment(sky), flux });
        }
    }
    found
}

/// Samples a cumulative sum (up to its last entry): the index, and the remainder of `u`, again
/// uniform in 0 to 1.
pub(super) fn sample_cdf(sums: &[f64], u: f64) -> Option<(usize, f64)> {
    let value = u * *sums.last()?;
    let index = sums.partition_point(|&sum| sum <= value).min(sums.len() - 1);
    let before = index.checked_sub(1).and_then(|i| sums.get(i)).copied().unwrap_or(0.0);
    let part = sums.get(index)? - before;
    Some((index, if part > 0.0 { ((value - before) / part).clamp(0.0, 1.0) } else { 0.5 }))
}

/// True if both are the same allocation, or both absent.
pub(super) fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}
