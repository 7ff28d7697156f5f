//! The scene model that every renderer reads: plain, validated data in meters, glTF axes
//! (right-handed, Y up).
//!
//! Importers guarantee these invariants, and the renderers rely on them: every index is in range;
//! the node hierarchy is a forest; all numbers are finite; every triangle list has a length that is
//! a multiple of three; `normals`, and `tangents`, `uv0`, `uv1` and `colors` if present, are as
//! long as `positions`; normals and tangents have unit length.

use std::{path::PathBuf, sync::Arc};

use glam::{DMat4, DVec3, Vec2, Vec3, Vec4};

use super::{
    ParticipatingVolume, Probe, Water,
    address::AddressTable,
    animation::{Animation, Deform, Skin, Trs},
};
use crate::photometry::{
    Candela, Lumen, Steradian,
    environment::RadianceMap,
    ies::IesProfile,
    lights::{Cone, Emitter, LightStrength, PhysicalLight, SunDisk},
};

/// A scene: nodes with meshes, lights and cameras, and the resources that they refer to.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Name from the file, or the file's stem.
    pub name: String,
    /// Source file; `None` for scenes made in code.
    pub source: Option<PathBuf>,
    /// All nodes; only those reachable from `roots` are shown.
    pub nodes: Vec<Node>,
    /// Indices of the nodes without a parent that belong to the shown scene.
    pub roots: Vec<usize>,
    /// Meshes, each of which any number of nodes may instance.
    pub meshes: Vec<Mesh>,
    /// Materials that primitives refer to; a primitive without one uses `Material::default()`.
    pub materials: Vec<Material>,
    /// Pairs of image and sampler that materials refer to.
    pub textures: Vec<Texture>,
    /// Decoded images.
    pub images: Vec<Image>,
    /// Light sources that nodes refer to.
    pub lights: Vec<Light>,
    /// Cameras that nodes refer to.
    pub cameras: Vec<Camera>,
    /// Environment light; `None` is black.
    pub environment: Option<Environment>,
    /// Reflection probes, smallest box first.
    pub probes: Vec<Probe>,
    /// Participating media: fog, smoke and clouds in boxes and closed meshes.
    pub volumes: Vec<ParticipatingVolume>,
    /// True if emissive surfaces light others (`scene.emissive_lights` of the look).
    pub emissive_lights: bool,
    /// Maximum number of emissive lights; beyond it neighbors are merged
    /// (`scene.max_emissive_lights` of the look). `None`: 512
    /// (`emissive::DEFAULT_MAX_EMISSIVE_LIGHTS`).
    pub max_emissive_lights: Option<u32>,
    /// Multiple scattering between microfacets keeps the energy of rough metals and dielectrics
    /// (`scene.multiscatter` of the look).
    pub multiscatter: bool,
    /// Material variants of the file (`scene.variant` of the look).
    pub variants: Vec<MaterialVariant>,
    /// Skeletons that nodes with a mesh refer to.
    pub skins: Vec<Skin>,
    /// Animations; the scene itself is in its rest pose until it is posed (`Scene::at`).
    pub animations: Vec<Animation>,
    /// Time (s) of the pose: of animations and of the flow of water.
    pub time: f64,
    /// Notes of the importer on what it repaired, ignored or approximated, in file order.
    pub notes: Vec<Note>,
}

/// KHR_materials_variants: a named set of material assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaterialVariant {
    /// The author's name, possibly empty.
    pub name: String,
    /// Index into `Scene::meshes`, into the mesh's primitives, and the material of that primitive
    /// in this variant; all others keep theirs.
    pub materials: Vec<(usize, usize, usize)>,
}

/// A note of the importer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// True if the image may differ from the author's intent.
    pub kind: NoteKind,
    /// Place in the file: a JSON pointer such as `/meshes/0/primitives/1`, or a file's name.
    pub location: String,
    /// Finding and consequence, one sentence.
    pub message: String,
}

/// Severity of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// Information; the image is as the author intended.
    Info,
    /// The file uses a feature that is not rendered, or is approximated.
    Unsupported,
    /// The file violates the specification here and was repaired.
    Repaired,
}

/// A node of the hierarchy.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The author's name, possibly empty or not unique.
    pub name: String,
    /// Index of the parent; `None` for a root.
    pub parent: Option<usize>,
    /// Indices of the children.
    pub children: Vec<usize>,
    /// Transform from this node's space to its parent's; affine.
    pub local: DMat4,
    /// Rest transform as the parts that animations change; `None`: `local` is not animated by
    /// parts.
    pub trs: Option<Trs>,
    /// Index into `Scene::meshes`.
    pub mesh: Option<usize>,
    /// Index into `Scene::skins`: joints place the mesh. This node, a root, is only the space of
    /// its vertices (`Scene::palette`).
    pub skin: Option<usize>,
    /// Weights of the mesh's morph targets.
    pub weights: Vec<f32>,
    /// Index into `Scene::lights`; it emits along the node's -Z.
    pub light: Option<usize>,
    /// Index into `Scene::cameras`; it looks along the node's -Z, +Y up.
    pub camera: Option<usize>,
}

/// A mesh: a list of triangle lists, each with one material.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// The author's name, possibly empty.
    pub name: String,
    /// Triangle lists.
    pub primitives: Vec<Primitive>,
}

/// A triangle list with one material. Empty vectors stand for absent attributes.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Positions (m), mesh space.
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Unit tangents in xyz; w is +1 or -1: bitangent = w * cross(normal, tangent). Empty if the
    /// material needs none.
    pub tangents: Vec<Vec4>,
    /// UV set 0; (0, 0) is the upper left corner of the image.
    pub uv0: Vec<Vec2>,
    /// UV set 1.
    pub uv1: Vec<Vec2>,
    /// Linear vertex colors, a factor of the base color.
    pub colors: Vec<Vec4>,
    /// Triangles as indices into the attributes, counterclockwise seen from the front.
    pub indices: Vec<u32>,
    /// Index into `Scene::materials`.
    pub material: Option<usize>,
    /// Skinning and morph targets; positions, normals and tangents above are then those of one pose
    /// (`Scene::bake`).
    pub deform: Option<Arc<Deform>>,
}

/// The metallic/roughness material of glTF 2.0 (section 3.9).
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The author's name, possibly empty.
    pub name: String,
    /// Linear base color in rgb and opacity in a; a factor of the texture.
    pub base_color: Vec4,
    /// Base color (sRGB) and opacity.
    pub base_color_texture: Option<TextureRef>,
    /// 0 dielectric to 1 metal; a factor of the texture's blue.
    pub metallic: f32,
    /// Perceptual roughness 0 to 1 (alpha = roughness^2); a factor of the texture's green.
    pub roughness: f32,
    /// Roughness in green, metallic in blue (linear).
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals (linear), +X right, +Y up.
    pub normal_texture: Option<TextureRef>,
    /// Scale of the normal map's x and y.
    pub normal_scale: f32,
    /// Fraction of indirect light, diffuse and specular, that reaches the surface, in red (linear,
    /// 0 to 1): glTF 2.0, section 3.9.3. Direct light is not dimmed. Only the rasterizer applies it
    /// (docs/ambient-occlusion.md).
    pub occlusion_texture: Option<TextureRef>,
    /// Strength of the occlusion, 0 to 1.
    pub occlusion_strength: f32,
    /// Emitted luminance in nits, linear rgb: emissiveFactor * KHR_materials_emissive_strength, a
    /// factor of the texture.
    pub emission: Vec3,
    /// Emission (sRGB).
    pub emissive_texture: Option<TextureRef>,
    /// Use of opacity.
    pub alpha: AlphaMode,
    /// Both sides are visible; the back has the opposite normal.
    pub double_sided: bool,
    /// KHR_materials_unlit: the base color is shown without lighting.
    pub unlit: bool,
    /// KHR_materials_ior: index of refraction of the dielectric against air, at least 1; 0 reflects
    /// all light.
    pub ior: f32,
    /// KHR_materials_transmission: fraction of the light not reflected specularly that is
    /// transmitted instead of reflected diffusely, 0 to 1; a factor of the texture's red.
    pub transmission: f32,
    /// Transmission in red (linear).
    pub transmission_texture: Option<TextureRef>,
    /// KHR_materials_volume: the medium inside the mesh.
    pub volume: MaterialVolume,
    /// KHR_materials_dispersion: 20 over the Abbe number; 0 is no dispersion.
    pub dispersion: f32,
    /// KHR_materials_specular: strength and color of the dielectric's specular reflection.
    pub specular: Specular,
    /// KHR_materials_clearcoat: a clear dielectric layer on top.
    pub clearcoat: Clearcoat,
    /// KHR_materials_sheen: retroreflective fibers of cloth.
    pub sheen: Sheen,
    /// KHR_materials_anisotropy: direction-dependent roughness.
    pub anisotropy: Anisotropy,
    /// KHR_materials_iridescence: a thin film, as of soap or oil.
    pub iridescence: Iridescence,
    /// KHR_materials_diffuse_transmission: diffuse light through a thin surface such as a leaf.
    pub diffuse_transmission: DiffuseTransmission,
    /// Water settings (`Scene::add_water`); `None` if the material is not water.
    pub water: Option<Arc<Water>>,
}

/// KHR_materials_specular.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specular {
    /// Strength of the dielectric's reflection at every angle, 0 to 1; a factor of the texture's
    /// alpha.
    pub factor: f32,
    /// Strength in alpha (linear).
    pub texture: Option<TextureRef>,
    /// Color of the reflection at normal incidence, linear rgb, at least 0; values above 1 exceed
    /// the reflectance of the index of refraction.
    pub color: Vec3,
    /// Specular color (sRGB).
    pub color_texture: Option<TextureRef>,
}

impl Default for Specular {
    /// Specular reflection by the index of refraction alone.
    fn default() -> Self {
        Self { factor: 1.0, texture: None, color: Vec3::ONE, color_texture: None }
    }
}

/// KHR_materials_clearcoat: a smooth dielectric layer of index 1.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearcoat {
    /// Coat strength, 0 to 1; a factor of the texture's red.
    pub factor: f32,
    /// Coat strength in red (linear).
    pub texture: Option<TextureRef>,
    /// Perceptual roughness, 0 to 1; a factor of the texture's green.
    pub roughness: f32,
    /// Roughness in green (linear).
    pub roughness_texture: Option<TextureRef>,
    /// Tangent-space normals of the coat (linear); `None`: the mesh's normals, not those of
    /// `Material::normal_texture`.
    pub normal_texture: Option<TextureRef>,
    /// Scale of the coat normal map's x and y.
    pub normal_scale: f32,
}

impl Default for Clearcoat {
    /// No coat.
    fn default() -> Self {
        Self {
            factor: 0.0,
            texture: None,
            roughness: 0.0,
            roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
        }
    }
}

/// Minimum sheen roughness (`MIN_SHEEN_ROUGHNESS` in `shaders/lib/extended_brdf.glsl`). A smaller
/// one reflects only at grazing angles that hardly any ray samples.
pub const MIN_SHEEN_ROUGHNESS: f64 = 0.07;

/// KHR_materials_sheen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sheen {
    /// Sheen color and strength, linear rgb, 0 to 1; black is no sheen. A factor of the texture.
    pub color: Vec3,
    /// Sheen color (sRGB).
    pub color_texture: Option<TextureRef>,
    /// Perceptual roughness, 0 to 1; a factor of the texture's alpha.
    pub roughness: f32,
    /// Roughness in alpha (linear).
    pub roughness_texture: Option<TextureRef>,
}

/// KHR_materials_anisotropy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Anisotropy {
    /// Extra roughness along the direction relative to across it, 0 to 1; a factor of the texture's
    /// blue.
    pub strength: f32,
    /// Direction from the tangent towards the bitangent (rad); added to the texture's direction.
    pub rotation: f32,
    /// Direction in red and green (-1 to 1), strength in blue (linear).
    pub texture: Option<TextureRef>,
}

/// KHR_materials_iridescence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iridescence {
    /// Strength, 0 to 1; a factor of the texture's red.
    pub factor: f32,
    /// Strength in red (linear).
    pub texture: Option<TextureRef>,
    /// Index of refraction of the film, at least 1.
    pub ior: f32,
    /// Thickness (nm) where the texture's green is 0.
    pub thickness_minimum: f32,
    /// Thickness (nm) where it is 1, or everywhere without a texture.
    pub thickness_maximum: f32,
    /// Thickness in green (linear).
    pub thickness_texture: Option<TextureRef>,
}

impl Default for Iridescence {
    /// No film.
    fn default() -> Self {
        Self {
            factor: 0.0,
            texture: None,
            ior: 1.3,
            thickness_minimum: 100.0,
            thickness_maximum: 400.0,
            thickness_texture: None,
        }
    }
}

/// KHR_materials_diffuse_transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiffuseTransmission {
    /// Fraction of the diffuse light that is transmitted, 0 to 1; a factor of the texture's alpha.
    pub factor: f32,
    /// Fraction in alpha (linear).
    pub texture: Option<TextureRef>,
    /// Color of the transmitted light, linear rgb, 0 to 1; a factor of the texture.
    pub color: Vec3,
    /// Transmission color (sRGB).
    pub color_texture: Option<TextureRef>,
}

impl Default for DiffuseTransmission {
    /// No diffuse transmission.
    fn default() -> Self {
        Self { factor: 0.0, texture: None, color: Vec3::ONE, color_texture: None }
    }
}

impl Material {
    /// Names of the [`Self::textures`] that hold colors, which are sRGB-encoded; all others are
    /// linear.
    pub const COLOR_TEXTURES: [&'static str; 5] =
        ["base color", "emission", "specular color", "sheen color", "diffuse transmission color"];

    /// All texture slots, as (name, texture).
    #[must_use]
    pub const fn textures(&self) -> [(&'static str, Option<TextureRef>); 19] {
        [
            ("base color", self.base_color_texture),
            ("metallic and roughness", self.metallic_roughness_texture),
            ("normals", self.normal_texture),
            ("occlusion", self.occlusion_texture),
            ("emission", self.emissive_texture),
            ("transmission", self.transmission_texture),
            ("thickness", self.volume.thickness_texture),
            ("specular", self.specular.texture),
            ("specular color", self.specular.color_texture),
            ("clear coat", self.clearcoat.texture),
            ("clear coat roughness", self.clearcoat.roughness_texture),
            ("clear coat normals", self.clearcoat.normal_texture),
            ("sheen color", self.sheen.color_texture),
            ("sheen roughness", self.sheen.roughness_texture),
            ("anisotropy", self.anisotropy.texture),
            ("iridescence", self.iridescence.texture),
            ("iridescence thickness", self.iridescence.thickness_texture),
            ("diffuse transmission", self.diffuse_transmission.texture),
            ("diffuse transmission color", self.diffuse_transmission.color_texture),
        ]
    }

    /// UV set of the tangents that a mesh with this material needs; `None` if it needs no tangents.
    ///
    /// It is the UV set of the normal map, as KHR_materials_anisotropy specifies; else that of the
    /// coat's normal map or the anisotropy texture. Without any of these the extension requires
    /// tangents in the file; if they are absent, tangents follow UV set 0.
    #[must_use]
    pub fn tangent_uv(&self) -> Option<u8> {
        if self.unlit {
            return None;
        }
        let coat = self.clearcoat.normal_texture.filter(|_| self.clearcoat.factor > 0.0);
        let anisotropic = self.anisotropy.strength > 0.0;
        let map = self.normal_texture.or(coat).or(self.anisotropy.texture.filter(|_| anisotropic));
        map.map(|map| map.uv_set).or(anisotropic.then_some(0))
    }

    /// True if the surface transmits light specularly.
    #[must_use]
    pub fn transmits(&self) -> bool {
        // A texture may make parts of a metal dielectric.
        let dielectric = self.metallic < 1.0 || self.metallic_roughness_texture.is_some();
        self.transmission > 0.0 && dielectric && !self.unlit
    }

    /// True if the surface transmits light diffusely.
    #[must_use]
    pub fn transmits_diffusely(&self) -> bool {
        let dielectric = self.metallic < 1.0 || self.metallic_roughness_texture.is_some();
        self.diffuse_transmission.factor > 0.0 && dielectric && !self.unlit
    }

    /// True if the mesh is the boundary of a volume of this material; else it is a thin wall.
    #[must_use]
    pub fn encloses_volume(&self) -> bool {
        (self.transmits() || self.transmits_diffusely()) && self.volume.thickness > 0.0
    }
}

/// KHR_materials_volume: a homogeneous medium behind a transmissive surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialVolume {
    /// Thickness (mesh space) for renderers that cannot measure it; 0: a thin wall, with the same
    /// medium on both sides. A factor of the texture's green.
    pub thickness: f32,
    /// Thickness in green (linear).
    pub thickness_texture: Option<TextureRef>,
    /// Distance (m) after which white light has `attenuation_color`, above 0; infinite: no
    /// absorption.
    pub attenuation_distance: f32,
    /// Transmittance over the attenuation distance, linear rgb, 0 to 1.
    pub attenuation_color: Vec3,
}

impl Default for MaterialVolume {
    /// A thin wall.
    fn default() -> Self {
        Self {
            thickness: 0.0,
            thickness_texture: None,
            attenuation_distance: f32::INFINITY,
            attenuation_color: Vec3::ONE,
        }
    }
}

impl MaterialVolume {
    /// Absorption coefficient (1/m per channel), KHR_materials_volume, section "Attenuation":
    /// -ln(color) / distance; infinite where the color is 0.
    #[must_use]
    pub fn absorption(&self) -> DVec3 {
        let distance = f64::from(self.attenuation_distance);
        let of = |color: f32| {
            if !distance.is_finite() || color >= 1.0 {
                0.0
            } else {
                -f64::from(color.max(0.0)).ln() / distance
            }
        };
        DVec3::from_array(self.attenuation_color.to_array().map(of))
    }
}

impl Default for Material {
    /// The default of glTF 2.0: white, fully metallic, fully rough, opaque.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emission: Vec3::ZERO,
            emissive_texture: None,
            alpha: AlphaMode::Opaque,
            double_sided: false,
            unlit: false,
            ior: 1.5,
            transmission: 0.0,
            transmission_texture: None,
            volume: MaterialVolume::default(),
            dispersion: 0.0,
            specular: Specular::default(),
            clearcoat: Clearcoat::default(),
            sheen: Sheen::default(),
            anisotropy: Anisotropy::default(),
            iridescence: Iridescence::default(),
            diffuse_transmission: DiffuseTransmission::default(),
            water: None,
        }
    }
}

/// Use of a material's opacity (glTF 2.0 section 3.9.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlphaMode {
    /// Opacity is ignored.
    Opaque,
    /// Opaque where opacity is at least the cutoff, else transparent.
    Mask {
        /// Opacity cutoff.
        cutoff: f32,
    },
    /// Composited over what lies behind by the `over` operator.
    Blend,
}

/// A reference to a texture, with UV set and transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into `Scene::textures`.
    pub texture: usize,
    /// UV set: 0 or 1.
    pub uv_set: u8,
    /// KHR_texture_transform as rows of a 2x3 matrix: (u', v') = (row0 . (u, v, 1), row1 . (u, v,
    /// 1)).
    pub transform: [[f32; 3]; 2],
}

impl TextureRef {
    /// The identity transform.
    pub const IDENTITY: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
}

/// An image with a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Index into `Scene::images`.
    pub image: usize,
    /// Filters and address modes.
    pub sampler: Sampler,
}

/// Filters and address modes of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Magnification: linear if true, else nearest.
    pub mag_linear: bool,
    /// Minification: linear if true, else nearest.
    pub min_linear: bool,
    /// Mip levels: `None` uses only level 0; `Some(true)` interpolates two levels, `Some(false)`
    /// takes the nearest.
    pub mip_linear: Option<bool>,
    /// Address mode along u.
    pub wrap_u: Wrap,
    /// Address mode along v.
    pub wrap_v: Wrap,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            mag_linear: true,
            min_linear: true,
            mip_linear: Some(true),
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
        }
    }
}

/// Address mode outside of 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Repeats the image.
    Repeat,
    /// Repeats the image mirrored.
    Mirror,
    /// Clamps to the edge texel.
    Clamp,
}

/// A decoded image, eight bits a channel as stored (not yet linear), or an error pattern in its
/// place.
#[derive(Clone, Debug)]
pub struct Image {
    /// The author's name, or the file's.
    pub name: String,
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
    /// `width * height` pixels of red, green, blue, alpha; top row first.
    pub rgba8: Arc<[u8]>,
    /// The file was missing or broken, and the pixels are the error pattern.
    pub is_error_pattern: bool,
    /// The same image block-compressed for the GPU, with the file's own mip levels down to 4x4
    /// texels or less.
    pub compressed: Option<Arc<CompressedImage>>,
}

/// A block-compressed image: blocks of 4x4 texels that GPUs sample directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressedImage {
    /// Block format.
    pub format: BlockFormat,
    /// Mip levels, full size first, each half the previous size (rounded down): rows of blocks, top
    /// row first.
    pub levels: Vec<Vec<u8>>,
}

/// Block compression as Vulkan names it (Khronos Data Format Specification 1.3, chapters 18 to 20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFormat {
    /// RGB and 1-bit alpha, 8 bytes.
    Bc1,
    /// RGB and 4-bit alpha, 16 bytes.
    Bc2,
    /// RGB and interpolated alpha, 16 bytes.
    Bc3,
    /// Red, 8 bytes.
    Bc4,
    /// Red and green, 16 bytes.
    Bc5,
    /// RGB or RGBA, 16 bytes.
    Bc7,
}

impl BlockFormat {
    /// Bytes a block.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bc1 | Self::Bc4 => 8,
            Self::Bc2 | Self::Bc3 | Self::Bc5 | Self::Bc7 => 16,
        }
    }

    /// True if the format has an sRGB variant.
    #[must_use]
    pub const fn may_be_srgb(self) -> bool {
        !matches!(self, Self::Bc4 | Self::Bc5)
    }
}

/// A light source: of KHR_lights_punctual, or with a shape from a look.
#[derive(Clone, Debug)]
pub struct Light {
    /// The author's name, possibly empty.
    pub name: String,
    /// Linear color from the file; multiplies the intensity per channel.
    pub color: Vec3,
    /// Emitter and strength as authored. It emits along the node's -Z; a rectangle's width and a
    /// tube's length are along +X.
    pub source: PhysicalLight,
    /// Finite range (m) from the file, applied as the specification's windowing 1 - (d/range)^4;
    /// `None` if the file states none.
    pub range: Option<f32>,
    /// Photometric profile of a point or spot light.
    pub profile: Option<Arc<IesProfile>>,
    /// True if surfaces cast shadows in this light.
    pub shadow: bool,
    /// True if its emissive surface is visible, if it has one.
    pub visible: bool,
    /// True if the horizon clips the disk of a sun: the part below gives no light. Its strength is
    /// that of the whole disk. A sky's sun and moon are clipped; a file's suns may emit from below.
    pub clip_at_horizon: bool,
    /// The light without gel and modifiers, if a look puts any in front of it.
    pub bare: Option<Arc<Self>>,
}

impl Light {
    /// A white light without a range, with shadows.
    #[must_use]
    pub fn new(name: &str, source: PhysicalLight) -> Self {
        Self {
            name: name.into(),
            color: Vec3::ONE,
            source,
            range: None,
            profile: None,
            shadow: true,
            visible: true,
            clip_at_horizon: false,
            bare: None,
        }
    }

    /// The light without gel and modifiers: its strength and color are those of its author.
    #[must_use]
    pub fn bare(&self) -> &Self {
        self.bare.as_deref().unwrap_or(self)
    }

    /// The emitter.
    #[must_use]
    pub const fn emitter(&self) -> Emitter {
        self.source.emitter()
    }

    /// True if it is infinitely far.
    #[must_use]
    pub const fn is_directional(&self) -> bool {
        matches!(self.emitter(), Emitter::Sun { .. })
    }

    /// The visible disk of a sun, by the world matrix of its node; `None` for other lights.
    #[must_use]
    pub fn sun_disk(&self, world: &DMat4) -> Option<SunDisk> {
        let Emitter::Sun { angular_radius } = self.emitter() else { return None };
        let middle = world.z_axis.truncate().normalize_or(DVec3::Z);
        let of = if self.clip_at_horizon { SunDisk::over_horizon } else { SunDisk::whole };
        Some(of(middle, angular_radius))
    }

    /// Maximum far-field intensity, before the color; `None` for suns. With a photometric profile,
    /// lumens are those of profile and cone together.
    #[must_use]
    pub fn candela(&self) -> Option<Candela> {
        match (&self.profile, self.source.authored()) {
            (Some(profile), LightStrength::Lumens(lumens)) => {
                let angle = self.profile_flux(profile).get();
                Some(if angle > 0.0 { Candela(lumens.get() / angle) } else { Candela(0.0) })
            }
            _ => self.source.candela(),
        }
    }

    /// Total flux, before the color; `None` for suns.
    #[must_use]
    pub fn lumens(&self) -> Option<Lumen> {
        match &self.profile {
            Some(profile) => Some(Lumen(self.candela()?.get() * self.profile_flux(profile).get())),
            None => self.source.lumens(),
        }
    }

    /// Flux over maximum intensity of a profile within this light's cone: exact without a cone,
    /// else by the midpoint rule, about 0.01 %.
    fn profile_flux(&self, profile: &IesProfile) -> Steradian {
        let peak = profile.peak().get();
        if peak <= 0.0 {
            return Steradian(0.0);
        }
        let Emitter::Spot { cone, .. } = self.emitter() else {
            return Steradian(profile.lumens().get() / peak);
        };
        profile.flux_within([cone.inner(), cone.outer()], || cone_flux(cone, profile))
    }

    /// Fraction of its photometric profile's flux that a spot's cone removes; `None` without a
    /// file's profile or a cone.
    #[must_use]
    pub fn cut_fraction(&self) -> Option<f64> {
        let profile = self.profile.as_ref().filter(|profile| !profile.is_computed())?;
        let whole = profile.lumens().get() / profile.peak().get();
        let is_cut = matches!(self.emitter(), Emitter::Spot { .. }) && whole.is_finite();
        (is_cut && whole > 0.0).then(|| 1.0 - self.profile_flux(profile).get() / whole)
    }

    /// Luminance of its color, which multiplies the strength.
    #[must_use]
    pub fn color_luminance(&self) -> f64 {
        crate::photometry::color::luminance(self.color.as_dvec3())
    }
}

/// Flux over maximum intensity of a profile within a cone, by the midpoint rule. The profile's peak
/// is above 0.
fn cone_flux(cone: Cone, profile: &IesProfile) -> Steradian {
    let (rows, columns) = (1024, 180);
    let mut sum = 0.0;
    for row in 0..rows {
        // Equal steps of angle up to the cone's edge.
        let theta = (f64::from(row) + 0.5) / f64::from(rows) * cone.outer();
        let (sin, cos) = theta.sin_cos();
        let edge = cone.falloff(cos) * sin * cone.outer() / f64::from(rows);
        for column in 0..columns {
            let (s, c) =
                (std::f64::consts::TAU * (f64::from(column) + 0.5) / f64::from(columns)).sin_cos();
            sum += edge * profile.candela_towards(DVec3::new(sin * c, sin * s, -cos)).get();
        }
    }
    Steradian(sum * std::f64::consts::TAU / f64::from(columns) / profile.peak().get())
}

/// Environment light: an equirectangular map (image-based lighting).
#[derive(Clone, Debug)]
pub struct Environment {
    /// Luminance by direction.
    pub map: Arc<RadianceMap>,
    /// Rotation of the map about the vertical (rad), clockwise seen from above: north moves to the
    /// east.
    pub rotation: f64,
    /// Origin of the map, for display.
    pub origin: String,
}

/// A camera of the file; exposure is not part of glTF.
#[derive(Clone, Debug)]
pub struct Camera {
    /// The author's name, possibly empty.
    pub name: String,
    /// The projection.
    pub projection: Projection,
}

/// A projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Perspective projection.
    Perspective {
        /// Vertical field of view (rad), in (0, pi).
        vertical_fov: f32,
        /// Width over height, if the file states it.
        aspect: Option<f32>,
        /// Near plane distance (m), above 0.
        near: f32,
        /// Far plane distance (m); `None` is infinite.
        far: Option<f32>,
    },
    /// Orthographic projection.
    Orthographic {
        /// Half the width (m) of the view.
        half_width: f32,
        /// Half the height (m) of the view.
        half_height: f32,
        /// Near plane distance (m).
        near: f32,
        /// Far plane distance (m).
        far: f32,
    },
}

/// A node with its world transform, as `Scene::walk` yields it.
#[derive(Clone, Copy, Debug)]
pub struct PlacedNode<'a> {
    /// Index into `Scene::nodes`.
    pub index: usize,
    /// The node.
    pub node: &'a Node,
    /// Transform from the node's space to world space.
    pub world: DMat4,
}

impl Scene {
    /// Assigns the materials of a variant, by its address; false if there is none.
    pub fn choose_variant(&mut self, address: &str) -> bool {
        let things =
            AddressTable::from_names(self.variants.iter().map(|variant| variant.name.as_str()));
        let found = things.find(address).first().and_then(|&variant| self.variants.get(variant));
        let Some(variant) = found else { return false };
        for &(mesh, primitive, material) in &variant.materials {
            let primitive =
                self.meshes.get_mut(mesh).and_then(|mesh| mesh.primitives.get_mut(primitive));
            if let Some(primitive) = primitive.filter(|_| material < self.materials.len()) {
                primitive.material = Some(material);
            }
        }
        true
    }

    /// All shown nodes with their world transforms, parents before children.
    ///
    /// Iterative, so that a deep hierarchy cannot exhaust the stack.
    #[must_use]
    pub fn walk(&self) -> Vec<PlacedNode<'_>> {
        let mut out = Vec::with_capacity(self.nodes.len());
        let mut stack: Vec<(usize, DMat4)> =
            self.roots.iter().rev().map(|&root| (root, DMat4::IDENTITY)).collect();
        while let Some((index, parent)) = stack.pop() {
            let Some(node) = self.nodes.get(index) else { continue };
            let world = parent * node.local;
            out.push(PlacedNode { index, node, world });
            stack.extend(node.children.iter().rev().map(|&child| (child, world)));
        }
        out
    }

    /// World-space bounding box of everything shown, as (minimum, maximum); `None` if nothing is.
    #[must_use]
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let mut bounds: Option<(DVec3, DVec3)> = None;
        for placed in self.walk() {
            let Some(mesh) = placed.node.mesh.and_then(|mesh| self.meshes.get(mesh)) else {
                continue;
            };
            for position in mesh.primitives.iter().flat_map(|primitive| &primitive.positions) {
                let p = placed.world.transform_point3(position.as_dvec3());
                bounds = Some(bounds.map_or((p, p), |(lo, hi)| (lo.min(p), hi.max(p))));
            }
        }
        bounds
    }

    /// Number of shown triangles, counting each instance.
    #[must_use]
    pub fn instanced_triangles(&self) -> usize {
        self.walk()
            .iter()
            .filter_map(|placed| placed.node.mesh.and_then(|mesh| self.meshes.get(mesh)))
            .flat_map(|mesh| &mesh.primitives)
            .map(|primitive| primitive.indices.len() / 3)
            .sum()
    }
}
