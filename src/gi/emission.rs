//! The lights of a scene as sources of photons.

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

/// A photon as it sets out, relative to the anchor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Photon {
    pub origin: DVec3,
    /// Unit vector.
    pub direction: DVec3,
    /// The unit normal of the surface it leaves; zero in free space.
    pub away: DVec3,
    /// Its flux over an even share of the light's, by channel; 1 on the mean.
    pub weight: DVec3,
    /// A range (m) at which the light is made to end, counted from the origin.
    pub range: Option<f64>,
    /// Nothing stops it: the light casts no shadows.
    pub unshadowed: bool,
}

/// Which light of the scene it is, from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A light on a node.
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

/// How a source's photons set out: as long as two are equal, their photons take the same ways.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Emission {
    Lamp(PhotonLight),
    Glow(EmissiveSource),
    Sky(EnvironmentSource),
}

impl Emission {
    /// A photon from the numbers of its first group.
    pub fn photon(&self, stage: &TraceScene, u: [f64; DIMENSIONS]) -> Option<Photon> {
        let [a, b, c, d, _] = u;
        let (direction, position) = (DVec2::new(a, b), DVec2::new(c, d));
        let photon = match self {
            Self::Lamp(lamp) => lamp.photon(direction, position)?,
            Self::Glow(glow) => glow.photon(stage, direction, position)?,
            Self::Sky(sky) => sky.photon(direction, position)?,
        };
        let sound =
            photon.origin.is_finite() && photon.direction.is_finite() && photon.weight.is_finite();
        sound.then_some(photon)
    }
}

/// A light.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PhotonSource {
    pub key: Key,
    pub emission: Emission,
    /// All its light (lm by channel): dimming and colouring change nothing else.
    pub flux: DVec3,
}

/// The box around a scene in the world (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    low: DVec3,
    high: DVec3,
}

impl Extent {
    /// None around nothing, and around what has no size. The box of the last time, while it still
    /// holds everything and is less than a tenth too large: where something moves to and fro, suns
    /// and skies soon send their photons on the same ways in every frame.
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

    /// Of its surface (m2).
    fn area(&self) -> f64 {
        let s = self.high - self.low;
        2.0 * (s.x * s.y + s.y * s.z + s.z * s.x)
    }

    pub fn middle(&self) -> DVec3 {
        self.low * 0.5 + self.high * 0.5
    }

    /// Relative to the anchor, a little wider, so that what lies in its sides is within.
    pub fn seen_from(&self, anchor: DVec3) -> Bounds {
        let half = (self.high - self.low) * 0.5;
        Bounds { middle: self.middle() - anchor, half: half * 1.0001 + 1e-4 * half.max_element() }
    }
}

/// The box around a scene, relative to the anchor, a little wider than that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    middle: DVec3,
    half: DVec3,
}

impl Bounds {
    /// The areas (m2) of its sides across x, y and z.
    pub fn sides(&self) -> DVec3 {
        let s = self.half * 2.0;
        DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y)
    }

    /// The area (m2) that it has as seen along a unit direction.
    pub fn shadow(&self, direction: DVec3) -> f64 {
        self.sides().dot(direction.abs())
    }

    /// Where parallel light that goes along a direction enters it: spread evenly over what the
    /// light sees.
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

    /// The radius (m) of the least sphere around it.
    pub fn radius(&self) -> f64 {
        self.half.length()
    }
}

/// A node's light in the world, relative to the anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub position: DVec3,
    /// Along which it shines.
    pub axis: DVec3,
    /// Along its width or length.
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

/// Every light of a scene, in the scene's order: lamps, glowing materials, the environment.
/// `before` has those of the last time: their tables are kept where they still hold; those over
/// triangles where shapes and materials are as they were (`unmoved`).
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
            Some(Emission::Lamp(lamp)) => Some(lamp),
            _ => None,
        };
        let lamp = PhotonLight::new(light, Pose::new(&placed.world, anchor), bounds, last);
        let flux = lamp.flux(light);
        found.push(PhotonSource {
            key,
            emission: Emission::Lamp(lamp),
            flux: light.color.as_dvec3() * flux,
        });
    }
    if scene.emissive_lights {
        let known = |material: usize| match known(Key::Material(material)) {
            Some(Emission::Glow(glow)) if unmoved => Some(glow),
            _ => None,
        };
        found.extend(EmissiveSource::all(stage, known).into_iter().map(
            |(material, glow, flux)| PhotonSource {
                key: Key::Material(material),
                emission: Emission::Glow(glow),
                flux,
            },
        ));
    }
    if let Some(environment) = &scene.environment {
        let last = match known(Key::Sky) {
            Some(Emission::Sky(sky)) => Some(sky),
            _ => None,
        };
        if let Some(sky) = EnvironmentSource::new(environment, bounds, last) {
            let flux = DVec3::splat(sky.flux());
            found.push(PhotonSource { key: Key::Sky, emission: Emission::Sky(sky), flux });
        }
    }
    found
}

/// The part of a running sum (up to its last) that a number chooses: its index, and the rest of the
/// number, as even as the whole.
pub(super) fn sample_cdf(sums: &[f64], u: f64) -> Option<(usize, f64)> {
    let value = u * *sums.last()?;
    let index = sums.partition_point(|&sum| sum <= value).min(sums.len() - 1);
    let before = index.checked_sub(1).and_then(|i| sums.get(i)).copied().unwrap_or(0.0);
    let part = sums.get(index)? - before;
    Some((index, if part > 0.0 { ((value - before) / part).clamp(0.0, 1.0) } else { 0.5 }))
}

/// Whether two shared things are the same one.
pub(super) fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}
