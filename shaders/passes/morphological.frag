#version 460
// Morphological anti-aliasing, blending: mixes each pixel with its neighbors by the coverage
// weights, in linear pre-exposed light.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(set = 0, binding = 1) uniform texture2D weight_image;
layout(location = 0) out vec4 out_light;

vec3 light_at(ivec2 pixel,
    ivec2 last) { return to_half_range(texelFetch(light_image, clamp(pixel, ivec2(0), last),
    0).rgb); }

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 last = textureSize(light_image, 0) - 1;
    vec4 own = texelFetch(weight_image, pixel, 0);
    // Above, left, below, right.
    vec4 weights = vec4(own.x, own.z,
                        pixel.y < last.y ? texelFetch(weight_image, pixel + ivec2(0, 1), 0).y : 0.0,
                        pixel.x < last.x ? texelFetch(weight_image, pixel + ivec2(1, 0), 0).w
                            : 0.0);
    float sum = weights.x + weights.y + weights.z + weights.w;
    vec3 light = light_at(pixel, last) * max(1.0 - sum, 0.0);
    weights /= max(sum, 1.0);
    light += light_at(pixel - ivec2(0, 1), last) * weights.x
        + light_at(pixel - ivec2(1, 0), last) * weights.y
        + light_at(pixel + ivec2(0, 1), last) * weights.z
            + light_at(pixel + ivec2(1, 0), last) * weights.w;
    out_light = vec4(to_half_range(light), 1.0);
}
