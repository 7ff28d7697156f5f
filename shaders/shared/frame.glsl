// Frame, light, BVH, material and environment structs (src/passes/shared.rs); a test compares every
// offset.
#ifndef SHARED_FRAME
#define SHARED_FRAME
#extension GL_EXT_scalar_block_layout : require

// Positions are relative to the camera, in world axes, for precision near the camera.
struct FrameConstants {
    mat4 view_projection;      // to clip space, reversed depth: 1 near, 0 far
    mat4 inverse_projection;   // clip space to camera-relative world
    vec4 forward;              // unit view direction; w = 1 for a parallel projection
    uvec2 size;                // pixels
    uvec2 tiles;               // tile count of the clustered lights
    float pre_exposure;        // nits to stored values
    uint directional_count;    // lights [0, this) are directional
    uint light_count;          // all lights
    uint list_capacity;        // capacity of all light lists together (entries)
    // maximum summed contribution of culled lights as a fraction of white; 0 culls none
    float cull_threshold;
    uint node_count;           // light tree nodes
    uint shadow_method;        // SHADOWS_
    uint shadow_samples;       // shadow rays per area light
    float history_scale;       // last frame's pre-exposed values to this frame's exposure
    // pre-exposed values to the smoothed exposure at which histories are compared
    float smoothed_exposure_scale;
    // scale of texture derivatives: below 1 where several frames accumulate
    float texture_scale;
    float noise_shift;         // offset of the pixel that seeds noise
    uint bits;                 // FRAME_
    uint multi_scatter;        // 1: multiple-scattering compensation of specular lobes
    uint probe_count;          // local probes
    uint water_count;          // waters
    // Per water, at most eight (src/passes/scene_data/water.rs).
    vec4 water_extent[8];      // covered area: min x and z, max x and z, relative to the camera
    vec4 water_medium[8];      // extinction (1/m by channel); surface height relative to the camera
    vec4 water_scatter[8];     // scattering (1/m by channel)
    vec4 water_flow[8];        // camera-relative x and z to flow map coordinates: offset, scale
    vec4 water_ripple[8];      // ripples: offset (tiles), tiles per meter, cycles modulo 4
    // full speed (m/s), period (s), ripple slope scale at rest and at full speed
    vec4 water_motion[8];
    // foam amount; shore foam depth (m); depth over which the surface fades in (m)
    vec4 water_foam[8];
    vec4 water_foam_offset[8]; // foam offset (tiles), tiles per meter
    // mean diffuse reflectance of the bed; slope deviation of unresolved ripples
    vec4 water_bed[8];
    // caustics: texels along x, along z, first texel as 4096s and remainder; 0: none
    vec4 water_caustics[8];
};

// Ambient occlusion is available (pass `ao`).
const uint FRAME_AO = 1u;
// Multi-bounce approximation of ambient occlusion.
const uint FRAME_MULTI_BOUNCE_AO = 2u;
// Probe capture: light emitters are invisible, since lights illuminate surfaces directly.
const uint FRAME_PROBE_CAPTURE = 4u;
// Screen-space reflection passes add the environment's specular reflection.
const uint FRAME_SSR = 8u;
// Global illumination passes compute diffuse environment light.
const uint FRAME_GI_DIFFUSE = 16u;
// Global illumination passes compute specular environment light.
const uint FRAME_GI_SPECULAR = 32u;
// Light meter image: unlit surfaces, which ignore exposure, are black.
const uint FRAME_METERING = 64u;
// The forward pass lights some pixels.
const uint FRAME_FORWARD = 128u;

const uint SHADOWS_OFF = 0u;
const uint SHADOWS_MAPS = 1u;
const uint SHADOWS_RAY_TRACED = 2u;

struct Light {
    // relative to the camera; directional: unit direction to the center of its disk
    vec3 position;
    float inverse_range2;      // 1/range^2 of the glTF distance window; 0: none
    vec3 intensity;            // by channel: candela (point, spot), lux (directional), nits (area)
    float spot_scale;          // glTF cone: clamp(cos * scale + offset)^2; 0 and 1 for point lights
    vec3 direction;            // unit emission direction
    float spot_offset;
    vec3 right;                // unit, local +X: along a rectangle's width and a tube's length
    // half a rectangle's width; a radius; a triangle's side along right, whose other side is
    // spot_offset along right and half_height along direction x right. Directional: angular radius
    // (rad), 0 for parallel light; for a sun cut by the horizon, of the disk with the visible area
    float half_width;
    // half a rectangle's height, half a tube's straight part (m). Directional: angular radius (rad)
    // of the whole disk, above half_width where the horizon cuts the sun
    float half_height;
    uint kind;                 // LIGHT_ kind and flag bits
    uint profile;              // index of its IES profile, or NONE
    uint shadow;               // index of its first shadow map, or NONE
};

const uint LIGHT_KIND_BITS = 0xffu;
const uint LIGHT_POINT = 0u;
const uint LIGHT_DIRECTIONAL = 1u;
const uint LIGHT_SPHERE = 2u;
const uint LIGHT_DISK = 3u;
const uint LIGHT_RECTANGLE = 4u;
const uint LIGHT_TUBE = 5u;
const uint LIGHT_TRIANGLE = 6u;
const uint LIGHT_TWO_SIDED = 0x100u;
const uint LIGHT_SHADOW = 0x200u;
// An emissive mesh: rays hit its geometry.
const uint LIGHT_MESH = 0x400u;
// The emitter is invisible to the camera.
const uint LIGHT_HIDDEN = 0x800u;
// The sun whose caustics `caustic_block` holds (pass `caustics`).
const uint LIGHT_CAUSTICS = 0x1000u;
// The first lights, evaluated at off-screen hits of refraction rays. Lights without a surface
// illuminate the hit; paths intersect the others.
const uint REFRACTION_LIGHTS = 16u;
// The first suns whose light water scatters.
const uint MAX_WATER_SUNS = 4u;
const uint NONE = 0xffffffffu;

// Light tree node: a group of lights with a joint bound. Nodes are in depth-first order: the first
// child follows its parent, and `skip` is the next node outside the subtree.
struct LightNode {
    vec3 center;               // bounding sphere of the node's lights, relative to the camera
    float radius;
    float strongest;           // maximum intensity (candela) over lights and channels
    uint skip;
    uint light;                // of a leaf: light index; else 0xffffffff
    uint pad0;
};

// A BLAS or TLAS node (src/bvh): 32 bytes, siblings side by side.
struct BvhNode {
    vec3 low;                  // min corner
    // first child; of a leaf the first triangle (BLAS) or the instance (TLAS)
    uint first;
    vec3 high;                 // max corner
    uint count;                // triangles or instances of a leaf; 0 for an inner node
};

struct BvhTriangle {
    vec3 a;                    // vertices, object space
    uint normal_a;             // vertex normals: octahedral, two signed 16-bit numbers
    vec3 b;
    uint normal_b;
    vec3 c;
    uint normal_c;
};

// A BLAS instance in the TLAS.
struct BvhInstance {
    vec4 rows[3];              // camera-relative world to object space
    uint root;                 // root node of its BLAS
    uint mask;                 // header of its alpha mask, or NONE
    // offset from a triangle's index to its corners among masked triangles
    uint corners;
    float slack;               // bound (m) on the rounding error of object-space ray origins
    uint surface;              // material index, and BVH_NO_SHADOW
    uint first;                // first triangle of its BLAS
    uint pad0;
    uint pad1;
};

// Shadow rays ignore the instance.
const uint BVH_NO_SHADOW = 0x80000000u;

// One shadow map in the atlas.
struct ShadowMap {
    mat4 to_clip;              // camera-relative world to the map's clip space, reversed depth
    vec4 rect;                 // left, top, width, height as fractions of the atlas
    float size;                // texels on each side
    uint count;                // maps of its light: 1, 6 cube faces, or the cascades
    uint pad0;
    uint pad1;
};

struct Instance {
    mat4 to_world;             // object space to camera-relative world
    vec4 normal0;              // columns of the normal matrix: inverse transpose of the upper 3x3
    vec4 normal1;
    vec4 normal2;              // w = +1 or -1: handedness of the transform
};

struct Material {
    vec4 base_color;
    vec4 emission;             // nits in rgb, alpha cutoff in a
    float metallic;
    float roughness;
    float normal_scale;
    float occlusion_strength;
    uint flags;
    uint layers;               // index of its ExtendedMaterial, or NONE
    float forward_mark;        // alpha that the G-buffer's emission stores: see FORWARD_MARK
    // linear mean of the base color texture: square roots of red, green, blue, ten bits each from
    // the lowest
    uint mean_color;
    // five textures, two rows each: xyz row; w of the first row is the texture coordinate set
    vec4 uv_rows[10];
};

// Alpha of the G-buffer's emission. 1: no mark. EMITTER_MARK: the emission is that of a light,
// which illuminates surfaces by itself. FORWARD_MARK plus the minimum perceptual roughness of the
// lobes: the forward pass lights the surface; another FORWARD_MARK is added where a lobe has its
// own normal.
const float FORWARD_MARK = 2.0;
const float EMITTER_MARK = 1.5;

// Extension lobes of a material, beyond the G-buffer (lib/extended_brdf.glsl).
struct ExtendedMaterial {
    vec3 specular_color;
    float specular;
    vec3 sheen_color;
    float sheen_roughness;
    vec3 diffuse_transmission_color;        // of diffuse transmission
    float diffuse_transmission;
    vec3 absorption;           // 1/m
    float thickness;           // object-space length
    float ior;                 // 0: total reflection
    float transmission;
    float dispersion;
    float coat;
    float coat_roughness;
    float coat_normal_scale;
    float anisotropy;
    float rotation;            // rad
    float iridescence;
    float film_ior;
    float film_minimum;        // nm
    float film_maximum;
    uint textures;             // one bit per texture that is present
    uint flags;                // LAYERS_
    uint water;                // water index, or NONE
    uint pad1;
    vec4 uv_rows[28];          // fourteen textures, as in Material
};

// The thickness is that of a volume; without this bit, of a thin wall.
const uint EXTENDED_VOLUME = 1u;
// The meshes have tangents.
const uint EXTENDED_TANGENTS = 2u;

// Header of the environment buffer (lib/environment.glsl).
struct EnvironmentConstants {
    uint width;                // texels of the map
    uint height;
    uint square_rows;          // 1: rows are spaced by the square root of the elevation
    uint enabled;              // 0: no environment
    float turn_sin;            // rotation about the vertical axis
    float turn_cos;
    uint irradiance_offset;    // offset of each part (texels)
    uint specular_offset;
    uint dfg_offset;
    uint pad0;
    uint pad1;
    uint pad2;
};

// A local probe: a box with its own environment map (lib/environment.glsl).
struct Probe {
    vec3 center;               // relative to the camera
    float blend;               // distance (m) inside its faces over which the weight rises to 1
    vec3 half_size;
    float margin;              // wall margin (m): positions closer to a face count as on a wall
    vec3 position;             // capture position, relative to the camera
    uint flags;                // PROBE_ bits
    uint first;                // first texel
    uint width;                // texels of its map; the map has half as many rows
    uint pad0;
    uint pad1;
};

// Reflections are parallax-corrected by the box.
const uint PROBE_PARALLAX = 1u;
// The map is captured; else the probe is black.
const uint PROBE_CAPTURED = 2u;

const uint MATERIAL_MASK = 1u;
const uint MATERIAL_UNLIT = 2u;
const uint MATERIAL_NORMAL_MAP = 4u;
const uint MATERIAL_DOUBLE_SIDED = 8u;
const uint MATERIAL_LIGHT_SURFACE = 16u;
const uint MATERIAL_BLEND = 32u;
const uint MATERIAL_EMISSION_MAP = 64u;

#endif
