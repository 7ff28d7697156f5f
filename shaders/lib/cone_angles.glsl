// Angles as cosine and sine, for the bounds and estimates of nodes of light trees.
#ifndef LIB_CONE_ANGLES
#define LIB_CONE_ANGLES

// Cosine and sine of an angle, 0 to pi.
vec2 with_sine(float cosine) {
    cosine = clamp(cosine, -1.0, 1.0);
    return vec2(cosine, sqrt(1.0 - cosine * cosine));
}

// Cosine and sine of an angle minus another, at least 0.
vec2 less_angle(vec2 angle, vec2 other) {
    return angle.x >= other.x ? vec2(1.0, 0.0)
                              : vec2(angle.x * other.x + angle.y * other.y,
                                  angle.y * other.x - angle.x * other.y);
}

// Mean of a clamped cosine over a uniform interval of half width `spread` around its middle.
float mean_cosine(float middle, float spread) {
    float above = max(middle + spread, 0.0);
    return middle >= spread ? middle : above * above / max(4.0 * spread, 1e-6);
}

#endif
