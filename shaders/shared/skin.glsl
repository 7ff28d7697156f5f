// Skinning, morphing and BVH refit structs, filled by src/passes/skin_shared.rs; a test compares
// every offset.
#ifndef SHARED_SKIN
#define SHARED_SKIN
#extension GL_EXT_scalar_block_layout : require

// A vertex in the bind pose.
struct BindPoseVertex {
    vec3 position;             // object space (m)
    uint first_influence;
    vec3 normal;               // unit
    uint first_morph;
    vec4 tangent;              // w: handedness
    uint influence_count;
    uint morph_count;
    uint pad0;
    uint pad1;
};

struct Influence {
    uint joint;                // of the skin
    float weight;              // positive; the weights of a vertex sum to 1
};

// Offset of a morph target for one vertex; vertices that a target does not move have none.
struct MorphOffset {
    vec3 position;             // m
    uint target;               // index of its weight
    vec3 normal;
    uint pad0;
    vec3 tangent;
    uint pad1;
};

struct SkinConstants {
    uint count;                // vertices
    uint rest;                 // first bind-pose vertex
    uint target;               // first output vertex
    uint palette;              // matrix of the first joint
    uint weights;              // first morph weight
    uint flags;                // SKIN_
};

const uint SKIN_FLAT = 1u;     // each triangle has its own vertices and a flat normal
const uint SKIN_TANGENTS = 2u;

// Constants of one refit dispatch: one BLAS.
struct RefitConstants {
    uint leaf_count;
    uint leaves;               // first leaf
    uint root;                 // first node
    uint links;                // first entry of its nodes' parents and arrival counters
    uint triangles;            // first triangle
    uint corners;              // first corner of its triangles
    uint vertices;             // first vertex of its primitive
    uint cost;                 // its words in the cost buffer
    float scale;               // one over half the surface area of the root at build time
    uint flags;                // REFIT_
    uint nodes;
    uint levels;               // nodes on the longest path to the root
    vec3 x;                    // baked meshes: columns of the vertex transform
    vec3 y;
    vec3 z;
};

const uint REFIT_BAKED = 1u;

// Motion of an instance between two times.
struct Move {
    mat4 first;                // object space to clip space at the first time
    mat4 last;                 // object space to clip space at the last time
};

struct MoveConstants {
    uint first_move;           // for the first instance of the draw
    uint first_instance;
    uint first_vertex;
    // position of the draw's first vertex at the first time, or NO_POSITIONS
    uint first_positions;
    uint last_positions;       // likewise at the last time
};

const uint NO_POSITIONS = 0xffffffffu; // vertices are at their current positions

#endif
