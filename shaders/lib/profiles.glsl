// Measured distributions of lamps.
#ifndef LIB_PROFILES
#define LIB_PROFILES

// Intensity in a direction (unit, away from the lamp) over the strongest.
float profile_factor(Light light, vec3 away) {
    return 1.0;
}

#endif
