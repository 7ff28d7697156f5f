//! The structs of `shaders/shared/flare_sources.glsl`; a test compares every offset with what the
//! shaders were compiled to. Lengths in the picture are in pixels.

use glam::{Vec2, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Of the passes that find bright sources.
    pub struct FlareConstants {
        /// The camera's right in world axes.
        pub right: Vec4,
        /// The camera's up.
        pub up: Vec4,
        /// Tangent of the angle that a pixel fills on the axis.
        pub pitch: f32,
        /// Lights of the frame.
        pub light_count: u32,
        /// Tiles of the picture.
        pub tiles: [u32; 2],
    }
}

shader_struct! {
    /// Something bright enough to flare.
    pub struct FlareSource {
        /// Unit vector from the camera, in the camera's axes: right, up, back.
        pub direction: Vec3,
        /// Angular radius (rad); 0 for a point.
        pub angular_radius: f32,
        /// Pre-exposed lux by channel on a plane at the lens that faces it, as though nothing hid
        /// it.
        pub illuminance: Vec3,
        /// The part of it that is seen, 0 to 1.
        pub visibility: f32,
        /// The part that is seen and lies beyond the picture's border, 0 to `visibility`.
        pub outside: f32,
        /// Luminance of illuminance times visibility.
        pub rank: f32,
        /// `SOURCE_` bits.
        pub flags: u32,
        /// Of a lamp its number among the frame's lights; of a cluster its root tile.
        pub light: u32,
    }
}

shader_struct! {
    /// Bright pixels of a square of the picture that no lamp accounts for.
    pub struct FlareTile {
        /// Sum of their light above the threshold.
        pub light: Vec3,
        /// Its luminance.
        pub weight: f32,
        /// Of that.
        pub center: Vec2,
        /// Mean squared distance from the centre.
        pub spread: f32,
        /// The tile whose cluster it belongs to.
        pub root: u32,
        /// Of a root: number of its source in the list.
        pub source: u32,
    }
}

shader_struct! {
    /// Of the starburst's passes.
    pub struct StarburstConstants {
        /// Steps of the table (half cycles at 550 nm) a pixel.
        pub steps: f32,
        /// Tangent of the angle that a pixel fills on the axis.
        pub pitch: f32,
        /// Part of the light on a step along the brightest spike, 1024 steps from the centre.
        pub spike: f32,
        /// 1: lamps without a body are drawn.
        pub points: u32,
        /// Parts of the light beyond squares of half sides 256, 512 and 1024 steps.
        pub beyond: Vec4,
        /// The camera's right in world axes.
        pub right: Vec4,
        /// The camera's up.
        pub up: Vec4,
    }
}

shader_struct! {
    /// What is drawn of a source.
    pub struct StarburstSprite {
        /// In the picture.
        pub center: Vec2,
        /// Half of its side; 0 is not drawn.
        pub reach: f32,
        /// Radius of the source's disk.
        pub disk: f32,
        /// Pre-exposed light, of a whole pixel.
        pub light: Vec3,
        /// Part of the light that leaves its own pixels; 0: it has none, all of it is drawn.
        pub moved: f32,
    }
}

/// A light of the scene; else a cluster of bright pixels that no lamp accounts for.
pub const SOURCE_LIGHT: u32 = 1;
/// The picture shows its shining surface.
pub const SOURCE_VISIBLE_EMITTER: u32 = 2;
/// From infinitely far.
pub const SOURCE_INFINITE: u32 = 4;

/// All structs, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 5] = [
    FlareConstants::LAYOUT,
    FlareSource::LAYOUT,
    FlareTile::LAYOUT,
    StarburstConstants::LAYOUT,
    StarburstSprite::LAYOUT,
];
