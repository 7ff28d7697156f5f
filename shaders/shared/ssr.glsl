// Screen-space reflection constants, filled by src/passes/ssr.rs; a test compares every offset.
#ifndef SHARED_SSR
#define SHARED_SSR
#extension GL_EXT_scalar_block_layout : require

// Constants of the SSR passes. Positions are relative to this frame's camera, in world axes.
struct SsrConstants {
    mat4 previous_to_clip;     // to the last frame's clip space, unjittered
    mat4 to_clip;              // to this frame's clip space, unjittered
    mat4 previous_from_clip;   // from the last frame's clip space
    vec3 previous_eye;         // last frame's camera position
    float max_roughness;       // perceptual; rougher surfaces reflect only the environment
    // subpixel offset of the last frame's samples from the pixel centers (pixels)
    vec2 previous_jitter;
    float thickness;           // depth buffer thickness as a fraction of the distance
    float max_frames;          // maximum history length in frames; 0 discards the history
    uvec2 size;                // of the image (pixels)
    uvec2 rays;                // of the ray image (texels)
    uint scale;                // pixels per ray on each side: 1 or 2
    uint taps;                 // neighbor rays that a pixel reuses
    uint steps;                // maximum cells that a ray crosses
    uint number;               // frame index, for noise
    uint reprojection;         // reprojection method, SSR_
    uint still;                // 1: nothing has moved since the last frame
    // variance clipping: half-width in standard deviations of the neighborhood
    float gamma;
    uint level_count;          // levels of the depth pyramid, including the full-resolution depth
    uint level_row;            // image width rounded up to cells of the coarsest level (pixels)
    uint hits_only;                 // 1: only ray hits contribute, without the environment
    vec3 right;                // unit vector to the right of the image
    float pixel;               // height of a pixel at depth 1 (before the division)
    vec3 down;                 // unit vector down the image
    uint pad0[3];
};

// Reprojection methods of the reflection history.
const uint SSR_VIRTUAL = 0u;        // position of the virtual (mirror) image
const uint SSR_SURFACE = 1u;        // position of the reflecting surface
const uint SSR_SMALLEST = 2u;       // the smallest of four motion vectors
// virtual position a hit distance behind the surface, for camera motion alone
const uint SSR_HIT_PARALLAX = 3u;

// Reasons for a history rejection; 0: accepted.
const uint SSR_KEPT = 0u;
const uint SSR_NO_REFLECTION = 1u;  // no reflection here
const uint SSR_NO_HISTORY = 2u;     // no history exists
const uint SSR_OUTSIDE = 3u;        // reprojected outside the image
const uint SSR_SURFACE_CHANGED = 4u; // another surface was visible there
const uint SSR_NORMAL_CHANGED = 5u; // the normal differs
const uint SSR_DEPTH_CHANGED = 6u;  // the reflected depth differs
const uint SSR_MOTION_CHANGED = 7u; // the motion of the reflected surface differs

#endif
