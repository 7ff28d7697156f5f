#version 460
// features: REUSE
// Fixed ray budget: fraction of the unshadowed light that occluded rays estimate as lost, by
// channel: diffuse and specular. A single pixel's estimate may exceed 1.
//
// With REUSE, a pixel also uses the rays of its neighbors on the same surface, for each light by
// itself: its visibility is a mean over the rays to it, and its share of the light is known. This
// removes the noise of the choice of lights. The kernel of each light is as narrow as its penumbra,
// whose width follows from the distance of the occluders (as in SIGMA of NVIDIA's NRD).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/rays.glsl"
#ifdef REUSE
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#endif

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#ifdef REUSE
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
#endif
// lib/light_reservoirs.glsl
layout(set = 0, binding = 72, scalar) readonly buffer loss_block { uvec4 shadow_ray_losses[]; };
layout(set = 0, binding = 73, scalar) readonly buffer hit_block { uint hits[]; };
layout(push_constant, scalar) uniform band_block { ShadowRayBandConstants band; };

layout(location = 0) out vec4 out_diffuse;
layout(location = 1) out vec4 out_specular;

bool is_lost(uint index) {
    return hits[index] != NONE || (shadow_ray_losses[index].x & 0x8000u) != 0u;
}

// Diffuse and specular part of what is lost with a ray.
void unpack_loss(uvec4 loss, out vec3 diffuse, out vec3 specular) {
    vec2 middle = unpackHalf2x16(loss.y);
    diffuse = vec3(abs(unpackHalf2x16(loss.x)), middle.x);
    specular = vec3(middle.y, unpackHalf2x16(loss.z));
}

#ifdef REUSE
// Neighbors within this many pixels along each axis are used.
const int RADIUS = 2;
const int WIDTH = 2 * RADIUS + 1;
// Standard deviations of the kernels (pixels): of lights without penumbra, and of wide penumbrae.
const float NARROW = 0.5;
const float WIDE = 2.0;
// Penumbrae (pixels) up to which the kernel is narrow, and from which it is wide.
const vec2 PENUMBRA = vec2(1.0, 5.0);
// Lights apart from each other, at most; the rest share an estimate.
const uint MAX_LIGHTS = 8u;
// Length of rays to suns (lib/light_sampling.glsl).
const float SUN_DISTANCE = 1e9;
// Minimum cosine between normals, and maximum sine between the tangent plane and the way to a
// neighbor, of one surface.
const float NORMAL_STEP = 0.9;
const float PLANE_STEP = 0.2;

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

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint layer = band.rows * frame.size.x;
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
#ifndef REUSE
    uint row = (uint(pixel.y) - band.first_row) * frame.size.x + uint(pixel.x);
    for (uint k = 0u; k < band.rays; ++k) {
        uint index = k * layer + row;
        if (is_lost(index)) {
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
#else
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec3 place = position_at(pixel, depth);
    vec3 normal = unpack_normal(texelFetch(normal_image, pixel, 0).x);
    // Neighbors on the same surface, as bits; number of their rays; the first light of which a ray
    // is lost.
    uint same = 0u;
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
            if (is_lost(index)) {
                light_index = min(light_index, shadow_ray_losses[index].w & 0xffffu);
            }
        }
    }
    // Width of a pixel on the surface (m), along the greater slant.
    float footprint = distance(position_at(pixel + ivec2(1, 0), depth), place)
        / max(dot(normal, view_at(place)), 0.1);
    for (uint number = 0u; number <= MAX_LIGHTS && light_index != NONE; ++number) {
        // The last turn takes all remaining lights.
        bool rest = number == MAX_LIGHTS;
        uint next = NONE;
        // Sums over the rays: weights and lost weights by both kernels; shares of the light;
        // ratios of distances, from the occluder to the light and to here, and their number.
        vec2 weights = vec2(0.0), lost = vec2(0.0);
        vec3 d_sum = vec3(0.0), r_sum = vec3(0.0);
        float chance = 0.0;
        vec2 ratios = vec2(0.0);
        for (int tap = 0; tap < WIDTH * WIDTH; ++tap) {
            if ((same >> uint(tap) & 1u) == 0u) {
                continue;
            }
            ivec2 offset = tap_offset(tap);
            float far = float(offset.x * offset.x + offset.y * offset.y);
            vec2 weight = exp(far * vec2(-0.5 / (NARROW * NARROW), -0.5 / (WIDE * WIDE)));
            uint at = first_ray(pixel + offset);
            for (uint k = 0u; k < band.rays; ++k) {
                uint index = k * layer + at;
                uvec4 loss = shadow_ray_losses[index];
                uint which = loss.w & 0xffffu;
                bool is_gone = is_lost(index);
                if (which > light_index && is_gone) {
                    next = min(next, which);
                }
                float p = unpackHalf2x16(loss.w).y;
                vec3 d, r;
                unpack_loss(loss, d, r);
                if (rest && which >= light_index) {
                    if (is_gone) {
                        diffuse += d / count;
                        specular += r / count;
                    }
                } else if (which == light_index && p > 0.0) {
                    weights += weight;
                    d_sum += weight.x * p * d;
                    r_sum += weight.x * p * r;
                    chance += weight.x * p;
                    if (is_gone) {
                        lost += weight;
                        if (hits[index] != NONE) {
                            float t = uintBitsToFloat(hits[index]);
                            ratios += vec2(max(1.0 - t, 0.0) / max(t, 1e-30), 1.0);
                        }
                    }
                }
            }
        }
        if (rest) {
            break;
        }
        if (weights.x > 0.0) {
            // Similar triangles: the light's extent, scaled by the distances of the occluder.
            float penumbra = light_extent(lights[min(light_index, frame.light_count - 1u)])
                * ratios.y / max(ratios.x, 1e-30) / max(footprint, 1e-30);
            float wide = ratios.x > 0.0
                ? clamp((penumbra - PENUMBRA.x) / (PENUMBRA.y - PENUMBRA.x), 0.0, 1.0) : 0.0;
            float gone = mix(lost.x / weights.x, lost.y / weights.y, wide);
            // A light that no ray of the neighborhood has chosen is missing. Those that one has
            // count the more, the less probable that was (Horvitz and Thompson 1952).
            float seen = 1.0 - pow(1.0 - min(chance / weights.x, 1.0), count);
            diffuse += d_sum * (gone / (weights.x * max(seen, 1e-6)));
            specular += r_sum * (gone / (weights.x * max(seen, 1e-6)));
        }
        light_index = next;
    }
#endif
    out_diffuse = vec4(clamp(diffuse, -65504.0, 65504.0), 1.0);
    out_specular = vec4(clamp(specular, -65504.0, 65504.0), 1.0);
}
