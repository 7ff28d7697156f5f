// Direct light by a fixed number of shadow rays a pixel (docs/shadows.md, "Fixed ray budget"). Of
// the lights that a pixel evaluates without shadows, each ray chooses one by its luminance and a
// point on it. The including shader has lib/direct.glsl.
#ifndef LIB_LIGHT_RESERVOIRS
#define LIB_LIGHT_RESERVOIRS
#include "shared/rays.glsl"
#include "lib/luminance.glsl"
#include "lib/noise.glsl"
#include "lib/light_sampling.glsl"

// Shadow rays of a pixel.
layout(constant_id = 1) const uint SHADOW_RAYS = 2u;

layout(set = 0, binding = 70, scalar) readonly buffer view_hit_block { TraceHit view_hits[]; };
layout(set = 0, binding = 71, scalar) writeonly buffer ray_block { TraceRay shadow_rays[]; };
// Light that a pixel loses if a ray is occluded, over its unshadowed light, by channel: half floats
// of the diffuse and the specular part. w: index of the light, and in the upper bits, as a half
// float, the probability of its choice; 0xffff without light. Where lights may be sampled, the
// slot of the light replaces its index, and two entries of each pixel follow the rays: the estimate
// minus the light of the samples, and the estimate, both over the unshadowed light. w of the second
// one: the part of the samples that needs shadow rays, a half float.
layout(set = 0, binding = 72, scalar) writeonly buffer loss_block { uvec4 shadow_ray_losses[]; };
layout(push_constant, scalar) uniform band_block { ShadowRayBandConstants band; };

// Candidate points on a light, of which one gets the ray.
const uint POINT_CANDIDATES = 4u;
// Further candidates while all are below the horizon.
const uint MAX_POINT_CANDIDATES = 16u;
// NOISE_STEP of src/frame/sampling.rs.
const float NOISE_STEP = 5.588238;
// Lights between two shifts of the random numbers.
const uint RENEW_AFTER = 8u;

// Unshadowed light of the lights that rays test.
vec3 offered_diffuse = vec3(0.0);
vec3 offered_specular = vec3(0.0);
// Estimated light of sampled lights, and what the samples give.
vec3 estimated_diffuse = vec3(0.0);
vec3 estimated_specular = vec3(0.0);
vec3 sampled_diffuse = vec3(0.0);
vec3 sampled_specular = vec3(0.0);
// Luminance of the samples that need shadow rays.
float sampled_weight = 0.0;
// Sum of the weights of the offered lights, and their number.
float offered_weight = 0.0;
uint offered_count = 0u;
// Chosen light of each ray with its unshadowed light.
uint chosen_light[SHADOW_RAYS];
uint chosen_slot[SHADOW_RAYS];
vec3 chosen_diffuse[SHADOW_RAYS];
vec3 chosen_specular[SHADOW_RAYS];
// Random number of each ray, uniform in 0 to 1.
float chooser[SHADOW_RAYS];

uint noise_number() {
    return uint(frame.noise_shift / NOISE_STEP + 0.5);
}

// Empties the reservoirs. Their random numbers are stratified.
void clear_reservoirs(uvec2 pixel) {
    float first = next_sample(pixel, noise_number()).x;
    for (uint k = 0u; k < SHADOW_RAYS; ++k) {
        chosen_light[k] = NONE;
        chosen_slot[k] = NONE;
        chosen_diffuse[k] = vec3(0.0);
        chosen_specular[k] = vec3(0.0);
        chooser[k] = fract(first + float(k) / float(SHADOW_RAYS));
    }
}

// Offers a light to all reservoirs: weighted reservoir sampling (Chao 1982; Bitterli et al. 2020,
// "Spatiotemporal reservoir resampling for real-time ray tracing with dynamic direct lighting",
// algorithm 3) by the luminance of its unshadowed light. A random number is uniform again after it
// is stretched from the side of the decision on which it fell, so one serves all lights and stays
// stratified over the rays. Each decision takes some of its bits: after a few lights it is shifted
// by an independent one. `slot`: as in lib/clusters.glsl. False for black lights and NaN, which are
// not offered.
bool offer_light(uint light_index, uint slot, uvec2 pixel, vec3 diffuse, vec3 specular) {
    float weight = luminance(diffuse + specular);
    if (!(weight > 0.0 && weight < 1e37)) {
        return false;
    }
    offered_weight += weight;
    float p = weight / offered_weight;
    ++offered_count;
    float renewed = 0.0;
    if (offered_count % RENEW_AFTER == 0u) {
        renewed = random_2d(pixel, noise_number() * 64u + offered_count / RENEW_AFTER).x;
    }
    for (uint k = 0u; k < SHADOW_RAYS; ++k) {
        float u = fract(chooser[k] + renewed);
        bool takes = u < p;
        chosen_light[k] = takes ? light_index : chosen_light[k];
        chosen_slot[k] = takes ? slot : chosen_slot[k];
        chosen_diffuse[k] = takes ? diffuse : chosen_diffuse[k];
        chosen_specular[k] = takes ? specular : chosen_specular[k];
        chooser[k] = clamp(takes ? u / p : (u - p) / (1.0 - p), 0.0, 0.99999994);
    }
    return true;
}

// The light of which rays estimate the lost fraction: with sampled lights an estimate that does not
// depend on the samples.
vec3 unshadowed_diffuse() {
    return offered_diffuse + estimated_diffuse * band.headroom;
}

vec3 unshadowed_specular() {
    return offered_specular + estimated_specular * band.headroom;
}

// Part of the unshadowed light by channel, 0 where there is none.
vec3 fraction_of(vec3 part, vec3 whole) {
    return min(mix(vec3(0.0), part / max(whole, vec3(1e-37)), greaterThan(part, vec3(0.0))),
        vec3(65504.0));
}

// As above, of either sign.
vec3 signed_fraction_of(vec3 part, vec3 whole) {
    return fraction_of(part, whole) - fraction_of(-part, whole);
}

uvec4 packed_loss(vec3 diffuse, vec3 specular) {
    return uvec4(packHalf2x16(diffuse.rg), packHalf2x16(vec2(diffuse.b, specular.r)),
        packHalf2x16(specular.gb), 0u);
}

// Shadow ray to a point of a light, chosen among candidates by their contributions (resampling,
// Talbot, Cline and Egbert 2005, "Importance Resampling for Global Illumination"). w: 0 where none
// is above the horizon. The candidates of all rays form one Hammersley set.
vec4 choose_point(Light light, vec3 normal, uint k, vec2 shift, float number) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    bool one = kind == LIGHT_POINT || (kind == LIGHT_DIRECTIONAL && light.half_width == 0.0);
    uint count = one ? 1u : POINT_CANDIDATES;
    uint most = one ? 1u : MAX_POINT_CANDIDATES;
    vec4 chosen = vec4(0.0);
    float sum = 0.0;
    for (uint i = 0u; i < most && (i < count || sum <= 0.0); ++i) {
        vec4 to = sample_light(light, normal, i < count
            ? light_sample(i * SHADOW_RAYS + k, count * SHADOW_RAYS, shift)
            : light_sample(i, most, shift));
        if (to.w <= 0.0) {
            continue;
        }
        sum += to.w;
        float p = to.w / sum;
        bool takes = number < p;
        chosen = takes ? to : chosen;
        number = clamp(takes ? number / p : (number - p) / (1.0 - p), 0.0, 0.99999994);
    }
    return chosen;
}

// Stores the rays of a pixel and what is lost with each. `span`: as in the pass of view rays.
void store_shadow_rays(uvec2 pixel, Surface s, float span) {
    uint row = (pixel.y - band.first_row) * frame.size.x + pixel.x;
    bool any_light = offered_weight > 0.0;
    if (any_light) {
        TraceHit hit = view_hits[row];
        set_shadow_ray_origin_at(BvhHit(hit.t, hit.barycentric, hit.instance, hit.triangle), s,
            span);
    }
    vec3 origin = ray_origin;
    vec3 behind = ray_origin_behind;
    vec3 away = ray_normal;
    vec2 shift = blue_noise_2d(pixel, noise_number());
    float number = next_sample(pixel, noise_number()).y;
    for (uint k = 0u; k < SHADOW_RAYS; ++k) {
        TraceRay ray = TraceRay(vec3(0.0), 0.0, vec3(0.0), vec3(0.0));
        uvec4 loss = uvec4(0u, 0u, 0u, 0xffffu);
        if (any_light) {
            Light light = lights[chosen_light[k]];
            Surface receiver = s;
            ray_origin = origin;
            ray_origin_behind = behind;
            ray_normal = away;
            if (has_feature(FEATURE_WATER) && !has_surface(light)) {
                vec3 l, from, entry;
                arriving_light(light, s.position, l, from, entry);
                move_to_water_entry(entry, receiver);
            }
            vec4 to = choose_point(light, receiver.normal, k, shift,
                fract(number + 0.6180339887 * float(k)));
            float scale = offered_weight / luminance(chosen_diffuse[k] + chosen_specular[k]);
            loss = packed_loss(fraction_of(chosen_diffuse[k] * scale, unshadowed_diffuse()),
                fraction_of(chosen_specular[k] * scale, unshadowed_specular()));
            loss.w = packHalf2x16(vec2(0.0, 1.0 / scale))
                | (band.sampled != 0u ? chosen_slot[k] : min(chosen_light[k], 0xfffeu));
            if (to.w > 0.0) {
                vec3 start = ray_start(to.xyz);
                ray = TraceRay(start, 1.0 - LIGHT_RAY_MARGIN, to.xyz + (ray_origin - start),
                    ray_normal);
            } else {
                // Nothing of the light is above the horizon: its tiny contribution must not leak
                // through walls. Inside a sphere nothing occludes it.
                vec3 apart = light.position - ray_origin;
                bool inside = (light.kind & LIGHT_KIND_BITS) == LIGHT_SPHERE
                    && dot(apart, apart) <= light.half_width * light.half_width;
                ray.reach = inside ? 0.0 : OCCLUDED_REACH;
            }
        }
        uint index = k * band.rows * frame.size.x + row;
        shadow_rays[index] = ray;
        shadow_ray_losses[index] = loss;
    }
    if (band.sampled != 0u) {
        vec3 d = estimated_diffuse * band.headroom - sampled_diffuse;
        vec3 r = estimated_specular * band.headroom - sampled_specular;
        uint layer = band.rows * frame.size.x;
        shadow_ray_losses[SHADOW_RAYS * layer + row] =
            packed_loss(signed_fraction_of(d, unshadowed_diffuse()),
                signed_fraction_of(r, unshadowed_specular()));
        uvec4 estimate =
            packed_loss(fraction_of(estimated_diffuse * band.headroom, unshadowed_diffuse()),
                fraction_of(estimated_specular * band.headroom, unshadowed_specular()));
        estimate.w = packHalf2x16(vec2(min(sampled_weight
            / max(luminance(sampled_diffuse + sampled_specular), 1e-37), 1.0), 0.0));
        shadow_ray_losses[(SHADOW_RAYS + 1u) * layer + row] = estimate;
    }
}

#endif
