//! The structs of `shaders/shared/skin.glsl`; a test compares every offset with what the shaders
//! were compiled to.

use glam::{Mat4, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// A vertex as it was modelled.
    pub struct BindPoseVertex {
        /// In the mesh's space (m).
        pub position: Vec3,
        /// Among the influences.
        pub first_influence: u32,
        /// Unit.
        pub normal: Vec3,
        /// Among the offsets of morph targets.
        pub first_morph: u32,
        /// Unit, with its handedness.
        pub tangent: Vec4,
        /// How many joints move it.
        pub influence_count: u32,
        /// How many morph targets move it.
        pub morph_count: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// A joint with its weight.
    pub struct Influence {
        /// Of the skin.
        pub joint: u32,
        /// Above 0.
        pub weight: f32,
    }
}

shader_struct! {
    /// What a morph target adds to a vertex.
    pub struct MorphOffset {
        /// To its position (m).
        pub position: Vec3,
        /// The number of its weight.
        pub target: u32,
        /// To its normal.
        pub normal: Vec3,
        /// Padding.
        pub pad0: u32,
        /// To its tangent.
        pub tangent: Vec3,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Of a dispatch of the skin pass.
    pub struct SkinConstants {
        /// Vertices.
        pub count: u32,
        /// First of the vertices as modelled.
        pub rest: u32,
        /// First of the vertices that are written.
        pub target: u32,
        /// First joint's matrix.
        pub palette: u32,
        /// First morph weight.
        pub weights: u32,
        /// `SKIN_`.
        pub flags: u32,
    }
}

shader_struct! {
    /// Of a dispatch of the refit pass: one tree.
    pub struct RefitConstants {
        /// Its leaves.
        pub leaf_count: u32,
        /// First of them among all leaves.
        pub leaves: u32,
        /// Its first node.
        pub root: u32,
        /// First of its nodes' parents and arrivals.
        pub links: u32,
        /// Its first triangle.
        pub triangles: u32,
        /// First of its triangles' corners.
        pub corners: u32,
        /// First of its primitive's vertices.
        pub vertices: u32,
        /// Its words among the costs.
        pub cost: u32,
        /// One over half the surface of its root when it was built.
        pub scale: f32,
        /// `REFIT_`.
        pub flags: u32,
        /// Its nodes.
        pub nodes: u32,
        /// Nodes on its longest way up.
        pub levels: u32,
        /// Where `REFIT_BAKED`: the columns of what vertices are put through.
        pub x: Vec3,
        /// The second.
        pub y: Vec3,
        /// The third.
        pub z: Vec3,
    }
}

shader_struct! {
    /// An instance that moves between two moments.
    pub struct Move {
        /// Object space to the first moment's clip space.
        pub first: Mat4,
        /// To the last moment's.
        pub last: Mat4,
    }
}

shader_struct! {
    /// Of a draw of moving instances.
    pub struct MoveConstants {
        /// Of the draw's first instance.
        pub first_move: u32,
        /// Of the draw.
        pub first_instance: u32,
        /// Of the draw.
        pub first_vertex: u32,
        /// Of the first vertex at the first moment, or `NO_POSITIONS`.
        pub first_positions: u32,
        /// At the last moment.
        pub last_positions: u32,
    }
}

/// Each triangle has its own vertices and normal.
pub const SKIN_FLAT: u32 = 1;
/// Tangents move too.
pub const SKIN_TANGENTS: u32 = 2;
/// Vertices are put through a transform without an inverse.
pub const REFIT_BAKED: u32 = 1;
/// Vertices are where they are in the frame.
pub const NO_POSITIONS: u32 = u32::MAX;

/// All structs that the shaders of moving things share, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 7] = [
    BindPoseVertex::LAYOUT,
    Influence::LAYOUT,
    MorphOffset::LAYOUT,
    SkinConstants::LAYOUT,
    RefitConstants::LAYOUT,
    Move::LAYOUT,
    MoveConstants::LAYOUT,
];
