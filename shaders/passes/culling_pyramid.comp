#version 460
// variants: COARSE
// Depth pyramid for occlusion culling, five levels per dispatch: each texel is the farthest
// (minimum) of 2 x 2 texels below. Reversed depth. Sizes are rounded up: texel (x, y) of level n
// covers the pixels from (x, y) 2^n. COARSE starts from level 5 instead of the depth image.
#extension GL_GOOGLE_include_directive : require
#include "lib/culling.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0, scalar) uniform cull_block { CullConstants cull; };
layout(set = 0, binding = 1, scalar) buffer pyramid_block { float pyramid[]; };
#ifndef COARSE
layout(set = 0, binding = 2) uniform texture2D depth_image;
const uint FROM = 0u;
#else
const uint FROM = 5u;
#endif

shared float texels[256];

uvec2 level_size(uint level) {
    return (cull.size + (1u << level) - 1u) >> level;
}

// Texels outside the image return the nearest depth, which leaves the minimum unchanged.
float source(uvec2 texel) {
    uvec2 size = level_size(FROM);
    if (any(greaterThanEqual(texel, size))) {
        return 1.0;
    }
#ifdef COARSE
    return pyramid[cull.level_offset[FROM] + texel.y * size.x + texel.x];
#else
    return texelFetch(depth_image, ivec2(texel), 0).x;
#endif
}

void store(uint level, uvec2 texel, float value) {
    uvec2 size = level_size(level);
    if (all(lessThan(texel, size))) {
        pyramid[cull.level_offset[level] + texel.y * size.x + texel.x] = value;
    }
}

void main() {
    uvec2 local = gl_LocalInvocationID.xy;
    uvec2 own = gl_GlobalInvocationID.xy;
    float value = min(min(source(own * 2u), source(own * 2u + uvec2(1u, 0u))),
                      min(source(own * 2u + uvec2(0u, 1u)), source(own * 2u + 1u)));
    store(FROM + 1u, own, value);
    texels[local.y * 16u + local.x] = value;
    barrier();
    for (uint step = 1u; step < 5u; ++step) {
        uint side = 16u >> step;
        bool works = all(lessThan(local, uvec2(side)));
        if (works) {
            uint at = local.y * 2u * 16u + local.x * 2u;
            value = min(min(texels[at], texels[at + 1u]), min(texels[at + 16u], texels[at + 17u]));
        }
        barrier();
        if (works) {
            texels[local.y * 16u + local.x] = value;
            store(FROM + 1u + step, gl_WorkGroupID.xy * side + local, value);
        }
        barrier();
    }
}
