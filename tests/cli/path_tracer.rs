//! `render --renderer path`: interrupt, kill and resume; its outputs compared with the
//! rasterizer's.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::common::{Run, exr_channel, no_gpu, small_scene, sunny16};
use tempfile::TempDir;

fn workplace() -> TempDir {
    small_scene(4)
}

const PATH: [&str; 5] = ["render", "small.glb", "--renderer", "path", "-q"];

fn path(dir: &Path, more: &[&str]) -> Run {
    let mut args: Vec<&str> = PATH.iter().chain(more).copied().collect();
    if !more.contains(&"--size") {
        args.extend(["--size", "32x24"]);
    }
    sunny16(dir, &args, &[("VK_ICD_FILENAMES", "/none"), ("VK_DRIVER_FILES", "/none")])
}

#[track_caller]
fn refused(run: &Run, code: i32, parts: &[&str]) {
    assert_eq!(run.code, code, "{run:?}");
    assert_eq!(run.err.trim_end().lines().count(), 1, "{run:?}");
    assert!(parts.iter().all(|part| run.err.contains(part)), "{run:?}");
}

/// A long render, once its checkpoint is on disk.
fn begun(dir: &Path) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_sunny16"))
        .args(PATH)
        .args(["-o", "a.exr", "--size", "32x24", "--spp", "10000000", "--save-every", "0"])
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !dir.join("a.exr.resume").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is saved");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn resumed_pictures_equal_uninterrupted_ones() {
    let dir = workplace();
    let dir = dir.path();
    assert_eq!(path(dir, &["-o", "whole.exr", "--spp", "512"]).code, 0);
    assert!(!dir.join("whole.exr.resume").exists(), "a finished picture leaves nothing");
    let whole = fs::read(dir.join("whole.exr")).unwrap();

    let child = begun(dir);
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.lines().count() == 1 && err.contains("--resume") && err.contains("a.exr"), "{err}");
    assert!(
        exr_channel(&dir.join("a.exr"), "G").iter().any(|v| *v > 0.0),
        "no picture of what there was"
    );
    // Resume with fewer samples than the total, then again.
    let resume = |spp| path(dir, &["-o", "a.exr", "--resume", "--spp", spp]);
    for spp in ["300", "512"] {
        let run = resume(spp);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    }
    assert!(fs::read(dir.join("a.exr")).unwrap() == whole, "an interrupted picture differs");
    fs::remove_file(dir.join("a.exr.resume")).unwrap();

    let mut child = begun(dir);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(resume("512").code, 0);
    assert!(fs::read(dir.join("a.exr")).unwrap() == whole, "a killed picture differs");
}

#[test]
fn checkpoints_of_other_renders_are_rejected_and_kept() {
    let dir = workplace();
    let dir = dir.path();
    let file = dir.join("a.exr.resume");
    let base = ["-o", "a.exr", "--spp", "4", "--resume"];
    let with = |more: &[&str]| path(dir, &[&base[..], more].concat());
    assert_eq!(with(&[]).code, 0);
    let kept = fs::read(&file).unwrap();
    let picture = fs::read(dir.join("a.exr")).unwrap();
    let other = "another scene, camera, setting";
    for (more, part) in [
        (&["--size", "24x32"][..], "32x24"),
        (&["--seed", "7"], other),
        (&["--bounces", "1"], other),
        (&["--target-error", "1%"], other),
        (&["--set", "lights.bulb.lumens=500"], other),
        (&["--set", "camera.lens.focus=1"], other),
    ] {
        refused(&with(more), 4, &["a.exr.resume", part, "--resume"]);
    }
    // Display settings do not affect the samples.
    assert_eq!(with(&["--set", "camera.exposure.ev100=3"]).code, 0);
    assert!(fs::read(&file).unwrap() == kept && fs::read(dir.join("a.exr")).unwrap() == picture);
    for (at, bytes) in [(5, 1), (kept.len() / 2, 1), (kept.len() - 3, 1), (0, 0)] {
        let mut broken = kept.clone();
        broken[at] ^= 0x40;
        broken.truncate(if bytes == 0 { 20 } else { broken.len() });
        fs::write(&file, &broken).unwrap();
        refused(&with(&[]), 4, &["a.exr.resume", "leave out --resume"]);
        assert!(fs::read(&file).unwrap() == broken, "the file was touched");
    }
    // Without --resume the picture starts over.
    let run = path(dir, &["-o", "a.exr", "--spp", "4"]);
    assert!(run.code == 0 && run.err.contains("a.exr.resume"), "{run:?}");
    assert!(!file.exists() && fs::read(dir.join("a.exr")).unwrap() == picture);
}

#[test]
fn target_errors_are_percents_with_adaptive_samples() {
    let dir = workplace();
    let dir = dir.path();
    for text in ["5%", "5"] {
        let run = path(
            dir,
            &["-o", "t.exr", "--target-error", text, "--spp", "4096", "--aov", "samples"],
        );
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
        let samples = exr_channel(&dir.join("t.exr"), "samples.V");
        let most = samples.iter().fold(0.0, |a: f32, b| a.max(*b));
        assert!(most < 4096.0 && samples.iter().all(|count| *count >= 64.0), "{most}");
    }
    for text in ["0", "-1", "nan", "inf", "%", "one"] {
        let run = path(dir, &["-o", "u.exr", "--target-error", text]);
        assert!(run.code == 2 && run.err.contains("--target-error"), "{run:?}");
    }
    if !cfg!(feature = "oidn") {
        refused(&path(dir, &["-o", "u.exr", "--denoise"]), 2, &["--features oidn"]);
    }
    refused(&path(dir, &["-o", "u.exr", "--size", "100000x100000"]), 2, &["--size"]);
    assert!(!dir.join("u.exr").exists());
}

#[test]
fn aovs_have_the_rasterizers_names_and_values() {
    let dir = workplace();
    let dir = dir.path();
    assert_eq!(path(dir, &["-o", "p.exr", "--spp", "1", "--aov", "all"]).code, 0);
    assert_eq!(
        path(dir, &["-o", "p.png", "--spp", "1", "--aov", "depth,bvh_cost,indirect_diffuse"]).code,
        0
    );
    assert!(
        ["depth", "bvh_cost", "indirect_diffuse"]
            .iter()
            .all(|name| dir.join(format!("p.{name}.png")).exists())
    );
    assert!(exr_channel(&dir.join("p.exr"), "bvh_cost.V").iter().all(|cost| *cost >= 1.0));
    if no_gpu("the raster renderer's outputs") {
        return;
    }
    let raster = ["render", "small.glb", "--size", "32x24", "-q", "-o", "r.exr", "--aov", "all"];
    assert_eq!(sunny16(dir, &raster, &[]).code, 0);
    let depth = exr_channel(&dir.join("r.exr"), "depth.Z");
    for (channel, step) in [
        ("base_color.R", 1.0 / 255.0),
        ("base_color.B", 1.0 / 255.0),
        ("metallic.V", 1.0 / 255.0),
        ("roughness.V", 1.0 / 255.0),
        ("normal.X", 2e-3),
        ("normal.Y", 2e-3),
        ("normal.Z", 2e-3),
        ("depth.Z", 1e-3),
        ("occlusion.V", 1.0 / 127.0),
        ("position.X", 1e-3),
        ("position.Y", 1e-3),
        ("position.Z", 1e-3),
    ] {
        let [ours, theirs] = ["p.exr", "r.exr"].map(|file| exr_channel(&dir.join(file), channel));
        let off = ours
            .iter()
            .zip(&theirs)
            .zip(&depth)
            .filter(|((a, b), z)| (**a - **b).abs() > step * z.max(1.0));
        // The sides of an edge may differ in a pixel whose center is close to it.
        let count = off.count();
        assert!(count <= 4 && theirs.iter().any(|v| *v != 0.0), "{channel}: {count} pixels differ");
    }
}

#[test]
fn denoising_brings_a_noisy_picture_nearer_to_a_converged_one() {
    if !cfg!(feature = "oidn") {
        println!(
            "skipped: built without the feature `oidn`, which needs Intel Open Image Denoise (docs/reference.md)"
        );
        return;
    }
    let dir = workplace();
    let dir = dir.path();
    // The noise is in the light reflected from the ball and the floor.
    for args in [
        &["-o", "noisy.exr", "--spp", "4", "--aov", "normal"][..],
        &["-o", "clean.exr", "--spp", "4", "--aov", "normal", "--denoise"],
        &["-o", "again.exr", "--spp", "4", "--aov", "normal", "--denoise"],
        &["-o", "truth.exr", "--spp", "2048", "--seed", "5"],
    ] {
        let run = path(dir, &[args, &["--size", "64x48"]].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    }
    let read = |file: &str, channel: &str| exr_channel(&dir.join(file), channel);
    let truth = read("truth.exr", "G");
    let error = |file: &str| {
        let off =
            read(file, "G").iter().zip(&truth).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        off / truth.len() as f64
    };
    let (noisy, clean) = (error("noisy.exr"), error("clean.exr"));
    println!("mean squared error: {noisy} before, {clean} after");
    assert!(clean < 0.5 * noisy, "{noisy} before, {clean} after");
    let mean = |file: &str| {
        read(file, "G").iter().map(|v| f64::from(*v)).sum::<f64>() / truth.len() as f64
    };
    assert!(
        (mean("clean.exr") / mean("noisy.exr") - 1.0).abs() < 0.02,
        "{} {}",
        mean("clean.exr"),
        mean("noisy.exr")
    );
    // AOVs stay as traced, and the same input gives the same picture.
    for layer in ["normal.X", "direct_diffuse.G", "variance.V"] {
        assert_eq!(read("noisy.exr", layer), read("clean.exr", layer), "{layer}");
    }
    assert_eq!(fs::read(dir.join("clean.exr")).unwrap(), fs::read(dir.join("again.exr")).unwrap());
}

/// No light passes from the corridor through the closed door and walls of 0.1 m: not a single path.
#[test]
fn the_room_behind_the_closed_door_is_dark() {
    let dir = workplace();
    let shot = |camera: &str, spp: &str| {
        let file = format!("{camera}.exr");
        let args = [
            "render",
            "builtin:corridor",
            "--renderer",
            "path",
            "-q",
            "--camera",
            camera,
            "--spp",
            spp,
        ];
        let run =
            sunny16(dir.path(), &[&args[..], &["--size", "32x24", "-o", &file]].concat(), &[]);
        assert_eq!(run.code, 0, "{run:?}");
        exr_channel(&dir.path().join(file), "G")
    };
    let (lit, dark) = (shot("Corridor", "4"), shot("Room", "64"));
    assert!(lit.iter().sum::<f32>() / lit.len() as f32 > 5.0, "{lit:?}");
    assert!(dark.iter().all(|nits| *nits == 0.0), "{dark:?}");
}

#[test]
fn built_in_scenes_are_named() {
    let dir = workplace();
    let run = sunny16(dir.path(), &["graph", "builtin:attic"], &[("VK_ICD_FILENAMES", "/none")]);
    refused(&run, 2, &["attic", "builtin:atrium", "builtin:corridor", "builtin:cornell"]);
}
