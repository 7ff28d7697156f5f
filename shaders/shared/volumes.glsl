// Participating volumes, as the host fills them (src/passes/volumes_shared.rs); a test compares
// every offset.
#ifndef SHARED_VOLUMES
#define SHARED_VOLUMES

// The head of the volumes' buffer.
struct VolumeConstants {
    uint count;                // volumes
    uint steps;                // places along a line of sight
    uint shadow_steps;         // places on the way to a lamp within each uneven volume
    uint scale;                // pixels of the picture a texel of the march, on each side: 1 or 2
    uint filtered;             // 1: means over neighbouring texels
    uint surroundings;         // 1: there is light from all around
    uint pad0;
    uint pad1;
};

struct Volume {
    vec4 rows[3];              // camera-relative world to the box's space, whose corners are 0 and 1
    vec3 scattering;           // 1/m, where the density is 1
    float anisotropy;          // of Henyey and Greenstein
    vec3 extinction;           // 1/m
    uint first;                // its first voxel; NONE: even
    vec3 emission;             // nits per metre
    uint around;               // its first cell of light from all around
    uvec3 size;                // voxels
    uint pad0;
};

// MAX_VOLUMES of src/scene/volume.
const uint MAX_VOLUMES = 16u;
// Cells along each side of a box for light from all around: VOLUME_ENVIRONMENT_SIZE of
// src/passes/volumes_environment.rs.
const uint VOLUME_ENVIRONMENT_SIZE = 12u;
// Coefficients of what is all around, before the cells.
const uint VOLUME_ENVIRONMENT_SH_COUNT = 9u;

#endif
