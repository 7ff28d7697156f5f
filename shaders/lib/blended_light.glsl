// Indirect light of a blended surface: that of the surface of its pixel which was chosen at random
// (blended_gbuffer.frag), over the probability of the choice. The other surfaces of the pixel get
// none, so that the mean over frames is the light of each. `brdf.glsl` comes before it.
#ifndef LIB_BLENDED_LIGHT
#define LIB_BLENDED_LIGHT
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/layer_opacity.glsl"
#include "lib/occlusion.glsl"

// Pre-exposed luminance of a white diffuse surface.
layout(set = 0, binding = 64) uniform texture2D blended_diffuse_image;
// Pre-exposed specular luminance over the lobe's approximate albedo.
layout(set = 0, binding = 65) uniform texture2D blended_specular_image;
layout(set = 0, binding = 66) uniform texture2D blended_depth_image;
layout(set = 0, binding = 67, scalar) readonly buffer opacity_sum_block { uint opacity_sums[]; };
// Transmittance of the surfaces before the chosen one, and of all.
layout(set = 0, binding = 68) uniform texture2D before_image;
layout(set = 0, binding = 69) uniform texture2D all_image;

// Pre-exposed indirect light toward the viewer, as pass `gi composite` adds it to opaque surfaces:
// diffuse and specular, times opacity. `map`: occlusion map.
void blended_indirect_light(Surface s, float map, out vec3 diffuse, out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    // The vertex shaders compute the same depth.
    if ((frame.bits & FRAME_GI_BLENDED) == 0u
        || texelFetch(blended_depth_image, pixel, 0).x != gl_FragCoord.z) {
        return;
    }
    // Opacity over the probability: that of the choice as the nearest opaque one is opacity times
    // `before`, and without an opaque one it is opacity over the sum.
    float sum = layer_alpha(opacity_sums[uint(pixel.y) * frame.size.x + uint(pixel.x)]);
    float before = texelFetch(before_image, pixel, 0).x;
    float scale = 1.0 / max(before + texelFetch(all_image, pixel, 0).x / max(sum, 1e-6), 1e-6);
    float in_lobe = lobe_visibility(s, unmeasured_visibility(s, map));
    diffuse = (1.0 - s.metallic) * s.base_color
        * texelFetch(blended_diffuse_image, pixel, 0).rgb * (beyond_rays(map, 1.0) * scale);
    specular = texelFetch(blended_specular_image, pixel, 0).rgb * approximate_specular_albedo(s)
        * (beyond_rays(map, in_lobe) * scale);
}

#endif
