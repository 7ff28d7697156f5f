// Optics of a level water surface: Fresnel's equations and Snell's law (src/photometry/water.rs).
#ifndef LIB_WATER_OPTICS
#define LIB_WATER_OPTICS

const float WATER_IOR = 1.333;

// Unpolarized Fresnel reflectance from above.
float water_fresnel(float cosine) {
    float c = clamp(cosine, 0.0, 1.0);
    float t = sqrt(1.0 - (1.0 - c * c) / (WATER_IOR * WATER_IOR));
    float s = (c - WATER_IOR * t) / (c + WATER_IOR * t);
    float p = (WATER_IOR * c - t) / (WATER_IOR * c + t);
    return 0.5 * (s * s + p * p);
}

// Cosine of the refracted ray in the water for a cosine in air.
float water_cosine(float cosine) {
    return sqrt(1.0 - (1.0 - cosine * cosine) / (WATER_IOR * WATER_IOR));
}

#endif
