// Constants and functions shared by the GPU culling passes.
#ifndef LIB_CULLING
#define LIB_CULLING
#include "shared/culling.glsl"

const uint BLOCK = 256u;

// Bits of an instance's state: level of detail, and whether it is drawn.
const uint STATE_LEVEL = 3u;
const uint STATE_DRAWN = 4u;

// Difference of two points, each stored as the sum of two vectors. The rounding error of the first
// difference is exact (Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B) and is
// added with the remainders. src/gpu_scene/instances.rs does the same operations in the
// same order.
vec3 relative_position(vec3 high, vec3 low, vec3 camera_high, vec3 camera_low) {
    precise vec3 difference = high - camera_high;
    precise vec3 part = difference - high;
    precise vec3 error = (high - (difference - part)) - (camera_high + part);
    precise vec3 result = difference + (error + (low - camera_low));
    return result;
}

#endif
