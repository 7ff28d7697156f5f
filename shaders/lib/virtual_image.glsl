// Where a mirror image seems to be. src/passes/ssr/virtual_image.rs has the same on the host, with
// check values.
#ifndef LIB_VIRTUAL_IMAGE
#define LIB_VIRTUAL_IMAGE

// How far behind a mirror of this curvature (1/m, above 0 convex) the image of a thing at a
// distance t (m) is, over t: Coddington's equations for a mirror, 1/t' = 1/t + 2 curvature lean,
// where lean is one over the cosine of incidence in the plane of incidence and the cosine across
// it. 0 where a concave mirror makes a real image.
float image_distance(float curvature, float t, float lean) {
    float divisor = 1.0 + 2.0 * curvature * t * lean;
    return divisor > 0.0 ? 1.0 / divisor : 0.0;
}

// The image of a thing in the plane through x with a normal n, brought nearer to x by that factor.
vec3 virtual_image(vec3 x, vec3 n, vec3 thing, float nearer) {
    vec3 to = thing - x;
    return x + nearer * (to - 2.0 * dot(to, n) * n);
}

// How much a reflection moves as its image does, not as its surface: the weight that the dominant
// direction of a GGX lobe gives the mirror direction over the normal. Lagarde and de Rousiers 2014,
// listing 21.
float mirror_share(float alpha) {
    float smoothness = 1.0 - alpha;
    return clamp(smoothness * (sqrt(smoothness) + alpha), 0.0, 1.0);
}

#endif
