//! Every file of the corpus loads or is rejected in one line; those of the Khronos validator as its
//! reports say.

use std::{panic::catch_unwind, path::Path};

use crate::common::{
    corpus::{corpus, files},
    scene_dump,
};
use serde_json::{Value, json};
use sunny16::scene::{NoteKind, Scene, animation::AnimationSelection, gltf};

/// Asserts what a renderer relies on, at rest and in motion.
fn assert_sound(scene: &Scene, path: &Path) {
    assert_still(scene, path);
    if scene.is_animated() {
        for time in [0.0, 0.4, 1e6] {
            assert_still(&scene.at(&AnimationSelection::All, time), path);
        }
    }
}

fn assert_still(scene: &Scene, path: &Path) {
    let path = path.display();
    for (i, node) in scene.nodes.iter().enumerate() {
        assert!(node.local.is_finite(), "{path}");
        assert!(
            node.children.iter().all(|&child| scene.nodes[child].parent == Some(i)),
            "{path}: node {i}"
        );
        assert!(node.mesh.is_none_or(|i| i < scene.meshes.len()), "{path}");
        assert!(node.light.is_none_or(|i| i < scene.lights.len()), "{path}");
        assert!(node.camera.is_none_or(|i| i < scene.cameras.len()), "{path}");
    }
    assert!(scene.roots.iter().all(|&root| scene.nodes[root].parent.is_none()), "{path}");
    for placed in scene.walk() {
        assert!(placed.world.is_finite(), "{path}");
    }
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let count = primitive.positions.len();
        assert_eq!(primitive.normals.len(), count, "{path}");
        for other in [
            primitive.tangents.len(),
            primitive.uv0.len(),
            primitive.uv1.len(),
            primitive.colors.len(),
        ] {
            assert!(other == 0 || other == count, "{path}");
        }
        assert!(
            primitive.indices.len() % 3 == 0
                && primitive.indices.iter().all(|&i| (i as usize) < count),
            "{path}"
        );
        assert!(primitive.positions.iter().all(|p| p.is_finite()), "{path}");
        assert!(primitive.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-4), "{path}");
        let unit = |t: &glam::Vec4| (t.truncate().length() - 1.0).abs() < 1e-4 && t.w.abs() == 1.0;
        assert!(primitive.tangents.iter().all(unit), "{path}");
        assert!(primitive.uv0.iter().chain(&primitive.uv1).all(|uv| uv.is_finite()), "{path}");
        assert!(primitive.material.is_none_or(|i| i < scene.materials.len()), "{path}");
    }
    for material in &scene.materials {
        let all = [
            material.base_color_texture,
            material.metallic_roughness_texture,
            material.normal_texture,
            material.occlusion_texture,
            material.emissive_texture,
        ];
        for texture in all.into_iter().flatten() {
            assert!(
                scene.textures[texture.texture].image < scene.images.len() && texture.uv_set < 2,
                "{path}"
            );
        }
        assert!(material.emission.is_finite() && material.base_color.is_finite(), "{path}");
    }
    for image in &scene.images {
        assert_eq!(image.rgba8.len(), image.width as usize * image.height as usize * 4, "{path}");
        assert!(image.width > 0 && image.height > 0, "{path}");
    }
    for note in &scene.notes {
        assert!(!note.message.contains('\n') && !note.location.is_empty(), "{path}: {note:?}");
    }
}

/// The list that a property's indices refer to.
fn list_of(key: &str) -> Option<&'static str> {
    Some(match key {
        "nodes" | "children" | "node" | "joints" | "skeleton" => "nodes",
        "mesh" => "meshes",
        "skin" => "skins",
        "camera" => "cameras",
        "material" => "materials",
        "index" => "textures",
        "source" => "images",
        "sampler" => "samplers",
        "bufferView" => "bufferViews",
        "buffer" => "buffers",
        "indices" | "input" | "output" | "inverseBindMatrices" | "attributes" | "targets" => {
            "accessors"
        }
        _ => return None,
    })
}

/// Adds everything that a value refers to.
fn follow(value: &Value, list: Option<&'static str>, out: &mut Vec<(&'static str, usize)>) {
    match value {
        Value::Number(number) => {
            let number =
                number.as_f64().filter(|number| *number >= 0.0).map(|number| number as usize);
            out.extend(list.zip(number));
        }
        Value::Array(values) => values.iter().for_each(|value| follow(value, list, out)),
        Value::Object(map) => {
            for (key, value) in map {
                // Attribute names do not tell the kind of index.
                follow(value, list_of(key).or(list.filter(|list| *list == "accessors")), out);
            }
        }
        _ => {}
    }
}

/// Elements of a document that nothing visible or animated refers to, as (list, index).
fn unused(document: &Value) -> Vec<(&'static str, usize)> {
    const LISTS: [&str; 11] = [
        "accessors",
        "bufferViews",
        "buffers",
        "cameras",
        "images",
        "materials",
        "meshes",
        "nodes",
        "samplers",
        "skins",
        "textures",
    ];
    let mut seen = std::collections::HashSet::new();
    let mut queue = Vec::new();
    let scene = document["scene"].as_f64().unwrap_or(0.0) as usize;
    match document["scenes"].get(scene) {
        Some(scene) => follow(scene, None, &mut queue),
        None => queue.extend(
            (0..document["nodes"].as_array().map_or(0, Vec::len)).map(|node| ("nodes", node)),
        ),
    }
    // Variants, and references from the document's extensions.
    follow(&document["extensions"], None, &mut queue);
    follow(&document["animations"], None, &mut queue);
    while let Some((list, number)) = queue.pop() {
        if seen.insert((list, number))
            && let Some(value) = document[list].get(number)
        {
            follow(value, None, &mut queue);
        }
    }
    // Items listed without their parent belong to the parent's list.
    let nodes = document["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut grew = true;
    while std::mem::take(&mut grew) {
        for (number, node) in nodes.iter().enumerate() {
            let mut children = Vec::new();
            follow(&node["children"], Some("nodes"), &mut children);
            if children.iter().any(|child| seen.contains(child)) {
                grew |= seen.insert(("nodes", number));
            }
        }
    }
    let all = LISTS.into_iter().flat_map(|list| {
        (0..document[list].as_array().map_or(0, Vec::len)).map(move |number| (list, number))
    });
    all.filter(|element| !seen.contains(element)).collect()
}

/// The JSON of a file, and the rest of its container.
fn document(bytes: &[u8]) -> Option<(Value, Option<&[u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Some((serde_json::from_slice(bytes).ok()?, None));
    }
    let length = u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?) as usize;
    Some((serde_json::from_slice(bytes.get(20..20 + length)?).ok()?, bytes.get(20 + length..)))
}

/// The file with another JSON document.
fn packed(document: &Value, rest: Option<&[u8]>) -> Vec<u8> {
    let mut json = document.to_string().into_bytes();
    let Some(rest) = rest else { return json };
    json.resize(json.len().next_multiple_of(4), b' ');
    let size = |count: usize| u32::try_from(count).unwrap().to_le_bytes();
    [
        &b"glTF"[..],
        &size(2),
        &size(20 + json.len() + rest.len()),
        &size(json.len()),
        b"JSON",
        &json,
        rest,
    ]
    .concat()
}

#[test]
fn unreferenced_elements_of_the_corpus_may_be_anything() {
    let Some(corpus) = corpus() else { return };
    let (mut documents, mut elements) = (0, 0);
    for path in files(&corpus) {
        let bytes = std::fs::read(&path).unwrap();
        // Large files contain nothing that the small ones lack.
        if bytes.len() > 1 << 18 {
            continue;
        }
        let Some((document, rest)) = document(&bytes) else { continue };
        let folder = gltf::Folder::of(&path);
        let load = |document: &Value| gltf::load_bytes("f", &packed(document, rest), &folder);
        let Ok(scene) = load(&document) else { continue };
        let right = scene_dump::dump_scene(&scene);
        let spare = unused(&document);
        documents += usize::from(!spare.is_empty());
        for (list, number) in spare {
            elements += 1;
            let check = |change: &dyn Fn(&mut Value), what: &str| {
                let mut changed = document.clone();
                change(&mut changed[list]);
                let case = format!("{}: /{list}/{number} {what}", path.display());
                let scene = load(&changed).unwrap_or_else(|error| panic!("{case}: {error}"));
                assert!(scene_dump::dump_scene(&scene) == right, "{case}: another picture");
            };
            check(&|elements| elements[number] = json!({}), "emptied");
            check(&|elements| elements[number] = json!(null), "null");
            if document[list].as_array().map(Vec::len) == Some(number + 1) {
                check(&|elements| elements.as_array_mut().unwrap().truncate(number), "taken out");
            }
            let keys: Vec<String> = document[list][number]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| key.clone())
                .collect();
            for key in keys {
                check(
                    &|elements| drop(elements[number].as_object_mut().unwrap().remove(&key)),
                    &format!("without {key}"),
                );
                for value in [json!(null), json!(-1), json!("x"), json!([]), json!(0)] {
                    check(
                        &|elements| elements[number][&key] = value.clone(),
                        &format!("{key} = {value}"),
                    );
                }
            }
        }
    }
    println!("{elements} elements of {documents} documents");
    assert!(documents > 20 && elements > 50, "{elements} elements of {documents} documents");
}

fn repaired(scene: &Scene) -> bool {
    scene.notes.iter().any(|note| note.kind == NoteKind::Repaired)
}

#[test]
fn every_file_loads_or_is_rejected_in_one_line() {
    let Some(corpus) = corpus() else { return };
    let (mut loaded, mut refused, mut repairs) = (0, 0, 0);
    for path in files(&corpus) {
        let result = catch_unwind(|| gltf::load(&path))
            .unwrap_or_else(|_| panic!("{}: panicked", path.display()));
        let short = path.strip_prefix(&corpus).unwrap().display();
        match result {
            Ok(scene) => {
                assert_sound(&scene, &path);
                loaded += 1;
                repairs += usize::from(repaired(&scene));
                if !short.to_string().starts_with("khronos") {
                    println!("{short}: {} triangles", scene.instanced_triangles());
                    for note in
                        scene.notes.iter().filter(|note| note.kind != NoteKind::Info).take(3)
                    {
                        println!("    {:?} {}: {}", note.kind, note.location, note.message);
                    }
                }
            }
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() < 2000, "{text}");
                assert!(text.contains(path.file_name().unwrap().to_str().unwrap()), "{text}");
                refused += 1;
                println!("{text}");
            }
        }
    }
    println!("{loaded} loaded, {repairs} of them repaired; {refused} refused");
    assert!(loaded + refused > 300, "only {} files were found", loaded + refused);
    assert!(loaded > 200 && refused > 30, "{loaded} loaded, {refused} refused");
}

#[test]
fn the_reports_of_the_khronos_validator_agree() {
    let Some(corpus) = corpus() else { return };
    let (mut valid, mut invalid) = (0, 0);
    let (mut wrong, mut strict) = (Vec::new(), Vec::new());
    for path in files(&corpus.join("khronos-validator-data")) {
        let mut report = path.clone().into_os_string();
        report.push(".report.json");
        let Ok(report) = std::fs::read(report) else { continue };
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        let errors = report["issues"]["numErrors"].as_u64().unwrap();
        let short = path.strip_prefix(&corpus).unwrap().display();
        match (errors, gltf::load(&path)) {
            (0, Ok(scene)) => {
                valid += 1;
                if let Some(note) = scene.notes.iter().find(|note| note.kind == NoteKind::Repaired)
                {
                    strict.push(format!("{short}: {}: {}", note.location, note.message));
                }
            }
            (0, Err(error)) => wrong.push(format!("valid but refused: {error}")),
            (_, Ok(scene)) if !repaired(&scene) => {
                let messages = report["issues"]["messages"].as_array().unwrap();
                let first = messages.iter().find(|message| message["severity"] == 0);
                wrong.push(format!("invalid but neither refused nor repaired: {short}: {first:?}"));
            }
            _ => invalid += 1,
        }
    }
    for line in &strict {
        println!("valid but repaired: {line}");
    }
    println!(
        "{valid} valid ones load ({} with a repair), {invalid} invalid ones are refused or repaired",
        strict.len()
    );
    // The one with a buffer on the web: valid, but not fetched.
    assert!(strict.len() <= 1, "valid files are said to be repaired:\n{}", strict.join("\n"));
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n"));
    assert!(valid > 100 && invalid > 200, "{valid} valid and {invalid} invalid files were found");
}
