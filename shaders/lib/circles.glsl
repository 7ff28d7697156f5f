// Size classes of circles of confusion. The including shader declares `lens` (DepthOfFieldConstants).
//
// A pixel whose circle has the radius r belongs to class log2(r / 3), by parts to the two nearest whole numbers. Class k
// is spread at a resolution of one in 2^k, where its circles are 1.5 to 6 texels in radius: each class costs the same
// few taps a texel, none is left out, and nothing needs noise.
#ifndef LIB_CIRCLES
#define LIB_CIRCLES

const float CLASS_RADIUS = 3.0;
const int REACH = 6;           // texels: twice CLASS_RADIUS

float class_share(float radius, uint level) {
    float number = clamp(log2(max(abs(radius), 1e-6) / CLASS_RADIUS), 0.0, float(lens.last_level));
    return max(0.0, 1.0 - abs(number - float(level)));
}

#endif
