//! The structs of `shaders/shared/volumes.glsl`; a test compares every offset.

use glam::{Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// The head of the volumes' buffer.
    pub struct VolumeConstants {
        /// Volumes.
        pub count: u32,
        /// Places along a line of sight.
        pub steps: u32,
        /// Places on the way to a lamp within each uneven volume.
        pub shadow_steps: u32,
        /// Pixels of the picture a texel of the march, on each side: 1 or 2.
        pub scale: u32,
        /// 1: means over neighbouring texels.
        pub filtered: u32,
        /// 1: there is light from all around.
        pub surroundings: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// A participating volume: a box with or without a grid.
    pub struct Volume {
        /// Camera-relative world to the box's space, whose corners are 0 and 1.
        pub rows: [Vec4; 3],
        /// 1/m by channel, where the density is 1.
        pub scattering: Vec3,
        /// Of Henyey and Greenstein.
        pub anisotropy: f32,
        /// 1/m by channel.
        pub extinction: Vec3,
        /// Its first voxel, or `shared::NONE`.
        pub first: u32,
        /// Nits per metre by channel.
        pub emission: Vec3,
        /// Its first cell of light from all around.
        pub around: u32,
        /// Voxels.
        pub size: [u32; 3],
        /// Padding.
        pub pad0: u32,
    }
}

/// All structs that these shaders share, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 2] = [VolumeConstants::LAYOUT, Volume::LAYOUT];
