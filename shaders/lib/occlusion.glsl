// Occlusion of indirect light: the material's occlusion map, and ambient occlusion of pass `ao`
// (docs/ambient-occlusion.md). `brdf.glsl` comes before it.
//
// The map is the fraction of indirect light that reaches the surface, 0 to 1: glTF 2.0, section
// 3.9.3, where 0 is no indirect lighting and 1 is all of it, diffuse and specular. Map and pass
// measure the same occluders, so each part of the light takes the minimum of both, not their
// product. Direct light is not occluded.
#ifndef LIB_OCCLUSION
#define LIB_OCCLUSION

// Visibility of the environment from a surface.
struct AmbientVisibility {
    float ambient;       // fraction of diffuse environment light, 0 to 1
    float measured;      // visible fraction by the depth buffer, for the specular lobes
    float map;           // occlusion map, for both parts
    vec3 bent_normal;    // unit, mean unoccluded direction
};

// Visibility without pass `ao`: the map alone.
AmbientVisibility unmeasured_visibility(Surface s, float map) {
    return AmbientVisibility(map, 1.0, map, s.normal);
}

// Visibility by pass `ao`: bent normal and cosine-weighted visibility.
AmbientVisibility measured_visibility(vec4 measured, float map) {
    float visible = clamp(measured.w, 0.0, 1.0);
    // The first 2 % of occlusion do not affect reflections: tessellation causes that much.
    float open = min(visible / 0.98, 1.0);
    return AmbientVisibility(min(visible, map), open, map, normalize(measured.xyz));
}

// Specular occlusion from ambient visibility: Lagarde and de Rousiers 2014, listing 26. Cones about
// the bent normal (Oat and Sander 2007; Jimenez et al. 2016) lose all reflections at grazing angles
// at the first trace of occlusion: a metal ball beside another gets a black rim.
float lobe_visibility(Surface s, AmbientVisibility v) {
    float nv = clamp(dot(s.normal, s.view), 0.0, 1.0);
    return clamp(pow(nv + v.measured, exp2(-16.0 * s.alpha - 1.0)) - 1.0 + v.measured, 0.0, 1.0);
}

// Specular visibility, 0 to 1. The map applies to every lobe.
float specular_visibility(Surface s, AmbientVisibility v) {
    return min(lobe_visibility(s, v), v.map);
}

// Occlusion map factor for light found by rays. Rays already exclude the hidden fraction 1 -
// `visible`: the map takes only the excess.
float beyond_rays(float map, float visible) {
    return min(map / max(visible, 1e-3), 1.0);
}

#endif
