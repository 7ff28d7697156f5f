// Starburst lookup: the point spread function (src/optics/starburst.rs) as levels of 512 x 512
// texels, each twice as wide as the last, in steps of half a cycle at 550 nm.
#ifndef LIB_STARBURST
#define LIB_STARBURST
#include "shared/flare_sources.glsl"

const int BURST_HALF = 256;
// Last level of the table (LAST_LEVEL in src/passes/starburst.rs); light beyond is extrapolated
// from it.
const int BURST_LAST = 8;

// Light of a texel. Stored times 2^level and the cube of the distance, which makes it nearly
// constant.
vec3 burst_texel(ivec2 at, int level) {
    uint packed = burst_texels[(level * 2 * BURST_HALF + at.y + BURST_HALF) * 2 * BURST_HALF + at.x
        + BURST_HALF];
    // EXT_texture_shared_exponent: three mantissas of nine bits, an exponent with a bias of 15.
    vec3 mantissas = vec3(packed & 511u, packed >> 9 & 511u, packed >> 18 & 511u);
    vec2 middle = vec2(at) + 0.5;
    float far2 = 1.0 + dot(middle, middle);
    return ldexp(mantissas, ivec3(int(packed >> 27) - 24 - level)) / (far2 * sqrt(far2));
}

// Light on a square around a position, in steps: Starburst::on_square. The square of half side
// `own` around the center is excluded.
vec3 burst_square(vec2 at, float side, float own) {
    float reach = max(abs(at.x), abs(at.y)) + 0.5 * side;
    float fine = reach < 3.0 * side ? 0.125 : reach < 10.5 * side ? 0.5 : 1.0;
    int level = clamp(int(floor(log2(max(side * fine, 1.0)))), 0, BURST_LAST);
    // Texels at least as large as the box, between which light is linear.
    while (level < BURST_LAST && reach + 0.5 * ldexp(1.0, level)
        > ldexp(float(BURST_HALF), level)) {
        ++level;
    }
    float scale = 1.0;
    float texel = ldexp(1.0, level);
    while (reach + 0.5 * texel > texel * float(BURST_HALF) && scale > 1e-6) {
        // Twice the distance and size has half the light.
        at *= 0.5;
        side *= 0.5;
        own *= 0.5;
        reach *= 0.5;
        scale *= 0.5;
    }
    float size = side / texel;
    float wide = max(size, 1.0);
    vec2 from = at / texel - 0.5 * wide;
    vec2 to = at / texel + 0.5 * wide;
    float hole = own / texel;
    ivec2 first = max(ivec2(floor(from)), ivec2(-BURST_HALF));
    ivec2 last = min(ivec2(ceil(to)), ivec2(BURST_HALF)) - 1;
    vec3 light = vec3(0.0);
    for (int y = first.y; y <= last.y; ++y) {
        vec2 rows = vec2(max(from.y, float(y)), min(to.y, float(y) + 1.0));
        float along = max(rows.y - rows.x, 0.0);
        float along_own = max(min(rows.y, hole) - max(rows.x, -hole), 0.0);
        for (int x = first.x; x <= last.x; ++x) {
            vec2 columns = vec2(max(from.x, float(x)), min(to.x, float(x) + 1.0));
            float across = max(columns.y - columns.x, 0.0);
            float across_own = max(min(columns.y, hole) - max(columns.x, -hole), 0.0);
            light += burst_texel(ivec2(x, y), level) * (across * along - across_own * along_own);
        }
    }
    return light * (scale * size * size / (wide * wide));
}

// Side (pixels) of the lookup for a pixel of a source with a disk: wide enough for neighboring
// points of the disk to overlap. Light diffracted by less than half of it stays in place.
float burst_side(float disk) {
    return disk < 0.5 ? 1.0 : max(0.7 * disk, 1.0);
}

// Light beyond a square around the center: Starburst::beyond.
float burst_beyond(float half_side, vec4 beyond) {
    float widths = log2(max(half_side / float(BURST_HALF), 1.0));
    if (widths >= 2.0) {
        return beyond.z * exp2(2.0 - widths);
    }
    vec2 ends = widths < 1.0 ? beyond.xy : beyond.yz;
    float part = fract(widths);
    return pow(max(ends.x, 1e-12), 1.0 - part) * pow(max(ends.y, 1e-12), part);
}

#endif
