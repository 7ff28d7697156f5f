#version 460
// variants: AVERAGED
// Temporal accumulation of a noisy signal: reprojects and validates its history, and accumulates
// the luminance's second moment.
//
// AVERAGED also outputs increments, for pictures that show the mean of the frames of a static view:
// with the accumulated mean F_n of n frames, the mean of n F_n - (n - 1) F_(n-1) over n frames is
// F_n. The mean of the F_n would count the first frames more than the last ones: for many frames it
// has twice the variance. Increments may be negative.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/denoiser.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"
#include "lib/ycocg.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
// A storage buffer: lavapipe compiles a shader whose branches depend on uniform values for each of
// their values (docs/denoiser.md, "Passes").
layout(set = 0, binding = 35, scalar) readonly buffer denoiser_block {
    DenoiserConstants denoiser;
};
#include "lib/gbuffer.glsl"
#define REPROJECTION_BLOCK denoiser
#include "lib/reprojection.glsl"
layout(set = 0, binding = 5) uniform texture2D diffuse_image;
layout(set = 0, binding = 6) uniform texture2D specular_image;
layout(set = 0, binding = 7) uniform texture2D velocity_image;
layout(set = 0, binding = 8) uniform texture2D history_image;
layout(set = 0, binding = 9) uniform texture2D history_specular_image;
layout(set = 0, binding = 10) uniform utexture2D history_data_image;
// Weights of the diffuse and the specular sample; read with DENOISER_WEIGHTED.
layout(set = 0, binding = 11) uniform texture2D weights_image;

// Mean diffuse part; alpha: history length in frames.
layout(set = 0, binding = 74, rgba32f) uniform writeonly image2D out_history_image;
vec4 out_history;
// Mean specular part; alpha: mean squared diffuse luminance.
layout(set = 0, binding = 75, rgba32f) uniform writeonly image2D out_specular_image;
vec4 out_specular;
// Depth (bits) and packed normal of the surface.
layout(set = 0, binding = 76, rg32ui) uniform writeonly uimage2D out_past_image;
uvec2 out_past;
#ifdef AVERAGED
// Increments of both parts.
layout(set = 0, binding = 77, rgba32f) uniform writeonly image2D out_diffuse_increment_image;
layout(set = 0, binding = 78, rgba32f) uniform writeonly image2D out_specular_increment_image;
#endif
// Both parts' increments less their means.
vec3 diffuse_ahead = vec3(0.0);
vec3 specular_ahead = vec3(0.0);

// Plane distance tolerance, relative to the view distance.
const float SURFACE_STEP = 0.01;
// Minimum cosine between normals of one surface.
const float NORMAL_STEP = 0.9;
// Minimum alpha at which reflections keep the full history, and the history length (frames) of
// mirrors in motion.
const float FOLLOWS = 0.0625;
const float FEW = 2.0;
// That length in samples of weighted signals, of which a pixel has one in four frames.
const float FEW_WEIGHTED = 0.5;
// Squared history length up to which samples of other pixels have their full weight at rest.
const float OTHERS_UNTIL = 4.0;
// Half-width of the history clip in standard deviations of the neighborhood, and its minimum.
const float CLIP_DEVIATIONS = 1.5;
const float MIN_CLIP = 0.02;

// Whether a pixel of the last frame, with depth (bits) and packed normal `was`, showed the surface
// of a point at `place` that does not move by itself. `at`: the pixel's center.
bool is_same_surface(vec3 place, vec3 normal, vec2 at, uvec2 was) {
    float depth_was = uintBitsToFloat(was.x);
    vec3 seen = reprojected_position(at + denoiser.motion.previous_jitter, depth_was);
    return depth_was > 0.0 && dot(unpack_normal(was.y), normal) > NORMAL_STEP
        && abs(dot(seen - place, normal))
            < SURFACE_STEP * length(seen - denoiser.motion.previous_eye);
}

// Range of a part of this frame's signal around a pixel: mean of 3 x 3 pixels and half-width (Salvi
// 2016, "An Excursion in Temporal Supersampling", GDC).
void neighborhood(texture2D image, ivec2 pixel, out vec3 mean, out vec3 room) {
    vec3 sum = vec3(0.0), square = vec3(0.0);
    for (int i = 0; i < 9; ++i) {
        ivec2 other = clamp(pixel + ivec2(i % 3, i / 3) - 1, ivec2(0), ivec2(frame.size) - 1);
        vec3 there = texelFetch(image, other, 0).rgb;
        sum += there;
        square += there * there;
    }
    mean = sum / 9.0;
    room = CLIP_DEVIATIONS * sqrt(max(square / 9.0 - mean * mean, 0.0)) + MIN_CLIP;
}

void accumulate(ivec2 pixel) {
    uint flags = denoiser.flags;
    bool is_still = denoiser.history.still != 0u;
    float max_frames = denoiser.history.max_frames;
    float depth = texelFetch(depth_image, pixel, 0).x;
    uint normal_bits = texelFetch(normal_image, pixel, 0).x;
    vec4 noisy = texelFetch(diffuse_image, pixel, 0);
    vec2 weight_now = (flags & DENOISER_WEIGHTED) != 0u
        ? texelFetch(weights_image, pixel, 0).xy : vec2(1.0);
    vec4 now = vec4(noisy.rgb, weight_now.x);
    float level = luminance(now.rgb);
    vec4 current_specular = vec4(texelFetch(specular_image, pixel, 0).rgb, level * level);
    out_history = now;
    out_specular = current_specular;
    out_past = uvec2(floatBitsToUint(depth), normal_bits);
    float scale = (flags & DENOISER_PRE_EXPOSED) != 0u ? frame.history_scale : 1.0;
    bool unlit = texelFetch(surface_image, pixel, 0).y >> 31 != 0u;
    if (depth <= 0.0 || unlit) {
        // Background or unlit now: history length 0 excludes the pixel from the filter. In a
        // jittered static view the history is kept.
        bool stays = is_still && max_frames > 0.0;
        out_history = stays ? texelFetch(history_image, pixel, 0) * vec4(vec3(scale), 1.0)
            : vec4(0.0);
        out_specular = stays ? texelFetch(history_specular_image, pixel, 0)
            * vec4(vec3(scale), scale * scale) : vec4(0.0);
        return;
    }
    if (max_frames <= 0.0) {
        return;
    }
    vec4 past = vec4(0.0);
    vec4 history_specular = vec4(0.0);
    vec3 place = position_at(pixel, depth);
    vec3 normal = unpack_normal(normal_bits);
    if (is_still) {
        bool kept = (flags & DENOISER_CHOSEN) == 0u || is_same_surface(place, normal,
            vec2(pixel) + 0.5, texelFetch(history_data_image, pixel, 0).xy);
        if (!kept) {
            return;
        }
        past = texelFetch(history_image, pixel, 0);
        history_specular = texelFetch(history_specular_image, pixel, 0);
    } else {
        vec2 velocity = texelFetch(velocity_image, pixel, 0).xy;
        vec4 clip_now = denoiser.motion.to_clip * vec4(place, 1.0);
        vec4 clip_then = denoiser.motion.previous_to_clip * vec4(place, 1.0);
        bool ahead = clip_now.w > 0.0 && clip_then.w > 0.0;
        vec2 camera = ahead ? to_pixels(clip_now) - to_pixels(clip_then) : velocity;
        bool moves = is_object_motion(distance(velocity, camera), velocity);
        // Previous position of the surface sample, not of the pixel center.
        vec2 there = (ahead ? to_pixels(clip_now) : vec2(pixel) + 0.5) - velocity
            - denoiser.motion.previous_jitter;
        vec2 corner = floor(there - 0.5);
        vec2 f = there - 0.5 - corner;
        float weights = 0.0;
        for (int i = 0; i < 4; ++i) {
            ivec2 off = ivec2(i & 1, i >> 1);
            ivec2 texel = ivec2(corner) + off;
            if (any(lessThan(texel, ivec2(0)))
                || any(greaterThanEqual(texel, ivec2(denoiser.size)))) {
                continue;
            }
            uvec2 was = texelFetch(history_data_image, texel, 0).xy;
            // A moving object was elsewhere with another orientation: its velocity gives the
            // position, and the plane test is skipped.
            bool same = moves
                ? uintBitsToFloat(was.x) > 0.0 && dot(unpack_normal(was.y), normal) > 0.5
                : is_same_surface(place, normal, vec2(texel) + 0.5, was);
            float weight = (off.x == 1 ? f.x : 1.0 - f.x) * (off.y == 1 ? f.y : 1.0 - f.y);
            if (same && weight > 0.0) {
                weights += weight;
                past += weight * texelFetch(history_image, texel, 0);
                history_specular += weight * texelFetch(history_specular_image, texel, 0);
            }
        }
        if (weights < 0.05) {
            return;
        }
        past /= weights;
        history_specular /= weights;
    }
    // NaN fails every comparison, so it discards the history.
    bool sound = past.a > 0.0 && all(greaterThanEqual(past.rgb, vec3(0.0)))
        && all(lessThanEqual(past.rgb, vec3(MAX_HALF)))
        && all(greaterThanEqual(history_specular, vec4(0.0)))
            && all(lessThanEqual(history_specular, vec4(MAX_HALF * MAX_HALF)));
    if (!sound) {
        return;
    }
    if ((flags & DENOISER_FROZEN) != 0u) {
        out_history = vec4(past.rgb * scale, past.a);
        out_specular = history_specular * vec4(vec3(scale), scale * scale);
        return;
    }
    float count = min(past.a, max_frames);
    if ((flags & DENOISER_CLIPPED) != 0u && !is_still) {
        count = min(count, noisy.a);
    }
    // Reflections of smooth surfaces do not move with the surface.
    float roughness = surface_roughness(pixel);
    float follows = clamp(roughness * roughness / FOLLOWS, 0.0, 1.0);
    float few = (flags & DENOISER_WEIGHTED) != 0u ? FEW_WEIGHTED : FEW;
    float shine_count = is_still ? count
        : min(count, mix(few, max_frames, follows));
    vec3 diffuse = min(past.rgb * scale, MAX_HALF);
    // Light over a small albedo exceeds the range of light.
    vec4 specular = min(history_specular * vec4(vec3(scale), scale * scale), MAX_HALF * MAX_HALF);
    if ((flags & DENOISER_CLIPPED) != 0u && !is_still) {
        vec3 mean, room;
        neighborhood(diffuse_image, pixel, mean, room);
        diffuse = clamp(diffuse, mean - room, mean + room);
        neighborhood(specular_image, pixel, mean, room);
        specular.rgb = clamp(specular.rgb, mean - room, mean + room);
    }
    if (is_still) {
        // Samples of other pixels would blur the mean that a static view converges to.
        weight_now *= mix(vec2(min(1.0, OTHERS_UNTIL / (count * count))), vec2(1.0),
            equal(weight_now, vec2(1.0)));
    }
    out_history = vec4((diffuse * count + now.rgb * weight_now.x) / (count + weight_now.x),
        count + weight_now.x);
    out_specular.rgb = (specular.rgb * shine_count + current_specular.rgb * weight_now.y)
        / (shine_count + weight_now.y);
    out_specular.a = (specular.a * count + current_specular.a * weight_now.x)
        / (count + weight_now.x);
    // Frames in which the pixel showed the background or another surface are not in its mean. Those
    // of weighted signals count by less than one each: as a quarter, if any of them may be missing.
    float known = (flags & DENOISER_WEIGHTED) == 0u ? count
        : (flags & DENOISER_CHOSEN) == 0u ? denoiser.history.averaged_frames : 4.0 * count;
    float frames = min(denoiser.history.averaged_frames, known);
    diffuse_ahead = frames * (out_history.rgb - diffuse);
    specular_ahead = frames * (out_specular.rgb - specular.rgb);
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, denoiser.size)) {
        return;
    }
    accumulate(pixel);
    imageStore(out_history_image, pixel, out_history);
    imageStore(out_specular_image, pixel, out_specular);
    imageStore(out_past_image, pixel, uvec4(out_past, 0u, 0u));
#ifdef AVERAGED
    imageStore(out_diffuse_increment_image, pixel,
        vec4(out_history.rgb + diffuse_ahead, 0.0));
    imageStore(out_specular_increment_image, pixel,
        vec4(out_specular.rgb + specular_ahead, 0.0));
#endif
}
