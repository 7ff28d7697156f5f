// The frame before: places of its pixels, and which pixels have moved by themselves. The including shader names the block with the
// matrices as MOVED.
#ifndef LIB_BEFORE
#define LIB_BEFORE

// Velocities are half floats: a motion counts from so many pixels on, and by such a part of the velocity.
const float LEAST_MOTION = 0.03;
const float MOTION_DIGITS = 0.002;

vec2 to_pixels(vec4 clip) {
    return (clip.xy / clip.w + 1.0) * 0.5 * vec2(MOVED.size);
}

// Place of a past pixel's surface, relative to this frame's camera.
vec3 place_before(vec2 at, float depth) {
    vec4 p = MOVED.from_clip_before * vec4(at / vec2(MOVED.size) * 2.0 - 1.0, depth, 1.0);
    return p.xyz / p.w;
}

#endif
