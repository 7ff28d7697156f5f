// Structs of participating media.
#ifndef SHARED_VOLUMES
#define SHARED_VOLUMES

// Header of the volume buffer.
struct VolumeConstants {
    // Number of volumes.
    uint count;
    // Steps along a view ray.
    uint steps;
    // Steps toward a light within each heterogeneous volume.
    uint shadow_steps;
    // Image pixels per texel of the march along each axis: 1 or 2.
    uint scale;
    // 1: averages over neighboring texels.
    uint filtered;
    // 1: the scene has an environment.
    uint has_environment;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
};

// Participating volume: a box with or without a grid.
struct Volume {
    // Camera-relative world to the box's space, whose corners are 0 and 1.
    vec4 rows[3];
    // Scattering (1/m by channel) at density 1.
    vec3 scattering;
    // Anisotropy of the Henyey-Greenstein phase function.
    float anisotropy;
    // Extinction (1/m by channel) at density 1.
    vec3 extinction;
    // First voxel; `NONE`: homogeneous.
    uint first;
    // Emission (nits per meter by channel) at density 1.
    vec3 emission;
    // First cell of its environment light.
    uint first_environment_cell;
    // Voxels per axis.
    uvec3 size;
    // Padding.
    uint pad0;
};

// Maximum number of volumes in a scene; equals `scene::volume::MAX_VOLUMES`.
const uint MAX_VOLUMES = 16u;
// Environment light cells along each side of a box.
const uint VOLUME_ENVIRONMENT_SIZE = 12u;
// Environment SH coefficients, stored before the cells.
const uint VOLUME_ENVIRONMENT_SH_COUNT = 9u;

#endif
