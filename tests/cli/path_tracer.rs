//! `render --renderer path`: interrupt, kill and resume; its outputs compared with the
//! rasterizer's.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::common::{Arguments, Folder, Run, no_gpu};
use sunny16::image_io::{DecodedImage, RendererName, check_size};

fn folder() -> Folder {
    Folder::with_scene(4)
}

const PATH: &str = "render small.glb --renderer path -q";

fn path(dir: &Folder, more: &str) -> Run {
    let size = if more.contains("--size") { "" } else { "--size 32x24" };
    dir.run_on_host(&format!("{PATH} {more} {size}"))
}

/// A long render, once its checkpoint is on disk.
fn begun(dir: &Folder) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sunny16"))
        .args(PATH.words())
        .args("-o a.exr --size 32x24 --spp 10000000 --save-every 0".words())
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !dir.has("a.exr.resume") {
        assert!(child.try_wait().unwrap().is_none(), "it ended before a checkpoint");
        sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn resumed_pictures_equal_uninterrupted_ones() {
    let dir = folder();
    path(&dir, "-o whole.exr --spp 512").ok();
    assert!(!dir.has("whole.exr.resume"), "a finished picture leaves nothing");
    let whole = dir.read("whole.exr");

    let child = begun(&dir);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.lines().count() == 1 && err.contains("--resume") && err.contains("a.exr"), "{err}");
    let partial = dir.channel("a.exr", "G");
    assert!(partial.iter().any(|v| *v > 0.0), "no picture of what there was");
    // Resume with fewer samples than the total, then again.
    let resume = |spp: u32| path(&dir, &format!("-o a.exr --resume --spp {spp}"));
    resume(300).silent();
    resume(512).silent();
    assert!(dir.read("a.exr") == whole, "an interrupted picture differs");
    fs::remove_file(dir.at("a.exr.resume")).unwrap();

    let mut child = begun(&dir);
    child.kill().unwrap();
    child.wait().unwrap();
    resume(512).ok();
    assert!(dir.read("a.exr") == whole, "a killed picture differs");
}

#[test]
fn checkpoints_of_other_renders_are_rejected_and_kept() {
    let dir = folder();
    let with = |more: &str| path(&dir, &format!("-o a.exr --spp 4 --resume {more}"));
    with("").ok();
    let (kept, picture) = (dir.read("a.exr.resume"), dir.read("a.exr"));
    with("--size 24x32").fails(4, &["a.exr.resume", "32x24", "--resume"]);
    for more in [
        "--seed 7",
        "--bounces 1",
        "--target-error 1%",
        "--set lights.bulb.lumens=500",
        "--set camera.lens.focus=1",
    ] {
        with(more).fails(4, &["a.exr.resume", "--resume"]);
    }
    // Display settings do not affect the samples.
    let green = dir.channel("a.exr", "G");
    with("--set camera.exposure.ev100=3").ok();
    assert!(dir.read("a.exr.resume") == kept && dir.channel("a.exr", "G") == green);
    assert!(dir.read("a.exr") != picture, "the metadata have the exposure");
    with("").ok();
    assert!(dir.read("a.exr") == picture);
    for (at, bytes) in [(5, 1), (kept.len() / 2, 1), (kept.len() - 3, 1), (0, 0)] {
        let mut broken = kept.clone();
        broken[at] ^= 0x40;
        broken.truncate(if bytes == 0 { 20 } else { broken.len() });
        dir.write("a.exr.resume", &broken);
        with("").fails(4, &["a.exr.resume", "leave out --resume"]);
        assert!(dir.read("a.exr.resume") == broken, "the file was touched");
    }
    // Without --resume the picture starts over.
    let run = path(&dir, "-o a.exr --spp 4").ok();
    assert!(run.err.contains("a.exr.resume"), "{run:?}");
    assert!(!dir.has("a.exr.resume") && dir.read("a.exr") == picture);
}

#[test]
fn metadata_say_what_is_in_the_picture() {
    let dir = folder();
    let looks = "--set camera.lens.focus=1 --set effects.bloom.enabled=true --set passes.tonemap.operator=agx";
    let metadata = |options: &str| {
        path(&dir, &format!("-o a.png --spp 2 {looks} {options}")).ok();
        let bytes = dir.read("a.png");
        DecodedImage::decode(&bytes, None, &check_size).unwrap().metadata.unwrap()
    };
    let full = metadata("--seed 3");
    assert_eq!((full.renderer, full.seed), (Some(RendererName::Path), Some(3)));
    assert_eq!((full.samples, full.tone_mapper.as_deref()), (Some(2.0), Some("agx")));
    assert_eq!((full.light.indirect, full.light.bounces), (Some(true), None));
    assert!(full.left_out.is_empty() && full.ev100.is_some() && full.scene.is_some());
    let direct = metadata("--bounces 1 --for-compare");
    assert_eq!((direct.light.indirect, direct.light.bounces), (Some(false), Some(1)));
    for name in ["bloom", "dither"] {
        assert!(direct.left_out.iter().any(|left| left == name), "{direct:?}");
    }
}

#[test]
fn target_errors_are_percents_with_adaptive_samples() {
    let dir = folder();
    for text in ["5%", "5"] {
        let options = format!("--target-error {text} --spp 4096 --aov samples");
        path(&dir, &format!("-o t.exr {options}")).silent();
        let samples = dir.channel("t.exr", "samples.V");
        let most = samples.iter().fold(0.0, |a: f32, b| a.max(*b));
        assert!(most < 4096.0 && samples.iter().all(|count| *count >= 64.0), "{most}");
    }
    for text in ["0", "-1", "nan", "inf", "%", "one"] {
        let run = path(&dir, &format!("-o u.exr --target-error {text}"));
        assert!(run.code == 2 && run.err.contains("--target-error"), "{run:?}");
    }
    if !cfg!(feature = "oidn") {
        path(&dir, "-o u.exr --denoise").fails(2, &["--features oidn"]);
    }
    path(&dir, "-o u.exr --size 100000x100000").fails(2, &["--size"]);
    assert!(!dir.has("u.exr"));
}

#[test]
fn aovs_have_the_rasterizers_names_and_values() {
    let dir = folder();
    path(&dir, "-o p.exr --spp 1 --aov all").ok();
    path(&dir, "-o p.png --spp 1 --aov depth,bvh_cost,indirect_diffuse").ok();
    for name in ["depth", "bvh_cost", "indirect_diffuse"] {
        assert!(dir.has(&format!("p.{name}.png")), "{name}");
    }
    assert!(dir.channel("p.exr", "bvh_cost.V").iter().all(|cost| *cost >= 1.0));
    if no_gpu("the raster renderer's outputs") {
        return;
    }
    dir.run("render small.glb --size 32x24 -q -o r.exr --aov all").ok();
    let depth = dir.channel("r.exr", "depth.Z");
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
        let [ours, theirs] = ["p.exr", "r.exr"].map(|file| dir.channel(file, channel));
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
    let dir = folder();
    // The noise is in the light reflected from the ball and the floor.
    for args in [
        "-o noisy.exr --spp 4 --aov normal",
        "-o clean.exr --spp 4 --aov normal --denoise",
        "-o again.exr --spp 4 --aov normal --denoise",
        "-o truth.exr --spp 2048 --seed 5",
    ] {
        path(&dir, &format!("{args} --size 64x48")).silent();
    }
    let read = |file: &str, channel: &str| dir.channel(file, channel);
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
    assert_eq!(dir.read("clean.exr"), dir.read("again.exr"));
}

/// No light passes from the corridor through the closed door and walls of 0.1 m: not a single path.
#[test]
fn the_room_behind_the_closed_door_is_dark() {
    let dir = Folder::empty();
    let shot = |camera: &str, spp: u32| {
        let picture = format!("--camera {camera} --spp {spp} --size 32x24 -o {camera}.exr");
        dir.run(&format!("render builtin:corridor --renderer path -q {picture}")).ok();
        dir.channel(&format!("{camera}.exr"), "G")
    };
    let (lit, dark) = (shot("Corridor", 4), shot("Room", 64));
    assert!(lit.iter().sum::<f32>() / lit.len() as f32 > 5.0, "{lit:?}");
    assert!(dark.iter().all(|nits| *nits == 0.0), "{dark:?}");
}
