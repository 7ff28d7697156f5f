//! Instant radiosity: photons from every light of a scene, and what they leave on its surfaces as
//! virtual point lights (VPLs) with a light tree over them. Pure: no device, no files.
//!
//! Keller, "Instant Radiosity" (SIGGRAPH 1997): a photon that a surface reflects diffusely makes of
//! the place where it met the surface a lamp that stands for the reflected light. Here that lamp
//! shines as a matte surface does, by the cosine to its normal; a tree over them lets a device
//! choose among many (Conty Estevez and Kulla, "Importance Sampling of Many Lights with Adaptive
//! Tree Splitting", HPG 2018). See `docs/instant-radiosity.md`.
//!
//! - `sequence`: low-discrepancy numbers, the same for a photon in every frame;
//! - `emission`, `lamp`, `sky`, `glow`: where photons come from;
//! - `surface`, `texture`, `lobes`: what a surface does to them;
//! - `walk`: a photon's way through the scene;
//! - `radiosity`: all of it, with only what changed done anew;
//! - `merge`: VPLs of one place joined;
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

/// A virtual point light: a patch that sends light as a matte surface does. 32 bytes, read by the
/// device as it is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Vpl {
    /// On the surface, relative to `VplSet::anchor` (m).
    pub position: Vec3,
    /// The surface's normal on the lit side, as `bvh::pack_normal` writes it.
    pub normal: u32,
    /// Light that is sent out (lm by channel); the intensity along the normal is this over pi (cd).
    pub flux: Vec3,
    /// Radius (m) of the disk that it stands for, above 0: from the distances to neighbours that
    /// face the same way. For bounding the geometry term.
    pub size: f32,
}

/// A node of the light tree: 48 bytes, read by the device as it is. Node 0 is the root; there is
/// none over no VPLs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct VplNode {
    /// Least corner of the box around the positions.
    pub low: Vec3,
    /// Luminance of the flux of all of them (lm).
    pub flux: f32,
    /// Greatest corner.
    pub high: Vec3,
    /// Axis of a cone that holds all normals, as `bvh::pack_normal` writes it.
    pub axis: u32,
    /// Cosine of the cone's half angle; -1 where any direction may be among them.
    pub cos_spread: f32,
    /// Of an inner node its first child (the second follows); of a leaf its VPL.
    pub first: u32,
    /// 1 for a leaf, which holds exactly one VPL; 0 for an inner node.
    pub leaf: u32,
    /// To a multiple of 16 bytes.
    pub pad: u32,
}

/// Virtual point lights with their tree.
#[derive(Clone, Debug, Default)]
pub struct VplSet {
    /// What positions are relative to, in the world (m).
    pub anchor: DVec3,
    /// The lights, in the order of lights and photons: while nothing but strengths changes each
    /// keeps its place.
    pub vpls: Vec<Vpl>,
    /// The tree over them, the root first.
    pub nodes: Vec<VplNode>,
    /// How they came about.
    pub stats: VplStats,
}

/// What happened on the way to a set of VPLs. Flux is in lumens by channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VplStats {
    /// Photons that the set stands for.
    pub photons: u64,
    /// Rays of photons that were traced for this set; 0 where all paths were known.
    pub rays: u64,
    /// Photons whose paths were traced for this set.
    pub traced: u64,
    /// Lights that sent photons.
    pub lights: u32,
    /// Rays that kept apart what walls part when VPLs were joined.
    pub merge_rays: u64,
    /// VPLs before merging.
    pub made: u32,
    /// VPLs that are kept.
    pub kept: u32,
    /// Edge (m) of the voxels in which they were joined; 0 where they were not.
    pub cell: f64,
    /// VPLs and photons that were left out because a number of theirs was none or infinite.
    pub dropped: u64,
    /// Light that the photons set out with.
    pub emitted: DVec3,
    /// Light of all VPLs: what surfaces reflect diffusely, each reflection counted.
    pub stored: DVec3,
    /// Light that left the scene.
    pub escaped: DVec3,
    /// Light that was on its way when a photon had made all the reflections it may.
    pub cut: DVec3,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiositySettings {
    /// How many VPLs are wanted: about, without merging; at most, with it, but never fewer than one
    /// for each direction that surfaces face and each plane of theirs (some dozens). `MAX_VPLS` at
    /// most.
    pub vpls: u32,
    /// Photons that all lights together send out; none: found from `vpls` and `bounces`.
    pub photons: Option<u32>,
    /// Reflections that a photon makes at most, 0 to 64.
    pub bounces: u32,
    /// Joins VPLs that lie in a voxel and face the same way.
    pub merge: bool,
    /// Edge (m) of the voxels, whatever `vpls` says; none: found so that `vpls` is not exceeded,
    /// and kept as long as it fits.
    pub cell: Option<f64>,
}

impl Default for RadiositySettings {
    fn default() -> Self {
        Self { vpls: 4096, photons: None, bounces: 3, merge: true, cell: None }
    }
}

/// The most VPLs of a set, and the most photons: what the tree's depth is bounded for.
pub const MAX_VPLS: u32 = 1 << 22;

impl RadiositySettings {
    /// Photons that are shared out among the lights.
    #[must_use]
    pub fn photon_budget(&self) -> u32 {
        // A photon leaves 1 + q + q^2 ... VPLs where a part q is reflected: half of `bounces + 1`
        // for q from 0.5 to 0.8. Merging has several photons for each VPL that it keeps.
        let vpls = u64::from(self.vpls.clamp(1, MAX_VPLS)) * if self.merge { 4 } else { 1 };
        let found = (2 * vpls / u64::from(self.bounces.clamp(1, 4) + 1)).max(1) as u32;
        self.photons.unwrap_or(found).clamp(1, MAX_VPLS)
    }
}

/// How much of the light has changed since the last set, 0 to 1: half the sum over all VPLs by
/// light, photon and reflection of the difference of their flux, over the mean of both sums. A VPL
/// that has moved counts with its flux before and after. 0: no photon differs; 1: nothing is as it
/// was. Other `Settings` about joining change the set and not this.
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
