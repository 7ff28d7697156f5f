// Structs of pass `rays`, filled by src/passes/rays.rs; a test compares every offset.
#ifndef SHARED_RAYS
#define SHARED_RAYS

// A ray from the host, relative to the origin of the TLAS.
struct TraceRay {
    vec3 origin;
    float reach;       // maximum t (exclusive), in units of the direction
    vec3 direction;
    uint any;          // 1: any-hit query among shadow casters, first found hit
    vec3 offset_normal;         // unit normal of the surface at the ray origin, or zero
    uint pad0;
};

// Hit of a ray: t, instance index or NONE, and triangle index.
struct TraceHit {
    float t;
    uint instance;
    vec2 barycentric;  // weights of the second and third vertex
    uint triangle;
};

#endif
