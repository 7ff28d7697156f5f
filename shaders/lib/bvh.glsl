// Ray traversal of the two-level BVH of src/bvh, with the same steps in the same order as
// src/bvh/trace.rs. Positions are relative to the camera. With USE_RAY_QUERY, rays traverse the
// device's acceleration structures over the same triangles and instances (docs/bvh.md). The shader
// then requires GL_EXT_ray_query, and a fragment shader defines BVH_IN_FRAGMENT_SHADER.
#ifndef LIB_BVH
#define LIB_BVH
#include "lib/features.glsl"
#include "lib/bvh_triangles.glsl"
#include "lib/noise.glsl"

#ifdef USE_RAY_QUERY
layout(set = 0, binding = 56) uniform accelerationStructureEXT bvh_structure;
#else
layout(set = 0, binding = 50, scalar) readonly buffer bvh_node_block { BvhNode bvh_nodes[]; };
layout(set = 0, binding = 54, scalar) readonly buffer bvh_top_block { BvhNode bvh_top[]; };

// MAX_DEPTH of src/bvh/build.rs plus one: traversal never stacks more nodes than the tree has
// levels.
const uint BVH_STACK = 31u;
#endif
// SLACK of src/bvh/scene.rs.
const float BVH_SLACK = 1.0 / 1048576.0;

#ifdef USE_RAY_QUERY
rayQueryEXT bvh_query;
#else
uint bvh_top_stack[BVH_STACK];
uint bvh_stack[BVH_STACK];
#endif

#ifndef USE_RAY_QUERY
// Inverse direction; small components are widened to avoid a division by zero.
vec3 slab_inverse(vec3 d) {
    float least = 1e-12 * max_of(abs(d));
    return 1.0 / mix(d, mix(vec3(least), vec3(-least), lessThan(d, vec3(0.0))),
        lessThan(abs(d), vec3(least)));
}

// Entry distance of the ray into a box, or -1. Ize 2013, section 3.
float enter_box(BvhNode node, vec3 origin, vec3 inverse, float t_max) {
    vec3 a = (node.low - origin) * inverse;
    vec3 b = (node.high - origin) * inverse;
    float near = max(max_of(min(a, b)), 0.0);
    vec3 out3 = max(a, b);
    float far = min(min(min(out3.x, out3.y), out3.z) * 1.00000024, t_max);
    return near <= far ? near : -1.0;
}
#endif

// Ray direction for `cross_triangle`: the axis of its greatest component, and the shear along it.
vec3 shear_along(vec3 d, out uint axis) {
    vec3 size = abs(d);
    axis = size.x > size.y ? (size.x > size.z ? 0u : 2u) : (size.y > size.z ? 1u : 2u);
    vec3 turned = axis == 0u ? d.yzx : axis == 1u ? d.zxy : d;
    return vec3(turned.xy, 1.0) / turned.z;
}

// Watertight triangle intersection: Woop, Benthin and Wald 2013; see src/bvh/triangle.rs. `precise`
// keeps the edge functions of neighbors exact negatives: a fused multiply-add would round only one
// of the two products.
bool cross_triangle(BvhTriangle triangle, vec3 origin, uint axis, vec3 shear, float t_max,
    out float t, out vec2 weights) {
    precise vec3 a = triangle.a - origin;
    precise vec3 b = triangle.b - origin;
    precise vec3 c = triangle.c - origin;
    // Permutes the greatest component of the direction to z.
    a = axis == 0u ? a.yzx : axis == 1u ? a.zxy : a;
    b = axis == 0u ? b.yzx : axis == 1u ? b.zxy : b;
    c = axis == 0u ? c.yzx : axis == 1u ? c.zxy : c;
    precise vec2 pa = a.xy - shear.xy * a.z;
    precise vec2 pb = b.xy - shear.xy * b.z;
    precise vec2 pc = c.xy - shear.xy * c.z;
    precise float u = pc.x * pb.y - pc.y * pb.x;
    precise float v = pa.x * pc.y - pa.y * pc.x;
    precise float w = pb.x * pa.y - pb.y * pa.x;
    float determinant = u + v + w;
    t = (u * a.z + v * b.z + w * c.z) * shear.z / determinant;
    weights = vec2(v, w) / determinant;
    bool inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    return inside && determinant != 0.0 && t > 0.0 && t < t_max;
}

layout(set = 0, binding = 52, scalar) readonly buffer bvh_corner_block { vec3 bvh_corners[]; };
layout(set = 0, binding = 53, scalar) readonly buffer bvh_mask_block { uint bvh_masks[]; };

// Texture coordinate in texels after the wrap mode (src/bvh/mask.rs).
float mask_place(float x, uint wrap, float size) {
    float mirrored = x - 2.0 * floor(x * 0.5);
    float inside = wrap == 0u ? x - floor(x) : wrap == 1u
        ? (mirrored > 1.0 ? 2.0 - mirrored : mirrored) : clamp(x, 0.0, 1.0);
    return inside * size;
}

ivec2 mask_wrapped(ivec2 i, uvec2 wrap, ivec2 size) {
    ivec2 repeated = i + size
        * (ivec2(lessThan(i, ivec2(0))) - ivec2(greaterThanEqual(i, size)));
    return mix(clamp(i, ivec2(0), size - 1), repeated, equal(wrap, uvec2(0u)));
}

float mask_texel(uint header, ivec2 at, int width) {
    uint index = uint(at.y * width + at.x);
    return float(bvh_masks[bvh_masks[header] + index / 4u] >> (8u * (index % 4u)) & 255u) / 255.0;
}

// Rays hit blended surfaces wherever their opacity is above 0.
bool bvh_all_blended = false;

// Number that stands for the ray in the random cutoffs of blended surfaces; 0: its origin and
// direction, unless BVH_RAY_KEYS is defined. A pixel's rays keep it over frames, whose cutoffs are
// then evenly spread although the rays differ.
uint bvh_ray_key = 0u;

// Sets the number of a ray that has none of a pixel's, with BVH_RAY_KEYS.
void set_bvh_ray_key(vec3 origin, vec3 direction) {
    bvh_ray_key = 0u;
    for (uint i = 0u; i < 6u; ++i) {
        bvh_ray_key =
            random(bvh_ray_key ^ floatBitsToUint(i < 3u ? origin[i] : direction[i - 3u]));
    }
}

// Random number of a ray and a triangle, 0 to 1, as src/bvh/mask.rs computes it.
float random_cutoff(BvhInstance instance, uint triangle, vec3 origin, vec3 direction) {
    uint bits = random(instance.seed + triangle);
#ifdef BVH_RAY_KEYS
    bits = random(bits ^ bvh_ray_key);
#else
    uint count = bvh_ray_key != 0u ? 1u : 6u;
    for (uint i = 0u; i < count; ++i) {
        uint part = floatBitsToUint(i < 3u ? origin[i] : direction[i - 3u]);
        bits = random(bits ^ (count == 1u ? bvh_ray_key : part));
    }
#endif
    return float((bits + instance.phase) >> 8u) / 16777216.0;
}

// Alpha test of a triangle of a masked instance: true where the surface is opaque. A blended one is
// opaque to a ray with the probability of its opacity (src/bvh/mask.rs).
bool mask_alpha_test(BvhInstance instance, uint triangle, vec2 barycentric, vec3 origin,
    vec3 direction) {
    uint header = instance.mask;
    uint corners = instance.corners + triangle;
    vec3 a = bvh_corners[corners * 3u];
    vec3 at = a + (bvh_corners[corners * 3u + 1u] - a) * barycentric.x
        + (bvh_corners[corners * 3u + 2u] - a) * barycentric.y;
    ivec2 size = ivec2(bvh_masks[header + 1u], bvh_masks[header + 2u]);
    uint flags = bvh_masks[header + 3u];
    uvec2 wrap = uvec2(flags & 3u, flags >> 2u & 3u);
    vec2 place = vec2(mask_place(at.x, wrap.x, float(size.x)),
        mask_place(at.y, wrap.y, float(size.y)));
    bool nearest = (flags & 0x10u) == 0u;
    vec2 low = floor(place - 0.5);
    vec2 f = place - 0.5 - low;
    ivec2 p = nearest ? min(ivec2(place), size - 1) : mask_wrapped(ivec2(low), wrap, size);
    ivec2 q = mask_wrapped(ivec2(low) + 1, wrap, size);
    // The nearest texel, or bilinear interpolation between four.
    float left = 0.0;
    float row = 0.0;
    float upper = 0.0;
    for (int i = 0; i < (nearest ? 1 : 4); ++i) {
        float texel = mask_texel(header, ivec2((i & 1) == 1 ? q.x : p.x, i < 2 ? p.y : q.y),
            size.x);
        row = mix(left, texel, f.x);
        left = texel;
        upper = i == 1 ? row : upper;
    }
    float opacity = nearest ? left : mix(upper, row, f.y);
    opacity *= at.z;
    if ((flags & 0x20u) != 0u) {
        return opacity > (bvh_all_blended ? 0.0
            : random_cutoff(instance, triangle, origin, direction));
    }
    return opacity >= uintBitsToFloat(bvh_masks[header + 4u]);
}

vec3 to_object(BvhInstance instance, vec4 p) {
    return vec3(dot(instance.rows[0], p), dot(instance.rows[1], p), dot(instance.rows[2], p));
}

// Nearest hit before t_max; with `any`, the first hit found among shadow casters. `away` is the
// unit normal of the surface at the ray origin, or zero: see Ray::offset_normal in src/bvh/ray.rs.
#ifdef USE_RAY_QUERY

// Instance mask bit of shadow rays (MASK_CASTS of src/gpu_scene/acceleration.rs); other rays hit
// all instances.
const uint BVH_SHADOW_MASK = 1u;
// Maximum restarts of a ray that hits the surface at its origin.
const uint BVH_TRIES = 8u;

bool is_finite(vec3 v) {
    return !any(isnan(v)) && !any(isinf(v));
}

// True for helper invocations, which need no ray results. Tracing for them wastes work, and
// llvmpipe (Mesa 25.0.7) ends loops once no active pixel needs them: `rayQueryProceedEXT` of a
// helper then returns an invalid candidate and reads address 0 (docs/bvh.md).
bool is_helper_invocation() {
#ifdef BVH_IN_FRAGMENT_SHADER
    return gl_HelperInvocation;
#else
    return false;
#endif
}

// Repeats the device's hit with the software triangle test and the lift of this instance. False
// where the hit lies behind the lifted origin. Where both tests hit, `t` and `weights` become
// bitwise those of the software test. At a triangle's edge that only the device hits, the device's
// values stay.
bool accept_hit(uint instance_number, uint number, vec3 origin, vec3 direction, vec3 away,
    float t_max, inout float t, inout vec2 weights) {
    BvhInstance instance = bvh_instances[instance_number];
    float lift = BVH_SLACK * max_of(abs(origin));
    vec3 o = to_object(instance, vec4(origin + away * (lift + instance.slack), 1.0));
    uint axis;
    vec3 shear = shear_along(to_object(instance, vec4(direction, 0.0)), axis);
    float own_t;
    vec2 own;
    if (cross_triangle(bvh_triangles[number], o, axis, shear, t_max, own_t, own)) {
        t = own_t;
        weights = own;
        return true;
    }
    return !(own_t <= 0.0 || own_t >= t_max);
}

BvhHit trace_ray(vec3 origin, vec3 direction, vec3 away, float t_max, bool any) {
    BvhHit none = BvhHit(t_max, vec2(0.0), NONE, 0u);
    // Ray query is undefined for non-finite rays; the software BVH finds no hit for them.
    vec3 from = origin + away * (BVH_SLACK * max_of(abs(origin)));
    bool send = is_finite(from) && is_finite(direction) && !is_helper_invocation();
    uint flags = any ? gl_RayFlagsTerminateOnFirstHitEXT : gl_RayFlagsNoneEXT;
    float t_min = 0.0;
    for (uint tries = 0u; send && tries < BVH_TRIES && t_min < t_max; ++tries) {
        rayQueryInitializeEXT(bvh_query, bvh_structure, flags, any ? BVH_SHADOW_MASK : 0xffu, from,
            t_min, direction, t_max);
        // Only triangles of masked instances produce candidates.
        while (rayQueryProceedEXT(bvh_query)) {
            uint instance = rayQueryGetIntersectionInstanceIdEXT(bvh_query, false);
            uint number = bvh_instances[instance].first
                + rayQueryGetIntersectionPrimitiveIndexEXT(bvh_query, false);
            float t = rayQueryGetIntersectionTEXT(bvh_query, false);
            vec2 weights = rayQueryGetIntersectionBarycentricsEXT(bvh_query, false);
            bool is_hit = accept_hit(instance, number, origin, direction, away, t_max, t, weights);
            if (is_hit && (bvh_instances[instance].mask == NONE || mask_alpha_test(
                bvh_instances[instance], number, weights, origin, direction))) {
                rayQueryConfirmIntersectionEXT(bvh_query);
            }
        }
        if (rayQueryGetIntersectionTypeEXT(bvh_query, true)
            == gl_RayQueryCommittedIntersectionNoneEXT) {
            return none;
        }
        uint instance = rayQueryGetIntersectionInstanceIdEXT(bvh_query, true);
        uint number = bvh_instances[instance].first
            + rayQueryGetIntersectionPrimitiveIndexEXT(bvh_query, true);
        float found = rayQueryGetIntersectionTEXT(bvh_query, true);
        float t = found;
        vec2 weights = rayQueryGetIntersectionBarycentricsEXT(bvh_query, true);
        if (accept_hit(instance, number, origin, direction, away, t_max, t, weights)) {
            return BvhHit(t, weights, instance, number);
        }
        // Self-intersection with the surface at the origin. The first hit found need not be the
        // nearest, so the ray restarts in order of distance.
        if (flags == gl_RayFlagsNoneEXT) {
            t_min = max(found * (1.0 + BVH_SLACK), 1e-30);
        }
        flags = gl_RayFlagsNoneEXT;
    }
    return none;
}

#else

// Descends to the next leaf before it tests triangles or enters an instance, so that invocations of
// a SIMD group do the same work together: "while-while" traversal, Aila and Laine 2009,
// "Understanding the Efficiency of Ray Traversal on GPUs", section 3.
BvhHit trace_ray(vec3 origin, vec3 direction, vec3 away, float t_max, bool any) {
    BvhHit hit = BvhHit(t_max, vec2(0.0), NONE, 0u);
    float lift = BVH_SLACK * max_of(abs(origin));
    vec3 top_inverse = slab_inverse(direction);
    uint top_waiting = 0u;
    uint top_at = enter_box(bvh_top[0], origin, top_inverse, t_max) >= 0.0 ? 0u : NONE;
    while (top_at != NONE) {
        while (top_at != NONE && bvh_top[top_at].count == 0u) {
            uint first = bvh_top[top_at].first;
            float left = enter_box(bvh_top[first], origin, top_inverse, hit.t);
            float right = enter_box(bvh_top[first + 1u], origin, top_inverse, hit.t);
            bool left_first = right < 0.0 || (left >= 0.0 && left <= right);
            if (left >= 0.0 && right >= 0.0) {
                bvh_top_stack[top_waiting++] = left_first ? first + 1u : first;
            }
            if (left >= 0.0 || right >= 0.0) {
                top_at = left_first ? first : first + 1u;
            } else {
                top_at = top_waiting > 0u ? bvh_top_stack[--top_waiting] : NONE;
            }
        }
        if (top_at == NONE) {
            break;
        }
        uint instance_number = bvh_top[top_at].first;
        BvhInstance instance = bvh_instances[instance_number];
        vec3 o = to_object(instance, vec4(origin + away * (lift + instance.slack), 1.0));
        vec3 d = to_object(instance, vec4(direction, 0.0));
        vec3 inverse = slab_inverse(d);
        uint axis;
        vec3 shear = shear_along(d, axis);
        uint waiting = 0u;
        uint at = any && (instance.surface & BVH_NO_SHADOW) != 0u ? NONE : instance.root;
        while (at != NONE) {
            while (at != NONE && bvh_nodes[at].count == 0u) {
                uint first = bvh_nodes[at].first;
                float left = enter_box(bvh_nodes[first], o, inverse, hit.t);
                float right = enter_box(bvh_nodes[first + 1u], o, inverse, hit.t);
                bool left_first = right < 0.0 || (left >= 0.0 && left <= right);
                if (left >= 0.0 && right >= 0.0) {
                    bvh_stack[waiting++] = left_first ? first + 1u : first;
                }
                if (left >= 0.0 || right >= 0.0) {
                    at = left_first ? first : first + 1u;
                } else {
                    at = waiting > 0u ? bvh_stack[--waiting] : NONE;
                }
            }
            if (at == NONE) {
                break;
            }
            uint end = bvh_nodes[at].first + bvh_nodes[at].count;
            for (uint number = bvh_nodes[at].first; number < end; ++number) {
                float t;
                vec2 weights;
                bool is_hit = cross_triangle(bvh_triangles[number], o, axis, shear, hit.t, t,
                    weights);
                if (has_feature(FEATURE_ALPHA_MASKS) && is_hit && instance.mask != NONE) {
                    is_hit = mask_alpha_test(instance, number, weights, origin, direction);
                }
                if (is_hit) {
                    hit = BvhHit(t, weights, instance_number, number);
                }
            }
            if (any && hit.instance != NONE) {
                return hit;
            }
            at = waiting > 0u ? bvh_stack[--waiting] : NONE;
        }
        top_at = top_waiting > 0u ? bvh_top_stack[--top_waiting] : NONE;
    }
    return hit;
}

#endif

#endif
