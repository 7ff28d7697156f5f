//! The structs of `shaders/shared/culling.glsl`; a test compares every offset with what the shaders
//! were compiled to.

use glam::{Mat4, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// A mesh in its place, in the world. The translation is the sum of two vectors, so that the
    /// difference to the camera's is exact far from the origin.
    pub struct InstanceTransform {
        /// Translation: the nearest floats (m).
        pub high: Vec3,
        /// Of a sphere around it (m).
        pub radius: f32,
        /// Translation: what the nearest floats leave (m).
        pub low: Vec3,
        /// To which it belongs.
        pub bucket: u32,
        /// From the translation to the sphere's centre (m).
        pub offset: Vec3,
        /// No length in object space becomes longer than this times it.
        pub stretch: f32,
        /// First column of the linear part.
        pub axis_x: Vec3,
        /// Second column.
        pub axis_y: Vec3,
        /// Third column.
        pub axis_z: Vec3,
        /// First column of the normals' transform.
        pub normal_x: Vec3,
        /// Second column.
        pub normal_y: Vec3,
        /// Third column.
        pub normal_z: Vec3,
        /// +1, or -1 where the transform mirrors.
        pub handedness: f32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// Placements of one mesh and one handedness, which follow each other.
    pub struct CullBucket {
        /// Its first placement.
        pub first: u32,
        /// One beyond its last.
        pub end: u32,
        /// Added to each index.
        pub vertex_offset: i32,
        /// `BUCKET_` bits.
        pub flags: u32,
        /// Of a box around the mesh, object space.
        pub center: Vec3,
        /// Levels of detail, at least 1.
        pub levels: u32,
        /// Half the box's edges.
        pub half_size: Vec3,
        /// Padding.
        pub pad0: u32,
        /// Of each level.
        pub first_index: [u32; 4],
        /// Of each level.
        pub index_count: [u32; 4],
        /// Of each level, object space.
        pub error: [f32; 4],
    }
}

shader_struct! {
    /// What the culling passes are told of the frame.
    pub struct CullConstants {
        /// Camera-relative world to clip space.
        pub view_projection: Mat4,
        /// Of the view, inward unit normals.
        pub planes: [Vec4; 5],
        /// Where the camera stands: the nearest floats (m).
        pub camera_high: Vec3,
        /// How many.
        pub placements: u32,
        /// Where the camera stands: what the nearest floats leave (m).
        pub camera_low: Vec3,
        /// How many.
        pub buckets: u32,
        /// Line of sight.
        pub forward: Vec3,
        /// Draw commands a bucket.
        pub levels: u32,
        /// Of the picture (pixels).
        pub size: [u32; 2],
        /// Pixels that 1 m takes at a distance of 1 m, over the error in pixels that may be; 0: no
        /// levels.
        pub error_scale: f32,
        /// 1: a parallel projection.
        pub parallel: u32,
        /// Where each level of the depth pyramid begins; level 0 is the depth image itself.
        pub level_offset: [u32; 12],
    }
}

/// The bucket's pixels hide what is behind them: neither alpha-tested nor blended.
pub const BUCKET_OCCLUDES: u32 = 1;

/// All structs of this file, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 3] =
    [InstanceTransform::LAYOUT, CullBucket::LAYOUT, CullConstants::LAYOUT];
