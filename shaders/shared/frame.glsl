// Structs of the frame, lights, BVH, materials and environment.
#ifndef SHARED_FRAME
#define SHARED_FRAME
#extension GL_EXT_scalar_block_layout : require

// Maximum number of waters in a scene; equals `scene::water::MAX_WATERS`.
const uint MAX_WATERS = 8u;

// Constants of a frame. Positions are relative to the camera, in world axes.
struct FrameConstants {
    // Camera-relative world to clip space, reversed depth.
    mat4 view_projection;
    // Clip space to camera-relative world.
    mat4 inverse_projection;
    // View direction (unit); w = 1 for an orthographic projection.
    vec4 forward;
    // Image size (pixels).
    uvec2 size;
    // Tile count of the clustered lights.
    uvec2 tiles;
    // Factor from nits to stored values.
    float pre_exposure;
    // Number of directional lights, which come first.
    uint directional_count;
    // Number of lights.
    uint light_count;
    // Capacity of all light lists together (entries).
    uint list_capacity;
    // Maximum summed contribution of culled lights as a fraction of white; 0 culls none.
    float cull_threshold;
    // Number of light tree nodes.
    uint node_count;
    // `SHADOWS_OFF`, `SHADOWS_MAPS` or `SHADOWS_RAY_TRACED`.
    uint shadow_method;
    // Shadow rays per area light.
    uint shadow_samples;
    // Factor from the last frame's pre-exposed values to this frame's exposure.
    float history_scale;
    // Factor from pre-exposed values to the smoothed exposure at which histories are compared. It
    // follows the image's exposure by a fraction of a stop per frame.
    float smoothed_exposure_scale;
    // Scale of texture derivatives: below 1 if several frames accumulate.
    float texture_scale;
    // Shift of the image at twice the resolution (normalized device coordinates), after which its
    // sample offset is that of this image, in its own pixels.
    vec2 supersampling_shift;
    // Alignment.
    vec2 pad0;
    // Offset of the pixel that seeds noise; differs per frame if several frames accumulate.
    float noise_shift;
    // Bits: `FRAME_AO` and the other `FRAME_` constants.
    uint bits;
    // 1: multiple scattering compensation of specular lobes.
    uint multi_scatter;
    // Number of local probes.
    uint probe_count;
    // Number of waters.
    uint water_count;
    // Covered area of each water: min x and z, max x and z, relative to the camera.
    vec4 water_extent[MAX_WATERS];
    // Per water: extinction (1/m by channel), surface height relative to the camera.
    vec4 water_medium[MAX_WATERS];
    // Per water: scattering (1/m by channel).
    vec4 water_scatter[MAX_WATERS];
    // Per water: camera-relative x and z to flow map coordinates: offset, scale.
    vec4 water_flow[MAX_WATERS];
    // Per water, ripples: offset (tiles), tiles per meter; cycles, modulo 4.
    vec4 water_ripple[MAX_WATERS];
    // Per water: full speed (m/s), period (s), ripple slope scale at rest and at full speed.
    vec4 water_motion[MAX_WATERS];
    // Per water: foam amount, depth of shore foam (m), depth over which the surface fades in (m).
    vec4 water_foam[MAX_WATERS];
    // Per water, foam: offset (tiles), tiles per meter.
    vec4 water_foam_offset[MAX_WATERS];
    // Per water: mean diffuse reflectance of the bed, standard deviation of unresolved ripple
    // slopes.
    vec4 water_bed[MAX_WATERS];
    // Per water, caustics: texels along x and z, first texel as 4096s and remainder; 0: none.
    vec4 water_caustics[MAX_WATERS];
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
// Specular light of the global illumination passes includes surfaces, and is denoised.
const uint FRAME_GI_DENOISED_SPECULAR = 256u;
// Global illumination passes gather the light of blended surfaces.
const uint FRAME_GI_BLENDED = 512u;

// No shadows.
const uint SHADOWS_OFF = 0u;
// Shadow maps, for lights that have them.
const uint SHADOWS_MAPS = 1u;
// Ray-traced shadows.
const uint SHADOWS_RAY_TRACED = 2u;

// Light.
struct Light {
    // Position relative to the camera; for a directional light, unit direction to the center of its
    // disk.
    vec3 position;
    // 1/range^2 of the glTF distance window; 0: none.
    float inverse_range2;
    // By channel: candela in the strongest direction (point, spot), lux (directional), nits (area).
    vec3 intensity;
    // Scale of the glTF cone, `clamp(cos * scale + offset)^2`; 0 for point lights.
    float spot_scale;
    // Emission direction (unit).
    vec3 direction;
    // Cone offset; 1 for point lights.
    float spot_offset;
    // Unit, local +X: along a rectangle's width and a tube's length.
    vec3 right;
    // Half a rectangle's width; a radius; a triangle's side along `right`, whose other side is
    // `spot_offset` along `right` and `half_height` along `direction` x `right` (m). Directional:
    // angular radius (rad), 0 for parallel light; for a sun cut by the horizon, of the disk with
    // the visible area.
    float half_width;
    // Half a rectangle's height; half a tube's straight part (m). Directional: angular radius (rad)
    // of the whole disk, above `half_width` where the horizon cuts the sun.
    float half_height;
    // `LIGHT_` kind and flag bits.
    uint kind;
    // Index of its IES profile, or `NONE`.
    uint profile;
    // Index of its first shadow map, or `NONE`.
    uint shadow;
};

// Mask of the kind in `Light::kind`.
const uint LIGHT_KIND_BITS = 0xffu;
// Point or spot.
const uint LIGHT_POINT = 0u;
// Sun or parallel light.
const uint LIGHT_DIRECTIONAL = 1u;
// Sphere.
const uint LIGHT_SPHERE = 2u;
// Disk.
const uint LIGHT_DISK = 3u;
// Rectangle.
const uint LIGHT_RECTANGLE = 4u;
// Tube with round ends.
const uint LIGHT_TUBE = 5u;
// Triangle of an emissive mesh. Its position is the centroid. One side is `half_width` along
// `right`; the other is `spot_offset` along `right` plus `half_height` along `direction` x `right`.
const uint LIGHT_TRIANGLE = 6u;
// Both faces emit.
const uint LIGHT_TWO_SIDED = 0x100u;
// The light casts shadows.
const uint LIGHT_SHADOW = 0x200u;
// Light of an emissive mesh whose geometry is in the BVH: rays hit it.
const uint LIGHT_MESH = 0x400u;
// The emitter is invisible to the camera.
const uint LIGHT_HIDDEN = 0x800u;
// The sun whose caustics are available (`passes::caustics`).
const uint LIGHT_CAUSTICS = 0x1000u;
// The first lights, evaluated at off-screen hits of refraction rays. Lights without a surface
// illuminate the hit; paths intersect the others.
const uint REFRACTION_LIGHTS = 16u;
// The first suns whose light water scatters.
const uint MAX_WATER_SUNS = 4u;
// Absent index: no profile, no shadow map.
const uint NONE = 0xffffffffu;

// Light tree node: a group of lights with a joint bound. Nodes are in depth-first order: the first
// child follows its parent, and `skip` is the next node outside the subtree.
struct LightNode {
    // Center of the bounding sphere of the node's lights, relative to the camera.
    vec3 center;
    // Radius of the bounding sphere.
    float radius;
    // Intensity of the strongest light (cd, largest channel).
    float strongest;
    // Next node outside the subtree.
    uint skip;
    // Light index of a leaf; otherwise `NONE`.
    uint light;
    // Summed intensities of the lights in their strongest directions (cd by channel).
    vec3 intensity;
    // Axis of the cone of directions into which the lights emit (unit).
    vec3 axis;
    // Cosine of the cone's half angle; -1: all directions.
    float cos_spread;
};

// A BLAS or TLAS node (src/bvh): 32 bytes, siblings side by side.
struct BvhNode {
    // Min corner.
    vec3 low;
    // First child; for a leaf, the first triangle (BLAS) or the instance (TLAS).
    uint first;
    // Max corner.
    vec3 high;
    // Triangles or instances of a leaf; 0 for an inner node.
    uint count;
};

// BVH triangle (`bvh::BvhTriangle`).
struct BvhTriangle {
    // First vertex, object space.
    vec3 a;
    // Normal of the first vertex: octahedral, two signed 16-bit numbers.
    uint normal_a;
    // Second vertex.
    vec3 b;
    // Normal of the second vertex, packed like `normal_a`.
    uint normal_b;
    // Third vertex.
    vec3 c;
    // Normal of the third vertex, packed like `normal_a`.
    uint normal_c;
};

// BVH instance (`bvh::BvhInstance`).
struct BvhInstance {
    // Camera-relative world to object space.
    vec4 rows[3];
    // Root node of its BLAS.
    uint root;
    // Header of its alpha mask, or `NONE`.
    uint mask;
    // Offset from a triangle's index to its corners among masked triangles.
    uint corners;
    // Bound (m) on the rounding error of object-space ray origins.
    float slack;
    // Material index, and `BVH_NO_SHADOW`.
    uint surface;
    // First triangle of its BLAS.
    uint first;
    // Seed of the random cutoffs of blended surfaces.
    uint seed;
    // Added to the bits of those cutoffs.
    uint phase;
};

// Shadow rays ignore the instance.
const uint BVH_NO_SHADOW = 0x80000000u;

// Shadow map in the atlas (`passes::shadow_maps`).
struct ShadowMap {
    // Camera-relative world to the map's clip space, reversed depth.
    mat4 to_clip;
    // Left, top, width, height as fractions of the atlas.
    vec4 rect;
    // Texels on each side.
    float size;
    // Maps of its light: 1, 6 cube faces, or the cascades.
    uint count;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
};

// Mesh instance.
struct Instance {
    // Object space to camera-relative world.
    mat4 to_world;
    // First column of the normal matrix (inverse transpose of the upper 3x3).
    vec4 normal0;
    // Second column of the normal matrix.
    vec4 normal1;
    // Third column of the normal matrix; w: handedness of the transform (+1 or -1).
    vec4 normal2;
};

// Material factors.
struct Material {
    // Linear base color and opacity.
    vec4 base_color;
    // Emission (nits) and alpha cutoff.
    vec4 emission;
    // Metallic factor.
    float metallic;
    // Roughness factor.
    float roughness;
    // Scale of the normal map's x and y.
    float normal_scale;
    // Occlusion strength, 0 to 1.
    float occlusion_strength;
    // Bits: `MATERIAL_MASK` and the other `MATERIAL_` constants.
    uint flags;
    // Index of its `ExtendedMaterial`, or `NONE`.
    uint layers;
    // Alpha of the G-buffer's emission: 1, `EMITTER_MARK`, or at least `FORWARD_MARK` for the
    // forward pass.
    float forward_mark;
    // Mean of the base color texture (`gpu_scene::packed_materials`): square roots of linear red,
    // green and blue, ten bits each from the lowest.
    uint mean_color;
    // Five textures, two rows each: xyz row; w of the first row is the texture coordinate set.
    vec4 uv_rows[10];
};

// Alpha of the G-buffer emission where the forward pass lights: this plus the minimum perceptual
// roughness of the lobes. A lobe with its own normal adds it again.
const float FORWARD_MARK = 2.0;
// Alpha of the G-buffer emission of a light, which illuminates surfaces by itself. Unmarked
// surfaces have 1.
const float EMITTER_MARK = 1.5;

// Extension lobes of a material, beyond the G-buffer (`lib/extended_brdf.glsl`).
struct ExtendedMaterial {
    // Color of the dielectric reflection at normal incidence.
    vec3 specular_color;
    // Strength of the dielectric reflection.
    float specular;
    // Linear sheen color.
    vec3 sheen_color;
    // Perceptual roughness of the sheen.
    float sheen_roughness;
    // Color of diffuse transmission.
    vec3 diffuse_transmission_color;
    // Diffuse transmission, 0 to 1.
    float diffuse_transmission;
    // Absorption (1/m by channel).
    vec3 absorption;
    // Thickness in object-space length.
    float thickness;
    // Index of refraction; 0: total reflection.
    float ior;
    // Transmission, 0 to 1.
    float transmission;
    // 20 over the Abbe number.
    float dispersion;
    // Clearcoat, 0 to 1.
    float coat;
    // Perceptual roughness of the clearcoat.
    float coat_roughness;
    // Scale of the clearcoat normal map's x and y.
    float coat_normal_scale;
    // Anisotropy strength, 0 to 1.
    float anisotropy;
    // Anisotropy rotation (rad).
    float rotation;
    // Iridescence, 0 to 1.
    float iridescence;
    // Index of refraction of the thin film.
    float film_ior;
    // Minimum film thickness (nm).
    float film_minimum;
    // Maximum film thickness (nm).
    float film_maximum;
    // One bit per texture that is present.
    uint textures;
    // Bits: `EXTENDED_VOLUME`, `EXTENDED_TANGENTS`.
    uint flags;
    // Water index, or `NONE`.
    uint water;
    // Padding.
    uint pad1;
    // Two rows for each of fourteen textures, as in `Material`.
    vec4 uv_rows[28];
};

// The thickness is that of a volume; without this bit, of a thin wall.
const uint EXTENDED_VOLUME = 1u;
// The meshes have tangents.
const uint EXTENDED_TANGENTS = 2u;

// Header of the environment buffer (`gpu_scene::environment`).
struct EnvironmentConstants {
    // Width of the map (texels).
    uint width;
    // Height of the map (texels).
    uint height;
    // 1: rows are spaced by the square root of the elevation.
    uint square_rows;
    // 0: no environment.
    uint enabled;
    // Sine of the rotation about the vertical.
    float turn_sin;
    // Cosine of the rotation about the vertical.
    float turn_cos;
    // Offset of the irradiance (texels).
    uint irradiance_offset;
    // Offset of the prefiltered specular levels (texels).
    uint specular_offset;
    // Offset of the DFG table (texels).
    uint dfg_offset;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
    // Padding.
    uint pad2;
};

// Local probe: a box with its own environment map (`gpu_scene::probes`).
struct Probe {
    // Center of the box relative to the camera.
    vec3 center;
    // Distance (m) inside its faces over which the weight rises to 1.
    float blend;
    // Half extents of the box (m).
    vec3 half_size;
    // Distance (m) to a face within which a point counts as on a wall.
    float margin;
    // Capture position relative to the camera.
    vec3 position;
    // Bits: `PROBE_PARALLAX`, `PROBE_CAPTURED`.
    uint flags;
    // First texel of its map.
    uint first;
    // Width of its map (texels), twice the rows.
    uint width;
    // Padding.
    uint pad0;
    // Padding.
    uint pad1;
};

// Reflections are parallax-corrected by the box.
const uint PROBE_PARALLAX = 1u;
// The map is captured; otherwise the probe is black.
const uint PROBE_CAPTURED = 2u;

// The material is alpha-tested.
const uint MATERIAL_MASK = 1u;
// The material is unlit.
const uint MATERIAL_UNLIT = 2u;
// The material has a normal map, and its meshes have tangents.
const uint MATERIAL_NORMAL_MAP = 4u;
// The material is double-sided.
const uint MATERIAL_DOUBLE_SIDED = 8u;
// Emitting surface of a light: it emits and is not lit.
const uint MATERIAL_LIGHT_SURFACE = 16u;
// The material is alpha-blended.
const uint MATERIAL_BLEND = 32u;
// The material has an emission texture.
const uint MATERIAL_EMISSION_MAP = 64u;

#endif
