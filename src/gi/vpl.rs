//! Virtual point lights, in the device's layout, and sets of them.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

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
    /// Photons allocated to the lights; more than `photons` where the VPL limit was reached.
    pub allocated: u64,
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
