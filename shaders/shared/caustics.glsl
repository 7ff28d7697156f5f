// Constants of caustics through water.
#ifndef SHARED_CAUSTICS
#define SHARED_CAUSTICS
#extension GL_EXT_scalar_block_layout : require

// Constants of one water's map.
struct CausticsConstants {
    // Water index.
    uint water;
    // Index of the sun in the frame's lights.
    uint light;
    // First texel of this map in the buffer of all waters.
    uint first;
    // First block in the buffer of all waters; a block has two words: sum of depths, count.
    uint first_block;
    // Texels along x and z.
    uvec2 texels;
    // Texels of all waters: blocks follow them.
    uint all_texels;
};

// Light bundles along the side of a texel.
const uint CAUSTIC_BUNDLES = 2u;
// Fixed-point value of a texel under level water.
const float CAUSTIC_UNIT = 65536.0;
// Texels along the side of a block; each block stores a mean depth.
const uint CAUSTIC_BLOCK = 8u;
// Maximum depth (mm); depths accumulate in millimeters.
const float CAUSTIC_DEEPEST = 40000.0;

#endif
