#version 460
// Half-resolution SSR ray mask: the depth that the half-resolution ray pass tests.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/ssr.glsl"

layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };
layout(set = 0, binding = 1) uniform texture2D ray_mask_image;

void main() {
    ivec2 pixel = min(ivec2(gl_FragCoord.xy) * int(ssr.scale), ivec2(ssr.size) - 1);
    gl_FragDepth = texelFetch(ray_mask_image, pixel, 0).x;
}
