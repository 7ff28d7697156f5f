// Direct light of one light at one pixel: luminance (nits by channel), shadowed. The including
// shader declares `frame`.
#ifndef LIB_DIRECT
#define LIB_DIRECT
#include "lib/features.glsl"
#include "lib/lights.glsl"
#include "lib/ies_profiles.glsl"
#include "lib/sun_disk.glsl"
#include "lib/area.glsl"
#include "lib/shadows.glsl"
#ifdef RAY_BUDGET
#include "lib/shadow_ray_origin.glsl"
#endif
#include "lib/water.glsl"
#include "lib/volumes.glsl"

bool has_surface(Light light) {
    return has_feature(FEATURE_AREA_LIGHTS) && (light.kind & LIGHT_KIND_BITS) >= LIGHT_SPHERE;
}

// Fraction of the light (by channel) that the last call of apply_shadow let through, for passes
// that need it even where the surface is dark.
vec3 light_transmittance = vec3(1.0);
bool needs_light_transmittance = false;

// Applies the shadow of shadow-casting lights, and the transmittance of volumes for every light.
// Black values skip both. `by`: as in light_visibility.
void apply_shadow(Light light, Surface s, uint by, inout vec3 diffuse, inout vec3 specular) {
    light_transmittance = vec3(1.0);
    if (needs_light_transmittance || diffuse != vec3(0.0) || specular != vec3(0.0)) {
        light_transmittance = volume_transmittance_to_light(light, s.position, 0.5);
        if ((light.kind & LIGHT_SHADOW) != 0u) {
            vec3 all = diffuse + specular;
            light_transmittance *= light_visibility(light, s, by,
                max(all.r, max(all.g, all.b)) * frame.pre_exposure);
        }
        diffuse *= light_transmittance;
        specular *= light_transmittance;
    }
}

// Underwater, shadows are evaluated where the light enters the level water surface.
void move_to_water_entry(vec3 entry, inout Surface s) {
    if (is_underwater() && entry != s.position) {
        s.position = entry;
        s.normal = vec3(0.0, 1.0, 0.0);
        shadow_plane = s.normal;
        shadow_plane_doubt = 0.0;
#if defined(RAY_TRACED_SHADOWS) || defined(RAY_BUDGET)
        ray_origin = entry;
        ray_origin_behind = entry;
        ray_normal = s.normal;
#endif
    }
}

// Angular radius (rad) of a sun at its receiver: refraction into water narrows it.
float arriving_radius(float radius, vec3 position, vec3 entry) {
    return entry == position ? radius : radius / WATER_IOR;
}

// Diffuse and specular luminance (nits by channel) of a surface toward the camera under one
// punctual or directional light. `radius`: angular radius (rad) of a sun's disk; 0 for other lights
// and for parallel light. `by`: as in light_visibility.
void direct_light(Light light, float radius, Surface s, uint by, out vec3 diffuse,
    out vec3 specular) {
    vec3 l, from, entry;
    vec3 e = arriving_light(light, s.position, l, from, entry);
    e *= profile_factor(light, -from);
    evaluate_brdf_sun_disk(s, l, arriving_radius(radius, s.position, entry), diffuse, specular);
    diffuse *= e;
    specular *= e;
    vec3 plane = shadow_plane;
    float doubt = shadow_plane_doubt;
#ifdef RAY_TRACED_SHADOWS
    vec3 origin = ray_origin;
    vec3 behind = ray_origin_behind;
    vec3 away = ray_normal;
#endif
    move_to_water_entry(entry, s);
    apply_shadow(light, s, by, diffuse, specular);
    shadow_plane = plane;
    shadow_plane_doubt = doubt;
#ifdef RAY_TRACED_SHADOWS
    ray_origin = origin;
    ray_origin_behind = behind;
    ray_normal = away;
#endif
}

// As direct_light, for one area light.
void direct_area_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    area_light(light, s, diffuse, specular);
    vec3 left = water_on_the_way(s.position, normalize(light.position - s.position));
    diffuse *= left;
    specular *= left;
    // Area lights have no shadow maps.
    apply_shadow(light, s, SHADOWS_BY_RAYS, diffuse, specular);
}

#endif
