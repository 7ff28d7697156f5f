#version 460
// Removes from bright pixels (pre-exposed) the light that their starburst sprites distribute.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/flare_sources.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 2) uniform texture2D light_image;
layout(set = 0, binding = 3, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 4, scalar) readonly buffer flare_tile_block { FlareTile tiles[]; };
layout(set = 0, binding = 5, scalar) readonly buffer flare_source_block {
    uint bright_count;
    uint bright_candidates;
    uint bright_dropped;
    float bright_dropped_light;
    FlareSource bright_sources[];
};
layout(set = 0, binding = 6, scalar) readonly buffer sprite_block { StarburstSprite sprites[]; };
layout(push_constant, scalar) uniform starburst_constant_block { StarburstConstants burst; };

layout(location = 0) out vec4 out_light;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec4 light = texelFetch(light_image, pixel, 0);
    light.rgb = to_half_range(light.rgb);
    out_light = light;
    vec3 excess = bright_excess(light.rgb);
    if (luminance(excess) <= 0.0) {
        return;
    }
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec2 place = vec2(pixel) + 0.5;
    vec3 ray = bright_ray(place, frame.inverse_projection, vec2(frame.size));
    vec4 p = frame.inverse_projection * vec4(place / vec2(frame.size) * 2.0 - 1.0,
        max(depth, 1e-30), 1.0);
    for (uint i = 0u; i < bright_count; ++i) {
        uint flags = bright_sources[i].flags;
        if ((flags & SOURCE_VISIBLE_EMITTER) != 0u) {
            Light emitter = lights[bright_sources[i].light];
            if ((emitter.kind & LIGHT_KIND_BITS) != LIGHT_TRIANGLE
                && shows_light(emitter, depth > 0.0, p.xyz / p.w, ray, burst.pitch)) {
                out_light.rgb = to_half_range(light.rgb * (1.0 - sprites[i].moved));
                return;
            }
        }
    }
    uint tile = uint(pixel.y / BRIGHT_TILE)
        * ((frame.size.x + uint(BRIGHT_TILE) - 1u) / uint(BRIGHT_TILE))
        + uint(pixel.x / BRIGHT_TILE);
    uint root = tiles[tile].root;
    if (root != NONE && tiles[root].source != NONE) {
        out_light.rgb = to_half_range(light.rgb - excess * sprites[tiles[root].source].moved);
    }
}
