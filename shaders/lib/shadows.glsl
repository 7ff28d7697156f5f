// Visibility of a light from a surface point, by shadow maps or rays.
#ifndef LIB_SHADOWS
#define LIB_SHADOWS
#include "lib/features.glsl"
#include "lib/shadow_maps.glsl"
#ifdef RAY_TRACED_SHADOWS
#include "lib/ray_traced_shadows.glsl"
#endif

// True if a shadow ray tests the light's visibility. With RAY_BUDGET, light_visibility leaves it
// unshadowed.
bool needs_shadow_ray(Light light) {
    return frame.shadow_method != SHADOWS_OFF && (light.kind & LIGHT_SHADOW) != 0u
        && !(has_feature(FEATURE_SHADOW_MAPS) && light.shadow != NONE);
}

// Visibility, 0 to 1. `share`: the unshadowed light over the luminance of white.
float light_visibility(Light light, Surface s, float share) {
    if (frame.shadow_method == SHADOWS_OFF) {
        return 1.0;
    }
    if (has_feature(FEATURE_SHADOW_MAPS) && light.shadow != NONE) {
        return shadow_map_visibility(light, s.position, s.normal);
    }
#ifdef RAY_TRACED_SHADOWS
    return traced_visibility(light, s, share);
#else
    return 1.0;
#endif
}

#endif
