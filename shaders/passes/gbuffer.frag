#version 460
// variants: ALPHA_TEST UNTEXTURED
// G-buffer of opaque surfaces: packed material and normal, and pre-exposed emission. ALPHA_TEST:
// alpha-tested ones.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#define TEXTURE_SCALE frame.texture_scale
#include "lib/surface.glsl"
#include "lib/shown_emission.glsl"

layout(location = 0) out uvec2 out_surface;
layout(location = 1) out uint out_normal;
layout(location = 2) out vec4 out_emission;

void main() {
    vec4 base = fragment_base_color();
#ifdef ALPHA_TEST
    if (base.a < materials[material_index].emission.a) {
        discard;
    }
#endif
    uint flags = materials[material_index].flags;
    bool unlightable = (flags & (MATERIAL_UNLIT | MATERIAL_LIGHT_SURFACE)) != 0u;
    vec2 metallic_roughness = fragment_metallic_roughness();
    out_surface = pack_surface(base.rgb, metallic_roughness.x, metallic_roughness.y,
        fragment_occlusion(), unlightable);
    out_normal = pack_normal(fragment_normal(flags));
    out_emission = shown_emission(base.rgb, flags);
}
