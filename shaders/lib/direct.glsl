// What one light adds to a pixel. The including shader declares `frame`. Lights with a surface need AREA: without any in
// the scene their code would only cost registers, and on Mesa's software driver, which runs both sides of a branch, time.
#ifndef LIB_DIRECT
#define LIB_DIRECT
#include "lib/lights.glsl"
#include "lib/profiles.glsl"
#ifdef AREA
#include "lib/area.glsl"
#endif
#include "lib/shadows.glsl"
#include "lib/volumes.glsl"

bool has_surface(Light light) {
    return (light.kind & LIGHT_KIND_BITS) >= LIGHT_SPHERE;
}

// What is dark by itself needs no shadow.
void darken(Light light, Surface s, inout vec3 diffuse, inout vec3 specular) {
    if ((light.kind & LIGHT_SHADOW) != 0u && (diffuse != vec3(0.0) || specular != vec3(0.0))) {
        vec3 all = diffuse + specular;
        vec3 visible = vec3(light_visibility(light, s, max(all.r, max(all.g, all.b)) * frame.pre_exposure));
        visible *= light_through_volumes(light, s.position, 0.5);
        diffuse *= visible;
        specular *= visible;
    }
}

// Luminance (nits by channel) of a surface towards the camera under one light without a surface: its diffuse and specular
// parts.
void direct_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    vec3 l;
    vec3 e = light_illuminance(light, (light.kind & LIGHT_KIND_BITS) == LIGHT_DIRECTIONAL, s.position, l);
    e *= profile_factor(light, -l);
    evaluate_brdf(s, l, diffuse, specular);
    diffuse *= e;
    specular *= e;
    darken(light, s, diffuse, specular);
}

#ifdef AREA
// The same of one light with a surface.
void direct_area_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    area_light(light, s, diffuse, specular);
    darken(light, s, diffuse, specular);
}
#endif

#endif
