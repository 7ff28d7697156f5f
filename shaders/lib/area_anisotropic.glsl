// Anisotropic specular lobes for lib/area.glsl (KHR_materials_anisotropy): a general linear
// transform replaces the isotropic three-parameter LTC transform. The transform only places the
// quadrature nodes; their weights are those of the true BRDF.
#ifndef LIB_AREA_STRETCHED
#define LIB_AREA_STRETCHED

// The lobe's alphas along the tangent and across it, and the tangent (unit, world axes). Set them
// before the integration.
vec2 lobe_alphas;
vec3 lobe_along;

// Derived values in the surface's frame: the tangent, the transform and its inverse.
vec2 lobe_axis;
vec2 lobe_center;
vec3 lobe_lower;       // Cholesky factor L of the squared spread: L00, L10, L11

// Maps the anisotropic spread of the half-vector slopes to directions, by the scale of the
// isotropic transform: its radii over alpha are the factors per slope in either direction.
void set_anisotropic_lobe(vec3 m, float alpha, mat3 frame_of) {
    vec2 along = (frame_of * lobe_along).xy;
    float l2 = dot(along, along);
    lobe_axis = l2 > 1e-12 ? along * inversesqrt(l2) : vec2(1.0, 0.0);
    lobe_center = vec2(-m.y / m.x, 0.0);
    vec2 k = 1.0 / (m.xz * alpha);
    vec2 t = lobe_axis * k * lobe_alphas.x;
    vec2 b = vec2(-lobe_axis.y, lobe_axis.x) * k * lobe_alphas.y;
    float c00 = t.x * t.x + b.x * b.x;
    float c01 = t.x * t.y + b.x * b.y;
    float l00 = sqrt(c00);
    // The determinant of the squared spread is known: (k.x k.y alpha_t alpha_b)^2.
    lobe_lower = vec3(l00, c01 / l00, k.x * k.y * lobe_alphas.x * lobe_alphas.y / l00);
}

vec3 to_lobe(vec3 m, vec3 p) {
    vec2 q = p.xy - lobe_center * p.z;
    float x = q.x / lobe_lower.x;
    return vec3(x, (q.y - lobe_lower.y * x) / lobe_lower.z, p.z);
}

vec3 from_lobe(vec3 m, vec3 p) {
    return vec3(lobe_lower.x * p.x, lobe_lower.y * p.x + lobe_lower.z * p.y, 0.0)
        + vec3(lobe_center * p.z, p.z);
}

float lobe_determinant(vec3 m) { return 1.0 / (lobe_lower.x * lobe_lower.z); }

// D V n.l and Schlick weight for view and light directions in the surface's frame; matches
// evaluate_extended_brdf.
vec2 lobe_at(vec3 v, vec3 l, float alpha) {
    vec3 h = l + v;
    float length2 = dot(h, h);
    if (l.z <= 0.0 || length2 < 1e-12) {
        return vec2(0.0);
    }
    h *= inversesqrt(length2);
    mat2 turn = mat2(lobe_axis.x, -lobe_axis.y, lobe_axis.y, lobe_axis.x);
    vec3 local_h = vec3(turn * h.xy, h.z);
    float dv = d_ggx_anisotropic(local_h, lobe_alphas)
        * v_smith_anisotropic(vec3(turn * l.xy, l.z), vec3(turn * v.xy, max(v.z, 1e-4)),
            lobe_alphas);
    return vec2(dv * l.z, schlick_weight(dot(v, h)));
}

#endif
