#version 460
// variants: LAST
// Bloom pyramid upsampling: a level's weighted share of the bloom plus the coarser levels.
// Pre-exposed light. LAST is the coarsest level.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/glare.glsl"

layout(set = 0, binding = 0) uniform texture2D level_image;
#ifndef LAST
layout(set = 0, binding = 1) uniform texture2D coarser_image;
#endif
layout(push_constant, scalar) uniform bloom_block { BloomConstants bloom; };
layout(location = 0) out vec4 out_light;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 light = bloom.weight * texelFetch(level_image, texel, 0);
#ifndef LAST
    light += upsample_bloom(coarser_image, texel - MARGIN);
#endif
    out_light = light;
}
