#version 460
// variants: ALPHA_TEST
// Shadow map depth; with ALPHA_TEST, alpha-tested surfaces have holes, and blended ones cover the
// fraction of the texels that is their opacity.
#extension GL_GOOGLE_include_directive : require
#ifdef ALPHA_TEST
#include "shared/frame.glsl"
#include "lib/surface.glsl"
#include "lib/noise.glsl"

float hash_of_cell(vec3 cell) {
    ivec3 i = ivec3(clamp(cell, vec3(-2e9), vec3(2e9)));
    return (float(random(random(random(uint(i.x)) + uint(i.y)) + uint(i.z)) >> 8u) + 0.5)
        / 16777216.0;
}

// Alpha threshold, above 0 and at most 1, uniformly distributed: Wyman and McGuire 2017, "Hashed
// Alpha Testing", listings 3 and 4. The noise is fixed to the object, about a texel in size.
float hashed_threshold(vec3 place) {
    float widest = max(max(length(dFdx(place)), length(dFdy(place))), 1e-12);
    float level = log2(1.0 / widest);
    vec2 scales = exp2(vec2(floor(level), ceil(level)));
    vec2 cells = vec2(hash_of_cell(floor(scales.x * place)), hash_of_cell(floor(scales.y * place)));
    float f = fract(level);
    float x = mix(cells.x, cells.y, f);
    // Cumulative distribution of the interpolated number.
    float a = max(min(f, 1.0 - f), 1e-6);
    float low = x * x / (2.0 * a * (1.0 - a));
    float middle = (x - 0.5 * a) / (1.0 - a);
    float high = 1.0 - (1.0 - x) * (1.0 - x) / (2.0 * a * (1.0 - a));
    return clamp(x < a ? low : x < 1.0 - a ? middle : high, 1e-6, 1.0);
}
#endif

void main() {
#ifdef ALPHA_TEST
    float threshold = materials[material_index].emission.a;
    if ((materials[material_index].flags & MATERIAL_BLEND) != 0u) {
        threshold = hashed_threshold(in_position);
    }
    if (fragment_base_color().a < threshold) {
        discard;
    }
#endif
}
