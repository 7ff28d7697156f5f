//! Instant radiosity: photons from all lights of a scene deposit virtual point lights (VPLs) on its
//! surfaces, with a light tree over them. Pure: no device, no files.
//!
//! Keller, "Instant Radiosity" (SIGGRAPH 1997): a photon that a surface reflects diffusely leaves a
//! light at the hit point that stands for the reflected light. Here that light emits as a diffuse
//! surface does, by the cosine to its normal. The light tree lets a device sample many of them
//! (Conty Estevez and Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting", HPG
//! 2018). See `docs/instant-radiosity.md`.
//!
//! - `sequence`: low-discrepancy numbers, the same for a photon in every frame;
//! - `emission`, `light_source`, `environment`, `emissive`: photon emission;
//! - `surface_hit`, `texture`, `lobes`: interaction of photons with surfaces;
//! - `photon_tracing`: a photon's path through the scene;
//! - `radiosity`: the incremental update of all photons;
//! - `merge`: merging of nearby VPLs;
//! - `tree`: the light tree.

mod emission;
mod emissive;
mod environment;
mod fingerprints;
mod light_source;
mod lobes;
mod merge;
mod photon_tracing;
mod radiosity;
mod sequence;
mod surface_hit;
mod texture;
mod tree;

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

pub use lobes::{dfg_lookup, diffuse_lobe_weight};
pub use radiosity::Radiosity;
pub use tree::{MAX_DEPTH, light_tree};

/// A virtual point light: a small surface that emits diffusely. 32 bytes, in the device's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Vpl {
    /// Position on the surface, relative to `VplSet::anchor` (m).
    pub position: Vec3,
    /// The surface's normal on the lit side, encoded by `bvh::pack_normal`.
    pub normal: u32,
    /// Emitted flux (lm per channel); the intensity along the normal is this over pi (cd).
    pub flux: Vec3,
    /// Radius (m) of the disk that it represents, above 0: from the distances to neighbors that
    /// face the same way. Bounds the geometry term.
    pub size: f32,
}

/// A node of the light tree: 48 bytes, in the device's layout. Node 0 is the root; a set without
/// VPLs has no nodes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct VplNode {
    /// Minimum corner of the bounds of the positions.
    pub low: Vec3,
    /// Luminance of the total flux below the node (lm).
    pub flux: f32,
    /// Maximum corner of the bounds.
    pub high: Vec3,
    /// Axis of the bounding cone of the normals, encoded by `bvh::pack_normal`.
    pub axis: u32,
    /// Cosine of the cone's half angle; -1 for an unbounded cone.
    pub cos_spread: f32,
    /// Inner node: index of its first child (the second follows). Leaf: index of its VPL.
    pub first: u32,
    /// 1 for a leaf, which holds exactly one VPL; 0 for an inner node.
    pub leaf: u32,
    /// Padding to a multiple of 16 bytes.
    pub pad: u32,
}

/// Virtual point lights with their light tree.
#[derive(Clone, Debug, Default)]
pub struct VplSet {
    /// Origin of the positions, in the world (m).
    pub anchor: DVec3,
    /// VPLs in the order of lights and photons. Indices are stable while only light strengths
    /// change.
    pub vpls: Vec<Vpl>,
    /// Nodes of the light tree, the root first.
    pub nodes: Vec<VplNode>,
    /// Statistics of the update.
    pub stats: VplStats,
}

/// Statistics of an update. Flux is in lumens per channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VplStats {
    /// Photons represented by the set.
    pub photons: u64,
    /// Photon rays traced for this set; 0 where all paths were cached.
    pub rays: u64,
    /// Photons whose paths were traced for this set.
    pub traced: u64,
    /// Lights that emitted photons.
    pub lights: u32,
    /// Visibility rays of merging.
    pub merge_rays: u64,
    /// VPLs before merging.
    pub created: u32,
    /// VPLs after merging.
    pub kept: u32,
    /// Voxel edge of merging (m); 0 without merging.
    pub merge_cell_size: f64,
    /// VPLs and photons dropped because of NaN or infinity.
    pub dropped: u64,
    /// Flux emitted by the lights.
    pub emitted: DVec3,
    /// Flux of all VPLs: diffuse reflection, summed over all bounces.
    pub stored: DVec3,
    /// Flux that left the scene.
    pub escaped: DVec3,
    /// Flux lost by the limit on the number of bounces.
    pub truncated: DVec3,
}

/// Settings of `Radiosity::update`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiositySettings {
    /// Number of VPLs, at most `MAX_VPLS`. Without merging it is approximate. With merging it is a
    /// maximum, but at least one VPL remains for each direction and plane of the surfaces (some
    /// dozens).
    pub vpls: u32,
    /// Photons of all lights together; `None`: derived from `vpls` and `bounces`.
    pub photons: Option<u32>,
    /// Maximum number of reflections of a photon, 0 to 64.
    pub bounces: u32,
    /// Merges VPLs in a voxel that face the same way.
    pub merge: bool,
    /// Voxel edge of merging (m), which overrides `vpls`. `None`: chosen so that `vpls` is not
    /// exceeded, and kept as long as it fits.
    pub merge_cell_size: Option<f64>,
}

impl Default for RadiositySettings {
    fn default() -> Self {
        Self { vpls: 4096, photons: None, bounces: 3, merge: true, merge_cell_size: None }
    }
}

/// Maximum number of VPLs of a set and of photons; it bounds the tree's depth.
pub const MAX_VPLS: u32 = 1 << 22;

impl RadiositySettings {
    /// Number of photons to share among the lights.
    #[must_use]
    pub fn photon_budget(&self) -> u32 {
        // A photon leaves 1 + q + q^2 ... VPLs where a fraction q is reflected: half of `bounces +
        // 1` for q from 0.5 to 0.8. Merging traces several photons for each VPL that it keeps.
        let vpls = u64::from(self.vpls.clamp(1, MAX_VPLS)) * if self.merge { 4 } else { 1 };
        let found = (2 * vpls / u64::from(self.bounces.clamp(1, 4) + 1)).max(1) as u32;
        self.photons.unwrap_or(found).clamp(1, MAX_VPLS)
    }
}

/// Fraction of the light that has changed since the last set, 0 to 1. It is half the sum of the
/// flux differences over all VPLs by light, photon and bounce, over the mean of both total fluxes.
/// A VPL that has moved counts with its flux before and after. 0: no photon differs; 1: nothing is
/// the same. Merging settings change the set but not this value.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct ChangedFraction(pub f32);

#[cfg(test)]
mod tests_closed;
#[cfg(test)]
mod tests_emission;
#[cfg(test)]
mod tests_merge;
#[cfg(test)]
mod tests_update;
