#version 460
// Accumulates frames: the running mean of pre-exposed light. The history is rescaled to this
// frame's exposure when read (Lagarde and de Rousiers 2014, section 5.1, pre-exposed lighting).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D light_image;
layout(set = 0, binding = 2) uniform texture2D history_image;

layout(push_constant, scalar) uniform accumulate_block { float weight; };
layout(location = 0) out vec4 out_history;
layout(location = 1) out vec4 out_light;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    // Estimates of shadowed light may be negative (pass `shadow_rays`); their mean is not.
    vec3 light = to_signed_half_range(texelFetch(light_image, pixel, 0).rgb);
    vec3 mean = light;
    // The first frame ignores the history.
    if (weight < 1.0) {
        // Finite for any exposure step: a single float ends at 3.4e38.
        vec3 before = min(texelFetch(history_image, pixel, 0).rgb * frame.history_scale,
            vec3(1e30));
        mean = mix(before, light, weight);
    }
    out_history = vec4(mean, 1.0);
    out_light = vec4(to_half_range(mean), 1.0);
}
