// Visibility of a light from a surface point, by shadow maps or rays.
#ifndef LIB_SHADOWS
#define LIB_SHADOWS
#include "lib/features.glsl"
#include "lib/shadow_maps.glsl"
#ifdef RAY_TRACED_SHADOWS
#include "lib/ray_traced_shadows.glsl"
#endif

bool has_shadow_map(Light light) {
    return has_feature(FEATURE_SHADOW_MAPS) && light.shadow != NONE;
}

// True if a shadow ray tests the light's visibility. With RAY_BUDGET, light_visibility leaves it
// unshadowed.
bool needs_shadow_ray(Light light) {
    return frame.shadow_method != SHADOWS_OFF && (light.kind & LIGHT_SHADOW) != 0u
        && !has_shadow_map(light);
}

// Shadows of a kind of light that is known where it is evaluated; others cost no code there.
const uint SHADOWS_BY_MAP = 1u;
const uint SHADOWS_BY_RAYS = 2u;
const uint SHADOWS_BY_ANY = 3u;

// Visibility, 0 to 1. `by`: how its shadow may be found, a constant. `share`: the unshadowed light
// over the luminance of white.
float light_visibility(Light light, Surface s, uint by, float share) {
    if (frame.shadow_method == SHADOWS_OFF) {
        return 1.0;
    }
    if ((by & SHADOWS_BY_MAP) != 0u && has_shadow_map(light)) {
        return shadow_map_visibility(light, s.position, s.normal);
    }
#ifdef RAY_TRACED_SHADOWS
    if ((by & SHADOWS_BY_RAYS) != 0u) {
        return traced_visibility(light, s, share);
    }
#endif
    return 1.0;
}

#endif
