#version 460
// Exposed scene-linear light to sRGB bytes.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_scalar_block_layout : require
#include "lib/tonemap.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar) uniform tonemap_block { uint operator; };
layout(location = 0) out vec4 out_color;

void main() {
    vec3 c = tone_map(operator, texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).rgb);
    out_color = vec4(srgb_encode(c), 1.0);
}
