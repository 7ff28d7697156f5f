// What the passes of screen-space reflections share. The including shader declares `frame` and `ssr`, and includes
// lib/brdf.glsl, lib/packing.glsl and lib/gbuffer.glsl before.
#ifndef LIB_SSR
#define LIB_SSR

// A ray's length (m): above 0 to a surface; below 0 to where it was lost, at the edge of what the camera sees, of which
// nothing is known; RAY_SKY beyond all surfaces.
const float RAY_SKY = -1e7;
// As far as half of a float's digits: what a sky's reflection counts as (m).
const float FAR_AWAY = 1e6;
// Perceptual roughness over which reflections fade out, below the greatest.
const float ROUGHNESS_FADE = 0.2;

// What a ray found may be a guess: a surface from the side, or after it went behind another. How sure that is goes with the
// place's row, which is less than this.
const float ROWS = 16384.0;
const float DOUBTS = 15.0;

vec2 with_doubt(vec2 at, float sure) {
    return vec2(at.x, at.y + ROWS * round((1.0 - sure) * DOUBTS));
}

vec2 without_doubt(vec2 at, out float sure) {
    float doubt = floor(at.y / ROWS);
    sure = 1.0 - doubt / DOUBTS;
    return vec2(at.x, at.y - doubt * ROWS);
}

// How much of a surface's reflection is looked for in the picture, 0 to 1, by its perceptual roughness.
float traced_share(float roughness) {
    float begin = ssr.max_roughness * (1.0 - ROUGHNESS_FADE);
    return clamp((ssr.max_roughness - roughness) / max(ssr.max_roughness - begin, 1e-6), 0.0, 1.0);
}

// The surface of a pixel, if it reflects as the G-buffer says: not unlit, not lit by the layered pass.
bool reflecting_surface(ivec2 pixel, float depth, float mark, out Surface s) {
    return depth > 0.0 && mark < LAYER_MARK && load_surface(pixel, depth, s) && traced_share(sqrt(s.alpha)) > 0.0;
}

// Density (1/sr) of a direction sampled through visible normals. Heitz 2018, equations 3 and 17:
// D G1 / (4 n.v), where G1 = 2 n.v / (n.v + sqrt(a^2 + (1 - a^2) n.v^2)).
float visible_density(Surface s, vec3 l) {
    vec3 h = normalize(l + s.view);
    float nv = clamp(dot(s.normal, s.view), 1e-4, 1.0);
    float a2 = s.alpha * s.alpha;
    return d_ggx(s.normal, h, clamp(dot(s.normal, h), 0.0, 1.0), s.alpha) * 0.5 / (nv + sqrt(a2 + (1.0 - a2) * nv * nv));
}

// The BRDF without its Fresnel term, times the cosine, over that density: what a ray counts for a surface.
float ray_weight(Surface s, vec3 l, float density) {
    float nl = dot(s.normal, l);
    if (nl <= 0.0) {
        return 0.0;
    }
    vec3 h = normalize(l + s.view);
    float nv = max(dot(s.normal, s.view), 1e-4);
    return d_ggx(s.normal, h, clamp(dot(s.normal, h), 0.0, 1.0), s.alpha) * v_smith(nl, nv, s.alpha) * nl / max(density, 1e-9);
}

#endif
