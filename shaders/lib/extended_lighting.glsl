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
    apply_shadow(light, s, SHADOWS_BY_ANY, diffuse, specular);
#ifdef RAY_TRACED_SHADOWS
    ray_normal = behind ? -ray_normal : ray_normal;
    ray_origin = seen_origin;
#endif
}

// Luminance (nits by channel) toward the camera under one punctual or directional light, without
// its shadow. `behind`: whether it is behind the surface.
void unshadowed_light_extended(Light light, Surface s, Layers y, out vec3 diffuse,
    out vec3 specular, out bool behind) {
    vec3 l, from, entry;
    vec3 e = arriving_light(light, s.position, l, from, entry);
    e *= profile_factor(light, -from);
    // half_width is 0 for point lights.
    evaluate_extended_brdf(s, y, l, arriving_radius(light.half_width, s.position, entry), diffuse,
        specular);
    diffuse *= e;
    specular *= e;
    behind = dot(s.normal, l) < 0.0;
}

// As unshadowed_light_extended, for one area light. `through`: diffuse transmission of its part
// behind the surface. The base lobe (isotropic or not) and the coat are integrated as in
// lib/area.glsl. Sheen, a wide lobe, and film reflectance are evaluated at the middle of the
// light's visible part.
void unshadowed_area_light_extended(Light light, Surface s, Layers y, out vec3 diffuse,
    out vec3 specular, out vec3 through) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    through = vec3(0.0);
    float nv = max(dot(s.normal, s.view), 1e-4);
    float coat = coat_fresnel(s, y);
    float below = 1.0 - coat;
    float opaque = (1.0 - s.metallic) * (1.0 - y.transmission);
    float all = frame.multi_scatter != 0u ? base_albedo(y, nv) : 1.0;
    // One lobe per iteration: base, coat, diffuse transmission.
    uint lobes = 1u | (y.coat > 0.0 ? 2u : 0u) | (y.diffuse_transmission > 0.0 ? 4u : 0u);
    while (lobes != 0u) {
        bool is_coat = has_feature(FEATURE_CLEARCOAT) && (lobes & 3u) == 2u;
        bool is_behind = has_feature(FEATURE_DIFFUSE_TRANSMISSION) && (lobes & 3u) == 0u;
        lobes &= lobes - 1u;
        Surface of = s;
        lobe_alphas = y.alphas;
        lobe_along = y.tangent;
        if (is_coat) {
            of.normal = y.coat_normal;
            of.alpha = y.coat_alpha;
            lobe_alphas = vec2(y.coat_alpha);
        } else if (is_behind) {
            of.normal = -s.normal;
            of.view = s.view - 2.0 * dot(s.view, s.normal) * s.normal;
        }
        AreaIntegrals area;
        integrate_area(light, of, area);
        if (area.irradiance <= 0.0) {
            continue;
        }
        if (is_coat) {
            specular += coat * area.shine.x;
            continue;
        }
        vec3 middle = transpose(area.frame_of) * area.towards;
        vec3 h = normalize(middle + of.view + 1e-6 * of.normal);
        float vh = clamp(dot(of.view, h), 0.0, 1.0);
        float w = area.shine.x > 0.0 ? clamp(area.shine.y / area.shine.x, 0.0, 1.0) : 0.0;
        float nl = max(area.towards.z, 1e-3);
        float under = below * below_sheen(y, nl, nv);
        // Diffuse light is what the mean over the light lets in; the lobe has its own mean.
        float lets_in = 1.0;
        Reflectances f;
        for (int i = 0; i < 2; ++i) {
            f = layer_fresnel(s, y, i == 0 ? vh : 1.0 - pow(w, 0.2), i == 0 ? area.weight : w);
            lets_in = i == 0 ? 1.0 - max3(f.opaque) : lets_in;
        }
        vec3 matte = under * opaque * lets_in / PI * area.irradiance * vec3(1.0);
        if (is_behind) {
            through += matte * y.diffuse_transmission * y.diffuse_transmission_color;
            continue;
        }
        diffuse += matte * (1.0 - y.diffuse_transmission) * s.base_color;
#ifdef TRACED_REFRACTION
        // Traced reflection rays hit emissive meshes (lib/refraction_traced.glsl); other lights use
        // the integral.
        f.glass *= (light.kind & LIGHT_MESH) != 0u ? 0.0 : 1.0;
#endif
        specular += under * area.shine.x * mixed_reflectance(s, y, f, all);
        if (has_sheen(y)) {
            specular += below * y.sheen_color * sheen_lobe(y, nl, nv,
                clamp(dot(s.normal, h), 0.0, 1.0)) / nl * area.irradiance;
        }
    }
    diffuse *= light.intensity;
    specular *= light.intensity;
    through *= light.intensity;
}

// Quasirandom points of the unit square: powers of the root of x^3 = x + 1 (Roberts 2018, "The
// Unreasonable Effectiveness of Quasirandom Sequences").
vec2 even_point(int i) {
    return fract(0.5 + float(i) * vec2(0.7548776662466927, 0.5698402909980532));
}

// As below_sheen, for diffuse environment light: mean over four light angles at equal
// cosine-weighted shares.
float below_sheen_around(Layers y, float nv) {
    if (!has_sheen(y)) {
        return 1.0;
    }
    float sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        sum += below_sheen(y, sqrt((float(i) + 0.5) / 4.0), nv);
    }
    return sum / 4.0;
}

// Directions of an anisotropic lobe, and of the sheen lobe.
const uint ANISOTROPIC_FACETS = 24u;
const uint SHEEN_DIRECTIONS = 24u;

// Environment luminance (nits) reflected by lobes of reflectance 1.
struct LobeLuminance {
    vec3 base;           // times `all` where the lobe is isotropic
    vec3 sheen;          // mean, weighted by the sheen lobe
    vec3 coat;
};

// Isotropic lobes take one prefiltered lookup. An anisotropic lobe takes visible microfacet
// normals, each with a lookup as wide as its share of the lobe. One call site for all lookups,
// since functions are inlined.
LobeLuminance environment_lobes(Surface s, Layers y, float all) {
    bool even = is_isotropic(y);
    float roughness = sqrt(sqrt(y.alphas.x * y.alphas.y));
    vec3 v = vec3(dot(y.tangent, s.view), dot(y.bitangent, s.view),
        max(dot(s.normal, s.view), 1e-4));
    float facet_roughness = sqrt(sqrt(y.alphas.x * y.alphas.y)
        * inversesqrt(float(ANISOTROPIC_FACETS)));
    float seen = length(vec3(y.alphas * v.xy, v.z));
    float nv = max(dot(s.normal, s.view), 1e-2);
    mat3 axes = orthonormal_basis(s.normal);
    uint facets = even ? 1u : ANISOTROPIC_FACETS;
    uint before_coat = facets + (has_sheen(y) ? SHEEN_DIRECTIONS : 0u);
    uint lookups = before_coat + (y.coat > 0.0 ? 1u : 0u);
    LobeLuminance sums = LobeLuminance(vec3(0.0), vec3(0.0), vec3(0.0));
    float weights = 0.0;
    for (uint i = 0u; i < lookups; ++i) {
        bool is_coat = has_feature(FEATURE_CLEARCOAT) && i >= before_coat;
        bool is_sheen = has_feature(FEATURE_SHEEN) && !is_coat && i >= facets;
        vec2 u = even_point(int(is_sheen ? i - facets : i));
        vec3 towards;
        float width;
        float weight = 1.0;
        if (is_sheen) {
            float nl = max(u.y, 1e-3);
            float r = sqrt(max(1.0 - nl * nl, 0.0));
            towards = axes * vec3(r * cos(2.0 * PI * u.x), r * sin(2.0 * PI * u.x), nl);
            weight = sheen_lobe(y, nl, nv,
                clamp(dot(s.normal, normalize(towards + s.view)), 0.0, 1.0));
            weights += weight;
            width = 0.6;
        } else if (is_coat || even) {
            float alpha = is_coat ? y.coat_alpha : s.alpha;
            towards = lobe_middle(is_coat ? y.coat_normal : s.normal, s.view, alpha);
            width = is_coat ? sqrt(alpha) : roughness;
            weight = is_coat ? 1.0 : all;
        } else {
            vec3 h = sample_ggx_vndf(v, y.alphas, u);
            vec3 l = reflect(-v, h);
            if (l.z <= 0.0) {
                continue;
            }
            // Height-correlated Smith masking-shadowing over the masking of the view alone: Heitz
            // 2014, equations 99 and 43.
            float shadowed = seen * l.z + length(vec3(y.alphas * l.xy, l.z)) * v.z;
            weight = l.z * (seen + v.z) / shadowed;
            towards = l.x * y.tangent + l.y * y.bitangent + l.z * s.normal;
            width = facet_roughness;
        }
        vec3 luminance = prefiltered_environment(s.position, towards, width);
        sums.coat = is_coat ? luminance : sums.coat;
        sums.sheen += is_sheen ? weight * luminance : vec3(0.0);
        sums.base += is_coat || is_sheen ? vec3(0.0) : weight * luminance;
    }
    sums.base /= even ? 1.0 : float(ANISOTROPIC_FACETS);
    sums.sheen /= max(weights, 1e-12);
    return sums;
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
    float sheen_albedo = layer_albedo(nv, y.sheen_roughness).z;
    float coat = coat_fresnel(s, y);
    float below = 1.0 - coat;
    float under = has_sheen(y) ? below * (1.0 - max3(y.sheen_color) * sheen_albedo) : below;
    // The table's third column is 1 minus the mean reflectance at F0 = 0.04, which yields the mean
    // Schlick weight.
    float matte = environment_table(environment.dfg_offset, DFG_SIZE, vec2(nv, 0.0)).z;
    float mean = clamp(1.0 - matte / (1.0 - DIELECTRIC_F0), 0.0, 1.0);
    float all = albedo.x + albedo.y;
    float w = all > 0.0 ? albedo.y / all : 0.0;
    // Of the mean over all directions for diffuse light, then of the lobe.
    float lets_in = 1.0;
    Reflectances f;
    for (int i = 0; i < 2; ++i) {
        f = layer_fresnel(s, y, i == 0 ? 1.0 - pow(mean, 0.2) : nv, i == 0 ? mean : w);
        lets_in = i == 0 ? 1.0 - max3(f.opaque) : lets_in;
    }
    float opaque = (1.0 - s.metallic) * (1.0 - y.transmission);
    float lambert = below * below_sheen_around(y, nv) * opaque * lets_in;
    vec3 reflectance = lambert * (1.0 - y.diffuse_transmission) * s.base_color;
    vec3 visible =
        (frame.bits & FRAME_MULTI_BOUNCE_AO) != 0u ? multi_bounce_ao(v.ambient, reflectance)
            : vec3(v.ambient);
    for (int side = 0; side < (y.diffuse_transmission > 0.0 ? 2 : 1); ++side) {
        vec3 irradiance = environment_irradiance(s.position,
            side == 0 ? v.bent_normal : -s.normal);
        diffuse += side == 0 ? reflectance / PI * irradiance * visible
            : lambert * v.ambient * y.diffuse_transmission * y.diffuse_transmission_color / PI
                * irradiance;
    }
#ifdef TRACED_REFRACTION
    // Traced rays compute the mirror reflection (lib/refraction_traced.glsl).
    f.glass = vec3(0.0);
#endif
    LobeLuminance seen = environment_lobes(s, y, all);
    seen.base *= specular_visibility(s, v);
    specular = under * mixed_reflectance(s, y, f, all) * seen.base;
    if (has_sheen(y)) {
        specular += below * y.sheen_color * sheen_albedo * v.ambient * seen.sheen;
    }
    if (y.coat > 0.0) {
        float coat_nv = clamp(dot(y.coat_normal, s.view), 0.0, 1.0);
        vec2 reflects = layer_albedo(coat_nv, sqrt(y.coat_alpha)).xy;
        Surface over = s;
        over.normal = y.coat_normal;
        over.alpha = y.coat_alpha;
        specular += coat * (reflects.x + reflects.y) * seen.coat * specular_visibility(over, v);
    }
}

#endif
