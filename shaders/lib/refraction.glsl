// Screen-space refraction background: the lit opaque image (pre-exposed) sampled where the
// refracted ray hits it (docs/extended-materials.md).
#ifndef LIB_REFRACTION
#define LIB_REFRACTION
#extension GL_EXT_samplerless_texture_functions : require

// Lit opaque image; alpha is the distance along the camera axis (m), 0 for the background. Each
// further level has half the resolution.
layout(set = 0, binding = 12) uniform texture2D background_0;
layout(set = 0, binding = 13) uniform texture2D background_1;
layout(set = 0, binding = 14) uniform texture2D background_2;
layout(set = 0, binding = 15) uniform texture2D background_3;
layout(set = 0, binding = 16) uniform texture2D background_4;
layout(set = 0, binding = 17) uniform texture2D background_5;
const uint BACKGROUND_LEVELS = 6u;

// Bilinear interpolation, over 1/`steep` of a texel.
vec3 background_linear(texture2D image, vec2 place, float steep) {
    ivec2 size = textureSize(image, 0);
    vec2 at = place * vec2(size) - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 part = clamp((at - vec2(low) - 0.5) * steep + 0.5, 0.0, 1.0);
    ivec2 high = clamp(low + 1, ivec2(0), size - 1);
    low = clamp(low, ivec2(0), size - 1);
    return mix(mix(texelFetch(image, low, 0).rgb, texelFetch(image, ivec2(high.x, low.y), 0).rgb,
        part.x),
               mix(texelFetch(image, ivec2(low.x, high.y), 0).rgb, texelFetch(image, high, 0).rgb,
                   part.x), part.y);
}

vec3 background_level(uint level, vec2 place) {
    switch (level) {
        // Refraction may magnify: transitions between pixels take half a pixel.
        case 0u: return background_linear(background_0, place, 2.0);
        case 1u: return background_linear(background_1, place, 1.0);
        case 2u: return background_linear(background_2, place, 1.0);
        case 3u: return background_linear(background_3, place, 1.0);
        case 4u: return background_linear(background_4, place, 1.0);
        default: return background_linear(background_5, place, 1.0);
    }
}

// Background at an image position (0 to 1), blurred to `level`.
vec3 background_at(vec2 place, float level) {
    level = clamp(level, 0.0, float(BACKGROUND_LEVELS - 1u));
    uint low = uint(level);
    vec3 sharp = background_level(low, place);
    return level > float(low) ? mix(sharp, background_level(low + 1u, place), level - float(low))
        : sharp;
}

// Projects to the image position (0 to 1); false outside the image.
bool place_of(vec3 position, out vec2 place) {
    vec4 clip = frame.view_projection * vec4(position, 1.0);
    place = clip.xy / max(clip.w, 1e-6) * 0.5 + 0.5;
    return clip.w > 0.0 && all(greaterThanEqual(place, vec2(0.0)))
        && all(lessThan(place, vec2(1.0)));
}

float background_distance(vec2 place) {
    return texelFetch(background_0, ivec2(place * vec2(textureSize(background_0, 0))), 0).a;
}

// Pixel footprint (m): computed once at the surface, scaled by distance elsewhere.
float pixel_at_surface;

float pixel_size_here() {
    vec2 ndc = gl_FragCoord.xy / vec2(frame.size) * 2.0 - 1.0;
    vec4 here = frame.inverse_projection * vec4(ndc, gl_FragCoord.z, 1.0);
    vec4 beside = frame.inverse_projection * vec4(ndc.x + 2.0 / float(frame.size.x), ndc.y,
        gl_FragCoord.z, 1.0);
    return distance(here.xyz / here.w, beside.xyz / beside.w);
}

float pixel_size_at(float along, float surface_along) {
    return pixel_at_surface * (frame.forward.w != 0.0 ? 1.0 : along / max(surface_along, 1e-6));
}

#endif
