#version 460
// features: SPLIT_LIGHTING
// Fixed ray budget: adds the unshadowed light without its lost fraction. A control variate (after
// Heitz, Hill and McGuire 2018): where no ray is occluded the light is exact. The luminance of one
// estimate is not negative, but its channels may be where lights differ in color. Frames that are
// averaged keep them, so that the mean is unbiased.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/limit_counters.glsl"
#include "lib/packing.glsl"

layout(early_fragment_tests) in;
layout(set = 0, binding = 1) uniform texture2D unshadowed_diffuse_image;
layout(set = 0, binding = 2) uniform texture2D unshadowed_specular_image;
layout(set = 0, binding = 3) uniform texture2D lost_diffuse_image;
layout(set = 0, binding = 4) uniform texture2D lost_specular_image;

layout(push_constant, scalar) uniform resolve_block { float least; };

layout(location = 0) out vec4 out_light;
#ifdef SPLIT_LIGHTING
layout(location = 1) out vec4 out_diffuse;
layout(location = 2) out vec4 out_specular;
#endif

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
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
    out_light = vec4(to_signed_half_range(diffuse + specular), 0.0);
#ifdef SPLIT_LIGHTING
    out_diffuse = vec4(to_signed_half_range(diffuse), 0.0);
    out_specular = vec4(to_signed_half_range(specular), 0.0);
#endif
}
