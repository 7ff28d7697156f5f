// Caustics constants, filled by src/passes/caustics.rs; a test compares every offset.
#ifndef SHARED_CAUSTICS
#define SHARED_CAUSTICS
#extension GL_EXT_scalar_block_layout : require

struct CausticsConstants {
    uint water;                // water index
    uint light;                // light index of the sun
    uint first;                // first texel in the buffer of all waters
    // first block in the buffer of all waters; a block has two words: sum of depths, count
    uint first_block;
    uvec2 texels;              // along x and z
    uint all_texels;           // texels of all waters: blocks follow them
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
