#version 460
// features: VARIANCE AVERAGED
// Edge-avoiding a-trous filter of a noisy signal: averages neighbors of the same surface and of
// similar luminance at growing distances; the lower the variance, the stricter the luminance test.
// Dammertz et al. 2010, "Edge-Avoiding A-Trous Wavelet Transform for fast Global Illumination
// Filtering"; Schied et al. 2017, "Spatiotemporal Variance-Guided Filtering".
//
// VARIANCE estimates the variance, from the history or from neighbors where there is none.
//
// AVERAGED filters the frame's increments of the mean (denoiser_temporal.comp). The accumulated
// means and their variance decide the weights, so that the filter narrows as the mean gets better.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"
#include "lib/reflection_likeness.glsl"
#include "lib/ycocg.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#ifndef VARIANCE
// Pixels between taps.
layout(push_constant, scalar) uniform step_block { int spacing; };
#endif
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5) uniform texture2D diffuse_image;
layout(set = 0, binding = 6) uniform texture2D specular_image;
#ifdef AVERAGED
#ifdef VARIANCE
// Increments of the means that are in the images above.
layout(set = 0, binding = 7) uniform texture2D diffuse_increment_image;
layout(set = 0, binding = 8) uniform texture2D specular_increment_image;
#else
// Luminance of the diffuse mean, filtered as the increment is.
layout(set = 0, binding = 7) uniform texture2D guide_image;
#endif
layout(set = 0, binding = 76, r32f) uniform writeonly image2D out_guide_image;
#endif
float out_guide = 0.0;

// Diffuse part; alpha: variance of its luminance.
layout(set = 0, binding = 74, rgba32f) uniform writeonly image2D out_diffuse_image;
vec4 out_diffuse;
// Specular part; alpha: history length in frames.
layout(set = 0, binding = 75, rgba32f) uniform writeonly image2D out_specular_image;
vec4 out_specular;

// History length in frames.
#ifdef VARIANCE
#define FRAMES_OF(diffuse, specular) diffuse.a
#else
#define FRAMES_OF(diffuse, specular) specular.a
#endif

// Luminance tolerance in standard deviations.
const float ROOM = 4.0;
// Tolerance factor of a single frame, whose light is in few pixels; it falls with the square of the
// frame count. The variance of short histories comes from neighbors and includes true spatial
// variation.
const float FEW = 16.0;
// Minimum history length (frames) for the temporal variance estimate (Schied et al. 2017, section
// 4.2).
const float KNOWN = 4.0;

// Tolerances by history length: exponent of the cosine between normals, and distance from the plane
// relative to the view distance. A short history on a surface of a few pixels has no neighbors of
// the same orientation: its noise outweighs the difference of the light that they get.
const vec2 EXPONENT = vec2(4.0, 32.0);
const vec2 PLANE_STEP = vec2(0.03, 0.01);
// History length (frames) from which the narrow tolerances hold.
const float MANY = 8.0;

struct Here {
    vec3 place;
    vec3 normal;
    float exponent;
    float plane_step;
};

Here here_at(ivec2 pixel, float depth, float frames) {
    vec3 place = position_at(pixel, depth);
    float known = clamp((frames - 1.0) / (MANY - 1.0), 0.0, 1.0);
    return Here(place, unpack_normal(texelFetch(normal_image, pixel, 0).x),
        mix(EXPONENT.x, EXPONENT.y, known), mix(PLANE_STEP.x, PLANE_STEP.y, known) * length(place));
}

// Weight of another pixel as the same surface, 0 to 1.
float likeness(Here here, ivec2 other) {
    float depth = texelFetch(depth_image, other, 0).x;
    if (depth <= 0.0) {
        return 0.0;
    }
    vec3 normal = unpack_normal(texelFetch(normal_image, other, 0).x);
    float turned = clamp(dot(normal, here.normal), 0.0, 1.0);
    float off = abs(dot(position_at(other, depth) - here.place, here.normal));
    return pow(turned, here.exponent) * max(1.0 - off / here.plane_step, 0.0);
}

#ifndef VARIANCE
// Luminance of a pixel with this diffuse part, for the weights.
float guide_at(ivec2 pixel, vec3 diffuse) {
#ifdef AVERAGED
    return texelFetch(guide_image, pixel, 0).x;
#else
    return luminance(diffuse);
#endif
}

// Mirror direction of a pixel's surface.
vec3 mirrored_at(vec3 place, vec3 normal) {
    return reflect(-view_at(place), normal);
}
#endif

#ifdef VARIANCE
// Variance of the mean, by the pixel's own history or by its neighbors.
float variance_at(ivec2 pixel, Here here, vec4 diffuse, vec4 specular) {
    float mean = luminance(diffuse.rgb);
    float count = max(diffuse.a, 1.0);
    float own = max(specular.a - mean * mean, 0.0) / count;
    if (count >= KNOWN) {
        return own;
    }
    float sum = 0.0, square = 0.0, weights = 0.0;
    for (int y = -3; y <= 3; ++y) {
        for (int x = -3; x <= 3; ++x) {
            ivec2 other = clamp(pixel + ivec2(x, y), ivec2(0), ivec2(frame.size) - 1);
            vec4 there = texelFetch(diffuse_image, other, 0);
            float weight = there.a > 0.0 ? likeness(here, other) : 0.0;
            float level = luminance(there.rgb);
            sum += weight * level;
            square += weight * level * level;
            weights += weight;
        }
    }
    weights = max(weights, 1e-6);
    float around = max(square / weights - sum * sum / (weights * weights), 0.0);
    return mix(around, own, clamp((count - 1.0) / (KNOWN - 1.0), 0.0, 1.0));
}
#else
// Mean variance of 3 x 3 pixels, since single variances are noisy.
float variance_around(ivec2 pixel) {
    float sum = 0.0, weights = 0.0;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            ivec2 other = clamp(pixel + ivec2(x, y), ivec2(0), ivec2(frame.size) - 1);
            float weight = x == 0 && y == 0 ? 4.0 : x == 0 || y == 0 ? 2.0 : 1.0;
            sum += weight * texelFetch(diffuse_image, other, 0).a;
            weights += weight;
        }
    }
    return sum / weights;
}
#endif

void filter_pixel(ivec2 pixel) {
    vec4 diffuse = texelFetch(diffuse_image, pixel, 0);
    vec4 specular = texelFetch(specular_image, pixel, 0);
    out_diffuse = vec4(diffuse.rgb, 0.0);
    out_specular = vec4(specular.rgb, 0.0);
#if defined(AVERAGED) && defined(VARIANCE)
    out_diffuse.rgb = texelFetch(diffuse_increment_image, pixel, 0).rgb;
    out_specular.rgb = texelFetch(specular_increment_image, pixel, 0).rgb;
    out_guide = luminance(diffuse.rgb);
#endif
    float depth = texelFetch(depth_image, pixel, 0).x;
    // Background or unlit surface.
    if (depth <= 0.0 || FRAMES_OF(diffuse, specular) <= 0.0) {
        return;
    }
    Here here = here_at(pixel, depth, FRAMES_OF(diffuse, specular));
#ifdef VARIANCE
    // The variance replaces the history length in alpha.
    out_diffuse.a = variance_at(pixel, here, diffuse, specular);
    out_specular.a = diffuse.a;
#else
    const float KERNEL[2] = float[](1.0, 0.5);
    float level = guide_at(pixel, diffuse.rgb);
    // A single frame has its light in few pixels, which the filter must keep.
    float frames = max(specular.a, 1.0);
    float room = ROOM * (1.0 + FEW / (frames * frames)) * sqrt(max(variance_around(pixel), 0.0))
        + 1e-7;
    out_guide = level;
    vec3 sum = diffuse.rgb;
    vec3 shine = specular.rgb;
    float variance = diffuse.a;
    float weights = 1.0, shine_weights = 1.0;
    vec3 mirrored = mirrored_at(here.place, here.normal);
    float roughness = surface_roughness(pixel);
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            ivec2 other = pixel + ivec2(x, y) * spacing;
            if (x == 0 && y == 0 || any(lessThan(other, ivec2(0)))
                || any(greaterThanEqual(other, ivec2(frame.size)))) {
                continue;
            }
            vec4 there = texelFetch(diffuse_image, other, 0);
            float same = KERNEL[abs(x)] * KERNEL[abs(y)] * likeness(here, other);
            vec4 beside_shine = texelFetch(specular_image, other, 0);
            if (same <= 0.0 || beside_shine.a <= 0.0) {
                continue;
            }
            float guide = guide_at(other, there.rgb);
            float weight = same * exp(-abs(guide - level) / room);
            out_guide += weight * guide;
            sum += weight * there.rgb;
            vec3 beside = position_at(other, texelFetch(depth_image, other, 0).x);
            vec3 other_mirrored =
                mirrored_at(beside, unpack_normal(texelFetch(normal_image, other, 0).x));
            float shared_ = weight * reflection_likeness(mirrored, other_mirrored, roughness,
                surface_roughness(other));
            shine += shared_ * beside_shine.rgb;
            shine_weights += shared_;
            variance += weight * weight * there.a;
            weights += weight;
        }
    }
    out_guide /= weights;
    out_diffuse = vec4(sum / weights, variance / (weights * weights));
    out_specular = vec4(shine / shine_weights, specular.a);
#endif
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, frame.size)) {
        return;
    }
    filter_pixel(pixel);
    imageStore(out_diffuse_image, pixel, out_diffuse);
    imageStore(out_specular_image, pixel, out_specular);
#ifdef AVERAGED
    imageStore(out_guide_image, pixel, vec4(out_guide));
#endif
}
