// Structs of the camera effects.
#ifndef SHARED_EFFECTS
#define SHARED_EFFECTS
#extension GL_EXT_scalar_block_layout : require

// Constants of the depth of field passes. Lengths on the sensor are in pixels, y down.
struct DepthOfFieldConstants {
    // Radius of the circle of confusion at infinite distance (pixels).
    float radius_at_infinity;
    // Pixels times meters: the radius at a distance is the radius at infinity minus this over the
    // distance.
    float radius_slope;
    // Maximum radius; larger circles are clamped to it.
    float max_radius;
    // Number of iris blades; 0: circular iris.
    float blades;
    // Blade curvature, 0 (straight) to 1 (round).
    float curvature;
    // Angle (rad) of an iris corner from +X, counter-clockwise as seen.
    float rotation;
    // Area of the iris over that of its circumscribed circle.
    float open_area;
    // Radius of the barrel rim over that of the iris.
    float rim_radius;
    // Shift of the rim in iris radii per pixel from the image center.
    float rim_shift;
    // Visibility threshold (exposed light): dimmer highlights are not drawn as sprites.
    float min_highlight_light;
    // Size class.
    uint level;
    // Largest size class.
    uint last_level;
};

// Maximum number of highlights that a tile draws as sprites; further ones are gathered.
const uint HIGHLIGHTS_PER_TILE = 64u;

// Pixel whose circle of confusion is splatted separately.
struct Highlight {
    // Pre-exposed light of the whole pixel.
    vec3 light;
    // Signed radius of the circle of confusion (pixels), negative in front of the focus plane.
    float radius;
    // Position in the image (pixels).
    vec2 center;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
};

// Constants of the velocity pass.
struct VelocityConstants {
    // Camera-relative world to clip space at shutter opening.
    mat4 open;
    // Camera-relative world to clip space at shutter closing.
    mat4 close;
};

// Constants of the motion blur passes.
struct MotionBlurConstants {
    // Image size (pixels).
    vec2 size;
    // Tile size per axis (pixels): the maximum half length of a blur.
    float tile;
    // Rolling shutter: exposure times between the exposure of the first and the last line; 0:
    // global shutter.
    float curtain;
};

// Constants of the bloom passes.
struct BloomConstants {
    // Weight of this level's light.
    float weight;
    // Fraction of a pixel's light that is scattered.
    float fraction;
};

// Constants of the vignetting pass.
struct VignettingConstants {
    // Image center (pixels).
    vec2 center;
    // Tangent of the field angle per pixel: pixel size over image distance.
    float pitch;
    // Exponent of the cosine; natural vignetting has 4.
    float natural;
    // Radius of the barrel rim over that of the pupil; 0: no barrel.
    float rim_radius;
    // Shift of the rim in pupil radii per pixel from the center.
    float rim_shift;
};

// Constants of the chromatic aberration pass.
struct ChromaticAberrationConstants {
    // Image center (pixels).
    vec2 center;
    // Image scale of red over green.
    float red;
    // Image scale of blue over green.
    float blue;
};

// Constants of the lens image pass.
struct LensImageConstants {
    // Image center (pixels).
    vec2 center;
    // Index of the grid's last node per axis.
    float last;
    // Padding.
    uint pad0;
};

// Constants of the film grain pass.
struct GrainConstants {
    // Shot noise: variance over exposed value.
    float shot;
    // Read noise: standard deviation at black.
    float read;
    // Frame index.
    uint frame;
    // Padding.
    uint pad0;
};

#endif
