//! Image files of all kinds: valid, unusual and damaged.

use std::io::Cursor;

use exr::prelude as ex;
use half::f16;

use crate::{
    camera::{Exposure, tonemap::ToneMapper},
    compare::linear_image::{Encoding, LinearImage},
    image_io::{ImageError, RenderMetadata},
    photometry::units::Ev100,
};

/// An EXR of the given channels, 4 by 3 pixels, data window at `position` within a display window
/// at `display`.
fn exr_with(
    channels: Vec<(&str, ex::FlatSamples)>,
    position: [i32; 2],
    display: ([i32; 2], [usize; 2]),
) -> Vec<u8> {
    let list =
        channels.into_iter().map(|(name, samples)| ex::AnyChannel::new(name, samples)).collect();
    let attributes = ex::LayerAttributes {
        layer_position: ex::Vec2(position[0], position[1]),
        ..Default::default()
    };
    let layer = ex::Layer::new(
        (4, 3),
        attributes,
        ex::Encoding::FAST_LOSSLESS,
        ex::AnyChannels::sort(list),
    );
    let mut image = ex::Image::from_layer(layer);
    image.attributes.display_window = ex::IntegerBounds {
        position: ex::Vec2(display.0[0], display.0[1]),
        size: ex::Vec2(display.1[0], display.1[1]),
    };
    let mut bytes = Cursor::new(Vec::new());
    ex::WritableImage::write(&image).non_parallel().to_buffered(&mut bytes).unwrap();
    bytes.into_inner()
}

fn exr(channels: Vec<(&str, ex::FlatSamples)>) -> Vec<u8> {
    exr_with(channels, [0, 0], ([0, 0], [4, 3]))
}

fn floats(scale: f32) -> ex::FlatSamples {
    ex::FlatSamples::F32((0..12).map(|i| i as f32 * scale).collect())
}

fn sample_exr() -> Vec<u8> {
    exr(vec![
        ("R", floats(1.0)),
        ("G", ex::FlatSamples::F16((0..12).map(|i| f16::from_f32(i as f32 * 0.5)).collect())),
        ("B", ex::FlatSamples::U32((0..12).collect())),
        ("A", floats(0.0)),
        ("depth.Z", floats(2.0)),
        ("light.R", floats(3.0)),
        ("light.G", floats(4.0)),
        ("light.B", floats(5.0)),
        ("motion.U", floats(3.0)),
        ("motion.V", floats(4.0)),
    ])
}

fn png(picture: image::DynamicImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn sample_png() -> Vec<u8> {
    png(image::DynamicImage::ImageRgb8(image::RgbImage::from_fn(4, 3, |x, y| {
        image::Rgb([x as u8 * 80, y as u8, 255])
    })))
}

fn sample_hdr() -> Vec<u8> {
    let mut bytes = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 4\n".to_vec();
    for i in 0..8u8 {
        bytes.extend([128, 0, 0, 129 + i]);
    }
    bytes
}

#[test]
fn an_exr_of_mixed_types_is_read() {
    let picture = LinearImage::from_bytes(&sample_exr(), None).unwrap();
    assert_eq!((picture.width(), picture.height(), picture.encoding()), (4, 3, Encoding::Scene));
    for (i, pixel) in picture.pixels().iter().enumerate() {
        let i = i as f32;
        assert_eq!(*pixel, [i, i * 0.5, i]);
    }
    assert!(picture.notes().is_empty() && picture.not_finite() == 0);
}

#[test]
fn layers_are_chosen_by_name() {
    let bytes = sample_exr();
    let layer = |name| LinearImage::from_bytes(&bytes, Some(name));
    assert_eq!(layer("light").unwrap().pixels()[2], [6.0, 8.0, 10.0]);
    // One channel gives a gray image.
    assert_eq!(layer("depth").unwrap().pixels()[3], [6.0; 3]);
    let unknown = layer("lihgt").unwrap_err();
    let lists = |text: &str| {
        text.contains("'light'") && text.contains("'depth'") && !text.contains("motion")
    };
    assert!(matches!(&unknown, ImageError::Layer(text) if lists(text)), "{unknown}");
    let no_picture = layer("motion").unwrap_err();
    assert!(
        matches!(&no_picture, ImageError::Layer(text) if text.contains("'motion'")),
        "{no_picture}"
    );
    // Luminance only.
    assert_eq!(
        LinearImage::from_bytes(&exr(vec![("Y", floats(1.0))]), None).unwrap().pixels()[5],
        [5.0; 3]
    );
    // A single named layer needs no choice, two do.
    let one = exr(vec![("a.R", floats(1.0)), ("a.G", floats(1.0)), ("a.B", floats(2.0))]);
    assert_eq!(LinearImage::from_bytes(&one, None).unwrap().pixels()[1], [1.0, 1.0, 2.0]);
    let two = exr(vec![("a.Y", floats(1.0)), ("b.Y", floats(1.0))]);
    let several = LinearImage::from_bytes(&two, None).unwrap_err();
    assert!(matches!(&several, ImageError::Layer(text) if text.contains("'a', 'b'")), "{several}");
    let layerless = LinearImage::from_bytes(&sample_png(), Some("light")).unwrap_err();
    assert!(
        matches!(&layerless, ImageError::Layer(text) if text.contains(":light")),
        "{layerless}"
    );
}

#[test]
fn windows_that_differ_are_placed() {
    let gray = || vec![("Y", floats(1.0))];
    // A data window of 4x3 at (1, 1) in a 6x5 display window that begins at (-1, 0).
    let picture =
        LinearImage::from_bytes(&exr_with(gray(), [0, 1], ([-1, 0], [6, 5])), None).unwrap();
    assert_eq!((picture.width(), picture.height()), (6, 5));
    assert_eq!(picture.pixels()[6 + 2], [1.0; 3]);
    assert_eq!(picture.pixels()[0], [0.0; 3]);
    assert!(picture.notes()[0].contains("4x3 placed at 1, 1"), "{:?}", picture.notes());
    // Data beyond the display window are cropped.
    let picture =
        LinearImage::from_bytes(&exr_with(gray(), [-1, -1], ([0, 0], [2, 2])), None).unwrap();
    assert_eq!(picture.pixels(), [[5.0; 3], [6.0; 3], [9.0; 3], [10.0; 3]]);
    let error =
        LinearImage::from_bytes(&exr_with(gray(), [100, 0], ([0, 0], [4, 3])), None).unwrap_err();
    assert!(matches!(error, ImageError::Size(_)), "{error}");
    let error =
        LinearImage::from_bytes(&exr_with(gray(), [0, 0], ([0, 0], [100_000, 100_000])), None)
            .unwrap_err();
    assert!(matches!(&error, ImageError::Size(text) if text.contains("100000x100000")), "{error}");
}

#[test]
fn nan_pixels_are_counted() {
    let mut values: Vec<f32> = (0..12).map(|i| i as f32).collect();
    (values[3], values[7]) = (f32::NAN, f32::INFINITY);
    let picture =
        LinearImage::from_bytes(&exr(vec![("Y", ex::FlatSamples::F32(values))]), None).unwrap();
    assert_eq!(picture.not_finite(), 2);
    assert_eq!((picture.pixels()[3], picture.pixels()[8]), ([0.0; 3], [8.0; 3]));
    // Equal in both is no difference; another pixel or value is one.
    let of = |at: usize, value: f32| {
        let mut pixels = vec![[1.0; 3]; 4];
        pixels[at][1] = value;
        LinearImage::from_nits(2, 2, pixels).unwrap()
    };
    let nan = of(1, f32::NAN);
    assert!(nan.same_not_finite(&of(1, f32::from_bits(0xffc0_1234))) && nan == of(1, f32::NAN));
    for other in [of(2, f32::NAN), of(1, f32::INFINITY), of(1, 5.0)] {
        assert!(!nan.same_not_finite(&other));
    }
}

#[test]
fn white_luminance_makes_nits() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("exposed.exr");
    let layer = crate::output::ExrLayer {
        name: "",
        channels: &["R", "G", "B"],
        pixels: &[[0.5, 1.0, 2.0, 1.0]],
    };
    crate::output::write_exr(&file, 1, 1, 1000.0, &[layer]).unwrap();
    let picture = LinearImage::load(file.to_str().unwrap()).unwrap();
    assert_eq!(picture.pixels(), [[500.0, 1000.0, 2000.0]]);
    assert!(picture.notes()[0].contains("1000 nits"));
}

#[test]
fn metadata_is_read_back_from_both_formats() {
    let dir = tempfile::tempdir().unwrap();
    let metadata = RenderMetadata {
        ev100: Some(7.5),
        scene: Some("caf\u{e9}.glb".into()),
        ..RenderMetadata::default()
    };
    let pixels = [[0.5, 1.0, 2.0, 1.0]];
    let layers = [
        crate::output::ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels },
        crate::output::ExrLayer { name: "variance", channels: &["V"], pixels: &pixels },
    ];
    let (exr, png) = (dir.path().join("a.exr"), dir.path().join("a.png"));
    let write = |metadata: Option<&RenderMetadata>| {
        crate::output::write_exr_with(&exr, [1, 1], 1.0, &layers, metadata).unwrap();
        crate::output::write_png_with(&png, [1, 1], &[1, 2, 3, 255], metadata).unwrap();
        std::fs::read(&exr).unwrap()
    };
    let first = write(Some(&metadata));
    assert_eq!(first, write(Some(&metadata)), "equal pictures give equal files");
    for name in [exr.display().to_string(), format!("{}:variance", exr.display())] {
        assert_eq!(LinearImage::load(&name).unwrap().metadata(), Some(&metadata));
    }
    let shown = LinearImage::load(png.to_str().unwrap()).unwrap();
    assert_eq!((shown.metadata(), shown.notes().len()), (Some(&metadata), 0));
    write(None);
    assert_eq!(LinearImage::load(png.to_str().unwrap()).unwrap().metadata(), None);
}

#[test]
fn displays_are_decoded() {
    let picture = LinearImage::from_bytes(&sample_png(), None).unwrap();
    assert_eq!((picture.width(), picture.encoding()), (4, Encoding::Display));
    assert_eq!(picture.pixels()[0][2], 1.0);
    // IEC 61966-2-1: code 160 of 255 is 0.3515.
    assert!((picture.pixels()[2][0] - 0.351_533).abs() < 1e-5, "{:?}", picture.pixels()[2]);
    let wide = png(image::DynamicImage::ImageLuma16(image::ImageBuffer::from_pixel(
        2,
        1,
        image::Luma([32768u16]),
    )));
    let picture = LinearImage::from_bytes(&wide, None).unwrap();
    assert!((picture.pixels()[1][1] - 0.214_05).abs() < 1e-4, "{:?}", picture.pixels());
    let mut jpeg = Cursor::new(Vec::new());
    image::RgbImage::from_pixel(8, 8, image::Rgb([200; 3]))
        .write_to(&mut jpeg, image::ImageFormat::Jpeg)
        .unwrap();
    let picture = LinearImage::from_bytes(jpeg.get_ref(), None).unwrap();
    assert!((picture.pixels()[9][0] - 0.577_58).abs() < 0.01);
}

#[test]
fn radiance_is_read() {
    let picture = LinearImage::from_bytes(&sample_hdr(), None).unwrap();
    assert_eq!((picture.width(), picture.height(), picture.encoding()), (4, 2, Encoding::Scene));
    assert!((picture.pixels()[5][0] / picture.pixels()[4][0] - 2.0).abs() < 0.02);
}

#[test]
fn a_scene_is_shown_as_a_display_shows_it() {
    let exposure = Exposure::from_ev100(Ev100(0.0)).unwrap();
    // EV100 0 renders 1.2 nits as 1.
    let picture = LinearImage::from_nits(2, 1, vec![[0.6; 3], [2.4; 3]]).unwrap();
    let shown = picture.displayed(exposure, glam::Mat3::IDENTITY, ToneMapper::Linear);
    assert_eq!(shown.encoding(), Encoding::Display);
    assert!((shown.pixels()[0][0] - 0.5).abs() < 1e-6 && shown.pixels()[1] == [1.0; 3]);
}

#[test]
fn a_path_may_have_a_colon() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.exr");
    std::fs::write(&file, sample_exr()).unwrap();
    let name = |tail: &str| format!("{}{tail}", file.display());
    assert_eq!(LinearImage::load(&name(":depth")).unwrap().pixels()[1], [2.0; 3]);
    assert_eq!(LinearImage::load(&name(":")).unwrap(), LinearImage::load(&name("")).unwrap());
    let odd = dir.path().join("b.exr:depth");
    std::fs::write(&odd, sample_exr()).unwrap();
    assert_eq!(LinearImage::load(odd.to_str().unwrap()).unwrap().pixels()[1], [1.0, 0.5, 1.0]);
    let missing = LinearImage::load(&name("x")).unwrap_err();
    assert!(missing.file.ends_with("a.exrx"), "{missing}");
    let folder = dir.path().to_str().unwrap();
    assert_eq!(LinearImage::load(folder).unwrap_err().file, folder);
}

/// A deterministic random number generator.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn no_bytes_break_the_reader() {
    // A decoder's panic is caught, but prints a message.
    let mut state = 1;
    let mut read = [0usize; 2];
    for whole in [sample_exr(), sample_png(), sample_hdr()] {
        for round in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..=round % 5 {
                let at = next(&mut state) as usize % bytes.len();
                bytes[at] = match next(&mut state) % 4 {
                    0 => 0,
                    1 => 255,
                    2 => bytes[at] ^ (1 << (next(&mut state) % 8)),
                    _ => next(&mut state) as u8,
                };
            }
            if round % 7 == 0 {
                bytes.truncate(next(&mut state) as usize % whole.len());
            }
            match LinearImage::from_bytes(&bytes, None) {
                Ok(picture) => {
                    read[0] += 1;
                    assert!(picture.pixels().iter().flatten().all(|channel| channel.is_finite()));
                }
                Err(error) => {
                    read[1] += 1;
                    let text = error.to_string();
                    assert!(!text.contains('\n') && text.len() < 600, "{text}");
                }
            }
        }
    }
    println!("{} mutated files were read, {} rejected", read[0], read[1]);
    assert!(read[0] > 100 && read[1] > 100, "{read:?}");
}

#[test]
fn sizes_are_bounded_before_memory_is_taken() {
    let huge =
        b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 60000\n\x02\x02\xea\x60".to_vec();
    let error = LinearImage::from_bytes(&huge, None).unwrap_err();
    assert!(matches!(&error, ImageError::Size(text) if text.contains("60000x60000")), "{error}");
    // An allowed size with too few bytes of data.
    let hollow =
        b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 4096 +X 8192\n\x02\x02\x20\x00".to_vec();
    assert!(LinearImage::from_bytes(&hollow, None).is_err());
    let mut bytes = sample_png();
    bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    assert!(LinearImage::from_bytes(&bytes, None).is_err());
    for empty in [
        &[][..],
        b"#?",
        b"\x89PNG\r\n\x1a\n",
        &[0x76, 0x2f, 0x31, 0x01],
        &[0xff, 0xd8, 0xff],
        b"BM1234",
    ] {
        assert!(LinearImage::from_bytes(empty, None).is_err());
    }
}
