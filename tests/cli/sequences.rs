//! Sequences: lists of frames, names of files, and frames that do not depend on other frames.

use base64::Engine as _;
use serde_json::json;

use crate::common::{Folder, Run};

/// A cube of 1 m above a floor, which moves and returns in 0.25 s: 6 frames of 24 a second. A
/// parallel light and a point light cast shadows.
pub fn moving_cube() -> Folder {
    let [mut positions, mut normals] = [Vec::new(), Vec::new()];
    for axis in 0..3 {
        for sign in [-1.0f32, 1.0] {
            let unit = |at: usize| std::array::from_fn(|i| f32::from(u8::from(i == at % 3)));
            let [normal, mut u, mut v]: [[f32; 3]; 3] =
                [unit(axis).map(|x| x * sign), unit(axis + 1), unit(axis + 2)];
            if sign < 0.0 {
                std::mem::swap(&mut u, &mut v);
            }
            for [a, b] in
                [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
            {
                positions.extend((0..3).map(|i| 0.5 * (normal[i] + a * u[i] + b * v[i])));
                normals.extend(normal);
            }
        }
    }
    let floats = [
        &positions[..],
        &normals[..],
        &[0.0, 0.125, 0.25],
        &[-1.0, 0.8, 0.0, 1.0, 1.2, 0.5, -1.0, 0.8, 0.0],
    ];
    let (mut bytes, mut views) = (Vec::new(), Vec::new());
    for values in floats {
        let at = bytes.len();
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        views.push(json!({"buffer": 0, "byteOffset": at, "byteLength": values.len() * 4}));
    }
    let uri = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let accessor = |view: usize, count: usize, kind: &str| json!({"bufferView": view, "componentType": 5126, "count": count, "type": kind});
    let mut accessors = [
        accessor(0, 36, "VEC3"),
        accessor(1, 36, "VEC3"),
        accessor(2, 3, "SCALAR"),
        accessor(3, 3, "VEC3"),
    ];
    accessors[0]["min"] = json!([-0.5, -0.5, -0.5]);
    accessors[0]["max"] = json!([0.5, 0.5, 0.5]);
    accessors[2]["min"] = json!([0.0]);
    accessors[2]["max"] = json!([0.25]);
    let light = |index: usize| json!({"KHR_lights_punctual": {"light": index}});
    let document = json!({
        "asset": {"version": "2.0"}, "extensionsUsed": ["KHR_lights_punctual"],
        "extensions": {"KHR_lights_punctual": {"lights": [
            {"type": "point", "intensity": 800.0}, {"type": "directional", "intensity": 60.0}]}},
        "scene": 0, "scenes": [{"nodes": [0, 1, 2, 3, 4]}],
        "nodes": [
            {"mesh": 0, "translation": [0.0, -0.1, 0.0], "scale": [12.0, 0.2, 12.0]},
            {"mesh": 0, "translation": [-1.0, 0.8, 0.0]},
            {"camera": 0, "translation": [0.0, 2.0, 5.0], "rotation": [-0.1736, 0.0, 0.0, 0.9848]},
            {"translation": [1.5, 3.0, 1.0], "extensions": light(0)},
            {"rotation": [-0.5, 0.3, 0.1, 0.806], "extensions": light(1)},
        ],
        "cameras": [{
            "type": "perspective",
            "perspective": {"yfov": 0.8, "znear": 0.1, "aspectRatio": 2.0},
        }],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {
            "baseColorFactor": [0.6, 0.5, 0.4, 1.0],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.3,
        }}],
        "animations": [{
            "samplers": [{"input": 2, "output": 3}],
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
        }],
        "accessors": accessors, "bufferViews": views,
        "buffers": [{
            "byteLength": bytes.len(),
            "uri": format!("data:application/octet-stream;base64,{uri}"),
        }],
    });
    let dir = Folder::empty();
    dir.write("cube.gltf", document.to_string());
    dir
}

/// `render` of that file with more arguments.
fn render(dir: &Folder, more: &str) -> Run {
    let fixed = "render cube.gltf -q --size 128x64 --set camera.exposure.ev100=6";
    dir.run(&format!("{fixed} {more}")).ok()
}

/// The path tracer's pictures, with two samples a pixel.
fn trace(dir: &Folder, more: &str) -> Run {
    dir.run_on_host(&format!("render cube.gltf --renderer path --size 16x8 --spp 2 {more}"))
}

#[test]
fn a_frame_is_the_same_in_a_run_in_a_chunk_and_alone() {
    let dir = moving_cube();
    let grain = "--set effects.grain.enabled=true";
    for (name, more) in [("plain", ""), ("samples", "--set passes.aa.samples=2")] {
        let make = |output: &str, frames: &str| {
            render(&dir, &format!("-o {name}/{output}.png --frames {frames} {grain} {more}"));
        };
        make("run", "0-9");
        make("first", "5");
        make("second", "5-9");
        // At the time of frame 6 the cube is where it was in frame 0.
        make("alone", "3,6:1,9");
        let run = |number: u32| dir.read(&format!("{name}/run.{number:04}.png"));
        let same = |file: &str, number: u32| {
            assert!(
                dir.read(&format!("{name}/{file}.{number:04}.png")) == run(number),
                "{file} {number}"
            );
        };
        (0..5).for_each(|number| same("first", number));
        (5..10).for_each(|number| same("second", number));
        [3, 6, 9].into_iter().for_each(|number| same("alone", number));
        // The grain differs.
        assert!(run(0) != run(6) && run(0) != run(3));
    }
}

#[test]
fn histories_of_chunks_are_warmed_up() {
    let dir = moving_cube();
    let tier = "--quality standard --frames";
    render(&dir, &format!("-o run.png {tier} 0-24"));
    let flip = |output: &str, more: &str| {
        render(&dir, &format!("-o {output}.png {tier} 24-24 {more}"));
        dir.run_on_host(&format!("compare {output}.0024.png run.0024.png --json {output}.json"))
            .ok();
        dir.json(&format!("{output}.json"))["numbers"]["flip"]["mean"].as_f64().unwrap()
    };
    let (cold, warm, whole) =
        (flip("cold", "--warm-up 0"), flip("warm", ""), flip("whole", "--warm-up 24"));
    println!("FLIP {cold:.5} without, {warm:.5} with the default, {whole:.5} from frame 0");
    assert!(cold > 0.01 && warm < 0.01, "{cold} and {warm}");
    assert_eq!(whole, 0.0);
}

#[test]
fn frames_are_named_by_pattern_in_folders_that_are_made() {
    let dir = moving_cube();
    for (output, frames, files) in [
        ("a/b/c.####.exr", "3-7:2", ["a/b/c.0003.exr", "a/b/c.0005.exr", "a/b/c.0007.exr"]),
        ("d_%02d.png", "3 --start-frame 9", ["d_09.png", "d_10.png", "d_11.png"]),
        ("e.png", "1,4x2,8-8", ["e.0001.png", "e.0004.png", "e.0008.png"]),
    ] {
        let run = trace(&dir, &format!("-o {output} --frames {frames}")).ok();
        assert!(files.iter().all(|file| dir.has(file)), "{:?}", dir.listing());
        assert!(run.out.contains("3 pictures in ") && !run.out.contains("BVH"), "{run:?}");
    }
    let run = trace(&dir, "-o f.png --frames 1 -v").ok();
    assert!(run.out.contains("f.0000.png: "), "{run:?}");
    let names = dir.listing();
    assert_eq!(
        names,
        [
            "a",
            "cube.gltf",
            "d_09.png",
            "d_10.png",
            "d_11.png",
            "e.0001.png",
            "e.0004.png",
            "e.0008.png",
            "f.0000.png"
        ]
    );
}

#[test]
fn existing_pictures_are_skipped() {
    let dir = moving_cube();
    let again = || trace(&dir, "-o a.png --frames 3 --aov normal --skip-existing").ok();
    again();
    for name in ["a.0000.png", "a.0001.png", "a.0002.png"] {
        dir.write(name, "kept");
    }
    let none = again().out;
    assert!(none.contains("3 of 3 pictures exist") && none.contains("0 pictures in "), "{none}");
    // Without its layer, or with the state of an interrupted run, a picture is incomplete.
    std::fs::remove_file(dir.at("a.0000.normal.png")).unwrap();
    dir.write("a.0002.png.resume", "state");
    assert!(again().out.contains("1 of 3 pictures exist"));
    let is_kept = |name: &str| dir.read(name) == b"kept";
    assert!(!is_kept("a.0000.png") && is_kept("a.0001.png") && !is_kept("a.0002.png"));
    // A still.
    dir.write("b.png", "kept");
    trace(&dir, "-o b.png --skip-existing").ok();
    assert!(is_kept("b.png"));
}

#[test]
fn an_interrupted_sequence_resumes() {
    let dir = moving_cube();
    trace(&dir, "-o a.png --frames 3 --resume").ok();
    let state = |number: u32| format!("a.{number:04}.png.resume");
    assert!((0..3).all(|number| dir.has(&state(number))), "{:?}", dir.listing());
    let picture = dir.read("a.0001.png");
    // Picture 0 is complete, 1 has saved samples, 2 was not begun.
    std::fs::remove_file(dir.at(&state(0))).unwrap();
    std::fs::remove_file(dir.at(&state(2))).unwrap();
    std::fs::remove_file(dir.at("a.0002.png")).unwrap();
    dir.write("a.0000.png", "kept");
    let run = trace(&dir, "-o a.png --frames 3 --skip-existing --resume").ok();
    assert!(run.out.contains("1 of 3 pictures exist"), "{run:?}");
    assert!(run.err.contains("a.0001.png.resume already has 2 samples"), "{run:?}");
    assert!(dir.read("a.0000.png") == b"kept" && dir.read("a.0001.png") == picture);
    assert!(dir.has("a.0002.png"));
    assert!((0..3).all(|number| !dir.has(&state(number))), "{:?}", dir.listing());
}

#[test]
fn views_of_a_turntable_do_not_depend_on_earlier_views() {
    let dir = moving_cube();
    let fixed = "--turntable 5 --set passes.aa.method=taa --aa-samples 1";
    render(&dir, &format!("-o all.png {fixed}"));
    render(&dir, &format!("-o one.png {fixed} --frames 3-3"));
    assert!(dir.read("all.0003.png") == dir.read("one.0003.png"));
}

#[test]
fn invalid_lists_of_frames_are_rejected() {
    let dir = moving_cube();
    for (options, parts) in [
        ("--frames 9-3", &["--frames", "9-3 runs backwards; write 3-9"][..]),
        ("--frames 1-", &["--frames", "10-20"]),
        ("--frames 1-5x0", &["--frames"]),
        ("--frames 2000000", &["--frames", "1 to 1000000"]),
        ("--frames 3-4 --start-frame 2", &["--start-frame 2 needs a count"]),
        ("--start-frame 2", &["--frames"]),
        ("--warm-up 2", &["--frames"]),
        ("--frames 3 --warm-up 2", &["--warm-up", "raster renderer"]),
        ("--frames 2 --warm-up 1001", &["--warm-up"]),
        ("--frames 2 --start-frame 1000000", &["ends at frame 1000001", "1000000"]),
        ("-q -v", &["--verbose"]),
    ] {
        trace(&dir, &format!("-o new/a.png {options}")).fails(2, parts);
        assert!(!dir.has("new"), "{options}");
    }
    // A scene that does not exist makes no folder, and a file is no folder.
    let run = dir.run_on_host("render none.glb --renderer path -o new/a.png");
    assert!(run.code == 4 && !dir.has("new"), "{run:?}");
    trace(&dir, "-o cube.gltf/a.png").ends_with_error(5, &["cube.gltf/a.png"]);
}
