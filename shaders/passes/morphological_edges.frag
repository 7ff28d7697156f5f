#version 460
// Morphological anti-aliasing, edge detection on display-like values: left edge (red) and top edge
// (green).
//
// Jimenez, Echevarria, Sousa and Gutierrez 2012, "SMAA: Enhanced Subpixel Morphological
// Antialiasing", section 3.1: an edge must be at least half as strong as the strongest one around
// it.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(location = 0) out vec2 out_edges;

// Minimum difference of an edge, relative to the display range.
const float THRESHOLD = 0.1;
// An edge this many times weaker than a neighbor is dropped.
const float MASKED = 2.0;

// Exposed light, approximately as displayed: compressed, with a gamma of 2.
vec3 display_color(ivec2 pixel) {
    vec3 c = to_half_range(texelFetch(light_image,
        clamp(pixel, ivec2(0), textureSize(light_image, 0) - 1), 0).rgb);
    return sqrt(c / (1.0 + c));
}

float differ(vec3 a, vec3 b) {
    vec3 d = abs(a - b);
    return max(max(d.r, d.g), d.b);
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 here = display_color(pixel);
    vec3 left = display_color(pixel - ivec2(1, 0));
    vec3 above = display_color(pixel - ivec2(0, 1));
    vec2 edges = vec2(differ(here, left), differ(here, above));
    float strongest = max(max(edges.x, edges.y),
        max(differ(here, display_color(pixel + ivec2(1, 0))),
        differ(here, display_color(pixel + ivec2(0, 1)))));
    strongest = max(strongest, max(differ(left, display_color(pixel - ivec2(2, 0))),
        differ(above, display_color(pixel - ivec2(0, 2)))));
    out_edges = vec2(greaterThan(edges, vec2(max(THRESHOLD, strongest / MASKED))));
}
