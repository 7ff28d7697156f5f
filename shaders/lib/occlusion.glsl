// Occlusion of light from around a surface: by the material's occlusion map, and as the pass `ao`
// measured it (docs/ambient-occlusion.md). `brdf.glsl` comes before it.
//
// The map is the share of indirect light that reaches the surface, 0 to 1: glTF 2.0, section 3.9.3,
// where 0 is no indirect lighting and 1 is all of it, diffuse and specular. Map and pass are of the
// same surroundings, so that of each part of the light the lesser share of both is left, not their
// product. Lamps are not dimmed.
#ifndef LIB_OCCLUSION
#define LIB_OCCLUSION

// What of its surroundings a surface sees.
struct AmbientVisibility {
    float ambient;       // share of light from all around that is left to the diffuse part, 0 to 1
    float measured;      // share that the depth buffer shows to be open, of which lobes see another
    float map;           // what the occlusion map leaves of either part
    vec3 bent_normal;    // unit, the mean direction of what is open
};

// Where nothing was measured: the map alone.
AmbientVisibility unmeasured_visibility(Surface s, float map) {
    return AmbientVisibility(map, 1.0, map, s.normal);
}

// As the pass `ao` measured it: bent normal and visibility, weighed with the cosine.
AmbientVisibility measured_visibility(vec4 measured, float map) {
    float visible = clamp(measured.w, 0.0, 1.0);
    // The first 2 % of what hides take nothing from reflections: facets amount to that.
    float open = min(visible / 0.98, 1.0);
    return AmbientVisibility(min(visible, map), open, map, normalize(measured.xyz));
}

// How much of its reflection a surface sees, by how much of everything it sees: Lagarde and de
// Rousiers 2014, listing 26. Cones about the bent normal (Oat and Sander 2007; Jimenez et al. 2016)
// lose all reflections at grazing angles with the first trace of what hides: a metal ball beside
// another had a black rim.
float lobe_visibility(Surface s, AmbientVisibility v) {
    float nv = clamp(dot(s.normal, s.view), 0.0, 1.0);
    return clamp(pow(nv + v.measured, exp2(-16.0 * s.alpha - 1.0)) - 1.0 + v.measured, 0.0, 1.0);
}

// Share of its reflection that is left to a surface, 0 to 1. The map's share is that of every lobe.
float specular_visibility(Surface s, AmbientVisibility v) {
    return min(lobe_visibility(s, v), v.map);
}

// What the map leaves of light that rays found. Rays miss the hidden share 1 - `visible` already:
// the map takes only what exceeds it.
float beyond_rays(float map, float visible) {
    return min(map / max(visible, 1e-3), 1.0);
}

#endif
