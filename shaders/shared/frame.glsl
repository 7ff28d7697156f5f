// Structs that the host fills (src/passes/shared.rs); a test compares every offset.
#ifndef SHARED_FRAME
#define SHARED_FRAME
#extension GL_EXT_scalar_block_layout : require

// Positions are relative to the camera, in world axes: exact near the camera however far it is from
// the origin.
struct FrameConstants {
    mat4 view_projection;      // to clip space, reversed depth: 1 near, 0 far
    mat4 inverse_projection;   // from clip space back
    vec4 forward;              // unit, where the camera looks; w = 1 for a parallel projection
    uvec2 size;                // pixels
    uvec2 tiles;               // clustered lights tiles
    float pre_exposure;        // factor from nits to what buffers store
    uint directional_count;    // lights [0, this) are directional
    uint light_count;          // all lights
    uint list_capacity;        // entries of all light lists together
    float cull_bound;          // greatest sum of what dropped lights could add, of white; 0 drops none
    uint node_count;           // nodes of the light tree
    uint shadow_method;        // SHADOWS_
    uint shadow_samples;       // rays to a light with a surface
    float history_scale;       // what last frame's pre-exposed values are multiplied by to fit this frame's exposure
    float smoothed_exposure_scale;        // what pre-exposed values are multiplied by to the exposure that histories are judged at
    float texture_scale;       // what textures' derivatives are multiplied by: below 1 where several frames make a picture
    float noise_shift;         // added to the pixel that noise is drawn by
    uint bits;                 // FRAME_
    uint multi_scatter;        // 1: light that bounces between facets is given back
    uint probe_count;          // local probes
    uint water_count;          // waters
    // By water, eight at most (src/passes/scene_data/water.rs).
    vec4 water_extent[8];       // least x and z, greatest x and z of what it covers, relative to the camera
    vec4 water_medium[8];      // extinction (1/m by channel), height of its surface relative to the camera
    vec4 water_scatter[8];     // scattering (1/m by channel)
    vec4 water_flow[8];        // from x and z relative to the camera to the flow map: offset, scale
    vec4 water_ripple[8];      // ripples: offset (tiles), tiles a metre; cycles, modulo 4
    vec4 water_motion[8];      // full speed (m/s), period (s), what the pattern's slopes are multiplied by: still, at full speed
    vec4 water_foam[8];        // how much of it; depth of the shore's (m); depth over which the surface comes in (m)
    vec4 water_foam_offset[8];  // offset (tiles), tiles a metre
    vec4 water_bed[8];         // mean matte reflectance of what lies below; deviation of slopes too fine for the ripples
    vec4 water_caustics[8];    // of its caustics: texels along x, along z, number of the first as 4096s and rest; 0: none
};

// What hides light from all around was measured (pass `ao`).
const uint FRAME_AO = 1u;
// Diffuse light that was reflected on by what hides it is guessed.
const uint FRAME_MULTI_BOUNCE_AO = 2u;
// The picture is a probe's: lights are not seen, for they light surfaces by themselves.
const uint FRAME_PROBE_CAPTURE = 4u;
// What surfaces reflect of their surroundings is added by the passes of screen-space reflections.
const uint FRAME_SSR = 8u;
// Diffuse light from all around is found by the passes of bounced light.
const uint FRAME_GI_DIFFUSE = 16u;
// What surfaces reflect of their surroundings is found by them too.
const uint FRAME_GI_SPECULAR = 32u;
// The picture is a meter's: unlit surfaces, which look the same at any exposure, are black.
const uint FRAME_METERING = 64u;
// Some pixels are lit by the layered pass.
const uint FRAME_FORWARD = 128u;

const uint SHADOWS_OFF = 0u;
const uint SHADOWS_MAPS = 1u;
const uint SHADOWS_RAY_TRACED = 2u;

struct Light {
    vec3 position;             // relative to the camera; of a directional light unit, to the middle of its disk
    float inverse_range2;      // 1/range^2 of the file's windowing, 0 for none
    vec3 intensity;            // by channel: candela of points and spots, lux of directional lights, nits of surfaces
    float spot_scale;          // glTF cone: clamp(cos * scale + offset)^2; 0 and 1 for point lights
    vec3 direction;            // unit, where the light shines to
    float spot_offset;
    vec3 right;                // unit, local +X: along a rectangle's width and a tube's length
    float half_width;          // half a rectangle's width; a radius; a triangle's side along right, whose other side is
                               // spot_offset along right and half_height along direction x right;
                               // of a directional light the angular radius (rad), 0 for parallel
                               // light: of one that the horizon cuts, of the round disk with the
                               // area above it
    float half_height;         // half a rectangle's height, half a tube's straight part (m); of a directional light the angular
                               // radius of the whole disk: above half_width where the horizon cuts
                               // it
    uint kind;                 // LIGHT_ kind and flag bits
    uint profile;              // number of its measured distribution, or NONE
    uint shadow;               // number of its shadow map, or NONE
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
// A piece of a mesh that glows: rays through the scene meet it.
const uint LIGHT_MESH = 0x400u;
// Nobody is to see the lamp itself.
const uint LIGHT_HIDDEN = 0x800u;
// The sun whose caustics are in `caustic_block` (pass `caustics`).
const uint LIGHT_CAUSTICS = 0x1000u;
// Lights, the first ones, that light surfaces which refraction finds beyond the picture: those
// without a surface shine on them, the others are met by paths.
const uint REFRACTION_LIGHTS = 16u;
// Suns, the first ones, whose light water scatters.
const uint MAX_WATER_SUNS = 4u;
const uint NONE = 0xffffffffu;

// A group of lamps whose light can be bounded at once. Nodes are in depth-first order: the first
// child follows its parent, and `skip` is the next node outside of this one.
struct LightNode {
    vec3 center;               // of a sphere that holds the node's lamps, relative to the camera
    float radius;
    float strongest;           // candela, greatest channel of the strongest lamp
    uint skip;
    uint light;                // of a leaf: the lamp; else 0xffffffff
    uint pad0;
};

// A node of the trees that rays walk, either level (src/bvh): 32 bytes, siblings side by side.
struct BvhNode {
    vec3 low;                  // least corner
    uint first;                // first child; of a leaf the first triangle, or the instance
    vec3 high;                 // greatest corner
    uint count;                // triangles or instances of a leaf; 0 for an inner node
};

struct BvhTriangle {
    vec3 a;                    // vertices, object space
    uint normal_a;             // their normals: octahedral, two signed 16-bit numbers
    vec3 b;
    uint normal_b;
    vec3 c;
    uint normal_c;
};

// A primitive in its place.
struct BvhInstance {
    vec4 rows[3];              // camera-relative world to object space
    uint root;                 // of its tree
    uint mask;                 // the header of its alpha mask, or NONE
    uint corners;              // added to a triangle's number: its corners among those of masked triangles
    float slack;               // how far (m) rounding in object space may move a ray
    uint surface;              // number of its material, and BVH_NO_SHADOW
    uint first;                // number of its tree's first triangle
    uint pad0;
    uint pad1;
};

// Rays to lamps pass it.
const uint BVH_NO_SHADOW = 0x80000000u;

// A part of the shadow atlas.
struct ShadowMap {
    mat4 to_clip;              // camera-relative world to the map's clip space, reversed depth
    vec4 rect;                 // left, top, width, height of the atlas, as fractions
    float size;                // texels on each side
    uint count;                // maps of its light: 1, 6 faces, or its cascades
    uint pad0;
    uint pad1;
};

struct Instance {
    mat4 to_world;             // object space to camera-relative world
    vec4 normal0;              // columns of the inverse transpose of its upper 3x3
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
    uint layers;               // number of its ExtendedMaterial, or NONE
    float forward_mark;          // what the G-buffer's emission has as alpha: see FORWARD_MARK
    uint mean_color;           // of the base colour's texture, linear: root of red, green, blue, ten bits each from the lowest
    vec4 uv_rows[10];          // five textures, two rows each: xyz row, w of the first row = texture coordinate set
};

// The alpha of the G-buffer's emission: 1; EMITTER_MARK where the emission is a light's, which
// lights surfaces by itself; or for surfaces that the layered pass lights FORWARD_MARK plus the
// least perceptual roughness of their lobes; another FORWARD_MARK where a lobe has a normal of its
// own.
const float FORWARD_MARK = 2.0;
const float EMITTER_MARK = 1.5;

// What the G-buffer does not hold of a material: the extensions' lobes (lib/extended_brdf.glsl).
struct ExtendedMaterial {
    vec3 specular_color;
    float specular;
    vec3 sheen_color;
    float sheen_roughness;
    vec3 diffuse_transmission_color;        // of diffuse transmission
    float diffuse_transmission;
    vec3 absorption;           // 1/m
    float thickness;           // in the mesh's lengths
    float ior;                 // 0: all light is reflected
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
    uint textures;             // a bit a texture that is there
    uint flags;                // LAYERS_
    uint water;                // its number, or NONE
    uint pad1;
    vec4 uv_rows[28];          // fourteen textures, as Material has them
};

// Thickness is that of a volume; else of a thin wall.
const uint EXTENDED_VOLUME = 1u;
// The meshes have tangents.
const uint EXTENDED_TANGENTS = 2u;

// The head of the environment's buffer (lib/environment.glsl).
struct EnvironmentConstants {
    uint width;                // texels of the map
    uint height;
    uint square_rows;          // 1: rows by the square root of the elevation
    uint enabled;              // 0: there is no environment
    float turn_sin;            // of the turn about the vertical
    float turn_cos;
    uint irradiance_offset;    // texels before each part
    uint specular_offset;
    uint dfg_offset;
    uint pad0;
    uint pad1;
    uint pad2;
};

// A box with light of its own (lib/environment.glsl).
struct Probe {
    vec3 center;               // relative to the camera
    float blend;               // how far (m) inside of its faces it has its full weight
    vec3 half_size;
    float margin;              // so near (m) its faces a place is a wall
    vec3 position;             // where it was captured, relative to the camera
    uint flags;                // PROBE_ bits
    uint first;                // its first texel
    uint width;                // texels of its map, twice its rows
    uint pad0;
    uint pad1;
};

// Reflections meet the box.
const uint PROBE_PARALLAX = 1u;
// It has its light; else it is black.
const uint PROBE_CAPTURED = 2u;

const uint MATERIAL_MASK = 1u;
const uint MATERIAL_UNLIT = 2u;
const uint MATERIAL_NORMAL_MAP = 4u;
const uint MATERIAL_DOUBLE_SIDED = 8u;
const uint MATERIAL_LIGHT_SURFACE = 16u;
const uint MATERIAL_BLEND = 32u;
const uint MATERIAL_EMISSION_MAP = 64u;

#endif
