//! A scene with a light that moves away.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{fs, path::Path};

use serde_json::json;

/// Writes a glTF to `dir`: a white wall at the origin under a light of `candela`, 1 m before its
/// center and from 0.25 s on at 64 m. A camera sees the wall alone. With `unlit`, the right half of
/// the picture is an unlit card.
pub fn dimming_light_scene(dir: &Path, candela: f64, unlit: bool) {
    let mut bytes: Vec<u8> = Vec::new();
    let mut floats = |values: &[f32]| {
        let at = bytes.len();
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        json!({"buffer": 0, "byteOffset": at, "byteLength": values.len() * 4})
    };
    let quad = |[left, right]: [f32; 2], z: f32| {
        [[left, -2.0], [right, -2.0], [right, 2.0], [left, -2.0], [right, 2.0], [left, 2.0]]
            .iter()
            .flat_map(|[x, y]| [*x, *y, z])
            .collect::<Vec<f32>>()
    };
    let (times, places) = ([0.0, 0.25, 9.0], [0.0, 0.0, 1.0, 0.0, 0.0, 64.0, 0.0, 0.0, 64.0]);
    let views = [
        floats(&times),
        floats(&places),
        floats(&quad([-2.0, 2.0], 0.0)),
        floats(&quad([0.0, 2.0], 0.001)),
    ];
    let card = |view: u32, [left, right]: [f32; 2], z: f32| {
        json!({"bufferView": view, "componentType": 5126, "count": 6, "type": "VEC3",
               "min": [left, -2.0, z], "max": [right, 2.0, z]})
    };
    let mut nodes = vec![
        json!({"mesh": 0}),
        json!({"extensions": {"KHR_lights_punctual": {"light": 0}}, "translation": [0.0, 0.0, 1.0]}),
        json!({"camera": 0, "translation": [0.0, 0.0, 3.0]}),
    ];
    if unlit {
        nodes.push(json!({"mesh": 1}));
    }
    let gltf = json!({
        "asset": {"version": "2.0"}, "extensionsUsed": ["KHR_lights_punctual", "KHR_materials_unlit"],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "point", "intensity": candela}]}},
        "buffers": [{"uri": "lamp.bin", "byteLength": bytes.len()}], "bufferViews": views,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR", "min": [0.0], "max": [9.0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
            card(2, [-2.0, 2.0], 0.0), card(3, [0.0, 2.0], 0.001),
        ],
        "materials": [
            {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0}},
            {"extensions": {"KHR_materials_unlit": {}}},
        ],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 2}, "material": 0}]},
            {"primitives": [{"attributes": {"POSITION": 3}, "material": 1}]},
        ],
        "scene": 0, "scenes": [{"nodes": (0..nodes.len()).collect::<Vec<_>>()}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1, "aspectRatio": 2.0}}],
        "nodes": nodes,
        "animations": [{"samplers": [{"input": 0, "output": 1, "interpolation": "STEP"}],
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}]}],
    });
    fs::write(dir.join("lamp.bin"), &bytes).unwrap();
    fs::write(dir.join("lamp.gltf"), gltf.to_string()).unwrap();
}
