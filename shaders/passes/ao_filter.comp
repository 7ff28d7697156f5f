#version 460
// Bilateral filter of ambient occlusion: averages the 16 pixel patterns of pass `ao` over one
// surface, and upsamples half resolution. Output: world-space bent normal and visibility, 0 to 1.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ao.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D hidden_image;

layout(push_constant, scalar) uniform ao_block { AoConstants ao; };
// Bent normal and visibility.
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_open_image;
vec4 out_open;

void filter_pixel(ivec2 pixel) {
    ivec2 middle = pixel / int(ao.scale);
    float depth = texelFetch(depth_image, pixel, 0).x;
    out_open = vec4(0.0, 0.0, 0.0, 1.0);
    if (depth <= 0.0) {
        return;
    }
    vec3 position = position_at(pixel, depth);
    vec3 normal = unpack_normal(texelFetch(normal_image, pixel, 0).x);
    // Neighbor's distance from this pixel's plane, relative to the pixel spacing.
    float apart = distance(position_at(pixel + ivec2(1, 0), depth), position) * float(ao.scale);
    ivec2 last = textureSize(hidden_image, 0) - 1;
    vec4 sum = vec4(0.0);
    float whole = 0.0;
    int reach = ao.filtered != 0u ? 2 : 0;
    for (int y = -reach; y <= reach; ++y) {
        for (int x = -reach; x <= reach; ++x) {
            ivec2 texel = middle + ivec2(x, y);
            if (any(lessThan(texel, ivec2(0))) || any(greaterThan(texel, last))) {
                continue;
            }
            ivec2 at = min(texel * int(ao.scale), ivec2(frame.size) - 1);
            float there = texelFetch(depth_image, at, 0).x;
            if (there <= 0.0) {
                continue;
            }
            // Half weight at the border: each of the 16 patterns has the total weight 1.
            float weight = (abs(x) == 2 ? 0.5 : 1.0) * (abs(y) == 2 ? 0.5 : 1.0);
            float off = abs(dot(position_at(at, there) - position, normal)) / apart;
            float facing = max(dot(unpack_normal(texelFetch(normal_image, at, 0).x), normal), 0.0);
            facing *= facing;
            facing *= facing;
            weight *= exp2(-off * off) * facing * facing;
            sum += weight * texelFetch(hidden_image, texel, 0);
            whole += weight;
        }
    }
    vec4 hidden = whole > 1e-4 ? sum / whole : vec4(0.0);
    // The mean direction of an unoccluded hemisphere is 2/3 of the normal. Averaging the occluded
    // part keeps the normals of unoccluded pixels exact.
    vec3 bent = normal * (2.0 / 3.0) - hidden.xyz;
    // A nearly closed hemisphere has a noisy direction.
    bent = dot(bent, normal) > 0.02 ? normalize(bent) : normal;
    out_open = vec4(bent, clamp(1.0 - hidden.w, 0.0, 1.0));
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, frame.size)) {
        return;
    }
    filter_pixel(pixel);
    imageStore(out_open_image, pixel, out_open);
}
