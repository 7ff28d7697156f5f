// Structs of flare sources and starburst sprites. Lengths in the image are in pixels.
#ifndef SHARED_FLARE_SOURCES
#define SHARED_FLARE_SOURCES
#extension GL_EXT_scalar_block_layout : require

// Constants of the flare source passes.
struct FlareConstants {
    // Camera right vector in world axes.
    vec4 right;
    // Camera up vector in world axes.
    vec4 up;
    // Tangent of the angle that a pixel subtends on the axis.
    float pitch;
    // Number of lights in the frame.
    uint light_count;
    // Tile count; a tile has `BRIGHT_TILE` pixels per side.
    uvec2 tiles;
};

// A light or pixel cluster bright enough to cause lens flare.
struct FlareSource {
    // Unit vector from the camera in camera axes: right, up, back.
    vec3 direction;
    // Angular radius (rad); 0 for a point.
    float angular_radius;
    // Pre-exposed illuminance (lx by channel) on a plane at the lens that faces the source, without
    // occlusion.
    vec3 illuminance;
    // Visible fraction, 0 to 1.
    float visibility;
    // Fraction that is visible and outside the image, 0 to `visibility`.
    float outside;
    // Sort key: luminance of illuminance times visibility.
    float rank;
    // Bits: `SOURCE_LIGHT`, `SOURCE_VISIBLE_EMITTER`, `SOURCE_INFINITE`.
    uint flags;
    // Index in the frame's lights, or the root tile of a pixel cluster.
    uint light;
};

// Maximum number of sources per frame, the brightest first; dropped ones are counted.
const uint MAX_SOURCES = 64u;
// Maximum number of pixel clusters that compete for the list.
const uint MAX_CLUSTERS = 256u;

// The source is a light of the scene; otherwise a cluster of bright pixels that belong to no light.
const uint SOURCE_LIGHT = 1u;
// The emitting surface is visible in the image.
const uint SOURCE_VISIBLE_EMITTER = 2u;
// The source is infinitely far away.
const uint SOURCE_INFINITE = 4u;

// Bright pixels of one image tile that belong to no light of the scene.
struct FlareTile {
    // Sum over pixels of the light above the threshold (pre-exposed).
    vec3 light;
    // Luminance of `light`.
    float weight;
    // Centroid of `light` (pixels).
    vec2 center;
    // Mean squared distance from the center (pixels^2).
    float spread;
    // Root tile of its cluster; `NONE`: no bright pixels.
    uint root;
    // For a root tile: index of its source in the list, or `NONE`.
    uint source;
};

// Constants of the starburst passes.
struct StarburstConstants {
    // Steps of the table (half cycles at 550 nm) per pixel.
    float steps;
    // Tangent of the angle that a pixel subtends on the axis.
    float pitch;
    // Fraction of the light on a step along the brightest spike, 1024 steps from the center.
    float spike;
    // 1: lights without a visible emitter are drawn.
    uint points;
    // Fractions of the light beyond squares of half sides 256, 512 and 1024 steps.
    vec4 beyond;
    // Camera right vector in world axes.
    vec4 right;
    // Camera up vector in world axes.
    vec4 up;
};

// Sprite of a source's starburst.
struct StarburstSprite {
    // Position in the image (pixels).
    vec2 center;
    // Half of its side (pixels); 0: not drawn.
    float reach;
    // Radius of the source disk (pixels).
    float disk;
    // Pre-exposed light of a whole pixel.
    vec3 light;
    // Fraction of the light that leaves the source's own pixels; 0: the source has no pixels, and
    // all of it is drawn.
    float moved;
};

#endif
