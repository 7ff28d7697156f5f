#version 460
// Depth of field, final composite: gathers the smallest circles of confusion (CoC) at full
// resolution over the coarser classes. Pre-exposed light.
//
// Each pixel of the sharp image spreads over its own CoC (Potmesil and Chakravarty 1981). A
// foreground spreads over in-focus pixels; a background does not, because a pixel gathers light
// from behind only within its own circle (Sousa 2013, "Graphics gems of CryEngine 3"; Jimenez 2014,
// "Next generation post processing in Call of Duty: Advanced Warfare"). Larger circles are gathered
// at lower resolutions (lib/coc.glsl).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"

layout(set = 0, binding = 0) uniform texture2D coc_image;
layout(set = 0, binding = 1) uniform texture2D near_coarser;
layout(set = 0, binding = 2) uniform texture2D far_coarser;
layout(set = 0, binding = 3) uniform texture2D background_coarser;
layout(set = 0, binding = 4, scalar) readonly buffer reach_block { vec2 reaches[]; };
layout(push_constant, scalar) uniform lens_block { DepthOfFieldConstants lens; };

#include "lib/aperture.glsl"
#include "lib/coc.glsl"
#include "lib/packing.glsl"
#include "lib/dof_gather.glsl"

layout(location = 0) out vec4 out_light;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 size = textureSize(coc_image, 0);
    vec4 own = texelFetch(coc_image, pixel, 0);
    vec2 reach = max_coc_at(pixel, size);
    vec4 near = vec4(0.0);
    vec4 far = vec4(0.0);
    // Far-field light nearer than this pixel's surface.
    vec4 before = vec4(0.0);
    int taps = min(int(ceil(max(reach.x, reach.y) - 0.5)), REACH);
    vec2 from_center = gl_FragCoord.xy - 0.5 * vec2(size);
    vec2 near_rim = rim_center(from_center, -1.0);
    vec2 far_rim = rim_center(from_center, 1.0);
    float area_here = aperture_area_round(far_rim);
    for (int y = -taps; y <= taps; ++y) {
        for (int x = -taps; x <= taps; ++x) {
            vec4 circle = texelFetch(coc_image, clamp(pixel + ivec2(x, y), ivec2(0), size - 1), 0);
            bool front = circle.a < 0.0;
            float radius = abs(circle.a);
            // Light behind this pixel's surface reaches it only within its own circle.
            if (own.a >= 0.0 && circle.a > own.a) {
                radius = own.a;
            }
            vec2 offset = -vec2(x, y);
            float distance = length(offset);
            if (distance >= radius + 0.5) {
                continue;
            }
            // Circles of one or two pixels stay round: their shape is invisible, and must not
            // remove light from the pixel itself.
            float shaped = clamp(radius - 1.0, 0.0, 1.0);
            float edge = mix(1.0, aperture_edge(offset, circle.a, front ? near_rim : far_rim),
                shaped);
            float area = mix(1.0, area_here, shaped);
            float weight = coc_class_weight(circle.a, 0u) * disc(radius * edge, distance)
                / (disc_area(radius) * area);
            if (front) {
                near += weight * vec4(circle.rgb, 1.0);
            } else {
                float is_before = own.a >= 0.0 ? clamp(own.a - circle.a, 0.0, 1.0) : 0.0;
                before += weight * is_before * vec4(circle.rgb, 1.0);
                far += weight * (1.0 - is_before) * vec4(circle.rgb, 1.0);
            }
        }
    }
    near = over(upsample_bilinear(near_coarser, pixel), whole(near));
    far = over(over(whole(before), whole(far)), upsample_bilinear(far_coarser, pixel));
    vec3 back = far.rgb;
    if (own.a >= 0.0) {
        // Light of this surface hidden by nearer objects is estimated from its visible part.
        back = far.a > 0.0 ? far.rgb / far.a : own.rgb;
    } else {
        vec4 fill = upsample_bilinear(background_coarser, pixel);
        if (fill.a > 0.0) {
            back += (1.0 - far.a) * fill.rgb / fill.a;
        } else {
            // Only foreground nearby.
            back = near.rgb / max(near.a, 1e-6);
        }
    }
    out_light = vec4(to_half_range(near.rgb + (1.0 - near.a) * back), 1.0);
}
