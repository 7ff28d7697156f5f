// Overlap of a round pupil and a barrel rim (mechanical vignetting); lengths in pupil radii.
#ifndef LIB_PUPIL
#define LIB_PUPIL
#include "lib/constants.glsl"

// Fraction of a circle of radius 1 inside a circle of radius `r` (at least 1) at center distance
// `d`. Mirrors pupil_overlap in src/camera/effect_models.rs, which cites its source.
float pupil_overlap(float r, float d) {
    if (d <= r - 1.0) {
        return 1.0;
    }
    if (d >= r + 1.0) {
        return 0.0;
    }
    float own = clamp((d * d + 1.0 - r * r) / (2.0 * d), -1.0, 1.0);
    float rim = clamp((d * d + r * r - 1.0) / (2.0 * d * r), -1.0, 1.0);
    float kite = max((r + 1.0 - d) * (d + 1.0 - r) * (d - 1.0 + r) * (d + 1.0 + r), 0.0);
    return (acos(own) + r * r * acos(rim) - 0.5 * sqrt(kite)) / PI;
}

#endif
