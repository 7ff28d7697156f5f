//! The structs of `shaders/shared/effects.glsl`; a test compares every offset with what the shaders
//! were compiled to. Lengths on the sensor are in pixels.

use glam::{Mat4, Vec2, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Of the depth of field's passes.
    pub struct DepthOfFieldConstants {
        /// Radius of the circle of confusion of what is infinitely far.
        pub radius_at_infinity: f32,
        /// Pixels times metres: the radius is that at infinity less this over the distance.
        pub radius_slope: f32,
        /// Larger circles are drawn this large.
        pub max_radius: f32,
        /// Of the iris; 0 is a circle.
        pub blades: f32,
        /// Of the blades, 0 straight to 1 round.
        pub curvature: f32,
        /// Angle (rad) of a corner from +X, counter-clockwise as seen.
        pub rotation: f32,
        /// Area of the iris over its circle's.
        pub open_area: f32,
        /// Radius of the barrel's rim over the iris'.
        pub rim_radius: f32,
        /// Iris radii that the rim moves for a pixel from the picture's centre.
        pub rim_shift: f32,
        /// Exposed light that is seen.
        pub min_highlight_light: f32,
        /// Size class.
        pub level: u32,
        /// The greatest size class.
        pub last_level: u32,
    }
}

shader_struct! {
    /// A pixel whose circle of confusion is drawn by itself.
    pub struct Highlight {
        /// Pre-exposed light of the whole pixel.
        pub light: Vec3,
        /// Signed radius: below 0 in front of the focus.
        pub radius: f32,
        /// In the picture.
        pub center: Vec2,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Of the velocity pass.
    pub struct VelocityConstants {
        /// Camera-relative world to clip space when the shutter opens.
        pub open: Mat4,
        /// When it closes.
        pub close: Mat4,
    }
}

shader_struct! {
    /// Of the motion blur's passes.
    pub struct MotionBlurConstants {
        /// Of the picture.
        pub size: Vec2,
        /// Along a tile's edge: the greatest half length of a blur.
        pub tile: f32,
        /// Exposure times from the first line's exposure to the last's.
        pub curtain: f32,
    }
}

shader_struct! {
    /// Of the temporal anti-aliasing's pass.
    pub struct TaaConstants {
        /// Dot product with a camera-relative homogeneous position: its depth (m) for the last
        /// frame's camera.
        pub previous_depth: Vec4,
        /// Of the output (pixels).
        pub size: Vec2,
        /// Of this frame's samples from their pixels' centres (pixels of the input).
        pub jitter: Vec2,
        /// Weight that the history has at most; 0 forgets it.
        pub max_frames: f32,
        /// Standard deviations of its neighbourhood that a history may be off its mean.
        pub gamma: f32,
        /// 1: nothing has moved, the history is a plain mean.
        pub still: u32,
        /// Number of the frame, for rounding.
        pub frame: u32,
    }
}

shader_struct! {
    /// Of the bloom's passes.
    pub struct BloomConstants {
        /// Of this level's light.
        pub weight: f32,
        /// Of a pixel's light, that which is scattered.
        pub fraction: f32,
    }
}

shader_struct! {
    /// Of the vignetting pass.
    pub struct VignettingConstants {
        /// Of the picture.
        pub center: Vec2,
        /// Tangent of the field angle for one pixel from the centre.
        pub pitch: f32,
        /// Exponent of the cosine, 4 by nature.
        pub natural: f32,
        /// Radius of the barrel's rim over the pupil's; 0 for no barrel.
        pub rim_radius: f32,
        /// Pupil radii that the rim moves for a pixel from the centre.
        pub rim_shift: f32,
    }
}

shader_struct! {
    /// Of the chromatic aberration's pass.
    pub struct ChromaticAberrationConstants {
        /// Of the picture.
        pub center: Vec2,
        /// Image scale of red over green.
        pub red: f32,
        /// Image scale of blue over green.
        pub blue: f32,
    }
}

shader_struct! {
    /// Of the lens image's pass.
    pub struct LensImageConstants {
        /// Of the picture.
        pub center: Vec2,
        /// The grid's last node along each side.
        pub last: f32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// Of the grain's pass.
    pub struct GrainConstants {
        /// Variance over exposed value.
        pub shot: f32,
        /// Standard deviation of black.
        pub read: f32,
        /// The frame's number.
        pub frame: u32,
        /// Padding.
        pub pad0: u32,
    }
}

/// All structs that the effects' shaders share, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 10] = [
    DepthOfFieldConstants::LAYOUT,
    Highlight::LAYOUT,
    VelocityConstants::LAYOUT,
    MotionBlurConstants::LAYOUT,
    TaaConstants::LAYOUT,
    BloomConstants::LAYOUT,
    VignettingConstants::LAYOUT,
    ChromaticAberrationConstants::LAYOUT,
    LensImageConstants::LAYOUT,
    GrainConstants::LAYOUT,
];
