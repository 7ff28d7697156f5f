#version 460
// variants: MASK
// Opaque surfaces into the G-buffer; with MASK, alpha-tested ones.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
#include "lib/surface.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };

layout(location = 0) out uvec2 out_surface;
layout(location = 1) out uint out_normal;
layout(location = 2) out vec4 out_emission;

void main() {
    vec4 base = fragment_base_color();
#ifdef MASK
    if (base.a < materials[material_index].emission.a) {
        discard;
    }
#endif
    uint flags = materials[material_index].flags;
    bool unlit = (flags & MATERIAL_UNLIT) != 0u;
    vec4 metallic_roughness = texture(metallic_roughness_texture, texture_uv(1));
    float metallic = materials[material_index].metallic * metallic_roughness.b;
    float roughness = materials[material_index].roughness * metallic_roughness.g;
    float occlusion = 1.0 + materials[material_index].occlusion_strength * (texture(occlusion_texture, texture_uv(3)).r - 1.0);
    vec3 emission = materials[material_index].emission.rgb * texture(emissive_texture, texture_uv(4)).rgb * frame.pre_exposure;
    out_surface = pack_surface(base.rgb, metallic, roughness, occlusion, unlit);
    out_normal = pack_normal(fragment_normal(flags));
    // An unlit surface shows its base colour whatever the exposure: as if it gave that fraction of the luminance that
    // the camera renders white.
    out_emission = vec4(to_half_range(unlit ? base.rgb : emission), 1.0);
}
