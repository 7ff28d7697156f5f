#version 460
// Vertices of moving objects: current position, and clip-space positions at two times.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/skin.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer instance_block { Instance instances[]; };
layout(set = 0, binding = 2, scalar) readonly buffer move_block { Move moves[]; };
layout(set = 0, binding = 3, scalar)
    readonly buffer first_position_block { vec3 first_positions[]; };
layout(set = 0, binding = 4, scalar) readonly buffer last_position_block { vec3 last_positions[]; };

layout(push_constant, scalar) uniform moving_block { MoveConstants moving; };

layout(location = 0) in vec3 position;

layout(location = 0) out vec4 out_first;
layout(location = 1) out vec4 out_last;

void main() {
    // Bitwise the arithmetic of geometry.vert, for the equal-depth test.
    precise vec4 world = instances[gl_InstanceIndex].to_world * vec4(position, 1.0);
    precise vec4 place = frame.view_projection * vec4(world.xyz, 1.0);
    gl_Position = place;
    Move move = moves[moving.first_move + uint(gl_InstanceIndex) - moving.first_instance];
    uint vertex = uint(gl_VertexIndex) - moving.first_vertex;
    vec3 first = position;
    vec3 last = position;
    if (moving.first_positions != NO_POSITIONS) {
        first = first_positions[moving.first_positions + vertex];
    }
    if (moving.last_positions != NO_POSITIONS) {
        last = last_positions[moving.last_positions + vertex];
    }
    out_first = move.first * vec4(first, 1.0);
    out_last = move.last * vec4(last, 1.0);
}
