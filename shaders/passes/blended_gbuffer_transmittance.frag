#version 460
// Transmittance of the blended surfaces of a pixel, for the probability by which pass `blended
// gbuffer` chose one of them: of those before the chosen one, and of all. The targets are
// multiplied by 1 - alpha.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#define TEXTURE_SCALE frame.texture_scale
#include "lib/surface.glsl"
#include "lib/layer_opacity.glsl"

layout(set = 0, binding = 66) uniform texture2D blended_depth_image;

layout(early_fragment_tests) in;
layout(location = 0) out vec4 out_before;
layout(location = 1) out vec4 out_all;

void main() {
    vec4 base = fragment_base_color();
    float alpha = is_layer(materials[material_index].flags)
        ? layer_alpha(layer_opacity(base.a)) : 0.0;
    bool before =
        gl_FragCoord.z > texelFetch(blended_depth_image, ivec2(gl_FragCoord.xy), 0).x;
    out_before = vec4(0.0, 0.0, 0.0, before ? alpha : 0.0);
    out_all = vec4(0.0, 0.0, 0.0, alpha);
}
