#version 460
// features: ANY_HIT ANY_HIT:WHOLE_HITS USE_RAY_QUERY
// Ray kernel: traces the rays of a buffer and stores their closest hits. With ANY_HIT it stores the
// distance (float bits) of the first hit found among shadow casters, or NONE; with WHOLE_HITS the
// whole hit.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#endif
#include "shared/frame.glsl"
#include "shared/rays.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, scalar) readonly buffer ray_block { TraceRay rays[]; };
#if defined(ANY_HIT) && !defined(WHOLE_HITS)
layout(set = 0, binding = 1, scalar) writeonly buffer hit_block { uint hits[]; };
#else
layout(set = 0, binding = 1, scalar) writeonly buffer hit_block { TraceHit hits[]; };
#endif
layout(push_constant, scalar) uniform grid_block { RayGridConstants grid; };
#include "lib/bvh.glsl"

#ifdef ANY_HIT
const bool ANY = true;
#else
const bool ANY = false;
#endif

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (grid.rows == 0u) {
        if (i >= grid.width) {
            return;
        }
    } else {
        uvec2 at = gl_WorkGroupID.xy * 8u
            + uvec2(gl_LocalInvocationIndex & 7u, gl_LocalInvocationIndex >> 3u);
        if (at.x >= grid.width || at.y >= grid.rows) {
            return;
        }
        i = (gl_WorkGroupID.z * grid.rows + at.y) * grid.width + at.x;
        bvh_ray_key = random(i) | 1u;
    }
    TraceRay ray = rays[i];
    BvhHit hit = BvhHit(ray.reach, vec2(0.0), NONE, 0u);
    if (ray.reach > 0.0) {
        hit = trace_ray(ray.origin, ray.direction, ray.offset_normal, ray.reach, ANY);
    }
#if defined(ANY_HIT) && !defined(WHOLE_HITS)
    float t = ray.reach == OCCLUDED_REACH ? 0.0 : hit.t;
    hits[i] = hit.instance != NONE || ray.reach == OCCLUDED_REACH ? floatBitsToUint(t) : NONE;
#else
    hits[i] = TraceHit(hit.t, hit.instance, hit.barycentric, hit.triangle);
#endif
}
