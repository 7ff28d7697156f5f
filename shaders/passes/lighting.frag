#version 460
// features: RAY_TRACED_SHADOWS|RAY_BUDGET RAY_TRACED_SHADOWS:USE_RAY_QUERY
// Deferred lighting (pre-exposed): direct light of the light lists and environment light per pixel;
// FEATURE_SPLIT_LIGHTING writes diffuse and specular parts separately too. With RAY_BUDGET, lights
// that need shadow rays go unshadowed into images of their own, and the rays into a buffer.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#define BVH_IN_FRAGMENT_SHADER
#endif
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/clusters.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 6, scalar) readonly buffer tile_block { uint tile_slices[]; };
layout(set = 0, binding = 7, scalar) readonly buffer cluster_block { uvec2 clusters[]; };
layout(set = 0, binding = 8, scalar) readonly buffer entry_block { uint entries[]; };
layout(set = 0, binding = 9) uniform texture2D ao_image;
#ifdef RAY_BUDGET
layout(set = 0, binding = 10, scalar) readonly buffer node_block { LightNode nodes[]; };
#endif

#include "lib/direct.glsl"
#include "lib/environment.glsl"
#include "lib/depth_span.glsl"
#ifdef RAY_BUDGET
#include "lib/light_reservoirs.glsl"
#include "lib/light_cuts.glsl"
#endif

layout(location = 0) out vec4 out_light;
#ifdef RAY_BUDGET
layout(location = 1) out vec4 out_unshadowed_diffuse;
layout(location = 2) out vec4 out_unshadowed_specular;
layout(location = 3) out vec4 out_diffuse;
layout(location = 4) out vec4 out_specular;
#else
layout(location = 1) out vec4 out_diffuse;
layout(location = 2) out vec4 out_specular;
#endif

// The light list of the pixel's cluster: its start, and whether it has all lights.
uint list_start = 0u;
bool list_has_all = false;
// Lights of the list; sampled ones come after them.
uint listed_count = 0u;

uint listed_light(uint place) {
#ifdef RAY_BUDGET
    if (place >= listed_count) {
        return sampled_light(place - listed_count);
    }
#endif
    return list_has_all ? frame.directional_count + place : entries[list_start + place];
}

// Adds a light to the sums, or offers it to the shadow rays. `place`: in the list.
void add_light(uint light_index, uint place, vec3 d, vec3 r, inout vec3 diffuse,
    inout vec3 specular) {
#ifdef RAY_BUDGET
    if (place >= listed_count && place != NONE) {
        add_sampled_light(place - listed_count, light_index, uvec2(gl_FragCoord.xy), d, r);
        return;
    }
    if (needs_shadow_ray(lights[light_index])) {
        if (offer_light(light_index, uvec2(gl_FragCoord.xy), d, r)) {
            offered_diffuse += d;
            offered_specular += r;
        }
        return;
    }
#endif
    diffuse += d;
    specular += r;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec4 emission = texelFetch(emission_image, pixel, 0);
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    // Specular environment light, kept separate where screen-space reflections replace it.
    vec3 environment_specular = vec3(0.0);
    Surface s;
#ifdef RAY_BUDGET
    out_unshadowed_diffuse = vec4(0.0, 0.0, 0.0, 1.0);
    out_unshadowed_specular = vec4(0.0, 0.0, 0.0, 1.0);
    clear_reservoirs(uvec2(pixel));
    float span = 0.0;
#endif
    // The forward pass lights pixels with extended lobes.
    if (depth > 0.0 && emission.a < FORWARD_MARK && load_surface(pixel, depth, s)) {
        vec3 d, r;
        in_water = water_at(s.position);
#ifdef RAY_TRACED_SHADOWS
        set_shadow_ray_origin(s, depth_span(pixel, depth, s.position));
#endif
#ifdef RAY_BUDGET
        span = depth_span(pixel, depth, s.position);
#endif
        if (has_feature(FEATURE_SHADOW_MAPS) && frame.shadow_method == SHADOWS_MAPS) {
            vec3 dx = step_across(pixel, ivec2(1, 0), depth, s.position);
            vec3 dy = step_across(pixel, ivec2(0, 1), depth, s.position);
            // Angular error of the plane by depth rounding, relative to 1 where the driver
            // interpolates.
            float span = 2.0 * distance(s.position,
                position_at(pixel, depth * (1.0 - 2.4e-7) - 1.2e-7));
            set_shadow_plane_across(dx, dy,
                span * inversesqrt(max(min(dot(dx, dx), dot(dy, dy)), 1e-30)), s.normal);
        }
        for (uint i = 0u; i < frame.directional_count; ++i) {
            direct_light(lights[i], lights[i].half_width, s, d, r);
            add_light(i, NONE, d, r, diffuse, specular);
        }
        uint tile = uint(pixel.y) / 16u * frame.tiles.x + uint(pixel.x) / 16u;
        uint slice = min(tile_slices[tile] - depth_slice(depth), SLICES - 1u);
        uvec2 list = clusters[tile * SLICES + slice];
        list_start = list.x;
        list_has_all = list.y == ALL_LIGHTS;
        listed_count = list_has_all ? frame.light_count - frame.directional_count : list.y;
        uint count = listed_count;
#ifdef RAY_BUDGET
        if (has_light_cut(list)) {
            uint node_count = list.y >> 16 & 0x7fffu;
            listed_count = list.y & 0xffffu;
            count = listed_count + LIGHT_SAMPLES;
            sample_light_cut(list_start + listed_count, node_count, uvec2(pixel), s);
        }
#endif
        for (uint i = 0u; i < count; ++i) {
            uint light_index = listed_light(i);
            if (light_index != NONE && !has_surface(lights[light_index])) {
                direct_light(lights[light_index], 0.0, s, d, r);
                add_light(light_index, i, d, r, diffuse, specular);
            }
        }
        // Area lights use their own loop, so that drivers that run both sides of a branch do not
        // pay for them at every other light. The body comes first for the same reason.
        uint next = has_feature(FEATURE_AREA_LIGHTS) ? 0u : count;
        do {
            uint light_index = 0u;
            bool found = false;
            while (!found && next < count) {
                light_index = listed_light(next);
                found = light_index != NONE && has_surface(lights[light_index]);
                ++next;
            }
            if (found) {
                direct_area_light(lights[light_index], s, d, r);
                add_light(light_index, next - 1u, d, r, diffuse, specular);
            }
        } while (next < count);
        AmbientVisibility visible = (frame.bits & FRAME_AO) != 0u
            ? measured_visibility(texelFetch(ao_image, pixel, 0), surface_occlusion(pixel))
            : unmeasured_visibility(s, surface_occlusion(pixel));
        bool apart = (frame.bits & FRAME_SSR) != 0u;
        add_environment_specular = (frame.bits & FRAME_GI_SPECULAR) == 0u;
        add_environment_specular = add_environment_specular
            && (has_feature(FEATURE_SPLIT_LIGHTING) || !apart);
        environment_light(s, visible, d, r);
        if ((frame.bits & FRAME_GI_DIFFUSE) == 0u) {
            diffuse += d;
        }
        diffuse *= water_returns(s.position);
#ifdef RAY_BUDGET
        out_unshadowed_diffuse = vec4(to_half_range(
            unshadowed_diffuse() * water_returns(s.position) * frame.pre_exposure), 1.0);
        out_unshadowed_specular =
            vec4(to_half_range(unshadowed_specular() * frame.pre_exposure), 1.0);
#endif
        if (apart) {
            environment_specular = r;
        } else {
            specular += r;
        }
    }
#ifdef RAY_BUDGET
    store_shadow_rays(uvec2(pixel), s, span);
#endif
    diffuse *= frame.pre_exposure;
    specular *= frame.pre_exposure;
    out_light = vec4(to_half_range(diffuse + specular + emission.rgb), 1.0);
    if (has_feature(FEATURE_SPLIT_LIGHTING)) {
        out_diffuse = vec4(to_half_range(diffuse), 1.0);
        out_specular = vec4(to_half_range(specular + environment_specular * frame.pre_exposure),
            1.0);
    }
}
