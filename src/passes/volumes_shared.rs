//! Structs of `shaders/shared/volumes.glsl`. A test compares every offset.

use glam::{Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Header of the volume buffer.
    pub struct VolumeConstants {
        /// Number of volumes.
        pub count: u32,
        /// Steps along a view ray.
        pub steps: u32,
        /// Steps toward a light within each heterogeneous volume.
        pub shadow_steps: u32,
        /// Image pixels per texel of the march along each axis: 1 or 2.
        pub scale: u32,
        /// 1: averages over neighboring texels.
        pub filtered: u32,
        /// 1: the scene has an environment.
        pub has_environment: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Participating volume: a box with or without a grid.
    pub struct Volume {
        /// Camera-relative world to the box's space, whose corners are 0 and 1.
        pub rows: [Vec4; 3],
        /// Scattering (1/m by channel) at density 1.
        pub scattering: Vec3,
        /// Anisotropy of the Henyey-Greenstein phase function.
        pub anisotropy: f32,
        /// Extinction (1/m by channel) at density 1.
        pub extinction: Vec3,
        /// First voxel, or `shared::NONE`.
        pub first: u32,
        /// Emission (nits per meter by channel) at density 1.
        pub emission: Vec3,
        /// First cell of its environment light.
        pub first_environment_cell: u32,
        /// Voxels per axis.
        pub size: [u32; 3],
        /// Padding.
        pub pad0: u32,
    }
}

/// Host layouts of all shared structs, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 2] = [VolumeConstants::LAYOUT, Volume::LAYOUT];
