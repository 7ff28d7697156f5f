// Structs of moving vertices that the host fills (src/passes/skin_shared.rs); a test compares every
// offset.
#ifndef SHARED_SKIN
#define SHARED_SKIN
#extension GL_EXT_scalar_block_layout : require

// A vertex as it was modelled.
struct BindPoseVertex {
    vec3 position;             // mesh's space (m)
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
    float weight;              // above 0; those of a vertex have the sum 1
};

// What a morph target adds to a vertex; vertices that a target does not move have none.
struct MorphOffset {
    vec3 position;             // m
    uint target;               // its weight's number
    vec3 normal;
    uint pad0;
    vec3 tangent;
    uint pad1;
};

struct SkinConstants {
    uint count;                // vertices
    uint rest;                 // first of the vertices as modelled
    uint target;               // first of the vertices that are written
    uint palette;              // first joint's matrix
    uint weights;              // first morph weight
    uint flags;                // SKIN_
};

const uint SKIN_FLAT = 1u;     // each triangle has its own vertices and normal
const uint SKIN_TANGENTS = 2u;

// Of a dispatch of the refit pass: one tree.
struct RefitConstants {
    uint leaf_count;
    uint leaves;               // first of them
    uint root;                 // first node
    uint links;                // first of its nodes' parents and arrivals
    uint triangles;            // first
    uint corners;              // first of its triangles' corners
    uint vertices;             // first of its primitive
    uint cost;                 // its words among the costs
    float scale;               // one over half the surface of its root when it was built
    uint flags;                // REFIT_
    uint nodes;
    uint levels;               // nodes on its longest way up
    vec3 x;                    // where flattened: columns of what vertices are put through
    vec3 y;
    vec3 z;
};

const uint REFIT_BAKED = 1u;

// An instance that moves between two moments.
struct Move {
    mat4 first;                // object space to the first moment's clip space
    mat4 last;
};

struct MoveConstants {
    uint first_move;           // of the draw's first instance
    uint first_instance;
    uint first_vertex;
    uint first_positions;      // of the draw's first vertex at the first moment, or NO_POSITIONS
    uint last_positions;
};

const uint NO_POSITIONS = 0xffffffffu; // vertices are where they are in the frame

#endif
