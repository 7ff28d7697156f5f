// A disk of light infinitely far away (a sun) on a surface: closed forms, so that a highlight is
// never brighter than the disk is. `brdf.glsl` comes before it.
#ifndef LIB_DISK
#define LIB_DISK
#include "lib/ggx_sampling.glsl"

// The mean cosine to a normal over a disk's directions, none below the horizon: `z` is that of its
// middle. Stokes' theorem on the cone under which it is seen (Snyder 1996, "Area light sources for
// real-time graphics").
float disk_cosine(float z, float sine) {
    if (abs(z) >= sine) {
        return max(z, 0.0);
    }
    float cosine = sqrt(max(1.0 - sine * sine, 0.0));
    float slope = sqrt(max(1.0 - z * z, 1e-12));
    float cos_half = clamp(-cosine * z / (sine * slope), -1.0, 1.0);
    float sin_half = sqrt(max(1.0 - cos_half * cos_half, 0.0));
    float along = cosine * slope - sine * z * cos_half;
    float sum = sine * sine * acos(cos_half) * z - sine * cosine * slope * sin_half + atan(sine * sin_half, along);
    return max(sum, 0.0) / (PI * sine * sine);
}

// What a lobe mirrors of a disk.
struct MirroredDisk {
    float lobe;        // mean of D V n.l over the disk (1/sr)
    float vh;          // cosine between the view and the half vector that stands for it
};

// The largest eigenvalue of a symmetric matrix that has one positive one, by its invariants;
// `deviation` and `skew` are those of its deviator. Smith 1961, "Eigenvalues of a symmetric 3 x 3
// matrix"; the arc cosine loses digits where the others are much larger, which Newton's steps from
// above give back.
float positive_eigenvalue(float trace, float minors, float determinant, float deviation, float skew) {
    float x = trace / 3.0 + 2.0 * deviation * cos(acos(clamp(skew, -1.0, 1.0)) / 3.0) + 1e-3 * deviation;
    x = minors > 0.0 ? min(x, determinant / minors) : x;
    for (int i = 0; i < 4; ++i) {
        float value = ((x - trace) * x + minors) * x - determinant;
        float slope = (3.0 * x - 2.0 * trace) * x + minors;
        x -= slope > 0.0 ? value / slope : 0.0;
    }
    return x;
}

// GGX's facets that mirror a disk around `l` to `v` (both unit, in the surface's frame) have the
// half vectors of an elliptic cone, exactly: through the circle that the view and the disk's edge
// add up to. Their slopes over alpha are spread as a cosine's directions are (Heitz, Dupuy, Hill
// and Neubelt 2016, section 3), so that the share of facets is the cone's vector irradiance, whose
// axis is the cone's. What else the BRDF has is taken at the mean half vector of the cone. Of disks
// that do not hold -v.
MirroredDisk mirrored_cone(vec3 v, vec3 l, float radius, vec2 alphas) {
    float sine = sin(radius);
    // The sum of both, and what it takes to be one: without cancellation where they are nearly
    // opposite.
    vec3 both = v + l;
    float half_sine = sin(0.5 * radius);
    float less = 2.0 * half_sine * half_sine;
    float apart = 0.5 * dot(both, both) - less;
    mat3 axes = orthonormal_basis(l);
    vec3 scale = vec3(1.0 / alphas, 1.0);
    vec3 c = (both - l * less) * scale;
    vec3 a = axes[0] * scale * sine;
    vec3 b = axes[1] * scale * sine;
    // Planes that touch the cone have normals n with n.(c c - a a - b b).n = 0: one positive
    // eigenvalue, along its axis.
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
    float skew = 0.5 * (off.x * off.y * off.z + 2.0 * side.x * side.y * side.z - dot(off, side * side));
    float value = positive_eigenvalue(trace, minors, determinant, deviation, skew);
    // The axis: a column of the adjugate of what is left without the eigenvalue, the greatest.
    vec3 d = diagonal - value;
    vec3 own = d.yzx * d.zxy - rest * rest;
    vec3 mixed = rest.yzx * rest.zxy - rest * d;
    vec3 axis = own.x >= max(own.y, own.z) ? vec3(own.x, mixed.z, mixed.y)
        : own.y >= own.z ? vec3(mixed.z, own.y, mixed.x) : vec3(mixed.y, mixed.x, own.z);
    axis *= inversesqrt(max(dot(axis, axis), 1e-36));
    axis = dot(axis, c) < 0.0 ? -axis : axis;
    if (axis.z < 0.1) {
        // Far from the lobe a difference of large numbers has no digits left for what is small.
        axis.z = (c.z * dot(c, axis) - a.z * dot(a, axis) - b.z * dot(b, axis)) / value;
    }
    // The cone's half angles have the squared tangents of the other two eigenvalues over this one.
    float product = determinant / value;
    float share = max(axis.z, 0.0) * sqrt(product / (2.0 * value * value - value * trace + product));
    vec3 h = normalize(axis / scale);
    float vh = clamp(dot(v, h), 0.0, 1.0);
    // Of a disk that the surface's horizon cuts the mean direction may lie below it, and what is
    // above shines all the same.
    float least = l.z < sine ? disk_cosine(l.z, sine) : 0.0;
    l = 2.0 * vh * h - v;
    l.z = max(l.z, least);
    float visible = l.z * v_smith_anisotropic(l, v, alphas);
    // No mirror is brighter than what it shows.
    share = min(share * 4.0 * vh * visible / max(h.z, 1e-6), 1.0);
    return MirroredDisk(share / (PI * sine * sine), vh);
}

// D V n.l of a direction to the light `l`, at most `most`.
float lobe_towards(vec3 v, vec3 l, vec2 alphas, float most, out float vh) {
    vec3 h = normalize(l + v);
    vh = clamp(dot(v, h), 0.0, 1.0);
    return l.z > 0.0 ? min(d_ggx_anisotropic(h, alphas) * v_smith_anisotropic(l, v, alphas) * l.z, most) : 0.0;
}

// What facets mirror of a disk of that angular radius (rad) around `l` to `v`, both unit and in the
// surface's frame.
MirroredDisk mirrored_disk(vec3 v, vec3 l, float radius, vec2 alphas) {
    v.z = max(v.z, 1e-4);
    // A disk that holds the direction away from the viewer, along the surface: half vectors lie all
    // around, in no cone. It is known by the disk within it around the mirror direction, and by a
    // few directions: the greater of both. Over all such disks that is within a factor of two as a
    // rule, too dark as a rule, and never brighter than the disk.
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
            // Sunflower: even by area.
            float out_by = sine * sqrt(i / COUNT);
            float turn = 2.399963 * i;
            float vh;
            float lobe = lobe_towards(v, axes * vec3(out_by * cos(turn), out_by * sin(turn), sqrt(1.0 - out_by * out_by)), alphas,
                                      1.0 / (PI * sine * sine), vh);
            sum += lobe;
            vhs += lobe * vh;
        }
        // Also where the disk's is no number.
        if (!(sum <= COUNT * disk.lobe)) {
            disk = MirroredDisk(sum / COUNT, vhs / max(sum, 1e-30));
        }
    }
    return disk;
}

// As evaluate_brdf, under a disk of that angular radius (rad) around l; of radius 0, the same.
void evaluate_brdf_sun_disk(Surface s, vec3 l, float radius, out vec3 diffuse, out vec3 specular) {
    if (radius <= 0.0) {
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
    float lets_in = 1.0 - mix(DIELECTRIC_F0, 1.0, schlick_weight(clamp(dot(s.view, h) * inversesqrt(length2), 0.0, 1.0)));
    vec3 f = mix(mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic), vec3(1.0), w);
    diffuse = (1.0 - s.metallic) * lets_in / PI * nl * s.base_color;
    specular = disk.lobe * f;
}

#endif
