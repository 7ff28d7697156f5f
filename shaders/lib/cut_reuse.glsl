// Reuse of the shadow rays of neighboring pixels where lights may be sampled (docs/shadows.md,
// "Fixed ray budget"). Pixels of a cluster share its light cut, so that the slots of its lights,
// and the estimated light of its nodes, mean the same in all of them. The including shader is
// shadow_rays_lost.comp.
#ifndef LIB_CUT_REUSE
#define LIB_CUT_REUSE
#include "lib/clusters.glsl"

// Neighbors within this many pixels along each axis are used.
const int CUT_RADIUS = 3;
const int CUT_WIDTH = 2 * CUT_RADIUS + 1;
// Standard deviations of the kernels (pixels): of the rays to one light, and of sampled lights.
const float LISTED_KERNEL = 0.7;
const float SAMPLED_KERNEL = 2.5;
// Maximum sine between the tangent plane and the way to a neighbor: wider than without sampled
// lights, since visibility does not depend on the normal, which maps turn.
const float CUT_PLANE_STEP = 0.4;
// Number of rays in the cluster up to which the plain mean of all rays around counts more than
// half.
const float FEW_RAYS = 12.0;
// Limit of the specular light of sampled lights, as a multiple of the pixel's own samples: on
// smooth surfaces the estimate may be orders of magnitude too great in single pixels.
const float OWN_MULTIPLE = 4.0;

ivec2 cut_tap_offset(int tap) {
    return ivec2(tap % CUT_WIDTH, tap / CUT_WIDTH) - CUT_RADIUS;
}

// What a pixel knows of its sampled lights, as fractions of its unshadowed light: their light, and
// its estimate.
struct SampledLight {
    vec3 diffuse;
    vec3 specular;
    vec3 estimated_diffuse;
    vec3 estimated_specular;
    float shadowed;        // part of their light that needs shadow rays
};

SampledLight sampled_light_at(uint row) {
    uint layer = band.rows * frame.size.x;
    SampledLight s;
    vec3 excess_diffuse, excess_specular;
    uvec4 estimate = shadow_ray_losses[(band.rays + 1u) * layer + row];
    unpack_loss(estimate, s.estimated_diffuse, s.estimated_specular);
    s.shadowed = unpackHalf2x16(estimate.w).x;
    // Samples may exceed the estimate by far: stored instead, they would lose it by rounding.
    unpack_loss(shadow_ray_losses[band.rays * layer + row], excess_diffuse, excess_specular);
    s.diffuse = max(s.estimated_diffuse - excess_diffuse, 0.0);
    s.specular = max(s.estimated_specular - excess_specular, 0.0);
    s.estimated_diffuse = min(s.estimated_diffuse, 1.0);
    s.estimated_specular = min(s.estimated_specular, 1.0);
    return s;
}

// Similarity of two pixels, 0 to 1, by the fractions that are estimated: an estimate that is much
// too great in one of them does not apply to the other.
float estimate_likeness(vec3 a, vec3 b) {
    vec2 others = 1.001 - vec2(luminance(a), luminance(b));
    float ratio = min(others.x, others.y) / max(others.x, others.y);
    return ratio * ratio;
}

// Quotients by channel, 0 without a divisor.
vec3 ratio_of(vec3 part, vec3 whole) {
    return part / max(whole, vec3(1e-20));
}

// Fraction of the unshadowed light that is lost, diffuse and specular.
//
// Lights of the list: each has the visibility of the rays to it, and its share of the light at the
// nearest one of them. Lights to which the neighborhood has no ray are replaced by the others, each
// counted by the inverse of its probability to have a ray: the ratio estimator of Hájek 1971
// (comment on Basu, "An essay on the logical foundations of survey sampling, part one"), which is
// exact where all lights are lost and where none is. Sampled lights: the mean of their light over
// its estimate, times the visible fraction of the rays to them. Rays are weighted by what is lost
// with them, since a pixel chooses lights in proportion to its own sum of light.
void lost_light_of_cut(ivec2 pixel, out vec3 diffuse, out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    float depth = texelFetch(depth_image, pixel, 0).x;
    if (depth <= 0.0) {
        return;
    }
    uint layer = band.rows * frame.size.x;
    vec3 place = position_at(pixel, depth);
    vec3 normal = unpack_normal(texelFetch(normal_image, pixel, 0).x);
    SampledLight here = sampled_light_at(first_ray(pixel));
    // Of each slot: weights of all rays and of lost ones; the nearest ray, by its squared distance,
    // tap and number.
    vec2 sums[LIGHT_SLOTS];
    uint nearest[LIGHT_SLOTS];
    for (uint slot = 0u; slot < LIGHT_SLOTS; ++slot) {
        sums[slot] = vec2(0.0);
        nearest[slot] = NONE;
    }
    // Weights of all and of lost rays: to any light, from other clusters too; to sampled lights, by
    // their diffuse and by their specular light.
    vec2 any_rays = vec2(0.0);
    vec2 sampled_rays[2] = vec2[](vec2(0.0), vec2(0.0));
    SampledLight sampled = SampledLight(vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0), 0.0);
    float rays = 0.0;
    for (int tap = 0; tap < CUT_WIDTH * CUT_WIDTH; ++tap) {
        ivec2 offset = cut_tap_offset(tap);
        ivec2 other = pixel + offset;
        if (other.x < 0 || other.x >= int(frame.size.x) || other.y < int(band.first_row)
            || other.y >= int(band.first_row + band.rows)) {
            continue;
        }
        float there = texelFetch(depth_image, other, 0).x;
        vec3 way = position_at(other, there) - place;
        float off = dot(way, normal);
        bool alike = there > 0.0 && off * off <= CUT_PLANE_STEP * CUT_PLANE_STEP * dot(way, way)
            && dot(unpack_normal(texelFetch(normal_image, other, 0).x), normal) >= NORMAL_STEP;
        if (!alike && other != pixel) {
            continue;
        }
        uint far = uint(offset.x * offset.x + offset.y * offset.y);
        float narrow = exp(float(far) * (-0.5 / (LISTED_KERNEL * LISTED_KERNEL)));
        float wide = exp(float(far) * (-0.5 / (SAMPLED_KERNEL * SAMPLED_KERNEL)));
        uint first = first_ray(other);
        bool in_cluster = all(equal(other >> 4, pixel >> 4))
            && depth_slice(there) == depth_slice(depth);
        for (uint k = 0u; k < band.rays; ++k) {
            uint index = k * layer + first;
            uvec4 loss = shadow_ray_losses[index];
            uint slot = loss.w & 0xffffu;
            vec2 lost = vec2(1.0, hits[index] != NONE ? 1.0 : 0.0);
            vec3 d, r;
            unpack_loss(loss, d, r);
            vec2 levels = wide * vec2(luminance(d), luminance(r));
            any_rays += levels.x * lost;
            if (in_cluster && slot < LIGHT_SLOTS) {
                sums[slot] += narrow * lost;
                nearest[slot] = min(nearest[slot], far << 16 | uint(tap) << 8 | k);
            } else if (in_cluster && slot == SAMPLED_SLOT) {
                sampled_rays[0] += levels.x * lost;
                sampled_rays[1] += levels.y * lost;
            }
        }
        if (!in_cluster) {
            continue;
        }
        SampledLight s = sampled_light_at(first);
        float same = wide * estimate_likeness(s.estimated_diffuse, here.estimated_diffuse);
        sampled.diffuse += same * s.diffuse;
        sampled.shadowed += same * s.shadowed * luminance(s.diffuse);
        sampled.estimated_diffuse += same * s.estimated_diffuse;
        same = wide * estimate_likeness(s.estimated_specular, here.estimated_specular);
        sampled.specular += same * s.specular;
        sampled.estimated_specular += same * s.estimated_specular;
        rays += float(band.rays);
    }
    // Light of the listed lights with a ray, and what of it is lost.
    vec3 whole_diffuse = vec3(0.0), whole_specular = vec3(0.0);
    vec2 all_rays = vec2(0.0);
    for (uint slot = 0u; slot < LIGHT_SLOTS; ++slot) {
        if (nearest[slot] == NONE) {
            continue;
        }
        ivec2 offset = cut_tap_offset(int(nearest[slot] >> 8 & 0xffu));
        uvec4 loss = shadow_ray_losses[(nearest[slot] & 0xffu) * layer + first_ray(pixel + offset)];
        float chance = min(unpackHalf2x16(loss.w).y, 1.0);
        float weight = chance / max(1.0 - pow(1.0 - chance, rays), 1e-6);
        float fraction = sums[slot].y / max(sums[slot].x, 1e-30);
        all_rays += weight * vec2(1.0, fraction);
        vec3 d, r;
        unpack_loss(loss, d, r);
        whole_diffuse += weight * d;
        whole_specular += weight * r;
        diffuse += weight * fraction * d;
        specular += weight * fraction * r;
    }
    // A pixel has few neighbors in its cluster at the border of a tile and of a depth slice.
    float of_all = any_rays.y / max(any_rays.x, 1e-20);
    float few = FEW_RAYS * FEW_RAYS / (rays * rays + FEW_RAYS * FEW_RAYS);
    float shadowed = sampled.shadowed / max(luminance(sampled.diffuse), 1e-20);
    vec2 visible;
    for (uint part = 0u; part < 2u; ++part) {
        vec2 from = sampled_rays[part].x > 0.0 ? sampled_rays[part] : all_rays;
        float occluded = from.y / max(from.x, 1e-20);
        visible[part] = 1.0 - min(shadowed, 1.0) * mix(occluded, of_all, part == 0u ? few : 0.0);
    }
    vec3 kept_diffuse = visible.x * ratio_of(sampled.diffuse, sampled.estimated_diffuse);
    vec3 kept_specular = visible.y * min(ratio_of(sampled.specular, sampled.estimated_specular),
        OWN_MULTIPLE * ratio_of(here.specular, here.estimated_specular));
    diffuse = mix(ratio_of(diffuse, whole_diffuse), vec3(of_all), few);
    // A highlight is light of few lights, whose visibility the others do not tell.
    specular = ratio_of(specular, whole_specular);
    diffuse = mix(diffuse, 1.0 - kept_diffuse, here.estimated_diffuse);
    specular = mix(specular, 1.0 - kept_specular, here.estimated_specular);
    // Samples above the headroom are fireflies, as without reuse.
    if (band.headroom > 1.0) {
        diffuse = max(diffuse, vec3(0.0));
        specular = max(specular, vec3(0.0));
    }
}

#endif
