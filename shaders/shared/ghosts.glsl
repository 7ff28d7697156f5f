// Structs of the lens ghost passes. Lengths are in millimeters, wavelengths and film thicknesses in
// nanometers; vectors of three are red, green, blue.
#ifndef SHARED_GHOSTS
#define SHARED_GHOSTS
#extension GL_EXT_scalar_block_layout : require

// Constants of all lens ghost passes.
struct GhostConstants {
    // Wavelengths of the channels (nm).
    vec3 wavelength;
    // Number of lens surfaces.
    uint surfaces;
    // Luminance (nits) of a pixel per illuminance (lx) on the sensor.
    vec3 luminance;
    // Number of paths with two reflections.
    uint ghosts;
    // Half extents of the sensor area that the image shows.
    vec2 gate_half;
    // Radius of the disk, perpendicular to a beam, through which the beam enters.
    float front_radius;
    // z of the entrance disk's center.
    float front_z;
    // z of the sensor.
    float sensor_z;
    // Minimum softening of edges.
    float pixel;
    // Exposed luminance above which a ghost is drawn.
    float min_luminance;
    // Fraction of `min_luminance` down to which a drawn ghost is kept.
    float hysteresis;
    // Number of iris blades; below 3: circular iris.
    float blades;
    // Curvature of the iris blades.
    float curvature;
    // Angle of an iris corner (rad).
    float rotation;
    // 1: entrance axes are level, for lenses that are not round.
    uint level;
    // Capacity of the node buffer.
    uint node_capacity;
    // Capacity of the chunk buffer.
    uint chunk_capacity;
    // Capacity of the list of drawn ghosts.
    uint item_capacity;
    // Padding.
    uint pad0;
};

// Flag of a surface: curved along x.
const uint CURVED_X = 1u;
// Flag of a surface: curved along y.
const uint CURVED_Y = 2u;
// Flag of a surface: the aperture stop.
const uint STOP = 4u;

// Lens surface.
struct GhostSurface {
    // Refractive indices on the scene side.
    vec3 before;
    // z of the vertex.
    float vertex;
    // Refractive indices on the sensor side.
    vec3 after;
    // Curvature: one over the radius.
    float curvature;
    // Clear aperture radius.
    float radius;
    // Refractive index of the coating; 0: uncoated.
    float film_index;
    // Thickness of the coating (nm).
    float film;
    // Bits: `CURVED_X`, `CURVED_Y`, `STOP`.
    uint flags;
};

// Path with two reflections. Matrices are (a, b) along x and along y: sensor position as a function
// of height and slope at the entrance.
struct GhostPath {
    // Matrix of red.
    vec4 red;
    // Matrix of green.
    vec4 green;
    // Matrix of blue.
    vec4 blue;
    // Transmitted fraction of the light at normal incidence.
    vec3 part;
    // Radius at the entrance of an axial beam that passes all rims.
    float radius;
    // Index of the first reflecting surface.
    uint first;
    // Index of the second reflecting surface.
    uint second;
    // Index of its first surface crossing.
    uint crossing;
    // Number of surface crossings.
    uint crossings;
};

// Probe result of one source's ghost.
struct GhostProbe {
    // Entrance window: min and max corner.
    vec4 window;
    // Flux on the sensor over illuminance (mm^2), green.
    float flux;
    // Maximum exposed luminance over all channels.
    float peak;
    // Cells per side of its mesh.
    uint cells;
    // `GHOST_NONE`, `GHOST_MESH`, `GHOST_DISC` or `GHOST_OFFSCREEN`.
    uint state;
};

// No light passes.
const uint GHOST_NONE = 0u;
// The ghost is drawn as a mesh of rays.
const uint GHOST_MESH = 1u;
// Smaller than the source's own disk: drawn as a disk.
const uint GHOST_DISC = 2u;
// Outside the image.
const uint GHOST_OFFSCREEN = 3u;

// Ghost to draw.
struct GhostItem {
    // Entrance window: min and max corner.
    vec4 window;
    // Index in the source list.
    uint source;
    // Index of the path.
    uint ghost;
    // Cells per side of its mesh.
    uint cells;
    // State from the probe: `GHOST_MESH` or `GHOST_DISC`.
    uint state;
    // Index of its first node.
    uint node;
    // Index of its first chunk.
    uint chunk;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
};

// One color channel of a drawn ghost.
struct GhostLayer {
    // Half widths of the iris edges over the iris radius, at each crossing.
    vec3 iris_soft;
    // Number of iris crossings.
    uint crossings;
    // Center of a disk.
    vec2 center;
    // Radii of a disk along x and y.
    vec2 radius;
    // Illuminance scale that conserves the ghost's flux.
    float scale;
    // Half width of a disk's edge over its radius.
    float soft;
    // Padding.
    float pad0;
    // Upper bound on the illuminance.
    float cap;
};

// Mesh ray on the sensor.
struct GhostNode {
    // Position on the sensor.
    vec2 sensor_position;
    // Distance from the nearest rim in half widths of its edge, negative beyond the rim.
    float soft;
    // Distance from the axis over the rim radius, 1 at the rim.
    float hard;
    // Positions in the iris, pairs of half floats.
    uvec3 iris;
    // Illuminance over that perpendicular to the beam; negative: no ray.
    float light;
};

// Maximum number of sources that cause ghosts, brightest first.
const uint GHOST_SOURCES = 16u;
// Cells along a side of a chunk; an instance draws one chunk.
const uint CHUNK = 8u;
// Words of the report: ghosts drawn, dropped, off-screen, out of space; light drawn and dropped;
// sources with ghosts; bright sources of the frame.
const uint GHOST_REPORT_WORDS = 8u;

#endif
