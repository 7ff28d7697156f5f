#version 460
// Bokeh sprite of a highlight: a triangle around its disk.
#extension GL_GOOGLE_include_directive : require
#include "shared/effects.glsl"

layout(set = 0, binding = 0) uniform texture2D coc_image;
layout(set = 0, binding = 1, scalar) readonly buffer highlight_block { Highlight highlights[]; };
layout(set = 0, binding = 2, scalar) readonly buffer count_block { uint counts[]; };
layout(push_constant, scalar) uniform lens_block { DepthOfFieldConstants lens; };

#extension GL_EXT_samplerless_texture_functions : require
#include "lib/aperture.glsl"

layout(location = 0) flat out vec3 out_light;
layout(location = 1) flat out vec3 out_place;
layout(location = 2) flat out vec2 out_rim;

void main() {
    uint tile = uint(gl_InstanceIndex) / HIGHLIGHTS_PER_TILE;
    uint rank = uint(gl_InstanceIndex) % HIGHLIGHTS_PER_TILE;
    out_light = vec3(0.0);
    out_place = vec3(0.0);
    out_rim = vec2(0.0);
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (rank >= counts[tile]) {
        return;
    }
    Highlight highlight = highlights[gl_InstanceIndex];
    vec2 size = vec2(textureSize(coc_image, 0));
    vec2 rim = rim_center(highlight.center - 0.5 * size, highlight.radius);
    float radius = abs(highlight.radius);
    // Uniform luminance over the disk: the light over the area.
    out_light = highlight.light / shape_area(highlight.radius, rim);
    out_place = vec3(highlight.center, highlight.radius);
    out_rim = rim;
    // The equilateral triangle around a circle has corners at twice its radius.
    float angle = float(gl_VertexIndex) * (2.0 * PI / 3.0);
    vec2 corner = highlight.center + 2.0 * (radius + 1.0) * vec2(cos(angle), sin(angle));
    gl_Position = vec4(corner / size * 2.0 - 1.0, 0.0, 1.0);
}
