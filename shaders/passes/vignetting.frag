#version 460
// Vignetting: the cosine to the fourth of the field angle, and what the barrel's rim cuts off the pupil.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar) uniform vignetting_block { VignettingConstants vignetting; };
layout(location = 0) out vec4 out_light;

const float PI = 3.14159265;

// The part of a circle of radius 1 that lies in one of radius `r`, at least 1, whose centre is at the distance `d`: the
// twin of camera::effects::pupil_overlap.
float overlap(float r, float d) {
    if (d <= r - 1.0) {
        return 1.0;
    }
    if (d >= r + 1.0) {
        return 0.0;
    }
    float own = clamp((d * d + 1.0 - r * r) / (2.0 * d), -1.0, 1.0);
    float rim = clamp((d * d + r * r - 1.0) / (2.0 * d * r), -1.0, 1.0);
    float kite = max((r + 1.0 - d) * (d + 1.0 - r) * (d - 1.0 + r) * (d + 1.0 + r), 0.0);
    return (acos(own) + r * r * acos(rim) - 0.5 * sqrt(kite)) / PI;
}

void main() {
    float far = length(gl_FragCoord.xy - vignetting.center);
    float tangent = far * vignetting.pitch;
    float light = pow(1.0 + tangent * tangent, -0.5 * vignetting.natural);
    if (vignetting.rim_radius > 0.0) {
        light *= overlap(vignetting.rim_radius, far * vignetting.rim_shift);
    }
    vec3 c = texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).rgb;
    out_light = vec4(to_half_range(c * light), 1.0);
}
