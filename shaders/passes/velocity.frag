#version 460
// Camera velocity: motion of each pixel during the exposure (pixels), by the camera alone.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "shared/effects.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(push_constant, scalar) uniform velocity_block { VelocityConstants motion; };
layout(location = 0) out vec2 out_velocity;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec2 ndc = gl_FragCoord.xy / vec2(frame.size) * 2.0 - 1.0;
    // Homogeneous: infinitely far points have w = 0 and only rotate.
    vec4 p = frame.inverse_projection * vec4(ndc, depth, 1.0);
    if (depth <= 0.0 && frame.forward.w == 0.0) {
        p.w = 0.0;
    }
    vec4 first = motion.open * p;
    vec4 last = motion.close * p;
    // A point that passes the camera plane during the exposure has no valid projection.
    out_velocity = first.w > 0.0 && last.w > 0.0
        ? clamp((last.xy / last.w - first.xy / first.w) * 0.5 * vec2(frame.size), -32000.0, 32000.0)
        : vec2(0.0);
}
