#version 460
// variants: USE_RAY_QUERY
// BVH benchmark: traces independent rays from the host, in order (`sunny16 bench --what rays`).
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#endif
#include "shared/frame.glsl"
#include "shared/rays.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, scalar) readonly buffer ray_block { TraceRay rays[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer hit_block { TraceHit hits[]; };
layout(push_constant, scalar) uniform count_block { uint count; };
#include "lib/bvh.glsl"

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    TraceRay ray = rays[i];
    BvhHit hit = trace_ray(ray.origin, ray.direction, ray.offset_normal, ray.reach, ray.any != 0u);
    hits[i] = TraceHit(hit.t, hit.instance, hit.barycentric, hit.triangle);
}
