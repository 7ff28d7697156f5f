// Structs of culling that the host fills (src/passes/culling_shared.rs).
#ifndef SHARED_CULLING
#define SHARED_CULLING
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_samplerless_texture_functions : require

// A mesh in its place, in the world.
struct InstanceTransform {
    vec3 high;                 // translation: the nearest floats, and
    float radius;              // of a sphere around it (m)
    vec3 low;                  // what these leave
    uint bucket;               // to which it belongs
    vec3 offset;               // from the translation to the sphere's centre
    float stretch;             // no length in object space becomes longer than this times it
    vec3 axis_x;               // columns of the linear part
    vec3 axis_y;
    vec3 axis_z;
    vec3 normal_x;             // columns of the normals' transform
    vec3 normal_y;
    vec3 normal_z;
    float handedness;          // +1 or -1
    uint pad0;
};

// Placements of one mesh and one handedness, which follow each other.
struct CullBucket {
    uint first;                // its placements
    uint end;
    int vertex_offset;
    uint flags;                // BUCKET_
    vec3 center;               // of a box around the mesh, object space
    uint levels;               // of detail
    vec3 half_size;
    uint pad0;
    uvec4 first_index;         // of each level
    uvec4 index_count;
    vec4 error;                // of each level, object space
};

const uint BUCKET_OCCLUDES = 1u;

struct CullConstants {
    mat4 view_projection;      // camera-relative world to clip space
    vec4 planes[5];            // of the view, inward unit normals
    vec3 camera_high;          // where the camera stands: the nearest floats, and
    uint placements;           // how many
    vec3 camera_low;           // what these leave
    uint buckets;              // how many
    vec3 forward;              // line of sight
    uint levels;               // draw commands a bucket
    uvec2 size;                // of the picture (pixels)
    float error_scale;         // pixels an object error of 1 m takes at distance 1 m, over those that may be; 0: no levels
    uint parallel;             // 1: a parallel projection
    uint level_offset[12];     // where each level of the depth pyramid begins; level 0 is the depth image
};

#endif
