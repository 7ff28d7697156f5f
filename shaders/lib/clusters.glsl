// Depth slices of the light clusters; pixels of a cluster share a light list.
#ifndef LIB_CLUSTERS
#define LIB_CLUSTERS

// Slices per tile, counted from its nearest pixel; farther depths share the last slice.
const uint SLICES = 32u;

// Count that marks a cluster where every light is evaluated.
const uint ALL_LIGHTS = 0xffffffffu;

// Eight slices per octave of depth (m), from the bits of the float: exact, so that all passes
// agree.
uint depth_slice(float depth) {
    return floatBitsToUint(depth) >> 20;
}

#endif
