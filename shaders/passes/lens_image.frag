#version 460
// Lens distortion, lateral chromatic aberration and vignetting of a real lens (pre-exposed):
// resamples each color channel by the ray-traced grid, times the pupil's transmittance. The grid
// covers one quadrant of the image (optics/imaging.rs).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_scalar_block_layout : require
#include "shared/effects.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
// Two vectors per node: scale about the image center to the pinhole position, right and up,
// for red, green, blue; light relative to the center.
layout(set = 0, binding = 1, scalar) readonly buffer grid_block { vec4 grid[]; };
layout(push_constant, scalar) uniform lens_image_block { LensImageConstants lens; };
layout(location = 0) out vec4 out_light;

#include "lib/cubic.glsl"

struct Node {
    vec4 red_green;
    vec4 blue_light;
};

Node node_at(vec2 from_center) {
    vec2 cell = clamp(abs(from_center) / lens.center * lens.last, vec2(0.0), vec2(lens.last));
    vec2 low = min(floor(cell), vec2(lens.last - 1.0));
    vec2 part = cell - low;
    uint row = uint(lens.last) + 1u;
    uint corner = 2u * (uint(low.y) * row + uint(low.x));
    vec4 found[2];
    for (uint i = 0u; i < 2u; ++i) {
        vec4 below = mix(grid[corner + i], grid[corner + 2u + i], part.x);
        vec4 above = mix(grid[corner + 2u * row + i], grid[corner + 2u * row + 2u + i], part.x);
        found[i] = mix(below, above, part.y);
    }
    return Node(found[0], found[1]);
}

// Channel of the pinhole image; 0 outside it.
float seen(vec2 at, int channel) {
    vec2 size = 2.0 * lens.center;
    if (any(lessThan(at, vec2(-0.5))) || any(greaterThan(at, size + 0.5))) {
        return 0.0;
    }
    return channel_at(at, channel);
}

void main() {
    vec2 from_center = gl_FragCoord.xy - lens.center;
    Node node = node_at(from_center);
    vec2 stretch[3] = vec2[](node.red_green.xy, node.red_green.zw, node.blue_light.xy);
    vec3 light;
    for (int c = 0; c < 3; ++c) {
        light[c] = seen(lens.center + from_center * stretch[c], c);
    }
    out_light = vec4(to_half_range(light * node.blue_light.z), 1.0);
}
