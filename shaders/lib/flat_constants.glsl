// Per-frame values derived from the constants. The vertex shader of pass `ssr` computes them once
// per triangle corner and passes them as flat varyings: on llvmpipe each uniform read costs a pixel
// about a dozen multiplications, a flat varying next to nothing (docs/reflections.md, "Cost"). The
// vertex shader defines WRITE_FLAT_CONSTANTS, and is compiled with RAY_CONSTANTS or
// HISTORY_CONSTANTS where the fragment shader is. At most sixteen vectors, which all devices
// support (Vulkan 1.3, "Required Limits": maxVertexOutputComponents, maxFragmentInputComponents).
#ifndef LIB_FLAT_CONSTANTS
#define LIB_FLAT_CONSTANTS
#ifdef WRITE_FLAT_CONSTANTS
#define FLAT flat out
#else
#define FLAT flat in
#endif

// Pixel (x, y), depth and 1 to the homogeneous camera-relative position of the pixel center.
layout(location = 0) FLAT mat4 place_of;
// `forward` of the frame constants.
layout(location = 4) FLAT vec4 forward;
#ifdef HISTORY_CONSTANTS
// Last frame's camera position.
layout(location = 5) FLAT vec4 previous_eye;
// Camera-relative position to pixel, times w, in this frame and in the last one, both unjittered:
// rows for x, y and w.
layout(location = 6) FLAT vec4 current_pixel_rows[3];
layout(location = 9) FLAT vec4 previous_pixel_rows[3];
// As `place_of`, for the last frame, from positions in pixels.
layout(location = 12) FLAT mat4 previous_position_matrix;
#else
// Depth to view distance (m): (x depth + z) / (y depth + w).
layout(location = 5) FLAT vec4 far_terms;
#ifdef RAY_CONSTANTS
// Camera-relative position to pixel and depth, all times w.
layout(location = 6) FLAT mat4 position_to_pixel;
#endif
#endif

#endif
