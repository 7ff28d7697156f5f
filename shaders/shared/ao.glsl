// Ambient occlusion constants, filled by src/passes/ao.rs; a test compares every offset.
#ifndef SHARED_AO
#define SHARED_AO
#extension GL_EXT_scalar_block_layout : require

// Constants of the ambient occlusion passes.
struct AoConstants {
    float radius;          // occlusion radius (m)
    float falloff;         // outer fraction of the radius over which the weight falls to 0, 0 to 1
    float thickness;       // horizon decay behind thin occluders, 0 to 1
    uint slices;           // slices (planes through the view ray) per pixel
    uint steps;            // samples on each side of a slice
    uint scale;            // pixels per texel on each side: 1 or 2
    uint filtered;         // 0: no spatial filter
    uint pad0;
};

#endif
