//! The structs of `shaders/shared/frame.glsl`; a test compares every offset with what the shaders
//! were compiled to.

use glam::{Mat4, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// What is the same for the whole frame. Positions are relative to the camera, in world axes.
    pub struct FrameConstants {
        /// To clip space, reversed depth.
        pub view_projection: Mat4,
        /// From clip space back.
        pub inverse_projection: Mat4,
        /// Where the camera looks; w = 1 for a parallel projection.
        pub forward: Vec4,
        /// Pixels.
        pub size: [u32; 2],
        /// Light list tiles.
        pub tiles: [u32; 2],
        /// Factor from nits to what buffers store.
        pub pre_exposure: f32,
        /// The first lights are directional, this many.
        pub directional_count: u32,
        /// All lights.
        pub light_count: u32,
        /// Entries of all light lists together.
        pub list_capacity: u32,
        /// Greatest sum of what dropped lights could add, of white; 0 drops none.
        pub cull_bound: f32,
        /// Nodes of the light tree.
        pub node_count: u32,
        /// `SHADOWS_`.
        pub shadow_method: u32,
        /// Rays to a light with a surface.
        pub shadow_samples: u32,
        /// What last frame's pre-exposed values are multiplied by to fit this frame's exposure.
        pub history_scale: f32,
        /// What this frame's pre-exposed values are multiplied by to the exposure that histories
        /// are judged at: it goes after the picture's by a part of a stop a frame.
        pub smoothed_exposure_scale: f32,
        /// What textures' derivatives are multiplied by: below 1 where several frames make a
        /// picture.
        pub texture_scale: f32,
        /// Added to the pixel that noise is drawn by: another noise each frame where several make a
        /// picture.
        pub noise_shift: f32,
        /// `FRAME_` bits.
        pub bits: u32,
        /// 1: light that bounces between facets is given back.
        pub multi_scatter: u32,
        /// Local probes.
        pub probe_count: u32,
        /// Waters.
        pub water_count: u32,
        /// By water: least x and z, greatest x and z of what it covers, relative to the camera.
        pub water_extent: [Vec4; 8],
        /// Extinction (1/m by channel), height of the surface relative to the camera.
        pub water_medium: [Vec4; 8],
        /// Scattering (1/m by channel).
        pub water_scatter: [Vec4; 8],
        /// From x and z relative to the camera to the flow map: offset, scale.
        pub water_flow: [Vec4; 8],
        /// Of ripples: offset (tiles), tiles a metre; cycles, modulo 4.
        pub water_ripple: [Vec4; 8],
        /// Full speed (m/s), period (s), what the pattern's slopes are multiplied by: still, at
        /// full speed.
        pub water_motion: [Vec4; 8],
        /// How much foam; depth of the shore's (m); depth over which the surface comes in (m).
        pub water_foam: [Vec4; 8],
        /// Of foam: offset (tiles), tiles a metre.
        pub water_foam_offset: [Vec4; 8],
        /// Mean matte reflectance of its bed; standard deviation of slopes too fine for the
        /// ripples.
        pub water_bed: [Vec4; 8],
        /// Of its caustics: texels along x and z, number of the first as 4096s and rest; 0: none.
        pub water_caustics: [Vec4; 8],
    }
}

shader_struct! {
    /// A node of the light tree (`passes::light_tree`).
    pub struct LightNode {
        /// Of a sphere that holds the node's lamps, relative to the camera.
        pub center: Vec3,
        /// Of the sphere.
        pub radius: f32,
        /// Candela, greatest channel of the strongest lamp.
        pub strongest: f32,
        /// The next node outside of this one.
        pub skip: u32,
        /// Of a leaf: the lamp; else all ones.
        pub light: u32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// A light source.
    pub struct Light {
        /// Relative to the camera; of a directional light unit, to the middle of its disk.
        pub position: Vec3,
        /// 1/range^2 of the file's windowing, 0 for none.
        pub inverse_range2: f32,
        /// By channel: candela in the strongest direction of a point or spot; lux of a directional
        /// light; nits of a surface.
        pub intensity: Vec3,
        /// The cone's scale (0 for point lights).
        pub spot_scale: f32,
        /// Where the light shines to.
        pub direction: Vec3,
        /// The cone's offset (1 for point lights).
        pub spot_offset: f32,
        /// Unit, local +X: along a rectangle's width and a tube's length.
        pub right: Vec3,
        /// Half a rectangle's width; a radius; of a directional light the angular radius (rad), 0
        /// for parallel light: of one that the horizon cuts, of the round disk with the area above
        /// it.
        pub half_width: f32,
        /// Half a rectangle's height, half a tube's straight part (m); of a directional light the
        /// angular radius (rad) of the whole disk.
        pub half_height: f32,
        /// A `LIGHT_` kind with its flag bits.
        pub kind: u32,
        /// Number of its measured distribution, or `NONE`.
        pub profile: u32,
        /// Number of its shadow map, or `NONE`.
        pub shadow: u32,
    }
}

shader_struct! {
    /// A node of the trees that rays walk (`bvh::Node`).
    pub struct BvhNode {
        /// Least corner.
        pub low: Vec3,
        /// First child; of a leaf the first triangle, or the instance.
        pub first: u32,
        /// Greatest corner.
        pub high: Vec3,
        /// Triangles or instances of a leaf; 0 for an inner node.
        pub count: u32,
    }
}

shader_struct! {
    /// A triangle that rays meet (`bvh::Triangle`).
    pub struct BvhTriangle {
        /// Vertex.
        pub a: Vec3,
        /// Its normal.
        pub normal_a: u32,
        /// Vertex.
        pub b: Vec3,
        /// Its normal.
        pub normal_b: u32,
        /// Vertex.
        pub c: Vec3,
        /// Its normal.
        pub normal_c: u32,
    }
}

shader_struct! {
    /// A primitive in its place, for rays (`bvh::Instance`).
    pub struct BvhInstance {
        /// Camera-relative world to object space.
        pub rows: [Vec4; 3],
        /// Of its tree.
        pub root: u32,
        /// The header of its alpha mask, or `NONE`.
        pub mask: u32,
        /// Added to a triangle's number: its corners among those of masked triangles.
        pub corners: u32,
        /// How far (m) rounding in object space may move a ray.
        pub slack: f32,
        /// Number of its material, and `bvh::NO_SHADOW`.
        pub surface: u32,
        /// Number of its tree's first triangle.
        pub first: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// A part of the shadow atlas (`passes::shadow_maps`).
    pub struct ShadowMap {
        /// Camera-relative world to the map's clip space, reversed depth.
        pub to_clip: Mat4,
        /// Left, top, width, height of the atlas, as fractions.
        pub rect: Vec4,
        /// Texels on each side.
        pub size: f32,
        /// Maps of its light: 1, 6 faces, or its cascades.
        pub count: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// A mesh in its place.
    pub struct Instance {
        /// Object space to camera-relative world.
        pub to_world: Mat4,
        /// First column of the normals' transform.
        pub normal0: Vec4,
        /// Second column.
        pub normal1: Vec4,
        /// Third column; w is the transform's handedness.
        pub normal2: Vec4,
    }
}

shader_struct! {
    /// A material's factors.
    pub struct Material {
        /// Linear base colour and opacity.
        pub base_color: Vec4,
        /// Nits, and the alpha cutoff.
        pub emission: Vec4,
        /// Factor.
        pub metallic: f32,
        /// Factor.
        pub roughness: f32,
        /// Scale of the normal map's x and y.
        pub normal_scale: f32,
        /// 0 to 1.
        pub occlusion_strength: f32,
        /// The `MATERIAL_` bits.
        pub flags: u32,
        /// Number of its `ExtendedMaterial`, or `NONE`.
        pub layers: u32,
        /// Alpha of the G-buffer's emission: 1, or how the layered pass's pixels are told
        /// (`FORWARD_MARK`).
        pub forward_mark: f32,
        /// The mean of the base colour's texture, for who has no texture at hand: `packed_mean`.
        pub mean_color: u32,
        /// Two rows for each of five textures.
        pub uv_rows: [Vec4; 10],
    }
}

shader_struct! {
    /// What the G-buffer does not hold of a material: the lobes of the material extensions.
    pub struct ExtendedMaterial {
        /// Of the dielectric's reflection along the normal.
        pub specular_color: Vec3,
        /// Strength of the dielectric's reflection.
        pub specular: f32,
        /// Linear.
        pub sheen_color: Vec3,
        /// Perceptual.
        pub sheen_roughness: f32,
        /// Of diffuse transmission.
        pub diffuse_transmission_color: Vec3,
        /// 0 to 1.
        pub diffuse_transmission: f32,
        /// 1/m by channel.
        pub absorption: Vec3,
        /// In the mesh's lengths.
        pub thickness: f32,
        /// Index of refraction; 0: all light is reflected.
        pub ior: f32,
        /// 0 to 1.
        pub transmission: f32,
        /// 20 over the Abbe number.
        pub dispersion: f32,
        /// Clear coat, 0 to 1.
        pub coat: f32,
        /// Perceptual.
        pub coat_roughness: f32,
        /// Of its normal map's x and y.
        pub coat_normal_scale: f32,
        /// Strength, 0 to 1.
        pub anisotropy: f32,
        /// rad.
        pub rotation: f32,
        /// 0 to 1.
        pub iridescence: f32,
        /// Index of refraction of the film.
        pub film_ior: f32,
        /// nm.
        pub film_minimum: f32,
        /// nm.
        pub film_maximum: f32,
        /// A bit a texture that is there.
        pub textures: u32,
        /// `LAYERS_` bits.
        pub flags: u32,
        /// Number of the water that it is, or `NONE`.
        pub water: u32,
        /// Padding.
        pub pad1: u32,
        /// Two rows for each of fourteen textures.
        pub uv_rows: [Vec4; 28],
    }
}

shader_struct! {
    /// The head of the environment's buffer (`passes::environment`).
    pub struct EnvironmentConstants {
        /// Texels of the map across.
        pub width: u32,
        /// And down.
        pub height: u32,
        /// 1: rows by the square root of the elevation.
        pub square_rows: u32,
        /// 0: there is no environment.
        pub enabled: u32,
        /// Sine of the turn about the vertical.
        pub turn_sin: f32,
        /// Its cosine.
        pub turn_cos: f32,
        /// Texels before the irradiance.
        pub irradiance_offset: u32,
        /// Texels before the blurred levels.
        pub specular_offset: u32,
        /// Texels before the table of reflectances.
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
    /// A box with light of its own (`probes`).
    pub struct Probe {
        /// Relative to the camera.
        pub center: Vec3,
        /// How far (m) inside of its faces it has its full weight.
        pub blend: f32,
        /// Half its sides (m).
        pub half_size: Vec3,
        /// So near (m) its faces a place is a wall.
        pub margin: f32,
        /// Where it was captured, relative to the camera.
        pub position: Vec3,
        /// `PROBE_` bits.
        pub flags: u32,
        /// Its first texel.
        pub first: u32,
        /// Texels of its map, twice its rows.
        pub width: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

/// All structs that the shaders share, for the layout test.
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

/// What hides light from all around was measured (pass `ao`).
pub const FRAME_AO: u32 = 1;
/// Diffuse light that was reflected on by what hides it is guessed.
pub const FRAME_MULTI_BOUNCE_AO: u32 = 2;
/// The picture is a probe's: lights are not seen, for they light surfaces by themselves.
pub const FRAME_PROBE_CAPTURE: u32 = 4;
/// What surfaces reflect of their surroundings is added by the passes of screen-space reflections.
pub const FRAME_SSR: u32 = 8;
/// Diffuse light from all around is found by the passes of bounced light.
pub const FRAME_GI_DIFFUSE: u32 = 16;
/// What surfaces reflect of their surroundings is found by them too.
pub const FRAME_GI_SPECULAR: u32 = 32;
/// The picture is a meter's: unlit surfaces, which look the same at any exposure, are black.
pub const FRAME_METERING: u32 = 64;
/// Some pixels are lit by the layered pass.
pub const FRAME_FORWARD: u32 = 128;

/// Reflections meet the box.
pub const PROBE_PARALLAX: u32 = 1;
/// It has its light; else it is black.
pub const PROBE_CAPTURED: u32 = 2;

/// Nothing throws shadows.
pub const SHADOWS_OFF: u32 = 0;
/// By shadow maps, where a light has them.
pub const SHADOWS_MAPS: u32 = 1;
/// By rays.
pub const SHADOWS_RAY_TRACED: u32 = 2;

/// Bits of `Light::kind` that tell the kind.
pub const LIGHT_KIND_BITS: u32 = 0xff;
/// A point or spot.
pub const LIGHT_POINT: u32 = 0;
/// The sun, or parallel light.
pub const LIGHT_DIRECTIONAL: u32 = 1;
/// A sphere.
pub const LIGHT_SPHERE: u32 = 2;
/// A disk.
pub const LIGHT_DISK: u32 = 3;
/// A rectangle.
pub const LIGHT_RECTANGLE: u32 = 4;
/// A tube with round ends.
pub const LIGHT_TUBE: u32 = 5;
/// A triangle of an emissive mesh. Its place is its middle; one side has length `half_width` along
/// `right`, the other lies `spot_offset` along `right` and `half_height` along `direction` x
/// `right`.
pub const LIGHT_TRIANGLE: u32 = 6;
/// A piece of a mesh that glows.
pub const LIGHT_MESH: u32 = 0x400;
/// Nobody is to see the lamp itself.
pub const LIGHT_HIDDEN: u32 = 0x800;
/// The sun whose caustics were found (`passes::caustics`).
pub const LIGHT_CAUSTICS: u32 = 0x1000;
/// Both faces shine.
pub const LIGHT_TWO_SIDED: u32 = 0x100;
/// What stands in its way casts shadows.
pub const LIGHT_SHADOW: u32 = 0x200;
/// Lights, the first ones, that light surfaces which refraction finds beyond the picture.
pub const REFRACTION_LIGHTS: u32 = 16;
/// Suns, the first ones, whose light water scatters.
pub const MAX_WATER_SUNS: u32 = 4;
/// No profile, no shadow map.
pub const NONE: u32 = u32::MAX;

/// The material is alpha-tested.
pub const MATERIAL_MASK: u32 = 1;
/// No light acts on the material.
pub const MATERIAL_UNLIT: u32 = 2;
/// The material has a normal map, and its meshes have tangents.
pub const MATERIAL_NORMAL_MAP: u32 = 4;
/// Both sides are seen.
pub const MATERIAL_DOUBLE_SIDED: u32 = 8;
/// A lamp's own surface: it shines, and no light acts on it.
pub const MATERIAL_LIGHT_SURFACE: u32 = 16;
/// The material is alpha-blended.
pub const MATERIAL_BLEND: u32 = 32;
/// What the material emits is a picture.
pub const MATERIAL_EMISSION_MAP: u32 = 64;

/// What `Material::forward_mark` adds to a surface that the layered pass lights, and again where a
/// lobe has a normal of its own.
pub const FORWARD_MARK: f32 = 2.0;
/// `Material::forward_mark` where the emission is a light's, which lights surfaces by itself.
pub const EMITTER_MARK: f32 = 1.5;
/// The thickness is that of a volume; else of a thin wall.
pub const EXTENDED_VOLUME: u32 = 1;
/// The meshes have tangents.
pub const EXTENDED_TANGENTS: u32 = 2;
