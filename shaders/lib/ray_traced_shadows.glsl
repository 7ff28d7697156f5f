// Ray-traced shadows: visibility of a light from a point, 0 to 1 (docs/shadows.md).
#ifndef LIB_RAY_TRACED_SHADOWS
#define LIB_RAY_TRACED_SHADOWS
#include "lib/ggx_sampling.glsl"
#include "lib/bvh.glsl"

// Origin of shadow rays: a point on the pixel's surface, and the geometric normal on the visible
// side. Set once per pixel.
vec3 ray_origin;
vec3 ray_normal;
// Origin for rays from the other side: on the triangle, below the smooth surface of `ray_origin`.
vec3 ray_origin_behind;

// Octahedral map, as src/bvh/triangle.rs packs it.
vec3 unpack_vertex_normal(uint bits) {
    vec2 p = max(vec2(ivec2(bits << 16u, bits) >> 16) / 32767.0, vec2(-1.0));
    vec3 n = vec3(p, 1.0 - abs(p.x) - abs(p.y));
    float fold = max(-n.z, 0.0);
    n.xy += mix(vec2(fold), vec2(-fold), greaterThanEqual(n.xy, vec2(0.0)));
    return normalize(n);
}

// Origin for a surface that is not in the BVH: alpha-blended ones.
void set_shadow_ray_origin_free(Surface s) {
    ray_origin = s.position;
    ray_origin_behind = s.position;
    ray_normal = s.normal;
}

// World-space unit normal of a triangle, on the side of its winding order.
vec3 triangle_normal(BvhInstance instance, BvhTriangle triangle) {
    mat3 rows = mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz);
    // Columns of mat3 are the rows of the inverse, so the product applies the inverse transpose.
    vec3 across = cross(triangle.b - triangle.a, triangle.c - triangle.a);
    return normalize(rows * (across / max(max_of(abs(across)), 1e-30)));
}

// Hit position on the triangle itself, not along the ray, so that a rounding-sized lift suffices
// for rays that leave it.
vec3 hit_position(BvhHit hit) {
    BvhInstance instance = bvh_instances[hit.instance];
    BvhTriangle triangle = bvh_triangles[hit.triangle];
    mat3 rows = mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz);
    vec3 w = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 p = w.x * triangle.a + w.y * triangle.b + w.z * triangle.c;
    return inverse(transpose(rows))
        * (p - vec3(instance.rows[0].w, instance.rows[1].w, instance.rows[2].w));
}

// Finds the pixel's surface in the BVH: the depth buffer's point is accurate to `span` (m) along
// the view ray, the triangle is exact.
void set_shadow_ray_origin(Surface s, float span) {
    BvhHit hit = trace_ray(s.position + s.view * span, -s.view, vec3(0.0), 2.0 * span, false);
    if (hit.instance == NONE) {
        // Beyond the depth buffer's resolution, or a mask that the image's mip level and the ray
        // test evaluate differently.
        ray_origin = s.position + s.normal * span;
        ray_origin_behind = s.position - s.normal * span;
        ray_normal = s.normal;
        return;
    }
    BvhInstance instance = bvh_instances[hit.instance];
    BvhTriangle triangle = bvh_triangles[hit.triangle];
    mat3 rows = mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz);
    vec3 normal = triangle_normal(instance, triangle);
    bool back = dot(normal, s.view) < 0.0;
    ray_normal = back ? -normal : normal;
    // Moves the origin onto the smooth surface of the vertex normals, so that facets do not shadow
    // their neighbors: Hanika 2021, "Hacking the Shadow Terminator", Ray Tracing Gems II, chapter
    // 4. Flat shading leaves it unchanged.
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 p = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
    vec3 na = unpack_vertex_normal(triangle.normal_a);
    vec3 nb = unpack_vertex_normal(triangle.normal_b);
    vec3 nc = unpack_vertex_normal(triangle.normal_c);
    vec3 below = vec3(dot(p - triangle.a, na), dot(p - triangle.b, nb), dot(p - triangle.c, nc));
    below = weights * (back ? max(below, vec3(0.0)) : min(below, vec3(0.0)));
    vec3 up = -(below.x * na + below.y * nb + below.z * nc);
    ray_origin_behind = s.position + s.view * (span - hit.t);
    ray_origin = ray_origin_behind + inverse(transpose(rows)) * up;
}

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

// Uniform direction (by solid angle) to the part of a sun's disk above the horizon.
vec3 in_sun(Light light, vec2 u) {
    float half_sine = sin(0.5 * light.half_height);
    float height = 2.0 * half_sine * half_sine;
    vec3 axis = light.position;
    if (light.half_width < light.half_height) {
        vec3 right = normalize(vec3(-axis.z, 0.0, axis.x) + vec3(1e-9, 0.0, 0.0));
        float low = -axis.y / (2.0 * half_sine);
        vec3 l = in_cone(mat3(right, cross(right, axis), axis), height, in_segment(low, u));
        return vec3(l.x, max(l.y, 1e-6), l.z);
    }
    return in_cone(orthonormal_basis(axis), height, concentric(u));
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
    if (kind == LIGHT_DIRECTIONAL) {
        vec3 l = in_sun(light, u);
        return vec4(l * 1e9, light.half_width > 0.0 ? dot(normal, l) : 1.0);
    }
    if (kind == LIGHT_SPHERE) {
        float d2 = dot(d, d);
        float sine2 = light.half_width * light.half_width / d2;
        if (sine2 >= 1.0) {
            return vec4(0.0);
        }
        // 1 - cos without cancellation.
        float height = sine2 / (1.0 + sqrt(1.0 - sine2));
        vec3 axis = d * inversesqrt(d2);
        vec3 l = in_cone(orthonormal_basis(axis), height, concentric(u));
        float along = dot(d, l);
        float t = along
            - sqrt(max(light.half_width * light.half_width - (d2 - along * along), 0.0));
        return vec4(l * t, dot(normal, l));
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
        p = concentric(u);
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

// Visible fraction of a light's illuminance, 0 to 1: the ratio of two sums over the same samples,
// with and without occlusion (Heitz, Hill and McGuire 2018, "Combining Analytic Direct Illumination
// and Stochastic Shadows"). The unshadowed light itself is exact. Samples have diffuse weights.
// `share` is the unshadowed light over the luminance of white. It sets the ray count so that
// stratified noise, at most one half over that count, stays below 1/512 of white;
// frame.shadow_samples is the maximum.
float traced_visibility(Light light, Surface s, float share) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    bool one = kind == LIGHT_POINT || (kind == LIGHT_DIRECTIONAL && light.half_width == 0.0);
    uint count = one ? 1u : min(uint(clamp(ceil(share * 256.0), 1.0, 1024.0)),
        frame.shadow_samples);
    vec2 pixel = gl_FragCoord.xy + frame.noise_shift;
    vec2 shift = vec2(gradient_noise(pixel), gradient_noise(pixel.yx + vec2(37.0, 17.0)));
    float all = 0.0;
    float free = 0.0;
    // More samples where the first ones fall below the horizon: without any, the ratio is
    // undefined.
    uint most = one ? 1u : frame.shadow_samples;
    for (uint i = 0u; i < most && (i < count || all <= 0.0); ++i) {
        vec4 to = sample_light(light, s.normal, light_sample(i, i < count ? count : most, shift));
        if (to.w <= 0.0) {
            continue;
        }
        all += to.w;
        if (trace_ray(ray_origin, to.xyz, ray_normal, 1.0 - LIGHT_RAY_MARGIN, true).instance
            == NONE) {
            free += to.w;
        }
    }
    if (all > 0.0) {
        return free / all;
    }
    // Inside the light nothing occludes it. Otherwise hardly any of it is above the horizon: its
    // tiny contribution must not leak through walls.
    vec3 d = light.position - ray_origin;
    return kind == LIGHT_SPHERE && dot(d, d) <= light.half_width * light.half_width ? 1.0 : 0.0;
}

#endif
