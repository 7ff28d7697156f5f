// Bilinear upsampling of an image of half the resolution.
#ifndef LIB_UPSAMPLE
#define LIB_UPSAMPLE

// Bilinear sample at a texel of the finer image.
vec4 upsample_bilinear(texture2D image, ivec2 texel) {
    vec2 at = (vec2(texel) + 0.5) * 0.5 - 0.5;
    ivec2 last = textureSize(image, 0) - 1;
    ivec2 low = ivec2(floor(at));
    vec2 part = at - vec2(low);
    ivec2 high = min(low + 1, last);
    low = clamp(low, ivec2(0), last);
    vec4 upper = mix(texelFetch(image, low, 0), texelFetch(image, ivec2(high.x, low.y), 0), part.x);
    vec4 lower = mix(texelFetch(image, ivec2(low.x, high.y), 0), texelFetch(image, high, 0),
        part.x);
    return mix(upper, lower, part.y);
}

#endif
