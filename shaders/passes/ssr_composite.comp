#version 460
// variants: OUTPUT_VELOCITY
// Composites screen-space reflections (pre-exposed): found light times the specular albedo, and the
// remaining environment reflection; their weights sum to that of the environment alone.
// OUTPUT_VELOCITY writes velocities (pixels) for later temporal passes: where reflections dominate,
// the motion of the reflection.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/ssr_constants.glsl"
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D light_image;
layout(set = 0, binding = 5, rgba16f) uniform readonly image2D reflection_image;
layout(set = 0, binding = 6) uniform texture2D reflected_environment_image;
layout(set = 0, binding = 7) uniform texture2D reflectance_image;
// Depths and normals of pixels.
layout(set = 0, binding = 10, rg32ui) uniform readonly uimage2D surface_history_image;

layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_light_image;
vec4 out_light;
#ifdef OUTPUT_VELOCITY
layout(set = 0, binding = 8) uniform texture2D velocity_image;
layout(set = 0, binding = 9) uniform texture2D motion_image;
layout(set = 0, binding = 75, rg16f) uniform writeonly image2D out_velocity_image;
vec2 out_velocity;
#endif

#include "lib/ssr_shading.glsl"

void composite(ivec2 pixel) {
    vec3 light = to_signed_half_range(texelFetch(light_image, pixel, 0).rgb);
    uvec2 seen = imageLoad(surface_history_image, pixel).xy;
    out_light = vec4(light, 1.0);
#ifdef OUTPUT_VELOCITY
    out_velocity = texelFetch(velocity_image, pixel, 0).xy;
#endif
    Surface s;
    if (seen.x == 0u || !load_surface(pixel, seen, s)) {
        return;
    }
    vec4 reflection = imageLoad(reflection_image, pixel);
    vec3 found = found_light(s, pixel, reflection.rgb);
    light = with_reflections(light, texelFetch(reflected_environment_image, pixel, 0).rgb,
        reflection.a, found);
    out_light = vec4(light, 1.0);
#ifdef OUTPUT_VELOCITY
    if (dot(found, vec3(1.0)) > 0.5 * dot(light, vec3(1.0))) {
        out_velocity = texelFetch(motion_image, pixel, 0).xy;
    }
#endif
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, ssr.size)) {
        return;
    }
    composite(pixel);
    imageStore(out_light_image, pixel, out_light);
#ifdef OUTPUT_VELOCITY
    imageStore(out_velocity_image, pixel, vec4(out_velocity, 0.0, 0.0));
#endif
}
