// Structs that the host fills (src/passes/ssr.rs); a test compares every offset.
#ifndef SHARED_SSR
#define SHARED_SSR
#extension GL_EXT_scalar_block_layout : require

// Of the passes that find reflections in the picture. Positions are relative to this frame's
// camera, in world axes.
struct SsrConstants {
    mat4 previous_to_clip;       // to the clip space of the last frame's camera, without its jitter
    mat4 to_clip;              // to this frame's, without its jitter
    mat4 previous_from_clip;     // from the last frame's clip space
    vec3 previous_eye;           // where the last frame's camera stood
    float max_roughness;       // perceptual; rougher surfaces reflect their surroundings only
    vec2 previous_jitter;        // of the last frame's samples from their pixels' centres (pixels)
    float thickness;           // what is seen is so thick, as a part of its distance
    float max_frames;                // frames that a history is the mean of at most; 0 forgets it
    uvec2 size;                // of the picture (pixels)
    uvec2 rays;                // of the image of rays (texels)
    uint scale;                // pixels a ray, on each side: 1 or 2
    uint taps;                 // neighbours whose rays a pixel uses
    uint steps;                // cells that a ray may cross
    uint number;               // of the frame, for noise
    uint reprojection;         // SSR_ way
    uint still;                // 1: nothing has moved since the last frame
    float gamma;               // standard deviations of its neighbourhood that a history may be off its mean
    uint level_count;          // of the pyramid of depths, the picture's own included
    uint level_row;            // width of the picture rounded up to cells of the coarsest level (pixels)
    uint bare;                 // 1: nothing is reflected but what rays find in the picture
    vec3 right;                // unit vectors to the right and down in the picture
    float pixel;               // height of a pixel at depth 1 (before the division)
    vec3 down;
    uint pad0[3];
};

// Where the history of a reflection is looked up.
const uint SSR_VIRTUAL = 0u;        // where the mirror image was seen
const uint SSR_SURFACE = 1u;        // where the reflecting surface was seen
const uint SSR_SMALLEST = 2u;       // by the smallest of four motions
const uint SSR_HIT_PARALLAX = 3u;   // a hit distance behind the surface, as though nothing but the camera moved

// Why a history was not used; 0: it was.
const uint SSR_KEPT = 0u;
const uint SSR_NO_REFLECTION = 1u;  // nothing reflects here
const uint SSR_NO_HISTORY = 2u;     // none is there
const uint SSR_OUTSIDE = 3u;        // it was outside of the picture
const uint SSR_SURFACE_CHANGED = 4u; // another surface was seen there
const uint SSR_NORMAL_CHANGED = 5u; // it was turned another way
const uint SSR_DEPTH_CHANGED = 6u;  // its reflection lay nearer or farther
const uint SSR_MOTION_CHANGED = 7u; // what it reflected moved in another way

#endif
