//! The scene as every renderer sees it: plain data, validated, in metres, glTF axes (right-handed,
//! Y up).
//!
//! Invariants that an importer guarantees and the renderers rely on: every index is in range; the
//! node hierarchy is a forest; all numbers are finite; every triangle list has a length that is a
//! multiple of three; `normals`, and where present `tangents`, `uv0`, `uv1` and `colors` are as
//! long as `positions`; normals and tangents have unit length.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use glam::{DMat4, DVec3, Vec2, Vec3, Vec4};

use super::{
    address::AddressTable,
    animation::{Animation, Deform, Skin, Trs},
    water::Water,
};
use crate::photometry::{
    Candela, Lumen, Steradian,
    environment::RadianceMap,
    ies::IesProfile,
    lights::{Emitter, LightStrength, PhysicalLight, SunDisk},
};

/// A whole scene.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The name that the file gives it, or the file's stem.
    pub name: String,
    /// The file it was read from; none for scenes made in code.
    pub source: Option<PathBuf>,
    /// All nodes; only those reachable from `roots` are part of the picture.
    pub nodes: Vec<Node>,
    /// Indices of the nodes without a parent that belong to the shown scene.
    pub roots: Vec<usize>,
    /// Meshes, each of which any number of nodes may instance.
    pub meshes: Vec<Mesh>,
    /// Materials that primitives refer to; a primitive without one uses `Material::default()`.
    pub materials: Vec<Material>,
    /// Pairs of image and sampler that materials refer to.
    pub textures: Vec<Texture>,
    /// Decoded pictures.
    pub images: Vec<Image>,
    /// Light sources that nodes refer to.
    pub lights: Vec<Light>,
    /// Cameras that nodes refer to.
    pub cameras: Vec<Camera>,
    /// Light from all around; none is black.
    pub environment: Option<Environment>,
    /// Boxes whose own light is captured, small ones first.
    pub probes: Vec<super::Probe>,
    /// Fog, smoke, clouds: what fills boxes and closed meshes.
    pub volumes: Vec<super::ParticipatingVolume>,
    /// Surfaces that glow light others (`scene.emissive_lights` of the look).
    pub emissive_lights: bool,
    /// How many lights they are at most, neighbours being merged (`scene.emissive_patches` of the
    /// look); none: 512 (`emissive::DEFAULT_MAX_EMISSIVE_LIGHTS`).
    pub max_emissive_lights: Option<u32>,
    /// Rough metal and dielectrics do not lose the light that facets pass on to each other
    /// (`scene.multiscatter` of the look).
    pub multiscatter: bool,
    /// Other materials that the file has for its primitives (`scene.variant` of the look).
    pub variants: Vec<MaterialVariant>,
    /// Skeletons that nodes with a mesh refer to.
    pub skins: Vec<Skin>,
    /// What moves; the scene itself is at rest until it is posed (`Scene::at`).
    pub animations: Vec<Animation>,
    /// The time (s) that it is shown at: where animations have put things, and how far water has
    /// flowed.
    pub time: f64,
    /// What the importer repaired, ignored or approximated, in the order it met it.
    pub notes: Vec<Note>,
}

/// KHR_materials_variants: a name for a choice of materials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaterialVariant {
    /// The author's name, possibly empty.
    pub name: String,
    /// Index into `Scene::meshes`, into the mesh's primitives, and the material that the primitive
    /// has then; all others keep theirs.
    pub materials: Vec<(usize, usize, usize)>,
}

/// One remark of the importer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How far the picture may be from what the author meant.
    pub kind: NoteKind,
    /// Where in the file: a JSON pointer such as `/meshes/0/primitives/1`, or a file's name.
    pub place: String,
    /// What was found and what was done about it, one sentence.
    pub message: String,
}

/// The weight of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// Worth knowing; the picture is as the author meant it.
    Info,
    /// The file uses a feature that is not rendered, or only approximated.
    Unsupported,
    /// The file breaks the specification here and was repaired.
    Repaired,
}

/// A node of the hierarchy.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The author's name, possibly empty, not necessarily unique.
    pub name: String,
    /// The parent's index, none for a root.
    pub parent: Option<usize>,
    /// The children's indices.
    pub children: Vec<usize>,
    /// From this node's space to its parent's; affine.
    pub local: DMat4,
    /// The same at rest, in the parts that animations move; none: of `local`.
    pub trs: Option<Trs>,
    /// Index into `Scene::meshes`.
    pub mesh: Option<usize>,
    /// Index into `Scene::skins`: the joints carry the mesh, and this node, a root, only says what
    /// its vertices are relative to (`Scene::palette`).
    pub skin: Option<usize>,
    /// Weights of the mesh's morph targets.
    pub weights: Vec<f32>,
    /// Index into `Scene::lights`; it shines along the node's -Z.
    pub light: Option<usize>,
    /// Index into `Scene::cameras`; it looks along the node's -Z, its up is +Y.
    pub camera: Option<usize>,
}

/// A mesh: a list of triangle lists, each with one material.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// The author's name, possibly empty.
    pub name: String,
    /// The parts.
    pub primitives: Vec<Primitive>,
}

/// A triangle list with one material. Empty vectors stand for absent attributes.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Positions in metres in the mesh's space.
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Unit tangents in xyz; w is +1 or -1, so that bitangent = w * cross(normal, tangent). Empty:
    /// no normal map needs them.
    pub tangents: Vec<Vec4>,
    /// Texture coordinates 0; (0, 0) is the upper left corner of the picture.
    pub uv0: Vec<Vec2>,
    /// Texture coordinates 1.
    pub uv1: Vec<Vec2>,
    /// Linear colours, a factor of the base colour.
    pub colors: Vec<Vec4>,
    /// Triangles as indices into the attributes, counter-clockwise seen from the front.
    pub indices: Vec<u32>,
    /// Index into `Scene::materials`.
    pub material: Option<usize>,
    /// What moves the vertices: positions, normals and tangents above are then those of one pose
    /// (`Scene::bake`).
    pub deform: Option<Arc<Deform>>,
}

/// The metallic/roughness material of glTF 2.0 (section 3.9).
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The author's name, possibly empty.
    pub name: String,
    /// Linear base colour in rgb and opacity in a; a factor of the texture.
    pub base_color: Vec4,
    /// Base colour (sRGB) and opacity.
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
    /// Share of indirect light, diffuse and specular, that reaches the surface, in red (linear, 0
    /// to 1): glTF 2.0, section 3.9.3. Lamps are not dimmed. Only the raster renderer dims light by
    /// it (docs/ambient-occlusion.md).
    pub occlusion_texture: Option<TextureRef>,
    /// How much of the occlusion is applied, 0 to 1.
    pub occlusion_strength: f32,
    /// Emitted luminance in nits, linear rgb: emissiveFactor * KHR_materials_emissive_strength, a
    /// factor of the texture.
    pub emission: Vec3,
    /// Emission (sRGB).
    pub emissive_texture: Option<TextureRef>,
    /// How opacity is used.
    pub alpha: AlphaMode,
    /// Both sides are seen; the back has the opposite normal.
    pub double_sided: bool,
    /// KHR_materials_unlit: the base colour is shown as it is and no light acts on it.
    pub unlit: bool,
    /// KHR_materials_ior: index of refraction of the dielectric against air, at least 1; or 0,
    /// which stands for a surface that reflects all light.
    pub ior: f32,
    /// KHR_materials_transmission: the part of the light not reflected specularly that passes
    /// through instead of being reflected diffusely, 0 to 1; a factor of the texture's red.
    pub transmission: f32,
    /// Transmission in red (linear).
    pub transmission_texture: Option<TextureRef>,
    /// KHR_materials_volume: what the mesh encloses.
    pub volume: MaterialVolume,
    /// KHR_materials_dispersion: 20 over the Abbe number; 0: every colour is bent alike.
    pub dispersion: f32,
    /// KHR_materials_specular: the strength of the dielectric's reflection.
    pub specular: Specular,
    /// KHR_materials_clearcoat: a clear layer over everything else.
    pub clearcoat: Clearcoat,
    /// KHR_materials_sheen: fibres that stand off a cloth.
    pub sheen: Sheen,
    /// KHR_materials_anisotropy: highlights that are longer one way.
    pub anisotropy: Anisotropy,
    /// KHR_materials_iridescence: a thin film, as of soap or oil.
    pub iridescence: Iridescence,
    /// KHR_materials_diffuse_transmission: light that leaves diffusely on the other side, as of a
    /// leaf.
    pub diffuse_transmission: DiffuseTransmission,
    /// It is water (`Scene::add_water`): how it flows and ripples.
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
    /// Colour of the reflection along the normal, linear rgb, at least 0; above 1 it is stronger
    /// than that of the index of refraction.
    pub color: Vec3,
    /// That colour (sRGB).
    pub color_texture: Option<TextureRef>,
}

impl Default for Specular {
    /// As the index of refraction has it.
    fn default() -> Self {
        Self { factor: 1.0, texture: None, color: Vec3::ONE, color_texture: None }
    }
}

/// KHR_materials_clearcoat: a smooth dielectric layer of index 1.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearcoat {
    /// How much of it there is, 0 to 1; a factor of the texture's red.
    pub factor: f32,
    /// How much in red (linear).
    pub texture: Option<TextureRef>,
    /// Perceptual roughness, 0 to 1; a factor of the texture's green.
    pub roughness: f32,
    /// Roughness in green (linear).
    pub roughness_texture: Option<TextureRef>,
    /// Its own tangent-space normals (linear); none: those of the mesh, not of the normal map
    /// below.
    pub normal_texture: Option<TextureRef>,
    /// Scale of that map's x and y.
    pub normal_scale: f32,
}

impl Default for Clearcoat {
    /// None.
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

/// No sheen is narrower (`MIN_SHEEN_ROUGHNESS` in `shaders/lib/extended_brdf.glsl`): a smaller
/// roughness shines at grazing angles that hardly any ray meets.
pub const MIN_SHEEN_ROUGHNESS: f64 = 0.07;

/// KHR_materials_sheen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sheen {
    /// Colour and strength, linear rgb, 0 to 1; black: none. A factor of the texture's.
    pub color: Vec3,
    /// Colour (sRGB).
    pub color_texture: Option<TextureRef>,
    /// Perceptual roughness, 0 to 1; a factor of the texture's alpha.
    pub roughness: f32,
    /// Roughness in alpha (linear).
    pub roughness_texture: Option<TextureRef>,
}

/// KHR_materials_anisotropy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Anisotropy {
    /// How much rougher the surface is along the direction than across it, 0 to 1; a factor of the
    /// texture's blue.
    pub strength: f32,
    /// From the tangent towards the bitangent (rad); added to the texture's direction.
    pub rotation: f32,
    /// Direction in red and green (-1 to 1), strength in blue (linear).
    pub texture: Option<TextureRef>,
}

/// KHR_materials_iridescence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iridescence {
    /// How much of it there is, 0 to 1; a factor of the texture's red.
    pub factor: f32,
    /// How much in red (linear).
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
    /// None.
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
    /// The part of the diffuse light that leaves on the other side, 0 to 1; a factor of the
    /// texture's alpha.
    pub factor: f32,
    /// That part in alpha (linear).
    pub texture: Option<TextureRef>,
    /// Its colour, linear rgb, 0 to 1; a factor of the texture's.
    pub color: Vec3,
    /// Colour (sRGB).
    pub color_texture: Option<TextureRef>,
}

impl Default for DiffuseTransmission {
    /// None.
    fn default() -> Self {
        Self { factor: 0.0, texture: None, color: Vec3::ONE, color_texture: None }
    }
}

impl Material {
    /// Those of [`Self::textures`] that hold colours, which are sRGB-encoded; all others are
    /// linear.
    pub const COLOR_TEXTURES: [&'static str; 5] = [
        "base colour",
        "emission",
        "specular colour",
        "sheen colour",
        "diffuse transmission colour",
    ];

    /// Every texture it uses, with what for.
    #[must_use]
    pub const fn textures(&self) -> [(&'static str, Option<TextureRef>); 19] {
        [
            ("base colour", self.base_color_texture),
            ("metallic and roughness", self.metallic_roughness_texture),
            ("normals", self.normal_texture),
            ("occlusion", self.occlusion_texture),
            ("emission", self.emissive_texture),
            ("transmission", self.transmission_texture),
            ("thickness", self.volume.thickness_texture),
            ("specular", self.specular.texture),
            ("specular colour", self.specular.color_texture),
            ("clear coat", self.clearcoat.texture),
            ("clear coat roughness", self.clearcoat.roughness_texture),
            ("clear coat normals", self.clearcoat.normal_texture),
            ("sheen colour", self.sheen.color_texture),
            ("sheen roughness", self.sheen.roughness_texture),
            ("anisotropy", self.anisotropy.texture),
            ("iridescence", self.iridescence.texture),
            ("iridescence thickness", self.iridescence.thickness_texture),
            ("diffuse transmission", self.diffuse_transmission.texture),
            ("diffuse transmission colour", self.diffuse_transmission.color_texture),
        ]
    }

    /// Which texture coordinates the tangents follow that a mesh of it needs; none where it needs
    /// no tangents.
    ///
    /// Those of its normal map where it has one, as KHR_materials_anisotropy asks; else of the
    /// coat's normals or the map of directions. Without any of them the extension asks for tangents
    /// in the file: where there are none, those of the first texture coordinates stand in.
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

    /// Whether some light passes through it.
    #[must_use]
    pub fn transmits(&self) -> bool {
        // A texture may make parts of a metal a dielectric.
        let dielectric = self.metallic < 1.0 || self.metallic_roughness_texture.is_some();
        self.transmission > 0.0 && dielectric && !self.unlit
    }

    /// Whether some diffuse light leaves on the other side.
    #[must_use]
    pub fn transmits_diffusely(&self) -> bool {
        let dielectric = self.metallic < 1.0 || self.metallic_roughness_texture.is_some();
        self.diffuse_transmission.factor > 0.0 && dielectric && !self.unlit
    }

    /// Whether the mesh is the border of a volume of this material; else it is a thin wall.
    #[must_use]
    pub fn encloses_volume(&self) -> bool {
        (self.transmits() || self.transmits_diffusely()) && self.volume.thickness > 0.0
    }
}

/// KHR_materials_volume: a homogeneous medium behind a transmissive surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialVolume {
    /// Thickness (in the mesh's lengths) for renderers that cannot measure it; 0: the surface is a
    /// thin wall, with the same medium on both sides. A factor of the texture's green.
    pub thickness: f32,
    /// Thickness in green (linear).
    pub thickness_texture: Option<TextureRef>,
    /// Length (m) of a path of which `attenuation_color` remains, above 0; infinite: nothing is
    /// absorbed.
    pub attenuation_distance: f32,
    /// What remains of white light after that distance, linear rgb, 0 to 1.
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
    /// Absorption (1/m by channel): KHR_materials_volume, section "Attenuation": -ln(colour) /
    /// distance; infinite where the colour is 0.
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

/// How a material's opacity is used (glTF 2.0 section 3.9.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlphaMode {
    /// Opacity is ignored.
    Opaque,
    /// Opaque where opacity is at least the cutoff, else absent.
    Mask {
        /// The cutoff.
        cutoff: f32,
    },
    /// Composited over what lies behind by the `over` operator.
    Blend,
}

/// A material's use of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into `Scene::textures`.
    pub texture: usize,
    /// Which texture coordinates: 0 or 1.
    pub uv_set: u8,
    /// KHR_texture_transform as rows of a 2x3 matrix: (u', v') = (row0 . (u, v, 1), row1 . (u, v,
    /// 1)).
    pub transform: [[f32; 3]; 2],
}

impl TextureRef {
    /// No transform.
    pub const IDENTITY: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
}

/// A picture with the way it is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Index into `Scene::images`.
    pub image: usize,
    /// How it is sampled.
    pub sampler: Sampler,
}

/// How a texture is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Magnification: linear, else nearest.
    pub mag_linear: bool,
    /// Minification: linear, else nearest.
    pub min_linear: bool,
    /// Mip levels: `None` uses only level 0; `Some(true)` blends two levels, `Some(false)` takes
    /// the nearest.
    pub mip_linear: Option<bool>,
    /// Horizontally.
    pub wrap_u: Wrap,
    /// Vertically.
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

/// What lies outside of 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The picture again.
    Repeat,
    /// The picture mirrored.
    Mirror,
    /// The edge's texel.
    Clamp,
}

/// A decoded picture: eight bits a channel, as stored (not yet linear), or an error pattern in its
/// stead.
#[derive(Clone, Debug)]
pub struct Image {
    /// The author's name or the file's.
    pub name: String,
    /// Pixels across, at least 1.
    pub width: u32,
    /// Pixels down, at least 1.
    pub height: u32,
    /// `width * height` pixels of red, green, blue, alpha; top row first.
    pub rgba8: Arc<[u8]>,
    /// The file was missing or broken, and these are the pixels of the error pattern.
    pub is_error_pattern: bool,
    /// The same picture as the file holds it for a device, with the file's own mip levels down to
    /// 4x4 texels or less.
    pub compressed: Option<Arc<CompressedImage>>,
}

/// A picture in blocks of 4x4 texels that devices sample as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressedImage {
    /// The way a block is coded.
    pub format: BlockFormat,
    /// Levels of half the size each (rounded down), the picture itself first: rows of blocks, top
    /// row first.
    pub levels: Vec<Vec<u8>>,
}

/// Block compression as Vulkan names it (Khronos Data Format Specification 1.3, chapters 18 to 20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFormat {
    /// Colour and one bit of opacity, 8 bytes.
    Bc1,
    /// Colour and four bits of opacity, 16 bytes.
    Bc2,
    /// Colour and interpolated opacity, 16 bytes.
    Bc3,
    /// Red, 8 bytes.
    Bc4,
    /// Red and green, 16 bytes.
    Bc5,
    /// Colour with or without opacity, 16 bytes.
    Bc7,
}

impl BlockFormat {
    /// Bytes of a block.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bc1 | Self::Bc4 => 8,
            Self::Bc2 | Self::Bc3 | Self::Bc5 | Self::Bc7 => 16,
        }
    }

    /// Whether it may hold sRGB values.
    #[must_use]
    pub const fn may_be_srgb(self) -> bool {
        !matches!(self, Self::Bc4 | Self::Bc5)
    }
}

/// A light source: KHR_lights_punctual's, or one with a shape that a look gives it.
#[derive(Clone, Debug)]
pub struct Light {
    /// The author's name, possibly empty.
    pub name: String,
    /// Linear colour, as the file gives it: it multiplies the intensity channel by channel.
    pub color: Vec3,
    /// What shines, with the strength that its author wrote. It shines along the node's -Z; a
    /// rectangle's width and a tube's length lie along +X.
    pub source: PhysicalLight,
    /// A finite range (m) of the file, honoured as the specification's windowing 1 - (d/range)^4;
    /// never invented.
    pub range: Option<f32>,
    /// A measured distribution of a point or spot light.
    pub profile: Option<Arc<IesProfile>>,
    /// Whether what stands in its way casts shadows.
    pub shadow: bool,
    /// Whether its surface is seen, where it has one.
    pub visible: bool,
    /// Whether the level horizon cuts a sun's disk: what of it lies below gives no light. Its
    /// strength is that of the whole disk. A sky's sun and moon are cut; a file's suns may shine
    /// from below.
    pub clip_at_horizon: bool,
}

impl Light {
    /// A white light without a range that casts shadows.
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
        }
    }

    /// What shines.
    #[must_use]
    pub const fn emitter(&self) -> Emitter {
        self.source.emitter()
    }

    /// Whether it shines from infinitely far.
    #[must_use]
    pub const fn is_directional(&self) -> bool {
        matches!(self.emitter(), Emitter::Sun { .. })
    }

    /// A sun's disk as it is seen, by the world matrix of its node; none of other lights.
    #[must_use]
    pub fn sun_disk(&self, world: &DMat4) -> Option<SunDisk> {
        let Emitter::Sun { angular_radius } = self.emitter() else { return None };
        let middle = world.z_axis.truncate().normalize_or(DVec3::Z);
        let of = if self.clip_at_horizon { SunDisk::over_horizon } else { SunDisk::whole };
        Some(of(middle, angular_radius))
    }

    /// Its greatest intensity from far away, before the colour; none for the sun. Under a measured
    /// distribution, lumens are those of distribution and cone together.
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

    /// All the light it gives, before the colour; none for the sun.
    #[must_use]
    pub fn lumens(&self) -> Option<Lumen> {
        match &self.profile {
            Some(profile) => Some(Lumen(self.candela()?.get() * self.profile_flux(profile).get())),
            None => self.source.lumens(),
        }
    }

    /// Flux over the greatest intensity, of a measured distribution within this light's cone: exact
    /// without a cone, else by midpoints, 0.01 % or so.
    fn profile_flux(&self, profile: &IesProfile) -> Steradian {
        let peak = profile.peak().get();
        if peak <= 0.0 {
            return Steradian(0.0);
        }
        let Emitter::Spot { cone, .. } = self.emitter() else {
            return Steradian(profile.lumens().get() / peak);
        };
        let (rows, columns) = (1024, 180);
        let mut sum = 0.0;
        for row in 0..rows {
            // Equal steps of angle up to the cone's edge.
            let theta = (f64::from(row) + 0.5) / f64::from(rows) * cone.outer();
            let (sin, cos) = theta.sin_cos();
            let edge = cone.falloff(cos) * sin * cone.outer() / f64::from(rows);
            for column in 0..columns {
                let (s, c) = (std::f64::consts::TAU * (f64::from(column) + 0.5)
                    / f64::from(columns))
                .sin_cos();
                sum += edge * profile.candela_towards(DVec3::new(sin * c, sin * s, -cos)).get();
            }
        }
        Steradian(sum * std::f64::consts::TAU / f64::from(columns) / peak)
    }

    /// The luminance of its colour: what the strength is multiplied with.
    #[must_use]
    pub fn color_luminance(&self) -> f64 {
        crate::photometry::color::luminance(self.color.as_dvec3())
    }
}

/// Light from all around.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Luminance by direction.
    pub map: Arc<RadianceMap>,
    /// How far the map is turned about the vertical (rad), clockwise seen from above: what is north
    /// moves east.
    pub rotation: f64,
    /// Where it comes from, for people.
    pub origin: String,
}

/// A camera as the file gives it; the exposure is not part of glTF.
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
    /// Central.
    Perspective {
        /// Vertical field of view (rad), in (0, pi).
        vertical_fov: f32,
        /// Width over height where the file gives it.
        aspect: Option<f32>,
        /// Nearest distance (m), above 0.
        near: f32,
        /// Farthest distance (m); none is infinite.
        far: Option<f32>,
    },
    /// Parallel.
    Orthographic {
        /// Half the width (m) of the view.
        half_width: f32,
        /// Half the height (m) of the view.
        half_height: f32,
        /// Nearest distance (m).
        near: f32,
        /// Farthest distance (m).
        far: f32,
    },
}

/// A node's place in the world together with what it carries, as `Scene::walk` yields it.
#[derive(Clone, Copy, Debug)]
pub struct PlacedNode<'a> {
    /// Index into `Scene::nodes`.
    pub index: usize,
    /// The node.
    pub node: &'a Node,
    /// From the node's space to the world.
    pub world: DMat4,
}

impl Scene {
    /// One line for each thing that the parser of a light's photometric file ignored or assumed.
    #[must_use]
    pub fn profile_warnings(&self) -> Vec<String> {
        let mut told: Vec<(&str, &Arc<IesProfile>)> = Vec::new();
        for light in &self.lights {
            // Lights that share a profile are told of once.
            if let Some(profile) = &light.profile
                && !told.iter().any(|(_, other)| Arc::ptr_eq(other, profile))
            {
                told.push((&light.name, profile));
            }
        }
        let line =
            |name: &str, note: &String| format!("the photometric file of light '{name}': {note}");
        told.into_iter()
            .flat_map(|(name, profile)| profile.notes().iter().map(move |note| line(name, note)))
            .collect()
    }

    /// What should be known of materials that are shown: sheens that are drawn rougher than they
    /// are. Textures count by their least texel.
    #[must_use]
    pub fn material_warnings(&self) -> Option<String> {
        let meshes =
            self.walk().into_iter().filter_map(|placed| self.meshes.get(placed.node.mesh?));
        let used =
            meshes.flat_map(|mesh| &mesh.primitives).filter_map(|primitive| primitive.material);
        let used: BTreeSet<usize> = used.collect();
        let image = |of: TextureRef| self.images.get(self.textures.get(of.texture)?.image);
        let least = |sheen: &Sheen| {
            let texels = sheen
                .roughness_texture
                .and_then(image)
                .map(|image| image.rgba8.iter().skip(3).step_by(4));
            let texel =
                texels.and_then(Iterator::min).map_or(1.0, |&texel| f32::from(texel) / 255.0);
            f64::from(sheen.roughness * texel)
        };
        let narrow = |index: &usize| {
            let sheen = &self.materials.get(*index)?.sheen;
            let acts = sheen.color.max_element() > 0.0 && least(sheen) < MIN_SHEEN_ROUGHNESS;
            acts.then(|| AddressTable::materials(self).address(*index)).flatten()
        };
        let narrow: Vec<String> = used.iter().filter_map(narrow).collect();
        (!narrow.is_empty()).then(|| {
            let names = narrow.join(", ");
            format!(
                "materials {names}: a sheen's roughness below {MIN_SHEEN_ROUGHNESS} counts as that"
            )
        })
    }

    /// Gives primitives the materials of a variant, by its address; false if there is none.
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

    /// All nodes that the picture shows, parents before children, each with its world transform.
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

    /// The box around all that is shown, as (least corner, greatest corner); none if nothing is.
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

    /// Triangles that are shown, instances counted each.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::{
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    };

    #[test]
    fn sheens_below_the_minimum_roughness_are_warned_about() {
        let shown = |roughness: f32, texel: u8, color: Vec3| {
            let mut builder = SceneBuilder::new("cloth");
            let sheen = Sheen { color, roughness, ..Sheen::default() };
            let cloth =
                builder.add_material(Material { sheen, ..dielectric("velvet", Vec3::ONE, 1.0) });
            // No primitive has it.
            builder.add_material(Material {
                sheen: Sheen { roughness: 0.0, ..sheen },
                ..dielectric("idle", Vec3::ONE, 1.0)
            });
            let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::ONE, 1, 1), cloth);
            builder.instance("sheet", mesh, DMat4::IDENTITY);
            let mut scene = builder.build().unwrap();
            scene.images.push(Image {
                name: "texels".into(),
                width: 2,
                height: 1,
                rgba8: [0, 0, 0, 255, 0, 0, 0, texel].into(),
                is_error_pattern: false,
                compressed: None,
            });
            scene.textures.push(Texture { image: 0, sampler: Sampler::default() });
            scene.materials[0].sheen.roughness_texture =
                Some(TextureRef { texture: 0, uv_set: 0, transform: TextureRef::IDENTITY });
            scene.material_warnings()
        };
        assert_eq!(shown(0.07, 255, Vec3::ONE), None);
        assert_eq!(shown(0.01, 255, Vec3::ZERO), None);
        // 0.5 times 36 of 255 is 0.0706, times 35 0.0686.
        assert_eq!(shown(0.5, 36, Vec3::ONE), None);
        for (roughness, texel) in [(0.06, 255), (0.5, 35)] {
            let told = shown(roughness, texel, Vec3::ONE).unwrap();
            assert!(
                told.contains("velvet") && !told.contains("idle") && told.contains("0.07"),
                "{told}"
            );
        }
    }
}
