//! Structs of `shaders/shared/skin.glsl`. A test compares every offset with the compiled shaders.

use glam::{Mat4, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Vertex in the bind pose.
    pub struct BindPoseVertex {
        /// Position in mesh space (m).
        pub position: Vec3,
        /// Index of its first influence.
        pub first_influence: u32,
        /// Unit normal.
        pub normal: Vec3,
        /// Index of its first morph target offset.
        pub first_morph: u32,
        /// Unit tangent; w: handedness.
        pub tangent: Vec4,
        /// Number of joints that influence it.
        pub influence_count: u32,
        /// Number of morph targets that move it.
        pub morph_count: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Joint influence on a vertex.
    pub struct Influence {
        /// Joint index in the skin.
        pub joint: u32,
        /// Weight, above 0.
        pub weight: f32,
    }
}

shader_struct! {
    /// Offset of a morph target for one vertex.
    pub struct MorphOffset {
        /// Position offset (m).
        pub position: Vec3,
        /// Index of its weight.
        pub target: u32,
        /// Normal offset.
        pub normal: Vec3,
        /// Padding.
        pub pad0: u32,
        /// Tangent offset.
        pub tangent: Vec3,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Constants of a skinning dispatch.
    pub struct SkinConstants {
        /// Number of vertices.
        pub count: u32,
        /// First bind-pose vertex.
        pub rest: u32,
        /// First output vertex.
        pub target: u32,
        /// Matrix of the first joint.
        pub palette: u32,
        /// First morph weight.
        pub weights: u32,
        /// Bits: `SKIN_FLAT`, `SKIN_TANGENTS`.
        pub flags: u32,
    }
}

shader_struct! {
    /// Constants of a refit dispatch: one BLAS.
    pub struct RefitConstants {
        /// Number of leaves.
        pub leaf_count: u32,
        /// First leaf.
        pub leaves: u32,
        /// First node.
        pub root: u32,
        /// First entry of its nodes' parents and arrival counters.
        pub links: u32,
        /// First triangle.
        pub triangles: u32,
        /// First corner of its triangles.
        pub corners: u32,
        /// First vertex of its primitive.
        pub vertices: u32,
        /// Offset of its words in the costs.
        pub cost: u32,
        /// One over half the surface area of the root at build time.
        pub scale: f32,
        /// Bits: `REFIT_BAKED`.
        pub flags: u32,
        /// Number of nodes.
        pub nodes: u32,
        /// Nodes on the longest path to the root.
        pub levels: u32,
        /// With `REFIT_BAKED`: first column of the vertex transform.
        pub x: Vec3,
        /// Second column.
        pub y: Vec3,
        /// Third column.
        pub z: Vec3,
    }
}

shader_struct! {
    /// Motion of an instance between two times.
    pub struct Move {
        /// Object space to clip space at the first time.
        pub first: Mat4,
        /// Object space to clip space at the last time.
        pub last: Mat4,
    }
}

shader_struct! {
    /// Constants of a draw of moving instances.
    pub struct MoveConstants {
        /// Index of the `Move` of the draw's first instance.
        pub first_move: u32,
        /// First instance of the draw.
        pub first_instance: u32,
        /// First vertex of the draw.
        pub first_vertex: u32,
        /// Position of the first vertex at the first time, or `NO_POSITIONS`.
        pub first_positions: u32,
        /// Position of the first vertex at the last time, or `NO_POSITIONS`.
        pub last_positions: u32,
    }
}

/// Each triangle has its own vertices and a flat normal.
pub const SKIN_FLAT: u32 = 1;
/// Tangents are deformed too.
pub const SKIN_TANGENTS: u32 = 2;
/// Vertices are transformed by a baked matrix without an inverse.
pub const REFIT_BAKED: u32 = 1;
/// Vertices have the frame's positions.
pub const NO_POSITIONS: u32 = u32::MAX;

/// Host layouts of all structs that the deformation shaders share, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 7] = [
    BindPoseVertex::LAYOUT,
    Influence::LAYOUT,
    MorphOffset::LAYOUT,
    SkinConstants::LAYOUT,
    RefitConstants::LAYOUT,
    Move::LAYOUT,
    MoveConstants::LAYOUT,
];
