// Clusters of pixels that share a light list.
#ifndef LIB_CLUSTERS
#define LIB_CLUSTERS

// Slices of a tile, counted from its nearest pixel on; what is farther shares the last.
const uint SLICES = 32u;

// As a count: every lamp is evaluated.
const uint ALL_LIGHTS = 0xffffffffu;

// Eight slices an octave of depth, by the bits of the float: exact, so that all passes agree on a
// pixel's slice.
uint depth_slice(float depth) {
    return floatBitsToUint(depth) >> 20;
}

#endif
