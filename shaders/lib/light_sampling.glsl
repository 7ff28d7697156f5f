// Samples on lights: shadow rays from the origin of lib/shadow_ray_origin.glsl (docs/shadows.md).
#ifndef LIB_LIGHT_SAMPLING
#define LIB_LIGHT_SAMPLING
#include "lib/ggx_sampling.glsl"
#include "lib/shadow_ray_origin.glsl"

// Interleaved gradient noise: Jimenez 2014, "Next Generation Post Processing in Call of Duty:
// Advanced Warfare".
float gradient_noise(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

// Sample i of n: Hammersley set with a Cranley-Patterson rotation per pixel (Cranley and Patterson
// 1976).
vec2 light_sample(uint i, uint n, vec2 shift) {
    return fract(vec2((float(i) + 0.5) / float(n), float(bitfieldReverse(i)) * (1.0 / 4294967296.0))
        + shift);
}

// Area-preserving map from the unit square to the unit disk. Shirley and Chiu 1997.
vec2 concentric(vec2 u) {
    vec2 p = u * 2.0 - 1.0;
    bool x = abs(p.x) > abs(p.y);
    float r = x ? p.x : p.y;
    float angle = r == 0.0 ? 0.0 : x ? PI / 4.0 * p.y / p.x : PI / 2.0 - PI / 4.0 * p.x / p.y;
    return r * vec2(cos(angle), sin(angle));
}

// Area-preserving map from the unit disk to directions in the cone about axes[2] with 1 - cos <=
// height.
vec3 in_cone(mat3 axes, float height, vec2 disk) {
    float low = dot(disk, disk) * height;
    // sin = sqrt(low (2 - low)), and the disk's radius is sqrt(low / height).
    return axes[2] * (1.0 - low) + (axes[0] * disk.x + axes[1] * disk.y)
        * sqrt(height * (2.0 - low));
}

// Uniform sample of the unit disk's segment above the height `low`. The segment up to the angle t
// from the top has the area t - sin t cos t, which Newton iterations invert from the nearer end.
vec2 in_segment(float low, vec2 u) {
    float whole = acos(clamp(low, -1.0, 1.0));
    float area = u.y * (whole - sin(whole) * cos(whole));
    float rest = min(area, PI - area);
    float t = pow(1.5 * rest, 1.0 / 3.0);
    for (int i = 0; i < 3; ++i) {
        float sine = sin(t);
        t = max(t - (t - sine * cos(t) - rest) / max(2.0 * sine * sine, 1e-6), 0.0);
    }
    float height = area > rest ? -cos(t) : cos(t);
    return vec2((2.0 * u.x - 1.0) * sin(t), height);
}

// Sample on a sun or a sphere, uniform by the solid angle of the sun's part above the horizon or of
// the sphere; as sample_light. `disk`: the same sample on the unit disk.
vec4 sample_ball(Light light, vec3 d, vec3 normal, vec2 u, vec2 disk) {
    bool sun = (light.kind & LIGHT_KIND_BITS) == LIGHT_DIRECTIONAL;
    float d2 = dot(d, d);
    float sine2 = light.half_width * light.half_width / d2;
    if (!sun && sine2 >= 1.0) {
        return vec4(0.0);
    }
    float half_sine = sin(0.5 * light.half_height);
    // 1 - cos without cancellation.
    float height = sun ? 2.0 * half_sine * half_sine : sine2 / (1.0 + sqrt(1.0 - sine2));
    vec3 axis = sun ? light.position : d * inversesqrt(d2);
    mat3 axes = orthonormal_basis(axis);
    bool cut = sun && light.half_width < light.half_height;
    if (cut) {
        vec3 right = normalize(vec3(-axis.z, 0.0, axis.x) + vec3(1e-9, 0.0, 0.0));
        axes = mat3(right, cross(right, axis), axis);
        disk = in_segment(-axis.y / (2.0 * half_sine), u);
    }
    vec3 l = in_cone(axes, height, disk);
    if (sun) {
        l.y = cut ? max(l.y, 1e-6) : l.y;
        return vec4(l * 1e9, light.half_width > 0.0 ? dot(normal, l) : 1.0);
    }
    float along = dot(d, l);
    float t = along - sqrt(max(light.half_width * light.half_width - (d2 - along * along), 0.0));
    return vec4(l * t, dot(normal, l));
}

// Uniform sample of a rectangle by solid angle, in its own axes from the eye: `low` and `high` are
// its corners at the depth z0 < 0. w = 0 where it is so small that uniform area sampling suffices.
// Ureña, Fajardo and King 2013, "An Area-Preserving Parametrization for Spherical Rectangles",
// section 3.
vec4 in_spherical_rectangle(vec2 low, vec2 high, float z0, vec2 u) {
    vec3 n0 = normalize(vec3(0.0, z0, -low.y));
    vec3 n1 = normalize(vec3(-z0, 0.0, high.x));
    vec3 n2 = normalize(vec3(0.0, -z0, high.y));
    vec3 n3 = normalize(vec3(z0, 0.0, -low.x));
    float k = 2.0 * PI - acos(clamp(-dot(n2, n3), -1.0, 1.0))
        - acos(clamp(-dot(n3, n0), -1.0, 1.0));
    float solid_angle = acos(clamp(-dot(n0, n1), -1.0, 1.0)) + acos(clamp(-dot(n1, n2), -1.0, 1.0))
        - k;
    if (solid_angle < 0.2) {
        return vec4(0.0);
    }
    float a = u.x * solid_angle + k;
    float f = (cos(a) * n0.z - n2.z) / (abs(sin(a)) < 1e-7 ? 1e-7 : sin(a));
    float c = clamp((f > 0.0 ? 1.0 : -1.0) * inversesqrt(max(f * f + n0.z * n0.z, 1e-12)),
        -0.9999999, 0.9999999);
    float x = clamp(-(c * z0) * inversesqrt(max(1.0 - c * c, 1e-12)), low.x, high.x);
    float d = sqrt(x * x + z0 * z0);
    float h0 = low.y * inversesqrt(d * d + low.y * low.y);
    float h1 = high.y * inversesqrt(d * d + high.y * high.y);
    float h = h0 + u.y * (h1 - h0);
    float y = h * h < 1.0 - 1e-6 ? h * d * inversesqrt(1.0 - h * h) : high.y;
    return vec4(x, clamp(y, low.y, high.y), z0, 1.0);
}

// Shadow rays end this fraction of their length before the light, so that geometry on the light's
// surface does not occlude it.
const float LIGHT_RAY_MARGIN = 1e-4;

// Shadow ray to a light sample; its length is the distance to the light. w: contribution to the
// illuminance if unoccluded, up to a factor common to all samples.
vec4 sample_light(Light light, vec3 normal, vec2 u) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    vec3 d = light.position - ray_origin;
    if (kind == LIGHT_POINT) {
        return vec4(d, 1.0);
    }
    vec2 disk = concentric(u);
    if (kind == LIGHT_DIRECTIONAL || kind == LIGHT_SPHERE) {
        return sample_ball(light, d, normal, u, disk);
    }
    vec3 up = cross(light.direction, light.right);
    vec3 facing = light.direction;
    if (kind == LIGHT_RECTANGLE) {
        // Uniform area samples rarely hit the relevant part of a rectangle much larger than its
        // distance.
        float depth = -dot(facing, d);
        bool shines = depth > 0.0 || (light.kind & LIGHT_TWO_SIDED) != 0u;
        vec2 middle = vec2(dot(d, light.right), dot(d, up));
        vec2 half_size = vec2(light.half_width, light.half_height);
        float z0 = -max(abs(depth), 1e-6 * max_of(abs(d)));
        vec4 at = in_spherical_rectangle(middle - half_size, middle + half_size, z0, u);
        if (at.w > 0.0) {
            vec3 l = light.right * at.x + up * at.y + facing * (depth > 0.0 ? z0 : -z0);
            return vec4(l, shines ? max(dot(normal, normalize(l)), 0.0) : 0.0);
        }
    }
    vec2 p = u * 2.0 - 1.0;
    vec2 size = vec2(light.half_width, light.half_height);
    if (kind == LIGHT_TUBE) {
        // Visible outline: a strip through the axis; each round end counts by its area.
        facing = d - light.right * dot(d, light.right);
        facing *= -inversesqrt(max(dot(facing, facing), 1e-24));
        up = cross(facing, light.right);
        size = vec2(light.half_height + PI / 4.0 * light.half_width, light.half_width);
    } else if (kind == LIGHT_DISK) {
        p = disk;
        size = vec2(light.half_width);
    } else if (kind == LIGHT_TRIANGLE) {
        // Uniform on its area, relative to its centroid (Turk 1990, "Generating Random Points in
        // Triangles", Graphics Gems).
        float root = sqrt(u.x);
        vec2 weights = vec2(1.0 - root, root * u.y) - 1.0 / 3.0;
        p = vec2(light.half_width * weights.x + light.spot_offset * weights.y,
            light.half_height * weights.y);
        size = vec2(1.0);
    }
    d += light.right * (p.x * size.x) + up * (p.y * size.y);
    float d2 = max(dot(d, d), 1e-24);
    float cosine = -dot(facing, d);
    cosine = (light.kind & LIGHT_TWO_SIDED) != 0u ? abs(cosine) : cosine;
    // Cosines at both ends over d^2, for uniform area samples.
    return vec4(d, max(dot(normal, d), 0.0) * max(cosine, 0.0) / (d2 * d2));
}

#endif
