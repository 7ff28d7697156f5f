// Bicubic interpolation of `light_image` (pre-exposed light), which the including shader declares.
#ifndef LIB_CUBIC
#define LIB_CUBIC

#include "lib/packing.glsl"

// Keys 1981, "Cubic Convolution Interpolation for Digital Image Processing", a = -1/2.
vec4 cubic(float t) {
    vec4 d = vec4(1.0 + t, t, 1.0 - t, 2.0 - t);
    vec4 d2 = d * d;
    vec4 d3 = d2 * d;
    vec4 inner = 1.5 * d3 - 2.5 * d2 + 1.0;
    vec4 outer = -0.5 * d3 + 2.5 * d2 - 4.0 * d + 2.0;
    return vec4(outer.x, inner.y, inner.z, outer.w);
}

float channel_at(vec2 at, int channel) {
    vec2 corner = at - 0.5;
    ivec2 low = ivec2(floor(corner));
    vec2 part = corner - vec2(low);
    ivec2 last = textureSize(light_image, 0) - 1;
    vec4 across = cubic(part.x);
    vec4 down = cubic(part.y);
    float sum = 0.0;
    float least = 65504.0;
    float most = 0.0;
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) {
            float v = to_half_range(texelFetch(light_image,
                clamp(low + ivec2(x - 1, y - 1), ivec2(0), last), 0).rgb)[channel];
            sum += across[x] * down[y] * v;
            if (x > 0 && x < 3 && y > 0 && y < 3) {
                least = min(least, v);
                most = max(most, v);
            }
        }
    }
    // Clamping to the four nearest pixels prevents dark ringing around bright lights.
    return clamp(sum, least, most);
}

#endif
