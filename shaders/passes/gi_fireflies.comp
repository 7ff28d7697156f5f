#version 460
// Bounds outliers of the gathered diffuse light, which the filter would spread as bright spots: a
// pixel has at most FACTOR times the light of the brightest pixel around it. Samples of rare light
// are isolated, too, so the neighborhood is wide enough to hold several samples of any light that a
// pixel sees with a chance of a tenth.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/pixel_groups.glsl"
#include "lib/ycocg.glsl"

layout(set = 0, binding = 5) uniform texture2D gathered_diffuse_image;

// Pre-exposed luminance of a white diffuse surface; alpha: luminance lost to VPL clamping.
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_diffuse_image;

const float FACTOR = 3.0;
// Half the neighborhood's side (pixels).
const int REACH = 2;

void main() {
    ivec2 pixel = ivec2(group_pixel());
    ivec2 size = textureSize(gathered_diffuse_image, 0);
    if (is_outside(pixel, uvec2(size))) {
        return;
    }
    vec4 light = texelFetch(gathered_diffuse_image, pixel, 0);
    float brightest = 0.0;
    for (int y = -REACH; y <= REACH; ++y) {
        for (int x = -REACH; x <= REACH; ++x) {
            ivec2 other = pixel + ivec2(x, y);
            if ((x != 0 || y != 0) && !is_outside(other, uvec2(size))) {
                brightest = max(brightest,
                    luminance(texelFetch(gathered_diffuse_image, other, 0).rgb));
            }
        }
    }
    float level = luminance(light.rgb);
    // Light that none of the neighbors found is rare, or its surface is alone.
    bool outlier = brightest > 0.0 && level > FACTOR * brightest;
    light.rgb *= outlier ? FACTOR * brightest / level : 1.0;
    imageStore(out_diffuse_image, pixel, light);
}
