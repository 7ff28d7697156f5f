#version 460
// features: RAY_TRACED_SHADOWS|RAY_BUDGET RAY_TRACED_SHADOWS:USE_RAY_QUERY
// Deferred lighting (pre-exposed): direct light of the light lists and environment light per pixel;
// FEATURE_SPLIT_LIGHTING writes diffuse and specular parts separately too. With RAY_BUDGET, lights
// that need shadow rays go unshadowed into images of their own, and the rays into a buffer.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#endif
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/clusters.glsl"
#include "lib/pixel_groups.glsl"
#include "lib/limit_counters.glsl"

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

// Center of the invocation's pixel.
vec2 pixel_center;
#define PIXEL_CENTER pixel_center
#include "lib/direct.glsl"
#include "lib/environment.glsl"
#include "lib/depth_span.glsl"
#ifdef RAY_BUDGET
#include "lib/light_reservoirs.glsl"
#include "lib/light_cuts.glsl"
#endif

layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D light_image;
// With FEATURE_SPLIT_LIGHTING.
layout(set = 0, binding = 75, rgba16f) uniform writeonly image2D direct_diffuse_image;
layout(set = 0, binding = 76, rgba16f) uniform writeonly image2D direct_specular_image;
#ifdef RAY_BUDGET
layout(set = 0, binding = 77, rgba16f) uniform writeonly image2D unshadowed_diffuse_image;
layout(set = 0, binding = 78, rgba16f) uniform writeonly image2D unshadowed_specular_image;
#endif

// The light list of the pixel's cluster: its start, and whether it has all lights.
uint list_start = 0u;
bool list_has_all = false;
// Lights of the list; sampled ones come after them.
uint listed_count = 0u;

uint listed_light(uint place) {
#ifdef RAY_BUDGET
    if (LIGHT_SAMPLES > 0u && place >= listed_count) {
        return sampled_light(place - listed_count);
    }
#endif
    return list_has_all ? frame.directional_count + place : entries[list_start + place];
}

// Adds a light to the sums, or offers it to the shadow rays. `place`: in the list.
void add_light(uint light_index, uint place, vec3 d, vec3 r, inout vec3 diffuse,
    inout vec3 specular) {
#ifdef RAY_BUDGET
    if (LIGHT_SAMPLES > 0u && place >= listed_count && place != NONE) {
        add_sampled_light(place - listed_count, light_index, uvec2(pixel_center), d, r);
        return;
    }
    if (needs_shadow_ray(lights[light_index])) {
        uint slot = place == NONE ? light_index : frame.directional_count + place;
        if (offer_light(light_index, slot % LIGHT_SLOTS, uvec2(pixel_center), d, r)) {
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
    ivec2 pixel = ivec2(group_pixel());
#ifdef RAY_BUDGET
    bool outside = pixel.x >= int(frame.size.x) || pixel.y >= int(band.rows);
    pixel.y += int(band.first_row);
#else
    bool outside = any(greaterThanEqual(pixel, ivec2(frame.size)));
#endif
    if (outside) {
        return;
    }
    pixel_center = vec2(pixel) + 0.5;
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec4 emission = texelFetch(emission_image, pixel, 0);
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    // Specular environment light, kept separate where screen-space reflections replace it.
    vec3 environment_specular = vec3(0.0);
    Surface s;
#ifdef RAY_BUDGET
    vec3 unshadowed_diffuse_part = vec3(0.0);
    vec3 unshadowed_specular_part = vec3(0.0);
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
            vec3 dx, dy;
            for (int axis = 0; axis < 2; ++axis) {
                dy = step_across(pixel, ivec2(1 - axis, axis), depth, s.position);
                dx = axis == 0 ? dy : dx;
            }
            // Angular error of the plane by depth rounding, relative to 1 where the driver
            // interpolates.
            float span = 2.0 * distance(s.position,
                position_at(pixel, depth * (1.0 - 2.4e-7) - 1.2e-7));
            set_shadow_plane_across(dx, dy,
                span * inversesqrt(max(min(dot(dx, dx), dot(dy, dy)), 1e-30)), s.normal);
        }
        uint tile = uint(pixel.y) / 16u * frame.tiles.x + uint(pixel.x) / 16u;
        uint slice = min(tile_slices[tile] - depth_slice(depth), SLICES - 1u);
        uvec2 list = clusters[tile * SLICES + slice];
        list_start = list.x;
        list_has_all = list.y == ALL_LIGHTS;
        listed_count = list_has_all ? frame.light_count - frame.directional_count : list.y;
        uint count = listed_count;
#ifdef RAY_BUDGET
        if (LIGHT_SAMPLES > 0u && has_light_cut(list)) {
            uint node_count = list.y >> 16 & 0x7fffu;
            listed_count = list.y & 0xffffu;
            count = listed_count + LIGHT_SAMPLES;
            sample_light_cut(list_start + listed_count, node_count, uvec2(pixel), s);
        }
#endif
        // Suns and lights with shadow maps, other lights without a surface, and area lights have
        // loops of their own: drivers that run both sides of a branch would pay for the code of
        // each at all of them.
        uint before = frame.directional_count;
        uint end = has_feature(FEATURE_SHADOW_MAPS) ? before + count : before;
        for (uint next = 0u; next < end;) {
            uint light_index = 0u;
            uint place = NONE;
            bool found = false;
            while (!found && next < end) {
                place = next < before ? NONE : next - before;
                light_index = next < before ? next : listed_light(place);
                found = next < before
                    || light_index != NONE && has_shadow_map(lights[light_index]);
                ++next;
            }
            if (found) {
                float radius = place == NONE ? lights[light_index].half_width : 0.0;
                direct_light(lights[light_index], radius, s, SHADOWS_BY_ANY, d, r);
                add_light(light_index, place, d, r, diffuse, specular);
            }
        }
        for (uint i = 0u; i < count; ++i) {
            uint light_index = listed_light(i);
            if (light_index != NONE && !has_surface(lights[light_index])
                && !has_shadow_map(lights[light_index])) {
                direct_light(lights[light_index], 0.0, s, SHADOWS_BY_RAYS, d, r);
                add_light(light_index, i, d, r, diffuse, specular);
            }
        }
        // The body comes first: such drivers run it once in any case.
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
        unshadowed_diffuse_part =
            unshadowed_diffuse() * water_returns(s.position) * frame.pre_exposure;
        unshadowed_specular_part = unshadowed_specular() * frame.pre_exposure;
#endif
        if (apart) {
            environment_specular = r;
        } else {
            specular += r;
        }
    }
#ifdef RAY_BUDGET
    store_shadow_rays(uvec2(pixel), s, span);
    imageStore(unshadowed_diffuse_image, pixel, vec4(to_half_range(unshadowed_diffuse_part), 1.0));
    imageStore(unshadowed_specular_image, pixel, vec4(to_half_range(unshadowed_specular_part), 1.0));
#endif
    diffuse *= frame.pre_exposure;
    specular *= frame.pre_exposure;
    count_clamped_light(diffuse + specular + emission.rgb);
    imageStore(light_image, pixel, vec4(to_half_range(diffuse + specular + emission.rgb), 1.0));
    if (has_feature(FEATURE_SPLIT_LIGHTING)) {
        imageStore(direct_diffuse_image, pixel, vec4(to_half_range(diffuse), 1.0));
        specular += environment_specular * frame.pre_exposure;
        imageStore(direct_specular_image, pixel, vec4(to_half_range(specular), 1.0));
    }
}
