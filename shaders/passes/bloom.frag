#version 460
// Glare of the lens: a part of each pixel's light is spread over the picture, the rest stays where it is.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/half_size.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(set = 0, binding = 1) uniform texture2D wider_image;
layout(push_constant, scalar) uniform bloom_block { BloomConstants bloom; };
layout(location = 0) out vec4 out_light;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 light = bloom.direct * texelFetch(light_image, pixel, 0).rgb + bloom.weight * from_half_size(wider_image, pixel).rgb;
    out_light = vec4(to_half_range(light), 1.0);
}
