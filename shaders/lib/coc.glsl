// Size classes of circles of confusion. The including shader declares `lens`
// (DepthOfFieldConstants).
//
// A pixel whose circle has the radius r belongs to class log2(r / 4), rounded down, with a soft
// step to the next. Class k is spread at a resolution of one in 2^k, where its circles are 3.4 to 8
// texels in radius: each class costs the same few taps a texel, none is left out, and nothing needs
// noise.
#ifndef LIB_COC
#define LIB_COC

const float CLASS_RADIUS = 4.0;
const int REACH = 8;           // texels: twice CLASS_RADIUS
const float STEP = 0.25;       // of a class, over which circles change to the next

float coc_class_weight(float radius, uint level) {
    float number = clamp(log2(max(abs(radius), 1e-6) / CLASS_RADIUS), 0.0, float(lens.last_level));
    float lower = floor(number);
    float next = clamp((number - lower - (1.0 - STEP)) / STEP, 0.0, 1.0);
    float own = float(level) - lower;
    return own == 0.0 ? 1.0 - next : own == 1.0 ? next : 0.0;
}

#endif
