// Temporal stabilization of a static view. Rare bright samples (one in hundreds) move the mean
// visibly; the displayed image follows the mean slowly, the slower the longer the history, and
// converges to it. Exposed light. The including shader declares `frame`.
#ifndef LIB_TEMPORAL_STABILIZATION
#define LIB_TEMPORAL_STABILIZATION
#include "lib/ycocg.glsl"

// Maximum change of the displayed image per frame in 8-bit steps, for a long history; shorter
// histories allow more.
const float STABILIZATION_STEP = 0.1;
const float STABILIZATION_FRAMES = 64.0;
// Maximum exposure change per frame (stops): beyond it the image jumps to the mean, since an
// exposure step changes all pixels.
const float STABILIZATION_MAX_STOPS = 0.5;

bool exposure_is_stable() {
    return abs(log2(frame.history_scale)) < STABILIZATION_MAX_STOPS;
}

// Size of an 8-bit sRGB step (exposed light): 1/3300 of white in the dark, about 1/60 of the light
// elsewhere.
vec4 eight_bit_step(vec4 light) {
    return vec4(1.0 / 3300.0) + light / 60.0;
}

// Maximum change of the displayed value (exposed light) toward a mean of `count` frames. Short
// histories use the greater of both values: else a pixel that was dark would lag by the exposure's
// brightness. In long ones a rare bright sample raises the mean far above the displayed value: its
// part falls with the sixth power.
vec4 stabilization_step(vec4 displayed, vec4 mean, float count) {
    float early = STABILIZATION_FRAMES / count;
    early *= early * early;
    return STABILIZATION_STEP * (eight_bit_step(displayed)
        + early * min(early, 1.0) * eight_bit_step(max(displayed, mean)));
}

// Displayed value: the last one, moved toward the mean by at most `step`. NaN fails every
// comparison, so it selects the mean.
vec4 stabilize(vec4 mean, vec4 displayed, vec4 step) {
    bool sound = all(greaterThanEqual(displayed, vec4(0.0)))
        && all(lessThanEqual(displayed, vec4(MAX_HALF)));
    return sound ? clamp(mean, displayed - step, displayed + step) : mean;
}

#endif
