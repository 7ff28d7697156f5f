// Pixels whose indirect light a frame gathers: one of each block of `gi.stride` squared pixels. The
// including shader declares `gi`.
#ifndef LIB_GI_PIXELS
#define LIB_GI_PIXELS

// The pixel that a texel of the gathered light belongs to.
uvec2 gathered_pixel(uvec2 texel) {
    return min(texel * gi.stride + gi.phase, gi.size - 1u);
}

#endif
