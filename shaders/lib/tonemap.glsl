// Tone mapping operators from exposed linear Rec.709 to display light, 0 to 1. Mirrors
// src/camera/tonemap.rs, which cites the sources; a test compares both.
#ifndef LIB_TONEMAP
#define LIB_TONEMAP

vec3 sanitize(vec3 c) {
    // NaN fails every comparison, so it selects 0.
    return min(mix(vec3(0.0), c, greaterThan(c, vec3(0.0))), vec3(65504.0));
}

vec3 tone_aces(vec3 c) {
    const mat3 input_matrix = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823,
        0.01566, 0.83777);
    const mat3 output_matrix = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276,
        -0.07367, -0.00605, 1.07602);
    vec3 v = input_matrix * c;
    vec3 a = v * (v + 0.0245786) - 0.000090537;
    vec3 b = v * (0.983729 * v + 0.4329510) + 0.238081;
    return clamp(output_matrix * (a / b), 0.0, 1.0);
}

vec3 tone_agx(vec3 c) {
    const mat3 to_2020 = mat3(0.6274039, 0.06909729, 0.01639144, 0.32928304, 0.9195404, 0.08801331,
        0.043313067, 0.011362316, 0.89559525);
    const mat3 to_709 = mat3(1.660491, -0.12455047, -0.018150763, -0.58764114, 1.1328999,
        -0.1005789, -0.07284986, -0.008349423, 1.1187297);
    const mat3 inset = mat3(0.85662715, 0.13731897, 0.11189821, 0.09512124, 0.761242, 0.07679942,
        0.048251606, 0.10143904, 0.81130237);
    const mat3 outset = mat3(1.1271006, -0.14132976, -0.14132976, -0.11060664, 1.1578237,
        -0.11060664, -0.016493939, -0.016493939, 1.2519364);
    const float min_ev = -12.47393;
    const float max_ev = 4.026069;
    vec3 v = inset * (to_2020 * c);
    vec3 x = clamp((log2(max(v, vec3(1e-10))) - min_ev) / (max_ev - min_ev), 0.0, 1.0);
    vec3 x2 = x * x;
    vec3 x4 = x2 * x2;
    vec3 s = 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2
        + 0.1191 * x - 0.00232;
    vec3 display = pow(max(outset * s, vec3(0.0)), vec3(2.2));
    return clamp(to_709 * display, 0.0, 1.0);
}

vec3 tone_pbr_neutral(vec3 c) {
    const float start = 0.8 - 0.04;
    const float desaturation = 0.15;
    float least = min(c.r, min(c.g, c.b));
    c -= least < 0.08 ? least - 6.25 * least * least : 0.04;
    float peak = max(c.r, max(c.g, c.b));
    if (peak < start) {
        return clamp(c, 0.0, 1.0);
    }
    const float d = 1.0 - start;
    float new_peak = 1.0 - d * d / (peak + d - start);
    c *= new_peak / peak;
    float g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
    return clamp(mix(c, vec3(new_peak), g), 0.0, 1.0);
}

vec3 tone_map(uint operator, vec3 exposed) {
    vec3 c = sanitize(exposed);
    switch (operator) {
        case 1u: return tone_aces(c);
        case 2u: return tone_agx(c);
        case 3u: return tone_pbr_neutral(c);
        default: return clamp(c, 0.0, 1.0);
    }
}

// IEC 61966-2-1.
vec3 srgb_encode(vec3 c) {
    return mix(12.92 * c, 1.055 * pow(max(c, vec3(1e-10)), vec3(1.0 / 2.4)) - 0.055,
        greaterThan(c, vec3(0.0031308)));
}

#endif
