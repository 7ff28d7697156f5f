// Depth slices of the light clusters; pixels of a cluster share a light list.
#ifndef LIB_CLUSTERS
#define LIB_CLUSTERS

// Slices per tile, counted from its nearest pixel; farther depths share the last slice.
const uint SLICES = 32u;

// Count that marks a cluster where every light is evaluated.
const uint ALL_LIGHTS = 0xffffffffu;

// Bit of the count of a cluster with a light cut: a list of lights (bits 0 to 15 of the count),
// followed by nodes of the light tree whose lights are sampled (bits 16 to 30).
const uint LIGHT_CUT = 0x80000000u;
// Maximum number of lights and nodes of a cut: that of the setting `passes.shadows.lights`.
const uint MAX_CUT = 32u;

// Slots of a cluster's lights, by which pixels of the cluster compare their shadow rays: suns, then
// the lights of the list. Lists beyond the last slot start at the first one again.
const uint LIGHT_SLOTS = MAX_CUT + 4u;
// Stands for the slot of sampled lights, of which pixels have different ones.
const uint SAMPLED_SLOT = 0xfffeu;

bool has_light_cut(uvec2 list) {
    return list.y != ALL_LIGHTS && (list.y & LIGHT_CUT) != 0u;
}

// Eight slices per octave of depth (m), from the bits of the float: exact, so that all passes
// agree.
uint depth_slice(float depth) {
    return floatBitsToUint(depth) >> 20;
}

#endif
