// Features of scene and look for which pipelines are specialized (`passes::variants`).
#ifndef SHARED_FEATURES
#define SHARED_FEATURES

// The scene has water.
const uint FEATURE_WATER = 0x1u;
// Some lights have IES profiles.
const uint FEATURE_IES_PROFILES = 0x2u;
// Some lights have shadow maps.
const uint FEATURE_SHADOW_MAPS = 0x4u;
// Participating volumes.
const uint FEATURE_VOLUMES = 0x8u;
// An environment or probes.
const uint FEATURE_ENVIRONMENT = 0x10u;
// Local probes.
const uint FEATURE_PROBES = 0x20u;
// Directional lights with an angular diameter.
const uint FEATURE_SUN_DISKS = 0x40u;
// Lights with a surface.
const uint FEATURE_AREA_LIGHTS = 0x80u;
// Alpha-masked instances in the BVH.
const uint FEATURE_ALPHA_MASKS = 0x100u;
// Diffuse and specular light have images of their own. Without them their outputs have no
// attachment.
const uint FEATURE_SPLIT_LIGHTING = 0x200u;
// Some extended materials have a coat.
const uint FEATURE_CLEARCOAT = 0x400u;
// Some extended materials have sheen.
const uint FEATURE_SHEEN = 0x800u;
// Some extended materials have two alphas.
const uint FEATURE_ANISOTROPY = 0x1000u;
// Some extended materials have a thin film.
const uint FEATURE_IRIDESCENCE = 0x2000u;
// Some extended materials have diffuse transmission.
const uint FEATURE_DIFFUSE_TRANSMISSION = 0x4000u;

#endif
