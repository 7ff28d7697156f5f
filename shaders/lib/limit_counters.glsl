// Counters of limits that act. A shader increments one where a limit changes its result, which is
// rare: frames without such pixels do no atomic operation. Graphics shaders that include this
// declare early_fragment_tests, since writes to a buffer otherwise delay the depth test.
#ifndef LIB_LIMIT_COUNTERS
#define LIB_LIMIT_COUNTERS
#include "shared/limits.glsl"

layout(set = 0, binding = 80, scalar) buffer limit_counter_block { LimitCounters limit_counters; };

// Counts a pixel of this pre-exposed light if `to_half_range` clamps it, or has clamped a part of
// it: the clamped emission of the G-buffer is the maximum itself.
void count_clamped_light(vec3 light) {
    if (any(greaterThanEqual(light, vec3(65504.0)))) {
        atomicAdd(limit_counters.clamped_values, 1u);
    }
}

#endif
