#version 460
// variants: DEPTH
// Temporal anti-aliasing (TAA) and upsampling: accumulates jittered frames of pre-exposed light.
//
// Karis 2014, "High Quality Temporal Supersampling" (SIGGRAPH course "Advances in Real-Time
// Rendering"): velocity of the nearest surface around, weights 1 / (1 + luminance) on exposed light
// (`compress_luminance`). Salvi 2016, "An Excursion in Temporal Supersampling" (GDC): variance
// clipping of the history to mean and deviation of its neighborhood, in YCoCg. Jimenez 2016,
// "Filmic SMAA" (SIGGRAPH course): Catmull-Rom filtering of the history in five fetches.
//
// The input may have fewer pixels than the output: its samples are scattered to output pixels. In a
// static view, and in a first frame, each sample counts for the pixel that contains it, so that
// many converge to a box filter. Otherwise the Lanczos window of two lobes applies (Duchon 1979,
// "Lanczos Filtering in One and Two Dimensions"), clamped to the samples. The history's alpha is
// the accumulated sample weight. DEPTH also outputs depth at output resolution.
//
// A static view stabilizes the displayed image (lib/temporal_stabilization.glsl).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "shared/taa.glsl"
#include "lib/constants.glsl"
#include "lib/limit_counters.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"
#include "lib/ycocg.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/temporal_stabilization.glsl"
layout(set = 0, binding = 1) uniform texture2D light_image;
layout(set = 0, binding = 2) uniform texture2D depth_image;
layout(set = 0, binding = 3) uniform texture2D velocity_image;
layout(set = 0, binding = 4) uniform sampler2D history_image;
layout(set = 0, binding = 5) uniform texture2D history_data_image;
layout(set = 0, binding = 6) uniform texture2D displayed_image;
layout(push_constant, scalar) uniform taa_block { TaaConstants taa; };

layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_history_image;
vec4 out_history;
// Depth (m) and speed (pixels per frame) of the nearest surface around, for disocclusion in the
// next frame.
layout(set = 0, binding = 75, rg16f) uniform writeonly image2D out_past_image;
vec2 out_past;
// Displayed value, stabilized.
layout(set = 0, binding = 76, rgba16f) uniform writeonly image2D out_displayed_image;
vec4 out_displayed;
#ifdef DEPTH
layout(set = 0, binding = 77, r32f) uniform writeonly image2D out_depth_image;
float out_depth;
#endif

// Disocclusion tolerances: depth ratio, and speed difference in pixels per frame.
const float DEPTH_STEP = 1.01;
const float SPEED_STEP = 0.25;
// Weight of samples in other pixels of a static view, so that a pixel without samples shows its
// nearest; falls with the squared distance in input pixels.
const float LEAST = 1e-4;
const float FALL = 2.29;
// Minimum sample weight of a frame in motion.
const float MIN_WEIGHT_SUM = 1e-3;
// Speed (pixels per frame) from which variance clipping uses this smaller half-width: each frame
// blurs the history, and most disocclusions occur near fast motion.
const float SWIFT = 2.0;
const float SWIFT_GAMMA = 1.0;

// Limits the luminance to the brightest input: a compressed luminance of 1 is infinite light.
vec3 clamp_luminance(vec3 c, float brightest) {
    float l = luminance(c);
    return l > brightest ? c * (brightest / l) : c;
}

// History at the current exposure, compressed before filtering: the negative lobes would darken the
// neighborhood of a highlight.
vec3 history_at(vec2 at) {
    return compress_luminance(clamp(textureLod(history_image, at, 0.0).rgb * frame.history_scale,
        0.0, MAX_HALF), frame.smoothed_exposure_scale);
}

// Catmull-Rom over 4x4 pixels without corners: the two inner rows and columns each as one bilinear
// fetch. Compressed light.
vec3 catmull_rom(vec2 at) {
    vec2 middle = floor(at - 0.5) + 0.5;
    vec2 f = at - middle;
    vec2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    vec2 w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
    vec2 w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    vec2 w3 = f * f * (-0.5 + 0.5 * f);
    vec2 w12 = w1 + w2;
    vec2 before = (middle - 1.0) / taa.size;
    vec2 after = (middle + 2.0) / taa.size;
    vec2 inner = (middle + w2 / w12) / taa.size;
    vec3 above = history_at(vec2(inner.x, before.y));
    vec3 left = history_at(vec2(before.x, inner.y));
    vec3 center = history_at(inner);
    vec3 right = history_at(vec2(after.x, inner.y));
    vec3 below = history_at(vec2(inner.x, after.y));
    float sides = w12.x * w0.y + w0.x * w12.y + w3.x * w12.y + w12.x * w3.y;
    vec3 sum = center * (w12.x * w12.y) + above * (w12.x * w0.y) + left * (w0.x * w12.y)
        + right * (w3.x * w12.y) + below * (w12.x * w3.y);
    float brightest = max(luminance(center),
        max(max(luminance(above), luminance(left)), max(luminance(right), luminance(below))));
    return clamp_luminance(max(sum / (w12.x * w12.y + sides), 0.0), brightest);
}

float lanczos(float x) {
    float p = PI * abs(x);
    return p < 1e-3 ? 1.0 : p < 2.0 * PI ? 2.0 * sin(p) * sin(0.5 * p) / (p * p) : 0.0;
}

// Weight of a sample at an offset in input pixels from the output pixel. The window is as wide as
// the geometric mean of both pixel sizes, the width nearest to supersampling among those measured
// (docs/anti-aliasing.md).
float weight_of(vec2 off, vec2 to_input, bool exact) {
    if (exact) {
        return all(lessThanEqual(abs(off), 0.5 * to_input)) ? 1.0
            : LEAST * exp(-FALL * dot(off, off));
    }
    vec2 x = off * inversesqrt(to_input);
    return lanczos(x.x) * lanczos(x.y);
}

// Random numbers by pixel and frame. Jarzynski and Olano 2020, "Hash Functions for GPU Rendering"
// (pcg3d).
uvec3 random(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return v;
}

// Stochastic rounding to half floats, which preserves the mean: a long history would otherwise
// darken where the device rounds down, and lose small steps where it rounds to nearest. Removes
// thirteen significand bits; denormal half floats, common at dark exposures, have a constant step.
vec3 to_half(vec3 v, uvec3 chance) {
    vec3 normal = uintBitsToFloat((floatBitsToUint(v) + (chance & 0x1fffu)) & ~0x1fffu);
    vec3 steps = floor(v * 16777216.0 + vec3(chance & 0x1fffu) * (1.0 / 8192.0))
        * (1.0 / 16777216.0);
    return mix(normal, steps, lessThan(abs(v), vec3(1.0 / 16384.0)));
}

void accumulate(ivec2 target) {
    vec2 here = vec2(target) + 0.5;
    vec2 to_input = vec2(frame.size) / taa.size;
    vec2 at = here * to_input;
    ivec2 last = ivec2(frame.size) - 1;
    ivec2 nearest = clamp(ivec2(floor(at - taa.jitter)), ivec2(0), last);
    bool same_size = vec2(frame.size) == taa.size;
    bool still = taa.history.still != 0u;
    // A first frame too: pixels without a sample have hardly any weight yet.
    bool exact = still || taa.history.max_frames == 0.0;

    // This frame: samples of this pixel, neighborhood statistics, and the nearest surface.
    vec3 sum = vec3(0.0);
    float weight = 0.0;
    vec3 neighborhood_min = vec3(MAX_HALF);
    vec3 neighborhood_max = vec3(0.0);
    float brightest = 0.0;
    vec3 mean = vec3(0.0);
    vec3 square = vec3(0.0);
    float closest_depth = -1.0;
    ivec2 closest = nearest;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            ivec2 pixel = clamp(nearest + ivec2(x, y), ivec2(0), last);
            // Increments of the means of a static view may be negative (denoiser_temporal.comp).
            vec3 signed_light = to_signed_half_range(texelFetch(light_image, pixel, 0).rgb);
            vec3 light = max(signed_light, 0.0);
            float depth = texelFetch(depth_image, pixel, 0).x;
            if (depth > closest_depth) {
                closest_depth = depth;
                closest = pixel;
            }
            vec3 squeezed = compress_luminance(light, frame.smoothed_exposure_scale);
            vec3 c = to_ycocg(squeezed);
            mean += c / 9.0;
            square += c * c / 9.0;
            neighborhood_min = min(neighborhood_min, squeezed);
            neighborhood_max = max(neighborhood_max, squeezed);
            brightest = max(brightest, luminance(squeezed));
            // Without upsampling each sample belongs to one pixel: the mean of many is a box
            // filter.
            vec2 off = vec2(pixel) + 0.5 + taa.jitter - at;
            float w = same_size ? (x == 0 && y == 0 ? 1.0 : 0.0) : weight_of(off, to_input, exact);
            sum += (still ? signed_light : squeezed) * w;
            weight += w;
        }
    }
    if (!same_size && !exact) {
        float sound_weight = max(weight, MIN_WEIGHT_SUM);
        sum = clamp_luminance(clamp(sum / sound_weight, neighborhood_min, neighborhood_max),
            brightest) * sound_weight;
        weight = sound_weight;
    }
#ifdef DEPTH
    out_depth = texelFetch(depth_image, nearest, 0).x;
#endif

    // History: linear light in a static view, else compressed.
    vec2 velocity = texelFetch(velocity_image, closest, 0).xy / to_input;
    vec4 p = frame.inverse_projection * vec4((vec2(closest) + 0.5) / vec2(frame.size) * 2.0 - 1.0,
        closest_depth, 1.0);
    bool far = closest_depth <= 0.0 && frame.forward.w == 0.0;
    float speed = min(length(velocity), MAX_HALF);
    float depth_now = far ? MAX_HALF : clamp(dot(p.xyz, frame.forward.xyz) / p.w, 0.0, MAX_HALF);
    float previous_depth = far ? MAX_HALF : clamp(dot(p, taa.previous_depth) / p.w, 0.0, MAX_HALF);
    out_past = vec2(depth_now, speed);

    vec3 past;
    float count;
    if (still) {
        vec4 history = texelFetch(history_image, ivec2(here), 0);
        past = history.rgb * frame.history_scale;
        count = history.a;
    } else {
        vec2 there = here - velocity;
        past = catmull_rom(there);
        count = textureLod(history_image, there / taa.size, 0.0).a;
        bool outside = any(lessThan(there, vec2(0.0))) || any(greaterThan(there, taa.size));
        // Disocclusion: the previous surface there was nearer, and moved differently.
        vec2 farthest = vec2(-1.0);
        ivec2 corner = ivec2(floor(there - 0.5));
        for (int i = 0; i < 4; ++i) {
            vec2 seen = texelFetch(history_data_image,
                clamp(corner + ivec2(i & 1, i >> 1), ivec2(0), ivec2(taa.size) - 1), 0).xy;
            farthest = seen.x > farthest.x ? seen : farthest;
        }
        bool hidden = previous_depth > farthest.x * DEPTH_STEP
            && abs(speed - farthest.y) > SPEED_STEP;
        count = outside || hidden ? 0.0 : count;
    }
    // NaN fails every comparison, so it discards the history.
    bool sound = all(greaterThanEqual(past, vec3(still ? -MAX_HALF : 0.0))) && count > 0.0;
    past = sound ? min(past, MAX_HALF) : vec3(0.0);
    count = sound ? min(count, taa.history.max_frames) : 0.0;

    if (!still) {
        float gamma = min(taa.gamma, mix(taa.gamma, SWIFT_GAMMA, clamp(speed / SWIFT, 0.0, 1.0)));
        vec3 deviation = sqrt(max(square - mean * mean, 0.0)) * gamma;
        vec3 c = to_ycocg(past) - mean;
        past = max(from_ycocg(mean + clip_to_deviation(c, deviation)), 0.0);
    }
    vec3 accumulated = (past * count + sum) / (count + weight);
    vec3 light = still ? accumulated : stretch(accumulated, frame.smoothed_exposure_scale);
    // Light beyond half floats is counted before; this limit is below them while the exposure of
    // the weights lags by more than three stops.
    if (!still && 1.0 - luminance(accumulated) < MIN_FROM_ONE) {
        atomicAdd(limit_counters.clamped_values, 1u);
    }
    light = to_half(to_signed_half_range(light), random(uvec3(target, taa.history.number)));
    out_history = vec4(min(light, MAX_HALF), min(count + weight, 2048.0));
    out_displayed = vec4(max(out_history.rgb, 0.0), out_history.a);
    if (still && count > 0.0 && exposure_is_stable()) {
        vec4 displayed = vec4(texelFetch(displayed_image, ivec2(here), 0).rgb * frame.history_scale,
            0.0);
        vec4 mean = vec4(out_displayed.rgb, 0.0);
        out_displayed.rgb = stabilize(mean, displayed,
            stabilization_step(displayed, mean, count)).rgb;
    }
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, uvec2(taa.size))) {
        return;
    }
    accumulate(pixel);
    imageStore(out_history_image, pixel, out_history);
    imageStore(out_past_image, pixel, vec4(out_past, 0.0, 0.0));
    imageStore(out_displayed_image, pixel, out_displayed);
#ifdef DEPTH
    imageStore(out_depth_image, pixel, vec4(out_depth));
#endif
}
