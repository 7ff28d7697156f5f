#version 460
// variants: ALPHA_TEST
// Scene vertices to a shadow map's clip space.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer shadow_map_block { ShadowMap maps[]; };
layout(set = 0, binding = 1, scalar) readonly buffer instance_block { Instance instances[]; };

layout(push_constant, scalar) uniform draw_block { uint material_index; uint map_index; };

layout(location = 0) in vec3 position;
#ifdef ALPHA_TEST
layout(location = 3) in vec2 uv0;
layout(location = 4) in vec2 uv1;
layout(location = 5) in vec4 color;

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_tangent;
layout(location = 3) out vec4 out_uv;
layout(location = 4) out vec4 out_color;
#endif

void main() {
    vec4 world = instances[gl_InstanceIndex].to_world * vec4(position, 1.0);
    gl_Position = maps[map_index].to_clip * vec4(world.xyz, 1.0);
#ifdef ALPHA_TEST
    // In object space, for noise that is fixed to the object.
    out_position = position;
    out_normal = vec3(0.0);
    out_tangent = vec4(0.0);
    out_uv = vec4(uv0, uv1);
    out_color = color;
#endif
}
