// Depth plane and thickness of a depth buffer pixel. The including shader declares `ssr`, and
// includes lib/ssr_constants.glsl before.
#ifndef LIB_SSR_PLANE
#define LIB_SSR_PLANE

// View distance (m) of a depth, as numerator and denominator: both are linear in depth.
vec2 far_of(float depth) {
    return ssr.far_terms.xy * depth + ssr.far_terms.zw;
}

// Maximum slope of a surface that is in front of, or behind, both of its neighbors, in pixel
// widths per pixel: an angle of incidence of 76 degrees.
const float STEEP = 4.0;

// Slope of depth along an axis from the differences to both neighbors. The smaller one counts,
// since the other neighbor may belong to another surface. Where both do, the surface is `thin` and
// the slope is 0: a lamp one pixel wide would else span all depths up to those of its background.
float depth_slope(float z, vec2 differences, bool from_first, inout bool thin) {
    float slope = from_first ? differences.x : differences.y;
    vec2 here = far_of(z), there = far_of(z + (from_first ? -slope : slope));
    bool jumps = abs(there.x * here.y - here.x * there.y) > STEEP * ssr.pixel * abs(there.y);
    bool alone = differences.x * differences.y < 0.0 && jumps;
    thin = thin || alone;
    return alone ? 0.0 : slope;
}

// Depth at a pixel center and its slopes to the right and down. `across` and `down` hold the depth
// differences to both neighbors (left, right; above, below). Projected depth is linear on a plane,
// so planes are exact. `thickness` of the surface, as a fraction of its distance: a feature one
// pixel wide is taken to be one pixel deep.
vec3 depth_plane(ivec2 pixel, float z, vec2 across, vec2 down, out float thickness) {
    ivec2 last = ivec2(ssr.size) - 1;
    bool from_left = pixel.x == last.x || pixel.x > 0 && abs(across.x) < abs(across.y);
    bool from_above = pixel.y == last.y || pixel.y > 0 && abs(down.x) < abs(down.y);
    bool thin = false;
    float right = depth_slope(z, across, from_left, thin);
    float below = depth_slope(z, down, from_above, thin);
    thickness = thin ? min(ssr.thickness, ssr.pixel / max(far_of(z).x, 1e-12)) : ssr.thickness;
    return vec3(z, clamp(vec2(right, below), -0.5 * z, 0.5 * z));
}

// Depth of the back side of a surface of this thickness. Negative beyond all depths.
float depth_behind(float depth, float thickness) {
    if (depth <= 0.0) {
        return -1.0;
    }
    // Solves (a d + b) / (c d + e) = distance for the depth d.
    vec2 ac = ssr.far_terms.xy;
    vec2 be = ssr.far_terms.zw;
    vec2 part = ac * depth + be;
    float end = part.x / part.y * (1.0 + thickness);
    float slope = end * ac.y - ac.x;
    return slope != 0.0 ? (be.x - end * be.y) / slope : -1.0;
}

#endif
