#version 460
// variants: NO_ENVIRONMENT
// Environment reflection kept apart for SSR: split sums of environment and probes
// (lib/environment.glsl) before occlusion, with the unoccluded share; or the GI passes' specular
// light, which includes occlusion. Also the image that reflection rays see: all light of this frame
// except light emitters, which illuminate surfaces directly. Both pre-exposed. And the ray mask,
// positive where rays are traced. NO_ENVIRONMENT: without environment, light emitters and extended
// materials, rays see the lit image itself.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/ssr_constants.glsl"
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 12) uniform sampler2D clamped_depth_image;
#ifndef NO_ENVIRONMENT
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 9) uniform texture2D ao_image;
layout(set = 0, binding = 10) uniform texture2D light_image;
layout(set = 0, binding = 11) uniform texture2D traced_image;
#include "lib/environment.glsl"
#endif
#include "lib/ssr.glsl"
#include "lib/ssr_depth_plane.glsl"

// Depth and normal, read together by later passes, and by later frames as the surface history.
layout(set = 0, binding = 74, rg32ui) uniform writeonly uimage2D out_seen_image;
uvec2 out_seen;
// Finest level of the depth pyramid: the nearest depth of the pixel's plane, and the back-side
// depth of its farthest point.
layout(set = 0, binding = 75, rg32f) uniform writeonly image2D out_cell_image;
vec2 out_cell;
layout(set = 0, binding = 76, r8) uniform writeonly image2D out_ray_mask_image;
float out_ray_mask;
#ifndef NO_ENVIRONMENT
layout(set = 0, binding = 77, rgba16f) uniform writeonly image2D out_environment_image;
vec4 out_environment;
layout(set = 0, binding = 78, rgba16f) uniform writeonly image2D out_source_light_image;
vec4 out_source_light;
#endif

void describe(ivec2 pixel) {
    // A gather around each of two opposite corners has two of the four neighbors.
    vec4 low = textureGather(clamped_depth_image, vec2(pixel) / vec2(ssr.size));
    vec4 high = textureGather(clamped_depth_image, vec2(pixel + 1) / vec2(ssr.size));
    float depth = low.y;
#ifndef NO_ENVIRONMENT
    vec4 emission = texelFetch(emission_image, pixel, 0);
    vec3 light = to_half_range(texelFetch(light_image, pixel, 0).rgb);
    light -= depth > 0.0 && emission.a == EMITTER_MARK ? emission.rgb : vec3(0.0);
    out_environment = vec4(0.0);
    out_source_light = vec4(to_half_range(light), 1.0);
#endif
    float thickness;
    vec3 plane = depth_plane(pixel, depth, vec2(depth - low.x, high.z - depth),
        vec2(depth - low.z, high.x - depth), thickness);
    float rise = 0.5 * (abs(plane.y) + abs(plane.z));
    out_cell = vec2(plane.x + rise, depth_behind(plane.x - rise, thickness));
    out_seen = uvec2(floatBitsToUint(depth), texelFetch(normal_image, pixel, 0).x);
    out_ray_mask = 0.0;
    Surface s;
    if (depth <= 0.0 || !load_surface(pixel, out_seen, s)) {
        return;
    }
#ifndef NO_ENVIRONMENT
    if (emission.a >= FORWARD_MARK) {
        return;
    }
#endif
    bool sends_ray = ssr_weight(s) > 0.0;
    out_ray_mask = !sends_ray ? 0.0 : s.alpha < MIRROR ? RAY_MASK_MIRROR : RAY_MASK;
#ifndef NO_ENVIRONMENT
    float map = surface_occlusion(pixel);
    AmbientVisibility visible = (frame.bits & FRAME_AO) != 0u
        ? measured_visibility(texelFetch(ao_image, pixel, 0), map)
        : unmeasured_visibility(s, map);
    if ((frame.bits & FRAME_GI_SPECULAR) != 0u) {
        // Includes occlusion, except for the occlusion map.
        vec3 traced = texelFetch(traced_image, pixel, 0).rgb * approximate_specular_albedo(s)
            * beyond_rays(map, lobe_visibility(s, visible));
        out_environment = vec4(to_half_range(traced), 1.0);
        out_source_light = vec4(to_half_range(light + out_environment.rgb), 1.0);
        return;
    }
    float open = specular_visibility(s, visible);
    float beyond_map = map > 0.0 ? open / map : 1.0;
    vec3 reflected = has_environment() ? environment_reflection(s) : vec3(0.0);
    reflected *= frame.pre_exposure;
    // Surfaces without rays include occlusion here, so their environment share is 1. Rays that
    // reach the sky take the share left by the occlusion map; lost rays take the unoccluded share
    // of that.
    out_environment = sends_ray ? vec4(to_half_range(reflected * map), beyond_map)
        : vec4(to_half_range(reflected * open), 1.0);
    out_source_light = vec4(to_half_range(light + reflected * open), 1.0);
#endif
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, ssr.size)) {
        return;
    }
    describe(pixel);
    imageStore(out_seen_image, pixel, uvec4(out_seen, 0u, 0u));
    imageStore(out_cell_image, pixel, vec4(out_cell, 0.0, 0.0));
    imageStore(out_ray_mask_image, pixel, vec4(out_ray_mask));
#ifndef NO_ENVIRONMENT
    imageStore(out_environment_image, pixel, out_environment);
    imageStore(out_source_light_image, pixel, out_source_light);
#endif
}
