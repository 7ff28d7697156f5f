#version 460
// variants: COARSE
// Depth pyramid (Hi-Z) of the SSR rays: per cell the nearest depth and the back-side depth, of the
// farthest surface plus its thickness. Pass `ssr_environment` writes level 0. Sizes are rounded up:
// cell (x, y) of level n covers the pixels from (x, y) 2^n. COARSE: levels 6 and 7 from level 5.
//
// Greene, Kass and Miller 1993, "Hierarchical Z-Buffer Visibility"; Uludag 2014, "Hi-Z Screen-Space
// Cone-Traced Reflections" (GPU Pro 5).
#extension GL_GOOGLE_include_directive : require
#include "shared/ssr.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };
#include "lib/ssr_hiz.glsl"
layout(set = 0, binding = 21, rg32f) uniform image2D pyramid_image;
#ifdef COARSE
const int FROM = 5;
#else
const int FROM = 0;
#endif

shared vec2 parts[64];

void store(int level, ivec2 cell, vec2 value) {
    if (level < int(ssr.level_count) && all(lessThan(cell, level_size(level)))) {
        imageStore(pyramid_image, level_corner(level) + cell, vec4(value, 0.0, 0.0));
    }
}

// Cells outside the image leave the result unchanged.
vec2 source(ivec2 cell) {
    if (any(greaterThanEqual(cell, level_size(FROM)))) {
        return vec2(0.0, 1.0);
    }
    return imageLoad(pyramid_image, level_corner(FROM) + cell).xy;
}

vec2 join(vec2 a, vec2 b) { return vec2(max(a.x, b.x), min(a.y, b.y)); }

// Each invocation computes 2 x 2 cells of the first level and their parent in the second: sharing
// data between more invocations costs more than the reads.
void main() {
    uvec2 local = gl_LocalInvocationID.xy;
    ivec2 own = ivec2(gl_GlobalInvocationID.xy);
    vec2 value = vec2(0.0, 1.0);
    for (int i = 0; i < 4; ++i) {
        ivec2 cell = own * 2 + ivec2(i & 1, i >> 1);
        vec2 part = join(join(source(cell * 2), source(cell * 2 + ivec2(1, 0))),
                         join(source(cell * 2 + ivec2(0, 1)), source(cell * 2 + 1)));
        store(FROM + 1, cell, part);
        value = join(value, part);
    }
    store(FROM + 2, own, value);
    parts[local.y * 8u + local.x] = value;
    barrier();
    for (uint step = 1u; step < 4u; ++step) {
        uint side = 8u >> step;
        bool works = all(lessThan(local, uvec2(side)));
        if (works) {
            uint at = local.y * 2u * 8u + local.x * 2u;
            value = join(join(parts[at], parts[at + 1u]), join(parts[at + 8u], parts[at + 9u]));
        }
        barrier();
        if (works) {
            parts[local.y * 8u + local.x] = value;
            store(FROM + 2 + int(step), ivec2(gl_WorkGroupID.xy * side + local), value);
        }
        barrier();
    }
}
