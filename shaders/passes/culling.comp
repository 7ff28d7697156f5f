#version 460
// variants: OCCLUDERS OCCLUSION_TEST
// GPU culling: visibility and level of detail of each instance, and its rank within its block (256
// instances, one work group). OCCLUDERS: the occluders among last frame's visible instances.
// OCCLUSION_TEST: culls instances behind the depth pyramid.
#extension GL_GOOGLE_include_directive : require
#include "lib/culling.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0, scalar) uniform cull_block { CullConstants cull; };
layout(set = 0, binding = 1, scalar)
    readonly buffer instance_transform_block { InstanceTransform placements[]; };
layout(set = 0, binding = 2, scalar) readonly buffer bucket_block { CullBucket buckets[]; };
// Per instance: rank within its block by level, one byte each; and its state.
layout(set = 0, binding = 3, scalar) writeonly buffer rank_block { uvec2 ranks[]; };
// Per block: visible instances by level; the upper half of the last word counts occluded ones.
layout(set = 0, binding = 4, scalar) writeonly buffer count_block { uvec4 counts[]; };
#ifdef OCCLUDERS
layout(set = 0, binding = 5, scalar) readonly buffer was_visible_block { uint was_visible[]; };
#else
layout(set = 0, binding = 5, scalar) writeonly buffer was_visible_block { uint was_visible[]; };
#endif
#ifdef OCCLUSION_TEST
layout(set = 0, binding = 6, scalar) readonly buffer pyramid_block { float pyramid[]; };
layout(set = 0, binding = 7) uniform texture2D depth_image;
#endif

// Prefix sums by level, 16 bits each.
shared uvec2 sums[BLOCK];
shared uint hidden_count;

bool in_view(vec3 center, float radius) {
    // The rounding error of the center grows with its distance.
    precise float reach = -(radius + 1e-6 * (abs(center.x) + abs(center.y) + abs(center.z)));
    bool inside = true;
    for (uint i = 0u; i < 5u; ++i) {
        vec4 plane = cull.planes[i];
        precise float distance = plane.x * center.x + plane.y * center.y + plane.z * center.z
            + plane.w;
        inside = inside && distance >= reach;
    }
    return inside;
}

// The coarsest level whose screen error is within the limit.
uint detail(CullBucket bucket, float stretch, vec3 center, float radius) {
    uint level = 0u;
    if (cull.error_scale > 0.0) {
        precise float along = cull.forward.x * center.x + cull.forward.y * center.y
            + cull.forward.z * center.z;
        precise float nearest = cull.parallel != 0u ? 1.0 : along - radius;
        for (uint i = 1u; i < bucket.levels; ++i) {
            precise float error = bucket.error[i] * stretch * cull.error_scale;
            if (error <= nearest) {
                level = i;
            }
        }
    }
    return level;
}

#ifdef OCCLUSION_TEST
float farthest(uint level, uvec2 texel) {
    if (level == 0u) {
        return texelFetch(depth_image, ivec2(texel), 0).x;
    }
    uint width = (cull.size.x + (1u << level) - 1u) >> level;
    return pyramid[cull.level_offset[level] + texel.y * width + texel.x];
}

// Whether the mesh's bounding box is behind the depth pyramid at all pixels that it may cover.
bool hidden(CullBucket bucket, InstanceTransform p, vec3 translation) {
    vec3 center = p.axis_x * bucket.center.x + p.axis_y * bucket.center.y
        + p.axis_z * bucket.center.z + translation;
    vec3 x = p.axis_x * bucket.half_size.x;
    vec3 y = p.axis_y * bucket.half_size.y;
    vec3 z = p.axis_z * bucket.half_size.z;
    vec2 low = vec2(1e30);
    vec2 high = vec2(-1e30);
    float nearest = 0.0;
    for (uint i = 0u; i < 8u; ++i) {
        vec3 corner = center + ((i & 1u) != 0u ? x : -x) + ((i & 2u) != 0u ? y : -y)
            + ((i & 4u) != 0u ? z : -z);
        vec4 clip = cull.view_projection * vec4(corner, 1.0);
        // A corner in front of the near plane, or too near the camera plane for the arithmetic, may
        // be visible.
        if (!(clip.w > 1e-6 * (abs(corner.x) + abs(corner.y) + abs(corner.z)))
            || !(clip.z < clip.w)) {
            return false;
        }
        vec3 ndc = clip.xyz / clip.w;
        low = min(low, ndc.xy);
        high = max(high, ndc.xy);
        nearest = max(nearest, ndc.z);
    }
    // Rounding of perspective depths is relative, of parallel ones absolute.
    nearest = nearest * (1.0 + 1e-4) + (cull.parallel != 0u ? 1e-5 : 0.0);
    vec2 size = vec2(cull.size);
    // Rounding of pixel positions: a hundredth, and more far outside the image.
    vec2 margin = vec2(0.01) + 1e-5 * max(abs(low), abs(high)) * size;
    vec2 from = (low * 0.5 + 0.5) * size - margin;
    vec2 to = (high * 0.5 + 0.5) * size + margin;
    if (!(to.x >= 0.0 && to.y >= 0.0 && from.x < size.x && from.y < size.y)) {
        return false;
    }
    uvec2 first = uvec2(clamp(floor(from), vec2(0.0), size - 1.0));
    uvec2 last = uvec2(clamp(floor(to), vec2(0.0), size - 1.0));
    // The finest level at which 4 x 4 texels cover the box.
    uint level = 0u;
    while (level < 10u && any(greaterThan((last >> level) - (first >> level), uvec2(3u)))) {
        ++level;
    }
    first >>= level;
    last >>= level;
    if (any(greaterThan(last - first, uvec2(3u)))) {
        return false;
    }
    for (uint ty = first.y; ty <= last.y; ++ty) {
        for (uint tx = first.x; tx <= last.x; ++tx) {
            if (!(nearest < farthest(level, uvec2(tx, ty)))) {
                return false;
            }
        }
    }
    return true;
}
#endif

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint index = gl_GlobalInvocationID.x;
    if (thread == 0u) {
        hidden_count = 0u;
    }
    barrier();
    bool drawn = false;
    uint level = 0u;
    if (index < cull.placements) {
        InstanceTransform p = placements[index];
        vec3 translation = relative_position(p.high, p.low, cull.camera_high, cull.camera_low);
        precise vec3 center = translation + p.offset;
        drawn = in_view(center, p.radius);
#ifdef OCCLUDERS
        drawn = drawn && was_visible[index] != 0u
            && (buckets[p.bucket].flags & BUCKET_OCCLUDES) != 0u;
#endif
#ifdef OCCLUSION_TEST
        if (drawn && hidden(buckets[p.bucket], p, translation)) {
            drawn = false;
            // The sum is independent of order.
            atomicAdd(hidden_count, 1u);
        }
#endif
        if (drawn) {
            level = detail(buckets[p.bucket], p.stretch, center, p.radius);
        }
#ifndef OCCLUDERS
        was_visible[index] = drawn ? 1u : 0u;
#endif
    }
    uvec2 own = uvec2(0u);
    if (drawn) {
        own[level >> 1] = 1u << (16u * (level & 1u));
    }
    sums[thread] = own;
    barrier();
    // Inclusive prefix sum (Hillis and Steele 1986, "Data Parallel Algorithms").
    for (uint step = 1u; step < BLOCK; step *= 2u) {
        uvec2 before = thread >= step ? sums[thread - step] : uvec2(0u);
        barrier();
        sums[thread] += before;
        barrier();
    }
    uvec2 before = sums[thread] - own;
    if (index < cull.placements) {
        uint packed = (before.x & 0xffu) | (before.x >> 16) << 8 | (before.y & 0xffu) << 16
            | (before.y >> 16) << 24;
        ranks[index] = uvec2(packed, level | (drawn ? STATE_DRAWN : 0u));
    }
    if (thread == BLOCK - 1u) {
        uvec2 all = sums[thread];
        counts[gl_WorkGroupID.x] =
            uvec4(all.x & 0xffffu, all.x >> 16, all.y & 0xffffu,
                (all.y >> 16) | hidden_count << 16);
    }
}
