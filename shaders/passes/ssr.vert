#version 460
// variants: RAY_CONSTANTS HISTORY_CONSTANTS DEPTH_ABOVE_HALF
// Fullscreen triangle at depth 0 with the flat constants of its pixels; DEPTH_ABOVE_HALF places it
// between 1/2 and 1.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };
#define WRITE_FLAT_CONSTANTS
#include "lib/flat_constants.glsl"

// Pixels, from the image corner (0, 0), to clip space.
mat4 to_clip(vec2 size) {
    return mat4(vec4(2.0 / size.x, 0.0, 0.0, 0.0), vec4(0.0, 2.0 / size.y, 0.0, 0.0),
        vec4(0.0, 0.0, 1.0, 0.0),
                vec4(-1.0, -1.0, 0.0, 1.0));
}

// Clip space to pixels, times w.
mat4 clip_to_pixels(vec2 size) {
    return mat4(vec4(0.5 * size.x, 0.0, 0.0, 0.0), vec4(0.0, 0.5 * size.y, 0.0, 0.0),
        vec4(0.0, 0.0, 1.0, 0.0),
                vec4(0.5 * size, 0.0, 1.0));
}

void main() {
    vec2 p = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
#ifdef DEPTH_ABOVE_HALF
    const float DEPTH = 0.75;
#else
    const float DEPTH = 0.0;
#endif
    gl_Position = vec4(p, DEPTH, 1.0);
    vec2 size = vec2(ssr.size);
    mat4 m = frame.inverse_projection;
    place_of = m * to_clip(size);
    place_of[3] += 0.5 * (place_of[0] + place_of[1]);
    forward = frame.forward;
#ifdef HISTORY_CONSTANTS
    previous_eye = vec4(ssr.motion.previous_eye, 1.0);
    mat4 now = transpose(clip_to_pixels(size) * ssr.motion.to_clip);
    mat4 before = transpose(clip_to_pixels(size) * ssr.motion.previous_to_clip);
    current_pixel_rows = vec4[3](now[0], now[1], now[3]);
    previous_pixel_rows = vec4[3](before[0], before[1], before[3]);
    previous_position_matrix = ssr.motion.previous_from_clip * to_clip(size);
#else
    far_terms = vec4(dot(m[2].xyz, forward.xyz), m[2].w, dot(m[3].xyz, forward.xyz), m[3].w);
#ifdef RAY_CONSTANTS
    position_to_pixel = clip_to_pixels(size) * frame.view_projection;
#endif
#endif
}
