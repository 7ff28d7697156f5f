#version 460
// features: HALF_RESOLUTION HALF_RESOLUTION:MIRROR_RAYS SINGLE_FRAME|DEBUG
// SSR resolve: reconstructs each pixel's reflection (pre-exposed) from neighbor rays, weighted by
// this pixel's BRDF.
//
// Stachowiak and Uludag 2015, "Stochastic Screen-Space Reflections" (SIGGRAPH course "Advances in
// Real-Time Rendering"): the sum of light times BRDF over density is divided by the sum of BRDF
// over density. The composite multiplies by the split-sum reflectance, which includes the Fresnel
// term; the weights do not. HALF_RESOLUTION uses rays of every second pixel on each side,
// and leaves mirrors to MIRROR_RAYS, which uses their own rays. SINGLE_FRAME has no history: the
// result is composited at once. DEBUG also writes the ray shares.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/ssr_constants.glsl"
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5, rgba32ui) uniform readonly uimage2D ray_image;
layout(set = 0, binding = 7) uniform texture2D reflected_environment_image;
// Depths and normals of pixels.
layout(set = 0, binding = 10, rg32ui) uniform readonly uimage2D surface_history_image;
layout(set = 0, binding = 21, r8) uniform readonly image2D ray_mask_image;
#ifdef MIRROR_RAYS
layout(set = 0, binding = 9) uniform sampler2D source_light_image;
#endif
#include "lib/ssr.glsl"
#include "lib/ssr_ray_packing.glsl"

#ifdef SINGLE_FRAME
layout(set = 0, binding = 11) uniform texture2D light_image;
layout(set = 0, binding = 12) uniform texture2D reflectance_image;
#include "lib/ssr_shading.glsl"

layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_light_image;
#else
// Light found by rays, averaged over all rays; and the remaining environment share, with occlusion.
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_reflection_image;
// Ray length (m), and packed image position of the hit with the greatest weight.
layout(set = 0, binding = 75, rg32ui) uniform writeonly uimage2D out_hit_image;
#ifdef DEBUG
// Shares of rays that hit a surface and that hit the sky.
layout(set = 0, binding = 76, rg16f) uniform writeonly image2D out_shares_image;
#endif
#endif

// A neighbor's ray is used where the mirror direction between both pixels turns by less than this
// part of the lobe. Farther away few rays are likely for this pixel, and those weigh so much that
// they dominate the sum. Lobe tails change slowly: their rays, few and noisy, are used from afar
// (docs/reflections.md).
const float LOBE_PART = 0.35;
// Maximum distance of neighbors (pixels), plus a term proportional to roughness.
const float REACH = 1.5;
const float REACH_ROUGH = 16.0;
#ifdef HALF_RESOLUTION
// Half-resolution rays are one per four pixels: they cannot resolve lobes narrower than this alpha.
const float SPARSE = 0.02;
const int SCALE = 2;
#else
const int SCALE = 1;
#endif
// Rotation between neighbors: the golden angle.
const mat2 NEXT = mat2(-0.737368878, -0.675490294, 0.675490294, -0.737368878);

#ifdef MIRROR_RAYS
// Intersection of a mirror's own ray with the plane that a neighbor's ray hit (pixels); negative
// where it misses, or where the image shows another surface.
vec2 own_place(Surface s, vec3 mirrored, vec2 found, vec3 place) {
    vec3 normal = unpack_normal(imageLoad(surface_history_image, ivec2(found)).y);
    float towards = dot(mirrored, normal);
    float t = dot(place - s.position, normal) / min(towards, -1e-3);
    vec4 clip = frame.view_projection * vec4(s.position + mirrored * t, 1.0);
    vec2 own = (clip.xy / clip.w + 1.0) * 0.5 * vec2(ssr.size);
    ivec2 pixel = clamp(ivec2(own), ivec2(0), ivec2(ssr.size) - 1);
    uvec2 seen = imageLoad(surface_history_image, pixel).xy;
    vec3 shown = position_at(pixel, uintBitsToFloat(seen.x));
    bool there = abs(dot(shown - place, normal)) < 0.005 * length(place)
        && dot(unpack_normal(seen.y), normal) > 0.9;
    return towards < -1e-3 && clip.w > 0.0 && there && distance(own, found) < 4.0 * float(SCALE)
        ? own : vec2(-1.0);
}
#endif

// Neighborhood of the ray reuse: an ellipse, since lobes narrow across the plane of incidence by
// the view cosine.
struct Neighborhood {
    mat2 half_axes;     // in texels of the ray image, the first across
    float lobe;         // fraction of it where mirrors turn by LOBE_PART of a lobe of facet slope 1
    uint taps;
};

Neighborhood neighborhood(Surface s, float depth) {
    float most = REACH + REACH_ROUGH * sqrt(s.alpha);
    // Angle of a pixel (rad).
    float w = ssr.pixel_to_position[2].w * depth + ssr.pixel_to_position[3].w;
    float angle = ssr.pixel / (w * length(s.position));
    float cosine = clamp(dot(s.normal, s.view), 0.1, 1.0);
    vec3 side = cross(s.normal, s.view);
    vec2 across = vec2(dot(side, ssr.right), dot(side, ssr.down));
    across = dot(across, across) > 1e-6 ? normalize(across) : vec2(1.0, 0.0);
    vec2 half_axes = vec2(most * cosine, most) / float(SCALE);
    Neighborhood n;
    n.half_axes = mat2(across * half_axes.x, vec2(-across.y, across.x) * half_axes.y);
    // Rotating a facet rotates its reflection by twice the angle.
    n.lobe = LOBE_PART * 2.0 / (angle * most);
    // At most as many taps as texels.
    n.taps = min(ssr.taps, uint(max(4.0 * half_axes.x * half_axes.y, 2.0 * half_axes.y)) + 1u);
    return n;
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, ssr.size)) {
        return;
    }
    float mask = imageLoad(ray_mask_image, pixel).x;
#ifdef HALF_RESOLUTION
    bool is_mirror = mask > 0.5 * (RAY_MASK + RAY_MASK_MIRROR);
#endif
#ifdef MIRROR_RAYS
    if (!is_mirror) {
        return;
    }
#else
#ifdef HALF_RESOLUTION
    // The pass with MIRROR_RAYS resolves them.
    if (is_mirror) {
        return;
    }
#endif
    if (mask <= 0.0) {
#ifndef SINGLE_FRAME
        // Pixels without rays keep the full environment term.
        imageStore(out_reflection_image, pixel, vec4(0.0, 0.0, 0.0, 1.0));
        imageStore(out_hit_image, pixel, uvec4(0u));
#ifdef DEBUG
        imageStore(out_shares_image, pixel, vec4(0.0));
#endif
#endif
        return;
    }
#endif
    uvec2 seen_here = imageLoad(surface_history_image, pixel).xy;
    vec4 around_here = texelFetch(reflected_environment_image, pixel, 0);
    float open = ssr.hits_only == 0u ? around_here.a : 1.0;
    Surface s;
    load_surface(pixel, seen_here, s);
    bool sharp = s.alpha < MIRROR;
    Surface wide = s;
#ifdef HALF_RESOLUTION
    wide.alpha = max(s.alpha, SPARSE);
#endif
    ivec2 own = pixel / SCALE;
    Neighborhood around = neighborhood(wide, uintBitsToFloat(seen_here.x));
#ifdef HALF_RESOLUTION
    uint taps = around.taps;
#else
    uint taps = sharp ? 1u : around.taps;
#endif
    // Jimenez 2014: interleaved gradient noise rotates the spiral.
    vec2 noise_at = vec2(pixel) + 0.5 + 5.588238 * float(ssr.history.number & 63u);
    float turn = 2.0 * PI * fract(52.9829189 * fract(dot(noise_at, vec2(0.06711056, 0.00583715))));
    vec2 towards = vec2(cos(turn), sin(turn));
    // Homogeneous position of this pixel at depth 0.
    vec4 corner = ssr.pixel_to_position * vec4(vec2(pixel), 0.0, 1.0);
    float off_most = 0.01 * length(s.position);
    // Common factor of the BRDF for all rays, without the Fresnel term.
    float a2 = wide.alpha * wide.alpha;
    float nv = max(dot(s.normal, s.view), 1e-4);
    float view_part = sqrt(nv * nv * (1.0 - a2) + a2);
    // Hoisted out of the loop.
    ivec2 last_pixel = ivec2(ssr.size) - 1, last = ivec2(ssr.rays) - 1;
    vec3 light = vec3(0.0);
    float all = 0.0, hit = 0.0, shown = 0.0, sky = 0.0, inverse_depth = 0.0, most = -1.0;
    ivec2 best = own;
    for (uint i = 0u; i < taps; ++i, towards = NEXT * towards) {
        float away = float(i) / float(taps);
        ivec2 texel = clamp(own + ivec2(round(around.half_axes * (away * towards))), ivec2(0),
            last);
        ivec2 other = min(texel * SCALE, last_pixel);
        Ray ray = unpack_ray(imageLoad(ray_image, texel));
        uvec2 seen_there = imageLoad(surface_history_image, other).xy;
        vec2 aside = vec2(other - pixel);
        vec4 there = corner + ssr.pixel_to_position[0] * aside.x
            + ssr.pixel_to_position[1] * aside.y
            + ssr.pixel_to_position[2] * uintBitsToFloat(seen_there.x);
        vec3 from = there.xyz / there.w - s.position;
        // Not normalized: the cosine, at least 0.8, is compared by its square.
        vec3 normal = unpack_direction(seen_there.y);
        float along = dot(normal, s.normal);
        bool beside = abs(dot(s.normal, from)) <= off_most && along > 0.0
            && along * along >= 0.64 * dot(normal, normal);
        // Direction and solid angle of the ray's end as seen from this pixel.
        vec3 to = from + ray.to;
        float away2 = dot(to, to), far2 = dot(ray.to, ray.to);
        float nearer = inversesqrt(away2);
        vec3 direction = to * nearer;
        // Facet slope combined with the lobe's: D of GGX (Walter et al. 2007, equation 33) falls
        // with its square.
        vec3 h = direction + s.view;
        vec3 c = cross(s.normal, h);
        float hh = dot(h, h), cc = dot(c, c), nh = dot(s.normal, h);
        float slope = sqrt(cc / max(nh * nh, 1e-4 * hh) + a2);
        float reach = around.lobe * slope;
        float nl = dot(s.normal, direction);
        float lights_part = sqrt(nl * nl * (1.0 - a2) + a2);
        // BRDF with cosine over the density, without common factors; divided by the taps within
        // that reach, which together count as one.
        float lobe = cc + a2 * nh * nh;
        float divisor = lobe * lobe * max(nl * view_part + nv * lights_part, 1e-12)
            * max(ray.density * away2, 1e-9 * far2)
            * (1.0 + floor(min(reach, 0.999) * float(taps)));
        float weight = a2 * hh * hh * nl * far2 / divisor;
        bool counts = ray.density > 0.0 && (beside || other == pixel) && away <= reach
            && weight > 0.0;
        weight = counts ? weight : 0.0;
        float seen = max(ray.share, 0.0);
        all += weight;
        light += weight * ray.light;
        shown += weight * seen;
        sky += ray.share < 0.0 ? weight : 0.0;
        float hit_weight = seen > 0.0 ? weight : 0.0;
        hit += hit_weight;
        inverse_depth += hit_weight > 0.0 ? hit_weight * min(nearer, 1e6) : 0.0;
        best = hit_weight > most && counts && seen > 0.0 ? texel : best;
        most = counts && seen > 0.0 ? max(most, hit_weight) : most;
    }
    // Without any valid ray, all count as lost.
    all = all > 0.0 ? all : 1.0;
#if !defined(SINGLE_FRAME) || defined(MIRROR_RAYS)
    // Image position of the hit with the greatest weight.
    uint place = 0u;
    if (hit > 0.0) {
        ivec2 other = min(best * SCALE, last_pixel);
        vec3 from = position_at(other, uintBitsToFloat(imageLoad(surface_history_image, other).x));
        vec4 clip = frame.view_projection * vec4(from + unpack_end(imageLoad(ray_image, best).xy),
            1.0);
        place = packUnorm2x16(0.5 * clip.xy / clip.w + 0.5);
    }
#endif
#ifdef MIRROR_RAYS
    if (hit > 0.0) {
        // Intersects a mirror's own ray with the plane of its neighbor's hit.
        vec2 at = unpackUnorm2x16(place) * vec2(ssr.size);
        ivec2 there = clamp(ivec2(at), ivec2(0), ivec2(ssr.size) - 1);
        at = own_place(s, reflect(-s.view, s.normal), at,
            position_at(there, uintBitsToFloat(imageLoad(surface_history_image, there).x)));
        if (at.x >= 0.0) {
            light = shown * max(textureLod(source_light_image, at / vec2(ssr.size), 0.0).rgb, 0.0);
            place = packUnorm2x16(at / vec2(ssr.size));
        }
    }
#endif
    vec4 reflection = reflection_of(s, light / all, shown / all, sky / all, open);
#ifdef SINGLE_FRAME
    vec3 found = found_light(s, pixel, reflection.rgb);
    vec3 total = with_reflections(to_signed_half_range(texelFetch(light_image, pixel, 0).rgb),
        around_here.rgb, reflection.a, found);
    imageStore(out_light_image, pixel, vec4(total, 1.0));
#else
    // Surfaces in a wide lobe have parallax; the sky hardly has features.
    float t = hit > (sharp ? sky : 0.1 * all) ? hit / inverse_depth : sky > 0.0 ? FAR_AWAY : 0.0;
    imageStore(out_reflection_image, pixel, reflection);
    imageStore(out_hit_image, pixel,
        uvec4(floatBitsToUint(clamp(t, 0.0, FAR_AWAY)), place, 0u, 0u));
#ifdef DEBUG
    imageStore(out_shares_image, pixel, vec4(vec2(shown, sky) / all, 0.0, 0.0));
#endif
#endif
}
