// Rays of the probes of an irradiance volume: their directions. The including shader declares
// `update`, and includes lib/noise.glsl and lib/constants.glsl.
#ifndef LIB_GI_PROBE_RAYS
#define LIB_GI_PROBE_RAYS

vec3 rotated(vec4 q, vec3 v) {
    vec3 t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

// Direction of a ray: spherical Fibonacci points (Keinert et al. 2015, "Spherical Fibonacci
// Mapping"), turned by the sweep's rotation, and about their axis by the probe, so that the noise
// of neighbors differs.
vec3 probe_ray_direction(uint probe, uint i) {
    float turn = float(random(probe) >> 8u) / 16777216.0;
    float angle = 2.0 * PI * fract(float(i) * 0.61803398875 + turn);
    float z = 1.0 - (2.0 * float(i) + 1.0) / float(update.rays);
    float r = sqrt(max(1.0 - z * z, 0.0));
    return normalize(rotated(update.rotation, vec3(r * cos(angle), r * sin(angle), z)));
}

#endif
