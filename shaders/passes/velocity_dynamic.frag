#version 460
// variants: BLENDED
// Velocity of moving surfaces between two times (pixels). With BLENDED: of the blended surface of
// each pixel, which has no depth attachment.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#ifdef BLENDED
layout(set = 0, binding = 5) uniform texture2D blended_depth_image;
#endif

layout(location = 0) in vec4 first;
layout(location = 1) in vec4 last;

layout(location = 0) out vec2 out_velocity;

void main() {
#ifdef BLENDED
    if (texelFetch(blended_depth_image, ivec2(gl_FragCoord.xy), 0).x != gl_FragCoord.z) {
        discard;
    }
#endif
    // A point that passes the camera plane between the times has no valid projection.
    out_velocity = first.w > 0.0 && last.w > 0.0
        ? clamp((last.xy / last.w - first.xy / first.w) * 0.5 * vec2(frame.size), -32000.0, 32000.0)
        : vec2(0.0);
}
