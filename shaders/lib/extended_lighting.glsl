// Direct and environment light (nits by channel) of surfaces with extension lobes: the counterpart
// of lib/direct.glsl and lib/environment.glsl.
#ifndef LIB_EXTENDED_LIGHTING
#define LIB_EXTENDED_LIGHTING
#include "lib/ggx_sampling.glsl"

// Shadow rays to a light behind a two-sided surface start from its other side.
void apply_shadow_extended(Light light, Surface s, bool behind, inout vec3 diffuse,
    inout vec3 specular) {
#ifdef RAY_TRACED_SHADOWS
    vec3 seen_origin = ray_origin;
#endif
    if (behind) {
        s.normal = -s.normal;
#ifdef RAY_TRACED_SHADOWS
        ray_normal = -ray_normal;
        ray_origin = ray_origin_behind;
#endif
    }
    apply_shadow(light, s, diffuse, specular);
#ifdef RAY_TRACED_SHADOWS
    ray_normal = behind ? -ray_normal : ray_normal;
    ray_origin = seen_origin;
#endif
}

// Luminance (nits by channel) toward the camera under one punctual or directional light.
void direct_light_extended(Light light, Surface s, Layers y, out vec3 diffuse, out vec3 specular) {
    vec3 l, from, entry;
    vec3 e = arriving_light(light, s.position, l, from, entry);
    e *= profile_factor(light, -from);
    // half_width is 0 for point lights.
    evaluate_extended_brdf(s, y, l, arriving_radius(light.half_width, s.position, entry), diffuse,
        specular);
    diffuse *= e;
    specular *= e;
    apply_shadow_extended(light, s, dot(s.normal, l) < 0.0, diffuse, specular);
}

// As direct_light_extended, for one area light. The base lobe (isotropic or not) and the coat are
// integrated as in lib/area.glsl. Sheen, a wide lobe, and film reflectance are evaluated at the
// middle of the light's visible part.
void direct_area_light_extended(Light light, Surface s, Layers y, out vec3 diffuse,
    out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    float nv = max(dot(s.normal, s.view), 1e-4);
    float coat = coat_fresnel(s, y);
    float below = 1.0 - coat;
    float opaque = (1.0 - s.metallic) * (1.0 - y.transmission);
    vec3 through = vec3(0.0);
    // One lobe per iteration: base, coat, diffuse transmission.
    for (int lobe = 0; lobe < 3; ++lobe) {
        if (lobe == 1 && y.coat <= 0.0 || lobe == 2 && y.diffuse_transmission <= 0.0) {
            continue;
        }
        Surface of = s;
        lobe_alphas = y.alphas;
        lobe_along = y.tangent;
        if (lobe == 1) {
            of.normal = y.coat_normal;
            of.alpha = y.coat_alpha;
            lobe_alphas = vec2(y.coat_alpha);
        } else if (lobe == 2) {
            of.normal = -s.normal;
            of.view = s.view - 2.0 * dot(s.view, s.normal) * s.normal;
        }
        AreaIntegrals area;
        integrate_area(light, of, area);
        if (area.irradiance <= 0.0) {
            continue;
        }
        if (lobe == 1) {
            specular += coat * area.shine.x;
            continue;
        }
        vec3 middle = transpose(area.frame_of) * area.towards;
        vec3 h = normalize(middle + of.view + 1e-6 * of.normal);
        float vh = clamp(dot(of.view, h), 0.0, 1.0);
        Reflectances f = layer_fresnel(s, y, vh, area.weight);
        float nl = max(area.towards.z, 1e-3);
        float under = below * below_sheen(y, nl, nv);
        vec3 matte = under * opaque * (1.0 - max3(f.opaque)) / PI * area.irradiance * vec3(1.0);
        if (lobe == 2) {
            through += matte * y.diffuse_transmission * y.diffuse_transmission_color;
            continue;
        }
        diffuse += matte * (1.0 - y.diffuse_transmission) * s.base_color;
        float w = area.shine.x > 0.0 ? clamp(area.shine.y / area.shine.x, 0.0, 1.0) : 0.0;
        f = layer_fresnel(s, y, 1.0 - pow(w, 0.2), w);
#ifdef TRACED_REFRACTION
        // Traced reflection rays hit emissive meshes (lib/refraction_traced.glsl); other lights use
        // the integral.
        f.glass *= (light.kind & LIGHT_MESH) != 0u ? 0.0 : 1.0;
#endif
        float all = frame.multi_scatter != 0u ? base_albedo(y, nv) : 1.0;
        specular += under * area.shine.x * mixed_reflectance(s, y, f, all);
        if (max3(y.sheen_color) > 0.0) {
            specular += below * y.sheen_color * sheen_lobe(y, nl, nv,
                clamp(dot(s.normal, h), 0.0, 1.0)) / nl * area.irradiance;
        }
    }
    diffuse *= light.intensity;
    specular *= light.intensity;
    through *= light.intensity;
    // A light across the horizon may be occluded on one side and visible on the other.
    for (int side = 0; side < 2; ++side) {
        bool behind = side == 1;
        vec3 none = vec3(0.0);
        vec3 matte = behind ? through : diffuse;
        vec3 shine = behind ? none : specular;
        apply_shadow_extended(light, s, behind, matte, shine);
        diffuse = behind ? diffuse + matte : matte;
        specular = behind ? specular : shine;
    }
}

// Quasirandom points of the unit square: powers of the root of x^3 = x + 1 (Roberts 2018, "The
// Unreasonable Effectiveness of Quasirandom Sequences").
vec2 even_point(int i) {
    return fract(0.5 + float(i) * vec2(0.7548776662466927, 0.5698402909980532));
}

// Environment luminance reflected by an anisotropic lobe of reflectance 1: visible microfacet
// normals, each with a lookup as wide as its share of the lobe.
vec3 environment_stretched(Surface s, Layers y) {
    const int FACETS = 24;
    vec3 v = vec3(dot(y.tangent, s.view), dot(y.bitangent, s.view),
        max(dot(s.normal, s.view), 1e-4));
    float roughness = sqrt(sqrt(y.alphas.x * y.alphas.y) * inversesqrt(float(FACETS)));
    float seen = length(vec3(y.alphas * v.xy, v.z));
    vec3 sum = vec3(0.0);
    for (int i = 0; i < FACETS; ++i) {
        vec3 h = sample_ggx_vndf(v, y.alphas, even_point(i));
        vec3 l = reflect(-v, h);
        if (l.z <= 0.0) {
            continue;
        }
        // Height-correlated Smith masking-shadowing over the masking of the view alone: Heitz 2014,
        // equations 99 and 43.
        float all = seen * l.z + length(vec3(y.alphas * l.xy, l.z)) * v.z;
        float kept = l.z * (seen + v.z) / all;
        vec3 towards = l.x * y.tangent + l.y * y.bitangent + l.z * s.normal;
        sum += kept * prefiltered_environment(s.position, towards, roughness);
    }
    return sum / float(FACETS);
}

// Mean environment luminance (nits), weighted by the sheen lobe.
vec3 environment_sheen(Surface s, Layers y) {
    const int DIRECTIONS = 24;
    float nv = max(dot(s.normal, s.view), 1e-2);
    mat3 axes = orthonormal_basis(s.normal);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int i = 0; i < DIRECTIONS; ++i) {
        vec2 u = even_point(i);
        float nl = max(u.y, 1e-3);
        float r = sqrt(max(1.0 - nl * nl, 0.0));
        vec3 l = axes * vec3(r * cos(2.0 * PI * u.x), r * sin(2.0 * PI * u.x), nl);
        float weight = sheen_lobe(y, nl, nv, clamp(dot(s.normal, normalize(l + s.view)), 0.0, 1.0));
        sum += weight * prefiltered_environment(s.position, l, 0.6);
        weights += weight;
    }
    return sum / max(weights, 1e-12);
}

// Dominant direction of a lobe, between the mirror direction and the normal: Lagarde and de
// Rousiers 2014, listing 21.
vec3 lobe_middle(vec3 n, vec3 v, float alpha) {
    float smoothness = 1.0 - alpha;
    return normalize(mix(n, reflect(-v, n), smoothness * (sqrt(smoothness) + alpha)));
}

// As below_sheen, for diffuse environment light: mean over four light angles at equal
// cosine-weighted shares.
float below_sheen_around(Layers y, float nv) {
    if (max3(y.sheen_color) <= 0.0) {
        return 1.0;
    }
    float sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        sum += below_sheen(y, sqrt((float(i) + 0.5) / 4.0), nv);
    }
    return sum / 4.0;
}

// As environment_light: split sums for base and coat; for sheen its albedo times the mean luminance
// over its lobe.
void environment_light_extended(Surface s, Layers y, AmbientVisibility v, out vec3 diffuse,
    out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    if (!has_environment()) {
        return;
    }
    float nv = clamp(dot(s.normal, s.view), 0.0, 1.0);
    float roughness = sqrt(sqrt(y.alphas.x * y.alphas.y));
    vec3 albedo = layer_albedo(nv, roughness);
    vec3 irradiance = environment_irradiance(s.position, v.bent_normal);
    float coat = coat_fresnel(s, y);
    float below = 1.0 - coat;
    float under = below * (1.0 - max3(y.sheen_color) * layer_albedo(nv, y.sheen_roughness).z);
    // The table's third column is 1 minus the mean reflectance at F0 = 0.04, which yields the mean
    // Schlick weight.
    float matte = environment_table(environment.dfg_offset, DFG_SIZE, vec2(nv, 0.0)).z;
    float mean = clamp(1.0 - matte / (1.0 - DIELECTRIC_F0), 0.0, 1.0);
    Reflectances f = layer_fresnel(s, y, 1.0 - pow(mean, 0.2), mean);
    float opaque = (1.0 - s.metallic) * (1.0 - y.transmission);
    float lambert = below * below_sheen_around(y, nv) * opaque * (1.0 - max3(f.opaque));
    vec3 reflectance = lambert * (1.0 - y.diffuse_transmission) * s.base_color;
    vec3 visible =
        (frame.bits & FRAME_MULTI_BOUNCE_AO) != 0u ? multi_bounce_ao(v.ambient, reflectance)
            : vec3(v.ambient);
    diffuse = reflectance / PI * irradiance * visible;
    if (y.diffuse_transmission > 0.0) {
        vec3 behind = environment_irradiance(s.position, -s.normal);
        diffuse += lambert * v.ambient * y.diffuse_transmission * y.diffuse_transmission_color / PI
            * behind;
    }
    float all = albedo.x + albedo.y;
    float w = all > 0.0 ? albedo.y / all : 0.0;
    f = layer_fresnel(s, y, nv, w);
#ifdef TRACED_REFRACTION
    // Traced rays compute the mirror reflection (lib/refraction_traced.glsl).
    f.glass = vec3(0.0);
#endif
    vec3 towards = lobe_middle(s.normal, s.view, s.alpha);
    bool even = y.alphas.x == y.alphas.y;
    vec3 seen = even ? all * prefiltered_environment(s.position, towards, roughness)
        : environment_stretched(s, y);
    seen *= specular_visibility(s, v);
    specular = under * mixed_reflectance(s, y, f, all) * seen;
    if (max3(y.sheen_color) > 0.0) {
        specular += below * y.sheen_color * layer_albedo(nv, y.sheen_roughness).z * v.ambient
            * environment_sheen(s, y);
    }
    if (y.coat > 0.0) {
        float coat_nv = clamp(dot(y.coat_normal, s.view), 0.0, 1.0);
        vec2 reflects = layer_albedo(coat_nv, sqrt(y.coat_alpha)).xy;
        Surface over = s;
        over.normal = y.coat_normal;
        over.alpha = y.coat_alpha;
        vec3 shine = lobe_middle(y.coat_normal, s.view, y.coat_alpha);
        specular += coat * (reflects.x + reflects.y) * prefiltered_environment(s.position, shine,
            sqrt(y.coat_alpha))
            * specular_visibility(over, v);
    }
}

#endif
