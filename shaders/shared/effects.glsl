// Structs of the camera's effects that the host fills (src/passes/effects_shared.rs); a test
// compares every offset.
#ifndef SHARED_EFFECTS
#define SHARED_EFFECTS
#extension GL_EXT_scalar_block_layout : require

// Lengths on the sensor are in pixels, pictures' y down.
struct DepthOfFieldConstants {
    float radius_at_infinity;  // of the circle of confusion
    float radius_slope;        // pixels * m: radius = radius_at_infinity - radius_slope / distance
    float max_radius;     // larger circles are drawn this large
    float blades;              // of the iris; 0 is a circle
    float curvature;           // of the blades, 0 straight to 1 round
    float rotation;            // rad, of a corner from +X, counter-clockwise as seen
    float open_area;           // of the iris over its circle's
    float rim_radius;          // of the barrel's rim over the iris'
    float rim_shift;           // iris radii that the rim moves for a pixel from the picture's centre
    float min_highlight_light;         // exposed light that is seen: highlights whose discs are darker are not drawn one by one
    uint level;                // size class
    uint last_level;
};

const uint HIGHLIGHTS_PER_TILE = 64u;

struct Highlight {
    vec3 light;                // pre-exposed, of a whole pixel
    float radius;              // signed, pixels: below 0 in front of the focus
    vec2 center;               // pixels
    uint pad0;
    uint pad1;
};

struct VelocityConstants {
    mat4 open;                 // camera-relative world to clip space when the shutter opens
    mat4 close;                // when it closes
};

struct MotionBlurConstants {
    vec2 size;                 // pixels
    float tile;                // pixels along a tile's edge: the greatest half length of a blur
    float curtain;             // exposure times from the first line's exposure to the last's, 0 for all at once
};

struct TaaConstants {
    vec4 previous_depth;         // dot product with a camera-relative homogeneous position: its depth (m) for the last frame's camera
    vec2 size;                 // of the output, pixels
    vec2 jitter;               // of this frame's samples from their pixels' centres, pixels of the input
    float max_frames;                // weight that the history has at most; 0 forgets it
    float gamma;               // standard deviations of its neighbourhood that a history may be off its mean
    uint still;                // nothing has moved: the history is a plain mean
    uint frame;                // number of the frame, for rounding
};

struct BloomConstants {
    float weight;              // of this level's light
    float fraction;            // of a pixel's light that is scattered
};

struct VignettingConstants {
    vec2 center;               // pixels
    float pitch;               // pixels over the image distance: tangent of the field angle for one pixel
    float natural;             // exponent of the cosine, 4 by nature
    float rim_radius;          // of the barrel's rim over the pupil's; 0 for no barrel
    float rim_shift;           // pupil radii that the rim moves for a pixel from the centre
};

struct ChromaticAberrationConstants {
    vec2 center;               // pixels
    float red;                 // image scale of red over green
    float blue;                // image scale of blue over green
};

struct LensImageConstants {
    vec2 center;               // of the picture, pixels
    float last;                // the grid's last node along each side
    uint pad0;
};

struct GrainConstants {
    float shot;                // variance over exposed value
    float read;                // standard deviation of black
    uint frame;
    uint pad0;
};

#endif
