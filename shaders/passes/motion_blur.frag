#version 460
// Motion blur (pre-exposed): spreads each pixel of the sharp image uniformly over its path during
// the exposure.
//
// McGuire et al. 2012, "A Reconstruction Filter for Plausible Motion Blur"; Guertin, McGuire and
// Nowrouzezahrai 2014, "A Fast and Stable Feature-Aware Motion Blur Filter" (samples along the
// neighborhood's and the pixel's own velocity). Unlike theirs, the weights are a box, as of an open
// shutter, which conserves energy and blur length.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "shared/effects.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };

#include "lib/inverse_depth.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 1) uniform texture2D light_image;
layout(set = 0, binding = 2) uniform texture2D depth_image;
layout(set = 0, binding = 3) uniform texture2D velocity_image;
layout(set = 0, binding = 4) uniform texture2D neighborhood_image;
layout(push_constant, scalar) uniform motion_block { MotionBlurConstants blur; };
layout(location = 0) out vec4 out_light;

// Minimum half length of a blur (pixels).
const float MIN_VELOCITY = 0.25;

ivec2 inside(vec2 at) {
    return clamp(ivec2(floor(at)), ivec2(0), ivec2(blur.size) - 1);
}

vec3 light_texel(int x, int y) { return to_half_range(texelFetch(light_image, ivec2(x, y), 0).rgb);
}

// Bilinear.
vec3 light_at(vec2 at) {
    vec2 corner = clamp(at - 0.5, vec2(0.0), blur.size - 1.0);
    ivec2 low = ivec2(corner);
    ivec2 high = min(low + 1, ivec2(blur.size) - 1);
    vec2 part = corner - vec2(low);
    vec3 upper = mix(light_texel(low.x, low.y), light_texel(high.x, low.y), part.x);
    vec3 lower = mix(light_texel(low.x, high.y), light_texel(high.x, high.y), part.x);
    return mix(upper, lower, part.y);
}

// Half of the path, at most a tile.
vec2 half_way(vec2 velocity) {
    float length2 = 0.5 * length(velocity);
    return velocity * (0.5 * min(length2, blur.tile) / max(length2, 1e-6));
}

// Weight of the surface at `there` as nearer than the one at `here`, both by `inverse_depth`: 0 for
// the same or farther, 1 from 2 %.
float nearer(float there, float here) {
    return clamp((there - here) / max(0.02 * max(there, here), 1e-12), 0.0, 1.0);
}

void main() {
    vec2 here = gl_FragCoord.xy;
    vec2 own = 2.0 * half_way(texelFetch(velocity_image, inside(here), 0).xy);
    vec2 longest = 2.0 * half_way(texelFetch(neighborhood_image,
        min(ivec2(here / blur.tile), textureSize(neighborhood_image, 0) - 1), 0).xy);
    if (length(longest) * (1.0 + blur.curtain) < 2.0 * MIN_VELOCITY) {
        out_light = vec4(light_at(here), 1.0);
        return;
    }
    // Rolling shutter: this line is exposed `delay` exposure times after the middle one (negative:
    // before). The surface visible here is then displaced in the image of the middle time.
    float delay = blur.curtain * (here.y / blur.size.y - 0.5);
    vec2 from = here - own * delay;
    float near = inverse_depth(texelFetch(depth_image, inside(from), 0).x);
    vec2 way = half_way(texelFetch(velocity_image, inside(from), 0).xy);

    // The surface at this pixel and the background that it uncovers.
    vec4 back = vec4(0.0);
    int steps = clamp(int(ceil(2.0 * length(way))), 1, 256);
    for (int i = 0; i < steps; ++i) {
        vec2 at = from + way * ((2.0 * float(i) + 1.0) / float(steps) - 1.0);
        float there = inverse_depth(texelFetch(depth_image, inside(at), 0).x);
        // Nearer surfaces are added in the loop below.
        back += (1.0 - nearer(there, near)) * vec4(light_at(at), 1.0);
    }
    vec3 behind = back.a > 0.0 ? back.rgb / back.a : light_at(from);

    // Nearer surfaces that pass in front: each sample covers this pixel for one step of the time of
    // its whole path. Samples lie along the fastest velocity of the neighborhood.
    vec4 front = vec4(0.0);
    float fastest = length(longest);
    vec2 along = longest / fastest;
    float first = min(fastest * (delay - 0.5), 0.0);
    float last = max(fastest * (delay + 0.5), 0.0);
    // Two samples per pixel resolve the edge of a moving surface to a quarter pixel.
    int passes = clamp(int(ceil(2.0 * (last - first))), 1, 1024);
    float stride = (last - first) / float(passes);
    for (int i = 0; i < passes; ++i) {
        float moved = first + (float(i) + 0.5) * stride;
        vec2 at = here - along * moved;
        float there = inverse_depth(texelFetch(depth_image, inside(at), 0).x);
        float is_nearer = nearer(there, near);
        if (is_nearer > 0.0) {
            float speed = 2.0 * dot(half_way(texelFetch(velocity_image, inside(at), 0).xy), along);
            float half_length = max(0.5 * abs(speed), 0.5);
            float covers = clamp((half_length - abs(moved - speed * delay)) / stride + 0.5, 0.0,
                1.0);
            front += is_nearer * covers * stride / (2.0 * half_length) * vec4(light_at(at), 1.0);
        }
    }
    front /= max(front.a, 1.0);
    out_light = vec4(to_half_range(front.rgb + (1.0 - front.a) * behind), 1.0);
}
