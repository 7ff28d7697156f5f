// Participating media structs, filled by src/passes/volumes_shared.rs; a test compares every
// offset.
#ifndef SHARED_VOLUMES
#define SHARED_VOLUMES

// Header of the volume buffer.
struct VolumeConstants {
    uint count;                // volume count
    uint steps;                // samples along a view ray
    uint shadow_steps;         // samples toward a light within each heterogeneous volume
    uint scale;                // pixels per texel of the ray march on each side: 1 or 2
    uint filtered;             // 1: filtered over neighboring texels
    uint has_environment;      // 1: environment light is present
    uint pad0;
    uint pad1;
};

struct Volume {
    vec4 rows[3];              // camera-relative world to box space, corners at 0 and 1
    vec3 scattering;           // 1/m, at density 1
    float anisotropy;          // Henyey-Greenstein g
    vec3 extinction;           // 1/m, at density 1
    uint first;                // first voxel; NONE: homogeneous
    vec3 emission;             // nits per meter
    uint first_environment_cell;               // first cell of its environment light
    uvec3 size;                // voxel counts
    uint pad0;
};

// MAX_VOLUMES of src/scene/volume.
const uint MAX_VOLUMES = 16u;
// Environment light cells along each side of a box: VOLUME_ENVIRONMENT_SIZE of
// src/passes/volumes_environment.rs.
const uint VOLUME_ENVIRONMENT_SIZE = 12u;
// Environment SH coefficients, stored before the cells.
const uint VOLUME_ENVIRONMENT_SH_COUNT = 9u;

#endif
