// Structs of the camera effects, filled by src/passes/effects_shared.rs; a test compares every
// offset.
#ifndef SHARED_EFFECTS
#define SHARED_EFFECTS
#extension GL_EXT_scalar_block_layout : require

// Lengths on the sensor are in pixels, y down.
struct DepthOfFieldConstants {
    float radius_at_infinity;  // of the circle of confusion, at infinite distance
    float radius_slope;        // pixels * m: radius = radius_at_infinity - radius_slope / distance
    float max_radius;          // larger circles are clamped to this radius
    float blades;              // of the iris; 0: circular
    float curvature;           // of the blades, 0 straight to 1 round
    float rotation;            // rad, of a corner from +X, counter-clockwise as seen
    float open_area;           // iris area over the area of its circle
    float rim_radius;          // barrel rim radius over iris radius
    float rim_shift;           // rim shift (iris radii) per pixel from the image center
    // visibility threshold (exposed light): dimmer highlights are not drawn as sprites
    float min_highlight_light;
    uint level;                // size class
    uint last_level;
};

const uint HIGHLIGHTS_PER_TILE = 64u;

struct Highlight {
    vec3 light;                // pre-exposed, summed over one pixel
    float radius;              // signed (pixels): negative in front of the focus plane
    vec2 center;               // pixels
    uint pad0;
    uint pad1;
};

struct VelocityConstants {
    mat4 open;                 // camera-relative world to clip space at shutter opening
    mat4 close;                // at shutter closing
};

struct MotionBlurConstants {
    vec2 size;                 // pixels
    float tile;                // pixels along a tile's edge: maximum half length of a blur
    // rolling shutter: exposure times between the first and last line; 0: global shutter
    float curtain;
};

struct TaaConstants {
    // dot product with a camera-relative homogeneous position: its depth (m) for the last frame's
    // camera
    vec4 previous_depth;
    vec2 size;                 // of the output, pixels
    // subpixel offset of this frame's samples from the pixel centers (input pixels)
    vec2 jitter;
    float max_frames;          // maximum history weight in frames; 0 discards the history
    // variance clipping: half-width in standard deviations of the neighborhood
    float gamma;
    uint still;                // 1: static view; the history is a plain mean
    uint frame;                // frame index, for dithered rounding
};

struct BloomConstants {
    float weight;              // of this bloom level
    float fraction;            // fraction of a pixel's light that is scattered
};

struct VignettingConstants {
    vec2 center;               // pixels
    // tangent of the field angle per pixel: pixel size over image distance
    float pitch;
    float natural;             // exponent of the cosine falloff, 4 physically
    float rim_radius;          // barrel rim radius over pupil radius; 0: no barrel
    float rim_shift;           // rim shift (pupil radii) per pixel from the center
};

struct ChromaticAberrationConstants {
    vec2 center;               // pixels
    float red;                 // image scale of red over green
    float blue;                // image scale of blue over green
};

struct LensImageConstants {
    vec2 center;               // of the image (pixels)
    float last;                // last grid node along each side
    uint pad0;
};

struct GrainConstants {
    float shot;                // shot noise variance per exposed value
    float read;                // read noise: standard deviation at black
    uint frame;
    uint pad0;
};

#endif
