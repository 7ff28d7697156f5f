#version 460
// Starburst sprite of a flare source: a square around it.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/flare_sources.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer sprite_block { StarburstSprite sprites[]; };

layout(location = 0) flat out vec4 out_place;
layout(location = 1) flat out vec4 out_light;

void main() {
    StarburstSprite sprite = sprites[gl_InstanceIndex];
    out_place = vec4(sprite.center, sprite.disk, sprite.reach);
    out_light = vec4(sprite.light, sprite.moved);
    vec2 corner = vec2(gl_VertexIndex == 1 || gl_VertexIndex == 2 || gl_VertexIndex == 4 ? 1.0
        : -1.0,
                       gl_VertexIndex >= 2 && gl_VertexIndex != 3 ? 1.0 : -1.0);
    vec2 place = sprite.center + sprite.reach * corner;
    // Clamped to the rasterizer's range; affects only corners far outside the image.
    place = clamp(place, -vec2(frame.size), 2.0 * vec2(frame.size));
    gl_Position = sprite.reach > 0.0 ? vec4(place / vec2(frame.size) * 2.0 - 1.0, 0.0, 1.0)
        : vec4(2.0, 2.0, 0.0, 1.0);
}
