#version 460
// Gathers one CoC size class and composites it with the larger ones: larger circles are nearer in
// the near field, farther in the far field. Pre-exposed light.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"

layout(set = 0, binding = 0) uniform texture2D near_image;
layout(set = 0, binding = 1) uniform texture2D far_image;
layout(set = 0, binding = 2) uniform texture2D background_image;
layout(set = 0, binding = 3) uniform texture2D radius_image;
layout(set = 0, binding = 4) uniform texture2D near_coarser;
layout(set = 0, binding = 5) uniform texture2D far_coarser;
layout(set = 0, binding = 6) uniform texture2D background_coarser;
layout(set = 0, binding = 7, scalar) readonly buffer reach_block { vec2 reaches[]; };
layout(push_constant, scalar) uniform lens_block { DepthOfFieldConstants lens; };

#include "lib/aperture.glsl"
#include "lib/coc.glsl"
#include "lib/dof_gather.glsl"

layout(location = 0) out vec4 out_near;
layout(location = 1) out vec4 out_far;
layout(location = 2) out vec4 out_background;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 size = textureSize(near_image, 0);
    vec2 reach = max_coc_at(texel, size);
    vec4 near = vec4(0.0);
    vec4 far = vec4(0.0);
    int taps = min(int(ceil(max(reach.x, reach.y) - 0.5)), REACH);
    if (max(reach.x, reach.y) > 0.0) {
        vec2 from_center = (gl_FragCoord.xy - 0.5 * vec2(size)) * float(1u << lens.level);
        vec2 near_rim = rim_center(from_center, -1.0);
        vec2 far_rim = rim_center(from_center, 1.0);
        float area_here = aperture_area_round(far_rim);
        for (int y = -taps; y <= taps; ++y) {
            for (int x = -taps; x <= taps; ++x) {
                // Clamps to the border of the image.
                ivec2 at = clamp(texel + ivec2(x, y), ivec2(0), size - 1);
                vec2 radii = texelFetch(radius_image, at, 0).xy;
                // From the circle's center to this texel.
                vec2 offset = -vec2(x, y);
                float distance = length(offset);
                if (distance < radii.x + 0.5) {
                    float edge = aperture_edge(offset, -1.0, near_rim);
                    near += texelFetch(near_image, at, 0)
                        * (disc(radii.x * edge, distance) / (disc_area(radii.x) * area_here));
                }
                if (distance < radii.y + 0.5) {
                    float edge = aperture_edge(offset, 1.0, far_rim);
                    far += texelFetch(far_image, at, 0)
                        * (disc(radii.y * edge, distance) / (disc_area(radii.y) * area_here));
                }
            }
        }
    }
    vec4 background = texelFetch(background_image, texel, 0);
    out_near = over(upsample_bilinear(near_coarser, texel), whole(near));
    out_far = over(whole(far), upsample_bilinear(far_coarser, texel));
    // Coarser levels fill only where this one has hardly any coverage: they are less sharp, and may
    // contain the foreground of this class itself. The weight stays within the half float range.
    background = whole(background + upsample_bilinear(background_coarser, texel) / 16.0);
    out_background = background * max(1.0, 1.0 / (256.0 * max(background.a, 1e-6)));
}
