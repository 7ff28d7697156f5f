//! `sunny16 validate`: verdicts, exit codes, files.

use std::{fs, path::Path};

use crate::common::{Arguments, Folder, Place, Run, no_gpu, sunny16};
use glam::{DVec3, Vec3};
use sunny16::{
    compare::case::Case,
    output::{ExrLayer, write_exr},
    scene::{
        build::{SceneBuilder, dielectric},
        write_glb::write_glb,
    },
};

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

fn folder(cases: &[(&str, &str)]) -> Folder {
    let dir = Folder::empty();
    let mut builder = SceneBuilder::new("wall");
    let mut glow = dielectric("glow", Vec3::ZERO, 1.0);
    glow.emission = Vec3::splat(100.0);
    glow.double_sided = true;
    builder.floor(100.0, glow);
    builder.camera("main", DVec3::new(0.0, 3.0, 0.001), DVec3::ZERO, 0.7, Some(2.0));
    let glb = write_glb(&builder.build().unwrap()).unwrap();
    for (name, case) in cases {
        fs::create_dir_all(dir.at(&format!("validation/cases/{name}"))).unwrap();
        dir.write(&format!("validation/cases/{name}/scene.glb"), &glb);
        dir.write(&format!("validation/cases/{name}/case.toml"), case);
    }
    dir
}

fn validate(dir: &Folder, more: &str) -> Run {
    dir.run(&format!("validate --no-raster {more}"))
}

#[test]
fn passing_cases_end_with_0_and_failing_ones_with_3() {
    let wrong = CASE.replace("2 * half", "2.01 * half");
    let dir = folder(&[("right", CASE), ("wrong", &wrong)]);
    validate(&dir, "right").ok().prints(&["1 cases, 3 checks, 0 broken"]);
    let run = validate(&dir, "");
    run.ends_with_error(3, &["1 of 6"]);
    let lines: Vec<&str> = run.out.lines().filter(|line| line.contains("BROKEN ")).collect();
    assert_eq!(lines.len(), 1, "{}", run.out);
    assert!(lines[0].contains("-0.498 %") && lines[0].contains("left"), "{}", lines[0]);
    let quiet = validate(&dir, "--quiet right");
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
    let dir = folder(&[
        ("missing", &reference("none.exr")),
        ("small", &reference("small.exr")),
        ("near", &reference("other.exr")),
        ("tight", &tight),
    ]);
    for name in ["small", "near", "tight"] {
        let (file, width) = if name == "small" { ("small.exr", 8) } else { ("other.exr", 16) };
        let pixels = vec![[98.5, 98.5, 98.5, 1.0]; width * 8];
        let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels };
        let path = dir.at(&format!("validation/cases/{name}/{file}"));
        write_exr(&path, width, 8, 1.0, &[layer]).unwrap();
    }
    validate(&dir, "near").ok().prints(&["+1.523 %"]);
    validate(&dir, "tight").ends_with_error(3, &["1 of 4"]);
    validate(&dir, "missing").ends_with_error(4, &["none.exr"]);
    validate(&dir, "small").ends_with_error(4, &["small.exr"]);
}

#[test]
fn invalid_cases_are_rejected_in_one_line() {
    let unknown = CASE.replace("within = 0.0001", "wihtin = 0.0001");
    let dir = folder(&[("right", CASE), ("unknown", &unknown), ("junk", "\u{1}[[[")]);
    for (args, code, part) in [
        ("nothing", 2, "junk, right, unknown"),
        ("unknown", 4, "wihtin"),
        ("junk", 4, "line 1"),
        ("--from nowhere", 4, "--from"),
        ("--from validation", 4, "case.toml"),
        ("right --report validation/cases/right/case.toml/x", 2, "--report"),
    ] {
        validate(&dir, args).ends_with_error(code, &[part]);
    }
    fs::remove_file(dir.at("validation/cases/right/scene.glb")).unwrap();
    validate(&dir, "right").ends_with_error(4, &["scene.glb"]);
}

#[test]
fn the_report_holds_pictures_and_figures() {
    let dir = folder(&[("right", CASE)]);
    validate(&dir, "--report out/report").ok();
    let results = dir.json("out/report/results.json");
    let checks = results["cases"][0]["checks"].as_array().unwrap();
    assert!(checks.len() == 3 && checks.iter().all(|check| check["holds"] == true), "{checks:?}");
    assert!(dir.at("out/report/right.path.exr").is_file());
    let html = dir.text("out/report/index.html");
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
    let without = if no_gpu("the raster renderer in three cases") { "--no-raster" } else { "" };
    let args = format!("validate exposure_ladder color_temperatures falloff_sun {without}");
    sunny16(folder, &args.words(), &[]).ok();
}
