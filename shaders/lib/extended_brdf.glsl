// Lobes of the glTF material extensions for the forward pass: KHR_materials_ior, specular,
// clearcoat, sheen, anisotropy, iridescence, transmission (thin walls) and diffuse_transmission,
// composed as the extensions specify (docs/extended-materials.md). Results are per irradiance
// (1/sr). `brdf.glsl` comes before it; EXTENDED_MATERIALS selects the extended code in shared
// files.
#ifndef LIB_EXTENDED_BRDF
#define LIB_EXTENDED_BRDF
#include "lib/sun_disk.glsl"

layout(set = 0, binding = 21, scalar) readonly buffer extended_lut_block { vec3 layer_table[]; };

const uint LAYER_TABLE_SIZE = 32u;
const float COAT_F0 = 0.04;
// Matches src/gpu_scene/layer_tables.rs. A smaller sheen roughness reflects only at grazing angles
// that hardly any ray has.
const float MIN_SHEEN_ROUGHNESS = 0.07;

// Extension parameters of a pixel's surface, beyond Surface. Normals are on the viewer's side.
struct Layers {
    vec3 f0;                   // dielectric F0 (at normal incidence)
    float specular;            // specular weight, at every angle
    vec3 tangent;              // unit, perpendicular to the normal: direction of the greater alpha
    vec3 bitangent;
    vec2 alphas;               // along tangent and bitangent
    float coat;
    float coat_alpha;
    vec3 coat_normal;
    vec3 sheen_color;
    float sheen_roughness;     // perceptual, at least MIN_SHEEN_ROUGHNESS
    float iridescence;
    float ior;
    float film_ior;
    float film_thickness;      // nm
    float diffuse_transmission;
    vec3 diffuse_transmission_color;
    float transmission;
    bool thin;
};

// Scale and bias of F0 and albedo of white sheen, by view cosine and perceptual roughness.
vec3 layer_albedo(float nv, float roughness) {
    vec2 p = clamp(vec2(nv, roughness), 0.0, 1.0) * float(LAYER_TABLE_SIZE - 1u);
    vec2 low = min(floor(p), vec2(float(LAYER_TABLE_SIZE - 2u)));
    vec2 f = p - low;
    uint i = uint(low.y) * LAYER_TABLE_SIZE + uint(low.x);
    return mix(mix(layer_table[i], layer_table[i + 1u], f.x),
               mix(layer_table[i + LAYER_TABLE_SIZE], layer_table[i + LAYER_TABLE_SIZE + 1u], f.x),
                   f.y);
}

// Estevez and Kulla 2017, "Production Friendly Microfacet Sheen BRDF", equation 2.
float d_charlie(float nh, float alpha) {
    float sine2 = max(1.0 - nh * nh, 1e-7);
    return (2.0 + 1.0 / alpha) * pow(sine2, 0.5 / alpha) / (2.0 * PI);
}

float charlie_curve(float x, float alpha) {
    float t = (1.0 - alpha) * (1.0 - alpha);
    float a = mix(21.5473, 25.3245, t);
    float b = mix(3.82987, 3.32435, t);
    float c = mix(0.19823, 0.16801, t);
    float d = mix(-1.97760, -1.27393, t);
    float e = mix(-4.32054, -4.85967, t);
    return a / (1.0 + b * pow(max(x, 1e-6), c)) + d * x + e;
}

// Estevez and Kulla 2017, equation 3 and its table.
float charlie_lambda(float cosine, float alpha) {
    bool low = cosine < 0.5;
    float curve = charlie_curve(low ? cosine : 1.0 - cosine, alpha);
    return exp(low ? curve : 2.0 * charlie_curve(0.5, alpha) - curve);
}

float sheen_alpha(Layers y) { return y.sheen_roughness * y.sheen_roughness; }

// BRDF of white sheen times n.l.
float sheen_lobe(Layers y, float nl, float nv, float nh) {
    float alpha = sheen_alpha(y);
    float sum = 1.0;
    for (int i = 0; i < 2; ++i) {
        sum += charlie_lambda(i == 0 ? nv : nl, alpha);
    }
    float g = 1.0 / sum;
    return d_charlie(nh, alpha) * g / (4.0 * nv);
}

float max3(vec3 v) { return max(v.r, max(v.g, v.b)); }

bool has_sheen(Layers y) { return max3(y.sheen_color) > 0.0; }

// Without anisotropic materials a constant to the driver; fragment_layers sets the factors of other
// absent lobes to 0.
bool is_isotropic(Layers y) {
    return !has_feature(FEATURE_ANISOTROPY) || y.alphas.x == y.alphas.y;
}

// Interference term of a thin film for a phase shift, in linear Rec.709: Belcour and Barla 2017, "A
// Practical Extension to Microfacet Theory for the Modeling of Varying Iridescence", section 4 and
// its supplement's fit of the CIE observer.
vec3 film_sensitivity(float path, vec3 shift) {
    float phase = 2.0 * PI * path * 1e-9;
    vec3 xyz = vec3(5.4856e-13, 4.4201e-13, 5.2481e-13)
        * sqrt(2.0 * PI * vec3(4.3278e9, 9.3046e9, 6.6121e9))
        * cos(vec3(1.6810e6, 1.7953e6, 2.2084e6) * phase + shift)
        * exp(-phase * phase * vec3(4.3278e9, 9.3046e9, 6.6121e9));
    xyz.x += 9.7470e-14 * sqrt(2.0 * PI * 4.5282e9) * cos(2.2399e6 * phase + shift.x)
        * exp(-4.5282e9 * phase * phase);
    xyz /= 1.0685e-7;
    return vec3(3.2404542 * xyz.x - 1.5371385 * xyz.y - 0.4985314 * xyz.z,
                -0.9692660 * xyz.x + 1.8760108 * xyz.y + 0.0415560 * xyz.z,
                0.0556434 * xyz.x - 0.2040259 * xyz.y + 1.0572252 * xyz.z);
}

vec3 schlick(vec3 f0, float cosine) { return f0 + (1.0 - f0) * schlick_weight(cosine); }

// Reflectance of a surface of this F0 under a thin film. KHR_materials_iridescence, appendix.
vec3 film_fresnel(vec3 base_f0, float film_ior, float thickness, float cosine) {
    // A film of vanishing thickness has the index of air.
    float ior = mix(1.0, film_ior, smoothstep(0.0, 0.03, thickness));
    float sine2 = (1.0 - cosine * cosine) / (ior * ior);
    if (sine2 >= 1.0) {
        return vec3(1.0);
    }
    float inside = sqrt(1.0 - sine2);
    float first = (ior - 1.0) / (ior + 1.0);
    float r12 = first * first + (1.0 - first * first) * schlick_weight(cosine);
    float t121 = 1.0 - r12;
    float phase12 = ior < 1.0 ? PI : 0.0;
    // Guards against an index of 1, as the extension does.
    vec3 root = sqrt(min(clamp(base_f0, 0.0, 1.0) + 1e-4, 0.9999));
    vec3 base_ior = (1.0 + root) / (1.0 - root);
    vec3 second = (base_ior - ior) / (base_ior + ior);
    vec3 r23 = schlick(second * second, inside);
    vec3 shift = vec3(PI - phase12) + mix(vec3(0.0), vec3(PI), lessThan(base_ior, vec3(ior)));
    vec3 both = clamp(r12 * r23, 1e-5, 0.9999);
    vec3 amplitude = sqrt(both);
    vec3 series = t121 * t121 * r23 / (1.0 - both);
    vec3 sum = r12 + series;
    vec3 term = series - t121;
    float path = 2.0 * ior * thickness * inside;
    for (int m = 1; m <= 2; ++m) {
        term *= amplitude;
        sum += term * 2.0 * film_sensitivity(float(m) * path, float(m) * shift);
    }
    // Clamps out-of-gamut colors, and values above 1, which would create energy.
    return clamp(sum, 0.0, 1.0);
}

// Unpolarized Fresnel reflectance between dielectrics of relative index `eta`.
float fresnel_exact(float cosine, float eta) {
    float sine2 = (1.0 - cosine * cosine) / (eta * eta);
    if (sine2 >= 1.0) {
        return 1.0;
    }
    float inside = sqrt(1.0 - sine2);
    float s = (cosine - eta * inside) / (cosine + eta * inside);
    float p = (inside - eta * cosine) / (inside + eta * cosine);
    return 0.5 * (s * s + p * p);
}

// Reflectances at a cosine between view and half vector with Schlick weight w.
struct Reflectances {
    vec3 opaque;               // of the opaque dielectric
    vec3 glass;
    vec3 metal;
};

Reflectances layer_fresnel(Surface s, Layers y, float cosine, float w) {
    Reflectances f;
    vec3 f0 = y.specular * y.f0;
    f.opaque = y.specular * mix(y.f0, vec3(1.0), w);
    f.metal = mix(s.base_color, vec3(1.0), w);
    f.glass = vec3(0.0);
    if (y.transmission > 0.0) {
        // Refraction follows Snell's law, so the exact Fresnel term replaces Schlick's.
        float r0 = (y.ior - 1.0) / (y.ior + 1.0);
        r0 *= r0;
        float rise = clamp((fresnel_exact(cosine, y.ior) - r0) / max(1.0 - r0, 1e-6), 0.0, 1.0);
        f.glass = y.specular * mix(y.f0, vec3(1.0), rise);
    }
    if (y.iridescence > 0.0) {
        for (int i = 0; i < 2; ++i) {
            bool metal = i == 1;
            vec3 film = film_fresnel(metal ? s.base_color : f0, y.film_ior, y.film_thickness,
                cosine);
            f.metal = metal ? mix(f.metal, film, y.iridescence) : f.metal;
            f.opaque = metal ? f.opaque : mix(f.opaque, film, y.iridescence);
            f.glass = metal ? f.glass : mix(f.glass, film, y.iridescence);
        }
    }
    return f;
}

// Reflectance of the specular lobe, mixed of metal, glass and opaque dielectric. With
// `multi_scatter` it includes interreflection among microfacets: Turquin 2019, "Practical multiple
// scattering compensation for microfacet models", equation 16. `all`: directional albedo of the
// lobe.
vec3 mixed_reflectance(Surface s, Layers y, Reflectances f, float all) {
    vec3 opaque = f.opaque;
    vec3 metal = f.metal;
    if (frame.multi_scatter != 0u) {
        float lost = (1.0 - max(all, 0.1)) / max(all, 0.1);
        opaque *= 1.0 + y.specular * y.f0 * lost;
        metal *= 1.0 + s.base_color * lost;
    }
    return mix(mix(opaque, f.glass, y.transmission), metal, s.metallic);
}

// Directional albedo of the base lobe; two alphas are replaced by their geometric mean.
float base_albedo(Layers y, float nv) {
    vec2 scale_bias = layer_albedo(nv, sqrt(sqrt(y.alphas.x * y.alphas.y))).xy;
    return scale_bias.x + scale_bias.y;
}

// Transmittance of the sheen layer for view and light cosines.
float below_sheen(Layers y, float nl, float nv) {
    float most = max3(y.sheen_color);
    if (!has_sheen(y)) {
        return 1.0;
    }
    float albedo = 0.0;
    for (int i = 0; i < 2; ++i) {
        albedo = max(albedo, layer_albedo(i == 0 ? nv : nl, y.sheen_roughness).z);
    }
    return 1.0 - most * albedo;
}

// Fresnel reflectance of the coat; the layers below receive the rest: KHR_materials_clearcoat.
float coat_fresnel(Surface s, Layers y) {
    float cosine = clamp(dot(y.coat_normal, s.view), 0.0, 1.0);
    return y.coat * (COAT_F0 + (1.0 - COAT_F0) * schlick_weight(cosine));
}

// As evaluate_brdf_sun_disk: per irradiance on a plane that faces the light, with the cosine
// (1/sr). One lobe per iteration, since functions are inlined at each call site: base, coat, base
// from behind.
void evaluate_extended_brdf(Surface s, Layers y, vec3 l, float radius, out vec3 diffuse,
    out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    bool disk = has_feature(FEATURE_SUN_DISKS) && radius > 0.0;
    // A disk that the surface's horizon cuts illuminates both sides.
    float sine = sin(radius);
    float nl = disk_cosine(dot(s.normal, l), sine);
    float behind = disk_cosine(-dot(s.normal, l), sine);
    float nv = max(dot(s.normal, s.view), 1e-4);
    float coat = coat_fresnel(s, y);
    float below = 1.0 - coat;
    float opaque = (1.0 - s.metallic) * (1.0 - y.transmission);
    float all = frame.multi_scatter != 0u ? base_albedo(y, nv) : 1.0;
    float coat_nl = dot(y.coat_normal, l);
    vec3 both = l + s.view;
    bool front = nl > 0.0 && dot(both, both) >= 1e-12;
    bool coated = front && y.coat > 0.0 && coat_nl > (disk ? -sine : 0.0);
    // Rough panes spread transmission as they spread reflection.
    bool spreads = y.thin && y.transmission > 0.0 && s.alpha > MIN_ALPHA;
    bool through = behind > 0.0 && (spreads || y.diffuse_transmission > 0.0);
    uint lobes = (front ? 1u : 0u) | (coated ? 2u : 0u) | (through ? 4u : 0u);
    while (lobes != 0u) {
        bool is_coat = has_feature(FEATURE_CLEARCOAT) && (lobes & 3u) == 2u;
        bool is_behind = (lobes & 3u) == 0u;
        lobes &= lobes - 1u;
        vec3 n = is_coat ? y.coat_normal : s.normal;
        // Light from behind uses the half vector of its mirror image on the viewer's side.
        vec3 towards = is_behind ? l - 2.0 * dot(s.normal, l) * s.normal : l;
        float cosine = is_behind ? behind : nl;
        vec3 h = towards + s.view;
        h *= inversesqrt(max(dot(h, h), 1e-12));
        float vh = clamp(dot(s.view, h), 0.0, 1.0);
        bool even = is_coat || is_isotropic(y);
        float alpha = is_coat ? y.coat_alpha : s.alpha;
        // D V, without the cosine; for a disk the mean of D V n.l, and the cosine between the view
        // and its representative half vector.
        float lobe;
        if (disk) {
            mat3 axes = even ? orthonormal_basis(n) : mat3(y.tangent, y.bitangent, n);
            MirroredDisk mirrored = mirrored_disk(s.view * axes, towards * axes, radius,
                even ? vec2(alpha) : y.alphas);
            lobe = mirrored.lobe;
            vh = mirrored.vh;
        } else {
            vec3 local_h = vec3(dot(y.tangent, h), dot(y.bitangent, h), dot(n, h));
            vec3 local_l = vec3(dot(y.tangent, towards), dot(y.bitangent, towards), cosine);
            vec3 local_v = vec3(dot(y.tangent, s.view), dot(y.bitangent, s.view), nv);
            float d = even ? d_ggx(n, h, clamp(dot(n, h), 0.0, 1.0), alpha)
                : d_ggx_anisotropic(local_h, y.alphas);
            d = is_coat ? coat * coat_nl * d : d;
            lobe = d * (even ? v_smith(is_coat ? coat_nl : cosine,
                is_coat ? max(dot(n, s.view), 1e-4) : nv, alpha)
                : v_smith_anisotropic(local_l, local_v, y.alphas));
        }
        if (is_coat) {
            specular += disk ? coat * lobe : lobe;
            continue;
        }
        lobe = disk ? lobe : lobe * cosine;
        Reflectances f = layer_fresnel(s, y, vh, schlick_weight(vh));
        float under = below * below_sheen(y, cosine, nv);
        if (is_behind) {
            under *= 1.0 - s.metallic;
            diffuse += under * (1.0 - y.transmission) * y.diffuse_transmission
                * (1.0 - max3(f.opaque)) / PI * behind * y.diffuse_transmission_color;
            if (spreads) {
                specular += under * y.transmission * (1.0 - max3(f.glass)) * lobe * s.base_color;
            }
        } else {
            diffuse = under * opaque * (1.0 - y.diffuse_transmission) * (1.0 - max3(f.opaque)) / PI
                * nl * s.base_color;
            specular = under * lobe * mixed_reflectance(s, y, f, all);
            if (has_sheen(y)) {
                specular += below * y.sheen_color * sheen_lobe(y, nl, nv,
                    clamp(dot(s.normal, h), 0.0, 1.0));
            }
        }
    }
}

#endif
