// Random and blue-noise samples per pixel and frame, 0 to 1.
#ifndef LIB_NOISE
#define LIB_NOISE

// Jarzynski and Olano 2020, "Hash Functions for GPU Rendering" (pcg).
uint random(uint v) {
    v = v * 747796405u + 2891336453u;
    v = ((v >> ((v >> 28u) + 4u)) ^ v) * 277803737u;
    return v >> 22u ^ v;
}

// Two blue-noise samples. The 64 texels of an 8 x 8 block take the points of a Hammersley set in
// the order of their Morton codes. The points of each square of texels are therefore well
// distributed, and the remaining noise is of high frequency (Ahmed and Wonka 2020, "Screen-Space
// Blue-Noise Diffusion of Monte Carlo Sampling Error via Hierarchical Ordering of Pixels"). Blocks
// are shifted randomly, frames by the plastic number's sequence (Roberts 2018, "The Unreasonable
// Effectiveness of Quasirandom Sequences").
vec2 blue_noise_2d(uvec2 texel, uint number) {
    uint code = 0u;
    for (uint bit = 0u; bit < 3u; ++bit) {
        code |= (texel.x >> bit & 1u) << 2u * bit | (texel.y >> bit & 1u) << 2u * bit + 1u;
    }
    uint seed = random(random(texel.x >> 3u) + (texel.y >> 3u));
    vec2 shift = vec2(seed & 0xffffu, seed >> 16u) / 65536.0;
    vec2 point = vec2((float(code) + 0.5) / 64.0,
        float(bitfieldReverse(code) >> 26u) / 64.0 + 1.0 / 128.0);
    return fract(point + shift + fract(float(number & 1023u) * vec2(0.7548776662, 0.5698402910)));
}

// Two samples independent of those: random per pixel, and per frame the second and fourth dimension
// of the four-dimensional sequence of Roberts 2018.
vec2 next_sample(uvec2 texel, uint number) {
    uint seed = random(random(texel.x * 2u + 1u) ^ texel.y);
    vec2 shift = vec2(seed & 0xffffu, seed >> 16u) / 65536.0;
    return fract(shift + fract(float(number & 1023u) * vec2(0.7338918566, 0.5385972572)));
}

// Two random numbers per pixel and frame, independent of both.
vec2 random_2d(uvec2 texel, uint number) {
    uint seed = random(random(random(texel.x * 2u) ^ texel.y) ^ number);
    return vec2(seed & 0xffffu, seed >> 16u) / 65536.0;
}

#endif
