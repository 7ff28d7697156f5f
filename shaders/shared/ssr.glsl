// Constants of screen-space reflections.
#ifndef SHARED_SSR
#define SHARED_SSR
#extension GL_EXT_scalar_block_layout : require
#include "shared/temporal.glsl"

// Constants of the SSR passes. Positions are relative to this frame's camera, in world axes.
struct SsrConstants {
    // Motion since the last frame.
    MotionConstants motion;
    // Pixel (x, y), depth and 1 to the homogeneous position of the pixel center.
    mat4 pixel_to_position;
    // Position to pixel and depth, all times w.
    mat4 position_to_pixel;
    // As `pixel_to_position`, for the last frame, from positions in pixels, unjittered.
    mat4 previous_pixel_to_position;
    // Position to pixel, times w, in this frame, unjittered: rows for x, y and w.
    vec4 current_pixel_rows[3];
    // The same in the last frame.
    vec4 previous_pixel_rows[3];
    // Depth to view distance (m): (x depth + z) / (y depth + w).
    vec4 far_terms;
    // History of the reflections.
    HistoryConstants history;
    // Maximum perceptual roughness; rougher surfaces reflect only the environment.
    float max_roughness;
    // Thickness of depth buffer surfaces as a fraction of their distance.
    float thickness;
    // Image size (pixels).
    uvec2 size;
    // Ray image size (texels).
    uvec2 rays;
    // Pixels per ray along each axis: 1 or 2.
    uint scale;
    // Neighbor rays that a pixel reuses.
    uint taps;
    // Maximum cells that a ray crosses.
    uint steps;
    // Reprojection method: `SSR_VIRTUAL`, `SSR_SURFACE`, `SSR_SMALLEST` or `SSR_HIT_PARALLAX`.
    uint reprojection;
    // Variance clipping: half-width of the history clamp in standard deviations of the
    // neighborhood.
    float gamma;
    // Levels of the depth pyramid, including the full-resolution depth.
    uint level_count;
    // Image width rounded up to cells of the coarsest level (pixels).
    uint level_row;
    // 1: only ray hits contribute, without the environment.
    uint hits_only;
    // Unit vector to the right of the image.
    vec3 right;
    // Height of a pixel at depth 1 (before the division).
    float pixel;
    // Unit vector down the image.
    vec3 down;
    // Padding.
    uint pad0[3];
};

// Reprojection of the reflection history: position of the virtual (mirror) image.
const uint SSR_VIRTUAL = 0u;
// Reprojection: position of the reflecting surface.
const uint SSR_SURFACE = 1u;
// Reprojection: the smallest of four motion vectors.
const uint SSR_SMALLEST = 2u;
// Reprojection: virtual position a hit distance behind the surface, for camera motion alone.
const uint SSR_HIT_PARALLAX = 3u;

// History rejection reason: the history is kept.
const uint SSR_KEPT = 0u;
// Rejected: no reflection here.
const uint SSR_NO_REFLECTION = 1u;
// Rejected: no history exists.
const uint SSR_NO_HISTORY = 2u;
// Rejected: reprojected outside the image.
const uint SSR_OUTSIDE = 3u;
// Rejected: another surface was visible there.
const uint SSR_SURFACE_CHANGED = 4u;
// Rejected: the normal differs.
const uint SSR_NORMAL_CHANGED = 5u;
// Rejected: the reflected depth differs.
const uint SSR_DEPTH_CHANGED = 6u;
// Rejected: the motion of the reflected surface differs.
const uint SSR_MOTION_CHANGED = 7u;

#endif
