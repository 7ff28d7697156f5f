// Features of scene and look for which pipelines are specialized (`passes::variants`).
#ifndef SHARED_FEATURES
#define SHARED_FEATURES

// Water surrounds some shaded positions.
const uint FEATURE_WATER = 1u;
// Some lights have IES profiles.
const uint FEATURE_IES_PROFILES = 2u;
// Some lights have shadow maps.
const uint FEATURE_SHADOW_MAPS = 4u;
// Participating volumes.
const uint FEATURE_VOLUMES = 8u;
// An environment.
const uint FEATURE_ENVIRONMENT = 16u;
// Local probes.
const uint FEATURE_PROBES = 32u;
// Directional lights with an angular diameter.
const uint FEATURE_SUN_DISKS = 64u;
// Lights with a surface.
const uint FEATURE_AREA_LIGHTS = 128u;
// Alpha-masked instances in the BVH.
const uint FEATURE_ALPHA_MASKS = 256u;

#endif
