// A pixel's depth as a plane, and how thick it is. The including shader declares `depth_image`, `frame` and `ssr`.
#ifndef LIB_SSR_PLANE
#define LIB_SSR_PLANE

// Depth at a pixel's centre, and its change a pixel right and down: of both neighbours that whose depth differs less, for
// the other may be of another surface. Depth after division is linear in the picture on a plane, so planes are exact.
vec3 depth_plane(ivec2 pixel) {
    ivec2 last = ivec2(ssr.size) - 1;
    float z = texelFetch(depth_image, pixel, 0).x;
    float left = z - texelFetch(depth_image, max(pixel - ivec2(1, 0), ivec2(0)), 0).x;
    float right = texelFetch(depth_image, min(pixel + ivec2(1, 0), last), 0).x - z;
    float up = z - texelFetch(depth_image, max(pixel - ivec2(0, 1), ivec2(0)), 0).x;
    float down = texelFetch(depth_image, min(pixel + ivec2(0, 1), last), 0).x - z;
    bool from_left = pixel.x == last.x || pixel.x > 0 && abs(left) < abs(right);
    bool from_above = pixel.y == last.y || pixel.y > 0 && abs(up) < abs(down);
    vec2 slope = vec2(from_left ? left : right, from_above ? up : down);
    // Something a pixel wide has no neighbours of its own.
    return vec3(z, clamp(slope, -0.5 * z, 0.5 * z));
}

// Distance along the line of sight (m) of a depth, as a fraction: both parts are linear in depth.
vec2 far_of(float depth) {
    mat4 m = frame.inverse_projection;
    return vec2(dot(m[2].xyz, frame.forward.xyz), m[2].w) * depth + vec2(dot(m[3].xyz, frame.forward.xyz), m[3].w);
}

// The depth at which what is seen at this one ends: farther by its thickness. Below 0 where that is beyond all depths.
float depth_behind(float depth) {
    if (depth <= 0.0) {
        return -1.0;
    }
    // The depth d at which (a d + b) / (c d + e) is this distance.
    mat4 m = frame.inverse_projection;
    vec2 ac = vec2(dot(m[2].xyz, frame.forward.xyz), m[2].w);
    vec2 be = vec2(dot(m[3].xyz, frame.forward.xyz), m[3].w);
    vec2 part = ac * depth + be;
    float end = part.x / part.y * (1.0 + ssr.thickness);
    float slope = end * ac.y - ac.x;
    return slope != 0.0 ? (be.x - end * be.y) / slope : -1.0;
}

#endif
