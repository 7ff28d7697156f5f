// Depth of field gather: functions shared by the passes of the size classes and of the smallest
// class. The including shader declares `lens`, `reaches`, and the images of the next larger class,
// `near_coarser`, `far_coarser`, `background_coarser`.
#ifndef LIB_DOF_GATHER
#define LIB_DOF_GATHER
#include "lib/upsample.glsl"

// Maximum CoC radii (texels) that can reach a texel, in front of the focus plane and behind it.
vec2 max_coc_at(ivec2 texel, ivec2 size) {
    ivec2 tiles = (size + 15) / 16;
    ivec2 tile = texel / 16;
    vec2 reach = vec2(0.0);
    for (int y = max(tile.y - 1, 0); y <= min(tile.y + 1, tiles.y - 1); ++y) {
        for (int x = max(tile.x - 1, 0); x <= min(tile.x + 1, tiles.x - 1); ++x) {
            reach = max(reach, reaches[y * tiles.x + x]);
        }
    }
    return reach;
}

// Normalizes a layer whose coverage exceeds 1.
vec4 whole(vec4 layer) {
    return layer / max(layer.a, 1.0);
}

// Composites a layer behind another. Each pixel belongs to one layer only, so coverages add and do
// not overlap.
vec4 over(vec4 front, vec4 back) {
    return front + back * (min(1.0 - front.a, back.a) / max(back.a, 1e-6));
}

#endif
