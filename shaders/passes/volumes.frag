#version 460
// features: RAY_TRACED_SHADOWS RAY_TRACED_SHADOWS:USE_RAY_QUERY
// Ray march of participating media (docs/volumes.md): in-scattered and emitted light (pre-exposed),
// and transmittance. The medium is integrated in closed form between samples (Hillaire 2015,
// "Physically Based and Unified Volumetric Rendering in Frostbite"); lights use equiangular
// sampling (Kulla and Fajardo 2012, "Importance Sampling Techniques for Path Tracing in
// Participating Media", section 3.1).
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#define BVH_IN_FRAGMENT_SHADER
#endif
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
// Environment light in each cell of each volume, after the SH coefficients of the environment
// without volumes.
layout(set = 0, binding = 62, scalar)
    readonly buffer volume_environment_block { vec3 volume_environment[]; };

#include "lib/lights.glsl"
#include "lib/ies_profiles.glsl"
#include "lib/shadow_maps.glsl"
#ifdef RAY_TRACED_SHADOWS
#include "lib/ray_traced_shadows.glsl"
#endif
#include "lib/noise.glsl"
#include "lib/volumes.glsl"
#include "lib/volumes_lights.glsl"

layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_transmittance;

// Maximum optical depth of a segment in the step distribution toward its front.
const float MAX_STEP_BIAS = 6.0;
// Transmittance below which the march ends.
const float MIN_TRANSMITTANCE = 1e-4;

// Henyey and Greenstein 1941.
float phase(float cosine, float g) {
    float k = 1.0 + g * g - 2.0 * g * cosine;
    return (1.0 - g * g) / (4.0 * PI * k * sqrt(k));
}

// Scattering coefficient of each volume at the sample (1/m).
vec3 scatters[MAX_VOLUMES];

// Scattering times phase function, for light at this cosine to the view direction.
vec3 scattered(float cosine) {
    vec3 sum = vec3(0.0);
    for (uint i = 0u; i < volume_head.count; ++i) {
        if (scatters[i] != vec3(0.0)) {
            sum += scatters[i] * phase(cosine, volumes[i].anisotropy);
        }
    }
    return sum;
}

// Environment light weighted by a phase function of anisotropy g along d, over its mean: spherical
// harmonics to the second degree, scaled by g and g^2.
vec3 leaning(vec3 d, float g) {
    vec3 first = volume_environment[1] * d.y + volume_environment[2] * d.z
        + volume_environment[3] * d.x;
    vec3 second = volume_environment[4] * (d.x * d.y) + volume_environment[5] * (d.y * d.z)
        + volume_environment[6] * (3.0 * d.z * d.z - 1.0) + volume_environment[7] * (d.x * d.z)
        + volume_environment[8] * (d.x * d.x - d.y * d.y);
    vec3 mean = max(volume_environment[0], vec3(1e-20));
    return max((mean + g * first + g * g * second) / mean, vec3(0.0));
}

// Mean environment luminance at a position of a volume, trilinear between cells.
vec3 environment_mean(uint i, vec3 place) {
    vec3 x = clamp(place * float(VOLUME_ENVIRONMENT_SIZE) - 0.5, 0.0,
        float(VOLUME_ENVIRONMENT_SIZE - 1u));
    uvec3 low = min(uvec3(x), uvec3(VOLUME_ENVIRONMENT_SIZE - 2u));
    vec3 f = x - vec3(low);
    uint at = volumes[i].first_environment_cell + (low.z * VOLUME_ENVIRONMENT_SIZE + low.y)
        * VOLUME_ENVIRONMENT_SIZE + low.x;
    vec3 sum = vec3(0.0);
    for (uint corner = 0u; corner < 8u; ++corner) {
        uvec3 o = uvec3(corner & 1u, corner >> 1u & 1u, corner >> 2u);
        vec3 w = mix(1.0 - f, f, vec3(o));
        sum += w.x * w.y * w.z * volume_environment[at
            + (o.z * VOLUME_ENVIRONMENT_SIZE + o.y) * VOLUME_ENVIRONMENT_SIZE + o.x];
    }
    return sum;
}

// (1 - exp(-x)) / x.
vec3 transmitted_fraction(vec3 x) {
    return mix((1.0 - exp(-x)) / max(x, vec3(1e-6)), 1.0 - 0.5 * x, lessThan(x, vec3(1e-3)));
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 pixel = min(texel * int(volume_head.scale), ivec2(frame.size) - 1);
    float depth = texelFetch(depth_image, pixel, 0).x;
    bool parallel = frame.forward.w != 0.0;
    vec3 near = position_at(pixel, 1.0);
    vec3 d = parallel ? frame.forward.xyz : normalize(near);
    vec3 origin = parallel ? near : vec3(0.0);
    float limit = depth > 0.0 ? distance(origin, position_at(pixel, depth)) : 1e9;

    out_light = vec4(0.0, 0.0, 0.0, 1.0);
    out_transmittance = vec4(1.0);
    vec2 spans[MAX_VOLUMES];
    float borders[2u * MAX_VOLUMES];
    uint border_count = 0u;
    for (uint i = 0u; i < volume_head.count; ++i) {
        spans[i] = volume_span(i, origin, d, limit);
        if (spans[i].y > spans[i].x) {
            for (uint end = 0u; end < 2u; ++end) {
                float value = spans[i][end];
                uint at = border_count++;
                while (at > 0u && borders[at - 1u] > value) {
                    borders[at] = borders[at - 1u];
                    --at;
                }
                borders[at] = value;
            }
        }
    }
    if (border_count == 0u) {
        return;
    }
    float begin = borders[0];
    float end = borders[border_count - 1u];
    uvec2 seed = uvec2(texel);
    uint number = uint(frame.noise_shift * 7.0 + 0.5);
    // Sample position within its step; it advances by the golden ratio, so that errors cancel.
    float shift = blue_noise_2d(seed, number).x;
    sample_volume_lights(origin, d, begin, end, seed, number);

    vec3 light = vec3(0.0);
    vec3 transmittance = vec3(1.0);
    for (uint segment = 0u; segment + 1u < border_count; ++segment) {
        float from = borders[segment];
        float way = borders[segment + 1u] - from;
        float middle = from + 0.5 * way;
        bool uneven = false;
        bool inside = false;
        vec3 even_extinction = vec3(0.0);
        for (uint i = 0u; i < volume_head.count; ++i) {
            if (spans[i].x <= middle && middle <= spans[i].y) {
                inside = true;
                uneven = uneven || volumes[i].first != NONE;
                even_extinction += volumes[i].extinction;
            }
        }
        if (!inside || way <= 0.0) {
            continue;
        }
        // Steps of equal contribution, where the transmittance falls along the segment.
        float mean_extinction = (even_extinction.x + even_extinction.y + even_extinction.z) / 3.0;
        float crowded = uneven ? 0.0 : min(mean_extinction * way, MAX_STEP_BIAS);
        float shows = 1.0 - exp(-crowded);
        uint steps = max(uint(float(volume_head.steps) * way / (end - begin) + 0.5), 1u);
        float next = from;
        for (uint step = 0u;
            step < steps && max(transmittance.x, max(transmittance.y, transmittance.z))
            > MIN_TRANSMITTANCE; ++step) {
            float a = next;
            float part = float(step + 1u) / float(steps);
            next = from + way * (crowded > 1e-2 ? min(-log(1.0 - part * shows) / crowded, 1.0)
                : part);
            next = step + 1u == steps ? from + way : next;
            float size = next - a;
            shift = fract(shift + 0.6180339887);
            float t = a + size * shift;
            vec3 p = origin + d * t;
            vec3 extinction = vec3(0.0);
            vec3 sources = vec3(0.0);
            bool any = false;
            for (uint i = 0u; i < volume_head.count; ++i) {
                scatters[i] = vec3(0.0);
                if (spans[i].x <= middle && middle <= spans[i].y) {
                    vec3 place = to_volume(i, vec4(p, 1.0));
                    float density = volume_density(i, place);
                    scatters[i] = volumes[i].scattering * density;
                    extinction += volumes[i].extinction * density;
                    sources += volumes[i].emission * density;
                    any = any || scatters[i] != vec3(0.0);
                    if (volume_head.has_environment != 0u && scatters[i] != vec3(0.0)) {
                        sources += scatters[i] * environment_mean(i, place)
                            * leaning(d, volumes[i].anisotropy);
                    }
                }
            }
            if (any) {
                // Suns are sampled with the step, other lights by their own distance.
                uint suns = frame.directional_count;
                for (uint i = 0u; i < suns + selected_light_count; ++i) {
                    bool is_sun = i < suns;
                    uint k = is_sun ? 0u : i - suns;
                    Light emitter = lights[is_sun ? i : light_indices[k]];
                    LightStep at = LightStep(p, t, 1.0);
                    if (!is_sun) {
                        at = sample_equiangular(emitter, origin, d, vec2(a, next), shift);
                    }
                    vec3 to_emitter;
                    vec3 lux = volume_light(emitter, at.position,
                        blue_noise_2d(seed, number + step * 3u + k), to_emitter);
                    vec3 adds = lux * scattered(dot(to_emitter, d));
                    if (adds != vec3(0.0)) {
                        adds *= volume_transmittance_to_light(emitter, at.position, shift);
                        if (is_sun) {
                            sources += adds;
                        } else {
                            // Transmittance within the step up to the sample.
                            adds *= exp(-extinction * (at.distance - a))
                                * (at.way * light_weights[k]);
                            light += transmittance * adds;
                        }
                    }
                }
            }
            light += transmittance * sources * transmitted_fraction(extinction * size) * size;
            transmittance *= exp(-extinction * size);
        }
    }
    out_light = vec4(to_half_range(light * frame.pre_exposure), 1.0);
    out_transmittance = vec4(transmittance, 1.0);
}
