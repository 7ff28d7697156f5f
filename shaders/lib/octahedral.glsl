// Octahedral map of unit vectors to -1 to 1 (Cigolle et al. 2014, "A Survey of Efficient
// Representations for Independent Unit Vectors", JCGT 3(2)).
#ifndef LIB_OCTAHEDRAL
#define LIB_OCTAHEDRAL

vec2 octahedral_of(vec3 d) {
    vec2 p = d.xy / (abs(d.x) + abs(d.y) + abs(d.z));
    vec2 folded = (1.0 - abs(p.yx)) * mix(vec2(-1.0), vec2(1.0), greaterThanEqual(p, vec2(0.0)));
    return d.z >= 0.0 ? p : folded;
}

vec3 octahedral_direction(vec2 p) {
    vec3 d = vec3(p, 1.0 - abs(p.x) - abs(p.y));
    float fold = max(-d.z, 0.0);
    d.xy += mix(vec2(fold), vec2(-fold), greaterThanEqual(d.xy, vec2(0.0)));
    return normalize(d);
}

#endif
