// Counters of limits that act in a frame (docs/ARCHITECTURE.md).
#ifndef SHARED_LIMITS
#define SHARED_LIMITS
#extension GL_EXT_scalar_block_layout : require

// Counters of limits that act in a frame; 0 where none does.
struct LimitCounters {
    // Values of light that exceed the half-float range and are clamped: a pixel counts once for
    // each pass and each blended surface whose result exceeds it.
    uint clamped_values;
    // Points of refracting surfaces, one for each drawn surface of a pixel, whose paths exceed the
    // maximum number of rays, or of waiting paths.
    uint refraction_points;
    // Reflection paths of indirect light that end at the maximum number of surfaces.
    uint mirror_paths;
    // Rays of indirect light that end at a clear pane, after the maximum number of panes.
    uint pane_rays;
    // Sources whose image is too large for starbursts, with spikes that would be visible.
    uint large_flare_sources;
};

#endif
