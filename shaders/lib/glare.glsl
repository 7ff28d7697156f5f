// Bloom pyramid levels: each has half the resolution of the last, with a border of one texel.
// Pre-exposed light.
#ifndef LIB_GLARE
#define LIB_GLARE

// Border texels of a level on each side of the image.
const int MARGIN = 1;

// Bilinear sample of the next coarser level at a texel of the finer one, counted from the image
// corner. The weights are the transpose of the downsampling weights, so that light transport
// between two pixels is symmetric.
vec4 upsample_bloom(texture2D image, ivec2 texel) {
    vec2 at = (vec2(texel) + 0.5) * 0.5 - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 part = at - vec2(low);
    low += MARGIN;
    vec4 upper = mix(texelFetch(image, low, 0), texelFetch(image, low + ivec2(1, 0), 0), part.x);
    vec4 lower = mix(texelFetch(image, low + ivec2(0, 1), 0), texelFetch(image, low + 1, 0),
        part.x);
    return mix(upper, lower, part.y);
}

#endif
