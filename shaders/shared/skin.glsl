// Structs of skinning, morphing and BVH refit.
#ifndef SHARED_SKIN
#define SHARED_SKIN
#extension GL_EXT_scalar_block_layout : require

// Vertex in the bind pose.
struct BindPoseVertex {
    // Position in mesh space (m).
    vec3 position;
    // Index of its first influence.
    uint first_influence;
    // Unit normal.
    vec3 normal;
    // Index of its first morph target offset.
    uint first_morph;
    // Unit tangent; w: handedness.
    vec4 tangent;
    // Number of joints that influence it.
    uint influence_count;
    // Number of morph targets that move it.
    uint morph_count;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
};

// Joint influence on a vertex.
struct Influence {
    // Joint index in the skin.
    uint joint;
    // Positive; the weights of a vertex sum to 1.
    float weight;
};

// Offset of a morph target for one vertex; vertices that a target does not move have none.
struct MorphOffset {
    // Position offset (m).
    vec3 position;
    // Index of its weight.
    uint target;
    // Normal offset.
    vec3 normal;
    // Padding.
    uint pad0;
    // Tangent offset.
    vec3 tangent;
    // Padding.
    uint pad1;
};

// Constants of a skinning dispatch.
struct SkinConstants {
    // Number of vertices.
    uint count;
    // First bind-pose vertex.
    uint rest;
    // First output vertex.
    uint target;
    // Matrix of the first joint.
    uint palette;
    // First morph weight.
    uint weights;
    // Bits: `SKIN_FLAT`, `SKIN_TANGENTS`.
    uint flags;
};

// Each triangle has its own vertices and a flat normal.
const uint SKIN_FLAT = 1u;
// Tangents are deformed too.
const uint SKIN_TANGENTS = 2u;

// Constants of a refit dispatch: one BLAS.
struct RefitConstants {
    // Number of leaves.
    uint leaf_count;
    // First leaf.
    uint leaves;
    // First node.
    uint root;
    // First entry of its nodes' parents and arrival counters.
    uint links;
    // First triangle.
    uint triangles;
    // First corner of its triangles.
    uint corners;
    // First vertex of its primitive.
    uint vertices;
    // Offset of its words in the costs.
    uint cost;
    // One over half the surface area of the root at build time.
    float scale;
    // Bits: `REFIT_BAKED`.
    uint flags;
    // Number of nodes.
    uint nodes;
    // Nodes on the longest path to the root.
    uint levels;
    // With `REFIT_BAKED`: first column of the vertex transform.
    vec3 x;
    // With `REFIT_BAKED`: second column.
    vec3 y;
    // With `REFIT_BAKED`: third column.
    vec3 z;
};

// The BLAS is baked: vertices are transformed by `x`, `y` and `z`.
const uint REFIT_BAKED = 1u;

// Motion of an instance between two times.
struct Move {
    // Object space to clip space at the first time.
    mat4 first;
    // Object space to clip space at the last time.
    mat4 last;
};

// Constants of a draw of moving instances.
struct MoveConstants {
    // Index of the `Move` of the draw's first instance.
    uint first_move;
    // First instance of the draw.
    uint first_instance;
    // First vertex of the draw.
    uint first_vertex;
    // Position of the first vertex at the first time, or `NO_POSITIONS`.
    uint first_positions;
    // Position of the first vertex at the last time, or `NO_POSITIONS`.
    uint last_positions;
};

// No deformed positions: vertices are at their current positions.
const uint NO_POSITIONS = 0xffffffffu;

#endif
