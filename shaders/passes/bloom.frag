#version 460
// Bloom: scatters a fraction of each pixel's pre-exposed light over the image. Light that would
// leave the image stays in its pixel, so total energy and uniform fields are conserved
// (docs/camera-effects.md).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/glare.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(set = 0, binding = 1) uniform texture2D coarser_image;
layout(push_constant, scalar) uniform bloom_block { BloomConstants bloom; };
layout(location = 0) out vec4 out_light;

// Clamps to finite values: sums of blended light may be infinite.
vec3 light_at(ivec2 pixel) {
    return to_half_range(texelFetch(light_image, pixel, 0).rgb);
}

void main() {
    const float weights[3] = float[](0.25, 0.5, 0.25);
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 size = textureSize(light_image, 0);
    vec4 glare = upsample_bloom(coarser_image, pixel);
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 3; ++x) {
            ivec2 at = pixel + ivec2(x, y) - 1;
            if (all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, size))) {
                glare += bloom.weight * weights[x] * weights[y] * vec4(light_at(at), 1.0);
            }
        }
    }
    vec3 own = light_at(pixel);
    vec3 light = own * (1.0 - bloom.fraction * glare.a) + bloom.fraction * glare.rgb;
    out_light = vec4(to_half_range(light), 1.0);
}
