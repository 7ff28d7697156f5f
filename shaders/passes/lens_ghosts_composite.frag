#version 460
// Adds the half-resolution lens ghosts to the pre-exposed image.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(set = 0, binding = 1) uniform texture2D ghost_image;
layout(location = 0) out vec4 out_light;

vec3 ghost_texel(ivec2 at) {
    return to_half_range(texelFetch(ghost_image,
        clamp(at, ivec2(0), textureSize(ghost_image, 0) - 1), 0).rgb);
}

void main() {
    vec3 light = to_half_range(texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).rgb);
    // Bilinear upsampling conserves the sum over the image.
    vec2 size = vec2(textureSize(light_image, 0)), small = vec2(textureSize(ghost_image, 0));
    vec2 at = gl_FragCoord.xy / size * small - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 part = at - vec2(low);
    vec3 added = mix(mix(ghost_texel(low), ghost_texel(low + ivec2(1, 0)), part.x),
                     mix(ghost_texel(low + ivec2(0, 1)), ghost_texel(low + ivec2(1, 1)), part.x),
                         part.y);
    out_light = vec4(to_half_range(light + max(added, vec3(0.0))), 1.0);
}
