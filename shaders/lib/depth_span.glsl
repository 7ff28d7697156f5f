// Accuracy of positions from the depth buffer. lib/gbuffer.glsl comes before it.
#ifndef LIB_DEPTH_SPAN
#define LIB_DEPTH_SPAN

// Accuracy (m) of a pixel's position along its view ray. The depth buffer is accurate to a few ulp:
// of the depth, and of 1 where the driver interpolates.
float depth_span(ivec2 pixel, float depth, vec3 position) {
    return distance(position, position_at(pixel, depth * (1.0 - 6e-5) - 2.4e-7));
}

#endif
