//! Sets of pictures: values of properties, cameras, turntables; contact sheets and videos.

use std::os::unix::fs::PermissionsExt;

use crate::common::{Folder, NO_DEVICE, Run, sunny16};

/// Path traced pictures of `small.glb` with a second camera, without a device.
fn trace(dir: &Folder, more: &str) -> Run {
    with_path(dir, more, &[])
}

/// As [`trace`], with further environment variables.
fn with_path(dir: &Folder, more: &str, environment: &[(&str, &str)]) -> Run {
    let fixed = "render small.glb --renderer path --size 32x16 --spp 1";
    let words: Vec<&str> = fixed.split(' ').chain(more.split_whitespace()).collect();
    sunny16(dir.path(), &words, &[&NO_DEVICE[..], environment].concat())
}

fn scene() -> Folder {
    let dir = Folder::with_scene(3);
    let camera = "[cameras.Side]\nadd = true\nposition = [4, 1, 0]\ntarget = [0, 0, 0]\n";
    dir.write("small.look.toml", camera);
    dir
}

/// A program named ffmpeg in a folder of its own.
fn program(dir: &Folder, script: &str) -> String {
    let folder = dir.at("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("ffmpeg");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn a_matrix_renders_all_combinations_as_single_runs_do() {
    let dir = scene();
    let axes = "--matrix camera.exposure.ev100=3,5 --matrix lights.bulb.lumens=100,900";
    let run = trace(&dir, &format!("-o set/a.exr {axes} --exposed")).ok();
    assert!(run.out.contains("4 pictures in ") && !run.out.contains("BVH"), "{run:?}");
    for (ev100, lumens) in [(3, 100), (3, 900), (5, 100), (5, 900)] {
        let values =
            format!("--set camera.exposure.ev100={ev100} --set lights.bulb.lumens={lumens}");
        trace(&dir, &format!("-o one.exr {values} --exposed")).ok();
        let made = dir.read(&format!("set/a.ev100={ev100}.lumens={lumens}.exr"));
        assert!(made == dir.read("one.exr"), "{values}");
    }
}

#[test]
fn all_cameras_are_rendered_with_a_sheet() {
    let dir = scene();
    let sheets = "--contact-sheet sheet.png --contact-sheet html/sheet.html";
    trace(&dir, &format!("-o a.png --all-cameras {sheets}")).ok();
    trace(&dir, "-o side.png --camera Side").ok();
    assert!(dir.read("a.Side.png") == dir.read("side.png"));
    let page = dir.text("html/sheet.html");
    assert!(page.contains("<figcaption>Side</figcaption>"), "{page}");
    assert!(page.contains("src=\"../a.Side.png\""), "{page}");
    let cameras = page.matches("<figure>").count();
    assert!(cameras >= 2);
    // Thumbnails of small pictures have their size.
    let (sheet, side) = (dir.rgb8("sheet.png"), dir.rgb8("side.png"));
    assert!(sheet.width() >= 32 && sheet.height() >= 16 + 14);
    let is_at = |x: u32, y: u32| {
        side.enumerate_pixels().all(|(i, j, pixel)| {
            sheet.get_pixel_checked(x + i, y + j).is_some_and(|found| found == pixel)
        })
    };
    let places = (0..sheet.height()).flat_map(|y| (0..sheet.width()).map(move |x| (x, y)));
    assert!(places.into_iter().any(|(x, y)| is_at(x, y)), "the picture is on the sheet");
}

#[test]
fn a_turntable_starts_with_the_still() {
    let dir = scene();
    trace(&dir, "-o turn_##.png --turntable 4 --contact-sheet turn.html").ok();
    trace(&dir, "-o still.png").ok();
    let view = |number: u32| dir.read(&format!("turn_{number:02}.png"));
    assert!(view(0) == dir.read("still.png"));
    assert!(view(1) != view(0) && view(2) != view(0) && view(3) != view(1));
    assert!(!dir.has("turn_04.png") && dir.text("turn.html").contains(">270 degrees<"));
    // A part of it.
    trace(&dir, "-o part.png --turntable 4 --frames 2-3").ok();
    assert!(dir.read("part.0003.png") == view(3) && !dir.has("part.0001.png"));
}

#[test]
fn videos_are_made_by_the_program_that_is_found() {
    let dir = scene();
    let video = "-o v.png --turntable 2 --video out/v.mp4";
    let path = program(&dir, "for last; do :; done; echo \"$@\" > arguments; cat > \"$last\"");
    with_path(&dir, &format!("{video} --fps 12"), &[("PATH", &path)]).ok();
    let both = [dir.read("v.0000.png"), dir.read("v.0001.png")].concat();
    assert!(dir.read("out/v.mp4") == both);
    let arguments = dir.text("arguments");
    assert!(arguments.contains("-framerate 12 ") && arguments.contains("-colorspace bt709 "));
    // A failure leaves the video as it was.
    let path = program(&dir, "cat > /dev/null; echo no such encoder >&2; exit 3");
    let run = with_path(&dir, video, &[("PATH", &path)]);
    run.ends_with_error(5, &["out/v.mp4", "no such encoder", "repeat", "--skip-existing"]);
    assert!(dir.read("out/v.mp4") == both);
    let files = std::fs::read_dir(dir.at("out")).unwrap().count();
    assert_eq!(files, 1, "no unfinished video is left");
    let none = with_path(&dir, video, &[("PATH", "/nonexistent")]);
    none.fails(2, &["--video out/v.mp4", "ffmpeg is not in PATH", "install"]);
}

#[test]
fn sheets_of_unreadable_pictures_name_them() {
    let dir = scene();
    dir.write("a.0000.png", "no picture");
    let run = trace(&dir, "-o a.png --turntable 1 --skip-existing --contact-sheet s.png");
    run.ends_with_error(4, &["a.0000.png", "delete the picture", "--skip-existing"]);
    assert!(!dir.has("s.png"));
}

#[test]
fn a_set_of_one_is_counted() {
    let dir = scene();
    let options = "-o a.png --matrix camera.exposure.ev100=3";
    let run = trace(&dir, options).ok();
    assert!(run.out.contains("1 picture in "), "{run:?}");
    let run = trace(&dir, &format!("{options} --skip-existing")).ok();
    assert!(run.out.contains("--skip-existing: a.ev100=3.png exists"), "{run:?}");
    let folder = "--contact-sheet new/s.html --all-cameras";
    let run = dir.run_on_host(&format!("render none.glb --renderer path -o b.png {folder}"));
    assert!(run.code == 4 && !dir.has("new"), "{run:?}");
    let folder = "--contact-sheet new/s.html --turntable 2";
    let run = dir.run_on_host(&format!("render none.glb --renderer path -o b.png {folder}"));
    assert!(run.code == 4 && !dir.has("new"), "{run:?}");
}

#[test]
fn outputs_do_not_replace_each_other() {
    let dir = scene();
    let look = dir.text("small.look.toml");
    let second = look.replace("cameras.Side", "cameras.\"Side.normal\"");
    dir.write("small.look.toml", format!("{look}{second}"));
    for (options, parts) in [
        ("--contact-sheet a.png", &["--contact-sheet a.png", "also a picture of this run"][..]),
        ("--frames 2 --contact-sheet ./a.0001.png", &["also a picture", "choose another name"]),
        ("--aov normal --contact-sheet a.normal.png", &["also an AOV file"]),
        ("--contact-sheet s.html --contact-sheet s.html", &["also a contact sheet"]),
        ("--all-cameras --aov normal", &["a.Side.normal.png is also", "--aov"]),
    ] {
        let before = dir.listing();
        trace(&dir, &format!("-o a.png {options}")).fails(2, parts);
        assert_eq!(dir.listing(), before, "{options}");
    }
    let path = program(&dir, "exit 1");
    let video = "-o a.png --frames 2 --video a.0000.png";
    let run = with_path(&dir, video, &[("PATH", &path)]);
    run.fails(2, &["--video a.0000.png", "also a picture of this run"]);
}

#[test]
fn invalid_sets_are_rejected_before_the_first_picture() {
    let dir = scene();
    for (options, parts) in [
        ("--matrix lights.bulb.lumens", &["--matrix", "PATH=VALUE"][..]),
        ("--matrix lights.bulb.lumens=1,1", &["given twice"]),
        (
            "--matrix lights.bulb.lumens=1,2 --matrix lights.bulb.lumens=3,4",
            &["--matrix lights.bulb.lumens is given twice"],
        ),
        (
            "--matrix lights.bulb.lumens=1,2 --frames 600000",
            &["2 members of 600000 pictures", "at most 1000000"],
        ),
        ("--matrix lights.bulb.lumens=100,none", &["lights.bulb.lumens=none"]),
        ("--matrix lights.bulb.lumen=100,200", &["lights.bulb.lumens"]),
        ("--all-cameras --camera Side", &["--camera"]),
        ("--turntable 0", &["--turntable"]),
        ("--turntable 4 --warm-up 3", &["--warm-up"]),
        ("--contact-sheet a.txt", &["a.txt", ".png or .html"]),
        ("--video v.mp4", &["--frames or --turntable"]),
        ("--turntable 300 --contact-sheet s.png", &["at most 256", ".html"]),
        ("--frames 2 --video v.mp4 --all-cameras", &["--video"]),
    ] {
        let before = dir.listing();
        trace(&dir, &format!("-o a.png {options}")).fails(2, parts);
        assert_eq!(dir.listing(), before, "{options}");
    }
    let exr = trace(&dir, "-o a.exr --turntable 4 --contact-sheet s.png");
    exr.fails(2, &["--contact-sheet", "a.exr", ".png"]);
}
