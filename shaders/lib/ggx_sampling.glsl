// GGX microfacet sampling: orthonormal bases, anisotropic GGX terms and visible normals.
// `brdf.glsl` comes before it.
#ifndef LIB_GGX_SAMPLING
#define LIB_GGX_SAMPLING

// Tangent, bitangent and normal of a unit normal. Duff et al. 2017, "Building an Orthonormal Basis,
// Revisited", JCGT 6(1), listing 3.
mat3 orthonormal_basis(vec3 n) {
    float side = n.z < 0.0 ? -1.0 : 1.0;
    float a = -1.0 / (side + n.z);
    float b = n.x * n.y * a;
    return mat3(vec3(1.0 + side * n.x * n.x * a, side * b, -side * n.x),
        vec3(b, side + n.y * n.y * a, -n.y), n);
}

// Anisotropic GGX normal distribution; h along tangent, bitangent, normal. Burley 2012, section B.2
// (GTR2 anisotropic); KHR_materials_anisotropy.
float d_ggx_anisotropic(vec3 h, vec2 alphas) {
    vec3 s = vec3(h.xy / alphas, h.z);
    float k = dot(s, s);
    return 1.0 / (PI * alphas.x * alphas.y * k * k);
}

// Anisotropic height-correlated Smith G2 over 4 n.l n.v. Heitz 2014, section 5.4.
float v_smith_anisotropic(vec3 l, vec3 v, vec2 alphas) {
    float gv = l.z * length(vec3(alphas * v.xy, v.z));
    float gl = v.z * length(vec3(alphas * l.xy, l.z));
    return 0.5 / max(gv + gl, 1e-12);
}

// Samples a GGX normal visible from v by a point of the unit square (both unit, z along the surface
// normal); `alphas` along x and y. Dupuy and Benyoub 2023, "Sampling Visible GGX Normals with
// Spherical Caps", section 3.
vec3 sample_ggx_vndf(vec3 v, vec2 alphas, vec2 u) {
    vec3 stretched = normalize(vec3(v.xy * alphas, v.z));
    float z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
    float r = sqrt(clamp(1.0 - z * z, 0.0, 1.0));
    vec3 h = vec3(r * cos(2.0 * PI * u.x), r * sin(2.0 * PI * u.x), z) + stretched;
    return normalize(vec3(h.xy * alphas, max(h.z, 1e-7)));
}

// Samples a reflected direction by a visible normal.
vec3 sample_reflection(Surface s, vec2 u) {
    mat3 axes = orthonormal_basis(s.normal);
    vec3 v = s.view * axes;
    return reflect(-s.view, axes * sample_ggx_vndf(vec3(v.xy, max(v.z, 1e-4)), vec2(s.alpha), u));
}

// Weight of a direction sampled by visible normals, without the Fresnel term: BRDF times cosine
// over density, which is G2 / G1 (Heitz 2018, equations 18 and 19).
float vndf_weight(Surface s, vec3 l) {
    float nl = dot(s.normal, l);
    if (nl <= 0.0) {
        return 0.0;
    }
    float nv = max(dot(s.normal, s.view), 1e-4);
    float a2 = s.alpha * s.alpha;
    return v_smith(nl, nv, s.alpha) * nl * 2.0 * (nv + sqrt(a2 + (1.0 - a2) * nv * nv));
}

#endif
