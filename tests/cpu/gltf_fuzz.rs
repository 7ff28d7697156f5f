//! Broken files: thousands of small mutations of a valid file must neither panic nor take long.

use std::{
    panic::catch_unwind,
    time::{Duration, Instant},
};

use crate::common::{glb, random::Random, scene_dump};
use serde_json::{Value, json};
use sunny16::scene::{
    Scene,
    gltf::{self, NoFiles},
};

fn png() -> Vec<u8> {
    let mut out = Vec::new();
    let picture =
        image::RgbaImage::from_fn(4, 4, |x, y| image::Rgba([x as u8 * 60, y as u8 * 60, 128, 255]));
    picture.write_to(&mut std::io::Cursor::new(&mut out), image::ImageFormat::Png).unwrap();
    out
}

/// A document that uses most features, with its binary chunk.
fn document() -> (Value, Vec<u8>) {
    let (mut bytes, mut views) = (Vec::new(), Vec::new());
    let mut view = |data: &[u8]| {
        views.push(json!({"buffer": 0, "byteOffset": bytes.len(), "byteLength": data.len()}));
        bytes.extend(data);
        while !bytes.len().is_multiple_of(4) {
            bytes.push(0);
        }
    };
    let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    view(&floats(&[0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.]));
    view(&floats(&[0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 1.]));
    view(&floats(&[0., 1., 1., 1., 1., 0., 0., 0.]));
    view(&[0, 1, 2, 0, 2, 3]);
    view(&[255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 9, 9, 9, 255]);
    view(&[0, 0, 3, 0]);
    view(&floats(&[0., 0., 0.5, 0., 0., 0.25]));
    view(&png());
    view(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    view(&floats(&[1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.]));
    view(&floats(&[0., 1.]));
    view(&floats(&[1., 0., 0., 0., 0., 0., 0., 1.]));
    view(&floats(&[1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.].repeat(2)));
    let document = json!({
        "asset": {"version": "2.0", "generator": "test"},
        "extensionsUsed": [
            "KHR_lights_punctual", "KHR_texture_transform", "KHR_materials_emissive_strength", "KHR_materials_unlit",
            "KHR_materials_clearcoat", "KHR_materials_sheen", "KHR_materials_anisotropy", "KHR_materials_iridescence",
            "KHR_materials_specular", "KHR_materials_diffuse_transmission", "KHR_materials_dispersion",
        ],
        "extensions": {"KHR_lights_punctual": {"lights": [
            {"type": "spot", "intensity": 10, "range": 5, "color": [1, 1, 1], "spot": {"innerConeAngle": 0.1, "outerConeAngle": 0.5}},
            {"type": "point", "intensity": 3},
        ]}},
        "scene": 0,
        "scenes": [{"nodes": [0, 3], "name": "s"}],
        "nodes": [
            {"children": [1, 2], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]},
            {"mesh": 0, "translation": [1, 2, 3], "skin": 0},
            {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "weights": [0.5]},
            {"camera": 0, "extensions": {"KHR_lights_punctual": {"light": 0}}},
        ],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1, "zfar": 10, "aspectRatio": 1}}],
        "meshes": [{"name": "m", "weights": [1], "primitives": [
            {
                "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "COLOR_0": 4, "JOINTS_0": 7, "WEIGHTS_0": 8},
                "indices": 3, "material": 0, "targets": [{"POSITION": 5}],
            },
            {"attributes": {"POSITION": 0, "JOINTS_0": 7, "WEIGHTS_0": 8}, "mode": 5, "targets": [{"POSITION": 5}]},
            {"attributes": {"POSITION": 0, "TEXCOORD_0": 2, "JOINTS_0": 7, "WEIGHTS_0": 8}, "mode": 6, "material": 0, "targets": [{"POSITION": 5}]},
        ]}],
        "materials": [{
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"offset": [1, 2], "rotation": 1, "scale": [2, 2]}}}, "metallicFactor": 0.5, "roughnessFactor": 0.5, "baseColorFactor": [1, 1, 1, 1]},
            "normalTexture": {"index": 0, "scale": 1}, "occlusionTexture": {"index": 0, "strength": 1},
            "emissiveFactor": [1, 1, 1], "alphaMode": "MASK", "alphaCutoff": 0.5,
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 5}, "KHR_materials_clearcoat": {"clearcoatFactor": 1, "clearcoatNormalTexture": {"index": 0, "scale": 2}},
                "KHR_materials_sheen": {"sheenColorFactor": [1, 0, 1], "sheenRoughnessTexture": {"index": 0}},
                "KHR_materials_anisotropy": {"anisotropyStrength": 1, "anisotropyRotation": 2, "anisotropyTexture": {"index": 0}},
                "KHR_materials_iridescence": {"iridescenceFactor": 1, "iridescenceIor": 1.5, "iridescenceThicknessMinimum": 9},
                "KHR_materials_specular": {"specularFactor": 0.5, "specularColorFactor": [1, 2, 3]},
                "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.5, "diffuseTransmissionColorFactor": [1, 0, 1]},
                "KHR_materials_dispersion": {"dispersion": 3}},
        }],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 33071}],
        "images": [{"bufferView": 7, "mimeType": "image/png"}],
        "skins": [{"joints": [0, 1], "skeleton": 0, "inverseBindMatrices": 11}],
        "animations": [{"channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}], "samplers": [{"input": 9, "output": 10, "interpolation": "LINEAR"}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "type": "VEC3", "count": 4},
            {"bufferView": 2, "componentType": 5126, "type": "VEC2", "count": 4},
            {"bufferView": 3, "componentType": 5121, "type": "SCALAR", "count": 6},
            {"bufferView": 4, "componentType": 5121, "type": "VEC4", "count": 4, "normalized": true},
            {"componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [0, 0, 0.5],
             "sparse": {"count": 2, "indices": {"bufferView": 5, "componentType": 5123}, "values": {"bufferView": 6}}},
            {"bufferView": 0, "componentType": 5126, "type": "MAT2", "count": 2},
            {"bufferView": 8, "componentType": 5121, "type": "VEC4", "count": 4},
            {"bufferView": 9, "componentType": 5126, "type": "VEC4", "count": 4},
            {"bufferView": 10, "componentType": 5126, "type": "SCALAR", "count": 2, "min": [0], "max": [1]},
            {"bufferView": 11, "componentType": 5126, "type": "VEC4", "count": 2},
            {"bufferView": 12, "componentType": 5126, "type": "MAT4", "count": 2},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": bytes.len()}],
    });
    (document, bytes)
}

fn assert_sound(scene: &Scene, case: &str) {
    for placed in scene.walk() {
        assert!(placed.world.is_finite(), "{case}");
    }
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let count = primitive.positions.len();
        assert!(primitive.indices.iter().all(|&i| (i as usize) < count), "{case}");
        assert!(primitive.positions.iter().all(|p| p.is_finite()), "{case}");
        assert_eq!(primitive.normals.len(), count, "{case}");
        assert!(primitive.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-4), "{case}");
        assert!(
            primitive.tangents.iter().all(|t| (t.truncate().length() - 1.0).abs() < 1e-4),
            "{case}"
        );
        assert!(primitive.colors.iter().all(|c| c.is_finite()), "{case}");
        assert!(primitive.uv0.iter().all(|uv| uv.is_finite()), "{case}");
    }
    for node in &scene.nodes {
        assert!(node.children.iter().all(|&child| child < scene.nodes.len()), "{case}");
        assert!(node.mesh.is_none_or(|mesh| mesh < scene.meshes.len()), "{case}");
    }
}

/// Counts of outcomes, so that a test can check that its cases were of both kinds.
#[derive(Default, Debug)]
struct Tally {
    loaded: usize,
    refused: usize,
}

impl Tally {
    fn try_bytes(&mut self, bytes: &[u8], case: &str) {
        let start = Instant::now();
        let result = catch_unwind(|| gltf::load_bytes("fuzz", bytes, &NoFiles));
        let result = result.unwrap_or_else(|_| panic!("{case}: panicked"));
        // A guard against endless work: the largest cases take seconds on an idle machine.
        assert!(start.elapsed() < Duration::from_secs(120), "{case}: {:?}", start.elapsed());
        match result {
            Ok(scene) => {
                assert_sound(&scene, case);
                self.loaded += 1;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.starts_with("fuzz: "), "{case}: {text}");
                self.refused += 1;
            }
        }
    }
}

#[test]
fn the_file_itself_is_valid() {
    let (document, bin) = document();
    let scene = gltf::load_bytes("fuzz", &glb(&document.to_string(), &bin), &NoFiles).unwrap();
    assert_eq!(scene.instanced_triangles(), 2 * (2 + 2 + 2));
    let repaired: Vec<_> =
        scene.notes.iter().filter(|note| note.kind == sunny16::scene::NoteKind::Repaired).collect();
    assert!(repaired.is_empty(), "{repaired:?}");
}

#[test]
fn truncated_files_do_not_panic() {
    let (document, bin) = document();
    let bytes = glb(&document.to_string(), &bin);
    let mut tally = Tally::default();
    for length in 0..bytes.len() {
        tally.try_bytes(&bytes[..length], &format!("{length} bytes"));
    }
    assert_eq!(tally.refused, bytes.len(), "{tally:?}");
}

#[test]
fn mutated_bytes_do_not_panic() {
    let (document, bin) = document();
    let bytes = glb(&document.to_string(), &bin);
    let mut random = Random(16);
    let mut tally = Tally::default();
    for case in 0..6000 {
        let mut changed = bytes.clone();
        // Half of the cases mutate the data alone, where the file stays parsable.
        let first = if case % 2 == 0 { 0 } else { bytes.len() - bin.len() };
        for _ in 0..=random.below(4) {
            let at = first + random.below(bytes.len() - first);
            changed[at] =
                [random.next() as u8, 0, 0xff, 0x7f, changed[at] ^ (1 << random.below(8))]
                    [random.below(5)];
        }
        tally.try_bytes(&changed, &format!("case {case}"));
    }
    assert!(tally.loaded > 1000 && tally.refused > 1000, "{tally:?}");
}

#[test]
fn hostile_numbers_in_the_data_do_not_panic() {
    let (document, bin) = document();
    let mut random = Random(22);
    let mut tally = Tally::default();
    let hostile = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3.4e38, -3.4e38, 1e-45, 1e20, -0.0];
    for case in 0..3000 {
        let mut changed = bin.clone();
        for _ in 0..=random.below(6) {
            let at = random.below(changed.len() / 4) * 4;
            changed[at..at + 4]
                .copy_from_slice(&hostile[random.below(hostile.len())].to_le_bytes());
        }
        tally.try_bytes(&glb(&document.to_string(), &changed), &format!("case {case}"));
    }
    assert!(tally.loaded > 1000, "{tally:?}");
}

/// All locations in a document, as JSON pointers.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                places(value, &format!("{at}/{i}"), out);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                places(value, &format!("{at}/{}", key.replace('/', "~1")), out);
            }
        }
        _ => {}
    }
}

#[test]
fn hostile_values_in_the_document_do_not_panic() {
    let (document, bin) = document();
    let mut all = Vec::new();
    places(&document, "", &mut all);
    assert!(all.len() > 300);
    // Written as text, since a value cannot hold 1e999.
    let hostile = [
        "-1",
        "0",
        "1",
        "7",
        "0.5",
        "1e38",
        "-1e38",
        "1e308",
        "1e999",
        "255",
        "65536",
        "4294967295",
        "4294967296",
        "9007199254740993",
        "18446744073709551615",
        "1e19",
        "null",
        "true",
        "\"\"",
        "\"data:,\"",
        "\"../../x\"",
        "[]",
        "{}",
        "[[]]",
        "[1,2,3]",
        "\"VEC4\"",
        "\"MAT4\"",
        "5125",
        "5126",
        "16000000",
    ];
    let mut tally = Tally::default();
    for place in &all {
        for text in hostile {
            let mut changed = document.clone();
            *changed.pointer_mut(place).unwrap() = json!("@@");
            let json = changed.to_string().replace("\"@@\"", text);
            tally.try_bytes(&glb(&json, &bin), &format!("{place} = {text}"));
        }
    }
    assert!(tally.loaded > 3000 && tally.refused > 500, "{tally:?}");
}

#[test]
fn pairs_of_hostile_values_do_not_panic() {
    let (document, bin) = document();
    let mut all = Vec::new();
    places(&document, "", &mut all);
    all.retain(|place| document.pointer(place).is_some_and(Value::is_number));
    let mut random = Random(4);
    let hostile = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(5),
        json!(11),
        json!(12),
        json!(5121),
        json!(5123),
        json!(5125),
        json!(-1),
        json!(1e38),
        json!(64),
    ];
    let mut tally = Tally::default();
    for case in 0..4000 {
        let mut changed = document.clone();
        for _ in 0..2 + random.below(3) {
            let place = &all[random.below(all.len())];
            *changed.pointer_mut(place).unwrap() = hostile[random.below(hostile.len())].clone();
        }
        tally.try_bytes(&glb(&changed.to_string(), &bin), &format!("case {case}"));
    }
    assert!(tally.loaded > 500 && tally.refused > 200, "{tally:?}");
}

/// The document with one more of everything, unreferenced by visible content, and their locations.
fn with_spares() -> (Value, Vec<u8>, Vec<String>) {
    let (mut document, bin) = document();
    let count = |document: &Value, list: &str| {
        document.pointer(list).and_then(Value::as_array).map_or(0, Vec::len)
    };
    let at = |document: &Value, list: &str| count(document, list) - 1;
    let mut spares = Vec::new();
    let mut add = |document: &mut Value, list: &str, value: Value| {
        let end = count(document, list);
        match document.pointer_mut(list).and_then(Value::as_array_mut) {
            Some(list) => list.push(value),
            None => document[list.trim_start_matches('/')] = json!([value]),
        }
        spares.push(format!("{list}/{end}"));
        end
    };
    let buffer = add(
        &mut document,
        "/buffers",
        json!({"byteLength": 64, "name": "b", "uri": "data:,abcdefghijklmnop"}),
    );
    let view = json!({"buffer": buffer, "byteOffset": 0, "byteLength": 12, "byteStride": 12, "target": 34962});
    let view = add(&mut document, "/bufferViews", view);
    let sparse = json!({"count": 1, "indices": {"bufferView": view, "byteOffset": 0, "componentType": 5121},
        "values": {"bufferView": view, "byteOffset": 0}});
    let accessor = json!({"bufferView": view, "byteOffset": 0, "componentType": 5126, "type": "VEC3", "count": 1,
        "min": [0, 0, 0], "max": [1, 1, 1], "sparse": sparse, "normalized": false});
    let accessor = add(&mut document, "/accessors", accessor);
    let matrices = json!({"componentType": 5126, "type": "MAT4", "count": 1});
    let matrices = add(&mut document, "/accessors", matrices);
    let image = add(&mut document, "/images", json!({"bufferView": view, "mimeType": "image/png"}));
    let sampler = add(&mut document, "/samplers", json!({"magFilter": 9728, "wrapS": 10497}));
    let texture = add(&mut document, "/textures", json!({"source": image, "sampler": sampler}));
    let mut material = document["materials"][0].clone();
    material["normalTexture"]["index"] = json!(texture);
    let material = add(&mut document, "/materials", material);
    let mesh = json!({"weights": [0.5], "primitives": [{"attributes": {"POSITION": accessor, "JOINTS_0": accessor},
        "indices": accessor, "material": material, "mode": 4, "targets": [{"POSITION": accessor}]}]});
    let mesh = add(&mut document, "/meshes", mesh);
    let camera = json!({"type": "orthographic", "orthographic": {"xmag": 1, "ymag": 1, "znear": 0, "zfar": 9}});
    let camera = add(&mut document, "/cameras", camera);
    let lights = "/extensions/KHR_lights_punctual/lights";
    let light = add(
        &mut document,
        lights,
        json!({"type": "spot", "intensity": 4, "spot": {"outerConeAngle": 1}}),
    );
    let skin = json!({"joints": [0], "skeleton": 0, "inverseBindMatrices": matrices});
    let skin = add(&mut document, "/skins", skin);
    let node = json!({"mesh": mesh, "skin": skin, "camera": camera, "translation": [1, 2, 3], "weights": [1],
        "extensions": {"KHR_lights_punctual": {"light": light}}, "extras": {"sunny16_volume": {"scattering": 1}}});
    add(&mut document, "/nodes", node);
    let spare = at(&document, "/nodes");
    add(
        &mut document,
        "/nodes",
        json!({"children": [spare], "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}),
    );
    let animation = json!({"samplers": [{"input": accessor, "output": accessor, "interpolation": "STEP"}],
        "channels": [{"sampler": 0, "target": {"node": spare, "path": "translation"}}]});
    add(&mut document, "/animations", animation);
    add(&mut document, "/scenes", json!({"nodes": [spare + 1], "name": "spare"}));
    (document, bin, spares)
}

/// Unreferenced elements neither reject a document nor change its picture.
#[test]
fn unreferenced_elements_may_be_anything() {
    let (document, bin, spares) = with_spares();
    let picture = |document: &Value, case: &str| {
        let scene = gltf::load_bytes("fuzz", &glb(&document.to_string(), &bin), &NoFiles);
        scene_dump::dump_scene(&scene.unwrap_or_else(|error| panic!("{case}: {error}")))
    };
    let right = picture(&document, "as it is");
    let (plain, _) = self::document();
    assert_eq!(right, picture(&plain, "without the spares"));
    let mut cases = 0;
    let hostile = [
        json!(null),
        json!({}),
        json!([]),
        json!(-1),
        json!(0),
        json!(1),
        json!(3.5),
        json!(1e38),
        json!(4_000_000_000u64),
        json!(9_007_199_254_740_993u64),
        json!(true),
        json!(""),
        json!("VEC9"),
        json!("../../x"),
        json!("data:;base64,*"),
        json!([[]]),
        json!([0, 0]),
        json!([-1]),
        json!([99]),
        json!(5130),
        json!(7),
    ];
    for spare in &spares {
        let mut all = Vec::new();
        places(document.pointer(spare).unwrap(), spare, &mut all);
        for place in &all {
            for value in &hostile {
                let mut changed = document.clone();
                *changed.pointer_mut(place).unwrap() = value.clone();
                let case = format!("{place} = {value}");
                assert!(picture(&changed, &case) == right, "{case}: another picture");
                cases += 1;
            }
            let (parent, key) = place.rsplit_once('/').unwrap();
            let mut changed = document.clone();
            if let Some(map) = changed.pointer_mut(parent).and_then(Value::as_object_mut) {
                map.remove(key);
                let case = format!("without {place}");
                assert!(picture(&changed, &case) == right, "{case}: another picture");
            }
        }
        // The last element of its list can be removed without renumbering others.
        let (list, number) = spare.rsplit_once('/').unwrap();
        let mut changed = document.clone();
        let list = changed.pointer_mut(list).and_then(Value::as_array_mut).unwrap();
        list.truncate(number.parse().unwrap());
        assert!(picture(&changed, spare) == right, "{spare} taken out: another picture");
    }
    assert!(cases > 3000, "{cases}");
}

/// Empty lists, zero counts and `null` load where nothing required is missing.
#[test]
fn empty_lists_are_no_error() {
    let lamp = json!({"asset": {"version": "2.0"}, "extensionsUsed": ["KHR_lights_punctual"],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 50}]}},
        "nodes": [{"extensions": {"KHR_lights_punctual": {"light": 0}}}], "scenes": [{"nodes": [0]}]});
    let load = |value: &Value| {
        gltf::load_bytes("f", value.to_string().as_bytes(), &NoFiles)
            .unwrap_or_else(|error| panic!("{value}: {error}"))
    };
    for (key, value) in [
        ("buffers", json!([{"byteLength": 0}])),
        ("buffers", json!([{"byteLength": 0, "uri": "data:application/octet-stream;base64,"}])),
        ("buffers", json!([{}])),
        ("bufferViews", json!([{"buffer": 0, "byteLength": 0}])),
        ("accessors", json!([{"count": 0, "componentType": 5126, "type": "VEC3"}])),
        (
            "accessors",
            json!([{"count": 3, "componentType": 5126, "type": "VEC3", "sparse": {"count": 0}}]),
        ),
        ("meshes", json!([{"primitives": []}])),
        ("meshes", json!([{}, null, 7])),
        ("animations", json!([{"channels": [], "samplers": []}, {}])),
        ("skins", json!([{"joints": []}])),
        ("scene", json!(17)),
        ("images", json!([{}])),
        ("textures", json!([{}])),
        ("materials", json!(null)),
        ("extensionsRequired", json!(["VENDOR_of_nothing"])),
    ] {
        let mut document = lamp.clone();
        document[key] = value;
        let scene = load(&document);
        assert_eq!(
            scene.walk().iter().filter(|placed| placed.node.light.is_some()).count(),
            1,
            "{document}"
        );
        if key != "scene" {
            document[key] = json!([]);
            load(&document);
        }
    }
    // An empty mesh beside a nonempty one.
    let (mut document, bin) = document();
    let empty = json!({"componentType": 5126, "type": "VEC3", "count": 0});
    document["accessors"].as_array_mut().unwrap().push(empty);
    let number = document["accessors"].as_array().unwrap().len() - 1;
    let primitives = document["meshes"][0]["primitives"].as_array_mut().unwrap();
    for primitive in [
        json!({"attributes": {"POSITION": number}}),
        json!({"attributes": {"POSITION": 0}, "indices": number}),
        json!({"attributes": {}}),
        json!({"attributes": null}),
        json!({}),
    ] {
        primitives.push(primitive);
    }
    let scene = gltf::load_bytes("f", &glb(&document.to_string(), &bin), &NoFiles).unwrap();
    assert_eq!(scene.instanced_triangles(), 2 * (2 + 2 + 2));
}

#[test]
fn deep_nesting_is_rejected() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!(
            "{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{}0{}}}",
            open.repeat(100_000),
            close.repeat(100_000)
        );
        assert!(gltf::load_bytes("fuzz", text.as_bytes(), &NoFiles).is_err());
    }
}

/// Documents in which a few bytes request much work repeatedly.
#[test]
fn amplified_work_comes_to_an_end() {
    let many = |text: &str, count: usize| vec![text; count].join(",");
    let n = 150_000;
    let names =
        |prefix: &str| (0..n).map(|i| format!("\"{prefix}{i}\"")).collect::<Vec<_>>().join(",");
    let head = "{\"asset\":{\"version\":\"2.0\"},";
    let points = many("{\"mode\":0,\"attributes\":{\"NORMAL\":0}}", n);
    let accessor = "\"accessors\":[{\"componentType\":5126,\"type\":\"VEC3\",\"count\":3}]";
    let weights: Vec<String> =
        (0..n).map(|i| format!("{{\"mesh\":0,\"weights\":[{i}]}}")).collect();
    let targets = many("{\"attributes\":{},\"targets\":[{\"NORMAL\":0}]}", n);
    let skins = many("{\"joints\":[0]}", n);
    let skinned: Vec<String> = (0..n).map(|i| format!("{{\"mesh\":0,\"skin\":{i}}}")).collect();
    let sets: Vec<String> =
        (0..n).map(|i| format!("\"{i}Texture\":{{\"index\":0,\"texCoord\":{i}}}")).collect();
    let one = |nodes: &str, primitives: &str, more: &str| {
        format!(
            "\"nodes\":[{nodes}],\"meshes\":[{{\"primitives\":[{primitives}]}}],{more}{accessor}}}"
        )
    };
    let textured = many("{\"attributes\":{},\"material\":0}", n);
    let cases = [
        ("nodes of one mesh", one(&many("{\"mesh\":0}", n), &points, "")),
        ("weights of one mesh", one(&weights.join(","), &targets, "")),
        ("skins of one mesh", one(&skinned.join(","), &points, &format!("\"skins\":[{skins}],"))),
        (
            "a large material",
            one("{}", &textured, &format!("\"materials\":[{{{}}}],", sets.join(","))),
        ),
        (
            "names of extensions",
            format!(
                "\"extensionsUsed\":[{0}],\"extensionsRequired\":[{0}]}}",
                names("KHR_mesh_quantization")
            ),
        ),
        (
            "scenes",
            format!("\"scenes\":[{}],\"nodes\":[{}]}}", many("{\"nodes\":[0]}", n), many("{}", n)),
        ),
    ];
    let mut tally = Tally::default();
    for (name, rest) in cases {
        let start = Instant::now();
        tally.try_bytes(format!("{head}{rest}").as_bytes(), name);
        println!("{name}: {:?}", start.elapsed());
    }
    assert_eq!(tally.loaded + tally.refused, 6);
}
