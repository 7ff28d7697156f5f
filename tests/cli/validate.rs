//! `sunny16 validate`: verdicts, exit codes, files.

use std::{fs, path::Path};

use crate::common::{Run, no_gpu, sunny16};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    compare::case::Case,
    output::{ExrLayer, write_exr},
    scene::{
        build::{SceneBuilder, dielectric},
        procedural::shapes,
        write_glb::write_glb,
    },
};
use tempfile::TempDir;

/// An emissive wall of 100 nits before the camera: its picture is 100 everywhere.
const CASE: &str = r#"
title = "A wall that glows"
size = [16, 8]
bounces = 1
spp = 4
[let]
half = "50"
[[region]]
name = "left"
rect = [0, 0, 8, 8]
[[expect]]
test = "path"
region = "left"
value = "2 * half"
within = 0.0001
why = "it glows with 100 nits"
[[expect]]
test = "path"
rgb = ["100", "100", "100"]
within = 0.0001
[[expect]]
test = "path"
value = "100 / (1.2 * 2^7)"
within = 0.0001
set = ["camera.exposure.ev100=7"]
exposed = true
why = "exposure = 1 / (1.2 * 2^EV100)"
"#;

fn workplace(cases: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = SceneBuilder::new("wall");
    let mut glow = dielectric("glow", Vec3::ZERO, 1.0);
    glow.emission = Vec3::splat(100.0);
    glow.double_sided = true;
    let glow = builder.add_material(glow);
    let wall = builder.add_mesh("wall", shapes::plane(Vec2::splat(100.0), 1, 1), glow);
    builder.instance("wall", wall, DMat4::IDENTITY);
    builder.camera("main", DVec3::new(0.0, 3.0, 0.001), DVec3::ZERO, 0.7, Some(2.0));
    let glb = write_glb(&builder.build().unwrap()).unwrap();
    for (name, case) in cases {
        let folder = dir.path().join("validation/cases").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("scene.glb"), &glb).unwrap();
        fs::write(folder.join("case.toml"), case).unwrap();
    }
    dir
}

fn validate(dir: &Path, more: &[&str]) -> Run {
    let mut args = vec!["validate", "--no-raster"];
    args.extend(more);
    sunny16(dir, &args, &[])
}

#[track_caller]
fn failed(run: &Run, code: i32, part: &str) {
    assert_eq!(run.code, code, "{run:?}");
    let last = run.err.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("sunny16: error: ") && last.contains(part),
        "'{part}' is not in: {}",
        run.err
    );
    assert!(!run.err.contains("panicked"), "{}", run.err);
}

#[test]
fn passing_cases_end_with_0_and_failing_ones_with_3() {
    let wrong = CASE.replace("2 * half", "2.01 * half");
    let dir = workplace(&[("right", CASE), ("wrong", &wrong)]);
    let run = validate(dir.path(), &["right"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("1 cases, 3 checks, 0 broken"), "{}", run.out);
    let run = validate(dir.path(), &[]);
    failed(&run, 3, "1 of 6 bounds are broken");
    let lines: Vec<&str> = run.out.lines().filter(|line| line.contains("BROKEN ")).collect();
    assert_eq!(lines.len(), 1, "{}", run.out);
    assert!(lines[0].contains("-0.498 %") && lines[0].contains("left"), "{}", lines[0]);
    let quiet = validate(dir.path(), &["--quiet", "right"]);
    assert_eq!(quiet.out.lines().count(), 1, "{}", quiet.out);
}

#[test]
fn references_of_other_renderers_are_bounds_too() {
    let reference = |file: &str| {
        format!(
            "{CASE}\n[[reference]]\nname = \"other\"\nfile = \"{file}\"\n[[bound]]\ntest = \"path\"\nagainst = \"other\"\nmetric = \"mean\"\nat_most = 0.02\n"
        )
    };
    let tight = reference("other.exr").replace("at_most = 0.02", "at_most = 0.01");
    let dir = workplace(&[
        ("missing", &reference("none.exr")),
        ("small", &reference("small.exr")),
        ("near", &reference("other.exr")),
        ("tight", &tight),
    ]);
    for name in ["small", "near", "tight"] {
        let (file, width) = if name == "small" { ("small.exr", 8) } else { ("other.exr", 16) };
        let pixels = vec![[98.5, 98.5, 98.5, 1.0]; width * 8];
        let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels };
        let path = dir.path().join("validation/cases").join(name).join(file);
        write_exr(&path, width, 8, 1.0, &[layer]).unwrap();
    }
    let near = validate(dir.path(), &["near"]);
    assert_eq!(near.code, 0, "{near:?}");
    assert!(near.out.contains("+1.523 %"), "{}", near.out);
    failed(&validate(dir.path(), &["tight"]), 3, "1 of 4");
    failed(&validate(dir.path(), &["missing"]), 4, "none.exr");
    failed(&validate(dir.path(), &["small"]), 4, "make them equal");
}

#[test]
fn invalid_cases_are_rejected_in_one_line() {
    let unknown = CASE.replace("within = 0.0001", "wihtin = 0.0001");
    let dir = workplace(&[("right", CASE), ("unknown", &unknown), ("junk", "\u{1}[[[")]);
    failed(&validate(dir.path(), &["nothing"]), 2, "expected one of junk, right, unknown");
    failed(&validate(dir.path(), &["unknown"]), 4, "wihtin");
    failed(&validate(dir.path(), &["junk"]), 4, "line 1");
    failed(&validate(dir.path(), &["--from", "nowhere"]), 4, "--from");
    failed(&validate(dir.path(), &["--from", "validation"]), 4, "case.toml");
    failed(
        &validate(dir.path(), &["right", "--report", "validation/cases/right/case.toml/x"]),
        2,
        "--report",
    );
    fs::remove_file(dir.path().join("validation/cases/right/scene.glb")).unwrap();
    failed(&validate(dir.path(), &["right"]), 4, "scene.glb");
}

#[test]
fn the_report_holds_pictures_and_figures() {
    let dir = workplace(&[("right", CASE)]);
    let run = validate(dir.path(), &["--report", "out/report"]);
    assert_eq!(run.code, 0, "{run:?}");
    let folder = dir.path().join("out/report");
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("results.json")).unwrap()).unwrap();
    let checks = &results["cases"][0]["checks"];
    assert_eq!(checks.as_array().unwrap().len(), 3);
    assert!(checks.as_array().unwrap().iter().all(|check| check["holds"] == true));
    assert!(folder.join("right.path.exr").is_file());
    let html = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(html.contains("A wall that glows") && html.contains("it glows with 100 nits"));
    assert!(!html.contains("http://") && !html.contains("https://"), "the report loads nothing");
}

/// The project's cases: all of them parse; the fast ones pass.
#[test]
fn the_projects_cases_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = fs::read_dir(folder.join("validation/cases")).unwrap();
    let count = cases
        .flatten()
        .map(|entry| Case::read(&entry.path()).unwrap_or_else(|error| panic!("{error}")))
        .filter(|case| !case.title.is_empty())
        .count();
    assert!(count >= 20, "{count} cases");
    let mut args = vec!["exposure_ladder", "color_temperatures", "falloff_sun"];
    if no_gpu("the raster renderer in three cases") {
        args.push("--no-raster");
    }
    let mut all = vec!["validate"];
    all.extend(args);
    let run = sunny16(folder, &all, &[]);
    assert_eq!(run.code, 0, "{run:?}");
}
