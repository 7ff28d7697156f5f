// Constants of ambient occlusion.
#ifndef SHARED_AO
#define SHARED_AO
#extension GL_EXT_scalar_block_layout : require

// Constants of the ambient occlusion passes.
struct AoConstants {
    // Occlusion radius (m).
    float radius;
    // Outer fraction of the radius over which the occluder weight falls off, 0 to 1.
    float falloff;
    // Rate at which the horizon drops behind thin occluders, 0 to 1.
    float thickness;
    // Number of slice planes through the view direction.
    uint slices;
    // Samples per side of a slice.
    uint steps;
    // Image pixels per texel along each axis: 1 or 2.
    uint scale;
    // 0: no spatial filter.
    uint filtered;
    // Padding.
    uint pad0;
};

#endif
