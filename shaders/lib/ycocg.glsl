// Light as temporal passes compare it.
#ifndef LIB_YCOCG
#define LIB_YCOCG

// Half floats end there: the farthest depth (m) that is told apart, the most light.
const float MAX_HALF = 65504.0;

float luminance(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }

// Weighing light by 1 / (1 + luminance) and dividing by the mean weight is the plain mean of this,
// taken back. `judged` brings light to the exposure that histories are judged at, which goes after
// the picture's slowly: else what was squeezed before a step of exposure would be another mean than
// what is after it.
vec3 compress_luminance(vec3 c, float judged) {
    c *= judged;
    return c / (1.0 + luminance(c));
}
vec3 stretch(vec3 c, float judged) { return c / (max(1.0 - luminance(c), 0.1 / MAX_HALF) * judged); }

vec3 to_ycocg(vec3 c) {
    return vec3(dot(c, vec3(0.25, 0.5, 0.25)), dot(c, vec3(0.5, 0.0, -0.5)), dot(c, vec3(-0.25, 0.5, -0.25)));
}

vec3 from_ycocg(vec3 c) {
    float t = c.x - c.z;
    return vec3(t + c.y, c.x + c.z, t - c.y);
}

#endif
