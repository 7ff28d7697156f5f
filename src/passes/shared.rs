//! Structs of `shaders/shared/frame.glsl`. A test compares every offset with the compiled shaders.

use glam::{Mat4, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Constants of a frame. Positions are relative to the camera, in world axes.
    pub struct FrameConstants {
        /// Camera-relative world to clip space, reversed depth.
        pub view_projection: Mat4,
        /// Clip space to camera-relative world.
        pub inverse_projection: Mat4,
        /// View direction (unit); w = 1 for an orthographic projection.
        pub forward: Vec4,
        /// Image size (pixels).
        pub size: [u32; 2],
        /// Tile count of the clustered lights.
        pub tiles: [u32; 2],
        /// Factor from nits to stored values.
        pub pre_exposure: f32,
        /// Number of directional lights, which come first.
        pub directional_count: u32,
        /// Number of lights.
        pub light_count: u32,
        /// Capacity of all light lists together (entries).
        pub list_capacity: u32,
        /// Maximum summed contribution of culled lights as a fraction of white; 0 culls none.
        pub cull_threshold: f32,
        /// Number of light tree nodes.
        pub node_count: u32,
        /// `SHADOWS_OFF`, `SHADOWS_MAPS` or `SHADOWS_RAY_TRACED`.
        pub shadow_method: u32,
        /// Shadow rays per area light.
        pub shadow_samples: u32,
        /// Factor from the last frame's pre-exposed values to this frame's exposure.
        pub history_scale: f32,
        /// Factor from pre-exposed values to the smoothed exposure at which histories are compared.
        /// It follows the image's exposure by a fraction of a stop per frame.
        pub smoothed_exposure_scale: f32,
        /// Scale of texture derivatives: below 1 if several frames accumulate.
        pub texture_scale: f32,
        /// Offset of the noise pixel: differs per frame if several frames accumulate.
        pub noise_shift: f32,
        /// Bits: `FRAME_AO` and the other `FRAME_` constants.
        pub bits: u32,
        /// 1: multiple scattering compensation of specular lobes.
        pub multi_scatter: u32,
        /// Number of local probes.
        pub probe_count: u32,
        /// Number of waters.
        pub water_count: u32,
        /// Per water: min x and z, max x and z of the covered area, relative to the camera.
        pub water_extent: [Vec4; 8],
        /// Per water: extinction (1/m by channel), surface height relative to the camera.
        pub water_medium: [Vec4; 8],
        /// Per water: scattering (1/m by channel).
        pub water_scatter: [Vec4; 8],
        /// Per water: camera-relative x and z to flow map coordinates: offset, scale.
        pub water_flow: [Vec4; 8],
        /// Per water, ripples: offset (tiles), tiles per meter; cycles, modulo 4.
        pub water_ripple: [Vec4; 8],
        /// Per water: full speed (m/s), period (s), ripple slope scale at rest and at full speed.
        pub water_motion: [Vec4; 8],
        /// Per water: foam amount, depth of shore foam (m), depth over which the surface fades in
        /// (m).
        pub water_foam: [Vec4; 8],
        /// Per water, foam: offset (tiles), tiles per meter.
        pub water_foam_offset: [Vec4; 8],
        /// Per water: mean diffuse reflectance of the bed, standard deviation of unresolved ripple
        /// slopes.
        pub water_bed: [Vec4; 8],
        /// Per water, caustics: texels along x and z, first texel as 4096s and remainder; 0: none.
        pub water_caustics: [Vec4; 8],
    }
}

shader_struct! {
    /// Node of the light tree (`passes::light_tree`).
    pub struct LightNode {
        /// Center of the bounding sphere of the node's lights, relative to the camera.
        pub center: Vec3,
        /// Radius of the bounding sphere.
        pub radius: f32,
        /// Intensity of the strongest light (cd, largest channel).
        pub strongest: f32,
        /// Next node outside the subtree.
        pub skip: u32,
        /// Light index of a leaf; otherwise all ones.
        pub light: u32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// Light.
    pub struct Light {
        /// Position relative to the camera; for a directional light, unit direction to the center
        /// of its disk.
        pub position: Vec3,
        /// 1/range^2 of the glTF distance window; 0: none.
        pub inverse_range2: f32,
        /// By channel: candela in the strongest direction (point, spot), lux (directional), nits
        /// (area).
        pub intensity: Vec3,
        /// Cone scale; 0 for point lights.
        pub spot_scale: f32,
        /// Emission direction (unit).
        pub direction: Vec3,
        /// Cone offset; 1 for point lights.
        pub spot_offset: f32,
        /// Unit, local +X: along a rectangle's width and a tube's length.
        pub right: Vec3,
        /// Half a rectangle's width, or a radius. Directional: angular radius (rad), 0 for parallel
        /// light; for a sun cut by the horizon, that of the round disk with the area above it.
        pub half_width: f32,
        /// Half a rectangle's height, or half a tube's straight part (m). Directional: angular
        /// radius (rad) of the whole disk.
        pub half_height: f32,
        /// `LIGHT_` kind and flag bits.
        pub kind: u32,
        /// Index of its IES profile, or `NONE`.
        pub profile: u32,
        /// Index of its first shadow map, or `NONE`.
        pub shadow: u32,
    }
}

shader_struct! {
    /// BVH node (`bvh::BvhNode`).
    pub struct BvhNode {
        /// Min corner.
        pub low: Vec3,
        /// First child; for a leaf, the first triangle (BLAS) or the instance (TLAS).
        pub first: u32,
        /// Max corner.
        pub high: Vec3,
        /// Triangles or instances of a leaf; 0 for an inner node.
        pub count: u32,
    }
}

shader_struct! {
    /// BVH triangle (`bvh::BvhTriangle`).
    pub struct BvhTriangle {
        /// First vertex, object space.
        pub a: Vec3,
        /// Normal of the first vertex, packed.
        pub normal_a: u32,
        /// Second vertex.
        pub b: Vec3,
        /// Normal of the second vertex.
        pub normal_b: u32,
        /// Third vertex.
        pub c: Vec3,
        /// Normal of the third vertex.
        pub normal_c: u32,
    }
}

shader_struct! {
    /// BVH instance (`bvh::BvhInstance`).
    pub struct BvhInstance {
        /// Camera-relative world to object space.
        pub rows: [Vec4; 3],
        /// Root node of its BLAS.
        pub root: u32,
        /// Header of its alpha mask, or `NONE`.
        pub mask: u32,
        /// Offset from a triangle's index to its corners among masked triangles.
        pub corners: u32,
        /// Bound (m) on the rounding error of object-space ray origins.
        pub slack: f32,
        /// Material index, and `bvh::NO_SHADOW`.
        pub surface: u32,
        /// First triangle of its BLAS.
        pub first: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Shadow map in the atlas (`passes::shadow_maps`).
    pub struct ShadowMap {
        /// Camera-relative world to the map's clip space, reversed depth.
        pub to_clip: Mat4,
        /// Left, top, width, height as fractions of the atlas.
        pub rect: Vec4,
        /// Texels per side.
        pub size: f32,
        /// Maps of its light: 1, 6 cube faces, or the cascades.
        pub count: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// Mesh instance.
    pub struct Instance {
        /// Object space to camera-relative world.
        pub to_world: Mat4,
        /// First column of the normal transform.
        pub normal0: Vec4,
        /// Second column of the normal transform.
        pub normal1: Vec4,
        /// Third column of the normal transform; w: handedness of the transform (+1 or -1).
        pub normal2: Vec4,
    }
}

shader_struct! {
    /// Material factors.
    pub struct Material {
        /// Linear base color and opacity.
        pub base_color: Vec4,
        /// Emission (nits) and alpha cutoff.
        pub emission: Vec4,
        /// Metallic factor.
        pub metallic: f32,
        /// Roughness factor.
        pub roughness: f32,
        /// Scale of the normal map's x and y.
        pub normal_scale: f32,
        /// Occlusion strength, 0 to 1.
        pub occlusion_strength: f32,
        /// Bits: `MATERIAL_MASK` and the other `MATERIAL_` constants.
        pub flags: u32,
        /// Index of its `ExtendedMaterial`, or `NONE`.
        pub layers: u32,
        /// Alpha of the G-buffer's emission: 1, `EMITTER_MARK`, or at least `FORWARD_MARK` for the
        /// forward pass.
        pub forward_mark: f32,
        /// Mean of the base color texture, for shaders without the texture
        /// (`scene_data::packed_mean`).
        pub mean_color: u32,
        /// Two rows for each of five textures.
        pub uv_rows: [Vec4; 10],
    }
}

shader_struct! {
    /// Extension lobes of a material, which the G-buffer does not hold.
    pub struct ExtendedMaterial {
        /// Color of the dielectric reflection at normal incidence.
        pub specular_color: Vec3,
        /// Strength of the dielectric reflection.
        pub specular: f32,
        /// Linear sheen color.
        pub sheen_color: Vec3,
        /// Perceptual roughness of the sheen.
        pub sheen_roughness: f32,
        /// Color of diffuse transmission.
        pub diffuse_transmission_color: Vec3,
        /// Diffuse transmission, 0 to 1.
        pub diffuse_transmission: f32,
        /// Absorption (1/m by channel).
        pub absorption: Vec3,
        /// Thickness in object-space length.
        pub thickness: f32,
        /// Index of refraction; 0: total reflection.
        pub ior: f32,
        /// Transmission, 0 to 1.
        pub transmission: f32,
        /// 20 over the Abbe number.
        pub dispersion: f32,
        /// Clearcoat, 0 to 1.
        pub coat: f32,
        /// Perceptual roughness of the clearcoat.
        pub coat_roughness: f32,
        /// Scale of the clearcoat normal map's x and y.
        pub coat_normal_scale: f32,
        /// Anisotropy strength, 0 to 1.
        pub anisotropy: f32,
        /// Anisotropy rotation (rad).
        pub rotation: f32,
        /// Iridescence, 0 to 1.
        pub iridescence: f32,
        /// Index of refraction of the thin film.
        pub film_ior: f32,
        /// Minimum film thickness (nm).
        pub film_minimum: f32,
        /// Maximum film thickness (nm).
        pub film_maximum: f32,
        /// One bit per texture that is present.
        pub textures: u32,
        /// Bits: `EXTENDED_VOLUME`, `EXTENDED_TANGENTS`.
        pub flags: u32,
        /// Water index, or `NONE`.
        pub water: u32,
        /// Padding.
        pub pad1: u32,
        /// Two rows for each of fourteen textures.
        pub uv_rows: [Vec4; 28],
    }
}

shader_struct! {
    /// Header of the environment buffer (`passes::environment`).
    pub struct EnvironmentConstants {
        /// Width of the map (texels).
        pub width: u32,
        /// Height of the map (texels).
        pub height: u32,
        /// 1: rows are spaced by the square root of the elevation.
        pub square_rows: u32,
        /// 0: no environment.
        pub enabled: u32,
        /// Sine of the rotation about the vertical.
        pub turn_sin: f32,
        /// Cosine of the rotation about the vertical.
        pub turn_cos: f32,
        /// Offset of the irradiance (texels).
        pub irradiance_offset: u32,
        /// Offset of the prefiltered specular levels (texels).
        pub specular_offset: u32,
        /// Offset of the DFG table (texels).
        pub dfg_offset: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
        /// Padding.
        pub pad2: u32,
    }
}

shader_struct! {
    /// Local probe: a box with its own environment map (`passes::probes`).
    pub struct Probe {
        /// Center of the box relative to the camera.
        pub center: Vec3,
        /// Distance (m) inside its faces over which the weight rises to 1.
        pub blend: f32,
        /// Half extents of the box (m).
        pub half_size: Vec3,
        /// Distance (m) to a face within which a point counts as on a wall.
        pub margin: f32,
        /// Capture position relative to the camera.
        pub position: Vec3,
        /// Bits: `PROBE_PARALLAX`, `PROBE_CAPTURED`.
        pub flags: u32,
        /// First texel of its map.
        pub first: u32,
        /// Width of its map (texels), twice the rows.
        pub width: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

/// Host layouts of all shared structs, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 12] = [
    FrameConstants::LAYOUT,
    LightNode::LAYOUT,
    Light::LAYOUT,
    ShadowMap::LAYOUT,
    BvhNode::LAYOUT,
    BvhTriangle::LAYOUT,
    BvhInstance::LAYOUT,
    Instance::LAYOUT,
    Material::LAYOUT,
    ExtendedMaterial::LAYOUT,
    EnvironmentConstants::LAYOUT,
    Probe::LAYOUT,
];

/// Ambient occlusion is available (pass `ao`).
pub const FRAME_AO: u32 = 1;
/// Multi-bounce approximation of ambient occlusion.
pub const FRAME_MULTI_BOUNCE_AO: u32 = 2;
/// Probe capture: light emitters are invisible, since lights illuminate surfaces directly.
pub const FRAME_PROBE_CAPTURE: u32 = 4;
/// SSR passes add the specular reflection of the environment.
pub const FRAME_SSR: u32 = 8;
/// GI passes compute diffuse environment light.
pub const FRAME_GI_DIFFUSE: u32 = 16;
/// GI passes compute specular environment light.
pub const FRAME_GI_SPECULAR: u32 = 32;
/// Light meter image: unlit surfaces, which ignore exposure, are black.
pub const FRAME_METERING: u32 = 64;
/// The forward pass lights some pixels.
pub const FRAME_FORWARD: u32 = 128;

/// Reflections are parallax-corrected by the box.
pub const PROBE_PARALLAX: u32 = 1;
/// The map is captured; otherwise the probe is black.
pub const PROBE_CAPTURED: u32 = 2;

/// No shadows.
pub const SHADOWS_OFF: u32 = 0;
/// Shadow maps, for lights that have them.
pub const SHADOWS_MAPS: u32 = 1;
/// Ray-traced shadows.
pub const SHADOWS_RAY_TRACED: u32 = 2;

/// Mask of the kind in `Light::kind`.
pub const LIGHT_KIND_BITS: u32 = 0xff;
/// Point or spot.
pub const LIGHT_POINT: u32 = 0;
/// Sun or parallel light.
pub const LIGHT_DIRECTIONAL: u32 = 1;
/// Sphere.
pub const LIGHT_SPHERE: u32 = 2;
/// Disk.
pub const LIGHT_DISK: u32 = 3;
/// Rectangle.
pub const LIGHT_RECTANGLE: u32 = 4;
/// Tube with round ends.
pub const LIGHT_TUBE: u32 = 5;
/// Triangle of an emissive mesh. Its position is the centroid. One side is `half_width` along
/// `right`; the other is `spot_offset` along `right` plus `half_height` along `direction` x
/// `right`.
pub const LIGHT_TRIANGLE: u32 = 6;
/// Light of an emissive mesh triangle.
pub const LIGHT_MESH: u32 = 0x400;
/// The emitter is invisible to the camera.
pub const LIGHT_HIDDEN: u32 = 0x800;
/// The sun whose caustics are available (`passes::caustics`).
pub const LIGHT_CAUSTICS: u32 = 0x1000;
/// Both faces emit.
pub const LIGHT_TWO_SIDED: u32 = 0x100;
/// The light casts shadows.
pub const LIGHT_SHADOW: u32 = 0x200;
/// The first lights, evaluated at off-screen hits of refraction rays.
pub const REFRACTION_LIGHTS: u32 = 16;
/// The first suns whose light water scatters.
pub const MAX_WATER_SUNS: u32 = 4;
/// No profile, no shadow map: an absent index.
pub const NONE: u32 = u32::MAX;

/// The material is alpha-tested.
pub const MATERIAL_MASK: u32 = 1;
/// The material is unlit.
pub const MATERIAL_UNLIT: u32 = 2;
/// The material has a normal map, and its meshes have tangents.
pub const MATERIAL_NORMAL_MAP: u32 = 4;
/// The material is double-sided.
pub const MATERIAL_DOUBLE_SIDED: u32 = 8;
/// Emitting surface of a light: it emits and is not lit.
pub const MATERIAL_LIGHT_SURFACE: u32 = 16;
/// The material is alpha-blended.
pub const MATERIAL_BLEND: u32 = 32;
/// The material has an emission texture.
pub const MATERIAL_EMISSION_MAP: u32 = 64;

/// Added to `Material::forward_mark` for surfaces that the forward pass lights, and again if a lobe
/// has its own normal.
pub const FORWARD_MARK: f32 = 2.0;
/// `Material::forward_mark` of emission that is also a light, which illuminates surfaces directly.
pub const EMITTER_MARK: f32 = 1.5;
/// The thickness is that of a volume; without this bit, of a thin wall.
pub const EXTENDED_VOLUME: u32 = 1;
/// The meshes have tangents.
pub const EXTENDED_TANGENTS: u32 = 2;
