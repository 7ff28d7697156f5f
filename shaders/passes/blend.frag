#version 460
// features: RAY_TRACED_SHADOWS RAY_TRACED_SHADOWS:USE_RAY_QUERY
// Forward pass for alpha-blended surfaces, back to front over the lit image (pre-exposed). They
// evaluate every light, since light lists cover opaque depths only.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#define BVH_IN_FRAGMENT_SHADER
#endif
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/limit_counters.glsl"
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#define TEXTURE_SCALE frame.texture_scale
#define LOOPED_COORDINATES
#include "lib/surface.glsl"
layout(set = 0, binding = 3, scalar) readonly buffer light_block { Light lights[]; };

#include "lib/direct.glsl"
#include "lib/environment.glsl"
#include "lib/light_batch.glsl"
#include "lib/blended_light.glsl"
#ifdef RAY_TRACED_SHADOWS
#include "lib/fragment_shadow_ray_origin.glsl"
#endif
#include "lib/volume_transparency.glsl"

// Neither the depth nor its test depends on the shader.
layout(early_fragment_tests) in;
layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_diffuse;
layout(location = 2) out vec4 out_specular;
layout(location = 3) out vec4 out_emission;
layout(location = 4) out vec4 out_indirect_diffuse;
layout(location = 5) out vec4 out_indirect_specular;

// Global, so that the derivatives are computed before any discard.
vec3 position_dx = dFdx(in_position);
vec3 position_dy = dFdy(in_position);

void main() {
    set_slot_coordinates();
    vec4 base = fragment_base_color();
    float opacity = clamp(base.a, 0.0, 1.0);
    uint flags = materials[material_index].flags;
    vec2 metallic_roughness = fragment_metallic_roughness();
    Surface s;
    s.position = in_position;
    s.normal = fragment_normal(flags);
    s.view = frame.forward.w != 0.0 ? -frame.forward.xyz : -normalize(in_position);
    s.base_color = clamp(base.rgb, 0.0, 1.0);
    s.metallic = clamp(metallic_roughness.x, 0.0, 1.0);
    float roughness = clamp(metallic_roughness.y, 0.0, 1.0);
    s.alpha = max(roughness * roughness, MIN_ALPHA);
    set_shadow_plane_across(position_dx, position_dy, 0.0, s.normal);
    vec3 emission = fragment_emission() * frame.pre_exposure;
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    vec3 indirect_diffuse = vec3(0.0);
    vec3 indirect_specular = vec3(0.0);
    if ((flags & MATERIAL_UNLIT) != 0u) {
        emission = (frame.bits & FRAME_METERING) != 0u ? vec3(0.0) : base.rgb;
    } else {
        vec3 d, r;
#ifdef RAY_TRACED_SHADOWS
        set_fragment_shadow_ray_origin(s);
#endif
        // Separate loops as in the forward pass.
        uint count = frame.light_count;
        uint next = 0u;
        uint next_area = has_feature(FEATURE_AREA_LIGHTS) ? 0u : count;
        do {
            light_batch_count = 0u;
            do {
                if (next < count && !has_surface(lights[next])) {
                    vec3 l, from, entry;
                    vec3 e = arriving_light(lights[next], s.position, l, from, entry);
                    e *= profile_factor(lights[next], -from);
                    evaluate_brdf_sun_disk(s, l, lights[next].half_width, d, r);
                    add_to_light_batch(next, false, d * e, r * e);
                }
                ++next;
            } while (next < count && light_batch_count < LIGHT_BATCH);
            do {
                uint light_index = 0u;
                bool found = false;
                while (!found && next >= count && next_area < count
                    && light_batch_count < LIGHT_BATCH) {
                    light_index = next_area++;
                    found = has_surface(lights[light_index]);
                }
                if (found) {
                    area_light(lights[light_index], s, d, r);
                    add_to_light_batch(light_index, false, d, r);
                }
            } while (next >= count && next_area < count && light_batch_count < LIGHT_BATCH);
            uint place = 0u;
            do {
                if (place < light_batch_count) {
                    UnshadowedLight unshadowed = light_batch[place];
                    apply_shadow(lights[unshadowed.index], s, SHADOWS_BY_ANY, unshadowed.diffuse,
                        unshadowed.specular);
                    diffuse += unshadowed.diffuse;
                    specular += unshadowed.specular;
                }
                ++place;
            } while (place < light_batch_count);
        } while (next < count || next_area < count);
        // Ambient occlusion covers opaque surfaces only.
        float occlusion = fragment_occlusion();
        environment_light(s, unmeasured_visibility(s, occlusion), d, r);
        diffuse += (frame.bits & FRAME_GI_DIFFUSE) != 0u ? vec3(0.0) : d;
        specular += (frame.bits & FRAME_GI_SPECULAR) != 0u ? vec3(0.0) : r;
        blended_indirect_light(s, occlusion, indirect_diffuse, indirect_specular);
    }
    diffuse *= frame.pre_exposure * opacity;
    specular *= frame.pre_exposure * opacity;
    emission *= opacity;
    vec3 light = apply_volumes(diffuse + specular + emission + indirect_diffuse + indirect_specular,
        opacity, s.position);
    count_clamped_light(light);
    out_light = vec4(to_half_range(light), opacity);
    if (has_feature(FEATURE_SPLIT_LIGHTING)) {
        out_diffuse = vec4(to_half_range(diffuse), opacity);
        out_specular = vec4(to_half_range(specular), opacity);
        out_emission = vec4(to_half_range(emission), opacity);
        out_indirect_diffuse = vec4(to_half_range(indirect_diffuse), opacity);
        out_indirect_specular = vec4(to_half_range(indirect_specular), opacity);
    }
}
