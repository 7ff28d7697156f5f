#version 460
// features: SPLIT_LIGHTING
// Fixed ray budget: adds the unshadowed light without its lost fraction. A control variate (after
// Heitz, Hill and McGuire 2018): where no ray is occluded the light is exact. The luminance of one
// estimate is not negative, but its channels may be where lights differ in color. Frames that are
// averaged keep them, so that their mean is not biased by a clamp.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/limit_counters.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 1) uniform texture2D unshadowed_diffuse_image;
layout(set = 0, binding = 2) uniform texture2D unshadowed_specular_image;
layout(set = 0, binding = 3) uniform texture2D lost_diffuse_image;
layout(set = 0, binding = 4) uniform texture2D lost_specular_image;

layout(push_constant, scalar) uniform resolve_block { float least; };

// The shadowed light is added to them.
layout(set = 0, binding = 74, rgba16f) uniform image2D light_image;
#ifdef SPLIT_LIGHTING
layout(set = 0, binding = 75, rgba16f) uniform image2D direct_diffuse_image;
layout(set = 0, binding = 76, rgba16f) uniform image2D direct_specular_image;
#endif

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, uvec2(imageSize(light_image)))) {
        return;
    }
    vec3 unshadowed_diffuse = texelFetch(unshadowed_diffuse_image, pixel, 0).rgb;
    vec3 unshadowed_specular = texelFetch(unshadowed_specular_image, pixel, 0).rgb;
    vec3 kept_diffuse = 1.0 - texelFetch(lost_diffuse_image, pixel, 0).rgb;
    vec3 kept_specular = 1.0 - texelFetch(lost_specular_image, pixel, 0).rgb;
    // Light of a shadow is 0, clamped or not.
    count_clamped_light(max(mix(vec3(0.0), unshadowed_diffuse, greaterThan(kept_diffuse, vec3(0.0))),
        mix(vec3(0.0), unshadowed_specular, greaterThan(kept_specular, vec3(0.0)))));
    vec3 diffuse = unshadowed_diffuse * kept_diffuse;
    vec3 specular = unshadowed_specular * kept_specular;
    diffuse = max(diffuse, vec3(least));
    specular = max(specular, vec3(least));
    imageStore(light_image, pixel, imageLoad(light_image, pixel)
        + vec4(to_signed_half_range(diffuse + specular), 0.0));
#ifdef SPLIT_LIGHTING
    imageStore(direct_diffuse_image, pixel, imageLoad(direct_diffuse_image, pixel)
        + vec4(to_signed_half_range(diffuse), 0.0));
    imageStore(direct_specular_image, pixel, imageLoad(direct_specular_image, pixel)
        + vec4(to_signed_half_range(specular), 0.0));
#endif
}
