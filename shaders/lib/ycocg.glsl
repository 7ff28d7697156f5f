// Luminance compression, YCoCg color space and variance clipping for the temporal passes
// (pre-exposed light).
#ifndef LIB_YCOCG
#define LIB_YCOCG
#include "lib/luminance.glsl"

// Half float maximum: limit of distinguishable depth (m) and of light.
const float MAX_HALF = 65504.0;

// Least difference of a compressed luminance from 1, the limit of light without bound.
const float MIN_FROM_ONE = 0.1 / MAX_HALF;

// A mean with weights 1 / (1 + luminance) equals the plain mean of compressed values, inverted by
// `stretch`. `exposure_scale` scales light to the smoothed exposure of the history comparison: else
// compression before and after an exposure step would differ.
vec3 compress_luminance(vec3 c, float exposure_scale) {
    c *= exposure_scale;
    return c / (1.0 + luminance(c));
}
vec3 stretch(vec3 c, float exposure_scale) { return c
    / (max(1.0 - luminance(c), MIN_FROM_ONE) * exposure_scale); }

vec3 to_ycocg(vec3 c) {
    return vec3(dot(c, vec3(0.25, 0.5, 0.25)), dot(c, vec3(0.5, 0.0, -0.5)),
        dot(c, vec3(-0.25, 0.5, -0.25)));
}

vec3 from_ycocg(vec3 c) {
    float t = c.x - c.z;
    return vec3(t + c.y, c.x + c.z, t - c.y);
}

// Variance clipping (Salvi 2016, "An Excursion in Temporal Supersampling"): the history's offset
// from the mean of its neighborhood, shortened to lie within `deviation`.
vec3 clip_to_deviation(vec3 off, vec3 deviation) {
    vec3 beyond = abs(off) / max(deviation, 1e-6);
    float most = max(max(beyond.x, beyond.y), beyond.z);
    return most > 1.0 ? off / most : off;
}

#endif
