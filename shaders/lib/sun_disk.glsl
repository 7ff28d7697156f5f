// BRDF integrals over a sun: a uniform disk at infinite distance, in closed form, so that a
// highlight is never brighter than the disk. `brdf.glsl` comes before it.
#ifndef LIB_DISK
#define LIB_DISK
#include "lib/features.glsl"
#include "lib/ggx_sampling.glsl"

// Mean clamped cosine over the directions of a disk; `z` is the cosine to its center. Stokes'
// theorem on the cone of its directions (Snyder 1996, "Area light sources for real-time graphics").
float disk_cosine(float z, float sine) {
    if (abs(z) >= sine) {
        return max(z, 0.0);
    }
    float cosine = sqrt(max(1.0 - sine * sine, 0.0));
    float slope = sqrt(max(1.0 - z * z, 1e-12));
    float cos_half = clamp(-cosine * z / (sine * slope), -1.0, 1.0);
    float sin_half = sqrt(max(1.0 - cos_half * cos_half, 0.0));
    float along = cosine * slope - sine * z * cos_half;
    float sum = sine * sine * acos(cos_half) * z - sine * cosine * slope * sin_half
        + atan(sine * sin_half, along);
    return max(sum, 0.0) / (PI * sine * sine);
}

// Reflection of a disk by a specular lobe.
struct MirroredDisk {
    float lobe;        // mean of D V n.l over the disk (1/sr)
    float vh;          // cosine between the view and the representative half vector
};

// Largest eigenvalue of a symmetric matrix with one positive eigenvalue, by its invariants;
// `deviation` and `skew` are those of its deviator. Smith 1961, "Eigenvalues of a symmetric 3 x 3
// matrix". The arc cosine loses precision where the other eigenvalues are much larger; Newton
// iterations from above restore it.
float positive_eigenvalue(float trace, float minors, float determinant, float deviation,
    float skew) {
    float x = trace / 3.0 + 2.0 * deviation * cos(acos(clamp(skew, -1.0, 1.0)) / 3.0)
        + 1e-3 * deviation;
    x = minors > 0.0 ? min(x, determinant / minors) : x;
    for (int i = 0; i < 4; ++i) {
        float value = ((x - trace) * x + minors) * x - determinant;
        float slope = (3.0 * x - 2.0 * trace) * x + minors;
        x -= slope > 0.0 ? value / slope : 0.0;
    }
    return x;
}

// Reflection of a disk around `l` toward `v` (both unit, in the surface's frame) by GGX
// microfacets. The half vectors form an exact elliptic cone, through the circle of sums of the view
// and the disk's edge. Slopes over alpha are distributed as the directions of a cosine lobe (Heitz,
// Dupuy, Hill and Neubelt 2016, section 3), so the facet fraction is the vector irradiance of the
// cone, along its axis. The other BRDF terms use the cone's mean half vector. Valid for disks that
// do not contain -v.
MirroredDisk mirrored_cone(vec3 v, vec3 l, float radius, vec2 alphas) {
    float sine = sin(radius);
    // Sum of both directions and its distance from a unit vector, without cancellation where they
    // are nearly opposite.
    vec3 both = v + l;
    float half_sine = sin(0.5 * radius);
    float less = 2.0 * half_sine * half_sine;
    float apart = 0.5 * dot(both, both) - less;
    mat3 axes = orthonormal_basis(l);
    vec3 scale = vec3(1.0 / alphas, 1.0);
    vec3 c = (both - l * less) * scale;
    vec3 a = axes[0] * scale * sine;
    vec3 b = axes[1] * scale * sine;
    // Planes tangent to the cone have normals n with n.(c c - a a - b b).n = 0: one positive
    // eigenvalue, along the axis.
    vec3 diagonal = c * c - a * a - b * b;
    vec3 rest = c.yzx * c.zxy - a.yzx * a.zxy - b.yzx * b.zxy;
    float trace = diagonal.x + diagonal.y + diagonal.z;
    vec3 ab = cross(a, b);
    vec3 ca = cross(c, a);
    vec3 cb = cross(c, b);
    float minors = dot(ab, ab) - dot(ca, ca) - dot(cb, cb);
    float volume = scale.x * scale.y * sine * sine * apart;
    float determinant = volume * volume;
    vec3 off = diagonal - trace / 3.0;
    float deviation = sqrt((dot(off, off) + 2.0 * dot(rest, rest)) / 6.0);
    off /= deviation;
    vec3 side = rest / deviation;
    float skew = 0.5 * (off.x * off.y * off.z + 2.0 * side.x * side.y * side.z
        - dot(off, side * side));
    float value = positive_eigenvalue(trace, minors, determinant, deviation, skew);
    // The axis: the largest column of the adjugate of the matrix minus the eigenvalue.
    vec3 d = diagonal - value;
    vec3 own = d.yzx * d.zxy - rest * rest;
    vec3 mixed = rest.yzx * rest.zxy - rest * d;
    vec3 axis = own.x >= max(own.y, own.z) ? vec3(own.x, mixed.z, mixed.y)
        : own.y >= own.z ? vec3(mixed.z, own.y, mixed.x) : vec3(mixed.y, mixed.x, own.z);
    axis *= inversesqrt(max(dot(axis, axis), 1e-36));
    axis = dot(axis, c) < 0.0 ? -axis : axis;
    if (axis.z < 0.1) {
        // Far from the lobe the small component is lost to cancellation: recompute it.
        axis.z = (c.z * dot(c, axis) - a.z * dot(a, axis) - b.z * dot(b, axis)) / value;
    }
    // The squared tangents of the cone's half angles are the other two eigenvalues over this one.
    float product = determinant / value;
    float share = max(axis.z, 0.0)
        * sqrt(product / (2.0 * value * value - value * trace + product));
    vec3 h = normalize(axis / scale);
    float vh = clamp(dot(v, h), 0.0, 1.0);
    // For a disk that the surface's horizon cuts, the mean direction may be below it although part
    // of the disk is visible.
    float least = l.z < sine ? disk_cosine(l.z, sine) : 0.0;
    l = 2.0 * vh * h - v;
    l.z = max(l.z, least);
    float visible = l.z * v_smith_anisotropic(l, v, alphas);
    // A mirror is never brighter than what it reflects.
    share = min(share * 4.0 * vh * visible / max(h.z, 1e-6), 1.0);
    return MirroredDisk(share / (PI * sine * sine), vh);
}

// D V n.l of a light direction `l`, at most `most`.
float lobe_towards(vec3 v, vec3 l, vec2 alphas, float most, out float vh) {
    vec3 h = normalize(l + v);
    vh = clamp(dot(v, h), 0.0, 1.0);
    return l.z > 0.0 ? min(d_ggx_anisotropic(h, alphas) * v_smith_anisotropic(l, v, alphas) * l.z,
        most) : 0.0;
}

// Specular reflection of a disk of this angular radius (rad) around `l` toward `v`, both unit and
// in the surface's frame.
MirroredDisk mirrored_disk(vec3 v, vec3 l, float radius, vec2 alphas) {
    v.z = max(v.z, 1e-4);
    // For a disk that contains -v, half vectors lie in all directions and form no cone. The result
    // is the maximum of two estimates: the inscribed disk around the mirror direction, and a few
    // sample directions. Its error over such disks is usually within a factor of two, usually too
    // dark, and never brighter than the disk.
    bool around = length(v + l) <= 2.0 * sin(0.5 * radius);
    vec3 mirror = vec3(-v.xy, v.z);
    float within = radius - 2.0 * asin(min(0.5 * length(mirror - l), 1.0));
    float inner = around ? max(min(within, 1.8 * asin(min(v.z, 1.0))), 1e-4) : radius;
    MirroredDisk disk = mirrored_cone(v, around ? mirror : l, inner, alphas);
    if (around) {
        float sine = sin(radius);
        float part = sin(inner) / sine;
        disk.lobe *= part * part;
        mat3 axes = orthonormal_basis(l);
        const float COUNT = 8.0;
        float sum = 0.0;
        float vhs = 0.0;
        for (float i = 0.5; i < COUNT; ++i) {
            // Vogel spiral: uniform by area.
            float out_by = sine * sqrt(i / COUNT);
            float turn = 2.399963 * i;
            float vh;
            float lobe = lobe_towards(v, axes * vec3(out_by * cos(turn), out_by * sin(turn),
                sqrt(1.0 - out_by * out_by)), alphas,
                                      1.0 / (PI * sine * sine), vh);
            sum += lobe;
            vhs += lobe * vh;
        }
        // Also taken where the disk's estimate is NaN.
        if (!(sum <= COUNT * disk.lobe)) {
            disk = MirroredDisk(sum / COUNT, vhs / max(sum, 1e-30));
        }
    }
    return disk;
}

// As evaluate_brdf, under a disk of this angular radius (rad) around l; equal to it for radius 0.
void evaluate_brdf_sun_disk(Surface s, vec3 l, float radius, out vec3 diffuse, out vec3 specular) {
    if (!has_feature(FEATURE_SUN_DISKS) || radius <= 0.0) {
        evaluate_brdf(s, l, diffuse, specular);
        return;
    }
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    float nl = disk_cosine(dot(s.normal, l), sin(radius));
    vec3 h = l + s.view;
    float length2 = dot(h, h);
    if (nl <= 0.0 || length2 < 1e-12) {
        return;
    }
    mat3 axes = orthonormal_basis(s.normal);
    MirroredDisk disk = mirrored_disk(s.view * axes, l * axes, radius, vec2(s.alpha));
    float w = schlick_weight(disk.vh);
    float lets_in = 1.0 - mix(DIELECTRIC_F0, 1.0,
        schlick_weight(clamp(dot(s.view, h) * inversesqrt(length2), 0.0, 1.0)));
    vec3 f = mix(mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic), vec3(1.0), w);
    diffuse = (1.0 - s.metallic) * lets_in / PI * nl * s.base_color;
    specular = disk.lobe * f;
}

#endif
