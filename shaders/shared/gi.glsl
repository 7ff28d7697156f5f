// Global illumination structs, filled by src/gi and src/passes/gi.rs; a test compares every offset.
#ifndef SHARED_GI
#define SHARED_GI

// A virtual point light: a diffuse emitter (src/gi).
struct Vpl {
    vec3 position;             // relative to the anchor of the VPL set
    uint normal;               // packed as BVH normals are (lib/ray_traced_shadows.glsl)
    vec3 flux;                 // lm by channel; along the normal flux / pi cd
    float size;                // radius (m) of the disk that the VPL stands for
};

// A node of the light tree over the VPLs; the second child follows the first.
struct VplNode {
    vec3 low;                  // min corner
    float flux;                // luminance of the summed flux (lm)
    vec3 high;                 // max corner
    uint axis;                 // axis of the normal cone, packed as normals are
    float cos_spread;          // cosine of the cone's half angle
    uint first;                // first child; of a leaf its VPL
    uint leaf;                 // 1: holds one VPL
    uint pad0;
};

// Reflectances of a material at ray hits, with textures replaced by their means.
struct HitMaterial {
    // diffuse reflectance, with the lobes so wide that photon tracing treats them as diffuse
    vec3 diffuse;
    float alpha;               // of the remaining lobes, roughness squared
    vec3 specular;             // F0 of the remaining lobes, weighted by their share
    uint pad0;
};

// Constants of the GI passes. Positions are relative to this frame's camera, in world axes.
struct GiConstants {
    mat4 previous_to_clip;     // to the last frame's clip space, unjittered
    mat4 to_clip;              // to this frame's clip space, unjittered
    mat4 previous_from_clip;   // from the last frame's clip space
    vec3 previous_eye;         // last frame's camera position
    float max_history;         // maximum history length in frames; 0 discards the history
    vec3 anchor;               // origin of the VPL positions
    float clamp_distance;      // clamp distance (m): facing VPLs closer than this are bounded
    // subpixel offset of the last frame's samples from the pixel centers (pixels)
    vec2 previous_jitter;
    uvec2 size;                // of the image (pixels)
    uint vpl_samples;          // VPLs sampled per pixel
    uint vpl_count;            // VPLs in the set
    uint number;               // frame index, for noise
    uint flags;                // GI_ bits
    uint static_view;          // 1: nothing has moved since the last frame
    // minimum perceptual roughness that samples VPLs; smoother surfaces trace rays
    float min_specular_roughness;
    float ball;                // debug view of VPLs as balls: radius (m) of a VPL of 1 lm
    // maximum change (8-bit steps) of the image per frame; 0: unlimited
    float stabilization_step;
};

const uint GI_VISIBILITY = 1u;     // VPL visibility by shadow rays
const uint GI_COMPENSATION = 2u;   // short rays recover the energy lost to VPL clamping
const uint GI_SKY = 4u;            // rays compute environment visibility
const uint GI_ALL_VPLS = 32u;           // every VPL is evaluated, without sampling
const uint GI_FROZEN = 16u;          // the history is frozen: the view is static for long
const uint GI_SPECULAR_VPLS = 8u;         // rough specular reflection of VPLs
const uint GI_CAUSTICS = 128u;      // some material reflects specularly
const uint GI_SPECULAR_RAYS = 64u;        // specular reflections by rays

#endif
