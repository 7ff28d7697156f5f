#version 460
// variants: FIRST
// Bloom pyramid downsampling with weights 1 3 3 1 per axis, the two-scale relation of the uniform
// quadratic B-spline, which conserves energy. Pre-exposed light; alpha is the coverage, the result
// for an image of ones. Light beyond the image is 0; levels have a border of one texel whose
// splines reach into the image. FIRST reads the full-resolution image.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/glare.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(location = 0) out vec4 out_light;

void main() {
    const float weights[4] = float[](0.125, 0.375, 0.375, 0.125);
    ivec2 size = textureSize(light_image, 0);
    ivec2 first = (ivec2(gl_FragCoord.xy) - MARGIN) * 2 - 1;
#ifndef FIRST
    first += MARGIN;
#endif
    vec4 sum = vec4(0.0);
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) {
            ivec2 at = first + ivec2(x, y);
            if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, size))) {
                continue;
            }
            vec4 light = texelFetch(light_image, at, 0);
#ifdef FIRST
            // Sums of blended light may be infinite, and infinity would spread to all coarser
            // levels.
            light = vec4(to_half_range(light.rgb), 1.0);
#endif
            sum += weights[x] * weights[y] * light;
        }
    }
    out_light = sum;
}
