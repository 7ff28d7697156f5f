// Structs of GPU culling.
#ifndef SHARED_CULLING
#define SHARED_CULLING
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_samplerless_texture_functions : require

// Instance of a mesh, in the world. The translation is split into two vectors, so that its
// difference to the camera position is exact far from the origin.
struct InstanceTransform {
    // Translation, high part: nearest floats (m).
    vec3 high;
    // Radius of the bounding sphere (m).
    float radius;
    // Translation, low part: remainder (m).
    vec3 low;
    // Index of its bucket.
    uint bucket;
    // From the translation to the bounding sphere's center (m).
    vec3 offset;
    // Upper bound on the scale of any object-space length.
    float stretch;
    // First column of the linear part.
    vec3 axis_x;
    // Second column of the linear part.
    vec3 axis_y;
    // Third column of the linear part.
    vec3 axis_z;
    // First column of the normal transform.
    vec3 normal_x;
    // Second column of the normal transform.
    vec3 normal_y;
    // Third column of the normal transform.
    vec3 normal_z;
    // +1, or -1 if the transform mirrors.
    float handedness;
    // Padding.
    uint pad0;
};

// Instances of one mesh with one handedness, contiguous in the instance array.
struct CullBucket {
    // First instance.
    uint first;
    // One past the last instance.
    uint end;
    // Vertex offset of the draw.
    int vertex_offset;
    // Bits: `BUCKET_OCCLUDES`.
    uint flags;
    // Center of the mesh's bounding box, object space.
    vec3 center;
    // Number of levels of detail, at least 1.
    uint levels;
    // Half extents of the bounding box, object space.
    vec3 half_size;
    // Padding.
    uint pad0;
    // First index of each level of detail.
    uvec4 first_index;
    // Index count of each level of detail.
    uvec4 index_count;
    // Geometric error of each level of detail, object space.
    vec4 error;
};

// The bucket occludes: it is neither alpha-tested nor blended.
const uint BUCKET_OCCLUDES = 1u;

// Constants of the culling passes.
struct CullConstants {
    // Camera-relative world to clip space.
    mat4 view_projection;
    // Frustum planes with inward unit normals.
    vec4 planes[5];
    // Camera position in the world, high part: nearest floats (m).
    vec3 camera_high;
    // Number of instances.
    uint placements;
    // Camera position in the world, low part: remainder (m).
    vec3 camera_low;
    // Number of buckets.
    uint buckets;
    // View direction (unit).
    vec3 forward;
    // Draw commands per bucket.
    uint levels;
    // Image size (pixels).
    uvec2 size;
    // Pixels per meter at a distance of 1 m over the allowed error in pixels; 0: finest level only.
    float error_scale;
    // 1: orthographic projection.
    uint parallel;
    // Offset of each level of the depth pyramid; level 0 is the depth image itself.
    uint level_offset[12];
};

#endif
