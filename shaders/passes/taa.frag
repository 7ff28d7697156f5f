#version 460
// variants: DEPTH
// Temporal anti-aliasing: this frame's samples, each jittered within its pixel, join those of the frames before.
//
// Karis 2014, "High Quality Temporal Supersampling" (SIGGRAPH course "Advances in Real-Time Rendering"): velocity of
// the nearest surface around, weights 1 / (1 + luminance) on exposed light. Salvi 2016, "An Excursion in Temporal
// Supersampling" (GDC): the history is clipped to mean and deviation of its neighbourhood, in YCoCg. Jimenez 2016,
// "Filmic SMAA" (SIGGRAPH course): Catmull-Rom filtering of the history in five fetches.
//
// The input may have fewer pixels than the output: its samples are then scattered to the output's pixels, weighed by how
// near they lie. The history counts in alpha the weight of the samples that it is the mean of. With DEPTH, depth comes in
// the output's pixels too.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "shared/effects.glsl"
#include "lib/packing.glsl"
#include "lib/ycocg.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D light_image;
layout(set = 0, binding = 2) uniform texture2D depth_image;
layout(set = 0, binding = 3) uniform texture2D velocity_image;
layout(set = 0, binding = 4) uniform sampler2D history_image;
layout(set = 0, binding = 5) uniform texture2D past_image;
layout(push_constant, scalar) uniform taa_block { TaaConstants taa; };

layout(location = 0) out vec4 out_history;
// Depth (m) and speed (pixels a frame) of the nearest surface around, for the next frame to tell what was hidden.
layout(location = 1) out vec2 out_past;
#ifdef DEPTH
layout(location = 2) out float out_depth;
#endif

// Depths differ where one is this much greater than the other; speeds, by so many pixels a frame.
const float DEPTH_STEP = 1.05;
const float SPEED_STEP = 0.25;
// Fall of a sample's weight with the squared distance from the output's pixel, in pixels: a Gaussian as wide as the
// Blackman-Harris window over 3.3 pixels that Karis recommends.
const float FALL = 2.29;
// The least weight, so that a pixel that has nothing else shows its nearest samples.
const float LEAST = 1e-4;

// Catmull-Rom over 4x4 pixels without the corners: the two inner rows and columns each as one linear fetch.
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
    vec4 sum = vec4(0.0);
    sum += vec4(textureLod(history_image, vec2(inner.x, before.y), 0.0).rgb, 1.0) * (w12.x * w0.y);
    sum += vec4(textureLod(history_image, vec2(before.x, inner.y), 0.0).rgb, 1.0) * (w0.x * w12.y);
    sum += vec4(textureLod(history_image, inner, 0.0).rgb, 1.0) * (w12.x * w12.y);
    sum += vec4(textureLod(history_image, vec2(after.x, inner.y), 0.0).rgb, 1.0) * (w3.x * w12.y);
    sum += vec4(textureLod(history_image, vec2(inner.x, after.y), 0.0).rgb, 1.0) * (w12.x * w3.y);
    return sum.rgb / sum.a;
}

// A number by pixel and frame. Jarzynski and Olano 2020, "Hash Functions for GPU Rendering" (pcg3d).
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

// To what half floats hold, up or down by chance so that the mean stays: a history of many frames would else sink where
// the device rounds down, and swallow small steps where it rounds to the nearest. Thirteen bits of the float's significand
// go; what is smaller than the least normal half float is rounded by the device.
vec3 to_half(vec3 v, uvec3 chance) {
    return uintBitsToFloat((floatBitsToUint(v) + (chance & 0x1fffu)) & ~0x1fffu);
}

void main() {
    vec2 here = gl_FragCoord.xy;
    vec2 to_input = vec2(frame.size) / taa.size;
    vec2 at = here * to_input;
    ivec2 last = ivec2(frame.size) - 1;
    ivec2 nearest = clamp(ivec2(floor(at - taa.jitter)), ivec2(0), last);
    bool same_size = vec2(frame.size) == taa.size;
    bool still = taa.still != 0u;

    // This frame: what falls on this pixel, what lies around, and the nearest surface there.
    vec3 sum = vec3(0.0);
    float weight = 0.0;
    vec3 mean = vec3(0.0);
    vec3 square = vec3(0.0);
    float closest_depth = -1.0;
    ivec2 closest = nearest;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            ivec2 pixel = clamp(nearest + ivec2(x, y), ivec2(0), last);
            vec3 light = to_half_range(texelFetch(light_image, pixel, 0).rgb);
            float depth = texelFetch(depth_image, pixel, 0).x;
            if (depth > closest_depth) {
                closest_depth = depth;
                closest = pixel;
            }
            vec3 squeezed = squeeze(light);
            vec3 c = to_ycocg(squeezed);
            mean += c / 9.0;
            square += c * c / 9.0;
            // Pixel for pixel each sample belongs to one: the mean of many is that over the pixel's square.
            vec2 off = (vec2(pixel) + 0.5 + taa.jitter - at) / to_input;
            float w = same_size ? (x == 0 && y == 0 ? 1.0 : 0.0) : max(exp(-FALL * dot(off, off)), LEAST * exp(-FALL * dot(off * to_input, off * to_input)));
            sum += (still ? light : squeezed) * w;
            weight += w;
        }
    }
#ifdef DEPTH
    out_depth = texelFetch(depth_image, nearest, 0).x;
#endif

    // Where it was.
    vec2 velocity = texelFetch(velocity_image, closest, 0).xy / to_input;
    vec4 p = frame.inverse_projection * vec4((vec2(closest) + 0.5) / vec2(frame.size) * 2.0 - 1.0, closest_depth, 1.0);
    bool far = closest_depth <= 0.0 && frame.forward.w == 0.0;
    float speed = min(length(velocity), FARTHEST);
    float depth_now = far ? FARTHEST : clamp(dot(p.xyz, frame.forward.xyz) / p.w, 0.0, FARTHEST);
    float depth_before = far ? FARTHEST : clamp(dot(p, taa.depth_before) / p.w, 0.0, FARTHEST);
    out_past = vec2(depth_now, speed);

    vec3 past;
    float count;
    if (still) {
        vec4 history = texelFetch(history_image, ivec2(here), 0);
        past = history.rgb;
        count = history.a;
    } else {
        vec2 there = here - velocity;
        past = catmull_rom(there);
        count = textureLod(history_image, there / taa.size, 0.0).a;
        bool outside = any(lessThan(there, vec2(0.0))) || any(greaterThan(there, taa.size));
        // It was hidden then: whatever was seen there was nearer, and moved in another way.
        vec2 farthest = vec2(-1.0);
        ivec2 corner = ivec2(floor(there - 0.5));
        for (int i = 0; i < 4; ++i) {
            vec2 seen = texelFetch(past_image, clamp(corner + ivec2(i & 1, i >> 1), ivec2(0), ivec2(taa.size) - 1), 0).xy;
            farthest = seen.x > farthest.x ? seen : farthest;
        }
        bool hidden = depth_before > farthest.x * DEPTH_STEP && abs(speed - farthest.y) > SPEED_STEP;
        count = outside || hidden ? 0.0 : count;
    }
    // Not a number fails every comparison.
    bool sound = all(greaterThanEqual(past, vec3(-FARTHEST))) && all(lessThanEqual(past, vec3(FARTHEST))) && count > 0.0;
    past = sound ? min(max(past, 0.0) * frame.history_scale, FARTHEST) : vec3(0.0);
    count = sound ? min(count, taa.most) : 0.0;

    if (!still) {
        vec3 deviation = sqrt(max(square - mean * mean, 0.0)) * taa.gamma;
        vec3 c = to_ycocg(squeeze(past)) - mean;
        vec3 beyond = abs(c) / max(deviation, 1e-6);
        float most = max(max(beyond.x, beyond.y), beyond.z);
        past = max(from_ycocg(mean + (most > 1.0 ? c / most : c)), 0.0);
    }
    vec3 joined = (past * count + sum) / (count + weight);
    vec3 light = still ? joined : stretch(joined);
    light = to_half(to_half_range(light), random(uvec3(gl_FragCoord.xy, taa.frame)));
    out_history = vec4(min(light, FARTHEST), min(count + weight, 2048.0));
}
