#version 460
// variants: SPLIT_LIGHTING
// Adds indirect light to the image (pre-exposed): diffuse times albedo, and specular;
// SPLIT_LIGHTING writes both parts separately too.
//
// In a static view the displayed image follows the accumulated mean by less than an 8-bit step per
// frame: rare samples change the mean by more, which would be visible as flicker. It converges to
// the same mean some frames later.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/gi.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 35, scalar) uniform gi_block { GiConstants gi; };
#include "lib/gbuffer.glsl"
#include "lib/occlusion.glsl"
#include "lib/temporal_stabilization.glsl"
layout(set = 0, binding = 5) uniform texture2D diffuse_image;
layout(set = 0, binding = 6) uniform texture2D specular_image;
layout(set = 0, binding = 7) uniform texture2D displayed_image;
layout(set = 0, binding = 9) uniform texture2D ao_image;

// Light is added to it.
layout(set = 0, binding = 74, rgba16f) uniform image2D light_image;
// Added light, for the next frame.
layout(set = 0, binding = 75, rgba16f) uniform writeonly image2D out_displayed_image;
#ifdef SPLIT_LIGHTING
layout(set = 0, binding = 76, rgba16f) uniform writeonly image2D out_diffuse_image;
layout(set = 0, binding = 77, rgba16f) uniform writeonly image2D out_specular_image;
#endif

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, frame.size)) {
        return;
    }
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    float depth = texelFetch(depth_image, pixel, 0).x;
    Surface s;
    if (depth > 0.0 && load_surface(pixel, depth, s)) {
        float map = surface_occlusion(pixel);
        vec4 measured = (frame.bits & FRAME_AO) != 0u ? texelFetch(ao_image, pixel, 0)
            : vec4(s.normal, 1.0);
        float in_lobe = lobe_visibility(s, measured_visibility(measured, map));
        diffuse = (1.0 - s.metallic) * s.base_color * texelFetch(diffuse_image, pixel, 0).rgb
            * beyond_rays(map, measured.w);
        specular = texelFetch(specular_image, pixel, 0).rgb * approximate_specular_albedo(s)
            * beyond_rays(map, in_lobe);
    }
    // Screen-space reflections use the specular part where their rays found no hit.
    const uint LATER = FRAME_SSR | FRAME_GI_SPECULAR;
    // Increments of a mean may be negative.
    vec3 light =
        to_signed_half_range(diffuse + ((frame.bits & LATER) == LATER ? vec3(0.0) : specular));
    if (gi.stabilization_step > 0.0 && exposure_is_stable()) {
        vec4 displayed = vec4(texelFetch(displayed_image, pixel, 0).rgb * frame.history_scale, 0.0);
        light = stabilize(vec4(light, 0.0), displayed,
            gi.stabilization_step * eight_bit_step(displayed)).rgb;
    }
    imageStore(light_image, pixel, imageLoad(light_image, pixel) + vec4(light, 0.0));
    imageStore(out_displayed_image, pixel, vec4(light, 1.0));
#ifdef SPLIT_LIGHTING
    float alpha = depth > 0.0 ? 1.0 : 0.0;
    imageStore(out_diffuse_image, pixel, vec4(to_half_range(diffuse), alpha));
    imageStore(out_specular_image, pixel, vec4(to_half_range(specular), alpha));
#endif
}
