// Layout of the depth pyramid (Hi-Z) in its image. The including shader declares `ssr`.
#ifndef LIB_SSR_PYRAMID
#define LIB_SSR_PYRAMID

// Cells of a level, rounded up: cell (x, y) starts at pixel (x, y) 2^level.
ivec2 level_size(int level) {
    return (ivec2(ssr.size) + (1 << level) - 1) >> level;
}

// First texel of a level: level 0 on top, the others below from left to right, each padded to whole
// cells of the coarsest level.
ivec2 level_corner(int level, int row, int height) {
    return ivec2(max(row - (2 * row >> level), 0), level > 0 ? height : 0);
}
ivec2 level_corner(int level) { return level_corner(level, int(ssr.level_row), int(ssr.size.y)); }

#endif
