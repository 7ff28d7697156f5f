#version 460
// Vignetting of pre-exposed light: natural (a power of the field angle's cosine, 4 physically) and
// mechanical (barrel rim).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/packing.glsl"
#include "lib/pupil.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar) uniform vignetting_block { VignettingConstants vignetting; };
layout(location = 0) out vec4 out_light;

void main() {
    float far = length(gl_FragCoord.xy - vignetting.center);
    float tangent = far * vignetting.pitch;
    float light = pow(1.0 + tangent * tangent, -0.5 * vignetting.natural);
    if (vignetting.rim_radius > 0.0) {
        light *= pupil_overlap(vignetting.rim_radius, far * vignetting.rim_shift);
    }
    vec3 c = to_half_range(texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).rgb);
    out_light = vec4(to_half_range(c * light), 1.0);
}
