#version 460
// Back faces of refracting volumes: where rays that enter them leave.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
#include "lib/surface.glsl"

layout(location = 0) out uvec2 out_back;

void main() {
    uint flags = materials[material_index].flags;
    // The pass takes the winding the other way round, so that what is drawn counts as front: the
    // normal points outwards.
    out_back = uvec2(floatBitsToUint(gl_FragCoord.z), pack_normal(fragment_normal(flags)));
}
