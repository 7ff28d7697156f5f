// Functions shared by the screen-space reflection (SSR) passes. The including shader declares
// `frame` and `ssr`, and includes lib/brdf.glsl, lib/packing.glsl and lib/gbuffer.glsl before.
#ifndef LIB_SSR
#define LIB_SSR

// Hit distance (m) of a sky reflection: about half of a float's digits.
const float FAR_AWAY = 1e6;
// Maximum alpha of a mirror. At full resolution a mirror uses its own pixel's ray only, since
// neighbor rays have no weight.
const float MIRROR = 0.0026;
// Ray mask values: pixels that trace rays, and mirrors; 0 elsewhere.
const float RAY_MASK = 0.5;
const float RAY_MASK_MIRROR = 1.0;

// Confidence of a ray: positive for a surface hit, RAY_MISS for a sky hit, 0 for a lost ray (at the
// image edge, or behind possible occluders).
const float RAY_MISS = -1.0;
// Minimum confidence of a surface hit.
const float MIN_SHARE = 1.0 / 4096.0;
// Edge fade width as a fraction of the shorter image side.
const float EDGE = 0.04;

float edge_share(vec2 at) {
    vec2 inside = min(at, vec2(ssr.size) - at);
    float width = EDGE * float(min(ssr.size.x, ssr.size.y));
    return smoothstep(0.0, 1.0, clamp(min(inside.x, inside.y) / width, 0.0, 1.0));
}

// Perceptual roughness of dielectrics up to which rays of SSR count in full beside denoised ones of
// GI, and from which on they do not.
const vec2 GI_ROUGHNESS = vec2(0.25, 0.35);

// SSR weight of a surface, 0 to 1. Few rays of a wide lobe find a small bright lamp, and their
// pixels would sparkle; the denoised mean of GI has the lamp's light. Metals keep their rays, since
// that mean is noisy on curved metals.
float ssr_weight(Surface s) {
    float roughness = sqrt(s.alpha);
    bool has_mean = (frame.bits & FRAME_GI_DENOISED_SPECULAR) != 0u;
    float rest = has_mean
        ? (1.0 - s.metallic) * smoothstep(GI_ROUGHNESS.x, GI_ROUGHNESS.y, roughness) : 0.0;
    return roughness_fade(roughness, ssr.max_roughness) * (1.0 - rest);
}

// Combines the mean ray results: the light, and the fraction of the environment reflection that
// remains, with environment visibility `open`. `hit_fraction` and `sky` are the fractions of rays
// that hit a surface and the sky.
vec4 reflection_of(Surface s, vec3 light, float hit_fraction, float sky, float open) {
    float share = ssr_weight(s);
    float environment = sky + max(1.0 - hit_fraction - sky, 0.0) * open;
    return vec4(to_half_range(light * share), mix(open, environment, share));
}

// Density (1/sr) of a direction sampled through visible normals. Heitz 2018, equations 3 and 17:
// D G1 / (4 n.v), where G1 = 2 n.v / (n.v + sqrt(a^2 + (1 - a^2) n.v^2)).
float visible_density(Surface s, vec3 l) {
    vec3 h = normalize(l + s.view);
    float nv = clamp(dot(s.normal, s.view), 1e-4, 1.0);
    float a2 = s.alpha * s.alpha;
    return d_ggx(s.normal, h, clamp(dot(s.normal, h), 0.0, 1.0), s.alpha) * 0.5
        / (nv + sqrt(a2 + (1.0 - a2) * nv * nv));
}

#endif
