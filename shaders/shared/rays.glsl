// Structs of pass `rays`.
#ifndef SHARED_RAYS
#define SHARED_RAYS

// Ray from the host, relative to the origin of the TLAS.
struct TraceRay {
    // Origin (m).
    vec3 origin;
    // Maximum distance, exclusive, in units of the direction's length.
    float reach;
    // Direction.
    vec3 direction;
    // 1: any-hit query among shadow casters, first found hit.
    uint any;
    // Unit normal of the surface at the origin, or zero.
    vec3 offset_normal;
    // Padding.
    uint pad0;
};

// Hit of a ray.
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

#endif
