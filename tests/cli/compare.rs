//! `sunny16 compare` on the command line: numbers, bounds, exit codes, files.

use std::path::Path;

use crate::common::{Folder, Run};
use sunny16::{
    image_io::{LightPasses, RenderMetadata, RendererName},
    output::{self, ExrLayer},
};

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

/// Writes an EXR of equal pixels, with layers of equal pixels and metadata.
fn write_rendered(
    dir: &Folder,
    name: &str,
    value: f32,
    layers: &[(&str, f32)],
    by: &RenderMetadata,
) {
    let flat = |value: f32| vec![[value, value, value, 1.0]; SIZE[0] * SIZE[1]];
    let pixels: Vec<_> = layers.iter().map(|(_, value)| flat(*value)).collect();
    let main = flat(value);
    let rgb: &[&str] = &["R", "G", "B"];
    let mut list = vec![ExrLayer { name: "", channels: rgb, pixels: &main }];
    list.extend(layers.iter().zip(&pixels).map(|((name, _), pixels)| ExrLayer {
        name,
        channels: if *name == "half_difference" { &["V"] } else { rgb },
        pixels,
    }));
    output::write_exr_with(&dir.at(name), SIZE, 1.0, &list, Some(by)).unwrap();
}

/// Metadata of a path traced picture.
fn traced() -> RenderMetadata {
    let light = LightPasses { indirect: Some(true), ..LightPasses::default() };
    RenderMetadata {
        renderer: Some(RendererName::Path),
        ev100: Some(5.0),
        tone_mapper: Some("agx".into()),
        white_balance: Some([0.9, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.1]),
        light,
        ..RenderMetadata::default()
    }
}

#[test]
fn the_view_comes_from_metadata_unless_options_override() {
    let dir = folder();
    write_rendered(&dir, "t.exr", 10.0, &[], &RenderMetadata { ev100: Some(7.0), ..traced() });
    write_rendered(&dir, "r.exr", 11.0, &[], &traced());
    let view = |pair: &str, options: &str| {
        compare(&dir, &format!("{pair} --json n.json {options}")).ok();
        let json = dir.json("n.json");
        let flip = json["numbers"]["flip"]["mean"].as_f64().unwrap();
        (json["numbers"]["ev100"].as_f64(), json["view"].as_str().map(str::to_owned), flip)
    };
    let (ev100, text, by_metadata) = view("t.exr r.exr", "");
    let text = text.unwrap();
    assert_eq!(ev100, Some(5.0), "the reference's");
    assert!(text.contains("agx") && text.contains("white balance (metadata of r.exr)"), "{text}");
    let given = "--exposure 3 --tone-mapper linear --white-balance none";
    let (ev100, text, by_options) = view("t.exr r.exr", given);
    assert!(ev100 == Some(3.0) && text.unwrap().contains("linear (--tone-mapper)"));
    assert!((by_metadata - by_options).abs() > 1e-4);
    let (auto, _, _) = view("t.exr r.exr", "--exposure auto");
    assert!(auto.is_some_and(|ev| (ev - 5.0).abs() > 0.5), "{auto:?}");
    // Without metadata: the log-average.
    let (ev100, text, _) = view("b.exr a.exr", "");
    assert!(ev100.is_some() && text.unwrap().contains("log-average"));
    // Data have no view.
    write_rendered(&dir, "n.exr", 10.0, &[("normal", 0.5)], &traced());
    assert_ne!(view("n.exr:normal n.exr:normal", "").0, Some(5.0));
    // A display picture is compared under the exposure that its metadata have.
    let rgba = [150u8, 150, 150, 255].repeat(SIZE[0] * SIZE[1]);
    output::write_png_with(&dir.at("t.png"), SIZE, &rgba, Some(&traced())).unwrap();
    compare(&dir, "t.png a.exr").ok().prints(&["of white", "metadata of t.png"]);
    assert_eq!(compare(&dir, "a.png a.exr").code, 2);
}

#[test]
fn exposed_pictures_compare_with_those_in_nits() {
    let dir = folder();
    let exposed = RenderMetadata { exposed: true, ..traced() };
    write_rgb(&dir, "nits.exr", [2, 1], &[[10.0, 10.0, 10.0, 1.0]; 2]);
    // The white balance of the metadata: 0.9, 1 and 1.1.
    let pixels = [[9.0f32, 10.0, 11.0, 1.0]; 2];
    let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels };
    output::write_exr_with(&dir.at("e.exr"), [2, 1], 1.0, &[layer], Some(&exposed)).unwrap();
    compare(&dir, "e.exr nits.exr --max-rmse 1e-6").ok();
}

#[test]
fn light_of_passes_that_were_off_is_measured() {
    let dir = folder();
    let off = LightPasses {
        indirect: Some(false),
        indirect_specular: Some(false),
        screen_space_reflections: Some(false),
        ..LightPasses::default()
    };
    let direct = RenderMetadata {
        renderer: Some(RendererName::Raster),
        light: off,
        effects: vec!["bloom".into()],
        ..traced()
    };
    let layers = [
        ("indirect_diffuse", 1.5),
        ("indirect_specular", 0.5),
        ("indirect_transmission", 0.0),
        ("half_difference", -0.1),
    ];
    write_rendered(&dir, "direct.exr", 8.0, &[], &direct);
    write_rendered(&dir, "path.exr", 10.0, &layers, &traced());
    write_rendered(&dir, "bare.exr", 10.0, &[], &traced());
    write_rendered(&dir, "seed.exr", 10.1, &[], &traced());
    let findings = |pair: &str, options: &str| {
        let done = compare(&dir, &format!("{pair} --json n.json {options}")).ok();
        assert!(done.out.starts_with("verdict "), "{}", done.out);
        let json = dir.json("n.json");
        let about = json["verdict"]["findings"].as_array().unwrap().clone();
        let about: Vec<String> =
            about.iter().map(|found| found["about"].as_str().unwrap().to_owned()).collect();
        (json, about)
    };
    let has = |about: &[String], name: &str| about.iter().any(|found| found == name);
    let (json, about) = findings("direct.exr path.exr", "--second-seed seed.exr");
    assert_eq!(json["schema"], 2);
    let missing = &json["missing_light"];
    assert!((missing["share"].as_f64().unwrap() - 0.2).abs() < 1e-6, "{missing}");
    assert!(missing["bias_without"].as_f64().unwrap().abs() < 1e-6, "{missing}");
    let noise = &json["reference_noise"];
    assert!((noise["pixel_rms"].as_f64().unwrap() - 0.01).abs() < 1e-6, "{noise}");
    assert!((json["second_seed"]["bias"].as_f64().unwrap() - 0.01).abs() < 1e-6);
    for name in ["light off", "noise", "second seed", "pictures", "view"] {
        assert!(has(&about, name), "{name} in {about:?}");
    }
    // Nothing is off, and no layer tells of noise.
    let (json, about) = findings("seed.exr bare.exr", "");
    assert!(!has(&about, "light off") && !has(&about, "noise"), "{about:?}");
    assert!(json["missing_light"].is_null() && json["reference_noise"].is_null());
    // Off, but without layers there is no number.
    let (json, about) = findings("direct.exr bare.exr", "");
    assert!(has(&about, "light off") && json["missing_light"].is_null(), "{about:?}");
    assert_eq!(json["unmeasured_light"], "indirect");
    compare(&dir, "direct.exr path.exr --second-seed path.exr").fails(2, &["--seed"]);
    compare(&dir, "direct.exr path.exr --second-seed a.png").fails(2, &["--second-seed"]);
}

#[test]
fn a_pixel_that_decides_is_named_with_its_place() {
    let dir = folder();
    let mut pixels = vec![[1.0f32; 4]; 4096];
    write_rgb(&dir, "plain.exr", [64, 64], &pixels);
    pixels[20 * 64 + 10] = [500.0, 500.0, 500.0, 1.0];
    write_rgb(&dir, "spark.exr", [64, 64], &pixels);
    compare(&dir, "plain.exr spark.exr --json n.json").ok().prints(&["10, 20"]);
    let json = dir.json("n.json");
    assert_eq!(json["numbers"]["dominant"]["pixels"][0]["at"], serde_json::json!([10, 20]));
    assert_eq!(json["numbers"]["dominant"]["bias_without"], 0.0);
    // The table leads with numbers that the pixel does not spoil.
    let out = compare(&dir, "plain.exr spark.exr").out;
    let place = |name: &str| out.lines().position(|line| line.starts_with(name)).unwrap();
    let order = ["verdict", "FLIP", "stops", "blocks, trimmed", "blocks, rms", "rmse", "PSNR"];
    assert!(order.map(place).is_sorted(), "{out}");
}
