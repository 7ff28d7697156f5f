// Constants of the denoiser.
#ifndef SHARED_DENOISER
#define SHARED_DENOISER
#include "shared/temporal.glsl"

// Constants of one denoised signal in a frame. Positions are relative to this frame's camera, in
// world axes.
struct DenoiserConstants {
    // Motion since the last frame.
    MotionConstants motion;
    // History of the signal.
    HistoryConstants history;
    // Image size (pixels).
    uvec2 size;
    // Bits: the `DENOISER_` constants.
    uint flags;
    // Padding.
    uint pad0;
};

// The history is kept as it is; this frame's signal is not read.
const uint DENOISER_FROZEN = 1u;
// The signal is pre-exposed: a change of exposure rescales its history.
const uint DENOISER_PRE_EXPOSED = 2u;
// In motion, the history is clipped to this frame's neighborhood, and alpha of the signal's diffuse
// part limits its length (frames).
const uint DENOISER_CLIPPED = 4u;
// The signal was sampled at a part of the pixels: an image holds the weight of each pixel's sample.
const uint DENOISER_WEIGHTED = 8u;
// A pixel may show another surface in each frame, of a static view too.
const uint DENOISER_CHOSEN = 16u;

#endif
