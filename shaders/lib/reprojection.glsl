// The frame before: places of its pixels, and which pixels have moved by themselves. The including
// shader names the block with the matrices as REPROJECTION_BLOCK, or is given them
// (lib/flat_constants.glsl, included before).
#ifndef LIB_REPROJECTION
#define LIB_REPROJECTION

// Velocities are half floats: a motion counts from so many pixels on, and by such a part of the
// velocity.
const float MIN_MOTION = 0.03;
const float MOTION_DIGITS = 0.002;

#ifdef LIB_FLAT_CONSTANTS
// Where a place is in this frame's picture and in the last one's (pixels), times w; and w.
vec3 current_pixel(vec4 place) {
    return vec3(dot(current_pixel_rows[0], place), dot(current_pixel_rows[1], place), dot(current_pixel_rows[2], place));
}

vec3 previous_pixel(vec4 place) {
    return vec3(dot(previous_pixel_rows[0], place), dot(previous_pixel_rows[1], place), dot(previous_pixel_rows[2], place));
}

vec2 to_pixels(vec3 seen) {
    return seen.xy / seen.z;
}
#else
vec2 to_pixels(vec4 clip) {
    return (clip.xy / clip.w + 1.0) * 0.5 * vec2(REPROJECTION_BLOCK.size);
}
#endif

// Place of a past pixel's surface, relative to this frame's camera.
vec3 reprojected_position(vec2 at, float depth) {
#ifdef LIB_FLAT_CONSTANTS
    vec4 p = previous_position_matrix * vec4(at, depth, 1.0);
#else
    vec4 p = REPROJECTION_BLOCK.previous_from_clip * vec4(at / vec2(REPROJECTION_BLOCK.size) * 2.0 - 1.0, depth, 1.0);
#endif
    return p.xyz / p.w;
}

#endif
