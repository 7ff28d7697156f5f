// Structs of global illumination. `Vpl` and `VplNode` are `gi::Vpl` and `gi::VplNode` on the host.
#ifndef SHARED_GI
#define SHARED_GI
#include "shared/temporal.glsl"

// A virtual point light: a diffuse emitter (src/gi).
struct Vpl {
    // Position relative to the anchor of the VPL set (m).
    vec3 position;
    // Normal, packed like those of the BVH (lib/ray_traced_shadows.glsl).
    uint normal;
    // Flux per channel (lm); the intensity along the normal is flux / pi (cd).
    vec3 flux;
    // Radius (m) of the disk that the VPL stands for.
    float size;
};

// A node of the light tree over the VPLs; the second child follows the first.
struct VplNode {
    // Minimum corner of the bounds.
    vec3 low;
    // Luminance of the summed flux (lm).
    float flux;
    // Maximum corner of the bounds.
    vec3 high;
    // Axis of the normal cone, packed as normals are.
    uint axis;
    // Cosine of the cone's half angle.
    float cos_spread;
    // First child; of a leaf, its VPL.
    uint first;
    // 1: holds one VPL.
    uint leaf;
    // Padding.
    uint pad0;
};

// Reflectances of a material at ray hits, with textures replaced by their means.
struct HitMaterial {
    // Diffuse reflectance, including lobes so wide that photon tracing treats them as diffuse.
    vec3 diffuse;
    // GGX alpha (roughness squared) of the remaining lobes.
    float alpha;
    // F0 of the remaining lobes, times their weight.
    vec3 specular;
    // 1: back faces emit as well.
    uint double_sided;
    // Emitted luminance (nits by channel) where the surface is no light; else black.
    vec3 emission;
    // Padding.
    uint pad0;
};

// Constants of the GI passes. Positions are relative to this frame's camera, in world axes.
struct GiConstants {
    // History of the indirect light.
    HistoryConstants history;
    // Origin of VPL positions, relative to the camera.
    vec3 anchor;
    // Distance (m) below which the light of facing VPLs is clamped.
    float clamp_distance;
    // Image size (pixels).
    uvec2 size;
    // Size of the images of gathered light: one pixel for each block of pixels.
    uvec2 gathered_size;
    // Pixel of its block that this frame gathers.
    uvec2 phase;
    // Side of a block (pixels).
    uint stride;
    // Frame index of the random numbers of a pixel: the number of times that it was gathered.
    uint round;
    // VPLs that each pixel samples.
    uint vpl_samples;
    // Number of VPLs.
    uint vpl_count;
    // Bits: `GI_VISIBILITY` and the other `GI_` constants.
    uint flags;
    // Minimum perceptual roughness that samples VPLs; smoother surfaces trace rays.
    float min_specular_roughness;
    // Debug view of VPLs as balls: radius (m) of a VPL of 1 lm.
    float ball;
    // Maximum change of the displayed image since the last frame in 8-bit steps; 0: unlimited.
    float stabilization_step;
};

// VPL visibility by shadow rays.
const uint GI_VISIBILITY = 1u;
// Short rays recover the energy lost to VPL clamping.
const uint GI_COMPENSATION = 2u;
// Rays compute environment visibility.
const uint GI_SKY = 4u;
// Every VPL is evaluated, without sampling.
const uint GI_ALL_VPLS = 32u;
// The history is frozen: the view is static for long.
const uint GI_FROZEN = 16u;
// Rough specular reflection of VPLs.
const uint GI_SPECULAR_VPLS = 8u;
// Some material reflects specularly.
const uint GI_CAUSTICS = 128u;
// The environment light of rough reflections is that of the whole lobe.
const uint GI_LOBE_SKY = 256u;
// Specular reflections by rays.
const uint GI_SPECULAR_RAYS = 64u;

#endif
