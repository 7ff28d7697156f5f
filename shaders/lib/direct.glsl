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

// Luminance (nits by channel) of a surface towards the camera under one light: its diffuse and specular parts.
void direct_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    if (kind == LIGHT_POINT || kind == LIGHT_DIRECTIONAL) {
        vec3 l;
        vec3 e = light_illuminance(light, kind == LIGHT_DIRECTIONAL, s.position, l);
        e *= profile_factor(light, -l);
        evaluate_brdf(s, l, diffuse, specular);
        diffuse *= e;
        specular *= e;
    } else {
#ifdef AREA
        area_light(light, s, diffuse, specular);
#else
        diffuse = specular = vec3(0.0);
#endif
    }
    // What is dark by itself needs no shadow.
    if ((light.kind & LIGHT_SHADOW) != 0u && (diffuse != vec3(0.0) || specular != vec3(0.0))) {
        float visible = light_visibility(light, s);
        diffuse *= visible;
        specular *= visible;
    }
}

#endif
