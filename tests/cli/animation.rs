//! Animation on the command line: a time, sequences, motion blur, invalid values.

use crate::common::{Folder, Run};
use base64::Engine as _;
use serde_json::json;

/// An emissive square of 1 m in the view of a camera 4 m wide. It moves 2 m to the right in 2 s; a
/// second animation would move it up.
pub fn moving_square() -> Folder {
    let floats: Vec<f32> = [
        &[
            -0.5, -0.5, 0.0, 0.5, -0.5, 0.0, 0.5, 0.5, 0.0, -0.5, -0.5, 0.0, 0.5, 0.5, 0.0, -0.5,
            0.5, 0.0,
        ][..],
        &[0.0, 2.0],
        &[-1.0, 0.0, -5.0, 1.0, 0.0, -5.0],
        &[0.0, 0.0, -5.0, 0.0, 1.0, -5.0],
    ]
    .concat();
    let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    let uri = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let accessor = |offset: usize, count: usize, kind: &str| json!({"bufferView": 0, "byteOffset": offset * 4, "componentType": 5126, "type": kind, "count": count});
    let mut accessors = [
        accessor(0, 6, "VEC3"),
        accessor(18, 2, "SCALAR"),
        accessor(20, 2, "VEC3"),
        accessor(26, 2, "VEC3"),
    ];
    accessors[0]["min"] = json!([-0.5, -0.5, 0.0]);
    accessors[0]["max"] = json!([0.5, 0.5, 0.0]);
    accessors[1]["min"] = json!([0.0]);
    accessors[1]["max"] = json!([2.0]);
    let animation = |name: &str, output: usize| json!({"name": name, "samplers": [{"input": 1, "output": output}], "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]});
    let document = json!({
        "asset": {"version": "2.0"},
        "scene": 0, "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "translation": [0, 0, -5]}, {"camera": 0}],
        "cameras": [{"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 2, "znear": 0.1, "zfar": 10}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
        "materials": [{"emissiveFactor": [1, 1, 1], "pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 1]}}],
        "animations": [animation("across", 2), animation("up", 3)],
        "accessors": accessors,
        "bufferViews": [{"buffer": 0, "byteLength": bytes.len()}],
        "buffers": [{"byteLength": bytes.len(), "uri": format!("data:application/octet-stream;base64,{uri}")}],
    });
    let dir = Folder::empty();
    dir.write("a.gltf", document.to_string());
    dir
}

pub fn path(dir: &Folder, more: &str) -> Run {
    let fixed = "render a.gltf --renderer path -q --size 32x32 --spp 64";
    dir.run_on_host(&format!("{fixed} --set scene.default_light=false {more}"))
}

/// Centroid of the light (m to the right and up), and its amount relative to the square at rest.
pub fn light(dir: &Folder, file: &str) -> (f64, f64, f64) {
    let values = dir.channel(file, "G");
    let (mut sum, mut x, mut y) = (0.0, 0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let value = f64::from(*value);
        sum += value;
        x += value * ((index % 32) as f64 + 0.5);
        y += value * ((index / 32) as f64 + 0.5);
    }
    ((x / sum - 16.0) / 8.0, (16.0 - y / sum) / 8.0, sum / 64.0)
}

#[test]
fn pictures_at_a_time_and_sequences() {
    let dir = moving_square();
    for (options, want) in [
        ("", (0.0, 0.0)),
        ("--time 0", (-1.0, 0.0)),
        ("--time 1.5", (0.5, 0.0)),
        ("--time 3.5", (0.5, 0.0)),
        ("--time 1.5 --set scene.animation=up", (0.0, 0.75)),
        ("--time 1 --set scene.animation=1", (0.0, 0.5)),
    ] {
        path(&dir, &format!("-o one.exr {options}")).ok();
        let (x, y, amount) = light(&dir, "one.exr");
        println!("{options}: {x:.4} {y:.4} m, light {amount:.4}");
        assert!(
            (x - want.0).abs() < 0.01 && (y - want.1).abs() < 0.01 && (amount - 1.0).abs() < 0.01
        );
    }
    path(&dir, "-o s.exr --time 0.5 --frames 3 --fps 4").ok();
    for (number, want) in [(0, -0.5), (1, -0.25), (2, 0.0)] {
        let (x, ..) = light(&dir, &format!("s.{number:04}.exr"));
        assert!((x - want).abs() < 0.01, "{number}: {x}");
    }
    assert!(!dir.has("s.exr"));
}

#[test]
fn motion_blur_matches_shutter_time() {
    let dir = moving_square();
    // 1 m/s for half a second.
    path(&dir, "-o b.exr --time 1 --set effects.motion_blur.shutter=0.5").ok();
    let (x, _, amount) = light(&dir, "b.exr");
    let row = dir.channel("b.exr", "G")[16 * 32..17 * 32].to_vec();
    let touched = row.iter().filter(|value| **value > 0.01).count() as f64 / 8.0;
    println!("{x:.4} m, light {amount:.4}, {touched} m wide");
    assert!(
        x.abs() < 0.01 && (amount - 1.0).abs() < 0.01 && (touched - 1.5).abs() <= 0.25,
        "{touched}"
    );
    let mean = row.iter().map(|value| f64::from(*value)).sum::<f64>() / 8.0;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn invalid_times_and_animation_names_are_rejected() {
    let dir = moving_square();
    for (options, part) in [
        ("--time=-1", "--time"),
        ("--time NaN", "--time"),
        ("--frames 0", "--frames"),
        ("--frames 2 --fps 0", "--fps"),
        ("--time 1 --set scene.animation=down", "across"),
    ] {
        let run = path(&dir, &format!("-o x.exr {options}"));
        assert!(run.code == 2 && run.err.contains(part), "{run:?}");
        assert!(!dir.has("x.exr"));
    }
}
