// Structs of the lens ghost passes (src/passes/lens_ghosts_shared.rs); a test compares every
// offset. Lengths are in millimeters, wavelengths and film thicknesses in nanometers; vectors of
// three are red, green, blue.
#ifndef SHARED_GHOSTS
#define SHARED_GHOSTS
#extension GL_EXT_scalar_block_layout : require

struct GhostConstants {
    vec3 wavelength;
    uint surfaces;
    vec3 luminance;            // pixel luminance (nits) per lux on the sensor
    uint ghosts;
    vec2 gate_half;            // half extent of the image on the sensor
    float front_radius;        // radius of the entrance disk across a beam
    float front_z;             // z of the entrance disk's center
    float sensor_z;
    float pixel;               // minimum edge softness
    float min_luminance;               // minimum exposed luminance at which a ghost is drawn
    float hysteresis;          // fraction of that luminance down to which a drawn ghost stays
    float blades;              // of the iris; below 3: circular
    float curvature;           // of the blades
    float rotation;            // of an iris corner (rad)
    uint level;                // 1: entrance axes are level, for lenses that are not round
    uint node_capacity;
    uint chunk_capacity;
    uint item_capacity;
    uint pad0;
};

const uint CURVED_X = 1u;
const uint CURVED_Y = 2u;
const uint STOP = 4u;

struct GhostSurface {
    vec3 before;               // refractive indices on the scene side
    float vertex;              // z of the vertex
    vec3 after;                // refractive indices on the sensor side
    float curvature;
    float radius;              // of the clear aperture
    float film_index;          // 0: uncoated
    float film;                // film thickness (nm)
    uint flags;
};

// A light path with two reflections. Matrices are (a, b) along x and along y: sensor position as a
// function of height and slope at the entrance.
struct GhostPath {
    vec4 red;
    vec4 green;
    vec4 blue;
    vec3 part;                 // transmitted fraction of the light at normal incidence
    float radius;              // at the entrance, for an axial beam
    uint first;                // first reflecting surface
    uint second;               // second reflecting surface
    uint crossing;             // first entry in the crossings buffer
    uint crossings;
};

// Probe result of one ghost of one source.
struct GhostProbe {
    vec4 window;               // entrance window: min and max corner
    float flux;                // mm^2: sensor flux over illuminance, green
    float peak;                // maximum exposed luminance over the channels
    uint cells;                // mesh cells per side
    uint state;                // GHOST_ constants
};

const uint GHOST_NONE = 0u;    // no light passes
const uint GHOST_MESH = 1u;
const uint GHOST_DISC = 2u;    // smaller than the source's own disk: drawn as a disk
const uint GHOST_OFFSCREEN = 3u;  // outside the image

// A ghost to draw.
struct GhostItem {
    vec4 window;
    uint source;
    uint ghost;
    uint cells;
    uint state;
    uint node;                 // first node
    uint chunk;                // first chunk
    uint pad0;
    uint pad1;
};

// One color channel of a drawn ghost.
struct GhostLayer {
    // half widths of the iris edges over the iris radius, at each crossing
    vec3 iris_soft;
    uint crossings;            // crossings of the iris
    vec2 center;               // of a disk
    vec2 radius;
    float scale;               // illuminance scale that conserves the ghost's flux
    float soft;                // half width of the disk's edge over its radius
    float pad0;
    float cap;                 // maximum illuminance
};

// A mesh ray on the sensor.
struct GhostNode {
    vec2 sensor_position;                // sensor position
    // distance from the nearest rim in half widths of its edge, negative beyond the rim
    float soft;
    float hard;                // distance from the axis over the rim radius, 1 at the rim
    uvec3 iris;                // iris positions, pairs of half floats
    float light;               // illuminance over that across the beam; negative: no ray
};

// Maximum number of sources that cause ghosts, brightest first.
const uint GHOST_SOURCES = 16u;
// Cells along a side of a chunk; an instance draws one chunk.
const uint CHUNK = 8u;
// Words of the report: ghosts drawn, dropped, off-screen, out of space; light drawn and dropped;
// sources.
const uint REPORT_WORDS = 8u;

float ghost_luminance(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }

#endif
