#version 460
// Background image for refraction: lit opaque pixels (pre-exposed); alpha is the distance along the
// camera axis (m), 0 for the background.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 2) uniform texture2D light_image;

layout(location = 0) out vec4 out_background;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec4 p = frame.inverse_projection * vec4(gl_FragCoord.xy / vec2(frame.size) * 2.0 - 1.0, depth,
        1.0);
    float along = depth > 0.0 ? clamp(dot(p.xyz / p.w, frame.forward.xyz), 1e-4, 6e4) : 0.0;
    out_background = vec4(to_half_range(texelFetch(light_image, pixel, 0).rgb), along);
}
