// The metallic-roughness BRDF of glTF 2.0, Appendix B (1/sr):
// (1-m) (F_d D V + (1-F_d) base/pi) + m F_m D V.
#ifndef LIB_BRDF
#define LIB_BRDF
#include "lib/constants.glsl"

// Below this alpha the highlight of a punctual light is always narrower than a pixel.
const float MIN_ALPHA = 0.002;
const float DIELECTRIC_F0 = 0.04;

struct Surface {
    vec3 position;     // relative to the camera
    vec3 normal;       // unit, shading
    vec3 view;         // unit, towards the camera
    vec3 base_color;
    float metallic;
    float alpha;       // roughness^2, at least MIN_ALPHA
};

// GGX normal distribution (1/sr). Walter et al. 2007, equation 33, in a form that is accurate near
// n.h = 1: 1 - (n.h)^2 = |n x h|^2.
float d_ggx(vec3 n, vec3 h, float nh, float alpha) {
    vec3 c = cross(n, h);
    float a = nh * alpha;
    float k = alpha / (dot(c, c) + a * a);
    return k * k / PI;
}

// G2 / (4 n.l n.v), height-correlated Smith. Heitz 2014, equation 99.
float v_smith(float nl, float nv, float alpha) {
    float a2 = alpha * alpha;
    float gv = nl * sqrt(nv * nv * (1.0 - a2) + a2);
    float gl = nv * sqrt(nl * nl * (1.0 - a2) + a2);
    return 0.5 / max(gv + gl, 1e-12);
}

// Weight of the Fresnel reflectance with F90 = 1. Schlick 1994, equation 15.
float schlick_weight(float vh) {
    float x = clamp(1.0 - vh, 0.0, 1.0);
    float x2 = x * x;
    return x2 * x2 * x;
}

// Weight of traced reflections by perceptual roughness: 1 up to 0.8 of the maximum, falling to 0 at
// the maximum.
float roughness_fade(float roughness, float max_roughness) {
    float begin = max_roughness * 0.8;
    return clamp((max_roughness - roughness) / max(max_roughness - begin, 1e-6), 0.0, 1.0);
}

// Approximate fraction of even light that the specular lobe reflects: Karis 2014, "Physically Based
// Shading on Mobile", `EnvBRDFApprox`, a fit of the split sum (Lazarov 2013). Reflected light is
// divided by it before filters and multiplied by it after them, so that neighbors share incident
// light, not their materials.
vec3 approximate_specular_albedo(Surface s) {
    float roughness = sqrt(s.alpha);
    float nv = clamp(dot(s.normal, s.view), 0.0, 1.0);
    vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float edge = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    vec2 scale_bias = vec2(-1.04, 1.04) * edge + r.zw;
    vec3 f0 = mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic);
    return max(f0 * scale_bias.x + scale_bias.y, 0.01);
}

// Diffuse and specular radiance reflected to the viewer per irradiance on a plane that faces the
// light, with the cosine (1/sr).
void evaluate_brdf(Surface s, vec3 l, out vec3 diffuse, out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    float nl = dot(s.normal, l);
    if (nl <= 0.0) {
        return;
    }
    vec3 h = l + s.view;
    float length2 = dot(h, h);
    // Opposite light and view directions, possible with a bent shading normal, have no half vector.
    if (length2 < 1e-12) {
        return;
    }
    h *= inversesqrt(length2);
    float nv = max(dot(s.normal, s.view), 1e-4);
    float nh = clamp(dot(s.normal, h), 0.0, 1.0);
    float w = schlick_weight(clamp(dot(s.view, h), 0.0, 1.0));
    float fd = mix(DIELECTRIC_F0, 1.0, w);
    vec3 fm = mix(s.base_color, vec3(1.0), w);
    float dv = d_ggx(s.normal, h, nh, s.alpha) * v_smith(nl, nv, s.alpha);
    diffuse = (1.0 - s.metallic) * (1.0 - fd) / PI * nl * s.base_color;
    specular = dv * nl * mix(vec3(fd), fm, s.metallic);
}

#endif
