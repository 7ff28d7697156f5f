#version 460
// variants: ALPHA_TEST UNTEXTURED
// Emission of opaque surfaces (pre-exposed) at twice the resolution of the image, with the marks of
// the G-buffer. ALPHA_TEST: alpha-tested surfaces.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#define TEXTURE_SCALE frame.texture_scale
#include "lib/surface.glsl"
#include "lib/shown_emission.glsl"

layout(location = 0) out vec4 out_emission;

void main() {
    vec4 base = fragment_base_color();
#ifdef ALPHA_TEST
    if (base.a < materials[material_index].emission.a) {
        discard;
    }
#endif
    out_emission = shown_emission(base.rgb, materials[material_index].flags);
}
