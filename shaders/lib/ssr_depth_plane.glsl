// Depth plane and thickness of a depth buffer pixel. The including shader declares `ssr`, and
// includes lib/ssr_constants.glsl before.
#ifndef LIB_SSR_PLANE
#define LIB_SSR_PLANE

// Depth at a pixel center and its slopes to the right and down. `across` and `down` hold the depth
// differences to both neighbors (left, right; above, below). The smaller one counts, since the
// other may belong to another surface. Projected depth is linear on a plane, so planes are exact.
vec3 depth_plane(ivec2 pixel, float z, vec2 across, vec2 down) {
    ivec2 last = ivec2(ssr.size) - 1;
    bool from_left = pixel.x == last.x || pixel.x > 0 && abs(across.x) < abs(across.y);
    bool from_above = pixel.y == last.y || pixel.y > 0 && abs(down.x) < abs(down.y);
    vec2 slope = vec2(from_left ? across.x : across.y, from_above ? down.x : down.y);
    // A feature one pixel wide has no neighbors of its own, so the slope is clamped.
    return vec3(z, clamp(slope, -0.5 * z, 0.5 * z));
}

// View distance (m) of a depth, as numerator and denominator: both are linear in depth.
vec2 far_of(float depth) {
    return ssr.far_terms.xy * depth + ssr.far_terms.zw;
}

// Depth of the back side of a pixel's surface, by its thickness. Negative beyond all depths.
float depth_behind(float depth) {
    if (depth <= 0.0) {
        return -1.0;
    }
    // Solves (a d + b) / (c d + e) = distance for the depth d.
    vec2 ac = ssr.far_terms.xy;
    vec2 be = ssr.far_terms.zw;
    vec2 part = ac * depth + be;
    float end = part.x / part.y * (1.0 + ssr.thickness);
    float slope = end * ac.y - ac.x;
    return slope != 0.0 ? (be.x - end * be.y) / slope : -1.0;
}

#endif
