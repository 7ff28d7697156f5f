#version 460
// variants: COLUMN NEIGHBORHOOD
// Maximum velocity (pixels) per tile: along rows, along columns (COLUMN), and over 3 x 3 tiles
// (NEIGHBORHOOD). McGuire et al. 2012, "A Reconstruction Filter for Plausible Motion Blur", section
// 3.2.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"

layout(set = 0, binding = 0) uniform texture2D velocity_image;
#ifndef NEIGHBORHOOD
layout(push_constant, scalar) uniform motion_block { MotionBlurConstants blur; };
#endif
layout(location = 0) out vec2 out_velocity;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 last = textureSize(velocity_image, 0) - 1;
#ifdef NEIGHBORHOOD
    ivec2 first = max(texel - 1, ivec2(0));
    ivec2 end = min(texel + 1, last);
#else
    int tile = int(blur.tile);
#ifdef COLUMN
    ivec2 first = ivec2(texel.x, texel.y * tile);
    ivec2 end = min(first + ivec2(0, tile - 1), last);
#else
    ivec2 first = ivec2(texel.x * tile, texel.y);
    ivec2 end = min(first + ivec2(tile - 1, 0), last);
#endif
#endif
    vec2 longest = vec2(0.0);
    for (int y = first.y; y <= end.y; ++y) {
        for (int x = first.x; x <= end.x; ++x) {
            vec2 v = texelFetch(velocity_image, ivec2(x, y), 0).xy;
            if (dot(v, v) > dot(longest, longest)) {
                longest = v;
            }
        }
    }
    out_velocity = longest;
}
