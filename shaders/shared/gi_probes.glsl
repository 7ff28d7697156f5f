// Structs of the irradiance volume (docs/irradiance-volumes.md).
#ifndef SHARED_GI_PROBES
#define SHARED_GI_PROBES
#extension GL_EXT_scalar_block_layout : require

// An irradiance volume: probes at the points of a cubic grid.
struct ProbeVolumeConstants {
    // First probe, relative to the camera (m).
    vec3 origin;
    // Distance between neighbors along an axis (m).
    float spacing;
    // Probes along each axis.
    uvec3 counts;
    // Probes in a row of the maps.
    uint columns;
    // Distance (m) at which visibility is clipped.
    float max_distance;
    // Bits: `PROBES_SKY` and `PROBES_SPECULAR`.
    uint flags;
};

// Rays that hit nothing see the environment.
const uint PROBES_SKY = 1u;
// Surfaces reflect the volume's light specularly.
const uint PROBES_SPECULAR = 2u;

// Update of some probes by rays. Ray `i` of probe `first + p` is ray `p * rays + i`.
struct ProbeUpdateConstants {
    // Rotation of the ray directions: a unit quaternion.
    vec4 rotation;
    // First probe.
    uint first;
    // Number of probes.
    uint count;
    // Rays of a probe.
    uint rays;
    // Number of the sweep over all probes: seeds random numbers.
    uint number;
    // Weight of the new light, 0 to 1; 1 replaces the stored one.
    float blend;
    // Weight of the new visibility, likewise.
    float visibility_blend;
    // Bits: the other `PROBES_` constants.
    uint flags;
    // Padding.
    uint pad0;
};

// The first sweep: nothing is stored.
const uint PROBES_FIRST = 1u;
// The probes move away from surfaces.
const uint PROBES_RELOCATE = 2u;
// Probes inside of geometry trace rays too.
const uint PROBES_CLASSIFY = 4u;
// Probes without a surface nearby trace rays too.
const uint PROBES_TRACE_ALL = 8u;

// What a probe's ray found.
struct ProbeRay {
    // Luminance (nits by channel) along the ray, without the light of `shadowed`.
    vec3 luminance;
    // Distance to the hit (m), negative at a back face.
    float distance;
    // Luminance that is added if the hit's shadow ray finds no occluder.
    vec3 shadowed;
    // Padding.
    uint pad0;
};

#endif
