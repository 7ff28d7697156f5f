#version 460
// Lateral chromatic aberration: scales red and blue relative to green, which is unchanged.
// Pre-exposed light.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar) uniform aberration_block { ChromaticAberrationConstants aberration; };
layout(location = 0) out vec4 out_light;

#include "lib/cubic.glsl"

void main() {
    vec2 from_center = gl_FragCoord.xy - aberration.center;
    vec3 light;
    light.r = channel_at(aberration.center + from_center / aberration.red, 0);
    light.g = texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).g;
    light.b = channel_at(aberration.center + from_center / aberration.blue, 2);
    out_light = vec4(to_half_range(light), 1.0);
}
