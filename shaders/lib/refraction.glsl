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

ivec2 background_size(uint level) {
    switch (level) {
        case 0u: return textureSize(background_0, 0);
        case 1u: return textureSize(background_1, 0);
        case 2u: return textureSize(background_2, 0);
        case 3u: return textureSize(background_3, 0);
        case 4u: return textureSize(background_4, 0);
        default: return textureSize(background_5, 0);
    }
}

vec3 background_texel(uint level, ivec2 at) {
    switch (level) {
        case 0u: return texelFetch(background_0, at, 0).rgb;
        case 1u: return texelFetch(background_1, at, 0).rgb;
        case 2u: return texelFetch(background_2, at, 0).rgb;
        case 3u: return texelFetch(background_3, at, 0).rgb;
        case 4u: return texelFetch(background_4, at, 0).rgb;
        default: return texelFetch(background_5, at, 0).rgb;
    }
}

// Bilinear interpolation between texels of a level. One call site for all of them, since functions
// are inlined.
vec3 background_level(uint level, vec2 place) {
    ivec2 size = background_size(level);
    vec2 at = place * vec2(size) - 0.5;
    ivec2 low = ivec2(floor(at));
    // Refraction may magnify level 0: transitions between its pixels take half a pixel.
    vec2 part = clamp((at - vec2(low) - 0.5) * (level == 0u ? 2.0 : 1.0) + 0.5, 0.0, 1.0);
    ivec2 high = clamp(low + 1, ivec2(0), size - 1);
    low = clamp(low, ivec2(0), size - 1);
    vec3 left = vec3(0.0);
    vec3 upper = vec3(0.0);
    vec3 row = vec3(0.0);
    for (int i = 0; i < 4; ++i) {
        bool right = (i & 1) == 1;
        vec3 texel = background_texel(level, ivec2(right ? high.x : low.x, i < 2 ? low.y : high.y));
        row = mix(left, texel, part.x);
        left = texel;
        upper = i == 1 ? row : upper;
    }
    return mix(upper, row, part.y);
}

// Background at an image position (0 to 1), blurred to `level`.
vec3 background_at(vec2 place, float level) {
    level = clamp(level, 0.0, float(BACKGROUND_LEVELS - 1u));
    uint low = uint(level);
    vec3 sharp = vec3(0.0);
    vec3 blurred = vec3(0.0);
    for (uint i = low; i <= (level > float(low) ? low + 1u : low); ++i) {
        blurred = background_level(i, place);
        sharp = i == low ? blurred : sharp;
    }
    return level > float(low) ? mix(sharp, blurred, level - float(low)) : sharp;
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
