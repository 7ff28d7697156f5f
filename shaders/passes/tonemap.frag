#version 460
// SDR tone mapping of exposed scene-linear light to sRGB codes: white balance, tone mapper, sRGB
// curve, dither.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_scalar_block_layout : require
#include "lib/tonemap.glsl"
#include "lib/dither.glsl"

// Specialization: drivers that run both sides of a branch pay for every operator.
layout(constant_id = 0) const uint OPERATOR = 0u;
layout(constant_id = 1) const bool DITHER = false;

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar) uniform tonemap_block { mat3 white_balance; };
layout(location = 0) out vec4 out_color;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 exposed = white_balance * sanitize(texelFetch(light_image, pixel, 0).rgb);
    vec3 code = srgb_encode(tone_map(OPERATOR, exposed));
    if (DITHER) {
        code = dithered(code * 255.0, uvec2(pixel)) / 255.0;
    }
    out_color = vec4(code, 1.0);
}
