#version 460
// features: RAY_TRACED_SHADOWS BLENDED BLENDED:TRACED_REFRACTION RAY_TRACED_SHADOWS/TRACED_REFRACTION:USE_RAY_QUERY
// Forward pass for extended materials: lobes beyond the G-buffer, pre-exposed
// (docs/extended-materials.md). Without BLENDED: redraws G-buffer surfaces at equal depth, with
// light lists. With BLENDED: blended and refractive surfaces over the lit image, with every light.
// With TRACED_REFRACTION rays cross refractive bodies.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#define BVH_IN_FRAGMENT_SHADER
#endif
#define EXTENDED_MATERIALS
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/clusters.glsl"
#include "lib/limit_counters.glsl"
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#define TEXTURE_SCALE frame.texture_scale
#define LOOPED_COORDINATES
#include "lib/surface.glsl"
layout(set = 0, binding = 3, scalar) readonly buffer light_block { Light lights[]; };
#ifndef BLENDED
layout(set = 0, binding = 6, scalar) readonly buffer tile_block { uint tile_slices[]; };
layout(set = 0, binding = 7, scalar) readonly buffer cluster_block { uvec2 clusters[]; };
layout(set = 0, binding = 8, scalar) readonly buffer entry_block { uint entries[]; };
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 9) uniform texture2D ao_image;
#endif

#include "lib/extended_brdf.glsl"
#include "lib/extended_surface.glsl"
#include "lib/direct.glsl"
#include "lib/environment.glsl"
#include "lib/extended_lighting.glsl"
#include "lib/light_batch.glsl"
#ifdef RAY_TRACED_SHADOWS
#include "lib/fragment_shadow_ray_origin.glsl"
#endif
#ifdef BLENDED
layout(location = 5) flat in float in_scale;
#include "lib/refraction.glsl"
#include "lib/water_surface.glsl"
#include "lib/volume_transparency.glsl"
#include "lib/blended_light.glsl"
#ifdef TRACED_REFRACTION
#include "lib/refraction_traced.glsl"
#else
#include "lib/refraction_screen.glsl"
#endif
#endif

// Neither the depth nor its test depends on the shader.
layout(early_fragment_tests) in;
layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_diffuse;
layout(location = 2) out vec4 out_specular;
#ifdef BLENDED
layout(location = 3) out vec4 out_emission;
layout(location = 4) out vec4 out_indirect_diffuse;
layout(location = 5) out vec4 out_indirect_specular;
#endif

// Global, so that the derivatives are computed before any discard.
vec3 position_dx = dFdx(in_position);
vec3 position_dy = dFdy(in_position);

#ifndef BLENDED
// Light list of the pixel's cluster; directional lights come before it.
uint list_start;
bool list_has_all;
#endif

// Index of the light at a place of the pixel's list.
uint listed_light(uint place) {
#ifdef BLENDED
    return place;
#else
    return place < frame.directional_count || list_has_all ? place
        : entries[list_start + place - frame.directional_count];
#endif
}

void main() {
    set_slot_coordinates();
    vec4 base = fragment_base_color();
    uint flags = materials[material_index].flags;
    if ((flags & MATERIAL_MASK) != 0u && base.a < materials[material_index].emission.a) {
        discard;
    }
    vec2 metallic_roughness = clamp(fragment_metallic_roughness(), 0.0, 1.0);
    Surface s;
    s.position = in_position;
    s.normal = fragment_normal(flags);
    s.view = frame.forward.w != 0.0 ? -frame.forward.xyz : -normalize(in_position);
    s.base_color = clamp(base.rgb, 0.0, 1.0);
    s.metallic = metallic_roughness.x;
    s.alpha = max(metallic_roughness.y * metallic_roughness.y, MIN_ALPHA);
#ifdef BLENDED
    water_here =
        has_feature(FEATURE_WATER) ? layered[materials[material_index].layers].water : NONE;
    float foam = 0.0;
    if (water_here != NONE) {
        water_depth = water_depth_here(s.position);
        WaterSurface water = water_surface(water_here, s.position, position_dx, position_dy);
        foam = water.foam;
        s.normal = normalize(s.normal - vec3(water.slope.x, 0.0, water.slope.y) * sign(s.normal.y));
        // A wave that faces away from the viewer is tilted to grazing.
        s.normal = normalize(s.normal + s.view * max(0.01 - dot(s.normal, s.view), 0.0));
        s.alpha = max(sqrt(min(s.alpha * s.alpha + water.variance, 1.0)), MIN_ALPHA);
        s.base_color *= FOAM_REFLECTANCE;
        needs_light_transmittance = true;
    }
#endif
    set_shadow_plane_across(position_dx, position_dy, 0.0, s.normal);
    Layers y = fragment_layers(s);
#ifdef BLENDED
    y.transmission *= 1.0 - foam;
#endif
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    vec3 d = vec3(0.0);
    vec3 r = vec3(0.0);
#ifndef BLENDED
    in_water = water_at(s.position);
#endif
#ifdef BLENDED
    uint count = frame.light_count;
#ifdef RAY_TRACED_SHADOWS
    // Panes and water may be missing in the BVH.
    set_shadow_ray_origin_free(s);
    if ((flags & MATERIAL_BLEND) != 0u) {
        set_fragment_shadow_ray_origin(s);
    }
#endif
#else
    uint first = frame.directional_count;
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint tile = uint(pixel.y) / 16u * frame.tiles.x + uint(pixel.x) / 16u;
    uint slice = min(tile_slices[tile] - depth_slice(gl_FragCoord.z), SLICES - 1u);
    uvec2 list = clusters[tile * SLICES + slice];
    list_start = list.x;
    list_has_all = list.y == ALL_LIGHTS || has_light_cut(list);
    uint count = first + (list_has_all ? frame.light_count - first : list.y);
#ifdef RAY_TRACED_SHADOWS
    set_fragment_shadow_ray_origin(s);
#endif
#endif
    // Separate loops for punctual lights, area lights and shadows, with the bodies first: drivers
    // that run both sides of a branch do not pay for area lights at every other light. The light of
    // one area light is added as a whole.
    uint next = 0u;
    uint next_area = has_feature(FEATURE_AREA_LIGHTS) ? 0u : count;
    do {
        light_batch_count = 0u;
        do {
            bool found = false;
            uint light_index = 0u;
            if (next < count) {
                light_index = listed_light(next);
                found = !has_surface(lights[light_index]);
            }
            if (found) {
                vec3 matte, shine;
                bool behind;
                unshadowed_light_extended(lights[light_index], s, y, matte, shine, behind);
                add_to_light_batch(light_index, behind, matte, shine);
            }
            ++next;
        } while (next < count && light_batch_count < LIGHT_BATCH);
        do {
            uint light_index = 0u;
            bool found = false;
            while (!found && next >= count && next_area < count
                && light_batch_count + 1u < LIGHT_BATCH) {
                light_index = listed_light(next_area);
                found = has_surface(lights[light_index]);
                ++next_area;
            }
            if (found) {
                vec3 matte, shine, through;
                unshadowed_area_light_extended(lights[light_index], s, y, matte, shine, through);
                add_to_light_batch(light_index, false, matte, shine);
                // Across the horizon it may be occluded on one side and visible on the other.
                if (through != vec3(0.0)) {
                    add_to_light_batch(light_index, true, through, vec3(0.0));
                }
            }
        } while (next >= count && next_area < count && light_batch_count + 1u < LIGHT_BATCH);
        uint place = 0u;
        do {
            if (place < light_batch_count) {
                UnshadowedLight unshadowed = light_batch[place];
                uint light_index = unshadowed.index;
                apply_shadow_extended(lights[light_index], s, unshadowed.behind,
                    unshadowed.diffuse, unshadowed.specular);
#ifdef BLENDED
                if (light_index < min(frame.directional_count, MAX_WATER_SUNS)) {
                    water_suns[light_index] = light_transmittance;
                }
#endif
                bool other_side = unshadowed.behind && has_surface(lights[light_index]);
                diffuse += other_side ? vec3(0.0) : d;
                specular += other_side ? vec3(0.0) : r;
                d = other_side ? d + unshadowed.diffuse : unshadowed.diffuse;
                r = other_side ? r : unshadowed.specular;
            }
            ++place;
        } while (place < light_batch_count);
    } while (next < count || next_area < count);
    diffuse += d;
    specular += r;
    AmbientVisibility visible = unmeasured_visibility(s, fragment_occlusion());
#ifndef BLENDED
    if ((frame.bits & FRAME_AO) != 0u) {
        visible = measured_visibility(texelFetch(ao_image, pixel, 0), fragment_occlusion());
    }
#endif
    environment_light_extended(s, y, visible, d, r);
    diffuse += d;
    specular += r;
    diffuse *= frame.pre_exposure;
    specular *= frame.pre_exposure;
    // KHR_materials_clearcoat: the coat covers emission too.
    vec3 emission = fragment_emission() * frame.pre_exposure * (1.0 - coat_fresnel(s, y));
    float opacity = 1.0;
#ifdef BLENDED
    vec3 refracted = vec3(0.0);
    vec3 indirect = vec3(0.0);
    if (y.transmission > 0.0) {
        Surface through = s;
        through.base_color = water_here != NONE ? vec3(1.0) : s.base_color;
        refracted = refracted_light(through, y);
    }
    bool comes_in = water_here != NONE && water_depth < frame.water_foam[water_here].z;
    if ((flags & MATERIAL_BLEND) != 0u || comes_in) {
        opacity = comes_in ? smoothstep(0.0, frame.water_foam[water_here].z, water_depth)
            : clamp(base.a, 0.0, 1.0);
        if ((flags & MATERIAL_BLEND) != 0u) {
            // As for opaque surfaces, the diffuse part of the base layer.
            vec3 other;
            blended_indirect_light(s, fragment_occlusion(), indirect, other);
            indirect *= 1.0 - y.transmission;
        }
        diffuse *= opacity;
        specular *= opacity;
        emission *= opacity;
        refracted *= opacity;
    }
    // The refracted background already includes the volumes of the whole view ray.
    vec3 own = apply_volumes(diffuse + specular + emission + indirect,
        opacity * (1.0 - y.transmission), s.position);
    count_clamped_light(own + refracted);
    out_light = vec4(to_half_range(own + refracted), opacity);
    specular += refracted;
#else
    count_clamped_light(diffuse + specular + emission);
    out_light = vec4(to_half_range(diffuse + specular + emission), opacity);
#endif
    if (has_feature(FEATURE_SPLIT_LIGHTING)) {
        out_diffuse = vec4(to_half_range(diffuse), opacity);
        out_specular = vec4(to_half_range(specular), opacity);
#ifdef BLENDED
        out_emission = vec4(to_half_range(emission), opacity);
        out_indirect_diffuse = vec4(to_half_range(indirect), opacity);
        out_indirect_specular = vec4(vec3(0.0), opacity);
#endif
    }
}
