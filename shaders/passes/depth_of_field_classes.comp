#version 460
// Downsamples one CoC size class: means over blocks of 2^level pixels, premultiplied by the class
// coverage, for near and far field; and the background behind a foreground of this class, which
// fills the areas that its blurred edges reveal. Pre-exposed light.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) uniform texture2D coc_image;
layout(set = 0, binding = 1, rgba16f) uniform writeonly image2D near_image;
layout(set = 0, binding = 2, rgba16f) uniform writeonly image2D far_image;
layout(set = 0, binding = 3, rgba16f) uniform writeonly image2D background_image;
layout(set = 0, binding = 4, rg16f) uniform writeonly image2D radius_image;
layout(set = 0, binding = 5, scalar) writeonly buffer reach_block { vec2 reaches[]; };
layout(push_constant, scalar) uniform lens_block { DepthOfFieldConstants lens; };

#include "lib/coc.glsl"

shared uint near_reach;
shared uint far_reach;

void main() {
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (gl_LocalInvocationIndex == 0u) {
        near_reach = 0u;
        far_reach = 0u;
    }
    barrier();
    ivec2 size = textureSize(coc_image, 0);
    int block = 1 << int(lens.level);
    ivec2 first = texel * block;
    float limit = 0.5 * float(block);
    vec4 near = vec4(0.0);
    vec4 far = vec4(0.0);
    vec4 behind = vec4(0.0);
    vec2 radii = vec2(0.0);
    float pixels = 0.0;
    ivec2 end = min(first + block, size);
    for (int y = first.y; y < end.y; ++y) {
        for (int x = first.x; x < end.x; ++x) {
            vec4 circle = texelFetch(coc_image, ivec2(x, y), 0);
            float share = coc_class_weight(circle.a, lens.level);
            pixels += 1.0;
            if (circle.a < 0.0) {
                near += share * vec4(circle.rgb, 1.0);
                radii.x -= share * circle.a;
            } else {
                far += share * vec4(circle.rgb, 1.0);
                radii.y += share * circle.a;
            }
            // Near-field pixels with a CoC far below the class count as its background.
            behind += smoothstep(-1.25 * limit, -0.75 * limit, circle.a) * vec4(circle.rgb, 1.0);
        }
    }
    // In texels.
    radii = radii / max(vec2(near.a, far.a), vec2(1e-6)) / float(block);
    if (pixels > 0.0) {
        imageStore(near_image, texel, near / pixels);
        imageStore(far_image, texel, far / pixels);
        imageStore(background_image, texel, behind / pixels);
        imageStore(radius_image, texel, vec4(radii, 0.0, 0.0));
        atomicMax(near_reach, floatBitsToUint(near.a > 0.0 ? radii.x : 0.0));
        atomicMax(far_reach, floatBitsToUint(far.a > 0.0 ? radii.y : 0.0));
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        reaches[tile] = vec2(uintBitsToFloat(near_reach), uintBitsToFloat(far_reach));
    }
}
