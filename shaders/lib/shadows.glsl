// How much of a light a point sees.
#ifndef LIB_SHADOWS
#define LIB_SHADOWS
#ifdef TRACED
#include "lib/traced.glsl"
#endif

// 0 in full shadow to 1.
float light_visibility(Light light, Surface s) {
#ifdef TRACED
    return traced_visibility(light, s);
#else
    return 1.0;
#endif
}

#endif
