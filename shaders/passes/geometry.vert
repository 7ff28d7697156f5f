#version 460
// variants: EXTENDED_MATERIALS SUPERSAMPLED
// Scene vertices to clip space and camera-relative world space (m). SUPERSAMPLED: for an image of
// twice the resolution.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer instance_block { Instance instances[]; };

layout(location = 0) in vec3 position;
layout(location = 1) in vec4 normal;
layout(location = 2) in vec4 tangent;
layout(location = 3) in vec2 uv0;
layout(location = 4) in vec2 uv1;
layout(location = 5) in vec4 color;

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_tangent;
layout(location = 3) out vec4 out_uv;
layout(location = 4) out vec4 out_color;
#ifdef EXTENDED_MATERIALS
// Meters per object-space length.
layout(location = 5) flat out float out_scale;
#endif

void main() {
    Instance instance = instances[gl_InstanceIndex];
    // The forward and velocity passes redraw the G-buffer at equal depth: the arithmetic must be
    // identical.
    precise vec4 world = instance.to_world * vec4(position, 1.0);
    precise vec4 place = frame.view_projection * vec4(world.xyz, 1.0);
    out_position = world.xyz;
    out_normal = mat3(instance.normal0.xyz, instance.normal1.xyz, instance.normal2.xyz)
        * normal.xyz;
    out_tangent = vec4(mat3(instance.to_world) * tangent.xyz, tangent.w * instance.normal2.w);
    out_uv = vec4(uv0, uv1);
    out_color = color;
#ifdef EXTENDED_MATERIALS
    out_scale = pow(abs(determinant(mat3(instance.to_world))), 1.0 / 3.0);
#endif
#ifdef SUPERSAMPLED
    place.xy += frame.supersampling_shift * place.w;
#endif
    gl_Position = place;
}
