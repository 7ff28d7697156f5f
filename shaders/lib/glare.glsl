// Levels of the glare pyramid: images of half the resolution, with a texel around the picture.
#ifndef LIB_GLARE
#define LIB_GLARE

// Texels that a level has beyond each border of the picture.
const int MARGIN = 1;

// The next coarser level at a texel of the finer one, counted from the picture's corner: linearly
// between its texels. These weights are those of the way down, transposed, so that light from A to
// B is as much as from B to A.
vec4 upsample_bloom(texture2D image, ivec2 texel) {
    vec2 at = (vec2(texel) + 0.5) * 0.5 - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 part = at - vec2(low);
    low += MARGIN;
    vec4 upper = mix(texelFetch(image, low, 0), texelFetch(image, low + ivec2(1, 0), 0), part.x);
    vec4 lower = mix(texelFetch(image, low + ivec2(0, 1), 0), texelFetch(image, low + 1, 0), part.x);
    return mix(upper, lower, part.y);
}

#endif
