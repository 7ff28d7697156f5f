// Struct of the passes of caustics (src/passes/caustics.rs); a test compares every offset.
#ifndef SHARED_CAUSTICS
#define SHARED_CAUSTICS
#extension GL_EXT_scalar_block_layout : require

struct CausticsConstants {
    uint water;                // its number
    uint light;                // number of the sun
    uint first;                // its first texel among those of all waters
    uint first_block;          // its first block, likewise; a block has two words: sum of depths, how many
    uvec2 texels;              // along x and z
    uint all_texels;           // of all waters: blocks come after them
};

// Bundles of light along a texel's side.
const uint CAUSTIC_BUNDLES = 2u;
// What a texel gets under level water.
const float CAUSTIC_UNIT = 65536.0;
// Texels along the side of a block, of which the mean depth is known.
const uint CAUSTIC_BLOCK = 8u;
// Depths are counted in millimetres, to this many.
const float CAUSTIC_DEEPEST = 40000.0;

#endif
