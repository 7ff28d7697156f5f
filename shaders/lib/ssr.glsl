// What the passes of screen-space reflections share. The including shader declares `frame` and
// `ssr`, and includes lib/brdf.glsl, lib/packing.glsl and lib/gbuffer.glsl before.
#ifndef LIB_SSR
#define LIB_SSR

// As far as half of a float's digits: what a sky's reflection counts as (m).
const float FAR_AWAY = 1e6;
// Below this alpha a surface is a mirror: at full resolution it has its pixel's own ray only, for a
// neighbour's counts nothing.
const float MIRROR = 0.0026;
// Depths that say where rays are sent, and whether by mirrors; where none are it is 0.
const float RAY_MASK = 0.5;
const float RAY_MASK_MIRROR = 1.0;
// Perceptual roughness over which reflections fade out, below the greatest.
const float ROUGHNESS_FADE = 0.2;

// A ray's share of light that counts as found: above 0 of a surface, RAY_MISS beyond all surfaces,
// 0 where it was lost, at the edge of what the camera sees or where anything may be hidden.
const float RAY_MISS = -1.0;
// The least that a ray counts that met a surface.
const float MIN_SHARE = 1.0 / 4096.0;
// Part of the picture's shorter side over which what rays find at an edge fades.
const float EDGE = 0.04;

float edge_share(vec2 at) {
    vec2 inside = min(at, vec2(ssr.size) - at);
    float width = EDGE * float(min(ssr.size.x, ssr.size.y));
    return smoothstep(0.0, 1.0, clamp(min(inside.x, inside.y) / width, 0.0, 1.0));
}

// How much of a surface's reflection is looked for in the picture, 0 to 1, by its perceptual
// roughness.
float ssr_weight(float roughness) {
    float begin = ssr.max_roughness * (1.0 - ROUGHNESS_FADE);
    return clamp((ssr.max_roughness - roughness) / max(ssr.max_roughness - begin, 1e-6), 0.0, 1.0);
}

// Of what rays found in the mean, the light by its share, how many met something and how many saw
// the sky: the light, and the share that surfaces keep of their surroundings, of which so much is
// open.
vec4 reflection_of(Surface s, vec3 light, float shown, float sky, float open) {
    float share = ssr_weight(sqrt(s.alpha));
    float surroundings = sky + max(1.0 - shown - sky, 0.0) * open;
    return vec4(to_half_range(light * share), mix(open, surroundings, share));
}

// Density (1/sr) of a direction sampled through visible normals. Heitz 2018, equations 3 and 17:
// D G1 / (4 n.v), where G1 = 2 n.v / (n.v + sqrt(a^2 + (1 - a^2) n.v^2)).
float visible_density(Surface s, vec3 l) {
    vec3 h = normalize(l + s.view);
    float nv = clamp(dot(s.normal, s.view), 1e-4, 1.0);
    float a2 = s.alpha * s.alpha;
    return d_ggx(s.normal, h, clamp(dot(s.normal, h), 0.0, 1.0), s.alpha) * 0.5 / (nv + sqrt(a2 + (1.0 - a2) * nv * nv));
}

#endif
