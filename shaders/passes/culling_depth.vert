#version 460
// Occluder depth prepass: scene vertices to clip space, depth only.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer instance_block { Instance instances[]; };

layout(location = 0) in vec3 position;

void main() {
    vec4 world = instances[gl_InstanceIndex].to_world * vec4(position, 1.0);
    gl_Position = frame.view_projection * vec4(world.xyz, 1.0);
}
