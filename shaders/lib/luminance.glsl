// Luminance of linear Rec.709 colors. Mirrors `luminance` in src/photometry/color.rs.
#ifndef LIB_LUMINANCE
#define LIB_LUMINANCE

float luminance(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }

#endif
