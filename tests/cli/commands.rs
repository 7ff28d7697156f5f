//! The program's commands: exit codes, atomic output files, reports.

use std::{
    fs,
    io::pipe,
    path::Path,
    process::{Command, Stdio},
};

use crate::common::{Arguments, Folder, Run, exr_channel, finish, no_gpu, sunny16};
use glam::DVec2;
use sunny16::{
    scene::{FlowMap, WaterSettings, procedural, water::Water, write_glb::write_glb},
    session,
};

fn folder() -> Folder {
    Folder::with_scene(3)
}

const RENDER: &str = "render small.glb --size 96x64 --set camera.exposure.ev100=7";

/// Renders the small scene; `more` begins with the output.
fn render(dir: &Folder, more: &(impl Arguments + ?Sized)) -> Run {
    dir.run(&[RENDER.words(), more.words()].concat())
}

#[test]
fn options_of_the_other_renderer_are_rejected() {
    let dir = folder();
    for option in [
        "--resume",
        "--bounces 2",
        "--target-error 1%",
        "--denoise",
        "--spp 64",
        "--seed 0",
        "--save-every 10",
    ] {
        render(&dir, &format!("-o out.exr {option}")).fails(2, &[option.words()[0]]);
    }
    for option in ["--times", "--validation", "--device 0"] {
        let run = render(&dir, &format!("-o out.exr --renderer path {option}"));
        run.fails(2, &[option.words()[0]]);
    }
    assert_eq!(dir.listing(), ["small.glb"]);
}

#[test]
fn unusable_scenes_end_with_4() {
    let dir = folder();
    let glb = dir.read("small.glb");
    let mut cases: Vec<(String, Vec<u8>)> = [
        ("empty.glb", ""),
        ("empty.gltf", ""),
        ("nan.gltf", r#"{"asset":{"version":"2.0"},"nodes":[{"translation":[NaN,0,0]}]}"#),
        (
            "overflow.gltf",
            r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"translation":[1e999,0,0]}]}"#,
        ),
        ("version.gltf", r#"{"asset":{"version":"1.0"}}"#),
        ("list.gltf", "[1,2,3]"),
        ("text.gltf", "not JSON at all"),
        ("deep.gltf", &"[".repeat(100_000)),
    ]
    .map(|(name, text)| (name.into(), text.into()))
    .into();
    for part in [1, 4, 12, 19, 20, 100, glb.len() / 2, glb.len() - 1] {
        cases.push((format!("cut{part}.glb"), glb[..part].to_vec()));
    }
    let mut state = 88_172_645_463_325_252u64;
    for number in 0..4 {
        let noise = (0..4000).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        });
        cases.push((format!("noise{number}.glb"), noise.collect()));
    }
    for (name, bytes) in &cases {
        dir.write(name, bytes);
        dir.run(&format!("inspect {name}")).fails(4, &[name]);
        dir.run(&format!("render {name} -o out.png")).fails(4, &[name]);
    }
    dir.run("render missing.glb -o out.png").fails(4, &["missing.glb"]);
    dir.run("inspect missing.glb").fails(4, &["missing.glb"]);
    fs::create_dir(dir.at("folder.glb")).unwrap();
    dir.run("inspect folder.glb").fails(4, &["folder.glb"]);
    assert!(!dir.listing().iter().any(|name| name.starts_with("out") || name.starts_with(".out")));
}

#[test]
fn a_bad_look_file_is_named() {
    let dir = folder();
    for (text, part) in [
        ("camera = [", "line 1"),
        ("[camera.lens]\nfstop = 2", "f_stop"),
        ("[camera.body]\niso = \"fast\"", "iso"),
        ("\u{0}", "bad.toml"),
        // Found after parsing, with the scene and the other properties.
        ("[lights.bulp]\nlumens = 3", "line 2, column 1: no property 'lights.bulp'"),
        ("scene = { variant = \"noon\" }", "line 1, column 11: scene.variant = noon"),
        ("[camera]\n  name = \"none\"", "line 2, column 3: camera.name = none"),
        ("[scene]\nanimation = \"walk\"", "line 2, column 1: scene.animation = walk"),
        ("camera.lens = { f_stop = 4, t_stop = 2 }", "column 29: camera.lens.t_stop = 2"),
        ("[camera.lens]\nprescription = \"builtin:none\"", "line 2, column 1: "),
    ] {
        dir.write("bad.toml", text);
        render(&dir, "-o out.png --look bad.toml").fails(4, &["bad.toml", part]);
    }
    render(&dir, "-o out.png --look none.toml").fails(4, &["none.toml"]);
    // A look beside the scene is found by its name.
    dir.write("small.look.toml", "[camera.lens]\nwrong = 1");
    render(&dir, "-o out.png").fails(4, &["small.look.toml", "wrong"]);
    render(&dir, "-o out.exr --no-look --renderer path --spp 1").ok();
    render(&dir, "-o out.png --no-look --look bad.toml").fails(2, &["--no-look"]);
}

#[test]
fn unwritable_outputs_end_with_5() {
    let dir = folder();
    fs::create_dir(dir.at("folder.png")).unwrap();
    // Folders that are missing are made.
    render(&dir, "-o no/where/out.png").ok();
    fs::remove_file(dir.at("no/where/out.png")).unwrap();
    fs::remove_dir_all(dir.at("no")).unwrap();
    render(&dir, "-o folder.png").fails(5, &["folder.png"]);
    render(&dir, "-o /dev/null/out.exr").fails(5, &["out.exr"]);
    assert_eq!(dir.listing(), ["folder.png", "small.glb"]);
}

#[test]
fn output_names_are_case_insensitive_and_up_to_the_maximum_length() {
    let dir = folder();
    let path = "--renderer path --spp 1 --quiet";
    let picture = |name: &str, more: &str| render(&dir, &format!("-o {name} {path} {more}")).ok();
    picture("A.PNG", "--aov normal");
    picture("a.Exr", "");
    let written = ["A.PNG", "A.normal.png", "a.Exr"];
    assert!(written.iter().all(|name| dir.has(name)), "{:?}", dir.listing());
    dir.write("L.LDT", LAMP);
    dir.run("ies L.LDT -o PLOT.PNG").ok();
    dir.run("lens builtin:dgauss-50-f2 -o Drawing.Png").ok();
    dir.run("flow --size 4x2 --origin -2,-1 -o FLOW.PNG").ok();
    dir.run("compare A.PNG A.PNG --html R.HTML --map M.PNG").ok();
    // A name of 255 bytes, with further outputs and a checkpoint beside it, whose names are
    // shortened.
    let long = "\u{e4}".repeat(125) + "n.png";
    assert_eq!(long.len(), 255);
    picture(&long, "--aov normal,depth --resume");
    let longer = format!("n{long}");
    render(&dir, &format!("-o {longer} {path}")).fails(5, &[&longer]);
    let written: Vec<String> =
        dir.listing().into_iter().filter(|name| name.starts_with('\u{e4}')).collect();
    let ends = |ending: &str| written.iter().filter(|name| name.ends_with(ending)).count();
    assert_eq!(
        (written.len(), ends(".normal.png"), ends(".depth.png"), ends(".resume")),
        (4, 1, 1, 1),
        "{written:?}"
    );
    // A scene name in capitals still has its look beside it.
    fs::copy(dir.at("small.glb"), dir.at("CAPITALS.GLB")).unwrap();
    dir.write("CAPITALS.LOOK.TOML", "[camera.lens]\nf_stop = -1\n");
    dir.run("render CAPITALS.GLB -o c.png").fails(4, &["CAPITALS.LOOK.TOML"]);
    assert!(!dir.listing().iter().any(|name| name.ends_with(".tmp")));
}

/// An EULUMDAT file: 300 cd per 1000 lm of lamps of 2000 lm, below the horizon.
const LAMP: &str = "Maker\n1\n1\n1\n0\n2\n90\n\nLamp\n\n\n\n0\n0\n0\n0\n0\n0\n0\n0\n0\n100\n188.5\n1\n0\n\
    1\n1\nLED\n2000\n\n\n10\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n90\n300\n300\n";

#[test]
fn eulumdat_files_load_as_ies_profiles() {
    let dir = folder();
    dir.write("lamp.ldt", LAMP);
    // 2 pi 600 cd.
    let parts = [
        "EULUMDAT, type C",
        "flux: 3769.9 lm",
        "strongest: 600.0 cd",
        "[LAMP] LED",
        "downward: 100.0 %",
    ];
    dir.run("ies lamp.ldt").ok().prints(&parts);
    dir.write("lamp.ldt", LAMP.replacen("\n1\n1\n0\n2\n", "\n7\n1\n0\n2\n", 1));
    dir.run("ies lamp.ldt").fails(4, &["lamp.ldt", "line 3", "Isym"]);
}

#[test]
fn without_a_device_it_ends_with_6() {
    let dir = folder();
    dir.run_on_host("render small.glb -o out.png --size 8x8").fails(6, &["Vulkan"]);
    assert_eq!(dir.run_on_host("doctor").code, 6);
    assert_eq!(dir.listing(), ["small.glb"]);
    if no_gpu("--device") {
        return;
    }
    render(&dir, "-o out.png --device nonsense").fails(6, &["nonsense", "0: "]);
    render(&dir, "-o out.png --device 77").fails(6, &["77", "0: "]);
    dir.run("doctor").ok();
}

#[test]
fn pictures_beyond_device_limits_are_rejected() {
    if no_gpu("pictures_beyond_device_limits_are_rejected") {
        return;
    }
    let dir = folder();
    for size in ["100000x100000", "4000000000x1", "1x100000"] {
        let args =
            format!("render small.glb -o out.png --set camera.exposure.ev100=7 --size {size}");
        dir.run(&args).fails(2, &["size", "allows 1x1 to"]);
    }
    assert_eq!(dir.listing(), ["small.glb"]);
}

#[test]
fn injected_faults_have_exit_codes_and_leave_no_file() {
    if no_gpu("injected_faults_have_exit_codes_and_leave_no_file") {
        return;
    }
    let dir = folder();
    let before = b"what was there before".to_vec();
    dir.write("out.png", &before);
    let args =
        "render small.glb -o out.png --size 32x32 --validation --set camera.exposure.ev100=7";
    for (fault, code, part) in [
        ("image:depth=out-of-device-memory", 6, "'depth'"),
        ("image:gbuffer surface=out-of-device-memory", 6, "gbuffer surface"),
        ("buffer:vertices=out-of-host-memory", 6, "vertices"),
        ("wait:frame 0=device-lost", 7, "last pass"),
        ("submit=device-lost", 7, "device"),
        ("pipeline:tonemap=initialization-failed", 6, "tonemap"),
    ] {
        let run = sunny16(dir.path(), &args.words(), &[("SUNNY16_FAULT", fault)]);
        run.fails(code, &[part]);
        assert_eq!(dir.read("out.png"), before, "{fault}: the old picture is gone");
    }
    assert_eq!(dir.listing(), ["out.png", "small.glb"]);
    dir.run(args).ok();
    assert_ne!(dir.read("out.png"), before);
}

/// Runs with writes beyond 8 KiB failing, as on a full disk (EFBIG for ENOSPC).
fn with_a_full_disk(dir: &Folder, driver: &Path, args: &str) -> Run {
    let mut command = Command::new("bash");
    let limited = "ulimit -f 8; trap '' XFSZ; exec \"$0\" \"$@\"";
    command
        .args(["-c", limited, env!("CARGO_BIN_EXE_sunny16")])
        .args(args.words())
        .env("XDG_CACHE_HOME", dir.at("cache"))
        .env("MESA_SHADER_CACHE_DIR", driver)
        .current_dir(dir.path());
    finish(command)
}

#[test]
fn a_full_disk_ends_with_5_and_leaves_nothing() {
    if no_gpu("a_full_disk_ends_with_5_and_leaves_nothing") {
        return;
    }
    let dir = folder();
    // A driver cache of its own, which failed writes may spoil.
    let driver = tempfile::tempdir().unwrap();
    let cache = [("MESA_SHADER_CACHE_DIR", driver.path().to_str().unwrap())];
    for file in ["out.png", "out.exr"] {
        let args = format!(
            "render small.glb -o {file} --size 320x180 --quality direct --set camera.exposure.ev100=7"
        );
        sunny16(dir.path(), &args.words(), &cache).ok();
        let whole = dir.read(file);
        assert!(whole.len() > 8192, "{file} has only {} bytes", whole.len());
        // An existing file is kept.
        with_a_full_disk(&dir, driver.path(), &args).fails(5, &[file]);
        assert!(dir.read(file) == whole, "{file} was touched");
        // A new file is not left behind.
        fs::remove_file(dir.at(file)).unwrap();
        with_a_full_disk(&dir, driver.path(), &args).fails(5, &[file]);
        assert_eq!(dir.listing(), ["small.glb"]);
    }
}

#[test]
fn missing_textures_are_visible_and_reported() {
    if no_gpu("missing_textures_are_visible_and_reported") {
        return;
    }
    let dir = Folder::empty();
    // A unit quad at z = 0 with texture coordinates; its image file is missing.
    let mut buffer: Vec<u8> = Vec::new();
    let floats = [
        -1.0f32, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, 0.0, -1.0, 1.0, 0.0, // positions
        0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, // texture coordinates
    ];
    floats.iter().for_each(|value| buffer.extend(value.to_le_bytes()));
    [0u16, 1, 2, 0, 2, 3].iter().for_each(|index| buffer.extend(index.to_le_bytes()));
    dir.write("quad.bin", &buffer);
    let gltf = serde_json::json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0},
                       "extensions": {"KHR_materials_unlit": {}}}],
        "extensionsUsed": ["KHR_materials_unlit"],
        "textures": [{"source": 0}], "images": [{"uri": "gone.png"}],
        "buffers": [{"uri": "quad.bin", "byteLength": buffer.len()}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 32},
                        {"buffer": 0, "byteOffset": 80, "byteLength": 12}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [-1, -1, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"},
            {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"}],
    });
    dir.write("quad.gltf", gltf.to_string());
    let sets = "--set camera.exposure.ev100=0 --set passes.tonemap.operator=linear";
    let run = dir.run(&format!("render quad.gltf -o out.png --size 64x64 {sets}")).ok();
    let run = run.prints(&["error pattern"]);
    assert!(run.out.contains("gone.png") || run.err.contains("gone.png"), "{run:?}");
    // The fallback pattern has a color that the background and a gray card lack.
    let spread = |p: &image::Rgb<u8>| p.0.iter().max().unwrap() - p.0.iter().min().unwrap();
    let loud = dir.rgb8("out.png").pixels().filter(|p| spread(p) > 100).count();
    assert!(loud > 200, "{loud} pixels of the error pattern");
}

#[test]
fn inspect_reports_lumens() {
    let dir = folder();
    let still = procedural::still_life().unwrap();
    dir.write("still.glb", write_glb(&still.scene).unwrap());
    dir.run("inspect still.glb").ok().prints(&[" lm", " cd", " lx", "still"]);
    dir.run("inspect small.glb").ok().prints(&["800", "bulb"]);
    // With the look beside it, and without.
    dir.write("small.look.toml", "lights.bulb.lumens = 123\n");
    let run = dir.run("inspect small.glb").ok().prints(&["123 lm as the look sets it"]);
    assert!(run.out.starts_with("look: small.look.toml"), "{}", run.out);
    let run = dir.run("inspect small.glb --no-look").ok();
    assert!(!run.out.contains("123 lm"), "{}", run.out);
    let run = dir.run("inspect small.glb --set lights.bulb.candela=77").ok();
    // Once, in its place: not the file's own as "not shown" beside what the look makes of it.
    let run = run.prints(&["77 cd as the look sets it", "light 0 'bulb': ", "shown once"]);
    let listed = run.out.matches("'bulb': ").count();
    assert_eq!((listed, run.out.contains("not shown")), (1, false), "{}", run.out);
}

/// A document with one unnamed light and two of one name, all on unnamed nodes, and an external
/// buffer.
fn nameless(folder: &Path, buffer: &str) {
    let node = |light: usize| {
        format!(r#"{{"extensions": {{"KHR_lights_punctual": {{"light": {light}}}}}}}"#)
    };
    let light = |name: &str| format!(r#"{{"type": "point", "intensity": 7{name}}}"#);
    let lamp = light(r#", "name": "Lamp""#);
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "extensionsUsed": ["KHR_lights_punctual"],
            "extensions": {{"KHR_lights_punctual": {{"lights": [{}, {lamp}, {lamp}]}}}},
            "cameras": [{{"type": "perspective", "perspective": {{"yfov": 1, "znear": 0.1}}}}],
            "materials": [{{}}, {{"name": "a.b"}}],
            "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}}}]}}],
            "accessors": [{{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3}}],
            "bufferViews": [{{"buffer": 0, "byteLength": 36}}],
            "buffers": [{{"byteLength": 36, "uri": "{buffer}"}}],
            "nodes": [{}, {}, {}, {{"camera": 0}}, {{"mesh": 0}}]}}"#,
        light(""),
        node(0),
        node(1),
        node(2),
    );
    fs::write(folder.join("a.gltf"), text).unwrap();
}

#[test]
fn unnamed_items_are_addressed_by_number() {
    let dir = Folder::empty();
    nameless(dir.path(), "data:,");
    dir.write("a.gltf", dir.text("a.gltf").replace(r#", {"mesh": 0}"#, ""));
    let inspect = |set: &str| dir.run(&format!("inspect a.gltf {set}"));
    inspect("").ok().prints(&[
        r##"as lights."#0""##,
        r##"as lights."Lamp#1""##,
        r##"as lights."Lamp#2""##,
        r##"as materials."#0""##,
        r##"as materials."a.b""##,
        "as --camera '#0'",
    ]);
    for (setting, lamps) in [
        ("lights.#0.candela=55", 1),
        ("lights.0.candela=55", 1),
        (r##"lights."#0".candela=55"##, 1),
        ("lights.Lamp.candela=55", 2),
        ("lights.Lamp#2.candela=55", 1),
        ("lights.#1.candela=55", 1),
    ] {
        let run = inspect(&format!("--set {setting}")).ok();
        assert_eq!(
            run.out.matches("55 cd as the look sets it").count(),
            lamps,
            "{setting}: {run:?}"
        );
    }
    let look = "[lights.\"#0\"]\ncandela = 55\n[materials.\"#0\"]\nmetallic = 0.25\n";
    dir.write("a.look.toml", look);
    inspect("").ok().prints(&["55 cd as the look sets it", "metallic 0.25"]);
    fs::remove_file(dir.at("a.look.toml")).unwrap();
    inspect("--set lights.Lamq.candela=5").fails(2, &["lights.Lamp"]);
    inspect("--set lights.#9.candela=5").fails(2, &["lights.#0"]);
    inspect("--set materials.x.metallic=1").fails(2, &["materials.#0"]);
    dir.run("meter a.gltf --camera #7").fails(2, &["#7", "#0"]);
}

#[test]
fn files_above_the_scene_need_a_root() {
    let dir = Folder::empty();
    let (project, inner) = (dir.at("project"), dir.at("project/scenes"));
    fs::create_dir_all(&inner).unwrap();
    dir.write("project/shared.bin", [0u8; 36]);
    dir.write("far.bin", [0u8; 36]);
    nameless(&inner, "../shared.bin");
    let run = |dir: &Path, args: &str| sunny16(dir, &args.words(), &[]);
    run(&inner, "inspect a.gltf").fails(4, &["../shared.bin", "--root DIR"]);
    let note = "'../shared.bin' is outside of the document's folder";
    run(&inner, "inspect a.gltf --root ..").ok().prints(&[note]);
    // With the working directory in the project, its files are allowed.
    run(&project, "inspect scenes/a.gltf").ok();
    let home = project.display().to_string();
    let at_home = |args: &str| sunny16(&project, &args.words(), &[("HOME", &home)]);
    at_home("inspect scenes/a.gltf").fails(4, &["--root DIR"]);
    at_home("inspect scenes/a.gltf --root .").ok();
    nameless(&inner, "../../far.bin");
    run(&inner, "inspect a.gltf --root ..").fails(4, &["far.bin", "--root DIR"]);
    fs::create_dir(project.join("other")).unwrap();
    for command in ["inspect a.gltf", "render a.gltf -o a.png", "meter a.gltf"] {
        let refused = run(&inner, &format!("{command} --root ../other"));
        refused.fails(2, &["--root", "../other", "a.gltf"]);
    }
    run(&inner, "inspect builtin:cornell --root .").fails(2, &["--root", "builtin:cornell"]);
}

#[test]
fn closed_standard_output_is_no_error() {
    let dir = folder();
    let run_closed = |args: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunny16"));
        command.args(args.words()).env("XDG_CACHE_HOME", dir.at("cache")).current_dir(dir.path());
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        command.stdout(writer).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run_closed("inspect small.glb"), (Some(0), String::new()));
    if no_gpu("closed_standard_output_is_no_error") {
        return;
    }
    let args =
        "render small.glb -o out.png --size 32x32 --quality direct --set camera.exposure.ev100=7";
    assert_eq!(run_closed(args), (Some(0), String::new()));
    assert_eq!(dir.listing(), ["out.png", "small.glb"]);
}

#[test]
fn the_same_command_twice_gives_the_same_bytes() {
    if no_gpu("the_same_command_twice_gives_the_same_bytes") {
        return;
    }
    let dir = folder();
    for (one, two) in [("a.png", "b.png"), ("a.exr", "b.exr")] {
        for file in [one, two] {
            render(&dir, &format!("-o {file} --aov all --validation")).ok();
        }
        assert!(dir.read(one) == dir.read(two), "{one} and {two}");
    }
    assert!(dir.at("a.normal.png").is_file());
    // AOVs of disabled passes.
    let run = render(&dir, "-o d.exr --aov indirect_diffuse,ssr_hit").ok();
    for setting in ["--set gi.enabled=true", "--set passes.ssr.enabled=true"] {
        assert!(run.err.contains(setting), "{run:?}");
    }
    // Metered, without output.
    let run = dir.run("render small.glb -o c.png --size 48x32 --quiet").silent();
    assert_eq!(run.out, "");
}

#[test]
fn graph_and_bench_commands_work() {
    if no_gpu("graph_and_bench_commands_work") {
        return;
    }
    let dir = folder();
    dir.run("graph small.glb --size 64x64").ok().prints(&["gbuffer", "tonemap"]);
    dir.run("bench small.glb --size 64x64 --frames 3 --json bench.json").ok();
    let value = dir.json("bench.json");
    assert!(value["result"]["frame"]["median_ms"].as_f64().unwrap() > 0.0, "{value}");
    dir.run("bench small.glb --json no/where.json").fails(5, &["where.json"]);
}

#[test]
fn path_and_bvh_benchmarks_need_no_device() {
    let dir = folder();
    let what = "bench small.glb --what path,bvh --size 32x24 --seconds 0.01 --triangles 600";
    dir.run(&format!("{what} --json bench.jsonl")).ok();
    let text = dir.text("bench.jsonl");
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let [path, bvh] = records.collect::<Vec<serde_json::Value>>().try_into().unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let rows = path["result"]["threads"].as_array().unwrap();
    assert_eq!((number(&rows[0]["threads"]), number(&rows[0]["ratio"])), (1.0, 1.0));
    for row in rows {
        assert!(number(&row["samples_per_second"]) > 0.0, "{row}");
        assert!(number(&row["rays_per_second"]["primary"]) > 0.0, "{row}");
    }
    let shapes = bvh["result"]["shapes"].as_array().unwrap();
    assert_eq!(shapes.len(), 2);
    for shape in shapes {
        let triangles = number(&shape["triangles"]);
        assert!((500.0..=700.0).contains(&triangles), "{shape}");
        // More than the triangles alone, and a ray hits few of them.
        assert!(number(&shape["device_bytes"]) > 48.0 * triangles, "{shape}");
        let cost = number(&shape["sah_cost"]);
        assert!(cost > 2.0 && cost < triangles / 2.0, "{shape}");
        for kind in ["primary", "shadow", "diffuse"] {
            assert!(number(&shape["rays_per_second"][kind]) > 0.0, "{shape}");
        }
    }
    for args in ["--triangles 7", "--seconds x", "--what all"] {
        let run = dir.run(&format!("bench {args}"));
        assert!(run.code == 2 && run.err.contains(args.words()[0]), "{run:?}");
    }
}

/// The number after a word in the output.
fn number_after(out: &str, word: &str) -> f64 {
    let at = out.find(word).unwrap_or_else(|| panic!("no '{word}' in {out}")) + word.len();
    out[at..].split([' ', ',', '\n']).next().unwrap().parse().unwrap()
}

#[test]
fn exposure_warnings_have_the_right_sign() {
    if no_gpu("the warning of the meter") {
        return;
    }
    let dir = folder();
    let at = |ev: &str| {
        let set = format!("--set camera.exposure.ev100={ev}");
        dir.run(&format!("render small.glb -o a.png --size 96x64 {set}")).ok()
    };
    at("20").prints(&["too dark"]);
    // The metered EV does not depend on the camera's settings.
    let (bright, normal) = (at("-3").prints(&["too bright"]), at("18"));
    let reading = |run: &Run| number_after(&run.out, "meters at EV100 ");
    assert!((reading(&bright) - reading(&normal)).abs() < 0.02);
    // Quiet runs keep the warning alone.
    let dark = at("20 -q").prints(&["warning: ", "too dark"]);
    assert_eq!(dark.out.lines().count(), 1, "{dark:?}");
    assert_eq!(at(&format!("{} -q", reading(&bright))).out, "");
    let traced = dir.run_on_host(
        "render small.glb -o a.png --size 24x16 --renderer path --spp 1 -q --set camera.exposure.ev100=-9",
    );
    traced.ok().prints(&["too bright"]);
}

fn meter(dir: &Folder, more: &(impl Arguments + ?Sized)) -> Run {
    dir.run(&["meter small.glb --size 96x64".words(), more.words()].concat())
}

#[test]
fn meter_reports_the_settings_of_each_priority_mode() {
    if no_gpu("meter") {
        return;
    }
    let dir = folder();
    let dials =
        "--set camera.lens.f_stop=4 --set camera.body.shutter=1/60 --set camera.body.iso=100";
    let files = "--false-color f.png --waveform w.png --histogram h.png --zones z.png";
    let run = meter(&dir, &format!("--json m.json --mode matrix {dials} {files}")).ok();
    let json = dir.json("m.json");
    let number =
        |pointer: &str| json.pointer(pointer).and_then(serde_json::Value::as_f64).expect(pointer);
    // log2(16 * 60) = 9.9069.
    assert!((number("/camera_ev100") - 9.9069).abs() < 1e-3);
    let scene = number("/scene_ev100");
    assert!((number("/readings/matrix/ev100") - scene).abs() < 1e-9);
    let (nits, ev) = (number("/readings/spot/nits"), number("/readings/spot/ev100"));
    assert!((ev - (nits * 8.0).log2()).abs() < 1e-9);
    // Every mode but manual reaches the metered exposure, each by its own setting.
    for (row, mode, kept) in
        [(1, "aperture", "f_stop"), (2, "shutter", "shutter_s"), (3, "iso", "shutter_s")]
    {
        assert_eq!(json.pointer(&format!("/dials/{row}/mode")).unwrap(), mode);
        assert!((number(&format!("/dials/{row}/ev100")) - scene).abs() < 1e-9, "{mode}");
        let want = if kept == "f_stop" { 4.0 } else { 1.0 / 60.0 };
        assert!((number(&format!("/dials/{row}/{kept}")) - want).abs() < 1e-9, "{mode}");
    }
    let off = number("/dials/0/off_by_stops");
    assert!((off - (scene - number("/camera_ev100"))).abs() < 1e-9, "manual is as it is");
    let counts = json.pointer("/histogram/counts").unwrap().as_array().unwrap();
    let sum: f64 = counts.iter().map(|count| count.as_f64().unwrap()).sum();
    assert_eq!(sum + number("/histogram/black"), 96.0 * 64.0);
    for file in ["f.png", "w.png", "h.png", "z.png", "m.json"] {
        assert!(run.out.contains(&format!("\n{file}: ")), "{run:?}");
        assert!(dir.read(file).len() > 500, "{file}");
    }
    // A warning beyond one stop in both directions, and none within.
    for (offset, words) in [(2.0, Some("too dark")), (-2.0, Some("too bright")), (0.5, None)] {
        let set = format!("camera.exposure.ev100={}", scene + offset);
        let run = meter(&dir, &format!("--mode matrix --set {set}"));
        match words {
            Some(words) => drop(run.prints(&["warning", words])),
            None => assert!(!run.out.contains("warning: the camera"), "{}", run.out),
        }
    }
    // At a limit, the missing stops are reported.
    let narrow = "--priority iso --mode matrix --set camera.body.iso_range=100,200";
    let run = meter(&dir, &format!("{narrow} --set camera.body.shutter=1/8000"));
    let run = run.prints(&["iso is at its limit", "stops too dark"]);
    assert!(!run.out.contains("aperture "), "{}", run.out);
}

#[test]
fn meter_reads_incident_light() {
    if no_gpu("incident light") {
        return;
    }
    let dir = folder();
    // Straight under the bulb of 800 lm at 2 m: 15.915 lx; and the sun of 400 lx at its angle.
    let sun = 400.0 / (0.4f64 * 0.4 + 1.0 + 0.3 * 0.3).sqrt();
    let want = 800.0 / (4.0 * std::f64::consts::PI) / 4.0 + sun;
    meter(&dir, "--point 1,0,1 --normal 0,1,0 --json i.json").ok().prints(&["lx"]);
    let json = dir.json("i.json");
    let lux = json.pointer("/incident/lux").unwrap().as_f64().unwrap();
    assert!((lux / want - 1.0).abs() < 0.003, "{lux} for {want}");
    let ev = json.pointer("/scene_ev100").unwrap().as_f64().unwrap();
    assert!((ev - (lux * 100.0 / 250.0).log2()).abs() < 1e-9);
    // On the floor seen by a pixel, with its normal: at least as bright as at the far point.
    let out = meter(&dir, "--mode incident --at 50%,90% --receptor dome").ok().out;
    let facing = ["facing (0.0000, 1.0000, 0.0000)", "facing (-0.0000"];
    assert!(facing.iter().any(|part| out.contains(part)), "{out}");
}

#[test]
fn exposure_modes_set_the_dials_of_a_picture() {
    if no_gpu("exposure modes") {
        return;
    }
    let dir = folder();
    let render = |sets: &[&str]| {
        let mut args = "render small.glb --size 48x32 -o a.png".words();
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        dir.run(&args).ok().out
    };
    let ev = |out: &str| number_after(out, "at EV100 ");
    let auto = ev(&render(&[]));
    for mode in ["aperture", "shutter", "iso", "program"] {
        let out = render(&[&format!("camera.exposure.mode={mode}"), "camera.body.iso=400"]);
        assert!((ev(&out) - auto).abs() < 0.011, "{mode}: {out}");
        assert!(out.contains(&format!("({mode}: f/")), "{out}");
    }
    // Auto overrides the settings, compensation applies, and manual keeps its settings.
    let dials = ["camera.lens.f_stop=16", "camera.body.shutter=1/100"];
    let auto_mode = ["camera.exposure.mode=auto", "camera.exposure.compensation=2"];
    let out = render(&[auto_mode, dials].concat());
    assert!((ev(&out) - (auto - 2.0)).abs() < 0.011, "{out}");
    assert!((ev(&render(&dials)) - 14.64).abs() < 0.011);
    // Spot readings at the lit ball and matrix differ from the mean; a setting at its limit is
    // reported.
    let spot = ev(&render(&["camera.metering.mode=spot", "camera.metering.position=50%,45%"]));
    assert!((spot - auto).abs() > 0.05, "{spot} and {auto}");
    let limited = [
        "camera.exposure.mode=shutter",
        "camera.lens.f_stop_range=2,2.8",
        "camera.body.shutter=1/4000",
    ];
    let out = render(&limited);
    assert!(out.contains("warning: f-stop is at its limit") && out.contains("too dark"), "{out}");
}

#[test]
fn white_balance_changes_the_png_but_not_the_nits() {
    if no_gpu("white balance") {
        return;
    }
    let dir = folder();
    let nits = |more: &str| {
        render(&dir, &format!("-o a.exr {more}")).ok();
        dir.channel("a.exr", "B")
    };
    let warm = "--set camera.white_balance=incandescent";
    assert_eq!(nits(""), nits(warm));
    let png = |more: &str| {
        render(&dir, &format!("-o a.png --set passes.tonemap.dither=false {more}")).ok();
        dir.rgb8("a.png").into_raw()
    };
    let (plain, warm_png) = (png(""), png(warm));
    let mean = |bytes: &[u8], channel: usize| -> f64 {
        bytes.iter().skip(channel).step_by(3).map(|b| f64::from(*b)).sum::<f64>()
            / (bytes.len() / 3) as f64
    };
    // White light is blue when balanced for tungsten light.
    assert!(
        mean(&warm_png, 2) > mean(&plain, 2) + 3.0 && mean(&warm_png, 0) < mean(&plain, 0) - 3.0
    );
    assert_eq!(png("--set camera.white_balance=neutral"), plain);
    let told = render(&dir, "-o a.png --exposed --aov normal").ok();
    assert!(told.err.contains("warning: --exposed has no effect on a PNG"), "{told:?}");
    assert!(told.out.contains("a.normal.png: AOV normal"), "{told:?}");
    // Exposed values include the camera's white balance.
    assert_ne!(nits("--exposed"), nits(&format!("--exposed {warm}")));
    // The floor is brown; picked as a gray card, its channels are equal there.
    let picked = png("--set camera.white_balance.gray_card=10,60");
    let pixel = |bytes: &[u8]| [0, 1, 2].map(|c| bytes[(60 * 96 + 10) * 3 + c]);
    let [r, g, b] = pixel(&picked);
    assert!(r.abs_diff(g) <= 1 && b.abs_diff(g) <= 1, "{r} {g} {b}");
    let [r, _, b] = pixel(&plain);
    assert!(r > b + 10, "the floor is brown: {r} {b}");
    let beyond = render(&dir, "-o b.png --set camera.white_balance.gray_card=96,0");
    beyond.fails(2, &["95,63"]);
}

#[test]
fn path_tracer_needs_no_device_and_its_aovs_add_up() {
    let dir = folder();
    let path = "render small.glb --renderer path --size 24x16 --spp 8 -q";
    let run = |more: &str| dir.run_on_host(&format!("{path} {more}"));
    for file in ["a.exr", "b.exr", "a.png"] {
        run(&format!("-o {file}")).silent();
    }
    assert!(dir.read("a.exr") == dir.read("b.exr"));
    let all = dir.channel("a.exr", "G");
    let mut sum = vec![0.0; all.len()];
    for layer in
        ["emission", "direct_diffuse", "direct_specular", "indirect_diffuse", "indirect_specular"]
    {
        let part = dir.channel("a.exr", &format!("{layer}.G"));
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    assert!(all.iter().any(|v| *v > 0.0));
    assert!(
        all.iter().zip(&sum).all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs().max(1e-6)),
        "{all:?} {sum:?}"
    );
    for (more, wanted) in [
        ("--target-error nan", "--target-error"),
        ("--aov normals", "normals"),
        ("--spp 0", "--spp"),
    ] {
        let refused = run(&format!("-o c.exr {more}"));
        assert!(refused.code == 2 && refused.err.contains(wanted), "{refused:?}");
    }
    assert!(!dir.has("c.exr"));
}

/// An exported demo is equal to the built-in one, with its flowing water. A meter reading needs no
/// device.
#[test]
fn a_demo_with_water_is_written_with_its_flow() {
    let dir = folder();
    dir.run("demos courtyard -o .").ok();
    let water = |scene: &str| {
        let built_in = scene.starts_with("builtin:");
        let scene = if built_in { scene.into() } else { dir.at(scene) };
        let request =
            session::OpenRequest { scene: Some(scene), ..session::OpenRequest::default() };
        let session = session::open(&request).unwrap();
        session.scene.materials.iter().find_map(|material| material.water.clone()).expect("water")
    };
    let (built_in, read) = (water("builtin:courtyard"), water("courtyard.glb"));
    for place in [DVec2::new(0.1, 0.5), DVec2::new(0.65, 0.42), DVec2::new(0.5, 0.9)] {
        assert_eq!(built_in.map.at(place), read.map.at(place), "{place}");
    }
    assert!(built_in.map.at(DVec2::new(0.1, 0.5)).x > 0.2, "it flows along X");
    let plain = |water: &Water| WaterSettings { flow: None, ..water.settings.clone() };
    assert_eq!(plain(&built_in), plain(&read));
    // An edited look survives another export.
    let edited = dir.text("courtyard.look.toml") + "\n# mine\n";
    dir.write("courtyard.look.toml", &edited);
    let run = dir.run("demos courtyard -o .").ok();
    assert_eq!(dir.text("courtyard.look.toml"), edited);
    assert!(run.err.contains("courtyard.look.toml"), "{run:?}");
}

#[test]
fn flow_maps_are_written_and_used() {
    let dir = folder();
    let made = |more: &str| dir.run(&format!("flow --size 4x2 --origin -2,-1 -o flow.png {more}"));
    made("--cylinder 0,0,0.4").ok();
    let map = FlowMap::read(&dir.at("flow.png")).unwrap();
    // Faster beside the column than upstream of it, and along the walls.
    let [before, beside] =
        [DVec2::new(0.05, 0.5), DVec2::new(0.5, 0.85)].map(|place| map.at(place));
    assert!(beside.x > before.x * 1.2 && before.x > 0.0, "{before} {beside}");
    made("--cylinder 0,0,-1").fails(2, &["cylinder"]);
    made("--block -0.5,-1,0.5,1").fails(2, &["channel"]);
}

#[test]
fn inspect_prints_json() {
    let dir = folder();
    dir.write("small.look.toml", "[lights.bulb]\nlumens = 123\n");
    let report = |arguments: &str| -> serde_json::Value {
        let run = dir.run(&format!("inspect small.glb --json {arguments}")).silent();
        serde_json::from_str(&run.out).unwrap()
    };
    let of = report("");
    let text = dir.run("inspect small.glb").ok().out;
    assert_eq!(of["schema"], 1);
    assert!(of["look"].as_str().unwrap().ends_with("small.look.toml"));
    assert_eq!(of["warnings"], serde_json::json!([]));
    for key in ["lights", "cameras", "meshes", "materials"] {
        let (count, name) = (of[key].as_array().unwrap().len(), &key[..key.len() - 1]);
        assert!(text.contains(&format!("{count} {name}")), "{key}: {text}");
    }
    let light = &of["lights"][0];
    assert_eq!(light["address"], "lights.bulb");
    let authored = serde_json::json!({"value": 123.0, "unit": "lm", "by": "look"});
    assert_eq!(light["authored"], authored);
    let [lumens, candela] = ["lumens", "candela"].map(|key| light[key].as_f64().unwrap());
    assert!((lumens / candela / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-9);
    let height = |report: &serde_json::Value| report["bounds"]["size"][1].as_f64().unwrap();
    let small = report("--scale 0.01");
    assert!((height(&small) / height(&of) - 0.01).abs() < 1e-9, "{small}");
    // A light's strength has a unit of its own.
    assert_eq!(small["lights"][0]["authored"], authored);
    dir.run("inspect small.glb --scale 0").fails(2, &["scene.scale", "0.000001"]);
}

#[test]
fn likely_mistakes_are_warned_about() {
    let dir = folder();
    let run = dir.run(
        "render small.glb -o a.exr --renderer path --spp 1 --size 8x8 \
                       --set camera.body.shutter=125 --set camera.lens.f_stop=8",
    );
    assert!(run.ok().err.contains("\"1/125\""));
    let run = dir.run("inspect small.glb --set camera.body.shutter=125").ok();
    assert!(run.err.contains("\"1/125\""), "{run:?}");
}

#[test]
fn a_collected_scene_needs_nothing_else() {
    let dir = folder();
    let (project, inner) = (dir.at("project"), dir.at("project/scenes"));
    fs::create_dir_all(&inner).unwrap();
    let corners = [-1.0_f32, -1.0, -3.0, 1.0, -1.0, -3.0, 0.0, 1.0, -3.0];
    dir.write("project/shared.bin", corners.map(f32::to_le_bytes).concat());
    nameless(&inner, "../shared.bin");
    // A picture of twice its height is an environment map.
    let env = dir.at("env.exr");
    let map = "render small.glb -o env.exr --size 32x16 --renderer path --spp 4 --aov all";
    dir.run(map).ok();
    let (outside, beside) = (env.display(), "maps/own.ies");
    let look = format!(
        "# kept\n[environment]\nfile = \"{outside}\" # studio\nlux = 1000\n\
                        [lights.\"#0\"]\nies = \"{beside}\"\n"
    );
    dir.write("project/scenes/a.look.toml", &look);
    fs::create_dir(inner.join("maps")).unwrap();
    let ies = "IESNA91\nTILT=NONE\n1 -1 1 3 1 1 2 0 0 0\n1 1 0\n0 45 90\n0\n9 9 9\n";
    fs::write(inner.join(beside), ies).unwrap();
    let run = |at: &Path, args: &str| sunny16(at, &args.words(), &[]);
    let collected = run(&project, "collect scenes/a.gltf -o ../sent/out").ok();
    assert!(collected.out.contains("5 files"), "{collected:?}");
    let draw = "render scenes/a.gltf -o ../x.exr --renderer path --spp 4 --size 16x16 --root .";
    let picture = |at: &str| {
        run(&dir.at(at), draw).ok();
        let target = dir.at(at).parent().unwrap().join("x.exr");
        exr_channel(&target, "G")
    };
    let before = picture("project");
    assert!(before.iter().any(|&light| light > 0.0));
    // The original is gone, and the collection is elsewhere.
    let text = fs::read_to_string(dir.at("sent/out/scenes/a.look.toml")).unwrap();
    assert_eq!(text, look.replace(&outside.to_string(), "look_files/env.exr"));
    fs::remove_dir_all(&project).unwrap();
    fs::remove_file(&env).unwrap();
    fs::rename(dir.at("sent"), dir.at("moved")).unwrap();
    assert_eq!(picture("moved/out"), before);
    // Nothing is replaced, and nothing is left behind.
    run(&dir.at("moved"), "collect out/scenes/a.gltf --root out -o out").fails(5, &["not empty"]);
    fs::remove_file(dir.at("moved/out/shared.bin")).unwrap();
    run(&dir.at("moved"), "collect out/scenes/a.gltf --root out -o b/c").fails(4, &["shared.bin"]);
    assert!(!dir.has("moved/b"));
    run(dir.path(), "collect builtin:street -o a").fails(2, &["sunny16 demos"]);

    // A reference beyond the root of the file system is left out, and the original stays.
    let picture = "../".repeat(60) + "x.png";
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "images": [{{"uri": "{picture}"}}], "nodes": [{{}}]}}"#
    );
    dir.write("far.gltf", &text);
    let run = run(dir.path(), "collect far.gltf -o far").ok();
    assert!(run.err.contains("x.png") && run.out.contains("1 files"), "{run:?}");
    assert_eq!((dir.text("far.gltf"), dir.text("far/far.gltf")), (text.clone(), text));
}
