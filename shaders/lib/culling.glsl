// What the culling passes share.
#ifndef LIB_CULLING
#define LIB_CULLING
#include "shared/culling.glsl"

const uint BLOCK = 256u;

// Bits of a placement's state: the level of detail, and whether it is drawn.
const uint STATE_LEVEL = 3u;
const uint STATE_DRAWN = 4u;

// The difference of two points, each the sum of two vectors: the rounding error of the first
// difference is found (Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B) and
// added with what the first parts leave. src/passes/scene_data/instances.rs does the same
// operations in the same order.
vec3 relative_position(vec3 high, vec3 low, vec3 camera_high, vec3 camera_low) {
    precise vec3 difference = high - camera_high;
    precise vec3 part = difference - high;
    precise vec3 error = (high - (difference - part)) - (camera_high + part);
    precise vec3 result = difference + (error + (low - camera_low));
    return result;
}

#endif
