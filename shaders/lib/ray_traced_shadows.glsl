// Ray-traced shadows: visibility of a light from a point, 0 to 1 (docs/shadows.md).
#ifndef LIB_RAY_TRACED_SHADOWS
#define LIB_RAY_TRACED_SHADOWS
#include "lib/light_sampling.glsl"
#define BVH_RAY_KEYS
#include "lib/bvh.glsl"

// Center of the shaded pixel, which seeds the noise. Compute shaders define their own.
#ifndef PIXEL_CENTER
#define PIXEL_CENTER gl_FragCoord.xy
#endif

// Finds the pixel's surface in the BVH: the depth buffer's point is accurate to `span` (m) along
// the view ray, the triangle is exact.
void set_shadow_ray_origin(Surface s, float span) {
    set_shadow_ray_origin_at(
        trace_ray(s.position + s.view * span, -s.view, vec3(0.0), 2.0 * span, false), s, span);
}

// Visible fraction of a light's illuminance, 0 to 1: the ratio of two sums over the same samples,
// with and without occlusion (Heitz, Hill and McGuire 2018, "Combining Analytic Direct Illumination
// and Stochastic Shadows"). The unshadowed light itself is exact. Samples have diffuse weights.
// `share` is the unshadowed light over the luminance of white. It sets the ray count so that
// stratified noise, at most one half over that count, stays below 1/512 of white;
// frame.shadow_samples is the maximum.
float traced_visibility(Light light, Surface s, float share) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    bool one = kind == LIGHT_POINT || (kind == LIGHT_DIRECTIONAL && light.half_width == 0.0);
    uint count = one ? 1u : min(uint(clamp(ceil(share * 256.0), 1.0, 1024.0)),
        frame.shadow_samples);
    vec2 pixel = PIXEL_CENTER + frame.noise_shift;
    vec2 shift = vec2(gradient_noise(pixel), gradient_noise(pixel.yx + vec2(37.0, 17.0)));
    uvec2 at = uvec2(PIXEL_CENTER);
    bvh_ray_key = random((at.y << 16u) + at.x ^ floatBitsToUint(light.position.x));
    float all = 0.0;
    float free = 0.0;
    // More samples where the first ones fall below the horizon: without any, the ratio is
    // undefined.
    uint most = one ? 1u : frame.shadow_samples;
    for (uint i = 0u; i < most && (i < count || all <= 0.0); ++i) {
        vec4 to = sample_light(light, s.normal, light_sample(i, i < count ? count : most, shift));
        if (to.w <= 0.0) {
            continue;
        }
        all += to.w;
        vec3 start = ray_start(to.xyz);
        ++bvh_ray_key;
        if (trace_ray(start, to.xyz + (ray_origin - start), ray_normal, 1.0 - LIGHT_RAY_MARGIN,
                true).instance == NONE) {
            free += to.w;
        }
    }
    if (all > 0.0) {
        return free / all;
    }
    // Inside the light nothing occludes it. Otherwise hardly any of it is above the horizon: its
    // tiny contribution must not leak through walls.
    vec3 d = light.position - ray_origin;
    return kind == LIGHT_SPHERE && dot(d, d) <= light.half_width * light.half_width ? 1.0 : 0.0;
}

#endif
