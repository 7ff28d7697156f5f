//! The program's commands: exit codes, one-line errors, atomic output files.

use std::{fs, path::Path, process::Command};

use crate::common::{Run, finish, no_gpu, small_scene, sunny16};
use glam::DVec2;
use sunny16::{
    scene::{FlowMap, WaterSettings, procedural, water::Water, write_glb::write_glb},
    session,
};
use tempfile::TempDir;

fn workplace() -> TempDir {
    small_scene(3)
}

const DIALS: [&str; 2] = ["--set", "camera.exposure.ev100=7"];

fn render(dir: &Path, more: &[&str]) -> Run {
    let mut args = vec!["render", "small.glb", "--size", "96x64"];
    args.extend(DIALS);
    args.extend(more);
    sunny16(dir, &args, &[])
}

/// Asserts that the run failed with this code and one line of error that contains all `parts`.
#[track_caller]
fn failed(run: &Run, code: i32, parts: &[&str]) {
    assert_eq!(run.code, code, "{run:?}");
    let lines: Vec<&str> = run.err.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines.len(), 1, "not one line: {}", run.err);
    assert!(lines[0].starts_with("sunny16: error: "), "{}", run.err);
    for part in parts {
        assert!(lines[0].contains(part), "'{part}' is not in: {}", run.err);
    }
    assert!(!run.err.contains("panicked"), "{}", run.err);
}

/// Names of all files but the caches.
fn listing(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| name != "cache");
    names.sort();
    names
}

#[test]
fn options_of_the_other_renderer_are_rejected() {
    let dir = workplace();
    for option in [
        &["--resume"][..],
        &["--bounces", "2"],
        &["--target-error", "1%"],
        &["--denoise"],
        &["--spp", "64"],
        &["--seed", "0"],
        &["--save-every", "10"],
    ] {
        let run = render(dir.path(), &[&["-o", "out.exr"], option].concat());
        failed(&run, 2, &[option[0], "path tracer"]);
    }
    for option in [&["--times"][..], &["--validation"], &["--device", "0"]] {
        let run = render(dir.path(), &[&["-o", "out.exr", "--renderer", "path"], option].concat());
        failed(&run, 2, &[option[0], "raster renderer"]);
    }
    assert_eq!(listing(dir.path()), ["small.glb"]);
}

#[test]
fn wrong_arguments_are_one_line_with_a_remedy() {
    let dir = workplace();
    for (args, parts) in [
        (&["render", "--sise", "4x4"][..], &["--sise", "--size", "sunny16 render --help"][..]),
        (&["render", "small.glb"], &["--output <FILE>", "sunny16 render --help"]),
        (&["render", "-o", "a.png", "--size", "big"], &["--size", "big"]),
        (&["render", "-o", "a.png", "--renderer", "rays"], &["--renderer", "rays", "raster, path"]),
        (&["render", "-o", "a.png", "--spp", "0"], &["--spp", "0", "1..="]),
        (&["render", "-o"], &["--output", "value is required"]),
        (&["compare", "a.exr"], &["<REFERENCE>", "sunny16 compare --help"]),
        (&["rendr"], &["rendr", "render", "`sunny16 --help`"]),
        (&["--fast"], &["--fast", "`sunny16 --help`"]),
    ] {
        failed(&sunny16(dir.path(), args, &[]), 2, parts);
    }
    // Requested help is no error.
    for args in [&["--help"][..], &["render", "--help"], &["--version"]] {
        let run = sunny16(dir.path(), args, &[]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    }
    assert_eq!(listing(dir.path()), ["small.glb"]);
}

#[test]
fn unusable_scenes_end_with_4() {
    let dir = workplace();
    let glb = fs::read(dir.path().join("small.glb")).unwrap();
    let mut cases: Vec<(String, Vec<u8>)> = vec![
        ("empty.glb".into(), vec![]),
        ("empty.gltf".into(), vec![]),
        ("nan.gltf".into(), br#"{"asset":{"version":"2.0"},"nodes":[{"translation":[NaN,0,0]}]}"#.to_vec()),
        (
            "overflow.gltf".into(),
            br#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"translation":[1e999,0,0]}]}"#
                .to_vec(),
        ),
        ("version.gltf".into(), br#"{"asset":{"version":"1.0"}}"#.to_vec()),
        ("list.gltf".into(), b"[1,2,3]".to_vec()),
        ("text.gltf".into(), b"not JSON at all".to_vec()),
        ("deep.gltf".into(), "[".repeat(100_000).into_bytes()),
    ];
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
        fs::write(dir.path().join(name), bytes).unwrap();
        for args in [vec!["inspect", name.as_str()], vec!["render", name.as_str(), "-o", "out.png"]]
        {
            failed(&sunny16(dir.path(), &args, &[]), 4, &[name.as_str()]);
        }
    }
    failed(
        &sunny16(dir.path(), &["render", "missing.glb", "-o", "out.png"], &[]),
        4,
        &["missing.glb"],
    );
    failed(&sunny16(dir.path(), &["inspect", "missing.glb"], &[]), 4, &["missing.glb"]);
    fs::create_dir(dir.path().join("folder.glb")).unwrap();
    failed(&sunny16(dir.path(), &["inspect", "folder.glb"], &[]), 4, &["folder.glb"]);
    assert!(
        !listing(dir.path()).iter().any(|name| name.starts_with("out") || name.starts_with(".out"))
    );
}

#[test]
fn wrong_arguments_end_with_2() {
    let dir = workplace();
    let render = |more: &[&str]| render(dir.path(), more);
    failed(&render(&["-o", "out.jpg"]), 2, &["out.jpg", ".png", ".exr"]);
    failed(&render(&["-o", "out"]), 2, &[".png"]);
    failed(&render(&["-o", "out.png", "--camera", "missing"]), 2, &["missing", "main"]);
    failed(&render(&["-o", "out.png", "--aov", "depht"]), 2, &["depht", "depth"]);
    failed(
        &render(&["-o", "out.png", "--set", "camera.lens.fstop=2"]),
        2,
        &["camera.lens.fstop", "camera.lens.f_stop"],
    );
    let at_itself =
        ["-o", "out.png", "--set", "camera.position=0 1 2", "--set", "camera.target=0 1 2"];
    failed(&render(&at_itself), 2, &["camera.target", "another point"]);
    failed(
        &render(&["-o", "out.png", "--set", "camera.body.iso=-1"]),
        2,
        &["camera.body.iso", "-1"],
    );
    failed(&render(&["-o", "out.png", "--set", "camera.body.iso=nan"]), 2, &["camera.body.iso"]);
    failed(&render(&["-o", "out.png", "--set", "camera.body.iso"]), 2, &["PATH=VALUE"]);
    failed(
        &render(&["-o", "out.png", "--set", "lights.bulp.lumens=3"]),
        2,
        &["lights.bulp", "lights.bulb"],
    );
    failed(&render(&["-o", "out.png", "--set", "lights.sun.lumens=3"]), 2, &["lights.sun", "lux"]);
    failed(&render(&["-o", "out.png", "--set", "camera.exposure.ev100=1000"]), 2, &["1000", "64"]);
    // The argument parser's errors have several lines.
    for size in ["0x0", "0x10", "10", "axb", "-1x5", "99999999999x1", ""] {
        let run =
            sunny16(dir.path(), &["render", "small.glb", "-o", "out.png", "--size", size], &[]);
        assert_eq!(run.code, 2, "{size}: {run:?}");
        assert!(run.err.contains("error:") && !run.err.contains("panicked"), "{size}: {}", run.err);
    }
    assert_eq!(sunny16(dir.path(), &["rendre"], &[]).code, 2);
    assert_eq!(sunny16(dir.path(), &["--help"], &[]).code, 0);
    assert_eq!(listing(dir.path()), ["small.glb"]);
}

#[test]
fn a_bad_look_file_is_named() {
    let dir = workplace();
    for (text, part) in [
        ("camera = [", "line 1"),
        ("[camera.lens]\nfstop = 2", "f_stop"),
        ("[camera.body]\niso = \"fast\"", "iso"),
        ("\u{0}", "bad.toml"),
    ] {
        fs::write(dir.path().join("bad.toml"), text).unwrap();
        failed(
            &render(dir.path(), &["-o", "out.png", "--look", "bad.toml"]),
            4,
            &["bad.toml", part],
        );
    }
    failed(&render(dir.path(), &["-o", "out.png", "--look", "none.toml"]), 4, &["none.toml"]);
    // A look beside the scene is found by its name.
    fs::write(dir.path().join("small.look.toml"), "[camera.lens]\nwrong = 1").unwrap();
    failed(&render(dir.path(), &["-o", "out.png"]), 4, &["small.look.toml", "wrong"]);
}

#[test]
fn unwritable_outputs_end_with_5() {
    let dir = workplace();
    fs::create_dir(dir.path().join("folder.png")).unwrap();
    failed(&render(dir.path(), &["-o", "no/where/out.png"]), 5, &["out.png"]);
    failed(&render(dir.path(), &["-o", "folder.png"]), 5, &["folder.png", "directory"]);
    failed(&render(dir.path(), &["-o", "/dev/null/out.exr"]), 5, &["out.exr"]);
    assert_eq!(listing(dir.path()), ["folder.png", "small.glb"]);
}

#[test]
fn output_names_are_case_insensitive_and_up_to_the_maximum_length() {
    let dir = workplace();
    let at = |name: &str| dir.path().join(name);
    let run = |args: &[&str]| {
        let run = sunny16(dir.path(), args, &[]);
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
    };
    let path = ["--renderer", "path", "--spp", "1", "--quiet"];
    let picture = |name: &str, more: &[&str]| {
        let done = render(dir.path(), &[&["-o", name][..], &path, more].concat());
        assert_eq!(done.code, 0, "{name}: {done:?}");
    };
    picture("A.PNG", &["--aov", "normal"]);
    picture("a.Exr", &[]);
    assert!(
        at("A.PNG").exists() && at("A.normal.png").exists() && at("a.Exr").exists(),
        "{:?}",
        listing(dir.path())
    );
    fs::write(at("L.LDT"), LAMP).unwrap();
    run(&["ies", "L.LDT", "-o", "PLOT.PNG"]);
    run(&["lens", "builtin:dgauss-50-f2", "-o", "Drawing.Png"]);
    run(&["flow", "--size", "4x2", "--origin", "-2,-1", "-o", "FLOW.PNG"]);
    run(&["compare", "A.PNG", "A.PNG", "--html", "R.HTML", "--map", "M.PNG"]);
    // A name of 255 bytes, with further outputs and a checkpoint beside it, whose names are
    // shortened.
    let long = "\u{e4}".repeat(125) + "n.png";
    assert_eq!(long.len(), 255);
    picture(&long, &["--aov", "normal,depth", "--resume"]);
    let longer = format!("n{long}");
    failed(&render(dir.path(), &[&["-o", &longer][..], &path].concat()), 5, &["too long"]);
    let written: Vec<String> =
        listing(dir.path()).into_iter().filter(|name| name.starts_with('\u{e4}')).collect();
    let ends = |ending: &str| written.iter().filter(|name| name.ends_with(ending)).count();
    assert_eq!(
        (written.len(), ends(".normal.png"), ends(".depth.png"), ends(".resume")),
        (4, 1, 1, 1),
        "{written:?}"
    );
    // A scene name in capitals still has its look beside it.
    fs::copy(at("small.glb"), at("CAPITALS.GLB")).unwrap();
    fs::write(at("CAPITALS.LOOK.TOML"), "[camera.lens]\nf_stop = -1\n").unwrap();
    failed(
        &sunny16(dir.path(), &["render", "CAPITALS.GLB", "-o", "c.png"], &[]),
        4,
        &["CAPITALS.LOOK.TOML"],
    );
    assert!(!listing(dir.path()).iter().any(|name| name.ends_with(".tmp")));
}

/// An EULUMDAT file: 300 cd per 1000 lm of lamps of 2000 lm, below the horizon.
const LAMP: &str = "Maker\n1\n1\n1\n0\n2\n90\n\nLamp\n\n\n\n0\n0\n0\n0\n0\n0\n0\n0\n0\n100\n188.5\n1\n0\n\
    1\n1\nLED\n2000\n\n\n10\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n90\n300\n300\n";

#[test]
fn eulumdat_files_load_as_ies_profiles() {
    let dir = workplace();
    fs::write(dir.path().join("lamp.ldt"), LAMP).unwrap();
    let told = sunny16(dir.path(), &["ies", "lamp.ldt"], &[]);
    assert_eq!(told.code, 0, "{told:?}");
    // 2 pi 600 cd.
    for part in [
        "EULUMDAT, type C",
        "flux: 3769.9 lm",
        "strongest: 600.0 cd",
        "[LAMP] LED",
        "downward: 100.0 %",
    ] {
        assert!(told.out.contains(part), "'{part}' is not in: {}", told.out);
    }
    fs::write(dir.path().join("lamp.ldt"), LAMP.replacen("\n1\n1\n0\n2\n", "\n7\n1\n0\n2\n", 1))
        .unwrap();
    failed(
        &sunny16(dir.path(), &["ies", "lamp.ldt"], &[]),
        4,
        &["lamp.ldt", "EULUMDAT: line 3", "Isym"],
    );
}

#[test]
fn without_a_device_it_ends_with_6() {
    let dir = workplace();
    let nowhere = [("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent")];
    let args = ["render", "small.glb", "-o", "out.png", "--size", "8x8"];
    failed(&sunny16(dir.path(), &args, &nowhere), 6, &["Vulkan", "install"]);
    let doctor = sunny16(dir.path(), &["doctor"], &nowhere);
    assert_eq!(doctor.code, 6, "{doctor:?}");
    assert!(doctor.err.contains("install"));
    assert_eq!(listing(dir.path()), ["small.glb"]);
    if no_gpu("--device") {
        return;
    }
    failed(
        &render(dir.path(), &["-o", "out.png", "--device", "nonsense"]),
        6,
        &["nonsense", "0: "],
    );
    failed(&render(dir.path(), &["-o", "out.png", "--device", "77"]), 6, &["77", "0: "]);
    assert_eq!(sunny16(dir.path(), &["doctor"], &[]).code, 0);
}

#[test]
fn pictures_beyond_device_limits_are_rejected() {
    if no_gpu("pictures_beyond_device_limits_are_rejected") {
        return;
    }
    let dir = workplace();
    for size in ["100000x100000", "4000000000x1", "1x100000"] {
        let args = [
            "render",
            "small.glb",
            "-o",
            "out.png",
            "--size",
            size,
            "--set",
            "camera.exposure.ev100=7",
        ];
        let run = sunny16(dir.path(), &args, &[]);
        failed(&run, 6, &["size"]);
    }
    assert_eq!(listing(dir.path()), ["small.glb"]);
}

#[test]
fn injected_faults_have_exit_codes_and_leave_no_file() {
    if no_gpu("injected_faults_have_exit_codes_and_leave_no_file") {
        return;
    }
    let dir = workplace();
    let before = b"what was there before".to_vec();
    fs::write(dir.path().join("out.png"), &before).unwrap();
    let mut args = vec!["render", "small.glb", "-o", "out.png", "--size", "32x32", "--validation"];
    args.extend(DIALS);
    for (fault, code, part) in [
        ("image:depth=out-of-device-memory", 6, "'depth'"),
        ("image:gbuffer surface=out-of-device-memory", 6, "gbuffer surface"),
        ("buffer:vertices=out-of-host-memory", 6, "host memory"),
        ("wait:frame 0=device-lost", 7, "last pass begun"),
        ("submit=device-lost", 7, "lost"),
        ("pipeline:tonemap=initialization-failed", 6, "tonemap"),
    ] {
        failed(&sunny16(dir.path(), &args, &[("SUNNY16_FAULT", fault)]), code, &[part]);
        assert_eq!(
            fs::read(dir.path().join("out.png")).unwrap(),
            before,
            "{fault}: the old picture is gone"
        );
    }
    assert_eq!(listing(dir.path()), ["out.png", "small.glb"]);
    let run = sunny16(dir.path(), &args, &[]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_ne!(fs::read(dir.path().join("out.png")).unwrap(), before);
}

/// Runs with writes beyond 8 KiB failing, as on a full disk (EFBIG for ENOSPC).
fn with_a_full_disk(dir: &Path, driver: &Path, args: &[&str]) -> Run {
    let mut command = Command::new("bash");
    command
        .args([
            "-c",
            "ulimit -f 8; trap '' XFSZ; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_sunny16"),
        ])
        .args(args)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .env("MESA_SHADER_CACHE_DIR", driver)
        .current_dir(dir);
    finish(command)
}

#[test]
fn a_full_disk_ends_with_5_and_leaves_nothing() {
    if no_gpu("a_full_disk_ends_with_5_and_leaves_nothing") {
        return;
    }
    let dir = workplace();
    // A driver cache of its own, which failed writes may spoil.
    let driver = tempfile::tempdir().unwrap();
    let cache = [("MESA_SHADER_CACHE_DIR", driver.path().to_str().unwrap())];
    for file in ["out.png", "out.exr"] {
        let args = [
            "render",
            "small.glb",
            "-o",
            file,
            "--size",
            "320x180",
            "--set",
            "camera.exposure.ev100=7",
        ];
        let good = sunny16(dir.path(), &args, &cache);
        assert_eq!(good.code, 0, "{good:?}");
        let size = fs::metadata(dir.path().join(file)).unwrap().len();
        assert!(size > 8192, "{file} has only {size} bytes");
        let whole = fs::read(dir.path().join(file)).unwrap();
        // An existing file is kept.
        failed(&with_a_full_disk(dir.path(), driver.path(), &args), 5, &[file]);
        assert!(fs::read(dir.path().join(file)).unwrap() == whole, "{file} was touched");
        // A new file is not left behind.
        fs::remove_file(dir.path().join(file)).unwrap();
        failed(&with_a_full_disk(dir.path(), driver.path(), &args), 5, &[file]);
        assert_eq!(listing(dir.path()), ["small.glb"]);
    }
}

#[test]
fn missing_textures_are_visible_and_reported() {
    if no_gpu("missing_textures_are_visible_and_reported") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // A unit quad at z = 0 with texture coordinates; its image file is missing.
    let mut buffer: Vec<u8> = Vec::new();
    let floats = [
        -1.0f32, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, 0.0, -1.0, 1.0, 0.0, // positions
        0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, // texture coordinates
    ];
    floats.iter().for_each(|value| buffer.extend(value.to_le_bytes()));
    [0u16, 1, 2, 0, 2, 3].iter().for_each(|index| buffer.extend(index.to_le_bytes()));
    fs::write(dir.path().join("quad.bin"), &buffer).unwrap();
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
    fs::write(dir.path().join("quad.gltf"), gltf.to_string()).unwrap();
    let mut args = vec!["render", "quad.gltf", "-o", "out.png", "--size", "64x64"];
    args.extend(["--set", "camera.exposure.ev100=0", "--set", "passes.tonemap.operator=linear"]);
    let run = sunny16(dir.path(), &args, &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let said = format!("{}{}", run.out, run.err);
    assert!(said.contains("gone.png"), "{said}");
    assert!(run.out.contains("error pattern"), "{said}");
    // The fallback pattern has a color that the background and a gray card lack.
    let picture = image::open(dir.path().join("out.png")).unwrap().to_rgb8();
    let loud = picture
        .pixels()
        .filter(|p| p.0.iter().max().unwrap() - p.0.iter().min().unwrap() > 100)
        .count();
    assert!(loud > 200, "{loud} pixels of the error pattern");
}

#[test]
fn inspect_reports_lumens() {
    let dir = tempfile::tempdir().unwrap();
    let still = procedural::still_life().unwrap();
    fs::write(dir.path().join("still.glb"), write_glb(&still.scene).unwrap()).unwrap();
    let run = sunny16(dir.path(), &["inspect", "still.glb"], &[]);
    assert_eq!(run.code, 0, "{run:?}");
    for part in [" lm", " cd", " lx", "still"] {
        assert!(run.out.contains(part), "'{part}' is not in:\n{}", run.out);
    }
    let small = workplace();
    let run = sunny16(small.path(), &["inspect", "small.glb"], &[]);
    assert!(run.out.contains("800") && run.out.contains("bulb"), "{}", run.out);
    // With the look beside it, and without.
    fs::write(small.path().join("small.look.toml"), "lights.bulb.lumens = 123\n").unwrap();
    let run = sunny16(small.path(), &["inspect", "small.glb"], &[]);
    assert!(
        run.out.starts_with("look: small.look.toml")
            && run.out.contains("123 lm as the look sets it"),
        "{}",
        run.out
    );
    let run = sunny16(small.path(), &["inspect", "small.glb", "--no-look"], &[]);
    assert!(run.out.contains("800 lm as its author") || !run.out.contains("123 lm"), "{}", run.out);
    let run =
        sunny16(small.path(), &["inspect", "small.glb", "--set", "lights.bulb.candela=77"], &[]);
    assert!(run.out.contains("77 cd as the look sets it"), "{}", run.out);
    // Once, in its place: not the file's own as "not shown" beside what the look makes of it.
    assert!(run.out.contains("light 0 'bulb': ") && run.out.contains("shown once"), "{}", run.out);
    assert_eq!(
        (run.out.matches("'bulb': ").count(), run.out.contains("not shown")),
        (1, false),
        "{}",
        run.out
    );
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
    let dir = tempfile::tempdir().unwrap();
    nameless(dir.path(), "data:,");
    let text = fs::read_to_string(dir.path().join("a.gltf")).unwrap();
    fs::write(dir.path().join("a.gltf"), text.replace(r#", {"mesh": 0}"#, "")).unwrap();
    let inspect =
        |more: &[&str]| sunny16(dir.path(), &[&["inspect", "a.gltf"][..], more].concat(), &[]);
    let run = inspect(&[]);
    assert_eq!(run.code, 0, "{run:?}");
    for address in [
        r##"as lights."#0""##,
        r##"as lights."Lamp#1""##,
        r##"as lights."Lamp#2""##,
        r##"as materials."#0""##,
        r##"as materials."a.b""##,
        "as --camera '#0'",
    ] {
        assert!(run.out.contains(address), "{address} is not in\n{}", run.out);
    }
    for (setting, lamps) in [
        ("lights.#0.candela=55", 1),
        ("lights.0.candela=55", 1),
        (r##"lights."#0".candela=55"##, 1),
        ("lights.Lamp.candela=55", 2),
        ("lights.Lamp#2.candela=55", 1),
        ("lights.#1.candela=55", 1),
    ] {
        let run = inspect(&["--set", setting]);
        assert_eq!(
            (run.code, run.out.matches("55 cd as the look sets it").count()),
            (0, lamps),
            "{setting}: {run:?}"
        );
    }
    fs::write(
        dir.path().join("a.look.toml"),
        "[lights.\"#0\"]\ncandela = 55\n[materials.\"#0\"]\nmetallic = 0.25\n",
    )
    .unwrap();
    let run = inspect(&[]);
    assert!(
        run.out.contains("55 cd as the look sets it") && run.out.contains("metallic 0.25"),
        "{run:?}"
    );
    fs::remove_file(dir.path().join("a.look.toml")).unwrap();
    failed(&inspect(&["--set", "lights.Lamq.candela=5"]), 2, &["did you mean lights.Lamp?"]);
    failed(&inspect(&["--set", "lights.#9.candela=5"]), 2, &["lights.#0"]);
    failed(&inspect(&["--set", "materials.x.metallic=1"]), 2, &["did you mean materials.#0?"]);
    let metered = |camera: &str| sunny16(dir.path(), &["meter", "a.gltf", "--camera", camera], &[]);
    failed(&metered("#7"), 2, &["has no camera '#7'; it has #0"]);
}

#[test]
fn files_above_the_scene_need_a_root() {
    let dir = tempfile::tempdir().unwrap();
    let (project, inner) = (dir.path().join("project"), dir.path().join("project/scenes"));
    fs::create_dir_all(&inner).unwrap();
    fs::write(project.join("shared.bin"), [0u8; 36]).unwrap();
    fs::write(dir.path().join("far.bin"), [0u8; 36]).unwrap();
    nameless(&inner, "../shared.bin");
    let loud = "is outside of the document's folder; name a folder above both by --root DIR";
    failed(&sunny16(&inner, &["inspect", "a.gltf"], &[]), 4, &["../shared.bin", loud]);
    let run = sunny16(&inner, &["inspect", "a.gltf", "--root", ".."], &[]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("'../shared.bin' is outside of the document's folder"), "{run:?}");
    // With the working directory in the project, its files are allowed.
    assert_eq!(sunny16(&project, &["inspect", "scenes/a.gltf"], &[]).code, 0);
    let home = project.display().to_string();
    failed(
        &sunny16(&project, &["inspect", "scenes/a.gltf"], &[("HOME", &home)]),
        4,
        &["--root DIR"],
    );
    assert_eq!(
        sunny16(&project, &["inspect", "scenes/a.gltf", "--root", "."], &[("HOME", &home)]).code,
        0
    );
    nameless(&inner, "../../far.bin");
    failed(
        &sunny16(&inner, &["inspect", "a.gltf", "--root", ".."], &[]),
        4,
        &["it is outside of ..", "--root DIR"],
    );
    fs::create_dir(project.join("other")).unwrap();
    for command in
        [&["inspect", "a.gltf"][..], &["render", "a.gltf", "-o", "a.png"], &["meter", "a.gltf"]]
    {
        let run = sunny16(&inner, &[command, &["--root", "../other"]].concat(), &[]);
        failed(&run, 2, &["--root: ../other does not contain a.gltf"]);
    }
    failed(
        &sunny16(&inner, &["inspect", "builtin:cornell", "--root", "."], &[]),
        2,
        &["--root", "builtin:cornell"],
    );
}

#[test]
fn closed_standard_output_is_no_error() {
    let dir = workplace();
    let run_closed = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunny16"));
        command.args(args).env("XDG_CACHE_HOME", dir.path().join("cache")).current_dir(dir.path());
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(writer).stderr(std::process::Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run_closed(&["inspect", "small.glb"]), (Some(0), String::new()));
    if no_gpu("closed_standard_output_is_no_error") {
        return;
    }
    let args = [
        "render",
        "small.glb",
        "-o",
        "out.png",
        "--size",
        "32x32",
        "--set",
        "camera.exposure.ev100=7",
    ];
    assert_eq!(run_closed(&args), (Some(0), String::new()));
    assert_eq!(listing(dir.path()), ["out.png", "small.glb"]);
}

#[test]
fn the_same_command_twice_gives_the_same_bytes() {
    if no_gpu("the_same_command_twice_gives_the_same_bytes") {
        return;
    }
    let dir = workplace();
    for (one, two) in [("a.png", "b.png"), ("a.exr", "b.exr")] {
        for file in [one, two] {
            let run = render(dir.path(), &["-o", file, "--aov", "all", "--validation"]);
            assert_eq!(run.code, 0, "{run:?}");
        }
        assert!(
            fs::read(dir.path().join(one)).unwrap() == fs::read(dir.path().join(two)).unwrap(),
            "{one} and {two}"
        );
    }
    assert!(dir.path().join("a.normal.png").is_file());
    // AOVs of disabled passes.
    let run = render(dir.path(), &["-o", "d.exr", "--aov", "indirect_diffuse,ssr_hit"]);
    for warning in
        ["indirect_diffuse is 0 everywhere; --set gi.enabled=true", "--set passes.ssr.enabled=true"]
    {
        assert!(run.code == 0 && run.err.contains(warning), "{run:?}");
    }
    // Metered, without output.
    let args = ["render", "small.glb", "-o", "c.png", "--size", "48x32", "--quiet"];
    let run = sunny16(dir.path(), &args, &[]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
}

#[test]
fn graph_and_bench_commands_work() {
    if no_gpu("graph_and_bench_commands_work") {
        return;
    }
    let dir = workplace();
    let graph = sunny16(dir.path(), &["graph", "small.glb", "--size", "64x64"], &[]);
    assert_eq!(graph.code, 0, "{graph:?}");
    assert!(graph.out.contains("gbuffer") && graph.out.contains("tonemap"), "{}", graph.out);
    let args = ["bench", "small.glb", "--size", "64x64", "--frames", "3", "--json", "bench.json"];
    let bench = sunny16(dir.path(), &args, &[]);
    assert_eq!(bench.code, 0, "{bench:?}");
    let text = fs::read_to_string(dir.path().join("bench.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(value["frame"]["median_ms"].as_f64().unwrap() > 0.0, "{value}");
    let args = ["bench", "small.glb", "--json", "no/where.json"];
    failed(&sunny16(dir.path(), &args, &[]), 5, &["where.json"]);
}

#[test]
fn path_and_bvh_benchmarks_need_no_device() {
    let dir = workplace();
    let args = [
        "bench",
        "small.glb",
        "--what",
        "path,bvh",
        "--size",
        "32x24",
        "--seconds",
        "0.01",
        "--triangles",
        "600",
    ];
    let bench = sunny16(dir.path(), &[&args[..], &["--json", "bench.json"]].concat(), &[]);
    assert_eq!(bench.code, 0, "{bench:?}");
    let value: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("bench.json")).unwrap()).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let rows = value["path"]["threads"].as_array().unwrap();
    assert_eq!((number(&rows[0]["threads"]), number(&rows[0]["ratio"])), (1.0, 1.0));
    for row in rows {
        assert!(number(&row["samples_per_second"]) > 0.0, "{row}");
        assert!(number(&row["rays_per_second"]["primary"]) > 0.0, "{row}");
    }
    let shapes = value["bvh"].as_array().unwrap();
    assert_eq!(shapes.len(), 2);
    for shape in shapes {
        let triangles = number(&shape["triangles"]);
        assert!((500.0..=700.0).contains(&triangles), "{shape}");
        // More than the triangles alone, and a ray hits few of them.
        assert!(number(&shape["device_bytes"]) > 48.0 * triangles, "{shape}");
        assert!(
            number(&shape["sah_cost"]) > 2.0 && number(&shape["sah_cost"]) < triangles / 2.0,
            "{shape}"
        );
        for kind in ["primary", "shadow", "diffuse"] {
            assert!(number(&shape["rays_per_second"][kind]) > 0.0, "{shape}");
        }
    }
    for args in [["--triangles", "7"], ["--seconds", "x"], ["--what", "all"]] {
        let run = sunny16(dir.path(), &["bench", args[0], args[1]], &[]);
        assert!(run.code == 2 && run.err.contains(args[0]), "{run:?}");
    }
}

#[test]
fn exposure_warnings_have_the_right_sign() {
    if no_gpu("the warning of the meter") {
        return;
    }
    let dir = workplace();
    for (ev, word) in [("-3", "too bright"), ("20", "too dark")] {
        let set = format!("camera.exposure.ev100={ev}");
        let run = sunny16(
            dir.path(),
            &["render", "small.glb", "-o", "a.png", "--size", "96x64", "--set", &set],
            &[],
        );
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.out.contains(word), "{ev}: {}", run.out);
    }
    // The metered EV does not depend on the camera's settings.
    let reading = |ev: &str| {
        let set = format!("camera.exposure.ev100={ev}");
        let run = sunny16(
            dir.path(),
            &["render", "small.glb", "-o", "a.png", "--size", "96x64", "--set", &set],
            &[],
        );
        let at = run.out.find("meters at EV100 ").unwrap() + "meters at EV100 ".len();
        run.out[at..].split([',', '\n']).next().unwrap().parse::<f64>().unwrap()
    };
    assert!((reading("-3") - reading("18")).abs() < 0.02);
}

fn meter(dir: &Path, more: &[&str]) -> Run {
    let mut args = vec!["meter", "small.glb", "--size", "96x64"];
    args.extend(more);
    sunny16(dir, &args, &[])
}

#[test]
fn meter_errors_name_the_remedy() {
    if no_gpu("errors of meter") {
        return;
    }
    let dir = workplace();
    let meter = |more: &[&str]| meter(dir.path(), more);
    failed(&meter(&["--at", "96,0"]), 2, &["95,63", "%"]);
    failed(&meter(&["--mode", "sport"]), 2, &["sport", "matrix", "incident"]);
    failed(&meter(&["--priority", "speed"]), 2, &["speed", "aperture"]);
    failed(&meter(&["--point", "1,2"]), 2, &["--point", "three finite numbers"]);
    failed(&meter(&["--mode", "spot", "--normal", "0,1,0"]), 2, &["incident"]);
    failed(&meter(&["--point", "0,1,0", "--normal", "nan,0,0"]), 2, &["normal", "0,1,0"]);
    failed(&meter(&["--point", "0,1,0", "--normal", "0,0,0"]), 2, &["normal", "not all 0"]);
    failed(&meter(&["--point", "1e9,0,0"]), 2, &["outside of the scene", "spans"]);
    failed(&meter(&["--point", "inf,0,0"]), 2, &["--point", "finite"]);
    failed(&meter(&["--point", "0,1,0", "--normal", "0,-1,0"]), 2, &["no light", "--normal"]);
    failed(&meter(&["--mode", "incident", "--at", "0,0"]), 2, &["no surface", "--at"]);
    failed(&meter(&["--receptor", "cone", "--point", "0,1,0"]), 2, &["cone", "dome"]);
    failed(&meter(&["--false-color", "a.jpg"]), 2, &["a.jpg", ".png"]);
    failed(&meter(&["--json", "no/where.json"]), 5, &["where.json"]);
    let dark = ["--set", "lights.bulb.enabled=false", "--set", "lights.sun.enabled=false"];
    let dark = [&dark[..], &["--set", "scene.default_light=false"]].concat();
    failed(&meter(&dark), 2, &["black", "light it"]);
    failed(&meter(&["--set", "camera.white_balance.gray_card=0,0"]), 2, &["gray_card", "pick"]);
    assert_eq!(listing(dir.path()), ["small.glb"]);
}

#[test]
fn meter_reports_the_settings_of_each_priority_mode() {
    if no_gpu("meter") {
        return;
    }
    let dir = workplace();
    let dials = [
        "--set",
        "camera.lens.f_stop=4",
        "--set",
        "camera.body.shutter=1/60",
        "--set",
        "camera.body.iso=100",
    ];
    let files = [
        "--false-color",
        "f.png",
        "--waveform",
        "w.png",
        "--histogram",
        "h.png",
        "--zones",
        "z.png",
    ];
    let more = [&["--json", "m.json", "--mode", "matrix"], &dials[..], &files[..]].concat();
    let run = meter(dir.path(), &more);
    assert_eq!(run.code, 0, "{run:?}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("m.json")).unwrap()).unwrap();
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
    assert!(
        (number("/dials/0/off_by_stops") - (scene - number("/camera_ev100"))).abs() < 1e-9,
        "manual is as it is"
    );
    let counts = json.pointer("/histogram/counts").unwrap().as_array().unwrap();
    let sum: f64 = counts.iter().map(|count| count.as_f64().unwrap()).sum();
    assert_eq!(sum + number("/histogram/black"), 96.0 * 64.0);
    for file in ["f.png", "w.png", "h.png", "z.png", "m.json"] {
        assert!(run.out.contains(&format!("\n{file}: ")), "{run:?}");
        assert!(fs::metadata(dir.path().join(file)).unwrap().len() > 500, "{file}");
    }
    // A warning beyond one stop in both directions, and none within.
    for (offset, words) in [(2.0, Some("too dark")), (-2.0, Some("too bright")), (0.5, None)] {
        let set = format!("camera.exposure.ev100={}", scene + offset);
        let run = meter(dir.path(), &["--mode", "matrix", "--set", &set]);
        match words {
            Some(words) => {
                assert!(run.out.contains("warning") && run.out.contains(words), "{}", run.out)
            }
            None => assert!(!run.out.contains("warning: the camera"), "{}", run.out),
        }
    }
    // At a limit, the missing stops are reported.
    let narrow =
        ["--priority", "iso", "--mode", "matrix", "--set", "camera.body.iso_range=100,200"];
    let run = meter(dir.path(), &[&narrow[..], &["--set", "camera.body.shutter=1/8000"]].concat());
    assert!(
        run.out.contains("iso is at its limit") && run.out.contains("stops too dark"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("aperture "), "{}", run.out);
}

#[test]
fn meter_reads_incident_light() {
    if no_gpu("incident light") {
        return;
    }
    let dir = workplace();
    // Straight under the bulb of 800 lm at 2 m: 15.915 lx; and the sun of 400 lx at its angle.
    let sun = 400.0 / (0.4f64 * 0.4 + 1.0 + 0.3 * 0.3).sqrt();
    let want = 800.0 / (4.0 * std::f64::consts::PI) / 4.0 + sun;
    let run = meter(dir.path(), &["--point", "1,0,1", "--normal", "0,1,0", "--json", "i.json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("i.json")).unwrap()).unwrap();
    let lux = json.pointer("/incident/lux").unwrap().as_f64().unwrap();
    assert!((lux / want - 1.0).abs() < 0.003, "{lux} for {want}");
    let ev = json.pointer("/scene_ev100").unwrap().as_f64().unwrap();
    assert!((ev - (lux * 100.0 / 250.0).log2()).abs() < 1e-9);
    assert!(run.out.contains("lx"), "{}", run.out);
    // On the floor seen by a pixel, with its normal: at least as bright as at the far point.
    let run = meter(dir.path(), &["--mode", "incident", "--at", "50%,90%", "--receptor", "dome"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.out.contains("facing (0.0000, 1.0000, 0.0000)") || run.out.contains("facing (-0.0000"),
        "{}",
        run.out
    );
}

#[test]
fn exposure_modes_set_the_dials_of_a_picture() {
    if no_gpu("exposure modes") {
        return;
    }
    let dir = workplace();
    let render = |more: &[&str]| {
        let mut args = vec!["render", "small.glb", "--size", "48x32", "-o", "a.png"];
        args.extend(more);
        let run = sunny16(dir.path(), &args, &[]);
        assert_eq!(run.code, 0, "{run:?}");
        run.out
    };
    let ev = |out: &str| -> f64 {
        let at = out.find("at EV100 ").unwrap() + "at EV100 ".len();
        out[at..].split([' ', ',']).next().unwrap().parse().unwrap()
    };
    let auto = ev(&render(&[]));
    for mode in ["aperture", "shutter", "iso", "program"] {
        let out = render(&[
            "--set",
            &format!("camera.exposure.mode={mode}"),
            "--set",
            "camera.body.iso=400",
        ]);
        assert!((ev(&out) - auto).abs() < 0.011, "{mode}: {out}");
        assert!(out.contains(&format!("({mode}: f/")), "{out}");
    }
    // Auto overrides the settings, compensation applies, and manual keeps its settings.
    let dials = ["--set", "camera.lens.f_stop=16", "--set", "camera.body.shutter=1/100"];
    let out = render(
        &[
            &["--set", "camera.exposure.mode=auto", "--set", "camera.exposure.compensation=2"],
            &dials[..],
        ]
        .concat(),
    );
    assert!((ev(&out) - (auto - 2.0)).abs() < 0.011, "{out}");
    assert!((ev(&render(&dials)) - 14.64).abs() < 0.011);
    // Spot readings at the lit ball and matrix differ from the mean; a setting at its limit is
    // reported.
    let spot = ev(&render(&[
        "--set",
        "camera.metering.mode=spot",
        "--set",
        "camera.metering.position=50%,45%",
    ]));
    assert!((spot - auto).abs() > 0.05, "{spot} and {auto}");
    let out = render(&[
        "--set",
        "camera.exposure.mode=shutter",
        "--set",
        "camera.lens.f_stop_range=2,2.8",
        "--set",
        "camera.body.shutter=1/4000",
    ]);
    assert!(out.contains("warning: f-stop is at its limit") && out.contains("too dark"), "{out}");
}

#[test]
fn white_balance_changes_the_png_but_not_the_nits() {
    if no_gpu("white balance") {
        return;
    }
    let dir = workplace();
    let nits = |more: &[&str]| {
        assert_eq!(render(dir.path(), &[&["-o", "a.exr"], more].concat()).code, 0);
        crate::common::exr_channel(&dir.path().join("a.exr"), "B")
    };
    let warm = ["--set", "camera.white_balance=incandescent"];
    assert_eq!(nits(&[]), nits(&warm));
    let png = |more: &[&str]| {
        let args = [&["-o", "a.png", "--set", "passes.tonemap.dither=false"], more].concat();
        let run = render(dir.path(), &args);
        assert_eq!(run.code, 0, "{run:?}");
        image::open(dir.path().join("a.png")).unwrap().to_rgb8().into_raw()
    };
    let (plain, warm_png) = (png(&[]), png(&warm));
    let mean = |bytes: &[u8], channel: usize| -> f64 {
        bytes.iter().skip(channel).step_by(3).map(|b| f64::from(*b)).sum::<f64>()
            / (bytes.len() / 3) as f64
    };
    // White light is blue when balanced for tungsten light.
    assert!(
        mean(&warm_png, 2) > mean(&plain, 2) + 3.0 && mean(&warm_png, 0) < mean(&plain, 0) - 3.0
    );
    assert_eq!(png(&["--set", "camera.white_balance=neutral"]), plain);
    let told = render(dir.path(), &["-o", "a.png", "--exposed", "--aov", "normal"]);
    assert!(told.err.contains("warning: --exposed has no effect on a PNG"), "{told:?}");
    assert!(told.out.contains("a.normal.png: AOV normal"), "{told:?}");
    // Exposed values include the camera's white balance.
    let exposed = nits(&["--exposed"]);
    assert_ne!(exposed, nits(&[&["--exposed"], &warm[..]].concat()));
    // The floor is brown; picked as a gray card, its channels are equal there.
    let picked = png(&["--set", "camera.white_balance.gray_card=10,60"]);
    let pixel = |bytes: &[u8]| [0, 1, 2].map(|c| bytes[(60 * 96 + 10) * 3 + c]);
    let [r, g, b] = pixel(&picked);
    assert!(r.abs_diff(g) <= 1 && b.abs_diff(g) <= 1, "{r} {g} {b}");
    let [r, _, b] = pixel(&plain);
    assert!(r > b + 10, "the floor is brown: {r} {b}");
    let run = render(dir.path(), &["-o", "b.png", "--set", "camera.white_balance.gray_card=96,0"]);
    failed(&run, 2, &["outside of the picture", "95,63"]);
}

#[test]
fn path_tracer_needs_no_device_and_its_aovs_add_up() {
    let dir = workplace();
    let path = ["render", "small.glb", "--renderer", "path", "--size", "24x16", "--spp", "8", "-q"];
    let run = |more: &[&str]| {
        let args: Vec<&str> = path.iter().chain(more).copied().collect();
        sunny16(dir.path(), &args, &[("VK_ICD_FILENAMES", "/none"), ("VK_DRIVER_FILES", "/none")])
    };
    for file in ["a.exr", "b.exr", "a.png"] {
        let done = run(&["-o", file]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    }
    assert!(
        fs::read(dir.path().join("a.exr")).unwrap() == fs::read(dir.path().join("b.exr")).unwrap()
    );
    let all = crate::common::exr_channel(&dir.path().join("a.exr"), "G");
    let mut sum = vec![0.0; all.len()];
    for layer in
        ["emission", "direct_diffuse", "direct_specular", "indirect_diffuse", "indirect_specular"]
    {
        let part = crate::common::exr_channel(&dir.path().join("a.exr"), &format!("{layer}.G"));
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    assert!(all.iter().any(|v| *v > 0.0));
    assert!(
        all.iter().zip(&sum).all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs().max(1e-6)),
        "{all:?} {sum:?}"
    );
    for (more, wanted) in [
        (&["-o", "c.exr", "--target-error", "nan"][..], "--target-error"),
        (&["-o", "c.exr", "--aov", "normals"], "normals"),
        (&["-o", "c.exr", "--spp", "0"], "--spp"),
    ] {
        let refused = run(more);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains(wanted), "{refused:?}");
    }
    assert!(!dir.path().join("c.exr").exists());
}

/// An exported demo is equal to the built-in one, with its flowing water. A meter reading needs no
/// device.
#[test]
fn a_demo_with_water_is_written_with_its_flow() {
    let dir = workplace();
    let run = sunny16(dir.path(), &["demos", "courtyard", "-o", "."], &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let asked = |scene: &str| session::OpenRequest {
        scene: Some(if scene.starts_with("builtin:") {
            scene.into()
        } else {
            dir.path().join(scene)
        }),
        ..session::OpenRequest::default()
    };
    let water = |scene: &str| {
        let session = session::open(&asked(scene)).unwrap();
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
    let look = dir.path().join("courtyard.look.toml");
    let edited = fs::read_to_string(&look).unwrap() + "\n# mine\n";
    fs::write(&look, &edited).unwrap();
    let run = sunny16(dir.path(), &["demos", "courtyard", "-o", "."], &[]);
    assert_eq!((run.code, fs::read_to_string(&look).unwrap()), (0, edited), "{run:?}");
    assert!(run.err.contains("courtyard.look.toml is kept"), "{run:?}");
}

#[test]
fn flow_maps_are_written_and_used() {
    let dir = workplace();
    let made = |more: &[&str]| {
        let args: Vec<&str> = ["flow", "--size", "4x2", "--origin", "-2,-1", "-o", "flow.png"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        sunny16(dir.path(), &args, &[])
    };
    let run = made(&["--cylinder", "0,0,0.4"]);
    assert_eq!(run.code, 0, "{run:?}");
    let map = FlowMap::read(&dir.path().join("flow.png")).unwrap();
    // Faster beside the column than upstream of it, and along the walls.
    let [before, beside] =
        [DVec2::new(0.05, 0.5), DVec2::new(0.5, 0.85)].map(|place| map.at(place));
    assert!(beside.x > before.x * 1.2 && before.x > 0.0, "{before} {beside}");
    failed(&made(&["--cylinder", "0,0,-1"]), 2, &["cylinder"]);
    failed(&made(&["--block", "-0.5,-1,0.5,1"]), 2, &["close the channel"]);
}
