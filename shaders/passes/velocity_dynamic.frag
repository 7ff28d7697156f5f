#version 460
// Velocity of moving surfaces between two times (pixels).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };

layout(location = 0) in vec4 first;
layout(location = 1) in vec4 last;

layout(location = 0) out vec2 out_velocity;

void main() {
    // A point that passes the camera plane between the times has no valid projection.
    out_velocity = first.w > 0.0 && last.w > 0.0
        ? clamp((last.xy / last.w - first.xy / first.w) * 0.5 * vec2(frame.size), -32000.0, 32000.0)
        : vec2(0.0);
}
