#version 460
// variants: ALPHA_TEST
// Shadow map depth; with ALPHA_TEST, alpha-tested surfaces have holes.
#extension GL_GOOGLE_include_directive : require
#ifdef ALPHA_TEST
#include "shared/frame.glsl"
#include "lib/surface.glsl"
#endif

void main() {
#ifdef ALPHA_TEST
    if (fragment_base_color().a < materials[material_index].emission.a) {
        discard;
    }
#endif
}
