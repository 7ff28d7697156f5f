// Reads surfaces from the G-buffer: camera-relative position (m), normal, view direction and
// material. The including shader declares `frame`; those of SSR include lib/ssr_constants.glsl
// before.
#ifndef LIB_GBUFFER
#define LIB_GBUFFER
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 2) uniform utexture2D surface_image;
layout(set = 0, binding = 3) uniform utexture2D normal_image;

// Camera-relative position of a pixel center at this depth.
vec3 position_at(ivec2 pixel, float depth) {
#ifdef LIB_SSR_CONSTANTS
    vec4 p = ssr.pixel_to_position * vec4(vec2(pixel), depth, 1.0);
#else
    vec2 ndc = (vec2(pixel) + 0.5) / vec2(frame.size) * 2.0 - 1.0;
    vec4 p = frame.inverse_projection * vec4(ndc, depth, 1.0);
#endif
    return p.xyz / p.w;
}

// Unit vector toward the camera. Computes both projections and selects one: on llvmpipe a branch on
// uniforms recompiles the shader each frame with their values (docs/reflections.md, "Cost").
vec3 view_at(vec3 position) {
    vec4 forward = frame.forward;
    return -mix(normalize(position), forward.xyz, bvec3(forward.w != 0.0));
}

// Surface of a pixel with this depth (bits) and packed normal. False where it is unlit.
bool load_surface(ivec2 pixel, uvec2 seen, out Surface s) {
    float roughness;
    float occlusion;
    bool unlit;
    unpack_surface(texelFetch(surface_image, pixel, 0).xy, s.base_color, s.metallic, roughness,
        occlusion, unlit);
    s.position = position_at(pixel, uintBitsToFloat(seen.x));
    s.normal = unpack_normal(seen.y);
    s.view = view_at(s.position);
    s.alpha = max(roughness * roughness, MIN_ALPHA);
    return !unlit;
}

bool load_surface(ivec2 pixel, float depth, out Surface s) {
    return load_surface(pixel, uvec2(floatBitsToUint(depth), texelFetch(normal_image, pixel, 0).x),
        s);
}

// Position change from a pixel to the next one along an axis, on the side with the smaller second
// difference of depth. Projected depth is linear on a plane, so that side lies on the same
// triangle.
vec3 step_across(ivec2 pixel, ivec2 axis, float depth, vec3 position) {
    ivec2 last = ivec2(frame.size) - 1;
    bool has_low = all(greaterThanEqual(pixel - 2 * axis, ivec2(0)));
    bool has_high = all(lessThanEqual(pixel + 2 * axis, last));
    float low = has_low ? texelFetch(depth_image, pixel - axis, 0).x : 0.0;
    float low_bend = has_low
        ? abs(2.0 * low - texelFetch(depth_image, pixel - 2 * axis, 0).x - depth) : 2.0;
    float high = has_high ? texelFetch(depth_image, pixel + axis, 0).x : 0.0;
    float high_bend = has_high
        ? abs(2.0 * high - texelFetch(depth_image, pixel + 2 * axis, 0).x - depth) : 2.0;
    bool below = low_bend < high_bend;
    float there = below ? low : high;
    if (there <= 0.0) {
        return vec3(0.0);
    }
    vec3 other = position_at(below ? pixel - axis : pixel + axis, there);
    return below ? position - other : other - position;
}

// Perceptual roughness of a pixel's surface (lib/packing.glsl).
float surface_roughness(ivec2 pixel) {
    return float(texelFetch(surface_image, pixel, 0).y >> 12 & 4095u) / 4095.0;
}

// Fraction of indirect light that the material's occlusion map leaves, 0 to 1 (lib/packing.glsl,
// lib/occlusion.glsl).
float surface_occlusion(ivec2 pixel) {
    return float(texelFetch(surface_image, pixel, 0).y >> 24 & 127u) / 127.0;
}

#endif
