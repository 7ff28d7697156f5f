#version 460
// Prefix sums of the visible instances per level over all blocks, in one work group.
#extension GL_GOOGLE_include_directive : require
#include "lib/culling.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0, scalar) uniform cull_block { CullConstants cull; };
layout(set = 0, binding = 1, scalar) readonly buffer count_block { uvec4 counts[]; };
// One more than the block count: the last entry holds the totals.
layout(set = 0, binding = 2, scalar) writeonly buffer base_block { uvec4 bases[]; };
// Visible instances, occluded ones.
layout(set = 0, binding = 3, scalar) writeonly buffer report_block { uint report[]; };

shared uvec4 sums[BLOCK];
shared uint hidden_sums[BLOCK];

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint blocks = (cull.placements + BLOCK - 1u) / BLOCK;
    uvec4 carried = uvec4(0u);
    uint hidden = 0u;
    for (uint from = 0u; from < blocks; from += BLOCK) {
        uvec4 own = from + thread < blocks ? counts[from + thread] : uvec4(0u);
        hidden += own.w >> 16;
        own.w &= 0xffffu;
        sums[thread] = own;
        barrier();
        for (uint step = 1u; step < BLOCK; step *= 2u) {
            uvec4 before = thread >= step ? sums[thread - step] : uvec4(0u);
            barrier();
            sums[thread] += before;
            barrier();
        }
        if (from + thread < blocks) {
            bases[from + thread] = carried + sums[thread] - own;
        }
        carried += sums[BLOCK - 1u];
        barrier();
    }
    hidden_sums[thread] = hidden;
    barrier();
    if (thread == 0u) {
        bases[blocks] = carried;
        uint all_hidden = 0u;
        for (uint i = 0u; i < BLOCK; ++i) {
            all_hidden += hidden_sums[i];
        }
        report[0] = carried.x + carried.y + carried.z + carried.w;
        report[1] = all_hidden;
    }
}
