//! The rules of glTF 2.0 that the schema's tables cannot express, modeled on the Khronos validator.
//!
//! Most findings are repairs: invalid parts are left out, and the conversion turns them into errors
//! if the shown scene needs them. Errors here leave no sensible reading.

mod animations;
mod data;
mod input;
mod meshes;
mod nodes;

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use serde_json::Value;

use self::input::Input;
pub(super) use self::nodes::Forest;

use super::{
    accessor::{Component, ReadError, Store},
    json::{entries, extension, index, items, number, text},
    report::{At, ImportReport},
    schema,
};

/// Checks the glTF version; returns an explanation if it is not supported.
pub(super) fn version(root: &Value, report: &mut ImportReport) -> Result<(), String> {
    let asset = root.get("asset").unwrap_or(&Value::Null);
    let parse = |key: &str| asset.get(key).and_then(Value::as_str).and_then(schema::version);
    if let Some((major, minor)) = parse("version") {
        if major != 2 {
            return Err(format!("glTF version {major}.{minor}; export it as glTF 2.0"));
        }
        if let Some((need, need_minor)) = parse("minVersion")
            && (need, need_minor) > (major, minor)
        {
            report.repair(
                "/asset/minVersion",
                format!("{need}.{need_minor} is more than the version {major}.{minor}; ignored"),
            );
        }
    }
    Ok(())
}

/// Applies all rules; `None` if the node hierarchy is not a forest.
pub(super) fn check(root: &Value, store: &Store<'_>, report: &mut ImportReport) -> Option<Forest> {
    let input = Input { root, store, exhausted: Cell::new(false) };
    extensions(&input, report);
    views(&input, report);
    accessors(&input, report);
    usages(&input, report);
    cameras(&input, report);
    lights(&input, report);
    materials(&input, report);
    meshes::check(&input, report);
    let forest = nodes::check(&input, report);
    if let Some(forest) = &forest {
        nodes::skins(&input, forest, report);
    }
    animations::check(&input, report);
    if input.exhausted.get() {
        report.info(At::ROOT, "the data is too large; some of it is not checked");
    }
    forest
}

fn extensions(input: &Input<'_>, report: &mut ImportReport) {
    let used: HashSet<&str> =
        items(input.root, "extensionsUsed").iter().filter_map(Value::as_str).collect();
    let required: HashSet<&str> =
        items(input.root, "extensionsRequired").iter().filter_map(Value::as_str).collect();
    for name in &required {
        if !used.contains(name) {
            report.repair(
                "/extensionsRequired",
                format!("'{name}' is required but not listed in extensionsUsed"),
            );
        }
    }
    if used.contains(&"KHR_mesh_quantization") && !required.contains(&"KHR_mesh_quantization") {
        report.repair(
            "/extensionsUsed",
            "'KHR_mesh_quantization' is used but not required; read anyway",
        );
    }
}

fn views(input: &Input<'_>, report: &mut ImportReport) {
    let at = At::ROOT;
    let at = at.key("bufferViews");
    for (i, view) in input.store.views.iter().enumerate() {
        let Some(view) = view else { continue };
        let at = at.index(i);
        if input.store.buffers.get(view.buffer).is_some_and(Result::is_ok)
            && let Err(ReadError::Broken(problem)) = input.store.view(i)
        {
            report.repair(at, format!("{problem}; what uses it is left out"));
        }
        let stated = items(input.root, "buffers")
            .get(view.buffer)
            .and_then(|buffer| index(buffer, "byteLength"));
        if stated.is_some_and(|stated| view.offset.saturating_add(view.length) > stated) {
            report.repair(
                at,
                format!("the view exceeds the stated length of buffer {}", view.buffer),
            );
        }
        if let Some(stride) = view.stride {
            if stride > view.length {
                report.repair(
                    at.key("byteStride"),
                    format!("{stride} is more than the view's {} bytes", view.length),
                );
            }
            if stride % 4 != 0 {
                report.repair(
                    at.key("byteStride"),
                    format!("{stride} is not a multiple of 4; read anyway"),
                );
            }
            if view.target == Some(34963) {
                report.repair(
                    at.key("byteStride"),
                    "a stride on a view of indices; ignored for them",
                );
            }
        }
    }
}

fn accessors(input: &Input<'_>, report: &mut ImportReport) {
    let at = At::ROOT;
    let at = at.key("accessors");
    for (i, (value, accessor)) in
        items(input.root, "accessors").iter().zip(&input.store.accessors).enumerate()
    {
        let at = at.index(i);
        if value.get("byteOffset").is_some() && value.get("bufferView").is_none() {
            report.repair(at.key("byteOffset"), "an offset without a bufferView; ignored");
        }
        let Some(accessor) = accessor else { continue };
        let component = accessor.component;
        if accessor.normalized && matches!(component, Component::U32 | Component::F32) {
            report.repair(
                at.key("normalized"),
                "neither floats nor 32-bit integers can be normalized; ignored",
            );
        }
        // Matrices are aligned to 4 bytes within their view, all else to the component size
        // (section 3.6.2.4).
        let unit = if accessor.shape.is_matrix() { 4 } else { component.size() };
        let start = accessor.view.and_then(|view| input.store.views.get(view).copied().flatten());
        let total = start.map_or(0, |view| view.offset.wrapping_add(accessor.offset));
        if accessor.offset % unit != 0 || total % component.size() != 0 {
            report
                .repair(at.key("byteOffset"), format!("not aligned to {unit} bytes; read anyway"));
        }
        if start.is_some_and(|view| view.stride.is_some_and(|stride| stride % unit != 0)) {
            report.repair(at, format!("the stride is not a multiple of {unit} bytes; read anyway"));
        }
        if let Err(ReadError::Broken(problem)) = input.store.fits(accessor) {
            report.repair(at, format!("{problem}; what uses it is left out"));
            continue;
        }
        if let Some(sparse) = &accessor.sparse {
            for (name, view) in [("indices", sparse.index_view), ("values", sparse.value_view)] {
                if input
                    .store
                    .views
                    .get(view)
                    .copied()
                    .flatten()
                    .is_some_and(|view| view.stride.is_some())
                {
                    report.repair(
                        at.key("sparse").key(name),
                        "a view with a stride; the stride is ignored",
                    );
                }
            }
            let mut ignored = |_: usize, _: &[f64]| {};
            if let Err(ReadError::Broken(problem)) = input.store.visit(accessor, &mut ignored) {
                report.repair(at.key("sparse"), format!("{problem}; what uses it is left out"));
                continue;
            }
        }
        data::bounds(input, accessor, &at, report);
    }
}

/// Usage of a buffer view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Usage {
    Vertices,
    Indices,
    Image,
    Matrices,
    Other,
}

/// Each buffer view holds one kind of data (section 3.6.2.1 and the notes on `target`).
fn usages(input: &Input<'_>, report: &mut ImportReport) {
    let root = input.root;
    let mut known: HashMap<usize, Usage> = HashMap::new();
    for (i, view) in input.store.views.iter().enumerate() {
        match view.and_then(|view| view.target) {
            Some(34962) => known.insert(i, Usage::Vertices),
            Some(34963) => known.insert(i, Usage::Indices),
            _ => None,
        };
    }
    let view_of = |accessor: usize| input.accessor(accessor).and_then(|accessor| accessor.view);
    let mut hold = |view: Option<usize>, usage: Usage, at: &At<'_>, report: &mut ImportReport| {
        let Some(view) = view else { return };
        let before = *known.entry(view).or_insert(usage);
        if before != usage {
            report.repair(
                at,
                format!("bufferView {view} holds both {before:?} and {usage:?}; read anyway"),
            );
        }
    };
    let at = At::ROOT;
    let meshes = at.key("meshes");
    for (m, mesh) in items(root, "meshes").iter().enumerate() {
        let at = meshes.index(m);
        let at = at.key("primitives");
        for (p, primitive) in items(mesh, "primitives").iter().enumerate() {
            let at = at.index(p);
            if let Some(accessor) = index(primitive, "indices") {
                let at = at.key("indices");
                let view = view_of(accessor);
                hold(view, Usage::Indices, &at, report);
                let strided = view.and_then(|view| input.store.views.get(view).copied().flatten());
                if strided.is_some_and(|view| view.stride.is_some()) {
                    report.repair(at, "a view of indices with a stride; read anyway");
                }
            }
            let number = |value: &Value| value.as_u64().and_then(|x| usize::try_from(x).ok());
            for (name, value) in entries(primitive, "attributes") {
                let view = number(value).and_then(view_of);
                hold(view, Usage::Vertices, &at.key("attributes").key(name), report);
            }
            let at = at.key("targets");
            for (t, target) in items(primitive, "targets").iter().enumerate() {
                for (name, value) in target.as_object().into_iter().flatten() {
                    hold(
                        number(value).and_then(view_of),
                        Usage::Vertices,
                        &at.index(t).key(name),
                        report,
                    );
                }
            }
        }
    }
    let images = at.key("images");
    for (i, image) in items(root, "images").iter().enumerate() {
        hold(index(image, "bufferView"), Usage::Image, &images.index(i), report);
    }
    let skins = at.key("skins");
    for (i, skin) in items(root, "skins").iter().enumerate() {
        hold(
            index(skin, "inverseBindMatrices").and_then(view_of),
            Usage::Matrices,
            &skins.index(i),
            report,
        );
    }
    let animations = at.key("animations");
    for (i, animation) in items(root, "animations").iter().enumerate() {
        let at = animations.index(i);
        for sampler in items(animation, "samplers") {
            for key in ["input", "output"] {
                hold(index(sampler, key).and_then(view_of), Usage::Other, &at, report);
            }
        }
    }
}

fn cameras(input: &Input<'_>, report: &mut ImportReport) {
    let at = At::ROOT;
    let at = at.key("cameras");
    for (i, camera) in items(input.root, "cameras").iter().enumerate() {
        let at = at.index(i);
        let (orthographic, perspective) = (camera.get("orthographic"), camera.get("perspective"));
        let kind = text(camera, "type");
        match (orthographic, perspective) {
            (Some(_), Some(_)) => {
                report.repair(at, "both an orthographic and a perspective camera; the type decides")
            }
            (None, None) => {
                report.repair(at, "neither an orthographic nor a perspective camera; ignored")
            }
            _ if !kind.is_empty() && camera.get(kind).is_none() => {
                report.repair(
                    at,
                    format!("the type is '{kind}' but there is no such property; ignored"),
                );
            }
            _ => {}
        }
        for (name, projection) in [("orthographic", orthographic), ("perspective", perspective)] {
            let Some(projection) = projection else { continue };
            let at = at.key(name);
            if let (Some(near), Some(far)) =
                (number(projection, "znear"), number(projection, "zfar"))
                && far <= near
            {
                report.repair(at, format!("zfar {far} is not beyond znear {near}; ignored"));
            }
            for key in ["xmag", "ymag"] {
                if number(projection, key) == Some(0.0) {
                    report.repair(at.key(key), "a view of no size; the camera is ignored");
                }
            }
        }
    }
}

fn lights(input: &Input<'_>, report: &mut ImportReport) {
    let root = input.root;
    let at = At::ROOT;
    let at = at.key("extensions");
    let at = at.key("KHR_lights_punctual");
    let at = at.key("lights");
    let lights = extension(root, "KHR_lights_punctual");
    for (i, light) in
        lights.map(|lights| items(lights, "lights")).unwrap_or_default().iter().enumerate()
    {
        let at = at.index(i);
        let Some(spot) = light.get("spot") else {
            if text(light, "type") == "spot" {
                report.repair(at, "a spot light without 'spot'; the default cone is used");
            }
            continue;
        };
        let inner = number(spot, "innerConeAngle").unwrap_or(0.0);
        let outer = number(spot, "outerConeAngle").unwrap_or(std::f64::consts::FRAC_PI_4);
        if text(light, "type") == "spot" && outer <= inner {
            report.repair(
                at.key("spot").key("outerConeAngle"),
                format!("{outer} is not more than innerConeAngle {inner}; a sharp edge is used"),
            );
        }
    }
    let at = At::ROOT;
    let at = at.key("nodes");
    for (i, node) in items(root, "nodes").iter().enumerate() {
        if extension(node, "KHR_lights_punctual").is_some() && lights.is_none() {
            report.repair(at.index(i), "a light is used but the document has none; ignored");
        }
    }
}

/// Extensions that exclude KHR_materials_unlit.
const NOT_WITH_UNLIT: [&str; 7] = [
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
];

fn materials(input: &Input<'_>, report: &mut ImportReport) {
    let root = input.root;
    let at = At::ROOT;
    let place = at.key("materials");
    for (i, material) in items(root, "materials").iter().enumerate() {
        let at = place.index(i);
        let ior = extension(material, "KHR_materials_ior").and_then(|ior| number(ior, "ior"));
        if ior.is_some_and(|ior| ior > 0.0 && ior < 1.0) {
            report.repair(at.key("extensions"), "an index of refraction below 1; 1.5 is used");
        }
        let has = |name| extension(material, name).is_some();
        let lets_in =
            has("KHR_materials_transmission") || has("KHR_materials_diffuse_transmission");
        if has("KHR_materials_volume") && !lets_in {
            report.info(
                at.key("extensions"),
                "a volume without KHR_materials_transmission lets no light in; opaque",
            );
        }
        if has("KHR_materials_dispersion") && !has("KHR_materials_volume") {
            report.info(
                at.key("extensions"),
                "dispersion without KHR_materials_volume has no effect",
            );
        }
        if has("KHR_materials_unlit") {
            for name in NOT_WITH_UNLIT.into_iter().filter(|name| has(name)) {
                report.info(
                    at.key("extensions"),
                    format!("{name} has no effect on an unlit material"),
                );
            }
        }
    }
    let variants = extension(root, "KHR_materials_variants");
    let place = at.key("meshes");
    for (m, mesh) in items(root, "meshes").iter().enumerate() {
        let at = place.index(m);
        for (p, primitive) in items(mesh, "primitives").iter().enumerate() {
            let Some(mappings) = extension(primitive, "KHR_materials_variants") else { continue };
            let at = at.key("primitives");
            let at = at.index(p);
            if variants.is_none() {
                report.repair(at, "material variants are used but the document has none; ignored");
            }
            let mut seen = HashSet::new();
            let all =
                items(mappings, "mappings").iter().flat_map(|mapping| items(mapping, "variants"));
            if !all.filter_map(Value::as_u64).all(|variant| seen.insert(variant)) {
                report.repair(at, "a material variant is used twice; ignored");
            }
        }
    }
}
