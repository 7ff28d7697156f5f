#version 460
// HDR tone mapping of exposed scene-linear light: white balance, tone mapper, highlights beyond it,
// and the sRGB curve, extended beyond 1. Mirrors src/camera/display.rs; a test compares both.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_scalar_block_layout : require
#include "lib/tonemap.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar)
    uniform hdr_tonemap_block { uint operator; float headroom; mat3 white_balance; };
layout(location = 0) out vec4 out_color;

// Mirrors `highlight_gain` of src/camera/display.rs, which documents it.
float highlight_gain(float most) {
    float u = max(most - 1.0, 0.0);
    float room = headroom - 1.0;
    return room <= 0.0 ? 1.0 : 1.0 + room * (1.0 - exp(-(u * u / (1.0 + u)) / room));
}

void main() {
    vec3 exposed =
        sanitize(white_balance * sanitize(texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).rgb));
    vec3 light = tone_map(operator, exposed)
        * highlight_gain(max(exposed.r, max(exposed.g, exposed.b)));
    out_color = vec4(srgb_encode(light), 1.0);
}
