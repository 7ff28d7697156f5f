// Reflections into the light of a pixel. The including shader declares `ssr` and, as
// `reflectance_image`, the table of reflectances (src/photometry/environment): by cosine to the
// view and roughness scale and bias of F0.
#ifndef LIB_SSR_LIGHT
#define LIB_SSR_LIGHT

// As DFG_SIZE of the host.
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

// What of a pixel's light was found in the picture. It is indirect light, of which the occlusion
// map leaves a share.
vec3 found_light(Surface s, ivec2 pixel, vec3 reflection) {
    return reflection != vec3(0.0) ? specular_albedo(s) * surface_occlusion(pixel) * reflection : vec3(0.0);
}

// Light with what was found and with the share that the surroundings keep: together they have the
// weight that the surroundings alone had.
vec3 with_reflections(vec3 light, vec3 surroundings, float share, vec3 found) {
    return to_half_range(light + (ssr.bare == 0u ? surroundings * share : vec3(0.0)) + found);
}

#endif
