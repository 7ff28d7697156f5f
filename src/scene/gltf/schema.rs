//! The shape of a glTF document as tables, and a check of a document against them.
//!
//! An invalid optional property is removed (its default applies), a number out of range is clamped,
//! an integer written as a float is made an integer, `null` counts as absent; each is noted. An
//! invalid required property breaks the object that holds it: the object is emptied and its error
//! is kept ([`ImportReport::broken`]). It is an error only if the shown scene needs the object. An
//! empty object (no elements, no bytes) cannot be invalid. After the check each property is absent
//! or of the right type and range.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    json::{entries, index, items},
    report::{At, ImportReport, one_line},
};

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
pub(super) struct Field(&'static str, Need, Kind);

/// An object type: its name and its properties.
pub(super) struct Object {
    name: &'static str,
    fields: &'static [Field],
}

impl Object {
    /// The property that is 0 if the object is empty, so that no other can break it.
    fn size(&self) -> Option<&'static str> {
        match self.name {
            "accessor" | "accessor.sparse" => Some("count"),
            "bufferView" => Some("byteLength"),
            _ => None,
        }
    }
}

use Kind::{
    Attributes, Bool, Count, Int, IntOf, List, Num, Obj, Pointer, Ref, Stride, Text, TextOf,
    Version,
};
use Need::{Expected, Optional, Required, Stated, Vital};

/// The maximum of single precision; larger numbers would become infinity.
const BIG: f64 = f32::MAX as f64;
const ANY: Kind = Num { min: -BIG, max: BIG, above: false };
const UNIT: Kind = Num { min: 0.0, max: 1.0, above: false };
const POSITIVE: Kind = Num { min: 0.0, max: BIG, above: true };
const NOT_NEGATIVE: Kind = Num { min: 0.0, max: BIG, above: false };
/// Integers above 2^53 are not exact in most JSON software.
const MAX_INTEGER: u64 = 1 << 53;
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
        req("version", Version),
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
    ($($name:ident = $object:ident;)*) => { $(static $name: Kind = Obj(&$object);)* };
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
static EXTENSIONS: &[(&str, &str, &Object)] = &[
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

/// Checks a document against the tables and repairs it to fit them.
pub(super) fn check(root: &mut Value, report: &mut ImportReport) {
    let lengths = Lengths::of(root);
    let used = root
        .get("extensionsUsed")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    let Some(map) = root.as_object_mut() else {
        report.error(
            At::ROOT,
            format!("expected an object as the document, found {}; export it again", type_of(root)),
        );
        return;
    };
    let walked = Walk { lengths, used, report: &mut *report }.object(map, &ROOT, &At::ROOT);
    if let Err(problem) = walked {
        report.error(At::ROOT, format!("{problem}; export the file again"));
    }
}

/// The shown part of a document that fits the schema.
pub(super) struct Shown {
    /// The nodes of the shown scene, their descendants, and the joints of their skins.
    pub(super) nodes: HashSet<usize>,
    /// Extensions of these, of what they refer to, of the animations and of the document itself.
    pub(super) extensions: HashSet<String>,
}

/// Index of the shown scene: the default one, else the first; `None` if there are no scenes.
pub(super) fn shown_scene(root: &Value) -> Option<usize> {
    let first = || items(root, "scenes").first().map(|_| 0);
    index(root, "scene").or_else(first)
}

/// Follows all references from the shown scene; without scenes all nodes are shown.
pub(super) fn shown(root: &Value) -> Shown {
    let mut reach = Reach {
        follow: true,
        seen: HashSet::new(),
        queue: VecDeque::new(),
        extensions: HashSet::new(),
    };
    match shown_scene(root) {
        Some(scene) => reach.element("scenes", scene),
        None => (0..items(root, "nodes").len()).for_each(|node| reach.element("nodes", node)),
    }
    while let Some((collection, number)) = reach.queue.pop_front() {
        let kind = ROOT.fields.iter().find(|field| field.0 == collection).map(|field| &field.2);
        let value = root.get(collection).and_then(|list| list.get(number));
        if let (Some(List { item, .. }), Some(value)) = (kind, value) {
            reach.value(value, item);
        }
    }
    let nodes = reach
        .seen
        .iter()
        .filter(|(collection, _)| *collection == "nodes")
        .map(|&(_, node)| node)
        .collect();
    // Animations make no nodes visible, but their extensions count.
    reach.follow = false;
    items(root, "animations").iter().for_each(|animation| reach.value(animation, &ANIMATIONS));
    reach.extensions(root, &ROOT);
    Shown { nodes, extensions: reach.extensions }
}

/// A traversal along the references between the elements of a document.
struct Reach {
    follow: bool,
    seen: HashSet<(&'static str, usize)>,
    queue: VecDeque<(&'static str, usize)>,
    extensions: HashSet<String>,
}

impl Reach {
    fn element(&mut self, collection: &'static str, number: usize) {
        if self.follow && self.seen.insert((collection, number)) {
            self.queue.push_back((collection, number));
        }
    }

    fn value(&mut self, value: &Value, kind: &Kind) {
        let number = |value: &Value| value.as_u64().and_then(|x| usize::try_from(x).ok());
        match kind {
            Ref(collection) => {
                if let Some(number) = number(value) {
                    self.element(collection, number);
                }
            }
            Obj(object) => {
                for Field(name, _, kind) in object.fields {
                    if let Some(value) = value.get(name) {
                        self.value(value, kind);
                    }
                }
                self.extensions(value, object);
            }
            List { item, .. } => {
                value.as_array().into_iter().flatten().for_each(|value| self.value(value, item))
            }
            Attributes => {
                let accessors =
                    value.as_object().into_iter().flatten().filter_map(|(_, value)| number(value));
                accessors.for_each(|number| self.element("accessors", number));
            }
            _ => {}
        }
    }

    fn extensions(&mut self, value: &Value, object: &Object) {
        for (name, value) in entries(value, "extensions") {
            if !self.extensions.contains(name) {
                self.extensions.insert(name.to_owned());
            }
            let known = EXTENSIONS
                .iter()
                .find(|(known, parent, _)| *known == name && *parent == object.name);
            if let Some((.., extension)) = known {
                for Field(name, _, kind) in extension.fields {
                    if let Some(value) = value.get(name) {
                        self.value(value, kind);
                    }
                }
            }
        }
    }
}

/// Lengths of the arrays that indices refer to.
struct Lengths(Vec<(&'static str, usize)>);

impl Lengths {
    fn of(root: &Value) -> Self {
        let len = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
        let mut lengths: Vec<(&'static str, usize)> =
            ROOT.fields.iter().map(|field| (field.0, len(root.get(field.0)))).collect();
        lengths.push(("lights", len(root.pointer("/extensions/KHR_lights_punctual/lights"))));
        lengths.push(("IES profiles", len(root.pointer("/extensions/EXT_lights_ies/lights"))));
        lengths
            .push(("variants", len(root.pointer("/extensions/KHR_materials_variants/variants"))));
        Self(lengths)
    }

    fn get(&self, name: &str) -> usize {
        self.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, len)| *len)
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A non-negative integer, also one written as 2.0 or 2e0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn integer(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let x = value.as_f64()?;
        ((0.0..=9e15).contains(&x) && x.fract() == 0.0).then_some(x as u64)
    })
}

struct Walk<'a> {
    lengths: Lengths,
    used: HashSet<String>,
    report: &'a mut ImportReport,
}

impl Walk<'_> {
    /// Returns the first error that breaks the object, if any.
    fn object(
        &mut self,
        map: &mut Map<String, Value>,
        object: &Object,
        at: &At<'_>,
    ) -> Result<(), String> {
        let empty = object.size().and_then(|size| map.get(size)).and_then(integer) == Some(0);
        let mut broken = Ok(());
        let mut fail = |problem: String| {
            if broken.is_ok() {
                broken = Err(problem);
            }
        };
        for Field(name, need, kind) in object.fields {
            let place = at.key(name);
            if map.get(*name).is_some_and(Value::is_null) {
                self.report.repair(place, "null, which counts as absent");
                map.shift_remove(*name);
            }
            let Some(value) = map.get_mut(*name) else {
                match need {
                    Optional | Vital => {}
                    Expected => self
                        .report
                        .repair(at, format!("'{name}' is missing; the object is ignored")),
                    Stated => self.report.repair(at, format!("'{name}' is missing; read anyway")),
                    Required if empty => {
                        self.report.repair(at, format!("'{name}' is missing; ignored"))
                    }
                    Required => fail(format!("'{name}' is missing")),
                }
                continue;
            };
            let Err(problem) = self.value(value, kind, &place) else { continue };
            // An empty list means none.
            let none = matches!(value, Value::Array(list) if list.is_empty());
            if empty || none || !matches!(need, Vital | Required) {
                self.report.repair(place, format!("{problem}; ignored"));
            } else {
                fail(format!("{name}: {problem}"));
            }
            map.shift_remove(*name);
        }
        self.extensions(map, object, at);
        broken
    }

    fn extensions(&mut self, map: &mut Map<String, Value>, object: &Object, at: &At<'_>) {
        let Some(value) = map.get_mut("extensions") else { return };
        let place = at.key("extensions");
        let Some(extensions) = value.as_object_mut() else {
            self.report
                .repair(place, format!("expected an object, found {}; ignored", type_of(value)));
            map.shift_remove("extensions");
            return;
        };
        extensions.retain(|name, value| {
            let place = place.key(name);
            let known = EXTENSIONS.iter().any(|(known, ..)| known == name);
            if !self.used.contains(name) {
                self.report
                    .repair(place, "the extension is not listed in extensionsUsed; read anyway");
            }
            let Some(properties) = value.as_object_mut() else {
                self.report.repair(
                    place,
                    format!("expected an object, found {}; ignored", type_of(value)),
                );
                return false;
            };
            match EXTENSIONS
                .iter()
                .find(|(known, parent, _)| known == name && *parent == object.name)
            {
                Some((.., extension)) => {
                    if let Err(problem) = self.object(properties, extension, &place) {
                        self.report.repair(place, format!("{problem}; ignored"));
                        return false;
                    }
                }
                None if known => {
                    self.report.repair(
                        place,
                        "the extension is not allowed on this kind of object; ignored",
                    );
                    return false;
                }
                None => {}
            }
            true
        });
    }

    fn value(&mut self, value: &mut Value, kind: &Kind, at: &At<'_>) -> Result<(), String> {
        let wrong =
            |value: &Value, what: &str| Err(format!("expected {what}, found {}", type_of(value)));
        match kind {
            Text if value.is_string() => Ok(()),
            Text => wrong(value, "text"),
            Bool if value.is_boolean() => Ok(()),
            Bool => wrong(value, "a boolean"),
            Version => match value.as_str() {
                Some(text) if version(text).is_some() => Ok(()),
                Some(text) => Err(format!("'{}' is not a version such as 2.0", one_line(text))),
                // A number has lost its zeros: 2.0 may read 2.
                None if value.as_f64().is_some_and(|x| (0.0..=1e6).contains(&x)) => {
                    let number = value.as_f64().map(|x| format!("{x:?}")).unwrap_or_default();
                    self.report.repair(
                        at,
                        format!("expected text, found the number {number}; read anyway"),
                    );
                    *value = Value::String(number);
                    Ok(())
                }
                None => wrong(value, "text"),
            },
            Pointer => match value.as_str() {
                Some(text) if pointer(text) => Ok(()),
                Some(text) => Err(format!("'{text}' is not a JSON pointer")),
                None => wrong(value, "text"),
            },
            Count | Stride => match integer(value).filter(|x| *x <= MAX_INTEGER) {
                Some(x) => {
                    let note = match (kind, x) {
                        (Count, 0) => Some("0 is less than 1; it is empty"),
                        (Stride, 0) => {
                            Some("0 is not within 4 to 252; the elements follow each other")
                        }
                        (Stride, ..4 | 253..) => Some("it is not within 4 to 252; read anyway"),
                        _ => None,
                    };
                    if let Some(note) = note {
                        self.report.repair(at, note);
                    }
                    *value = x.into();
                    Ok(())
                }
                None if value.is_number() => {
                    Err(format!("{value} is not an integer of at least 1"))
                }
                None => wrong(value, "an integer"),
            },
            Int { min, max } => match integer(value) {
                Some(x) if (*min..=*max).contains(&x) => {
                    *value = x.into();
                    Ok(())
                }
                Some(x) => Err(format!("{x} is not within {min} to {max}")),
                None if value.is_number() => {
                    Err(format!("{value} is not an integer of at least {min}"))
                }
                None => wrong(value, "an integer"),
            },
            IntOf(known) => match integer(value) {
                Some(x) => {
                    *value = x.into();
                    if !known.contains(&x) {
                        self.report.unsupported(at, format!("{x} is not a known value"));
                    }
                    Ok(())
                }
                None => wrong(value, "a known integer"),
            },
            TextOf(known) => match value.as_str() {
                Some(text) => {
                    if !known.contains(&text) {
                        self.report
                            .unsupported(at, format!("'{}' is not a known value", one_line(text)));
                    }
                    Ok(())
                }
                None => wrong(value, "text"),
            },
            Num { min, max, above } => match value.as_f64() {
                Some(x) if x >= *min && x <= *max && !(*above && x <= *min) => Ok(()),
                Some(x) if *above && x <= *min => Err(format!("{x} is not above {min}")),
                Some(x) => {
                    let near = x.clamp(*min, *max);
                    let side = if x < *min { "less" } else { "more" };
                    self.report.repair(at, format!("{x:?} is {side} than {near:?}, which is used"));
                    *value = near.into();
                    Ok(())
                }
                None => wrong(value, "a number"),
            },
            Ref(collection) => match integer(value) {
                Some(x) if usize::try_from(x).is_ok_and(|x| x < self.lengths.get(collection)) => {
                    *value = x.into();
                    Ok(())
                }
                Some(x) => Err(format!("there is no element {x} in {collection}")),
                None => wrong(value, &format!("an index of {collection}")),
            },
            Obj(object) => match value.as_object_mut() {
                Some(map) => self.object(map, object, at),
                None => wrong(value, "an object"),
            },
            List { item, min, max, unique } => match value.as_array_mut() {
                Some(list) => self.list(list, (item, *min, *max, *unique), at),
                None => wrong(value, "an array"),
            },
            Attributes => match value.as_object_mut() {
                Some(map) => {
                    self.attributes(map, at);
                    Ok(())
                }
                None => wrong(value, "an object"),
            },
        }
    }

    fn list(
        &mut self,
        list: &mut Vec<Value>,
        (item, min, max, unique): (&Kind, usize, usize, bool),
        at: &At<'_>,
    ) -> Result<(), String> {
        if list.is_empty() && min > 0 {
            return Err("an empty array".into());
        }
        if !(min..=max).contains(&list.len()) {
            return Err(format!("an array of {} elements", list.len()));
        }
        let mut index = 0;
        let mut seen = HashSet::new();
        let mut failed = Ok(());
        list.retain_mut(|value| {
            let place = at.index(index);
            index += 1;
            match (self.value(value, item, &place), item) {
                (Ok(()), _) => {}
                // Indices into a list must stay valid, so a broken object leaves an empty one in
                // its place.
                (Err(problem), Obj(_) | Attributes) => {
                    self.report.broken(place, problem);
                    *value = Value::Object(Map::new());
                }
                (Err(problem), Ref(_) | Text) => {
                    self.report.repair(place, format!("{problem}; ignored"));
                    return false;
                }
                (Err(problem), _) => {
                    failed = Err(problem);
                    return true;
                }
            }
            if unique && !seen.insert(value.to_string()) {
                self.report.repair(place, "the same element again; ignored");
                return false;
            }
            true
        });
        failed
    }

    fn attributes(&mut self, map: &mut Map<String, Value>, at: &At<'_>) {
        if map.is_empty() {
            self.report.repair(at, "an empty object; ignored");
        }
        map.retain(|name, value| {
            let place = at.key(name);
            match self.value(value, &Ref("accessors"), &place) {
                Ok(()) => true,
                Err(problem) => {
                    self.report.broken(place, problem);
                    false
                }
            }
        });
    }
}

/// Major and minor number of a version such as 2.0.
pub(super) fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    let digits = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    Some((digits(major)?, digits(minor)?))
}

fn pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/'))
        && text.split('~').skip(1).all(|rest| rest.starts_with('0') || rest.starts_with('1'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(mut value: Value) -> (Value, ImportReport) {
        let mut report = ImportReport::default();
        check(&mut value, &mut report);
        (value, report)
    }

    #[test]
    fn what_is_right_stays_and_leaves_no_note() {
        let value = json!({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"name": "a"}]});
        let (after, report) = checked(value.clone());
        assert_eq!(after, value);
        assert!(report.first_error().is_none() && report.into_notes().is_empty());
    }

    #[test]
    fn optional_properties_are_removed_and_numbers_clamped() {
        let (after, report) = checked(json!({
            "asset": {"version": "2.0"},
            "scene": 3,
            "materials": [{"doubleSided": 1, "pbrMetallicRoughness": {"metallicFactor": 1.5, "roughnessFactor": "x"}}],
        }));
        assert_eq!(
            after,
            json!({"asset": {"version": "2.0"}, "materials": [{"pbrMetallicRoughness": {"metallicFactor": 1.0}}]})
        );
        assert!(report.first_error().is_none());
        let places: Vec<_> = report.into_notes().into_iter().map(|note| note.location).collect();
        assert_eq!(
            places,
            [
                "/materials/0/pbrMetallicRoughness/metallicFactor",
                "/materials/0/pbrMetallicRoughness/roughnessFactor",
                "/materials/0/doubleSided",
                "/scene"
            ]
        );
    }

    #[test]
    fn integers_written_as_floats_become_integers() {
        let (after, report) =
            checked(json!({"asset": {"version": "2.0"}, "scene": 0.0, "scenes": [{}]}));
        assert_eq!(after["scene"], json!(0));
        assert!(report.into_notes().is_empty());
    }

    #[test]
    fn what_is_required_is_an_error() {
        let (_, report) = checked(json!({"asset": {}, "bufferViews": [{"byteLength": -1}]}));
        let (place, message, more) = report.first_error().unwrap();
        assert_eq!((place, more), ("/", 0));
        assert!(message.starts_with("asset: 'version' is missing"), "{message}");
    }

    #[test]
    fn what_breaks_an_object_is_kept_for_those_who_need_it() {
        let (after, report) = checked(json!({
            "asset": {"version": "2.0"},
            "buffers": [{"byteLength": 4, "uri": 7}, {"uri": "x"}],
            "bufferViews": [{"buffer": 0, "byteLength": 4, "byteOffset": -1}, {"buffer": 9, "byteLength": 0},
                {"buffer": 1, "byteLength": 8, "byteStride": 0}, null],
            "accessors": [
                {"count": 1, "type": "VEC3"},
                {"count": 0, "type": 3, "bufferView": 9},
                {"count": 2, "componentType": 5126, "type": "VEC3", "sparse": {"count": 1}},
                {"count": 2, "componentType": 5126, "type": "VEC3", "sparse": {"count": 0}},
            ],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 77}}, {"attributes": {}, "indices": "x"}]}],
            "nodes": null,
        }));
        assert!(report.first_error().is_none());
        for (place, problem) in [
            ("/buffers/0", "uri: expected text, found a number"),
            ("/bufferViews/0", "byteOffset: -1 is not an integer of at least 0"),
            ("/bufferViews/3", "expected an object, found null"),
            ("/accessors/0", "'componentType' is missing"),
            ("/accessors/2", "sparse: 'indices' is missing"),
            ("/meshes/0/primitives/0/attributes/POSITION", "there is no element 77 in accessors"),
            ("/meshes/0/primitives/1", "indices: expected an index of accessors, found text"),
        ] {
            assert_eq!(report.fault(place), Some(problem), "{place}");
        }
        for sound in
            ["/buffers/1", "/bufferViews/1", "/bufferViews/2", "/accessors/1", "/accessors/3"]
        {
            assert_eq!(report.fault(sound), None, "{sound}");
        }
        assert_eq!(after["accessors"][1], json!({"count": 0}));
        assert_eq!(after["accessors"][0], json!({}));
    }

    #[test]
    fn what_is_shown_is_reached_from_the_scene() {
        let root = json!({
            "scene": 0, "scenes": [{"nodes": [1]}, {"nodes": [0]}],
            "nodes": [{"extensions": {"X_hidden": {}}}, {"children": [2]}, {"mesh": 0}, {"children": [3]}],
            "meshes": [{"primitives": [{"material": 1}]}],
            "materials": [{"extensions": {"X_spare": {}}}, {"normalTexture": {"index": 0, "extensions": {"X_info": {}}}}],
            "textures": [{"extensions": {"X_texture": {}}}],
            "animations": [{"channels": [{"target": {"node": 3, "extensions": {"X_motion": {}}}}]}],
            "extensions": {"X_document": {}},
        });
        let shown = shown(&root);
        assert_eq!(shown.nodes, HashSet::from([1, 2]));
        let mut names: Vec<&str> = shown.extensions.iter().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["X_document", "X_info", "X_motion", "X_texture"]);
    }
}
