// Which place is in a probe's box. The including shader declares the probes.
#ifndef LIB_PROBES
#define LIB_PROBES

// How much a probe lights a place, 0 to 1: all of it where its box has no border to fade in.
float probe_weight(Probe probe, vec3 position) {
    vec3 inside = probe.half_size - abs(position - probe.center);
    float nearest = min(inside.x, min(inside.y, inside.z));
    // Walls that the box ends at are in it.
    return probe.blend > 0.0 ? clamp(nearest / probe.blend, 0.0, 1.0) : float(nearest > -probe.margin);
}

// Whether a place is a wall of a probe's box, or beyond it: what a probe holds hides nothing of it.
bool probe_wall(Probe probe, vec3 position) {
    vec3 inside = probe.half_size - abs(position - probe.center);
    return min(inside.x, min(inside.y, inside.z)) < probe.margin;
}

#endif
