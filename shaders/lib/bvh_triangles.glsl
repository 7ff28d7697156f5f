// Triangles and instances of the BVH of src/bvh, and hits of rays. Traversal is in lib/bvh.glsl.
#ifndef LIB_BVH_TRIANGLES
#define LIB_BVH_TRIANGLES

layout(set = 0, binding = 51, scalar)
    readonly buffer bvh_triangle_block { BvhTriangle bvh_triangles[]; };
layout(set = 0, binding = 55, scalar)
    readonly buffer bvh_instance_block { BvhInstance bvh_instances[]; };

struct BvhHit {
    float t;
    vec2 barycentric;   // weights of the second and third vertex
    uint instance;      // NONE where nothing was hit
    uint triangle;
};

float max_of(vec3 v) {
    return max(max(v.x, v.y), v.z);
}

#endif
