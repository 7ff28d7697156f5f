// A pixel's depth as a plane. The including shader declares `depth_image` and `ssr`.
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

#endif
