//! Photon emission: the lights of a scene as photon sources.

use std::collections::HashMap;

use glam::{DVec2, DVec3};

use super::{
    bounds::Bounds,
    emissive::EmissiveSource,
    environment::EnvironmentSource,
    light_source::{PhotonLight, Pose},
    photon::Photon,
    sequence::joined,
    surface_hit::TraceScene,
};
use crate::{scene::Scene, sobol::DIMENSIONS};

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
