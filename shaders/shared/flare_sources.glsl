// Structs of flare sources and starburst sprites (src/passes/flare_sources.rs, starburst.rs); a
// test compares every offset.
#ifndef SHARED_FLARE_SOURCES
#define SHARED_FLARE_SOURCES
#extension GL_EXT_scalar_block_layout : require

struct FlareConstants {
    vec4 right;                // camera axes in world axes
    vec4 up;
    float pitch;               // tangent of the angle of one pixel on the optical axis
    uint light_count;
    uvec2 tiles;               // tile count; a tile has BRIGHT_TILE pixels per side
};

// A light or pixel cluster bright enough to cause lens flare.
struct FlareSource {
    vec3 direction;            // unit, from the camera; camera axes: right, up, back
    float angular_radius;      // rad; 0: point source
    // unoccluded, pre-exposed lux by channel on a plane at the lens that faces the source
    vec3 illuminance;
    float visibility;          // visible fraction, 0 to 1
    float outside;             // visible fraction beyond the image border, 0 to visibility
    float rank;                // luminance of illuminance times visibility
    uint flags;                // SOURCE_ bits
    uint light;                // light index of a scene light; root tile of a cluster
};

// A scene light; without this bit a cluster of bright pixels that no scene light accounts for.
const uint SOURCE_LIGHT = 1u;
// The emitting surface is visible in the image.
const uint SOURCE_VISIBLE_EMITTER = 2u;
// At infinite distance.
const uint SOURCE_INFINITE = 4u;

// Bright pixels of one image tile that no scene light accounts for.
struct FlareTile {
    vec3 light;                // sum over pixels of the light above the threshold (pre-exposed)
    float weight;              // luminance of light
    vec2 center;               // centroid of light (pixels)
    float spread;              // mean squared distance from the center (pixels^2)
    uint root;                 // root tile of its cluster; NONE: no bright pixels
    uint source;               // of a root tile: index of its source in the list, or NONE
};

struct StarburstConstants {
    float steps;               // table steps (half cycles at 550 nm) per pixel
    float pitch;               // tangent of the angle of one pixel on the optical axis
    // fraction of the light per step on the brightest spike, 1024 steps from the center
    float spike;
    uint points;               // 1: lights without a visible emitter are drawn
    // fractions of the light beyond squares of half sides 256, 512 and 1024 steps
    vec4 beyond;
    vec4 right;                // camera axes in world axes
    vec4 up;
};

// Sprite of one source.
struct StarburstSprite {
    vec2 center;               // pixels
    float reach;               // half of its side (pixels); 0: not drawn
    float disk;                // radius of the source disk (pixels)
    vec3 light;                // pre-exposed, summed over one pixel
    // fraction of the light that leaves the source's own pixels; 0: no own pixels, all light is
    // drawn
    float moved;
};

#endif
