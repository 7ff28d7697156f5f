// The frame before: places of its pixels, and which pixels have moved by themselves. The including shader names the block with the
// matrices as MOVED, or is given them (lib/given.glsl, included before).
#ifndef LIB_BEFORE
#define LIB_BEFORE

// Velocities are half floats: a motion counts from so many pixels on, and by such a part of the velocity.
const float LEAST_MOTION = 0.03;
const float MOTION_DIGITS = 0.002;

#ifdef LIB_GIVEN
// Where a place is in this frame's picture and in the last one's (pixels), times w; and w.
vec3 seen_now(vec4 place) {
    return vec3(dot(pixels_now[0], place), dot(pixels_now[1], place), dot(pixels_now[2], place));
}

vec3 seen_before(vec4 place) {
    return vec3(dot(pixels_before[0], place), dot(pixels_before[1], place), dot(pixels_before[2], place));
}

vec2 to_pixels(vec3 seen) {
    return seen.xy / seen.z;
}
#else
vec2 to_pixels(vec4 clip) {
    return (clip.xy / clip.w + 1.0) * 0.5 * vec2(MOVED.size);
}
#endif

// Place of a past pixel's surface, relative to this frame's camera.
vec3 place_before(vec2 at, float depth) {
#ifdef LIB_GIVEN
    vec4 p = place_of_before * vec4(at, depth, 1.0);
#else
    vec4 p = MOVED.from_clip_before * vec4(at / vec2(MOVED.size) * 2.0 - 1.0, depth, 1.0);
#endif
    return p.xyz / p.w;
}

#endif
