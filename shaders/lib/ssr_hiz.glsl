// Where the levels of the pyramid of depths lie in its image. The including shader declares `ssr`.
#ifndef LIB_SSR_PYRAMID
#define LIB_SSR_PYRAMID

// Cells of a level: sizes are rounded up, so that cell (x, y) is the pixels from (x, y) 2^level on.
ivec2 level_size(int level) {
    return (ivec2(ssr.size) + (1 << level) - 1) >> level;
}

// Texel of a level's first cell: level 0 on top, below it the others from left to right, each as
// wide as a row of whole cells of the coarsest level.
ivec2 level_corner(int level, int row, int height) {
    return ivec2(max(row - (2 * row >> level), 0), level > 0 ? height : 0);
}
ivec2 level_corner(int level) { return level_corner(level, int(ssr.level_row), int(ssr.size.y)); }

#endif
