// Block of the SSR passes' constants. With it, lib/gbuffer.glsl and lib/reprojection.glsl use the
// matrices that the host has derived for them.
#ifndef LIB_SSR_CONSTANTS
#define LIB_SSR_CONSTANTS

layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };

#endif
