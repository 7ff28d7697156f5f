//! Structs of `shaders/shared/culling.glsl`. A test compares every offset with the compiled
//! shaders.

use glam::{Mat4, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Instance of a mesh, in the world. The translation is split into two vectors, so that its
    /// difference to the camera position is exact far from the origin.
    pub struct InstanceTransform {
        /// Translation, high part: nearest floats (m).
        pub high: Vec3,
        /// Radius of the bounding sphere (m).
        pub radius: f32,
        /// Translation, low part: remainder (m).
        pub low: Vec3,
        /// Index of its bucket.
        pub bucket: u32,
        /// From the translation to the bounding sphere's center (m).
        pub offset: Vec3,
        /// Upper bound on the scale of any object-space length.
        pub stretch: f32,
        /// First column of the linear part.
        pub axis_x: Vec3,
        /// Second column of the linear part.
        pub axis_y: Vec3,
        /// Third column of the linear part.
        pub axis_z: Vec3,
        /// First column of the normal transform.
        pub normal_x: Vec3,
        /// Second column of the normal transform.
        pub normal_y: Vec3,
        /// Third column of the normal transform.
        pub normal_z: Vec3,
        /// +1, or -1 if the transform mirrors.
        pub handedness: f32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// Consecutive instances of one mesh and one handedness.
    pub struct CullBucket {
        /// First instance.
        pub first: u32,
        /// One past the last instance.
        pub end: u32,
        /// Vertex offset of the draw.
        pub vertex_offset: i32,
        /// Bits: `BUCKET_OCCLUDES`.
        pub flags: u32,
        /// Center of the mesh's bounding box, object space.
        pub center: Vec3,
        /// Number of levels of detail, at least 1.
        pub levels: u32,
        /// Half extents of the bounding box, object space.
        pub half_size: Vec3,
        /// Padding.
        pub pad0: u32,
        /// First index of each level of detail.
        pub first_index: [u32; 4],
        /// Index count of each level of detail.
        pub index_count: [u32; 4],
        /// Geometric error of each level of detail, object space.
        pub error: [f32; 4],
    }
}

shader_struct! {
    /// Constants of the culling passes.
    pub struct CullConstants {
        /// Camera-relative world to clip space.
        pub view_projection: Mat4,
        /// Frustum planes with inward unit normals.
        pub planes: [Vec4; 5],
        /// Camera position in the world, high part: nearest floats (m).
        pub camera_high: Vec3,
        /// Number of instances.
        pub placements: u32,
        /// Camera position in the world, low part: remainder (m).
        pub camera_low: Vec3,
        /// Number of buckets.
        pub buckets: u32,
        /// View direction (unit).
        pub forward: Vec3,
        /// Draw commands per bucket.
        pub levels: u32,
        /// Image size (pixels).
        pub size: [u32; 2],
        /// Pixels per meter at a distance of 1 m over the allowed error in pixels; 0: finest level
        /// only.
        pub error_scale: f32,
        /// 1: orthographic projection.
        pub parallel: u32,
        /// Offset of each level of the depth pyramid; level 0 is the depth image itself.
        pub level_offset: [u32; 12],
    }
}

/// The bucket occludes: it is neither alpha-tested nor blended.
pub const BUCKET_OCCLUDES: u32 = 1;

/// Host layouts of all structs of this file, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 3] =
    [InstanceTransform::LAYOUT, CullBucket::LAYOUT, CullConstants::LAYOUT];
