// A pixel's depth as a plane, and how thick it is. The including shader declares `ssr`, and
// includes lib/flat_constants.glsl before.
#ifndef LIB_SSR_PLANE
#define LIB_SSR_PLANE

// Depth at a pixel's centre, and its change a pixel right and down: of both neighbours (what
// changes from the left one, to the right one; from the one above, to the one below) that whose
// depth differs less, for the other may be of another surface. Depth after division is linear in
// the picture on a plane, so planes are exact.
vec3 depth_plane(ivec2 pixel, float z, vec2 across, vec2 down) {
    ivec2 last = ivec2(ssr.size) - 1;
    bool from_left = pixel.x == last.x || pixel.x > 0 && abs(across.x) < abs(across.y);
    bool from_above = pixel.y == last.y || pixel.y > 0 && abs(down.x) < abs(down.y);
    vec2 slope = vec2(from_left ? across.x : across.y, from_above ? down.x : down.y);
    // Something a pixel wide has no neighbours of its own.
    return vec3(z, clamp(slope, -0.5 * z, 0.5 * z));
}

// Distance along the line of sight (m) of a depth, as a fraction: both parts are linear in depth.
vec2 far_of(float depth) {
    return far_terms.xy * depth + far_terms.zw;
}

// The depth at which what is seen at this one ends: farther by its thickness. Below 0 where that is
// beyond all depths.
float depth_behind(float depth) {
    if (depth <= 0.0) {
        return -1.0;
    }
    // The depth d at which (a d + b) / (c d + e) is this distance.
    vec2 ac = far_terms.xy;
    vec2 be = far_terms.zw;
    vec2 part = ac * depth + be;
    float end = part.x / part.y * (1.0 + ssr.thickness);
    float slope = end * ac.y - ac.x;
    return slope != 0.0 ? (be.x - end * be.y) / slope : -1.0;
}

#endif
