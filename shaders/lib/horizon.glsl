// Environment light above the geometric horizon of a normal-mapped surface, for surfaces without
// visibility rays (docs/environment.md). `brdf.glsl` comes before it.
#ifndef LIB_HORIZON
#define LIB_HORIZON
#include "lib/ggx_sampling.glsl"

// Samples of the specular lobe.
const uint HORIZON_SAMPLES = 32u;

// Diffuse and specular fraction, 0 to 1, of uniform environment light from the upper side of the
// triangle. `geometric`: unit normal of the triangle, on the side of the viewer.
//
// Diffuse: the irradiance of the part of the hemisphere above a plane that is tilted by an angle is
// (1 + cos) / 2 of that of the hemisphere (the form factor of a tilted plane and the sky).
// Specular: quadrature over visible normals in a Hammersley set.
vec2 light_above_horizon(Surface s, vec3 geometric) {
    vec3 f0 = mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic);
    float f0_most = max(f0.r, max(f0.g, f0.b));
    float all = 1e-20;
    float above = 0.0;
    for (uint i = 0u; i < HORIZON_SAMPLES; ++i) {
        vec3 l = sample_reflection(s, vec2(float(bitfieldReverse(i) >> 8u) / 16777216.0,
            (float(i) + 0.5) / float(HORIZON_SAMPLES)));
        float w = schlick_weight(clamp(dot(s.view, normalize(l + s.view)), 0.0, 1.0));
        float weight = vndf_weight(s, l) * mix(f0_most, 1.0, w);
        all += weight;
        above += dot(l, geometric) > 0.0 ? weight : 0.0;
    }
    return vec2(0.5 + 0.5 * clamp(dot(s.normal, geometric), 0.0, 1.0), above / all);
}

#endif
