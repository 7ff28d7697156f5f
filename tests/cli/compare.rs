//! `sunny16 compare` on the command line: numbers, bounds, exit codes, files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use sunny16::output::{self, ExrLayer};

const SIZE: [usize; 2] = [24, 16];

fn compare(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sunny16"))
        .current_dir(dir)
        .arg("compare")
        .args(arguments)
        .output()
        .unwrap()
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The only line of standard error.
fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn write_exr(file: &Path, [width, height]: [usize; 2], factor: f32) {
    let pixels: Vec<[f32; 4]> = (0..width * height)
        .map(|i| {
            [10.0 + (i % width) as f32, 20.0, 5.0 + (i / width) as f32, 1.0].map(|v| v * factor)
        })
        .collect();
    let half: Vec<[f32; 4]> = pixels.iter().map(|pixel| pixel.map(|v| v * 0.5)).collect();
    let layers = [
        ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels },
        ExrLayer { name: "half", channels: &["R", "G", "B"], pixels: &half },
    ];
    output::write_exr(file, width, height, 1.0, &layers).unwrap();
}

fn write_png(file: &Path, value: u8) {
    let rgba: Vec<u8> =
        (0..SIZE[0] * SIZE[1]).flat_map(|i| [value, (i % 256) as u8, 40, 255]).collect();
    output::write_png(file, SIZE[0], SIZE[1], &rgba).unwrap();
}

/// A folder with two EXRs, one twice as bright, and two PNGs.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_path_buf();
    write_exr(&path.join("a.exr"), SIZE, 1.0);
    write_exr(&path.join("b.exr"), SIZE, 2.0);
    write_png(&path.join("a.png"), 100);
    write_png(&path.join("b.png"), 110);
    (dir, path)
}

#[test]
fn twice_the_light_is_measured_and_bounded() {
    let (_keep, dir) = folder();
    let done = compare(
        &dir,
        &["b.exr", "a.exr", "--json", "n.json", "--max-stops", "1.001", "--max-bias", "100%"],
    );
    assert_eq!(code(&done), Some(0), "{done:?}");
    let text = stdout(&done);
    assert!(text.contains("+100.0000 %") && text.contains("ok (at most 1)"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.join("n.json")).unwrap()).unwrap();
    let number = |name: &str| json["numbers"][name].as_f64().unwrap();
    assert!((number("bias") - 1.0).abs() < 1e-6);
    assert!((number("stops_mean") - 1.0).abs() < 1e-6);
    assert!((number("block_rms") - 1.0).abs() < 1e-6);
    assert!(json["numbers"]["flip"]["mean"].as_f64().unwrap() > 0.05);
    assert!(json["numbers"]["flip_hdr"]["mean"].as_f64().unwrap() > 0.05);
    for bound in [
        ["--max-bias", "0.99"],
        ["--max-flip", "0.01"],
        ["--max-flip-hdr", "1%"],
        ["--max-block-rms", "0.5"],
        ["--max-block-worst", "0.5"],
        ["--max-rmse", "0.9"],
        ["--max-stops", "0.99"],
        ["--min-psnr", "60"],
    ] {
        let done = compare(&dir, &["b.exr", "a.exr", "-q", bound[0], bound[1]]);
        assert_eq!(code(&done), Some(3), "{bound:?} {done:?}");
        assert!(stdout(&done).contains("BROKEN") && stdout(&done).lines().count() == 1, "{done:?}");
        assert!(error(&done).contains("1 of 1 bounds"), "{done:?}");
    }
    let alike = compare(
        &dir,
        &["a.exr", "a.exr", "--max-flip", "0", "--max-rmse", "0", "--min-psnr", "200"],
    );
    assert_eq!(code(&alike), Some(0), "{alike:?}");
}

#[test]
fn exr_layers_and_display_pictures_are_compared() {
    let (_keep, dir) = folder();
    let done = compare(&dir, &["b.exr:half", "a.exr", "--max-rmse", "1e-9"]);
    assert_eq!(code(&done), Some(0), "{done:?}");
    let done = compare(&dir, &["b.png", "a.png", "--max-flip", "0.5"]);
    assert_eq!(code(&done), Some(0), "{done:?}");
    // 10 codes in one channel of three: 20 log10(255 / 10) + 10 log10(3).
    assert!(stdout(&done).contains("32.902 dB"), "{}", stdout(&done));
    assert!(!stdout(&done).contains("HDR-FLIP"));
}

#[test]
fn incomparable_pictures_are_one_line_errors_with_a_remedy() {
    let (_keep, dir) = folder();
    write_exr(&dir.join("small.exr"), [8, 8], 1.0);
    fs::write(dir.join("broken.exr"), &fs::read(dir.join("a.exr")).unwrap()[..300]).unwrap();
    fs::write(dir.join("text.png"), "no picture").unwrap();
    for (arguments, wanted, wanted_code) in [
        (&["a.exr", "small.exr"][..], "scale both", 2),
        (&["a.exr", "a.png"], "--exposure", 2),
        (&["a.exr", "none.exr"], "none.exr", 4),
        (&["a.exr", "broken.exr"], "truncated", 4),
        (&["text.png", "a.exr"], "text that begins with 'no picture'", 4),
        (&["a.exr:none", "a.exr"], "'half'", 4),
        (&["a.png:half", "a.exr"], "a.png:half", 4),
        (&["a.exr", "b.exr", "--html", "r.txt"], "ends in .html", 2),
        (&["a.exr", "b.exr", "--html", "no/r.html"], "no/r.html", 5),
        (&["a.exr", "b.exr", "--json", "a.exr"], "choose another name", 2),
        (&["a.exr", "b.exr", "--exposure", "bright"], "EV100", 2),
        (&["a.exr", "b.exr", "--tone-mapper", "film"], "pbr-neutral", 2),
        (&["a.exr", "b.exr", "--pixels-per-degree", "0"], "67", 2),
    ] {
        let done = compare(&dir, arguments);
        assert_eq!(code(&done), Some(wanted_code), "{arguments:?} {done:?}");
        assert!(error(&done).contains(wanted), "{arguments:?} {}", error(&done));
    }
    assert_eq!(code(&compare(&dir, &["a.exr", "b.exr", "--max-flip", "-1"])), Some(2));
    assert!(
        fs::read_dir(&dir)
            .unwrap()
            .flatten()
            .all(|file| !file.file_name().to_string_lossy().ends_with(".tmp"))
    );
}

#[test]
fn scene_and_display_pictures_compare_by_exposure() {
    let (_keep, dir) = folder();
    for exposure in ["auto", "4.5", "-2"] {
        let done =
            compare(&dir, &["a.png", "a.exr", "--exposure", exposure, "--tone-mapper", "agx"]);
        assert_eq!(code(&done), Some(0), "{done:?}");
        assert!(stdout(&done).contains("of white"));
    }
}

#[test]
fn nan_pixels_violate_bounds() {
    let (_keep, dir) = folder();
    let mut pixels = vec![[1.0f32; 4]; 4];
    let write = |name: &str, pixels: &[[f32; 4]]| {
        let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels };
        output::write_exr(&dir.join(name), 2, 2, 1.0, &[layer]).unwrap();
    };
    write("good.exr", &pixels);
    pixels[2][1] = f32::NAN;
    write("bad.exr", &pixels);
    let done = compare(&dir, &["bad.exr", "good.exr"]);
    assert_eq!(code(&done), Some(0), "{done:?}");
    assert!(stdout(&done).contains("1 in the test, 0 in the reference"), "{}", stdout(&done));
    assert_eq!(code(&compare(&dir, &["bad.exr", "good.exr", "--max-bias", "9"])), Some(3));
    let same = compare(&dir, &["bad.exr", "bad.exr", "--max-bias", "0"]);
    assert_eq!(code(&same), Some(0), "{same:?}");
    assert!(stdout(&same).contains("the same in both"), "{}", stdout(&same));
}

/// Every bound, at its strictest.
const ALL: [&str; 16] = [
    "--max-bias",
    "0",
    "--max-rmse",
    "0",
    "--max-flip",
    "0",
    "--max-flip-hdr",
    "0",
    "--max-block-rms",
    "0",
    "--max-block-worst",
    "0",
    "--max-stops",
    "0",
    "--min-psnr",
    "300",
];

#[test]
fn equal_pictures_hold_every_bound() {
    let (_keep, dir) = folder();
    let write = |name: &str, value: f32| {
        let layer = ExrLayer {
            name: "",
            channels: &["R", "G", "B"],
            pixels: &[[value, value, value, 1.0]; 99],
        };
        output::write_exr(&dir.join(name), 11, 9, 1.0, &[layer]).unwrap();
    };
    for value in [0.0, -1.0, 1e-30, 3e38] {
        write("x.exr", value);
        for more in [&[][..], &["--skip-edges"], &["--map", "m.png", "--map-kind", "stops"]] {
            let done = compare(&dir, &[&["x.exr", "x.exr"], &ALL[..], more].concat());
            assert_eq!(code(&done), Some(0), "{value} {more:?}: {done:?}");
            assert!(!stdout(&done).to_lowercase().contains("nan"), "{}", stdout(&done));
        }
    }
    write("black.exr", 0.0);
    write("gray.exr", 1.0);
    for (test, reference) in [("black.exr", "gray.exr"), ("gray.exr", "black.exr")] {
        for bound in ALL.chunks(2) {
            let done = compare(&dir, &[test, reference, bound[0], bound[1]]);
            assert_eq!(code(&done), Some(3), "{test} {reference} {bound:?}: {done:?}");
        }
    }
}

#[test]
fn maps_and_reports_are_written() {
    let (_keep, dir) = folder();
    for (kind, range) in [("flip", None), ("stops", Some("2")), ("relative", Some("50%"))] {
        let map = format!("{kind}.png");
        let mut arguments = vec!["b.exr", "a.exr", "--map", &map, "--map-kind", kind];
        arguments.extend(range.iter().flat_map(|range| ["--map-range", range]));
        let done = compare(&dir, &arguments);
        assert_eq!(code(&done), Some(0), "{done:?}");
        let map = image::open(dir.join(map)).unwrap().into_rgb8();
        assert_eq!(map.dimensions(), (SIZE[0] as u32, SIZE[1] as u32));
        match kind {
            // One stop of two: three quarters of the color scale, code by code as in
            // src/compare/error_colormap.rs.
            "stops" => assert_eq!(map.get_pixel(3, 3).0, [190, 75, 15]),
            // 100 % is beyond 50 %: the end of the scale.
            "relative" => assert_eq!(map.get_pixel(3, 3).0, [252, 253, 191]),
            _ => assert_ne!(map.get_pixel(3, 3).0, [0, 0, 4]),
        }
    }
    let done =
        compare(&dir, &["b.exr", "a.exr", "--html", "r.html", "--max-flip", "0", "--skip-edges"]);
    assert_eq!(code(&done), Some(3), "a report is written where a bound breaks: {done:?}");
    assert!(stdout(&done).contains("r.html: HTML report"), "{done:?}");
    let html = fs::read_to_string(dir.join("r.html")).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    // The inputs, two pictures, two kinds of FLIP, the script.
    assert_eq!(html.matches("<script").count(), 6);
    assert!(html.contains("class=\"bad\"") && !html.contains("http:") && !html.contains("https:"));
}
