// Constants of temporal anti-aliasing.
#ifndef SHARED_TAA
#define SHARED_TAA
#extension GL_EXT_scalar_block_layout : require
#include "shared/temporal.glsl"

// Constants of the temporal anti-aliasing pass.
struct TaaConstants {
    // Depth (m) for the last frame's camera: dot product of this with a camera-relative homogeneous
    // position.
    vec4 previous_depth;
    // Output size (pixels).
    vec2 size;
    // Subpixel offset of this frame's samples from the pixel centers (input pixels).
    vec2 jitter;
    // History; in a static view, it is a plain mean.
    HistoryConstants history;
    // Variance clipping: half-width of the history clamp in standard deviations of the
    // neighborhood.
    float gamma;
    // Padding.
    uint pad0[3];
};

#endif
