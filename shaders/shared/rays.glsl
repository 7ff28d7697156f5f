// Structs that the host fills (src/passes/rays.rs); a test compares every offset.
#ifndef SHARED_RAYS
#define SHARED_RAYS

// A ray of the host's, relative to what the upper tree was made for.
struct TraceRay {
    vec3 origin;
    float reach;       // hits at or beyond this are none, in units of the direction
    vec3 direction;
    uint any;          // 1: whichever hit is found first of what casts shadows
    vec3 away;         // unit normal of the surface that it leaves, or zero
    uint pad0;
};

// What it met: where, which instance, or NONE, and which triangle.
struct TraceHit {
    float t;
    uint instance;
    vec2 barycentric;  // weights of the second and third vertex
    uint triangle;
};

#endif
