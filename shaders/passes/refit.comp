#version 460
// BVH refit of a primitive whose vertices have moved: updates its triangles from the vertices, then
// the boxes from the leaves up (docs/bvh.md). One thread per leaf; the last of two children to
// arrive continues with the parent, so no thread waits (Karras 2012, "Maximizing Parallelism in the
// Construction of BVHs, Octrees, and k-d Trees", section 4).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/skin.glsl"

layout(local_size_x = 64) in;

// Vertices as written by the skin pass, in words.
layout(set = 0, binding = 0, scalar) readonly buffer vertex_block { uint words[]; };
layout(set = 0, binding = 1, scalar) readonly buffer corner_block { uint corners[]; };
layout(set = 0, binding = 2, scalar) readonly buffer leaf_block { uint leaves[]; };
layout(set = 0, binding = 3, scalar) readonly buffer parent_block { uint parents[]; };
layout(set = 0, binding = 4, scalar) coherent buffer arrival_block { uint arrivals[]; };
layout(set = 0, binding = 5, scalar) coherent buffer bvh_node_block { BvhNode bvh_nodes[]; };
layout(set = 0, binding = 6, scalar)
    writeonly buffer bvh_triangle_block { BvhTriangle bvh_triangles[]; };
layout(set = 0, binding = 7, scalar) buffer cost_block { uint costs[]; };

layout(push_constant, scalar) uniform refit_block { RefitConstants refit; };

const uint WORDS = 15u;

float pack_sign(float v) {
    return v < 0.0 ? -1.0 : 1.0;
}

// Mirrors pack_normal of src/bvh/triangle.rs.
uint pack_octahedral(vec3 n) {
    n /= max(abs(n.x) + abs(n.y) + abs(n.z), 1e-30);
    vec2 p = n.z >= 0.0 ? n.xy
        : vec2((1.0 - abs(n.y)) * pack_sign(n.x), (1.0 - abs(n.x)) * pack_sign(n.y));
    return packSnorm2x16(p);
}

vec3 corner(uint number, out uint normal) {
    uint at = (refit.vertices + corners[number]) * WORDS;
    vec3 p = uintBitsToFloat(uvec3(words[at], words[at + 1u], words[at + 2u]));
    normal = pack_octahedral(vec3(unpackSnorm2x16(words[at + 3u]),
        unpackSnorm2x16(words[at + 4u]).x));
    if ((refit.flags & REFIT_BAKED) != 0u) {
        p = refit.x * p.x + refit.y * p.y + refit.z * p.z;
    }
    return p;
}

// Adds a node's share of the SAH cost (sah_cost of src/bvh/node.rs), in units of 2^-24 of the
// root's surface area at build time: integer sums are independent of order.
void add_cost(vec3 low, vec3 high, uint tests) {
    vec3 size = max(high - low, vec3(0.0));
    float area = size.x * size.y + size.y * size.z + size.z * size.x;
    uint share = uint(min(area * refit.scale, 15.0) * 16777216.0) * tests;
    uint before = atomicAdd(costs[refit.cost], share);
    if (before + share < before) {
        atomicAdd(costs[refit.cost + 1u], 1u);
    }
}

// Updates the triangles of a leaf, and computes their box.
void fit_leaf(uint at, out vec3 low, out vec3 high, out uint count) {
    uint first = bvh_nodes[at].first;
    count = bvh_nodes[at].count;
    low = vec3(3.4028234663852886e38);
    high = -low;
    for (uint i = 0u; i < count; ++i) {
        uint triangle = first + i;
        uint from = refit.corners + (triangle - refit.triangles) * 3u;
        BvhTriangle t;
        t.a = corner(from, t.normal_a);
        t.b = corner(from + 1u, t.normal_b);
        t.c = corner(from + 2u, t.normal_c);
        bvh_triangles[triangle] = t;
        low = min(low, min(min(t.a, t.b), t.c));
        high = max(high, max(max(t.a, t.b), t.c));
    }
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    // 0 once another thread continues.
    uint climbing = index < refit.leaf_count ? 1u : 0u;
    uint at = refit.root;
    uint tests = 0u;
    vec3 low = vec3(0.0);
    vec3 high = vec3(0.0);
    if (climbing != 0u) {
        at = leaves[refit.leaves + index];
        fit_leaf(at, low, high, tests);
    }
    // The loop count is uniform, the number of tree levels: llvmpipe treats a memory barrier as a
    // work group barrier, and loses threads that reach it more often than others.
    for (uint level = 0u; level < refit.levels; ++level) {
        if (climbing != 0u) {
            bvh_nodes[at].low = low;
            bvh_nodes[at].high = high;
            add_cost(low, high, tests);
        }
        // The box must be visible to others before the arrival.
        memoryBarrierBuffer();
        if (climbing != 0u) {
            // A virtual parent above the root has only one arrival.
            uint parent = parents[refit.links + (at - refit.root)];
            climbing = atomicAdd(arrivals[parent], 1u);
            at = refit.root + (parent - refit.links);
        }
        memoryBarrierBuffer();
        if (climbing != 0u) {
            uint child = bvh_nodes[at].first;
            low = min(bvh_nodes[child].low, bvh_nodes[child + 1u].low);
            high = max(bvh_nodes[child].high, bvh_nodes[child + 1u].high);
            tests = 2u;
        }
    }
    if (at == refit.root + refit.nodes) {
        vec3 size = max(high - low, vec3(0.0));
        costs[refit.cost + 2u] =
            floatBitsToUint(size.x * size.y + size.y * size.z + size.z * size.x);
    }
}
