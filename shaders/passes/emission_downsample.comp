#version 460
// Mean emission of each pixel (pre-exposed), from the image of twice the resolution. The forward
// pass draws the emission of its surfaces itself. A pixel that shows a part of a light has the
// light's mark, so that reflections of the picture leave the light out.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 1) uniform texture2D emission_image;
layout(set = 0, binding = 2) uniform texture2D fine_emission_image;

layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_emission_image;

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, uvec2(textureSize(emission_image, 0)))) {
        return;
    }
    vec4 center = texelFetch(emission_image, pixel, 0);
    vec3 sum = vec3(0.0);
    float mark = center.a;
    for (int i = 0; i < 4; ++i) {
        vec4 fine = texelFetch(fine_emission_image, pixel * 2 + ivec2(i & 1, i >> 1), 0);
        sum += fine.a < FORWARD_MARK ? fine.rgb : vec3(0.0);
        mark = fine.a == EMITTER_MARK ? max(mark, EMITTER_MARK) : mark;
    }
    imageStore(out_emission_image, pixel,
        center.a < FORWARD_MARK ? vec4(to_half_range(0.25 * sum), mark) : center);
}
