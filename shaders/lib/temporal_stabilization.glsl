// What is shown of a still view's mean. One sample in hundreds that finds something moves the mean
// of a still view at once by what can be seen: the picture follows it slowly, and the slower the
// longer the history, to the same mean. The including shader declares `frame`.
#ifndef LIB_TEMPORAL_STABILIZATION
#define LIB_TEMPORAL_STABILIZATION
#include "lib/ycocg.glsl"

// Parts of a step of eight bits that a mean of many frames may move the picture by in a frame; by
// more before so many frames are in it.
const float STABILIZATION_STEP = 0.1;
const float STABILIZATION_FRAMES = 64.0;
// Stops that the exposure may change by from frame to frame meanwhile: after more the picture is
// the mean at once, for a step of exposure changes the whole of it.
const float STABILIZATION_MAX_STOPS = 0.5;

bool exposure_is_stable() {
    return abs(log2(frame.history_scale)) < STABILIZATION_MAX_STOPS;
}

// A step of eight bits by sRGB's curve (of exposed light): 1/3300 of white in the dark, about a
// sixtieth of the light where it is not.
vec4 eight_bit_step(vec4 light) {
    return vec4(1.0 / 3300.0) + light / 60.0;
}

// How far what is shown (exposed light) may go in a frame towards a mean of so many. What is early
// goes by the greater of both: a pixel that was dark so far would else stay behind by as much as
// the exposure is bright.
vec4 stabilization_step(vec4 shown, vec4 mean, float count) {
    float early = STABILIZATION_FRAMES / count;
    return STABILIZATION_STEP * (eight_bit_step(shown) + early * early * early * eight_bit_step(max(shown, mean)));
}

// What is shown now: what was shown, gone towards the mean by a step at most. Not a number fails
// every comparison.
vec4 stabilize(vec4 mean, vec4 shown, vec4 step) {
    bool sound = all(greaterThanEqual(shown, vec4(0.0))) && all(lessThanEqual(shown, vec4(MAX_HALF)));
    return sound ? clamp(mean, shown - step, shown + step) : mean;
}

#endif
