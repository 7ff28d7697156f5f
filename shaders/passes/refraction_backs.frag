#version 460
// Back faces of refracting volumes: where rays that enter them leave.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
#include "lib/surface.glsl"

layout(location = 0) out uvec2 out_back;

void main() {
    uint flags = materials[material_index].flags;
    // The normal of a back face as the viewer has it points to the viewer: it leaves the volume the other way.
    out_back = uvec2(floatBitsToUint(gl_FragCoord.z), pack_normal(-fragment_normal(flags)));
}
