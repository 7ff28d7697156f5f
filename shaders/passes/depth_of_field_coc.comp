#version 460
// Circle of confusion (CoC, signed radius in pixels) per pixel, and extraction of highlights:
// pixels so much brighter than their neighborhood that their bokeh disk is visible by itself. A
// highlight's light is removed here and drawn as a sprite later; energy is conserved. Pre-exposed
// light.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "shared/effects.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 2) uniform texture2D light_image;
layout(set = 0, binding = 3, rgba16f) uniform writeonly image2D coc_image;
layout(set = 0, binding = 4, scalar) writeonly buffer reach_block { vec2 reaches[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer highlight_block { Highlight highlights[]; };
// Highlight count of each tile, also of those that it has no sprites for, then the maximum radius
// of each (pixels, float bits), before it is clamped.
layout(set = 0, binding = 6, scalar) writeonly buffer count_block { uint counts[]; };
layout(push_constant, scalar) uniform lens_block { DepthOfFieldConstants lens; };

#include "lib/aperture.glsl"
#include "lib/coc.glsl"
#include "lib/inverse_depth.glsl"
#include "lib/luminance.glsl"
#include "lib/packing.glsl"

// Smaller disks are gathered with the rest: at full resolution nothing is lost.
const float MIN_BOKEH_RADIUS = 3.0;
// Minimum ratio of a highlight to the pixels at a distance of five, so that small lights and thin
// lines are drawn pixel by pixel too.
const float STANDS_OUT = 4.0;
const ivec2 AROUND[4] = ivec2[](ivec2(5, 0), ivec2(5, 2), ivec2(4, 4), ivec2(2, 5));

shared uint near_reach;
shared uint far_reach;
shared uint greatest;
shared uint ranks[256];

vec3 light_at(ivec2 pixel) {
    return to_half_range(texelFetch(light_image, clamp(pixel, ivec2(0), ivec2(frame.size) - 1),
        0).rgb);
}

// Signed CoC radius (pixels): thin lens, src/optics/focus.rs. Distances are along the axis.
float circle_radius(ivec2 pixel) {
    return lens.radius_at_infinity - lens.radius_slope
        * inverse_depth(texelFetch(depth_image, pixel, 0).x);
}

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    uint thread = gl_LocalInvocationIndex;
    uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (thread == 0u) {
        near_reach = 0u;
        far_reach = 0u;
        greatest = 0u;
    }
    barrier();
    bool inside = all(lessThan(pixel, ivec2(frame.size)));
    vec3 light = vec3(0.0);
    vec3 excess = vec3(0.0);
    float radius = 0.0;
    bool stands_out = false;
    if (inside) {
        light = light_at(pixel);
        radius = circle_radius(pixel);
        atomicMax(greatest, floatBitsToUint(abs(radius)));
        radius = clamp(radius, -lens.max_radius, lens.max_radius);
        if (coc_class_weight(radius, 0u) > 0.0) {
            if (radius < 0.0) {
                atomicMax(near_reach, floatBitsToUint(-radius));
            } else {
                atomicMax(far_reach, floatBitsToUint(radius));
            }
        }
        if (abs(radius) >= MIN_BOKEH_RADIUS) {
            vec3 around = vec3(0.0);
            for (int i = 0; i < 4; ++i) {
                ivec2 d = AROUND[i];
                around += light_at(pixel + d) + light_at(pixel - d);
                around += light_at(pixel + ivec2(-d.y, d.x)) + light_at(pixel + ivec2(d.y, -d.x));
            }
            around /= 16.0;
            excess = max(light - around, vec3(0.0));
            stands_out = luminance(light) > STANDS_OUT * luminance(around)
                && luminance(excess) > lens.min_highlight_light * disc_area(abs(radius));
        }
    }
    // Ranks follow thread order, so that sprites blend in the same order each time.
    ranks[thread] = stands_out ? 1u : 0u;
    barrier();
    for (uint step = 1u; step < 256u; step *= 2u) {
        uint before = thread >= step ? ranks[thread - step] : 0u;
        barrier();
        ranks[thread] += before;
        barrier();
    }
    if (stands_out && ranks[thread] <= HIGHLIGHTS_PER_TILE) {
        Highlight highlight;
        highlight.light = excess;
        highlight.radius = radius;
        highlight.center = vec2(pixel) + 0.5;
        highlight.pad0 = 0u;
        highlight.pad1 = 0u;
        highlights[tile * HIGHLIGHTS_PER_TILE + ranks[thread] - 1u] = highlight;
        light -= excess;
    }
    if (inside) {
        imageStore(coc_image, pixel, vec4(light, radius));
    }
    if (thread == 0u) {
        counts[tile] = ranks[255];
        counts[gl_NumWorkGroups.x * gl_NumWorkGroups.y + tile] = greatest;
        reaches[tile] = vec2(uintBitsToFloat(near_reach), uintBitsToFloat(far_reach));
    }
}
