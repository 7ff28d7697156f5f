#version 460
// Compacts the visible instances, in instance order, finest level first, and writes one indirect
// draw command per level of each bucket.
#extension GL_GOOGLE_include_directive : require
#include "lib/culling.glsl"
#include "shared/frame.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0, scalar) uniform cull_block { CullConstants cull; };
layout(set = 0, binding = 1, scalar)
    readonly buffer instance_transform_block { InstanceTransform placements[]; };
layout(set = 0, binding = 2, scalar) readonly buffer bucket_block { CullBucket buckets[]; };
layout(set = 0, binding = 3, scalar) readonly buffer rank_block { uvec2 ranks[]; };
layout(set = 0, binding = 4, scalar) readonly buffer base_block { uvec4 bases[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer instance_block { Instance instances[]; };
// VkDrawIndexedIndirectCommand: indices, instances, first index, vertex offset, first instance.
layout(set = 0, binding = 6, scalar) writeonly buffer command_block { uint commands[]; };

// Visible instances of a level before this one.
uint rank_of(uint placement, uint level) {
    if (placement >= cull.placements) {
        return bases[(cull.placements + BLOCK - 1u) / BLOCK][level];
    }
    return bases[placement / BLOCK][level] + (ranks[placement].x >> (8u * level) & 0xffu);
}

// First output instance of a level.
uint level_start(uint level) {
    uvec4 all = bases[(cull.placements + BLOCK - 1u) / BLOCK];
    uint start = 0u;
    for (uint i = 0u; i < level; ++i) {
        start += all[i];
    }
    return start;
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index < cull.buckets * cull.levels) {
        CullBucket bucket = buckets[index / cull.levels];
        uint level = index % cull.levels;
        uint first = rank_of(bucket.first, level);
        commands[index * 5u] = bucket.index_count[level];
        commands[index * 5u + 1u] = rank_of(bucket.end, level) - first;
        commands[index * 5u + 2u] = bucket.first_index[level];
        commands[index * 5u + 3u] = uint(bucket.vertex_offset);
        commands[index * 5u + 4u] = level_start(level) + first;
    }
    if (index >= cull.placements) {
        return;
    }
    uint state = ranks[index].y;
    if ((state & STATE_DRAWN) == 0u) {
        return;
    }
    uint level = state & STATE_LEVEL;
    InstanceTransform p = placements[index];
    vec3 translation = relative_position(p.high, p.low, cull.camera_high, cull.camera_low);
    Instance instance;
    instance.to_world =
        mat4(vec4(p.axis_x, 0.0), vec4(p.axis_y, 0.0), vec4(p.axis_z, 0.0), vec4(translation, 1.0));
    instance.normal0 = vec4(p.normal_x, 0.0);
    instance.normal1 = vec4(p.normal_y, 0.0);
    instance.normal2 = vec4(p.normal_z, p.handedness);
    instances[level_start(level) + rank_of(index, level)] = instance;
}
