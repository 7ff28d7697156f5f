// What is the same for all pixels of a picture and takes arithmetic, or many numbers: pass `ssr`'s
// vertex shader computes it once for each corner of its triangle and hands it on as it is.
// Constants are read anew by every pixel: on the software driver a number of a uniform block costs
// a pixel as much as a dozen multiplications, one of these next to nothing (docs/reflections.md,
// "Cost"). The vertex shader defines WRITE_FLAT_CONSTANTS, and is compiled with RAY_CONSTANTS or
// HISTORY_CONSTANTS where the fragment shader is. Sixteen vectors at most, which all devices have
// (Vulkan 1.3, "Required Limits": maxVertexOutputComponents, maxFragmentInputComponents).
#ifndef LIB_FLAT_CONSTANTS
#define LIB_FLAT_CONSTANTS
#ifdef WRITE_FLAT_CONSTANTS
#define FLAT flat out
#else
#define FLAT flat in
#endif

// From a pixel (x, y), depth and 1 to its centre's place in homogeneous coordinates, relative to
// the camera.
layout(location = 0) FLAT mat4 place_of;
// As `forward` of the frame.
layout(location = 4) FLAT vec4 forward;
#ifdef HISTORY_CONSTANTS
// Where the last frame's camera stood.
layout(location = 5) FLAT vec4 previous_eye;
// From places to pixels, times w, in this frame and in the last one, both without jitter: rows for
// x, y and w.
layout(location = 6) FLAT vec4 current_pixel_rows[3];
layout(location = 9) FLAT vec4 previous_pixel_rows[3];
// From the last frame's picture, as `place_of`, but of places in pixels.
layout(location = 12) FLAT mat4 previous_position_matrix;
#else
// Distance along the line of sight (m) of a depth: x depth + z over y depth + w.
layout(location = 5) FLAT vec4 far_terms;
#ifdef RAY_CONSTANTS
// From places to pixels and depth, all times w.
layout(location = 6) FLAT mat4 picture_of;
#endif
#endif

#endif
