// Dither to 8-bit codes. Mirrors `dithered` in src/camera/tonemap.rs; a test compares both.
#ifndef LIB_DITHER
#define LIB_DITHER

// Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020, listing of pcg2d.
uvec2 pcg2d(uvec2 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * 1664525u;
    v.y += v.x * 1664525u;
    v ^= v >> 16u;
    v.x += v.y * 1664525u;
    v.y += v.x * 1664525u;
    v ^= v >> 16u;
    return v;
}

// Rounds fractional codes (0 to 255) so that their mean over many pixels is the code. Lipshitz,
// Wannamaker and Vanderkooy, "Quantization and Dither: A Theoretical Survey", J. AES 40(5), 1992:
// noise of triangular distribution, two steps wide, makes mean and variance of the error
// independent of the code. Within half a step of black and white, where that noise would be
// clipped, uniform noise of one step keeps the mean, and black stays black. All channels use the
// same noise, so that gray stays gray.
vec3 dithered(vec3 code, uvec2 pixel) {
    vec2 u = vec2(pcg2d(pixel) >> 8u) / 16777216.0;
    float triangular = u.x + u.y - 1.0;
    float even = u.x - 0.5;
    bvec3 middle = bvec3(vec3(greaterThanEqual(code, vec3(0.5)))
        * vec3(lessThanEqual(code, vec3(254.5))));
    return floor(code + mix(vec3(even), vec3(triangular), middle) + 0.5);
}

#endif
