// Structs that the host fills (src/passes/ao.rs); a test compares every offset.
#ifndef SHARED_AO
#define SHARED_AO
#extension GL_EXT_scalar_block_layout : require

// Of the passes that measure ambient occlusion.
struct AoConstants {
    float radius;          // how far (m) what hides light may be
    float falloff;         // the outer part of the radius over which it loses its weight, 0 to 1
    float thickness;       // how fast the horizon sinks behind what sticks up, 0 to 1
    uint slices;           // planes through the line of sight
    uint steps;            // samples on each side of a slice
    uint scale;            // pixels of the picture a texel, on each side: 1 or 2
    uint filtered;         // 0: each pixel by itself
    uint pad0;
};

#endif
