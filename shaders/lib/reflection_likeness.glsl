// Likeness of the reflections of two pixels, for filters that share reflected light. `brdf.glsl`
// comes before it.
#ifndef LIB_REFLECTION_LIKENESS
#define LIB_REFLECTION_LIKENESS

// Tolerance of the angle between mirror directions, as a fraction of the lobe's half angle; facets
// turn reflections by twice their own angle.
const float LOBE_PART = 0.35;
// Tolerance of perceptual roughness.
const float ROUGHNESS_STEP = 0.1;

// 0 to 1, by unit mirror directions and perceptual roughness of this pixel and of another.
float reflection_likeness(vec3 mirrored, vec3 other_mirrored, float roughness,
    float other_roughness) {
    float half_angle = 2.0 * max(roughness * roughness, MIN_ALPHA);
    float turned = distance(mirrored, other_mirrored) / (LOBE_PART * half_angle);
    float rougher = (other_roughness - roughness) / ROUGHNESS_STEP;
    return exp(-turned * turned - rougher * rougher);
}

#endif
