// Structs that the host fills (src/gi, src/passes/gi.rs); a test compares every offset.
#ifndef SHARED_GI
#define SHARED_GI

// A patch that sends light as a diffuse surface does (src/gi).
struct Vpl {
    vec3 position;             // relative to the set's anchor
    uint normal;               // as trees pack them (lib/ray_traced_shadows.glsl)
    vec3 flux;                 // lm by channel; along the normal flux / pi cd
    float size;                // radius of the patch that it stands for (m)
};

// A node of the tree over them; children at `first` and after it.
struct VplNode {
    vec3 low;                  // least corner
    float flux;                // luminance of all its flux (lm)
    vec3 high;                 // greatest corner
    uint axis;                 // of a cone that holds its normals, packed as they are
    float cos_spread;          // cosine of the cone's half angle
    uint first;                // first child; of a leaf its patch
    uint leaf;                 // 1: holds one patch
    uint pad0;
};

// What a material reflects at the ends of vpl_samples, in the mean over its pictures.
struct HitMaterial {
    vec3 diffuse;                // diffusely, and by lobes so wide that photons take them for diffuse
    float alpha;               // of the lobes that are left, roughness squared
    vec3 specular;                // F0 of these, by their share
    uint pad0;
};

// Of the passes of indirect light. Positions are relative to this frame's camera, in world axes.
struct GiConstants {
    mat4 previous_to_clip;       // to the clip space of the last frame's camera, without its jitter
    mat4 to_clip;              // to this frame's, without its jitter
    mat4 previous_from_clip;     // from the last frame's clip space
    vec3 previous_eye;           // where the last frame's camera stood
    float max_history;                // frames that a history is the mean of at max_history; 0 forgets it
    vec3 anchor;               // what vpl_count are relative to
    float clamp_distance;            // nearer than this (m), facing vpl_count' light is bounded
    vec2 previous_jitter;        // of the last frame's samples from their pixels' centres (pixels)
    uvec2 size;                // of the picture (pixels)
    uint vpl_samples;                 // vpl_count that a pixel asks
    uint vpl_count;              // that there are
    uint number;               // of the frame, for noise
    uint flags;                // GI_ bits
    uint static_view;                // 1: nothing has moved since the last frame
    float glossy;              // least perceptual roughness that reflects vpl_count; below it by vpl_samples
    float ball;                // radius (m) of a patch of 1 lm where vpl_count are shown as balls
    float stabilization_step;               // steps of eight bits that the picture may move since the last frame; 0: any
};

const uint GI_VISIBILITY = 1u;     // walls hide vpl_count
const uint GI_COMPENSATION = 2u;   // short vpl_samples bring what the bound takes
const uint GI_SKY = 4u;            // vpl_samples find what hides light from all around
const uint GI_ALL_VPLS = 32u;           // every patch is asked, none is chosen
const uint GI_FROZEN = 16u;          // the history stays as it is: nothing has moved for long
const uint GI_GLOSSY_VPLS = 8u;         // rough highlights of vpl_count
const uint GI_CAUSTICS = 128u;      // some material throws light on in one direction
const uint GI_SPECULAR_RAYS = 64u;        // what smooth surfaces reflect of others, by vpl_samples

#endif
