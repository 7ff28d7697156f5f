// Structs of the ray passes.
#ifndef SHARED_RAYS
#define SHARED_RAYS
#extension GL_EXT_scalar_block_layout : require

// Ray, relative to the origin of the TLAS.
struct TraceRay {
    // Origin (m).
    vec3 origin;
    // Maximum distance, exclusive, in units of the direction's length. A ray whose reach is not
    // above 0 is not traced and hits nothing; with `OCCLUDED_REACH`, any-hit queries hit at 0.
    float reach;
    // Direction.
    vec3 direction;
    // Unit normal of the surface at the origin, or zero.
    vec3 offset_normal;
};

// Reach of a ray that is occluded in any case.
const float OCCLUDED_REACH = -1.0;

// Closest hit of a ray.
struct TraceHit {
    // Hit distance in units of the direction's length.
    float t;
    // Instance index; `bvh::NONE` for a miss.
    uint instance;
    // Barycentric weights of the second and third vertex.
    vec2 barycentric;
    // Triangle index; 0 for a miss.
    uint triangle;
};

// Order of the rays in a buffer.
struct RayGridConstants {
    // Rays of a row. Without rows: all rays, traced in order.
    uint width;
    // Rows of each layer, or 0. Work groups trace tiles of 8x8 rays of one layer.
    uint rows;
};

// Constants of passes that write or read the shadow rays of a band of rows.
struct ShadowRayBandConstants {
    // First row of pixels.
    uint first_row;
    // Number of rows.
    uint rows;
    // Shadow rays of a pixel. Ray k of a pixel is `(k rows + y - first_row) width + x`.
    uint rays;
    // 1: lights may be sampled. After the losses of the rays come the estimated light of the
    // sampled lights, minus what their samples give.
    uint sampled;
    // Factor on the estimated light of sampled lights; above 1, lost fractions are not negative.
    float headroom;
};

#endif
