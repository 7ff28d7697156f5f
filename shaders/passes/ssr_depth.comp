#version 460
// variants: COARSE
// The pyramid that reflected rays walk: of each cell the nearest and the farthest depth that lies in it (greatest and
// least: depth is reversed). Level 0 has the pixels, each as the piece of a plane through its centre that its neighbours
// show; sizes are rounded up, so that cell (x, y) of level n is the pixels from (x, y) 2^n on, whatever the picture's size.
// COARSE: levels 6 to 10 from level 5.
//
// Greene, Kass and Miller 1993, "Hierarchical Z-Buffer Visibility"; Uludag 2014, "Hi-Z Screen-Space Cone-Traced
// Reflections" (GPU Pro 5).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/ssr.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };
layout(set = 0, binding = 21, scalar) buffer pyramid_block { vec2 cells[]; };
#ifndef COARSE
layout(set = 0, binding = 1) uniform texture2D depth_image;
#include "lib/ssr_plane.glsl"
const uint FROM = 0u;
#else
const uint FROM = 5u;
#endif

shared vec2 parts[256];

uvec2 level_size(uint level) {
    return (ssr.size + (1u << level) - 1u) >> level;
}

void store(uint level, uvec2 cell, vec2 value) {
    uvec2 size = level_size(level);
    if (level < ssr.level_count && all(lessThan(cell, size))) {
        cells[ssr.level_offset[level] + cell.y * size.x + cell.x] = value;
    }
}

// Cells outside of the picture change nothing.
vec2 source(uvec2 cell) {
    uvec2 size = level_size(FROM);
    if (any(greaterThanEqual(cell, size))) {
        return vec2(0.0, 1.0);
    }
#ifdef COARSE
    return cells[ssr.level_offset[FROM] + cell.y * size.x + cell.x];
#else
    vec3 plane = depth_plane(ivec2(cell));
    float rise = 0.5 * (abs(plane.y) + abs(plane.z));
    vec2 value = vec2(plane.x + rise, plane.x - rise);
    store(0u, cell, value);
    return value;
#endif
}

vec2 join(vec2 a, vec2 b) { return vec2(max(a.x, b.x), min(a.y, b.y)); }

void main() {
    uvec2 local = gl_LocalInvocationID.xy;
    uvec2 own = gl_GlobalInvocationID.xy;
    vec2 value = join(join(source(own * 2u), source(own * 2u + uvec2(1u, 0u))),
                      join(source(own * 2u + uvec2(0u, 1u)), source(own * 2u + 1u)));
    store(FROM + 1u, own, value);
    parts[local.y * 16u + local.x] = value;
    barrier();
    for (uint step = 1u; step < 5u; ++step) {
        uint side = 16u >> step;
        bool works = all(lessThan(local, uvec2(side)));
        if (works) {
            uint at = local.y * 2u * 16u + local.x * 2u;
            value = join(join(parts[at], parts[at + 1u]), join(parts[at + 16u], parts[at + 17u]));
        }
        barrier();
        if (works) {
            parts[local.y * 16u + local.x] = value;
            store(FROM + 1u + step, gl_WorkGroupID.xy * side + local, value);
        }
        barrier();
    }
}
