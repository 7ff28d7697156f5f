// What one light adds to a pixel. The including shader declares `frame`. Lights with a surface need AREA: without any in
// the scene their code would only cost registers, and on Mesa's software driver, which runs both sides of a branch, time.
#ifndef LIB_DIRECT
#define LIB_DIRECT
#include "lib/lights.glsl"
#include "lib/profiles.glsl"
#include "lib/disk.glsl"
#ifdef AREA
#include "lib/area.glsl"
#endif
#include "lib/shadows.glsl"
#include "lib/water.glsl"
#include "lib/volumes.glsl"

bool has_surface(Light light) {
    return (light.kind & LIGHT_KIND_BITS) >= LIGHT_SPHERE;
}

// The part of a light (by channel) that the last call of darken let through, for passes that need it although the surface
// is dark.
vec3 light_seen = vec3(1.0);
bool light_seen_wanted = false;

// Shadows by surfaces, of lights that cast them, and the transmittance of volumes, which dim every light. Dark values need
// neither.
void darken(Light light, Surface s, inout vec3 diffuse, inout vec3 specular) {
    light_seen = vec3(1.0);
    if (light_seen_wanted || diffuse != vec3(0.0) || specular != vec3(0.0)) {
        light_seen = light_through_volumes(light, s.position, 0.5);
        if ((light.kind & LIGHT_SHADOW) != 0u) {
            vec3 all = diffuse + specular;
            light_seen *= light_visibility(light, s, max(all.r, max(all.g, all.b)) * frame.pre_exposure);
        }
        diffuse *= light_seen;
        specular *= light_seen;
    }
}

// Of a place in water what matters is where the light enters it: on the level surface.
void look_from(vec3 entry, inout Surface s) {
    if (in_water != NONE && entry != s.position) {
        s.position = entry;
        s.normal = vec3(0.0, 1.0, 0.0);
        shadow_plane = s.normal;
        shadow_plane_doubt = 0.0;
#ifdef TRACED
        ray_origin = entry;
        ray_origin_behind = entry;
        ray_away = s.normal;
#endif
    }
}

// Angular radius (rad) of a sun's disk where its light arrives: water refracts it to a narrower one.
float arriving_radius(float radius, vec3 position, vec3 entry) {
    return entry == position ? radius : radius / WATER_IOR;
}

// Luminance (nits by channel) of a surface towards the camera under one light without a surface: its diffuse and specular
// parts. `radius`: angular radius (rad) of a sun's disk; 0 of other lights and of parallel light.
void direct_light(Light light, float radius, Surface s, out vec3 diffuse, out vec3 specular) {
    vec3 l, from, entry;
    vec3 e = arriving_light(light, s.position, l, from, entry);
    e *= profile_factor(light, -from);
    evaluate_brdf_of_disk(s, l, arriving_radius(radius, s.position, entry), diffuse, specular);
    diffuse *= e;
    specular *= e;
    vec3 plane = shadow_plane;
    float doubt = shadow_plane_doubt;
#ifdef TRACED
    vec3 origin = ray_origin;
    vec3 behind = ray_origin_behind;
    vec3 away = ray_away;
#endif
    look_from(entry, s);
    darken(light, s, diffuse, specular);
    shadow_plane = plane;
    shadow_plane_doubt = doubt;
#ifdef TRACED
    ray_origin = origin;
    ray_origin_behind = behind;
    ray_away = away;
#endif
}

#ifdef AREA
// The same of one light with a surface.
void direct_area_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    area_light(light, s, diffuse, specular);
    vec3 left = water_on_the_way(s.position, normalize(light.position - s.position));
    diffuse *= left;
    specular *= left;
    darken(light, s, diffuse, specular);
}
#endif

#endif
