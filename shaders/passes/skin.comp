#version 460
// variants: POSITIONS_ONLY
// Morph targets and skinning (glTF 2.0 sections 3.7.2.2 and 3.7.3.3): bind pose to object space
// (m). POSITIONS_ONLY computes positions at another time, for velocities.
#extension GL_GOOGLE_include_directive : require
#include "shared/skin.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, scalar) readonly buffer rest_block { BindPoseVertex rest[]; };
layout(set = 0, binding = 1, scalar) readonly buffer influence_block { Influence influences[]; };
layout(set = 0, binding = 2, scalar) readonly buffer morph_block { MorphOffset offsets[]; };
layout(set = 0, binding = 3, scalar) readonly buffer palette_block { vec4 palette[]; };
layout(set = 0, binding = 4, scalar) readonly buffer weight_block { float weights[]; };
#ifdef POSITIONS_ONLY
layout(set = 0, binding = 5, scalar) writeonly buffer position_block { vec3 positions[]; };
#else
// Vertices as the pipelines read them, in words (src/gpu_scene/geometry.rs).
layout(set = 0, binding = 5, scalar) writeonly buffer vertex_block { uint words[]; };
#endif

layout(push_constant, scalar) uniform skin_block { SkinConstants skin; };

const uint WORDS = 15u;

// Replaces non-finite vectors.
vec3 finite(vec3 v, vec3 other) {
    return any(isnan(v)) || any(isinf(v)) ? other : v;
}

vec3 unit(vec3 v, vec3 other) {
    // Scaled first, since squares of large numbers are infinite.
    float size = max(abs(v.x), max(abs(v.y), abs(v.z)));
    v = finite(v / size, vec3(0.0));
    float l = length(v);
    return l > 0.0 ? v / l : other;
}

// A vertex after morphing and skinning, and the linear part of its skin matrix.
vec3 moved(uint vertex, out mat3 linear, out vec3 normal, out vec3 tangent) {
    BindPoseVertex v = rest[skin.rest + vertex];
    vec3 p = v.position;
    normal = v.normal;
    tangent = v.tangent.xyz;
    for (uint i = 0u; i < v.morph_count; ++i) {
        MorphOffset offset = offsets[v.first_morph + i];
        float weight = weights[skin.weights + offset.target];
        p += weight * offset.position;
        normal += weight * offset.normal;
        tangent += weight * offset.tangent;
    }
    linear = mat3(1.0);
    if (v.influence_count > 0u) {
        vec4 rows[3] = vec4[3](vec4(0.0), vec4(0.0), vec4(0.0));
        for (uint i = 0u; i < v.influence_count; ++i) {
            Influence influence = influences[v.first_influence + i];
            uint joint = (skin.palette + influence.joint) * 3u;
            for (uint row = 0u; row < 3u; ++row) {
                rows[row] += influence.weight * palette[joint + row];
            }
        }
        linear = transpose(mat3(rows[0].xyz, rows[1].xyz, rows[2].xyz));
        p = linear * p + vec3(rows[0].w, rows[1].w, rows[2].w);
    }
    return finite(p, vec3(0.0));
}

void main() {
    uint vertex = gl_GlobalInvocationID.x;
    if (vertex >= skin.count) {
        return;
    }
    mat3 linear;
    vec3 normal;
    vec3 tangent;
    vec3 p = moved(vertex, linear, normal, tangent);
#ifdef POSITIONS_ONLY
    positions[skin.target + vertex] = p;
#else
    BindPoseVertex v = rest[skin.rest + vertex];
    if ((skin.flags & SKIN_FLAT) != 0u) {
        uint first = vertex - vertex % 3u;
        mat3 other;
        vec3 n;
        vec3 t;
        vec3 a = moved(first, other, n, t);
        vec3 b = moved(first + 1u, other, n, t);
        vec3 c = moved(first + 2u, other, n, t);
        normal = unit(cross(b - a, c - a), vec3(0.0, 1.0, 0.0));
    } else {
        // Inverse transpose times the determinant, defined for singular matrices too.
        mat3 cofactor = mat3(cross(linear[1], linear[2]), cross(linear[2], linear[0]),
            cross(linear[0], linear[1]));
        float side = dot(linear[0], cofactor[0]) < 0.0 ? -1.0 : 1.0;
        normal = unit(cofactor * normal * side, v.normal);
    }
    uint at = (skin.target + vertex) * WORDS;
    words[at] = floatBitsToUint(p.x);
    words[at + 1u] = floatBitsToUint(p.y);
    words[at + 2u] = floatBitsToUint(p.z);
    words[at + 3u] = packSnorm2x16(normal.xy);
    words[at + 4u] = packSnorm2x16(vec2(normal.z, 0.0));
    if ((skin.flags & SKIN_TANGENTS) != 0u) {
        tangent = unit(linear * tangent, v.tangent.xyz);
        words[at + 5u] = packSnorm2x16(tangent.xy);
        words[at + 6u] = packSnorm2x16(vec2(tangent.z, v.tangent.w));
    }
#endif
}
