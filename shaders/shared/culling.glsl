// GPU culling structs, filled by src/passes/culling_shared.rs.
#ifndef SHARED_CULLING
#define SHARED_CULLING
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_samplerless_texture_functions : require

// World transform and bounds of one mesh instance.
struct InstanceTransform {
    vec3 high;                 // translation: nearest floats
    float radius;              // of the bounding sphere (m)
    vec3 low;                  // translation: remainder of high
    uint bucket;               // index of its CullBucket
    vec3 offset;               // from the translation to the center of the bounding sphere
    float stretch;             // maximum length scale from object space to world space
    vec3 axis_x;               // columns of the linear part
    vec3 axis_y;
    vec3 axis_z;
    vec3 normal_x;             // columns of the normal matrix
    vec3 normal_y;
    vec3 normal_z;
    float handedness;          // +1 or -1
    uint pad0;
};

// Instances of one mesh with one handedness, contiguous in the instance array.
struct CullBucket {
    uint first;                // first instance
    uint end;                  // one past the last instance
    int vertex_offset;
    uint flags;                // BUCKET_
    vec3 center;               // of the mesh's bounding box, object space
    uint levels;               // levels of detail
    vec3 half_size;
    uint pad0;
    uvec4 first_index;         // of each level of detail
    uvec4 index_count;
    vec4 error;                // of each level of detail, object space
};

const uint BUCKET_OCCLUDES = 1u;

struct CullConstants {
    mat4 view_projection;      // camera-relative world to clip space
    vec4 planes[5];            // of the view frustum, inward unit normals
    vec3 camera_high;          // camera position: nearest floats
    uint placements;           // instance count
    vec3 camera_low;           // camera position: remainder of camera_high
    uint buckets;              // bucket count
    vec3 forward;              // unit view direction
    uint levels;               // draw commands per bucket
    uvec2 size;                // of the image (pixels)
    // pixels that an object error of 1 m covers at distance 1 m, over the allowed error; 0: no LOD
    float error_scale;
    uint parallel;             // 1: a parallel projection
    // start of each level of the depth pyramid; level 0 is the depth image
    uint level_offset[12];
};

#endif
