//! Structs of `shaders/shared/flare_sources.glsl`. A test compares every offset with the compiled
//! shaders. Lengths in the image are in pixels.

use glam::{Vec2, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Constants of the flare source passes.
    pub struct FlareConstants {
        /// Camera right vector in world axes.
        pub right: Vec4,
        /// Camera up vector in world axes.
        pub up: Vec4,
        /// Tangent of the angle that a pixel subtends on the axis.
        pub pitch: f32,
        /// Number of lights in the frame.
        pub light_count: u32,
        /// Number of tiles per axis.
        pub tiles: [u32; 2],
    }
}

shader_struct! {
    /// Source that is bright enough to flare.
    pub struct FlareSource {
        /// Unit vector from the camera in camera axes: right, up, back.
        pub direction: Vec3,
        /// Angular radius (rad); 0 for a point.
        pub angular_radius: f32,
        /// Pre-exposed illuminance (lx by channel) on a plane at the lens that faces the source,
        /// without occlusion.
        pub illuminance: Vec3,
        /// Visible fraction, 0 to 1.
        pub visibility: f32,
        /// Fraction that is visible and outside the image, 0 to `visibility`.
        pub outside: f32,
        /// Sort key: luminance of illuminance times visibility.
        pub rank: f32,
        /// Bits: `SOURCE_LIGHT`, `SOURCE_VISIBLE_EMITTER`, `SOURCE_INFINITE`.
        pub flags: u32,
        /// Index in the frame's lights, or the root tile of a pixel cluster.
        pub light: u32,
    }
}

shader_struct! {
    /// Bright pixels of an image tile that belong to no light.
    pub struct FlareTile {
        /// Sum of their light above the threshold.
        pub light: Vec3,
        /// Luminance of `light`.
        pub weight: f32,
        /// Centroid of `light`.
        pub center: Vec2,
        /// Mean squared distance from the centroid.
        pub spread: f32,
        /// Root tile of its cluster.
        pub root: u32,
        /// For a root tile: index of its source in the list.
        pub source: u32,
    }
}

shader_struct! {
    /// Constants of the starburst passes.
    pub struct StarburstConstants {
        /// Steps of the table (half cycles at 550 nm) per pixel.
        pub steps: f32,
        /// Tangent of the angle that a pixel subtends on the axis.
        pub pitch: f32,
        /// Fraction of the light on a step along the brightest spike, 1024 steps from the center.
        pub spike: f32,
        /// 1: draws lights without a surface.
        pub points: u32,
        /// Fractions of the light beyond squares of half sides 256, 512 and 1024 steps.
        pub beyond: Vec4,
        /// Camera right vector in world axes.
        pub right: Vec4,
        /// Camera up vector in world axes.
        pub up: Vec4,
    }
}

shader_struct! {
    /// Sprite of a source's starburst.
    pub struct StarburstSprite {
        /// Position in the image.
        pub center: Vec2,
        /// Half of its side; 0: not drawn.
        pub reach: f32,
        /// Radius of the source's disk.
        pub disk: f32,
        /// Pre-exposed light of a whole pixel.
        pub light: Vec3,
        /// Fraction of the light that leaves the source's own pixels; 0: the source has no pixels,
        /// and all of it is drawn.
        pub moved: f32,
    }
}

/// The source is a light of the scene; otherwise a cluster of bright pixels that belong to no
/// light.
pub const SOURCE_LIGHT: u32 = 1;
/// The emitting surface is visible in the image.
pub const SOURCE_VISIBLE_EMITTER: u32 = 2;
/// The source is infinitely far away.
pub const SOURCE_INFINITE: u32 = 4;

/// Host layouts of all structs of this file, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 5] = [
    FlareConstants::LAYOUT,
    FlareSource::LAYOUT,
    FlareTile::LAYOUT,
    StarburstConstants::LAYOUT,
    StarburstSprite::LAYOUT,
];
