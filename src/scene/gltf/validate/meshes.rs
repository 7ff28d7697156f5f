//! Rules on meshes (glTF 2.0 section 3.7.2).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    super::{
        accessor::{Accessor, AccessorType, Component},
        json::{entries, extension, index, items},
        report::{At, ImportReport},
    },
    data,
    input::Input,
};

/// Cache of findings on accessors, which many primitives may share.
#[derive(Default)]
struct Seen {
    /// Errors in the numbers of an accessor, by its use.
    data: HashMap<(usize, &'static str), Option<String>>,
    /// UV sets that a material needs.
    sets: HashMap<usize, Vec<usize>>,
}

/// Maximum UV sets of one material that are checked.
const MAX_SETS: usize = 32;

/// A semantic's name without its index, and the index.
fn split(name: &str) -> Option<(&'static str, Option<u32>)> {
    for plain in ["POSITION", "NORMAL", "TANGENT"] {
        if name == plain {
            return Some((plain, None));
        }
    }
    for indexed in ["TEXCOORD", "COLOR", "JOINTS", "WEIGHTS"] {
        if let Some(digits) = name.strip_prefix(indexed).and_then(|rest| rest.strip_prefix('_')) {
            let plain = digits == "0" || !digits.starts_with('0');
            if !plain || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            return Some((indexed, Some(digits.parse().ok()?)));
        }
    }
    None
}

/// The formats of section 3.7.2.1 and, if it is used, of KHR_mesh_quantization.
pub(in super::super) fn format_allowed(
    semantic: &str,
    accessor: &Accessor,
    quantized: bool,
    target: bool,
) -> bool {
    use Component::{F32, I8, I16, U8, U16};
    let (component, normalized) = (accessor.component, accessor.normalized);
    let float = component == F32 && !normalized;
    let unorm = matches!(component, U8 | U16) && normalized;
    let signed = matches!(component, I8 | I16);
    let small = quantized && (signed || matches!(component, U8 | U16));
    match (semantic, accessor.shape) {
        ("POSITION", AccessorType::Vec3) => float || small,
        ("NORMAL", AccessorType::Vec3) => float || quantized && signed && normalized,
        ("TANGENT", AccessorType::Vec4) if !target => float || quantized && signed && normalized,
        ("TANGENT", AccessorType::Vec3) if target => float || quantized && signed && normalized,
        ("TEXCOORD", AccessorType::Vec2) => {
            float || unorm || small || target && quantized && signed
        }
        ("COLOR", AccessorType::Vec3 | AccessorType::Vec4) => {
            float || unorm || target && signed && normalized
        }
        ("JOINTS", AccessorType::Vec4) => matches!(component, U8 | U16) && !normalized,
        ("WEIGHTS", AccessorType::Vec4) => float || unorm,
        _ => false,
    }
}

pub(super) fn check(input: &Input<'_>, report: &mut ImportReport) {
    let quantized =
        items(input.root, "extensionsUsed").iter().any(|name| name == "KHR_mesh_quantization");
    let mut seen = Seen::default();
    let at = At::ROOT;
    let at = at.key("meshes");
    for (m, mesh) in items(input.root, "meshes").iter().enumerate() {
        let at = at.index(m);
        let primitives = items(mesh, "primitives");
        let targets = primitives.first().map_or(0, |primitive| items(primitive, "targets").len());
        let primitives_at = at.key("primitives");
        for (p, primitive) in primitives.iter().enumerate() {
            let at = primitives_at.index(p);
            if items(primitive, "targets").len() != targets {
                report.repair(
                    at.key("targets"),
                    "the number of morph targets differs from the mesh's first primitive",
                );
            }
            Primitive { input, value: primitive, quantized, at }.check(&mut seen, report);
        }
        if mesh.get("weights").is_some() && items(mesh, "weights").len() != targets {
            report.repair(
                at.key("weights"),
                format!("the number of weights differs from the {targets} morph targets; ignored"),
            );
        }
    }
}

struct Primitive<'a> {
    input: &'a Input<'a>,
    value: &'a Value,
    quantized: bool,
    at: At<'a>,
}

impl Primitive<'_> {
    fn check(&self, seen: &mut Seen, report: &mut ImportReport) {
        let at = self.at.key("attributes");
        let count = self.attributes(&at, seen, report);
        self.indices(count, report);
        self.targets(count, report);
        self.material(seen, report);
    }

    /// Returns the number of vertices.
    fn attributes(&self, at: &At<'_>, seen: &mut Seen, report: &mut ImportReport) -> Option<usize> {
        let input = self.input;
        let position = self.value.get("attributes").and_then(|list| index(list, "POSITION"));
        let count =
            position.and_then(|position| input.accessor(position)).map(|accessor| accessor.count);
        let mut numbers: HashMap<&'static str, Vec<u32>> = HashMap::new();
        let mut views: HashMap<usize, usize> = HashMap::new();
        for (name, value) in entries(self.value, "attributes") {
            let at = at.key(name);
            let Some(number) = value.as_u64().and_then(|x| usize::try_from(x).ok()) else {
                continue;
            };
            let Some(accessor) = input.accessor(number) else { continue };
            let first = *views.entry(accessor.view.unwrap_or(usize::MAX)).or_insert(number);
            let view =
                accessor.view.and_then(|view| input.store.views.get(view).copied().flatten());
            if first != number && view.is_some_and(|view| view.stride.is_none()) {
                report.repair(at, "two vertex attributes share a bufferView that has no byteStride; read as packed");
            }
            if view.is_some_and(|view| {
                [accessor.offset, view.offset, input.store.stride(accessor)]
                    .iter()
                    .any(|x| !x.is_multiple_of(4))
            }) {
                report.repair(at, "the attribute is not aligned to 4 bytes; read anyway");
            }
            if accessor.component == Component::U32 {
                report.repair(at, "an attribute of 32-bit integers; ignored");
            }
            if count.is_some_and(|count| count != accessor.count) {
                let (has, want) = (accessor.count, count.unwrap_or(0));
                report.repair(at, format!("{has} elements for {want} vertices; ignored"));
            }
            if name.starts_with('_') {
                continue;
            }
            let Some((semantic, digit)) = split(name) else {
                report.repair(at, "not the name of a vertex attribute; ignored");
                continue;
            };
            if let Some(digit) = digit {
                numbers.entry(semantic).or_default().push(digit);
            }
            if !format_allowed(semantic, accessor, self.quantized, false) {
                report.repair(at, "a format not allowed for this attribute");
                continue;
            }
            if semantic == "POSITION" && (accessor.min.is_empty() || accessor.max.is_empty()) {
                report.repair(at, "positions without min and max; they are taken from the data");
            }
            let finding = seen
                .data
                .entry((number, semantic))
                .or_insert_with(|| data_rule(input, semantic, accessor));
            if let Some(finding) = finding {
                report.repair(at, finding);
            }
        }
        for (semantic, mut list) in numbers.clone() {
            list.sort_unstable();
            if list.iter().enumerate().any(|(i, &x)| usize::try_from(x) != Ok(i)) {
                report.repair(at, format!("the indices of {semantic} are not consecutive from 0"));
            }
        }
        let sets = |name: &str| numbers.get(name).map_or(0, Vec::len);
        if sets("JOINTS") != sets("WEIGHTS") {
            report.repair(
                at,
                "the numbers of joint sets and weight sets differ; ignored, skins are not applied",
            );
        }
        count
    }

    fn indices(&self, count: Option<usize>, report: &mut ImportReport) {
        let Some(accessor) =
            index(self.value, "indices").and_then(|index| self.input.accessor(index))
        else {
            return;
        };
        let at = self.at.key("indices");
        if accessor.shape != AccessorType::Scalar
            || !matches!(accessor.component, Component::U8 | Component::U16 | Component::U32)
            || accessor.normalized
        {
            report.repair(at, "a format not allowed for indices");
            return;
        }
        #[allow(clippy::cast_precision_loss)]
        if let Some(count) = count
            && let Some(first) = data::first(self.input, accessor, &|element| {
                element.iter().all(|&x| x < count as f64)
            })
        {
            report.repair(
                at,
                format!("index {first} is out of range of the {count} vertices; its triangles are left out"),
            );
        }
        let restart = match accessor.component {
            Component::U8 => 255.0,
            Component::U16 => 65535.0,
            _ => 4_294_967_295.0,
        };
        if let Some(first) =
            data::first(self.input, accessor, &|element| element.first() != Some(&restart))
            && count.is_some()
        {
            report.broken(
                at,
                format!("index {first} is {restart}, which glTF forbids (primitive restart); export without strips"),
            );
        }
    }

    fn targets(&self, count: Option<usize>, report: &mut ImportReport) {
        let at = self.at.key("targets");
        for (t, target) in items(self.value, "targets").iter().enumerate() {
            let at = at.index(t);
            for (name, value) in target.as_object().into_iter().flatten() {
                let at = at.key(name);
                let Some(accessor) = value
                    .as_u64()
                    .and_then(|x| usize::try_from(x).ok())
                    .and_then(|index| self.input.accessor(index))
                else {
                    continue;
                };
                if count.is_some_and(|count| count != accessor.count) {
                    report.repair(
                        at,
                        "the number of elements differs from the primitive's vertices; ignored",
                    );
                }
                if self.value.get("attributes").is_none_or(|base| base.get(name).is_none()) {
                    report.repair(at, "the primitive has no such attribute; ignored");
                }
                if name.starts_with('_') {
                    continue;
                }
                let Some((semantic, _)) = split(name) else {
                    report.repair(at, "not the name of a vertex attribute; ignored");
                    continue;
                };
                if !format_allowed(semantic, accessor, self.quantized, true) {
                    report.repair(at, "a format not allowed for this attribute; ignored");
                }
                if semantic == "POSITION" && (accessor.min.is_empty() || accessor.max.is_empty()) {
                    report
                        .repair(at, "positions without min and max; they are taken from the data");
                }
            }
        }
    }

    /// Checks that the primitive has the texture coordinates and tangents that its material needs.
    fn material(&self, seen: &mut Seen, report: &mut ImportReport) {
        let materials = items(self.input.root, "materials");
        let Some(number) = index(self.value, "material") else { return };
        let Some(material) = materials.get(number) else { return };
        let attribute =
            |name: &str| self.value.get("attributes").is_some_and(|list| list.get(name).is_some());
        let at = self.at.key("material");
        let sets = seen.sets.entry(number).or_insert_with(|| {
            let mut wanted = HashSet::new();
            texture_coordinates(material, &mut wanted, 0);
            let mut sets: Vec<usize> = wanted.into_iter().collect();
            sets.sort_unstable();
            sets.truncate(MAX_SETS);
            sets
        });
        for set in sets {
            if !attribute(&format!("TEXCOORD_{set}")) {
                report.repair(
                    at,
                    format!("the material needs TEXCOORD_{set}, which is absent; 0, 0 is used"),
                );
            }
        }
        let clearcoat = extension(material, "KHR_materials_clearcoat");
        let needs = extension(material, "KHR_materials_anisotropy").is_some()
            || clearcoat.is_some_and(|clearcoat| clearcoat.get("clearcoatNormalTexture").is_some());
        if needs && !attribute("TANGENT") && material.get("normalTexture").is_none() {
            let made = "the material needs tangents, which are absent; generated from texture coordinates if there are any";
            report.repair(at, made);
        }
    }
}

/// Collects the UV sets of all textures in a material.
fn texture_coordinates(value: &Value, wanted: &mut HashSet<usize>, depth: usize) {
    // Textures are at most five levels deep: extensions, the name, the texture, and its own
    // extensions.
    if depth > 6 {
        return;
    }
    let Some(map) = value.as_object() else { return };
    for (name, value) in map {
        if name == "extras" {
            continue;
        }
        if name.ends_with("Texture") && value.get("index").is_some() {
            let moved = extension(value, "KHR_texture_transform")
                .and_then(|transform| index(transform, "texCoord"));
            wanted.insert(moved.or_else(|| index(value, "texCoord")).unwrap_or(0));
            // The Khronos validator requires both sets; the renderer needs only that of the
            // extension.
            if moved.is_some() {
                wanted.insert(index(value, "texCoord").unwrap_or(0));
            }
        } else {
            texture_coordinates(value, wanted, depth + 1);
        }
    }
}

/// The error in the numbers of an attribute, if any.
fn data_rule(input: &Input<'_>, semantic: &str, accessor: &Accessor) -> Option<String> {
    let scale = data::scale(accessor);
    match semantic {
        "NORMAL" => data::unit(input, accessor, 3).map(|index| {
            format!("normal {index} is not of unit length; such normals are normalized")
        }),
        "TANGENT" => data::unit(input, accessor, 3)
            .map(|index| {
                format!("tangent {index} is not of unit length; such tangents are normalized")
            })
            .or_else(|| {
                data::first(input, accessor, &|element| {
                    element.get(3).is_some_and(|w| (w * scale).abs() == 1.0)
                })
                .map(|index| {
                    format!("the w of tangent {index} is neither 1 nor -1; its sign is used")
                })
            }),
        "COLOR" if accessor.component == Component::F32 => {
            data::first(input, accessor, &|element| element.iter().all(|x| (0.0..=1.0).contains(x)))
                .map(|index| format!("color {index} is not within 0 to 1; clamped"))
        }
        "WEIGHTS" => data::first(input, accessor, &|element| {
            let sum: f64 = element.iter().sum::<f64>() * scale;
            element.iter().all(|x| *x >= 0.0)
                && (sum == 0.0 || (sum - 1.0).abs() <= 0.01 || sum < 1.0)
        })
        .map(|index| {
            format!("the weights of vertex {index} are negative or add up to more than 1; ignored")
        }),
        _ => None,
    }
}
