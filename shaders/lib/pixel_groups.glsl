// Pixels of the work groups of a compute pass over the image: 64 invocations shade 8x8 pixels
// (src/passes/pixel_groups.rs dispatches them).
#ifndef LIB_PIXEL_GROUPS
#define LIB_PIXEL_GROUPS

layout(local_size_x = 64) in;

// Stride between consecutive rows of work groups; must match ROW_STRIDE of the host.
const uint GROUP_ROW_STRIDE = 8u;

// The invocation's pixel, which may lie outside of the image.
uvec2 group_pixel() {
    // Software drivers give each thread a contiguous part of the dispatch. A stride between rows of
    // work groups gives each thread a share of every part of the image.
    uint rows = gl_NumWorkGroups.y / GROUP_ROW_STRIDE;
    uvec2 group = uvec2(gl_WorkGroupID.x,
        gl_WorkGroupID.y % rows * GROUP_ROW_STRIDE + gl_WorkGroupID.y / rows);
    // Morton order keeps the invocations of a SIMD group close together in the image.
    uint code = gl_LocalInvocationIndex;
    return group * 8u + uvec2(code & 1u | code >> 1u & 2u | code >> 2u & 4u,
        code >> 1u & 1u | code >> 2u & 2u | code >> 3u & 4u);
}

// Whether a pixel lies outside of an image.
bool is_outside(ivec2 pixel, uvec2 size) {
    return any(greaterThanEqual(uvec2(pixel), size));
}

#endif
