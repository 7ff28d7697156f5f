#version 460
// Debug output (--aov) of one G-buffer channel as floats: unitless, or meters relative to the
// camera.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"

layout(set = 0, binding = 4) uniform texture2D ao_image;
layout(push_constant, scalar) uniform channel_block { uint channel; };
layout(location = 0) out vec4 out_value;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_image, pixel, 0).x;
    out_value = vec4(0.0);
    if (depth <= 0.0) {
        return;
    }
    vec3 base_color;
    float metallic, roughness, occlusion;
    bool unlit;
    unpack_surface(texelFetch(surface_image, pixel, 0).xy, base_color, metallic, roughness,
        occlusion, unlit);
    vec3 position = position_at(pixel, depth);
    vec3 value = vec3(0.0);
    switch (channel) {
        case 0u: value = base_color; break;
        case 1u: value = vec3(metallic); break;
        case 2u: value = vec3(roughness); break;
        case 3u: value = unpack_normal(texelFetch(normal_image, pixel, 0).x); break;
        case 4u: value = vec3(dot(position, frame.forward.xyz)); break;
        case 5u: value = vec3(occlusion); break;
        case 6u: value = position; break;
        case 7u: value = vec3(texelFetch(ao_image, pixel, 0).w); break;
        case 8u: value = normalize(texelFetch(ao_image, pixel, 0).xyz); break;
    }
    out_value = vec4(value, 1.0);
}
