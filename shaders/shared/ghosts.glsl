// Structs of the ghosts' passes (src/passes/lens_ghosts_shared.rs); a test compares every offset.
// Lengths are in millimetres, wavelengths and films in nanometres; vectors of three are red, green,
// blue.
#ifndef SHARED_GHOSTS
#define SHARED_GHOSTS
#extension GL_EXT_scalar_block_layout : require

struct GhostConstants {
    vec3 wavelength;
    uint surfaces;
    vec3 luminance;            // nit that a pixel means per lux that falls on the sensor
    uint ghosts;
    vec2 gate_half;            // half of the sensor's part that the picture shows
    float front_radius;        // of the disc across a beam through which it enters
    float front_z;             // of its middle
    float sensor_z;
    float pixel;               // by which edges are softened at least
    float least;               // exposed luminance from which a ghost is drawn
    float hysteresis;          // part of that down to which it stays
    float blades;              // of the iris; below 3 is a circle
    float curvature;           // of the blades
    float rotation;            // of a corner (rad)
    uint level;                // 1: entrance planes lie level, for lenses that are not round
    uint node_capacity;
    uint chunk_capacity;
    uint item_capacity;
    uint pad0;
};

const uint CURVED_X = 1u;
const uint CURVED_Y = 2u;
const uint STOP = 4u;

struct GhostSurface {
    vec3 before;               // indices of the medium on the scene's side
    float vertex;              // z
    vec3 after;                // and on the sensor's
    float curvature;
    float radius;              // of the clear opening
    float film_index;          // 0: bare
    float film;                // its thickness
    uint flags;
};

// A path with two reflections; matrices as (a, b) along x and along y: place on the sensor by
// height and slope at the entrance.
struct GhostPath {
    vec4 red;
    vec4 green;
    vec4 blue;
    vec3 part;                 // of the light, at normal incidence
    float radius;              // at the entrance, on the axis
    uint first;                // the surface that reflects first
    uint second;
    uint crossing;             // its first crossing
    uint crossings;
};

// What was found of a source's ghost.
struct GhostProbe {
    vec4 window;               // of the entrance: least and greatest corner
    float flux;                // mm^2: light over illuminance, green
    float peak;                // greatest exposed luminance in any channel
    uint cells;                // along a side of its mesh
    uint state;                // GHOST_ constants
};

const uint GHOST_NONE = 0u;    // nothing gets through
const uint GHOST_MESH = 1u;
const uint GHOST_DISC = 2u;    // smaller than the source's own disc: drawn as that
const uint GHOST_OFFSCREEN = 3u;  // no part of it falls on the picture

// A ghost that is drawn.
struct GhostItem {
    vec4 window;
    uint source;
    uint ghost;
    uint cells;
    uint state;
    uint node;                 // the first of its nodes
    uint chunk;                // the first of its chunks
    uint pad0;
    uint pad1;
};

// A channel of a ghost that is drawn.
struct GhostLayer {
    vec3 iris_soft;            // half widths of the iris' edges over its radius, at each crossing
    uint crossings;            // of the iris
    vec2 center;               // of a disc
    vec2 radius;
    float scale;               // of its illuminance, so that its light is right
    float soft;                // half width of a disc's edge over its radius
    float pad0;
    float cap;                 // illuminance that no place exceeds
};

// A ray of a mesh on the sensor.
struct GhostNode {
    vec2 place;
    float soft;                // distance from the nearest rim in half widths of its edge, below 0 beyond it
    float hard;                // distance from the axis over the rim's, 1 at the rim
    uvec3 iris;                // places in the iris, pairs of half floats
    float light;               // illuminance over that across the beam; below 0: no ray
};

// Sources that make ghosts, the brightest first.
const uint GHOST_SOURCES = 16u;
// Cells along a side of a chunk: what an instance draws.
const uint CHUNK = 8u;
// Of the report: ghosts drawn, dropped, beside the picture, without room; then light drawn and
// dropped; then sources.
const uint REPORT_WORDS = 8u;

float ghost_luminance(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }

#endif
