// Size classes of circles of confusion (CoC). The including shader declares `lens`
// (DepthOfFieldConstants).
//
// A pixel whose circle has the radius r (pixels) belongs to class floor(log2(r / 4)), with a soft
// transition to the next. Class k is gathered at 1 / 2^k resolution, where its circles have radii
// of 3.4 to 8 texels. Each class therefore costs the same few taps per texel, skips no texel and
// needs no noise.
#ifndef LIB_COC
#define LIB_COC

const float CLASS_RADIUS = 4.0;
const int REACH = 8;           // texels: twice CLASS_RADIUS
const float STEP = 0.25;       // fraction of a class over which circles blend to the next class

float coc_class_weight(float radius, uint level) {
    float number = clamp(log2(max(abs(radius), 1e-6) / CLASS_RADIUS), 0.0, float(lens.last_level));
    float lower = floor(number);
    float next = clamp((number - lower - (1.0 - STEP)) / STEP, 0.0, 1.0);
    float own = float(level) - lower;
    return own == 0.0 ? 1.0 - next : own == 1.0 ? next : 0.0;
}

#endif
