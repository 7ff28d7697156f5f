// Temporal reprojection: positions (m) of last frame's pixels, and motion thresholds. The including
// shader names a block with the members `motion` (shared/temporal.glsl) and `size` as
// REPROJECTION_BLOCK, or includes lib/ssr_constants.glsl before.
#ifndef LIB_REPROJECTION
#define LIB_REPROJECTION

// Minimum object motion (pixels), and as a fraction of the velocity, since velocities are half
// floats.
const float MIN_MOTION = 0.03;
const float MOTION_DIGITS = 0.002;

// Whether a surface moves by itself. `own`: its velocity beyond the camera's motion (pixels).
bool is_object_motion(float own, vec2 velocity) {
    return own > MIN_MOTION + MOTION_DIGITS * length(velocity);
}

#ifdef LIB_SSR_CONSTANTS
// Homogeneous pixel position of a point in this frame and in the last one: pixels times w, and w.
vec3 current_pixel(vec4 place) {
    return vec3(dot(ssr.current_pixel_rows[0], place), dot(ssr.current_pixel_rows[1], place),
        dot(ssr.current_pixel_rows[2], place));
}

vec3 previous_pixel(vec4 place) {
    return vec3(dot(ssr.previous_pixel_rows[0], place), dot(ssr.previous_pixel_rows[1], place),
        dot(ssr.previous_pixel_rows[2], place));
}

vec2 to_pixels(vec3 seen) {
    return seen.xy / seen.z;
}
#else
vec2 to_pixels(vec4 clip) {
    return (clip.xy / clip.w + 1.0) * 0.5 * vec2(REPROJECTION_BLOCK.size);
}
#endif

// Position of a past pixel's surface, relative to this frame's camera.
vec3 reprojected_position(vec2 at, float depth) {
#ifdef LIB_SSR_CONSTANTS
    vec4 p = ssr.previous_pixel_to_position * vec4(at, depth, 1.0);
#else
    vec4 p = REPROJECTION_BLOCK.motion.previous_from_clip
        * vec4(at / vec2(REPROJECTION_BLOCK.size) * 2.0 - 1.0, depth, 1.0);
#endif
    return p.xyz / p.w;
}

#endif
