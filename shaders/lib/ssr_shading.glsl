// Applies reflections to a pixel's light (pre-exposed). The including shader declares `ssr` and
// `reflectance_image`, the DFG table (src/photometry/environment): scale and bias of F0, by view
// cosine and perceptual roughness.
#ifndef LIB_SSR_LIGHT
#define LIB_SSR_LIGHT

// Matches DFG_SIZE of the host.
const int SIZE = 32;

vec3 specular_albedo(Surface s) {
    vec2 p = vec2(clamp(dot(s.normal, s.view), 0.0, 1.0), sqrt(s.alpha)) * float(SIZE - 1);
    ivec2 low = ivec2(min(p, float(SIZE - 2)));
    vec2 f = p - vec2(low);
    vec2 at[4];
    for (int i = 0; i < 4; ++i) {
        at[i] = texelFetch(reflectance_image, low + ivec2(i & 1, i >> 1), 0).xy;
    }
    vec2 dfg = mix(mix(at[0], at[1], f.x), mix(at[2], at[3], f.x), f.y);
    return mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic) * dfg.x + dfg.y;
}

// Reflected light found by rays, times the specular albedo. The occlusion map dims it, as it is
// indirect light.
vec3 found_light(Surface s, ivec2 pixel, vec3 reflection) {
    return reflection != vec3(0.0) ? specular_albedo(s) * surface_occlusion(pixel) * reflection
        : vec3(0.0);
}

// Adds the found reflection and the remaining environment reflection; their weights sum to that of
// the environment alone. Light of frames that are averaged may be negative.
vec3 with_reflections(vec3 light, vec3 environment, float share, vec3 found) {
    return to_signed_half_range(
        light + (ssr.hits_only == 0u ? environment * share : vec3(0.0)) + found);
}

#endif
