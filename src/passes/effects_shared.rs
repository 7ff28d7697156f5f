//! Structs of `shaders/shared/effects.glsl`. A test compares every offset with the compiled
//! shaders. Lengths on the sensor are in pixels.

use glam::{Mat4, Vec2, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Constants of the depth of field passes.
    pub struct DepthOfFieldConstants {
        /// Circle of confusion radius at infinity.
        pub radius_at_infinity: f32,
        /// Pixels times meters: the radius at a distance is the radius at infinity minus this over
        /// the distance.
        pub radius_slope: f32,
        /// Maximum radius; larger circles are clamped to it.
        pub max_radius: f32,
        /// Number of iris blades; 0: circular iris.
        pub blades: f32,
        /// Blade curvature, 0 (straight) to 1 (round).
        pub curvature: f32,
        /// Angle (rad) of an iris corner from +X, counter-clockwise as seen.
        pub rotation: f32,
        /// Area of the iris over that of its circumscribed circle.
        pub open_area: f32,
        /// Radius of the barrel rim over that of the iris.
        pub rim_radius: f32,
        /// Shift of the rim in iris radii per pixel from the image center.
        pub rim_shift: f32,
        /// Minimum exposed light of a highlight.
        pub min_highlight_light: f32,
        /// Size class.
        pub level: u32,
        /// Largest size class.
        pub last_level: u32,
    }
}

shader_struct! {
    /// Pixel whose circle of confusion is splatted separately.
    pub struct Highlight {
        /// Pre-exposed light of the whole pixel.
        pub light: Vec3,
        /// Signed radius: negative in front of the focus.
        pub radius: f32,
        /// Position in the image.
        pub center: Vec2,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Constants of the velocity pass.
    pub struct VelocityConstants {
        /// Camera-relative world to clip space at shutter opening.
        pub open: Mat4,
        /// Camera-relative world to clip space at shutter closing.
        pub close: Mat4,
    }
}

shader_struct! {
    /// Constants of the motion blur passes.
    pub struct MotionBlurConstants {
        /// Image size.
        pub size: Vec2,
        /// Tile size per axis: the maximum half length of a blur.
        pub tile: f32,
        /// Rolling shutter: exposure times between the exposure of the first and the last line.
        pub curtain: f32,
    }
}

shader_struct! {
    /// Constants of the temporal anti-aliasing pass.
    pub struct TaaConstants {
        /// Depth (m) for the last frame's camera: dot product of this with a camera-relative
        /// homogeneous position.
        pub previous_depth: Vec4,
        /// Output size (pixels).
        pub size: Vec2,
        /// Sample offset of this frame from the pixel center (input pixels).
        pub jitter: Vec2,
        /// Maximum weight of the history; 0 resets it.
        pub max_frames: f32,
        /// Variance clipping: half-width of the history clamp in standard deviations of the
        /// neighborhood.
        pub gamma: f32,
        /// 1: static view; the history is a plain mean.
        pub still: u32,
        /// Frame index, for rounding noise.
        pub frame: u32,
    }
}

shader_struct! {
    /// Constants of the bloom passes.
    pub struct BloomConstants {
        /// Weight of this level's light.
        pub weight: f32,
        /// Fraction of a pixel's light that is scattered.
        pub fraction: f32,
    }
}

shader_struct! {
    /// Constants of the vignetting pass.
    pub struct VignettingConstants {
        /// Image center.
        pub center: Vec2,
        /// Tangent of the field angle one pixel from the center.
        pub pitch: f32,
        /// Exponent of the cosine; natural vignetting has 4.
        pub natural: f32,
        /// Radius of the barrel rim over that of the pupil; 0: no barrel.
        pub rim_radius: f32,
        /// Shift of the rim in pupil radii per pixel from the center.
        pub rim_shift: f32,
    }
}

shader_struct! {
    /// Constants of the chromatic aberration pass.
    pub struct ChromaticAberrationConstants {
        /// Image center.
        pub center: Vec2,
        /// Image scale of red over green.
        pub red: f32,
        /// Image scale of blue over green.
        pub blue: f32,
    }
}

shader_struct! {
    /// Constants of the lens image pass.
    pub struct LensImageConstants {
        /// Image center.
        pub center: Vec2,
        /// Index of the grid's last node per axis.
        pub last: f32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// Constants of the film grain pass.
    pub struct GrainConstants {
        /// Shot noise: variance over exposed value.
        pub shot: f32,
        /// Read noise: standard deviation at black.
        pub read: f32,
        /// Frame index.
        pub frame: u32,
        /// Padding.
        pub pad0: u32,
    }
}

/// Host layouts of all structs that the effect shaders share, for the layout test.
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
