// Virtual image position of a curved mirror, for reprojection of reflections (m).
// tests/cpu/virtual_image.rs has the same on the host, with check values.
#ifndef LIB_VIRTUAL_IMAGE
#define LIB_VIRTUAL_IMAGE

// Image distance behind a mirror over the object distance t (m), for a curvature (1/m, positive
// convex). Coddington's equations for a mirror: 1/t' = 1/t + 2 curvature lean, where lean is one
// over the cosine of incidence in the plane of incidence and the cosine across it. 0 where a
// concave mirror makes a real image.
float image_distance(float curvature, float t, float lean) {
    float divisor = 1.0 + 2.0 * curvature * t * lean;
    return divisor > 0.0 ? 1.0 / divisor : 0.0;
}

// Mirror image of a point in the plane through x with normal n, scaled toward x by the factor
// `nearer`.
vec3 virtual_image(vec3 x, vec3 n, vec3 thing, float nearer) {
    vec3 to = thing - x;
    return x + nearer * (to - 2.0 * dot(to, n) * n);
}

// Weight of the image's motion over the surface's motion: the weight of the mirror direction in the
// dominant direction of a GGX lobe. Lagarde and de Rousiers 2014, listing 21.
float mirror_share(float alpha) {
    float smoothness = 1.0 - alpha;
    return clamp(smoothness * (sqrt(smoothness) + alpha), 0.0, 1.0);
}

#endif
