#version 460
// Counts the pixels of an image of pre-exposed light beyond the half-float range. Passes that add
// to the image by blending cannot count their sums, and later passes may dim clamped pixels.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/limit_counters.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (all(lessThan(pixel, textureSize(light_image, 0)))) {
        count_clamped_light(texelFetch(light_image, pixel, 0).rgb);
    }
}
