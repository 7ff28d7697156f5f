// Weights of local probes at a position relative to the camera. The including shader declares the
// probes.
#ifndef LIB_PROBES
#define LIB_PROBES

// Weight of a probe at a position, 0 to 1; a box without blend distance has full weight inside.
float probe_weight(Probe probe, vec3 position) {
    vec3 inside = probe.half_size - abs(position - probe.center);
    float nearest = min(inside.x, min(inside.y, inside.z));
    // Walls at the faces of the box count as inside.
    return probe.blend > 0.0 ? clamp(nearest / probe.blend, 0.0, 1.0)
        : float(nearest > -probe.margin);
}

// Whether a position is on or beyond a wall of the box: nothing inside the box occludes the wall.
bool probe_wall(Probe probe, vec3 position) {
    vec3 inside = probe.half_size - abs(position - probe.center);
    return min(inside.x, min(inside.y, inside.z)) < probe.margin;
}

#endif
