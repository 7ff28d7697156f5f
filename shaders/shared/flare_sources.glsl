// Structs of bright sources and what is drawn of them (src/passes/flare_sources.rs, starburst.rs);
// a test compares every offset.
#ifndef SHARED_FLARE_SOURCES
#define SHARED_FLARE_SOURCES
#extension GL_EXT_scalar_block_layout : require

struct FlareConstants {
    vec4 right;                // camera axes in world axes
    vec4 up;
    float pitch;               // tangent of the angle that a pixel fills on the axis
    uint light_count;
    uvec2 tiles;               // of BRIGHT_TILE pixels
};

// Something bright enough to flare.
struct FlareSource {
    vec3 direction;            // unit, from the camera; camera axes: right, up, back
    float angular_radius;      // rad; 0 for a point
    vec3 illuminance;          // pre-exposed lux by channel on a plane at the lens that faces it, as though nothing hid it
    float visibility;          // the part of it that is seen, 0 to 1
    float outside;             // the part that is seen and lies beyond the picture's border, 0 to visibility
    float rank;                // luminance of illuminance times visibility
    uint flags;                // SOURCE_ bits
    uint light;                // of a lamp its number among the frame's lights; of a cluster its root tile
};

// A light of the scene; else a cluster of bright pixels that no lamp accounts for.
const uint SOURCE_LIGHT = 1u;
// The picture shows its shining surface.
const uint SOURCE_VISIBLE_EMITTER = 2u;
// From infinitely far.
const uint SOURCE_INFINITE = 4u;

// Bright pixels of a square of the picture that no lamp accounts for.
struct FlareTile {
    vec3 light;                // sum of their light above the threshold (pixels)
    float weight;              // its luminance
    vec2 center;               // of that (pixels)
    float spread;              // mean squared distance from the centre (pixels^2)
    uint root;                 // the tile whose cluster it belongs to; NONE where nothing is bright
    uint source;               // of a root: number of its source in the list; NONE if it has none
};

struct StarburstConstants {
    float steps;               // of the table (half cycles at 550 nm) a pixel
    float pitch;               // tangent of the angle that a pixel fills on the axis
    float spike;               // part of the light on a step of the brightest spike, 1024 steps from the centre
    uint points;               // 1: lamps without a body are drawn
    vec4 beyond;               // parts of the light beyond squares of half sides 256, 512 and 1024 steps
    vec4 right;                // camera axes in world axes
    vec4 up;
};

// What is drawn of a source.
struct StarburstSprite {
    vec2 center;               // pixels
    float reach;               // half of its side (pixels); 0 is not drawn
    float disk;                // radius of the source's disk (pixels)
    vec3 light;                // pre-exposed, of a whole pixel
    float moved;               // part of the light that leaves its own pixels; 0: it has none, all of it is drawn
};

#endif
