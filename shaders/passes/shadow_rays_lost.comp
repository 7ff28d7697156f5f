#version 460
// features: REUSE REUSE:CUTS
// Fixed ray budget: fraction of the unshadowed light that occluded rays estimate as lost, by
// channel: diffuse and specular. A single pixel's estimate may exceed 1.
//
// With REUSE, a pixel also uses the rays of its neighbors on the same surface, for each light by
// itself: its visibility is a mean over the rays to it, and its share of the light is known. This
// removes the noise of the choice of lights. The kernel of each light is as narrow as its penumbra,
// whose width follows from the distance of the occluders (as in SIGMA of NVIDIA's NRD).
//
// With CUTS, lights may be sampled: lib/cut_reuse.glsl.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/rays.glsl"
#include "lib/pixel_groups.glsl"
#ifdef REUSE
#include "lib/brdf.glsl"
#include "lib/luminance.glsl"
#include "lib/packing.glsl"
#endif

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#ifdef REUSE
#include "lib/gbuffer.glsl"
#ifndef CUTS
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
#endif
#endif
// lib/light_reservoirs.glsl
layout(set = 0, binding = 72, scalar) readonly buffer loss_block { uvec4 shadow_ray_losses[]; };
layout(set = 0, binding = 73, scalar) readonly buffer hit_block { uint hits[]; };
layout(push_constant, scalar) uniform band_block { ShadowRayBandConstants band; };

// Alpha: maximum length of the history in motion (frames).
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_diffuse_image;
vec4 out_diffuse;
layout(set = 0, binding = 75, rgba16f) uniform writeonly image2D out_specular_image;
vec4 out_specular;

// Diffuse and specular part of what is lost with a ray.
void unpack_loss(uvec4 loss, out vec3 diffuse, out vec3 specular) {
    vec2 middle = unpackHalf2x16(loss.y);
    diffuse = vec3(unpackHalf2x16(loss.x), middle.x);
    specular = vec3(middle.y, unpackHalf2x16(loss.z));
}

#ifdef REUSE
// Neighbors within this many pixels along each axis are used.
const int RADIUS = 2;
const int WIDTH = 2 * RADIUS + 1;
// Standard deviations of the kernels (pixels): of lights without penumbra, and of wide penumbrae.
const float NARROW = 0.5;
const float WIDE = 2.0;
// Factor of the narrow kernel beyond a shadow edge.
const float BEYOND_EDGE = 0.01;
// Penumbrae (pixels) up to which the kernel is narrow, and from which it is wide.
const vec2 PENUMBRA = vec2(0.5, 4.0);
// Lights apart from each other, at most; the rest share an estimate.
const uint MAX_LIGHTS = 8u;
// Length of rays to suns (lib/light_sampling.glsl).
const float SUN_DISTANCE = 1e9;
// Minimum cosine between normals, and maximum sine between the tangent plane and the way to a
// neighbor, of one surface.
const float NORMAL_STEP = 0.9;
const float PLANE_STEP = 0.2;
// History length (frames) in motion where the estimate is most noisy, and where it is that of a
// neighbor. Without noise there is no history: resampling blurs shadow edges.
const float NOISY_HISTORY = 8.0;
const float NEIGHBOR_HISTORY = 3.0;

ivec2 tap_offset(int tap) {
    return ivec2(tap % WIDTH, tap / WIDTH) - RADIUS;
}

// Extent of a light (m), in the unit in which its rays have the length 1.
float light_extent(Light light) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    float radius = light.half_width;
    if (kind == LIGHT_POINT) {
        return 0.0;
    }
    if (kind == LIGHT_DIRECTIONAL) {
        return 2.0 * radius * SUN_DISTANCE;
    }
    if (kind == LIGHT_SPHERE || kind == LIGHT_DISK) {
        return 2.0 * radius;
    }
    float other = kind == LIGHT_TUBE ? light.half_height + radius : light.half_height;
    return (kind == LIGHT_TRIANGLE ? 1.0 : 2.0) * sqrt(abs(radius * other));
}

// Index of a pixel's first ray.
uint first_ray(ivec2 pixel) {
    return uint(pixel.y - int(band.first_row)) * frame.size.x + uint(pixel.x);
}
#endif
#ifdef CUTS
#include "lib/cut_reuse.glsl"
#endif

void estimate_lost_light(ivec2 pixel) {
    uint layer = band.rows * frame.size.x;
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    float history = 0.0;
#ifndef REUSE
    uint row = (uint(pixel.y) - band.first_row) * frame.size.x + uint(pixel.x);
    for (uint k = 0u; k < band.rays; ++k) {
        uint index = k * layer + row;
        if (hits[index] != NONE) {
            vec3 d, r;
            unpack_loss(shadow_ray_losses[index], d, r);
            diffuse += d;
            specular += r;
        }
    }
    diffuse /= float(band.rays);
    specular /= float(band.rays);
    if (band.sampled != 0u) {
        uvec4 excess = shadow_ray_losses[band.rays * layer + row];
        vec2 middle = unpackHalf2x16(excess.y);
        diffuse += vec3(unpackHalf2x16(excess.x), middle.x);
        specular += vec3(middle.y, unpackHalf2x16(excess.z));
        // Denoised fractions are not negative: samples above the headroom are fireflies.
        if (band.headroom > 1.0) {
            diffuse = max(diffuse, vec3(0.0));
            specular = max(specular, vec3(0.0));
        }
    }
#elif defined(CUTS)
    lost_light_of_cut(pixel, diffuse, specular);
#else
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec3 place = position_at(pixel, depth);
    vec3 normal = unpack_normal(texelFetch(normal_image, pixel, 0).x);
    // Lights of the pixel's first two rays, and whether these are lost.
    uvec2 own = uvec2(NONE);
    bvec2 own_lost = bvec2(false);
    for (uint k = 0u; k < min(band.rays, 2u); ++k) {
        uint index = k * layer + first_ray(pixel);
        own[k] = shadow_ray_losses[index].w & 0xffffu;
        own_lost[k] = hits[index] != NONE;
    }
    // In a penumbra the rays to one light differ without an edge.
    own = own.x == own.y && own_lost.x != own_lost.y ? uvec2(NONE) : own;
    // Neighbors on the same surface, as bits, and those of them that see another visibility of an
    // own light; number of their rays; the first light of which a ray is lost.
    uint same = 0u, apart = 0u;
    float count = 0.0;
    uint light_index = NONE;
    for (int tap = 0; tap < WIDTH * WIDTH && depth > 0.0; ++tap) {
        ivec2 other = pixel + tap_offset(tap);
        if (other.x < 0 || other.x >= int(frame.size.x) || other.y < int(band.first_row)
            || other.y >= int(band.first_row + band.rows)) {
            continue;
        }
        float there = texelFetch(depth_image, other, 0).x;
        vec3 way = position_at(other, there) - place;
        float off = dot(way, normal);
        bool alike = there > 0.0 && off * off <= PLANE_STEP * PLANE_STEP * dot(way, way)
            && dot(unpack_normal(texelFetch(normal_image, other, 0).x), normal) >= NORMAL_STEP;
        if (!alike && other != pixel) {
            continue;
        }
        same |= 1u << uint(tap);
        count += float(band.rays);
        for (uint k = 0u; k < band.rays; ++k) {
            uint index = k * layer + first_ray(other);
            uint which = shadow_ray_losses[index].w & 0xffffu;
            bool is_lost = hits[index] != NONE;
            light_index = is_lost ? min(light_index, which) : light_index;
            bvec2 shared_light = equal(own, uvec2(which));
            bool differs = shared_light.x && own_lost.x != is_lost
                || shared_light.y && own_lost.y != is_lost;
            apart |= differs ? 1u << uint(tap) : 0u;
        }
    }
    // Width of a pixel on the surface (m), along the greater slant.
    float footprint = distance(position_at(pixel + ivec2(1, 0), depth), place)
        / max(dot(normal, view_at(place)), 0.1);
    for (uint number = 0u; number < MAX_LIGHTS && light_index != NONE; ++number) {
        uint next = NONE;
        // Sums of the weights of all rays to the light and of lost ones, by both kernels.
        vec2 weights = vec2(0.0), lost = vec2(0.0);
        // Sum and number of ratios of distances: from the occluder to the light, and to here.
        vec2 ratios = vec2(0.0);
        // The nearest ray to the light, and its squared distance.
        uint nearest = 0u;
        float nearest_far = 1e9;
        for (int tap = 0; tap < WIDTH * WIDTH; ++tap) {
            if ((same >> uint(tap) & 1u) == 0u) {
                continue;
            }
            ivec2 offset = tap_offset(tap);
            float far = float(offset.x * offset.x + offset.y * offset.y);
            vec2 weight = exp(far * vec2(-0.5 / (NARROW * NARROW), -0.5 / (WIDE * WIDE)));
            // Beyond a shadow edge of one light there is often one of others, as at contacts.
            weight.x *= (apart >> uint(tap) & 1u) != 0u ? BEYOND_EDGE : 1.0;
            uint at = first_ray(pixel + offset);
            for (uint k = 0u; k < band.rays; ++k) {
                uint index = k * layer + at;
                uint which = shadow_ray_losses[index].w & 0xffffu;
                uint hit = hits[index];
                bool is_lost = hit != NONE;
                next = is_lost && which > light_index ? min(next, which) : next;
                bool is_chosen = which == light_index;
                weights += is_chosen ? weight : vec2(0.0);
                lost += is_chosen && is_lost ? weight : vec2(0.0);
                float t = uintBitsToFloat(hit);
                ratios += is_chosen && is_lost && t > 0.0 ? vec2((1.0 - t) / t, 1.0) : vec2(0.0);
                bool is_nearer = is_chosen && far < nearest_far;
                nearest = is_nearer ? index : nearest;
                nearest_far = is_nearer ? far : nearest_far;
            }
        }
        // Similar triangles: the light's extent, scaled by the distances of the occluder.
        float penumbra = light_extent(lights[min(light_index, frame.light_count - 1u)]) * ratios.y
            / max(ratios.x * footprint, 1e-30);
        float wide = ratios.y > 0.0
            ? clamp((penumbra - PENUMBRA.x) / (PENUMBRA.y - PENUMBRA.x), 0.0, 1.0) : 0.0;
        vec2 gone = lost / max(weights, vec2(1e-30));
        float fraction = mix(gone.x, gone.y, wide);
        uvec4 loss = shadow_ray_losses[nearest];
        float chance = min(unpackHalf2x16(loss.w).y, 1.0);
        // A light that no ray of the neighborhood has chosen is missing. Those that one has count
        // the more, the less probable that was (Horvitz and Thompson 1952).
        float seen = 1.0 - pow(1.0 - chance, count);
        float scale = fraction * chance / max(seen, 1e-6);
        vec3 d, r;
        unpack_loss(loss, d, r);
        diffuse += d * scale;
        specular += r * scale;
        // Noise of the mean of rays to different points of the light, or of rays that started
        // elsewhere.
        history += luminance(d * chance) * mix(nearest_far > 0.0 ? NEIGHBOR_HISTORY : 0.0,
            NOISY_HISTORY * 4.0 * fraction * (1.0 - fraction), wide);
        light_index = next;
    }
    // Surfaces of few pixels, such as leaves, have the histories of others.
    float covered = float(bitCount(same)) / float(WIDTH * WIDTH);
    history *= covered * covered;
    // Further lights: without regard of which.
    for (int tap = 0; tap < WIDTH * WIDTH && light_index != NONE; ++tap) {
        for (uint k = 0u; k < band.rays && (same >> uint(tap) & 1u) != 0u; ++k) {
            uint index = k * layer + first_ray(pixel + tap_offset(tap));
            uvec4 loss = shadow_ray_losses[index];
            if (hits[index] != NONE && (loss.w & 0xffffu) >= light_index) {
                vec3 d, r;
                unpack_loss(loss, d, r);
                diffuse += d / count;
                specular += r / count;
                history = NOISY_HISTORY;
            }
        }
    }
#endif
    out_diffuse = vec4(clamp(diffuse, -65504.0, 65504.0), min(history, 65504.0));
    out_specular = vec4(clamp(specular, -65504.0, 65504.0), 1.0);
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, uvec2(frame.size.x, band.rows))) {
        return;
    }
    pixel.y += int(band.first_row);
    estimate_lost_light(pixel);
    imageStore(out_diffuse_image, pixel, out_diffuse);
    imageStore(out_specular_image, pixel, out_specular);
}
