//! Fingerprints of the inputs that photon paths depend on, for change detection.

use std::sync::Arc;

use bytemuck::NoUninit;
use glam::Vec3;

use crate::{
    bvh::{BvhTriangle, SceneBvh, SceneTlas},
    scene::{Material, Scene, Texture},
};

/// Geometry, transforms and materials at the time the paths were traced.
#[derive(Debug)]
pub(super) struct Fingerprints {
    geometry: u64,
    /// Without the strength of their emission.
    materials: Vec<Material>,
    textures: Vec<Texture>,
    pictures: Vec<Arc<[u8]>>,
    multiscatter: bool,
}

/// Triangles hashed per static shape: enough to distinguish another scene.
const LOOKED_AT: usize = 256;

impl Fingerprints {
    pub fn new(scene: &Scene, bvh: &SceneBvh, top: &SceneTlas) -> Self {
        Self {
            geometry: geometry(scene, bvh, top),
            materials: scene
                .materials
                .iter()
                .map(|material| Material { emission: Vec3::ZERO, ..material.clone() })
                .collect(),
            textures: scene.textures.clone(),
            pictures: scene.images.iter().map(|image| image.rgba8.clone()).collect(),
            multiscatter: scene.multiscatter,
        }
    }
}

impl PartialEq for Fingerprints {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<[u8]>, &Arc<[u8]>)| Arc::ptr_eq(a, b);
        self.geometry == other.geometry
            && self.multiscatter == other.multiscatter
            && self.materials == other.materials
            && self.textures == other.textures
            && self.pictures.len() == other.pictures.len()
            && self.pictures.iter().zip(&other.pictures).all(same)
    }
}

/// A running hash: multiply and rotate, eight bytes at a time (as FxHash does).
struct Hash(u64);

impl Hash {
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn all<T: NoUninit>(&mut self, items: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(items);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_ne_bytes(*word));
        }
        rest.iter().for_each(|&byte| self.word(u64::from(byte)));
    }
}

/// Hashes all transforms, all triangles that may move, and a sample of the others.
fn geometry(scene: &Scene, bvh: &SceneBvh, top: &SceneTlas) -> u64 {
    let mut hash = Hash(0);
    hash.all(&top.instances);
    hash.word(bvh.triangles.len() as u64);
    for blas in &bvh.blases {
        let part = scene.meshes.get(blas.mesh).and_then(|mesh| mesh.primitives.get(blas.primitive));
        hash.word(part.and_then(|part| part.material).map_or(u64::MAX, |material| material as u64));
        let (first, count) = (blas.triangles.0 as usize, blas.triangles.1 as usize);
        let triangles: &[BvhTriangle] = bvh.triangles.get(first..first + count).unwrap_or_default();
        if part.is_none_or(|part| part.deform.is_some()) {
            hash.all(triangles);
        } else {
            for triangle in triangles.iter().step_by((count / LOOKED_AT).max(1)) {
                hash.all(std::slice::from_ref(triangle));
            }
        }
    }
    hash.0
}
