// How much of a light a point sees.
#ifndef LIB_SHADOWS
#define LIB_SHADOWS

// 0 in full shadow to 1.
float light_visibility(Light light, Surface s) {
    return 1.0;
}

#endif
