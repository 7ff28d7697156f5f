#version 460
// Downsamples the refraction background (pre-exposed) with weights 1 3 3 1 per axis, the two-scale
// relation of the uniform quadratic B-spline, which conserves energy.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(location = 0) out vec4 out_light;

void main() {
    const float weights[4] = float[](0.125, 0.375, 0.375, 0.125);
    ivec2 last = textureSize(light_image, 0) - 1;
    ivec2 first = ivec2(gl_FragCoord.xy) * 2 - 1;
    vec3 sum = vec3(0.0);
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) {
            // Clamps to the image border, which prevents darkening.
            vec3 light = to_half_range(texelFetch(light_image,
                clamp(first + ivec2(x, y), ivec2(0), last), 0).rgb);
            sum += weights[x] * weights[y] * light;
        }
    }
    out_light = vec4(sum, 1.0);
}
