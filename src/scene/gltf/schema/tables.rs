//! The objects of glTF 2.0 and its extensions, as tables.

use Kind::{
    Attributes, Bool, Count, Int, IntOf, List, Num, Obj, Pointer, Ref, Stride, Text, TextOf,
    Version,
};
use Need::{Expected, Optional, Required, Stated, Vital};

/// The type of a value.
pub(super) enum Kind {
    Text,
    /// Text that must match glTF's version pattern.
    Version,
    /// A JSON pointer (RFC 6901).
    Pointer,
    Bool,
    Int {
        min: u64,
        max: u64,
    },
    /// A number of elements or bytes. The specification requires at least 1; 0 is noted.
    Count,
    /// Bytes between elements: 4 to 252 by the specification; others are noted.
    Stride,
    /// One of these; others are only noted, since later versions and extensions extend such lists.
    IntOf(&'static [u64]),
    TextOf(&'static [&'static str]),
    /// A number; values outside are clamped, or removed if `above` makes the lower bound exclusive.
    Num {
        min: f64,
        max: f64,
        above: bool,
    },
    Ref(&'static str),
    Obj(&'static Object),
    List {
        item: &'static Kind,
        min: usize,
        max: usize,
        unique: bool,
    },
    /// Attribute names with accessor indices.
    Attributes,
}

/// Handling of an absent or invalid property.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// May be absent; removed if invalid.
    Optional,
    /// Required by the specification; if absent or invalid only the object itself is lost; noted,
    /// and removed if invalid.
    Expected,
    /// Required by the specification, but read without it; noted, and removed if invalid.
    Stated,
    /// May be absent; an invalid one breaks the object.
    Vital,
    /// Must be present and valid, else the object is broken.
    Required,
}

/// A property.
pub(super) struct Field(pub(super) &'static str, pub(super) Need, pub(super) Kind);

/// An object type: its name and its properties.
pub(super) struct Object {
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

impl Object {
    /// The property that is 0 if the object is empty, so that no other can break it.
    pub(super) fn size(&self) -> Option<&'static str> {
        match self.name {
            "accessor" | "accessor.sparse" => Some("count"),
            "bufferView" => Some("byteLength"),
            _ => None,
        }
    }

    /// True if an object without properties means the same as none.
    pub(super) fn may_be_absent(&self) -> bool {
        self.name == "accessor.sparse"
    }
}

/// The maximum of single precision; larger numbers would become infinity.
const BIG: f64 = f32::MAX as f64;
const ANY: Kind = Num { min: -BIG, max: BIG, above: false };
const UNIT: Kind = Num { min: 0.0, max: 1.0, above: false };
const POSITIVE: Kind = Num { min: 0.0, max: BIG, above: true };
const NOT_NEGATIVE: Kind = Num { min: 0.0, max: BIG, above: false };
/// Integers above 2^53 are not exact in most JSON software.
pub(super) const MAX_INTEGER: u64 = 1 << 53;
const SIZE: Kind = Int { min: 0, max: MAX_INTEGER };

const fn nums(item: &'static Kind, count: usize) -> Kind {
    List { item, min: count, max: count, unique: false }
}
const fn list(item: &'static Kind) -> Kind {
    List { item, min: 1, max: usize::MAX, unique: false }
}
const fn set(item: &'static Kind) -> Kind {
    List { item, min: 1, max: usize::MAX, unique: true }
}
const fn opt(name: &'static str, kind: Kind) -> Field {
    Field(name, Optional, kind)
}
const fn req(name: &'static str, kind: Kind) -> Field {
    Field(name, Required, kind)
}
const fn exp(name: &'static str, kind: Kind) -> Field {
    Field(name, Expected, kind)
}
const fn stated(name: &'static str, kind: Kind) -> Field {
    Field(name, Stated, kind)
}
const fn vital(name: &'static str, kind: Kind) -> Field {
    Field(name, Vital, kind)
}

static TEXT: Kind = Text;
static NUMBER: Kind = ANY;
static FACTOR: Kind = UNIT;
static NODE_REF: Kind = Ref("nodes");
static ATTRIBUTES: Kind = Attributes;

const ASSET: Object = Object {
    name: "asset",
    fields: &[
        opt("copyright", Text),
        opt("generator", Text),
        stated("version", Version),
        opt("minVersion", Version),
    ],
};
const COMPONENT_TYPES: Kind = IntOf(&[5120, 5121, 5122, 5123, 5125, 5126]);
const SPARSE_INDICES: Object = Object {
    name: "accessor.sparse.indices",
    fields: &[
        req("bufferView", Ref("bufferViews")),
        vital("byteOffset", SIZE),
        req("componentType", IntOf(&[5121, 5123, 5125])),
    ],
};
const SPARSE_VALUES: Object = Object {
    name: "accessor.sparse.values",
    fields: &[req("bufferView", Ref("bufferViews")), vital("byteOffset", SIZE)],
};
const SPARSE: Object = Object {
    name: "accessor.sparse",
    fields: &[
        req("count", Count),
        req("indices", Obj(&SPARSE_INDICES)),
        req("values", Obj(&SPARSE_VALUES)),
    ],
};
const ACCESSOR: Object = Object {
    name: "accessor",
    fields: &[
        opt("name", Text),
        vital("bufferView", Ref("bufferViews")),
        vital("byteOffset", SIZE),
        req("componentType", COMPONENT_TYPES),
        opt("normalized", Bool),
        req("count", Count),
        req("type", TextOf(&["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"])),
        opt("max", List { item: &NUMBER, min: 1, max: 16, unique: false }),
        opt("min", List { item: &NUMBER, min: 1, max: 16, unique: false }),
        vital("sparse", Obj(&SPARSE)),
    ],
};
const BUFFER: Object = Object {
    name: "buffer",
    fields: &[opt("name", Text), vital("uri", Text), stated("byteLength", Count)],
};
const BUFFER_VIEW: Object = Object {
    name: "bufferView",
    fields: &[
        opt("name", Text),
        req("buffer", Ref("buffers")),
        vital("byteOffset", SIZE),
        req("byteLength", Count),
        vital("byteStride", Stride),
        opt("target", IntOf(&[34962, 34963])),
    ],
};
const TARGET: Object =
    Object { name: "channel.target", fields: &[opt("node", Ref("nodes")), exp("path", Text)] };
const CHANNEL: Object =
    Object { name: "channel", fields: &[exp("sampler", SIZE), exp("target", Obj(&TARGET))] };
const ANIMATION_SAMPLER: Object = Object {
    name: "animation.sampler",
    fields: &[
        exp("input", Ref("accessors")),
        exp("output", Ref("accessors")),
        opt("interpolation", TextOf(&["LINEAR", "STEP", "CUBICSPLINE"])),
    ],
};
static CHANNEL_ITEM: Kind = Obj(&CHANNEL);
static ANIMATION_SAMPLER_ITEM: Kind = Obj(&ANIMATION_SAMPLER);
const ANIMATION: Object = Object {
    name: "animation",
    fields: &[
        opt("name", Text),
        exp("channels", list(&CHANNEL_ITEM)),
        exp("samplers", list(&ANIMATION_SAMPLER_ITEM)),
    ],
};
const ORTHOGRAPHIC: Object = Object {
    name: "orthographic",
    fields: &[
        exp("xmag", ANY),
        exp("ymag", ANY),
        exp("zfar", POSITIVE),
        exp("znear", NOT_NEGATIVE),
    ],
};
const PERSPECTIVE: Object = Object {
    name: "perspective",
    fields: &[
        opt("aspectRatio", POSITIVE),
        exp("yfov", POSITIVE),
        opt("zfar", POSITIVE),
        exp("znear", POSITIVE),
    ],
};
const CAMERA: Object = Object {
    name: "camera",
    fields: &[
        opt("name", Text),
        opt("orthographic", Obj(&ORTHOGRAPHIC)),
        opt("perspective", Obj(&PERSPECTIVE)),
        exp("type", TextOf(&["orthographic", "perspective"])),
    ],
};
const IMAGE: Object = Object {
    name: "image",
    fields: &[
        opt("name", Text),
        opt("uri", Text),
        opt("mimeType", TextOf(&["image/jpeg", "image/png", "image/webp", "image/ktx2"])),
        opt("bufferView", Ref("bufferViews")),
    ],
};
const TEXTURE_INFO: Object =
    Object { name: "textureInfo", fields: &[exp("index", Ref("textures")), opt("texCoord", SIZE)] };
const NORMAL_INFO: Object = Object {
    name: "textureInfo",
    fields: &[exp("index", Ref("textures")), opt("texCoord", SIZE), opt("scale", ANY)],
};
const OCCLUSION_INFO: Object = Object {
    name: "textureInfo",
    fields: &[exp("index", Ref("textures")), opt("texCoord", SIZE), opt("strength", UNIT)],
};
const PBR: Object = Object {
    name: "pbrMetallicRoughness",
    fields: &[
        opt("baseColorFactor", nums(&FACTOR, 4)),
        opt("baseColorTexture", Obj(&TEXTURE_INFO)),
        opt("metallicFactor", UNIT),
        opt("roughnessFactor", UNIT),
        opt("metallicRoughnessTexture", Obj(&TEXTURE_INFO)),
    ],
};
const MATERIAL: Object = Object {
    name: "material",
    fields: &[
        opt("name", Text),
        opt("pbrMetallicRoughness", Obj(&PBR)),
        opt("normalTexture", Obj(&NORMAL_INFO)),
        opt("occlusionTexture", Obj(&OCCLUSION_INFO)),
        opt("emissiveTexture", Obj(&TEXTURE_INFO)),
        opt("emissiveFactor", nums(&FACTOR, 3)),
        opt("alphaMode", TextOf(&["OPAQUE", "MASK", "BLEND"])),
        opt("alphaCutoff", NOT_NEGATIVE),
        opt("doubleSided", Bool),
    ],
};
const PRIMITIVE: Object = Object {
    name: "primitive",
    fields: &[
        exp("attributes", Attributes),
        vital("indices", Ref("accessors")),
        opt("material", Ref("materials")),
        vital("mode", IntOf(&[0, 1, 2, 3, 4, 5, 6])),
        opt("targets", list(&ATTRIBUTES)),
    ],
};
static PRIMITIVE_ITEM: Kind = Obj(&PRIMITIVE);
const MESH: Object = Object {
    name: "mesh",
    fields: &[
        opt("name", Text),
        exp("primitives", list(&PRIMITIVE_ITEM)),
        opt("weights", list(&NUMBER)),
    ],
};
static ROTATION_ITEM: Kind = Num { min: -1.0, max: 1.0, above: false };
const NODE: Object = Object {
    name: "node",
    fields: &[
        opt("name", Text),
        opt("camera", Ref("cameras")),
        opt("children", set(&NODE_REF)),
        opt("skin", Ref("skins")),
        opt("matrix", nums(&NUMBER, 16)),
        opt("mesh", Ref("meshes")),
        opt("rotation", nums(&ROTATION_ITEM, 4)),
        opt("scale", nums(&NUMBER, 3)),
        opt("translation", nums(&NUMBER, 3)),
        opt("weights", list(&NUMBER)),
    ],
};
const WRAPS: Kind = IntOf(&[33071, 33648, 10497]);
const SAMPLER: Object = Object {
    name: "sampler",
    fields: &[
        opt("name", Text),
        opt("magFilter", IntOf(&[9728, 9729])),
        opt("minFilter", IntOf(&[9728, 9729, 9984, 9985, 9986, 9987])),
        opt("wrapS", WRAPS),
        opt("wrapT", WRAPS),
    ],
};
const SCENE: Object =
    Object { name: "scene", fields: &[opt("name", Text), opt("nodes", set(&NODE_REF))] };
const SKIN: Object = Object {
    name: "skin",
    fields: &[
        opt("name", Text),
        opt("inverseBindMatrices", Ref("accessors")),
        opt("skeleton", Ref("nodes")),
        exp("joints", set(&NODE_REF)),
    ],
};
const TEXTURE: Object = Object {
    name: "texture",
    fields: &[opt("name", Text), opt("sampler", Ref("samplers")), opt("source", Ref("images"))],
};

macro_rules! items {
    ($($name:ident = $object:ident;)*) => { $(pub(super) static $name: Kind = Obj(&$object);)* };
}
items! {
    ACCESSORS = ACCESSOR; ANIMATIONS = ANIMATION; BUFFERS = BUFFER; BUFFER_VIEWS = BUFFER_VIEW; CAMERAS = CAMERA;
    IMAGES = IMAGE; MATERIALS = MATERIAL; MESHES = MESH; NODES = NODE; SAMPLERS = SAMPLER; SCENES = SCENE;
    SKINS = SKIN; TEXTURES = TEXTURE;
}

pub(super) const ROOT: Object = Object {
    name: "root",
    fields: &[
        req("asset", Obj(&ASSET)),
        opt("extensionsUsed", set(&TEXT)),
        opt("extensionsRequired", set(&TEXT)),
        opt("accessors", list(&ACCESSORS)),
        opt("animations", list(&ANIMATIONS)),
        opt("buffers", list(&BUFFERS)),
        opt("bufferViews", list(&BUFFER_VIEWS)),
        opt("cameras", list(&CAMERAS)),
        opt("images", list(&IMAGES)),
        opt("materials", list(&MATERIALS)),
        opt("meshes", list(&MESHES)),
        opt("nodes", list(&NODES)),
        opt("samplers", list(&SAMPLERS)),
        opt("scene", Ref("scenes")),
        opt("scenes", list(&SCENES)),
        opt("skins", list(&SKINS)),
        opt("textures", list(&TEXTURES)),
    ],
};

// Extensions with known properties, rendered or not, and the objects that they extend.

const NOTHING: Object = Object { name: "extension", fields: &[] };
const LIGHT_SPOT: Object = Object {
    name: "light.spot",
    fields: &[
        opt("innerConeAngle", Num { min: 0.0, max: std::f64::consts::FRAC_PI_2, above: false }),
        opt("outerConeAngle", Num { min: 0.0, max: std::f64::consts::FRAC_PI_2, above: true }),
    ],
};
const LIGHT: Object = Object {
    name: "light",
    fields: &[
        opt("name", Text),
        opt("color", nums(&FACTOR, 3)),
        opt("intensity", NOT_NEGATIVE),
        opt("range", POSITIVE),
        opt("spot", Obj(&LIGHT_SPOT)),
        exp("type", TextOf(&["directional", "point", "spot"])),
    ],
};
static LIGHT_ITEM: Kind = Obj(&LIGHT);
const LIGHTS: Object = Object { name: "lights", fields: &[exp("lights", list(&LIGHT_ITEM))] };
const NODE_LIGHT: Object = Object { name: "node light", fields: &[exp("light", Ref("lights"))] };
const EMISSIVE_STRENGTH: Object =
    Object { name: "emissive strength", fields: &[opt("emissiveStrength", NOT_NEGATIVE)] };
const TEXTURE_TRANSFORM: Object = Object {
    name: "texture transform",
    fields: &[
        opt("offset", nums(&NUMBER, 2)),
        opt("rotation", ANY),
        opt("scale", nums(&NUMBER, 2)),
        opt("texCoord", SIZE),
    ],
};
const TEXTURE_SOURCE: Object =
    Object { name: "texture source", fields: &[opt("source", Ref("images"))] };
const ANIMATION_POINTER: Object =
    Object { name: "animation pointer", fields: &[exp("pointer", Pointer)] };
const ANISOTROPY: Object = Object {
    name: "anisotropy",
    fields: &[
        opt("anisotropyStrength", UNIT),
        opt("anisotropyRotation", ANY),
        opt("anisotropyTexture", Obj(&TEXTURE_INFO)),
    ],
};
const CLEARCOAT: Object = Object {
    name: "clearcoat",
    fields: &[
        opt("clearcoatFactor", UNIT),
        opt("clearcoatTexture", Obj(&TEXTURE_INFO)),
        opt("clearcoatRoughnessFactor", UNIT),
        opt("clearcoatRoughnessTexture", Obj(&TEXTURE_INFO)),
        opt("clearcoatNormalTexture", Obj(&NORMAL_INFO)),
    ],
};
const DIFFUSE_TRANSMISSION: Object = Object {
    name: "diffuse transmission",
    fields: &[
        opt("diffuseTransmissionFactor", UNIT),
        opt("diffuseTransmissionTexture", Obj(&TEXTURE_INFO)),
        opt("diffuseTransmissionColorFactor", nums(&FACTOR, 3)),
        opt("diffuseTransmissionColorTexture", Obj(&TEXTURE_INFO)),
    ],
};
const DISPERSION: Object =
    Object { name: "dispersion", fields: &[opt("dispersion", NOT_NEGATIVE)] };
/// The index of refraction is 0 or at least 1; `validate` checks the gap.
const IOR: Object = Object { name: "ior", fields: &[opt("ior", NOT_NEGATIVE)] };
const IRIDESCENCE: Object = Object {
    name: "iridescence",
    fields: &[
        opt("iridescenceFactor", UNIT),
        opt("iridescenceTexture", Obj(&TEXTURE_INFO)),
        opt("iridescenceIor", Num { min: 1.0, max: BIG, above: false }),
        opt("iridescenceThicknessMinimum", NOT_NEGATIVE),
        opt("iridescenceThicknessMaximum", NOT_NEGATIVE),
        opt("iridescenceThicknessTexture", Obj(&TEXTURE_INFO)),
    ],
};
const SPECULAR_GLOSSINESS: Object = Object {
    name: "specular/glossiness",
    fields: &[
        opt("diffuseFactor", nums(&FACTOR, 4)),
        opt("diffuseTexture", Obj(&TEXTURE_INFO)),
        opt("specularFactor", nums(&FACTOR, 3)),
        opt("glossinessFactor", UNIT),
        opt("specularGlossinessTexture", Obj(&TEXTURE_INFO)),
    ],
};
const SHEEN: Object = Object {
    name: "sheen",
    fields: &[
        opt("sheenColorFactor", nums(&FACTOR, 3)),
        opt("sheenColorTexture", Obj(&TEXTURE_INFO)),
        opt("sheenRoughnessFactor", UNIT),
        opt("sheenRoughnessTexture", Obj(&TEXTURE_INFO)),
    ],
};
static NOT_NEGATIVE_ITEM: Kind = NOT_NEGATIVE;
const SPECULAR: Object = Object {
    name: "specular",
    fields: &[
        opt("specularFactor", UNIT),
        opt("specularTexture", Obj(&TEXTURE_INFO)),
        opt("specularColorFactor", nums(&NOT_NEGATIVE_ITEM, 3)),
        opt("specularColorTexture", Obj(&TEXTURE_INFO)),
    ],
};
const TRANSMISSION: Object = Object {
    name: "transmission",
    fields: &[opt("transmissionFactor", UNIT), opt("transmissionTexture", Obj(&TEXTURE_INFO))],
};
const VOLUME: Object = Object {
    name: "volume",
    fields: &[
        opt("thicknessFactor", NOT_NEGATIVE),
        opt("thicknessTexture", Obj(&TEXTURE_INFO)),
        opt("attenuationDistance", POSITIVE),
        opt("attenuationColor", nums(&FACTOR, 3)),
    ],
};
const VARIANT: Object = Object { name: "variant", fields: &[exp("name", Text)] };
static VARIANT_ITEM: Kind = Obj(&VARIANT);
const VARIANTS: Object =
    Object { name: "variants", fields: &[exp("variants", list(&VARIANT_ITEM))] };
static VARIANT_REF: Kind = Ref("variants");
const MAPPING: Object = Object {
    name: "mapping",
    fields: &[
        exp("variants", set(&VARIANT_REF)),
        exp("material", Ref("materials")),
        opt("name", Text),
    ],
};
static MAPPING_ITEM: Kind = Obj(&MAPPING);
const MAPPINGS: Object =
    Object { name: "mappings", fields: &[exp("mappings", list(&MAPPING_ITEM))] };
const MESHOPT_BUFFER: Object = Object { name: "meshopt buffer", fields: &[opt("fallback", Bool)] };
const MESHOPT_VIEW: Object = Object {
    name: "meshopt view",
    fields: &[
        exp("buffer", Ref("buffers")),
        opt("byteOffset", SIZE),
        exp("byteLength", Count),
        exp("byteStride", Int { min: 1, max: 256 }),
        exp("count", Count),
        exp("mode", TextOf(&["ATTRIBUTES", "TRIANGLES", "INDICES"])),
        opt("filter", TextOf(&["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"])),
    ],
};
const DRACO_ATTRIBUTES: Object = Object { name: "draco attributes", fields: &[] };
const DRACO: Object = Object {
    name: "draco",
    fields: &[exp("bufferView", Ref("bufferViews")), exp("attributes", Obj(&DRACO_ATTRIBUTES))],
};
const INSTANCING: Object = Object { name: "instancing", fields: &[exp("attributes", Attributes)] };
const IES_PROFILE: Object = Object {
    name: "IES profile",
    fields: &[
        opt("name", Text),
        opt("uri", Text),
        opt("bufferView", Ref("bufferViews")),
        opt("mimeType", TextOf(&["application/x-ies-lm-63"])),
    ],
};
static IES_PROFILE_ITEM: Kind = Obj(&IES_PROFILE);
const IES_PROFILES: Object =
    Object { name: "IES profiles", fields: &[exp("lights", list(&IES_PROFILE_ITEM))] };
const NODE_IES: Object = Object {
    name: "node IES light",
    fields: &[
        exp("light", Ref("IES profiles")),
        opt("multiplier", NOT_NEGATIVE),
        opt("color", nums(&FACTOR, 3)),
    ],
};
const VISIBILITY: Object = Object { name: "visibility", fields: &[opt("visible", Bool)] };

/// Name, extended object, properties. An extension is not allowed on objects without an entry.
pub(super) static EXTENSIONS: &[(&str, &str, &Object)] = &[
    ("EXT_lights_ies", "root", &IES_PROFILES),
    ("EXT_lights_ies", "node", &NODE_IES),
    ("EXT_mesh_gpu_instancing", "node", &INSTANCING),
    ("EXT_meshopt_compression", "buffer", &MESHOPT_BUFFER),
    ("EXT_meshopt_compression", "bufferView", &MESHOPT_VIEW),
    ("EXT_texture_webp", "texture", &TEXTURE_SOURCE),
    ("KHR_animation_pointer", "channel.target", &ANIMATION_POINTER),
    ("KHR_draco_mesh_compression", "primitive", &DRACO),
    ("KHR_lights_punctual", "root", &LIGHTS),
    ("KHR_lights_punctual", "node", &NODE_LIGHT),
    ("KHR_materials_anisotropy", "material", &ANISOTROPY),
    ("KHR_materials_clearcoat", "material", &CLEARCOAT),
    ("KHR_materials_diffuse_transmission", "material", &DIFFUSE_TRANSMISSION),
    ("KHR_materials_dispersion", "material", &DISPERSION),
    ("KHR_materials_emissive_strength", "material", &EMISSIVE_STRENGTH),
    ("KHR_materials_ior", "material", &IOR),
    ("KHR_materials_iridescence", "material", &IRIDESCENCE),
    ("KHR_materials_pbrSpecularGlossiness", "material", &SPECULAR_GLOSSINESS),
    ("KHR_materials_sheen", "material", &SHEEN),
    ("KHR_materials_specular", "material", &SPECULAR),
    ("KHR_materials_transmission", "material", &TRANSMISSION),
    ("KHR_materials_unlit", "material", &NOTHING),
    ("KHR_materials_variants", "root", &VARIANTS),
    ("KHR_materials_variants", "primitive", &MAPPINGS),
    ("KHR_materials_volume", "material", &VOLUME),
    ("KHR_mesh_quantization", "", &NOTHING),
    ("KHR_meshopt_compression", "buffer", &MESHOPT_BUFFER),
    ("KHR_meshopt_compression", "bufferView", &MESHOPT_VIEW),
    ("KHR_node_visibility", "node", &VISIBILITY),
    ("KHR_texture_basisu", "texture", &TEXTURE_SOURCE),
    ("KHR_texture_transform", "textureInfo", &TEXTURE_TRANSFORM),
];
