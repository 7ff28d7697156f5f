#version 460
// variants: MASK
// Depth alone; with MASK, alpha-tested surfaces leave holes.
#extension GL_GOOGLE_include_directive : require
#ifdef MASK
#include "shared/frame.glsl"
#include "lib/surface.glsl"
#endif

void main() {
#ifdef MASK
    if (fragment_base_color().a < materials[material_index].emission.a) {
        discard;
    }
#endif
}
