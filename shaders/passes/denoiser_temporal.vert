#version 460
// Fullscreen triangle at depth 0 with the constants that denoiser_temporal.frag branches on, as
// flat outputs: lavapipe compiles a shader that branches on uniform values again each frame
// (docs/denoiser.md, "Passes").
#extension GL_GOOGLE_include_directive : require
#include "shared/denoiser.glsl"

layout(set = 0, binding = 35, scalar) uniform denoiser_block { DenoiserConstants denoiser; };

// `DENOISER_` bits.
layout(location = 0) flat out uint out_flags;
// 1 for a static view.
layout(location = 1) flat out uint out_still;
// Maximum history length (frames).
layout(location = 2) flat out float out_max_frames;

void main() {
    vec2 p = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    gl_Position = vec4(p, 0.0, 1.0);
    out_flags = denoiser.flags;
    out_still = denoiser.history.still;
    out_max_frames = denoiser.history.max_frames;
}
