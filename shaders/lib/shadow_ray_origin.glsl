// Origins of shadow rays, and triangles that rays hit.
#ifndef LIB_SHADOW_RAY_ORIGIN
#define LIB_SHADOW_RAY_ORIGIN
#include "lib/bvh_triangles.glsl"
#include "lib/octahedral.glsl"

// Origin of shadow rays (m, relative to the camera), and unit normal of the triangle on their side.
// Set once per pixel.
vec3 ray_origin;
vec3 ray_normal;
// Origin for rays from the other side.
vec3 ray_origin_behind;
// From `ray_origin`, on the triangle, to the smooth surface of the vertex normals before it, and
// the normal of that surface.
vec3 ray_smooth_offset = vec3(0.0);
vec3 ray_smooth_normal = vec3(0.0);

// Where a ray in a direction (of any length) starts: on the triangle, or on the smooth surface if
// the triangle alone would block it.
vec3 ray_start(vec3 direction) {
    bool below = dot(direction, ray_normal) <= 0.0 && dot(direction, ray_smooth_normal) > 0.0;
    return below ? ray_origin + ray_smooth_offset : ray_origin;
}

// Octahedral map, as src/bvh/triangle.rs packs it.
vec3 unpack_vertex_normal(uint bits) {
    return octahedral_direction(max(vec2(ivec2(bits << 16u, bits) >> 16) / 32767.0, vec2(-1.0)));
}

// Origin for a surface that may be missing in the BVH: refractive ones.
void set_shadow_ray_origin_free(Surface s) {
    ray_origin = s.position;
    ray_origin_behind = s.position;
    ray_smooth_offset = vec3(0.0);
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

// Sets the origin to the hit of a view ray that starts `span` (m) before the depth buffer's point
// and ends as far behind it: that point is accurate to `span`, the triangle is exact.
void set_shadow_ray_origin_at(BvhHit hit, Surface s, float span) {
    if (hit.instance == NONE) {
        // Beyond the depth buffer's resolution, or a mask that the image's mip level and the ray
        // test evaluate differently.
        ray_origin = s.position + s.normal * span;
        ray_origin_behind = s.position - s.normal * span;
        ray_smooth_offset = vec3(0.0);
        ray_normal = s.normal;
        return;
    }
    BvhInstance instance = bvh_instances[hit.instance];
    BvhTriangle triangle = bvh_triangles[hit.triangle];
    mat3 rows = mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz);
    vec3 normal = triangle_normal(instance, triangle);
    bool back = dot(normal, s.view) < 0.0;
    ray_normal = back ? -normal : normal;
    // Rays that the triangle alone would block start on the smooth surface of the vertex normals,
    // so that facets do not show at the terminator: Hanika 2021, "Hacking the Shadow Terminator",
    // Ray Tracing Gems II, chapter 4. The surface is half way to the mean of the tangent planes
    // (ON_THE_SURFACE in src/reference/world/smooth_surface.rs). Other rays stay on the triangle:
    // the smooth surface of a fold may lie behind the next one.
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 p = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
    vec3 na = unpack_vertex_normal(triangle.normal_a);
    vec3 nb = unpack_vertex_normal(triangle.normal_b);
    vec3 nc = unpack_vertex_normal(triangle.normal_c);
    vec3 below = vec3(dot(p - triangle.a, na), dot(p - triangle.b, nb), dot(p - triangle.c, nc));
    below = weights * (back ? max(below, vec3(0.0)) : min(below, vec3(0.0)));
    vec3 up = -0.5 * (below.x * na + below.y * nb + below.z * nc);
    ray_origin = s.position + s.view * (span - hit.t);
    ray_origin_behind = ray_origin;
    ray_smooth_offset = inverse(transpose(rows)) * up;
    ray_smooth_normal = rows * (weights.x * na + weights.y * nb + weights.z * nc);
    ray_smooth_normal = back ? -ray_smooth_normal : ray_smooth_normal;
}

#endif
