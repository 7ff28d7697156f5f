#version 460
// VPL debug view: one triangle per VPL, in front of the surface that it lies on.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/gi.glsl"
#include "lib/constants.glsl"
#include "lib/luminance.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 35, scalar) uniform gi_block { GiConstants gi; };
layout(set = 0, binding = 40, scalar) readonly buffer vpl_block { Vpl vpls[]; };

layout(location = 0) flat out vec3 out_color;
layout(location = 1) out vec2 out_place;

void main() {
    Vpl vpl = vpls[gl_InstanceIndex];
    float level = luminance(vpl.flux);
    // All balls have equal luminance, so the area is proportional to the flux.
    float radius = gi.ball * sqrt(max(level, 0.0));
    vec3 center = vpl.position + gi.anchor;
    vec3 view = frame.forward.w != 0.0 ? -frame.forward.xyz : -normalize(center);
    vec3 across =
        normalize(cross(abs(view.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), view));
    vec3 up = cross(view, across);
    // The equilateral triangle around a circle has corners at twice its radius.
    float angle = float(gl_VertexIndex) * (2.0 * PI / 3.0);
    out_place = 2.0 * vec2(cos(angle), sin(angle));
    out_color = vpl.flux / max(max(vpl.flux.r, max(vpl.flux.g, vpl.flux.b)), 1e-30);
    gl_Position = frame.view_projection
        * vec4(center + radius * (view + across * out_place.x + up * out_place.y), 1.0);
}
