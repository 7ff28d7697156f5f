#version 460
// G-buffer of one blended surface per pixel, chosen at random among those before the opaque
// surfaces: the passes of indirect light gather the light of the chosen one, and pass `blend` adds
// it over the probability of the choice (docs/extended-materials.md, "Indirect light").
//
// Each surface counts as opaque with the probability of its opacity, and the nearest opaque one is
// chosen: with the probability of its visible part (stochastic transparency: Enderton et al. 2010).
// If none is, one is chosen in proportion to opacity, by random keys that need no order (Efraimidis
// and Spirakis 2006, "Weighted Random Sampling with a Reservoir"). The depth attachment holds the
// greatest key: the depth of an opaque one, or the far smaller key of another.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/packing.glsl"
#include "lib/noise.glsl"
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#define TEXTURE_SCALE frame.texture_scale
#include "lib/surface.glsl"
#include "lib/layer_opacity.glsl"

layout(set = 0, binding = 9) uniform texture2D opaque_depth_image;
layout(set = 0, binding = 35, scalar) uniform seed_block { uint seed; };
// Sum of the opacities of each pixel's blended surfaces, in steps.
layout(set = 0, binding = 67, scalar) buffer opacity_sum_block { uint opacity_sums[]; };

layout(location = 0) out uvec2 out_surface;
layout(location = 1) out uint out_normal;
// Alpha: the material's mark.
layout(location = 2) out vec4 out_mark;
layout(location = 3) out float out_depth;

// Scale of the keys of surfaces that do not count as opaque: below all depths.
const float OTHERS = 1e-30;

float uniform_of(uint bits) {
    return (float(bits >> 8u) + 0.5) / 16777216.0;
}

void main() {
    vec4 base = fragment_base_color();
    uint flags = materials[material_index].flags;
    vec2 metallic_roughness = fragment_metallic_roughness();
    float occlusion = fragment_occlusion();
    vec3 normal = fragment_normal(flags);
    float mark = materials[material_index].forward_mark;
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    uint opacity = layer_opacity(base.a);
    if (!is_layer(flags) || opacity == 0u
        || gl_FragCoord.z <= texelFetch(opaque_depth_image, ivec2(pixel), 0).x) {
        discard;
    }
    atomicAdd(opacity_sums[pixel.y * frame.size.x + pixel.x], opacity);
    uint bits = random(random(random(pixel.x) + pixel.y) ^ seed);
    bits = random(bits ^ floatBitsToUint(gl_FragCoord.z));
    float alpha = layer_alpha(opacity);
    // The key of the others falls with the exponential variable -log(u) / opacity.
    gl_FragDepth = uniform_of(bits) < alpha ? gl_FragCoord.z
        : OTHERS / (1.0 - log(uniform_of(random(bits ^ 0x9e3779b9u))) / alpha);
    out_surface = pack_surface(base.rgb, metallic_roughness.x, metallic_roughness.y, occlusion,
        false);
    out_normal = pack_normal(normal);
    out_mark = vec4(0.0, 0.0, 0.0, mark);
    out_depth = gl_FragCoord.z;
}
