#version 460
// Composites volumes over the image (pre-exposed): light times transmittance plus in-scattering
// (docs/volumes.md).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/volumes.glsl"
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };

#include "lib/inverse_depth.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 4) uniform texture2D light_image;
layout(set = 0, binding = 5) uniform texture2D volume_light_image;
layout(set = 0, binding = 6) uniform texture2D volume_transmittance_image;

layout(location = 0) out vec4 out_light;

// Relative distance difference between separate objects.
const float OTHER = 0.05;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    // Light of frames that are averaged may be negative.
    vec3 light = to_signed_half_range(texelFetch(light_image, pixel, 0).rgb);
    float near = inverse_depth(texelFetch(depth_image, pixel, 0).x);
    int scale = int(volume_head.scale);
    ivec2 last = textureSize(volume_light_image, 0) - 1;
    // Texel (x, y) marches through pixel (scale x, scale y).
    vec2 place = vec2(pixel) / float(scale);
    bool wide = volume_head.filtered != 0u;
    // Tent filter of two texels, or wider.
    float reach = wide ? 2.0 : 1.0;
    ivec2 middle = ivec2(floor(place));
    vec3 added = vec3(0.0);
    vec3 through = vec3(0.0);
    float sum = 0.0;
    int r = wide ? 2 : 1;
    for (int y = 1 - r; y <= r; ++y) {
        for (int x = 1 - r; x <= r; ++x) {
            ivec2 at = clamp(middle + ivec2(x, y), ivec2(0), last);
            vec2 off = abs(vec2(middle + ivec2(x, y)) - place);
            float weight = max(reach - off.x, 0.0) * max(reach - off.y, 0.0);
            float there =
                inverse_depth(texelFetch(depth_image, min(at * scale, ivec2(frame.size) - 1), 0).x);
            float apart = abs(there - near) / max(max(there, near), 1e-30) / OTHER;
            weight *= 1e-4 + 1.0 / (1.0 + apart * apart * apart * apart);
            added += weight * texelFetch(volume_light_image, at, 0).rgb;
            through += weight * texelFetch(volume_transmittance_image, at, 0).rgb;
            sum += weight;
        }
    }
    out_light = vec4(to_signed_half_range(light * (through / sum) + added / sum), 1.0);
}
