#version 460
// Bokeh sprite of a highlight, added to the image (pre-exposed).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"

layout(set = 0, binding = 0) uniform texture2D coc_image;
layout(push_constant, scalar) uniform lens_block { DepthOfFieldConstants lens; };

#include "lib/aperture.glsl"
#include "lib/packing.glsl"

layout(location = 0) flat in vec3 in_light;
layout(location = 1) flat in vec3 in_place;
layout(location = 2) flat in vec2 in_rim;
layout(location = 0) out vec4 out_light;

void main() {
    vec2 offset = gl_FragCoord.xy - in_place.xy;
    float radius = in_place.z;
    float inside = disc(abs(radius) * aperture_edge(offset, radius, in_rim), length(offset));
    float seen = 1.0;
    if (radius > 0.0) {
        // Nearer surfaces occlude the highlight: fully where they are sharp, partly where they are
        // about as blurred.
        float here = texelFetch(coc_image, ivec2(gl_FragCoord.xy), 0).a;
        seen = smoothstep(0.5, 1.0, (here + 0.5) / radius);
    }
    out_light = vec4(to_half_range(in_light * (inside * seen)), 0.0);
}
