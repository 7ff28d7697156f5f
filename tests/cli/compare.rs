//! `sunny16 compare` on the command line: numbers, bounds, exit codes, files.

use std::path::Path;

use crate::common::{Folder, Run};
use sunny16::output::{self, ExrLayer};

const SIZE: [usize; 2] = [24, 16];

fn compare(dir: &Folder, arguments: &str) -> Run {
    dir.run(&format!("compare {arguments}"))
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
fn folder() -> Folder {
    let dir = Folder::empty();
    write_exr(&dir.at("a.exr"), SIZE, 1.0);
    write_exr(&dir.at("b.exr"), SIZE, 2.0);
    write_png(&dir.at("a.png"), 100);
    write_png(&dir.at("b.png"), 110);
    dir
}

/// Writes an EXR of one layer.
fn write_rgb(dir: &Folder, name: &str, [width, height]: [usize; 2], pixels: &[[f32; 4]]) {
    let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels };
    output::write_exr(&dir.at(name), width, height, 1.0, &[layer]).unwrap();
}

#[test]
fn twice_the_light_is_measured_and_bounded() {
    let dir = folder();
    let bounds = "--json n.json --max-stops 1.001 --max-bias 100%";
    compare(&dir, &format!("b.exr a.exr {bounds}")).ok().prints(&["+100.0000 %", "ok (at most 1)"]);
    let json = dir.json("n.json");
    let number = |name: &str| json["numbers"][name].as_f64().unwrap();
    assert!((number("bias") - 1.0).abs() < 1e-6);
    assert!((number("stops_mean") - 1.0).abs() < 1e-6);
    assert!((number("block_rms") - 1.0).abs() < 1e-6);
    assert!(json["numbers"]["flip"]["mean"].as_f64().unwrap() > 0.05);
    assert!(json["numbers"]["flip_hdr"]["mean"].as_f64().unwrap() > 0.05);
    for bound in [
        "--max-bias 0.99",
        "--max-flip 0.01",
        "--max-flip-hdr 1%",
        "--max-block-rms 0.5",
        "--max-block-worst 0.5",
        "--max-rmse 0.9",
        "--max-stops 0.99",
        "--min-psnr 60",
    ] {
        let done = compare(&dir, &format!("b.exr a.exr -q {bound}"));
        done.fails(3, &["1 of 1"]);
        assert!(done.out.contains("BROKEN") && done.out.lines().count() == 1, "{done:?}");
    }
    compare(&dir, "a.exr a.exr --max-flip 0 --max-rmse 0 --min-psnr 200").ok();
}

#[test]
fn exr_layers_and_display_pictures_are_compared() {
    let dir = folder();
    compare(&dir, "b.exr:half a.exr --max-rmse 1e-9").ok();
    // 10 codes in one channel of three: 20 log10(255 / 10) + 10 log10(3).
    let done = compare(&dir, "b.png a.png --max-flip 0.5").ok().prints(&["32.902 dB"]);
    assert!(!done.out.contains("HDR-FLIP"));
}

#[test]
fn incomparable_pictures_are_one_line_errors_with_a_remedy() {
    let dir = folder();
    write_exr(&dir.at("small.exr"), [8, 8], 1.0);
    dir.write("broken.exr", &dir.read("a.exr")[..300]);
    dir.write("text.png", "no picture");
    for (arguments, part, code) in [
        ("a.exr small.exr", "8x8", 2),
        ("a.exr a.png", "--exposure", 2),
        ("a.exr none.exr", "none.exr", 4),
        ("a.exr broken.exr", "broken.exr", 4),
        ("text.png a.exr", "text.png", 4),
        ("a.exr:none a.exr", "'half'", 4),
        ("a.png:half a.exr", "a.png:half", 4),
        ("a.exr b.exr --html r.txt", ".html", 2),
        ("a.exr b.exr --html no/r.html", "no/r.html", 5),
        ("a.exr b.exr --json a.exr", "a.exr", 2),
        ("a.exr b.exr --exposure bright", "EV100", 2),
        ("a.exr b.exr --tone-mapper film", "pbr-neutral", 2),
        ("a.exr b.exr --pixels-per-degree 0", "67", 2),
    ] {
        compare(&dir, arguments).fails(code, &[part]);
    }
    assert_eq!(compare(&dir, "a.exr b.exr --max-flip -1").code, 2);
    assert!(dir.listing().iter().all(|name| !name.ends_with(".tmp")));
}

#[test]
fn scene_and_display_pictures_compare_by_exposure() {
    let dir = folder();
    for exposure in ["auto", "4.5", "-2"] {
        let options = format!("--exposure {exposure} --tone-mapper agx");
        compare(&dir, &format!("a.png a.exr {options}")).ok().prints(&["of white"]);
    }
}

#[test]
fn nan_pixels_violate_bounds() {
    let dir = folder();
    let mut pixels = vec![[1.0f32; 4]; 4];
    write_rgb(&dir, "good.exr", [2, 2], &pixels);
    pixels[2][1] = f32::NAN;
    write_rgb(&dir, "bad.exr", [2, 2], &pixels);
    compare(&dir, "bad.exr good.exr").ok().prints(&["1 in the test, 0 in the reference"]);
    assert_eq!(compare(&dir, "bad.exr good.exr --max-bias 9").code, 3);
    compare(&dir, "bad.exr bad.exr --max-bias 0").ok().prints(&["the same in both"]);
}

/// Every bound, at its strictest.
const ALL: [&str; 8] = [
    "--max-bias 0",
    "--max-rmse 0",
    "--max-flip 0",
    "--max-flip-hdr 0",
    "--max-block-rms 0",
    "--max-block-worst 0",
    "--max-stops 0",
    "--min-psnr 300",
];

#[test]
fn equal_pictures_hold_every_bound() {
    let dir = folder();
    let write = |name: &str, value: f32| {
        write_rgb(&dir, name, [11, 9], &[[value, value, value, 1.0]; 99]);
    };
    for value in [0.0, -1.0, 1e-30, 3e38] {
        write("x.exr", value);
        for more in ["", "--skip-edges", "--map m.png --map-kind stops"] {
            let done = compare(&dir, &format!("x.exr x.exr {} {more}", ALL.join(" "))).ok();
            assert!(!done.out.to_lowercase().contains("nan"), "{}", done.out);
        }
    }
    // Display pictures, which have no HDR-FLIP if they differ.
    compare(&dir, &format!("m.png m.png {}", ALL.join(" "))).ok();
    write("black.exr", 0.0);
    write("gray.exr", 1.0);
    for pair in ["black.exr gray.exr", "gray.exr black.exr"] {
        for bound in ALL {
            assert_eq!(compare(&dir, &format!("{pair} {bound}")).code, 3, "{pair} {bound}");
        }
    }
}

#[test]
fn maps_and_reports_are_written() {
    let dir = folder();
    for (kind, range) in [("flip", ""), ("stops", "--map-range 2"), ("relative", "--map-range 50%")]
    {
        let map = format!("--map {kind}.png --map-kind {kind}");
        compare(&dir, &format!("b.exr a.exr {map} {range}")).ok();
        let map = dir.rgb8(&format!("{kind}.png"));
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
    let done = compare(&dir, "b.exr a.exr --html r.html --max-flip 0 --skip-edges");
    assert_eq!(done.code, 3, "a report is written where a bound breaks: {done:?}");
    assert!(done.out.contains("r.html: HTML report"), "{done:?}");
    let html = dir.text("r.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    // The inputs, two pictures, two kinds of FLIP, the script.
    assert_eq!(html.matches("<script").count(), 6);
    assert!(html.contains("class=\"bad\"") && !html.contains("http:") && !html.contains("https:"));
}
