#version 460
// Back faces of refractive volumes, where refracted rays exit: depth bits and packed normal.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
#include "lib/surface.glsl"

layout(location = 0) out uvec2 out_back;

void main() {
    uint flags = materials[material_index].flags;
    // The pass reverses the winding, so that back faces are front-facing: the normal points
    // outward.
    out_back = uvec2(floatBitsToUint(gl_FragCoord.z), pack_normal(fragment_normal(flags)));
}
