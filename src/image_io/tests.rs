//! Generated files of all formats: valid, unusual and damaged.
use std::io::Cursor;

use ::exr::prelude as ex;
use glam::{DMat3, DVec3, Vec3};
use half::f16;

use super::{DecodedImage, Format, ImageError, check_size, chromaticity::Primaries};
use crate::photometry::color::{Adaptation, D65, REC709_PRIMARIES, REC709_TO_XYZ};

fn decode(bytes: &[u8]) -> Result<DecodedImage, ImageError> {
    DecodedImage::decode(bytes, None, &check_size)
}

/// The text of an error of this kind.
macro_rules! text_of {
    ($kind:ident, $result:expr) => {
        match $result.map(drop) {
            Err(ImageError::$kind(text)) => text,
            other => panic!("{other:?}"),
        }
    };
}

fn light(bytes: &[u8]) -> Vec<[f32; 3]> {
    decode(bytes).unwrap().into_linear_rgb()
}

fn near(found: [f32; 3], wanted: [f64; 3]) {
    let ok =
        found.iter().zip(wanted).all(|(a, b)| (f64::from(*a) - b).abs() <= 2e-3 * b.abs().max(0.1));
    assert!(ok, "{found:?} for {wanted:?}");
}

/// Shared exponents of a color: G. Ward, "Real Pixels", Graphics Gems II.
fn rgbe(color: [f64; 3]) -> [u8; 4] {
    let max = color.into_iter().fold(0.0, f64::max);
    if max <= 0.0 {
        return [0; 4];
    }
    let exponent = max.log2().floor() as i32 + 1;
    let [r, g, b] = color.map(|c| (c * 256.0 / 2f64.powi(exponent)) as u8);
    [r, g, b, (exponent + 128) as u8]
}

fn hdr(head: &str, size: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{head}\n\n{size}\n").into_bytes();
    bytes.extend(body);
    bytes
}

/// A uniform image of 32x16.
fn even(head: &str, color: [f64; 3]) -> Vec<u8> {
    hdr(head, "-Y 16 +X 32", &rgbe(color).repeat(512))
}

const RGBE: &str = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe";

#[test]
fn any_first_line_of_radiance_is_read() {
    for head in [
        RGBE,
        "#?RGBE\nFORMAT=32-bit_rle_rgbe",
        "#?AUTOPANO\nFORMAT=32-bit_rle_rgbe",
        "#?",
        "#?RADIANCE\nrpict -vp 0 0 0\nPIXASPECT=1\nVIEW= -vtv\n# a comment",
        // Files older than the identifier.
        "rpict -vp 0 0 0 scene.oct\nFORMAT=32-bit_rle_rgbe",
        "VIEW= -vtv",
        "\u{feff}#?RADIANCE",
        // The last of several formats applies.
        "#?RADIANCE\nFORMAT=ascii\nFORMAT=  32-bit_rle_rgbe",
    ] {
        near(light(&even(head, [100.0, 50.0, 25.0]))[100], [100.0, 50.0, 25.0]);
    }
    let mut windows = RGBE.replace('\n', "\r\n").into_bytes();
    windows.extend(b"\r\nEXPOSURE=2\r\n\r\n-Y 16 +X 32\r\n");
    windows.extend(rgbe([100.0; 3]).repeat(512));
    near(light(&windows)[0], [50.0; 3]);
}

#[test]
fn factors_of_the_header_are_cumulative_and_divided_out() {
    for (lines, wanted) in [
        ("EXPOSURE=2\nEXPOSURE= 4", [12.5; 3]),
        ("EXPOSURE=+2e0 by pfilt", [50.0; 3]),
        ("COLORCORR=2 1 0.5", [50.0, 100.0, 200.0]),
        ("COLORCORR=2 1 0.5\nEXPOSURE=0.5\nCOLORCORR= 2 2 2", [50.0, 100.0, 200.0]),
        // An indented line that a program copied from its input.
        ("pcomb\n\tEXPOSURE=8", [100.0; 3]),
    ] {
        let image = decode(&even(&format!("{RGBE}\n{lines}"), [100.0; 3])).unwrap();
        assert!(image.warnings.is_empty(), "{:?}", image.warnings);
        near(image.into_linear_rgb()[7], wanted);
    }
    for line in [
        "EXPOSURE=0",
        "EXPOSURE=-1",
        "EXPOSURE=nan",
        "EXPOSURE=",
        "COLORCORR=1 1",
        "COLORCORR=1 0 1",
        "GAMMA=2.2",
    ] {
        let image = decode(&even(&format!("{RGBE}\n{line}"), [100.0; 3])).unwrap();
        assert!(
            image.warnings.len() == 1 && image.warnings[0].contains(line),
            "{line}: {:?}",
            image.warnings
        );
        near(image.into_linear_rgb()[7], [100.0; 3]);
    }
}

#[test]
fn all_eight_orders_are_one_image() {
    let (w, h) = (5, 3);
    let value = |x: usize, y: usize| [1.0 + x as f64, 10.0 + y as f64, 1.0];
    for (y_sign, x_sign, rows) in ["-", "+"]
        .into_iter()
        .flat_map(|y| ["+", "-"].into_iter().flat_map(move |x| [(y, x, true), (y, x, false)]))
    {
        let (count, length) = if rows { (h, w) } else { (w, h) };
        let mut body = Vec::new();
        for line in 0..count {
            for at in 0..length {
                let (x, y) = if rows { (at, line) } else { (line, at) };
                let x = if x_sign == "-" { w - 1 - x } else { x };
                let y = if y_sign == "+" { h - 1 - y } else { y };
                body.extend(rgbe(value(x, y)));
            }
        }
        let axes = [format!("{y_sign}Y {h}"), format!("{x_sign}X {w}")];
        let size =
            if rows { axes.join(" ") } else { [axes[1].as_str(), axes[0].as_str()].join(" ") };
        let image = decode(&hdr(RGBE, &size, &body)).unwrap();
        assert_eq!((image.width, image.height), (w, h), "{size}");
        for (i, pixel) in image.into_linear_rgb().into_iter().enumerate() {
            let wanted = value(i % w, i / w);
            assert!(
                (f64::from(pixel[0]) - wanted[0]).abs() < 0.07,
                "{size}: {pixel:?} for {wanted:?}"
            );
            assert!(
                (f64::from(pixel[1]) - wanted[1]).abs() < 0.07,
                "{size}: {pixel:?} for {wanted:?}"
            );
        }
    }
}

#[test]
fn scan_lines_are_flat_or_have_old_or_new_runs() {
    let pixel = rgbe([80.0, 40.0, 20.0]);
    let flat = pixel.repeat(300);
    // One pixel and 299 = 43 + 1 * 256 times the same.
    let old = [&pixel[..], &[1, 1, 1, 43, 1, 1, 1, 1]].concat();
    let mut new = vec![2, 2, 1, 44];
    for channel in pixel {
        // 127 + 127 + 45 equal bytes, and a literal one.
        new.extend([255, channel, 255, channel, 128 + 45, channel, 1, channel]);
    }
    // A run beyond the line ends with it.
    let beyond = [&pixel[..], &[1, 1, 1, 255, 1, 1, 1, 255]].concat();
    for body in [flat.clone(), old.clone(), new.clone(), beyond] {
        let pixels = light(&hdr(RGBE, "-Y 2 +X 300", &body.repeat(2)));
        assert!(pixels.len() == 600 && pixels.iter().all(|p| *p == pixels[0]));
        near(pixels[0], [80.0, 40.0, 20.0]);
    }
    // Each line is encoded independently.
    let mixed = [flat, old, new].concat();
    assert!(
        light(&hdr(RGBE, "-Y 3 +X 300", &mixed))
            .iter()
            .all(|p| *p == light(&even(RGBE, [80.0, 40.0, 20.0]))[0])
    );
    let read = |size: &str, body: &[u8]| decode(&hdr(RGBE, size, body));
    let short = read("-Y 2 +X 300", &[2, 2, 1, 43, 255, 7]);
    assert!(text_of!(Damaged, short).contains("299 pixels, expected 300"));
    let beyond = [&[2, 2, 1, 44][..], &[255, 7].repeat(3)].concat();
    assert!(text_of!(Damaged, read("-Y 2 +X 300", &beyond)).contains("scan line 0 of 2"));
    let cut = read("-Y 2 +X 300", &pixel.repeat(599));
    assert!(text_of!(Truncated, cut).contains("scan line 1 of 2"));
    assert!(text_of!(Damaged, read("-Y 2", &pixel.repeat(8))).contains("'-Y 2'"));
    assert!(text_of!(Size, read("-Y 0 +X 8", &[])).contains("8x0"));
    assert!(text_of!(Size, read("-Y 60000 +X 60000", &[])).contains("60000x60000"));
    let spectra = decode(&even("#?RADIANCE\nFORMAT=Radiance_spectra", [1.0; 3]));
    assert!(text_of!(Unsupported, spectra).contains("FORMAT=Radiance_spectra"));
    text_of!(Truncated, decode(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n"));
    text_of!(Truncated, decode(b"#?RADIANCE\n\n"));
}

#[test]
fn radiance_in_xyz_or_of_other_primaries_is_converted() {
    // The encoded bytes round by up to 1/128.
    let close = |found: [f32; 3], wanted: [f64; 3]| {
        assert!(
            found.iter().zip(wanted).all(|(a, b)| (f64::from(*a) / b - 1.0).abs() < 0.03),
            "{found:?} for {wanted:?}"
        );
    };
    let wanted = [100.0, 80.0, 60.0];
    let xyz = (REC709_TO_XYZ * DVec3::from_array(wanted)).to_array();
    close(light(&even("#?RADIANCE\nFORMAT=32-bit_rle_xyze", xyz))[3], wanted);
    let image =
        decode(&even("#?RADIANCE\nFORMAT=32-bit_rle_xyze\nEXPOSURE=2\nCOLORCORR=2 2 2", xyz))
            .unwrap();
    close(image.into_linear_rgb()[3], wanted.map(|c| c / 4.0));
    let wide = [0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290];
    let stored = rec709_in(wide, wanted);
    let line = format!("{RGBE}\nPRIMARIES= {}", wide.map(|n| n.to_string()).join(" "));
    close(light(&even(&line, stored))[3], wanted);
    // Radiance's own primaries: white stays white.
    let own = format!("{RGBE}\nPRIMARIES=0.64 0.33 0.29 0.6 0.15 0.06 0.3333 0.3333");
    close(light(&even(&own, [100.0; 3]))[3], [100.0; 3]);
    let image = decode(&even(&format!("{RGBE}\nPRIMARIES=0 0 0 0 0 0 0 0"), wanted)).unwrap();
    assert!(image.warnings[0].contains("invalid primaries"), "{:?}", image.warnings);
}

/// A Rec.709 color in other primaries, with Bradford adaptation of white.
fn rec709_in(primaries: [f64; 8], color: [f64; 3]) -> [f64; 3] {
    let own = Primaries::new(primaries);
    let adapted = Adaptation::Bradford.adapt_xyz(D65.to_xyz(1.0), own.white.to_xyz(1.0));
    (own.to_xyz().unwrap().inverse() * adapted * REC709_TO_XYZ * DVec3::from_array(color))
        .to_array()
}

#[test]
fn primaries_are_converted_with_their_white() {
    // Rec.2020 to Rec.709: ITU-R BT.2087-0, section 2.2 (there the inverse, M2, to four digits).
    let wide = Primaries::new([0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290]);
    let super::chromaticity::Conversion::Matrix(matrix) = wide.conversion() else { panic!() };
    let m2 = DMat3::from_cols_array(&[
        0.6274, 0.0691, 0.0164, 0.3293, 0.9195, 0.0880, 0.0433, 0.0114, 0.8956,
    ]);
    assert!(matrix.inverse().abs_diff_eq(m2, 6e-5), "{}", matrix.inverse());
    // AP0 to Rec.709 with Bradford: the color math of the ACES transforms, published to these
    // digits.
    let aces = Primaries::new([0.7347, 0.2653, 0.0, 1.0, 0.0001, -0.077, 0.32168, 0.33767]);
    let super::chromaticity::Conversion::Matrix(matrix) = aces.conversion() else { panic!() };
    let known =
        [2.52169, -0.27648, -0.01538, -1.13413, 1.37272, -0.15298, -0.38756, -0.09624, 1.16835];
    assert!(matrix.abs_diff_eq(DMat3::from_cols_array(&known), 2e-3), "{matrix}");
    let own = Primaries { rgb: REC709_PRIMARIES, white: D65 };
    assert_eq!(own.conversion(), super::chromaticity::Conversion::Same);
    for bad in
        [[0.0; 8], [f64::NAN; 8], [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3127, 0.329], [f64::INFINITY; 8]]
    {
        assert_eq!(Primaries::new(bad).conversion(), super::chromaticity::Conversion::Impossible);
    }
}

/// Uniform samples of a channel.
fn floats(size: usize, value: f32) -> ex::FlatSamples {
    ex::FlatSamples::F32(vec![value; size])
}

fn halves(size: usize, value: f32) -> ex::FlatSamples {
    ex::FlatSamples::F16(vec![f16::from_f32(value); size])
}

/// One part: name, size, position, channels.
type Part<'a> = (&'a str, [usize; 2], [i32; 2], Vec<(&'a str, ex::FlatSamples)>);

fn exr_bytes(
    parts: Vec<Part<'_>>,
    display: ([i32; 2], [usize; 2]),
    encoding: ex::Encoding,
    change: impl Fn(&mut ex::ImageAttributes, &mut ex::LayerAttributes),
) -> Vec<u8> {
    let mut attributes = ex::ImageAttributes::new(ex::IntegerBounds {
        position: ex::Vec2(display.0[0], display.0[1]),
        size: ex::Vec2(display.1[0], display.1[1]),
    });
    let layers = parts.into_iter().map(|(name, size, at, channels)| {
        let mut own =
            ex::LayerAttributes { layer_position: ex::Vec2(at[0], at[1]), ..Default::default() };
        if !name.is_empty() {
            own.layer_name = Some(name.into());
        }
        change(&mut attributes, &mut own);
        let list = channels
            .into_iter()
            .map(|(name, samples)| ex::AnyChannel::new(name, samples))
            .collect();
        ex::Layer::new((size[0], size[1]), own, encoding, ex::AnyChannels::sort(list))
    });
    let image = ex::Image::from_layers(
        ex::ImageAttributes::new(ex::IntegerBounds::zero()),
        layers.collect::<Vec<_>>(),
    );
    let image = ex::Image { attributes, ..image };
    let mut bytes = Cursor::new(Vec::new());
    ex::WritableImage::write(&image).non_parallel().to_buffered(&mut bytes).unwrap();
    bytes.into_inner()
}

fn exr(channels: Vec<(&str, ex::FlatSamples)>) -> Vec<u8> {
    let parts = vec![("", [4, 2], [0, 0], channels)];
    exr_bytes(parts, ([0, 0], [4, 2]), ex::Encoding::FAST_LOSSLESS, |_, _| {})
}

/// Uniform red, green and blue of a layer.
fn rgb(names: [&str; 3], size: usize, value: [f32; 3]) -> Vec<(&str, ex::FlatSamples)> {
    names.into_iter().zip(value).map(|(name, value)| (name, floats(size, value))).collect()
}

#[test]
fn the_picture_of_an_exr_is_found_by_its_names() {
    let wanted = [100.0, 50.0, 25.0];
    let color = [100.0, 50.0, 25.0];
    let blender = ["ViewLayer.Combined.R", "ViewLayer.Combined.G", "ViewLayer.Combined.B"];
    let data = || floats(8, 7.0);
    let with = |mut channels: Vec<(&'static str, ex::FlatSamples)>, more: &[&'static str]| {
        channels.extend(more.iter().map(|name| (*name, data())));
        exr(channels)
    };
    let depth_of_blender =
        ["ViewLayer.Combined.A", "ViewLayer.Depth.Z", "ViewLayer.Normal.X", "ViewLayer.Normal.Y"];
    for bytes in [
        with(rgb(["R", "G", "B"], 8, color), &["A", "Z"]),
        with(rgb(["r", "g", "b"], 8, color), &["a"]),
        with(rgb(["red", "green", "blue"], 8, color), &[]),
        with(rgb(blender, 8, color), &depth_of_blender),
        with(
            rgb(blender, 8, color),
            &["ViewLayer.DiffDir.R", "ViewLayer.DiffDir.G", "ViewLayer.DiffDir.B", "Z"],
        ),
        with(rgb(["left.R", "left.G", "left.B"], 8, color), &["Z"]),
        with(rgb(["R", "G", "B"], 8, color), &["right.R", "right.G", "right.B"]),
    ] {
        near(light(&bytes)[5], wanted);
    }
    for (name, warnings) in [("Y", 0), ("y", 0), ("L", 0), ("luminance", 0), ("Z", 1)] {
        let image = decode(&exr(vec![(name, floats(8, 100.0)), ("A", data())])).unwrap();
        assert_eq!(image.warnings.len(), warnings, "{name}: {:?}", image.warnings);
        near(image.into_linear_rgb()[5], [100.0; 3]);
    }
    let two = decode(&exr(vec![("R", data()), ("G", data())]));
    assert!(text_of!(Channel, two).contains("'G', 'R'"));
    let aovs = with(rgb(["a.R", "a.G", "a.B"], 8, color), &["b.R", "b.G", "b.B"]);
    assert!(text_of!(Layer, decode(&aovs)).contains("'a', 'b'"));
    let layer = |name| DecodedImage::decode(&aovs, Some(name), &check_size);
    near(layer("a").unwrap().into_linear_rgb()[0], wanted);
    near(layer("B").unwrap().into_linear_rgb()[0], [7.0; 3]);
    assert!(text_of!(Layer, layer("c")).contains("'c'"));
    let combined = with(rgb(blender, 8, color), &["ViewLayer.Depth.Z"]);
    near(
        DecodedImage::decode(&combined, Some("Combined"), &check_size).unwrap().into_linear_rgb()
            [0],
        wanted,
    );
}

#[test]
fn parts_of_a_file_may_have_other_sizes() {
    let color = [100.0, 50.0, 25.0];
    let whole = |name| (name, [4, 2], [0, 0], rgb(["R", "G", "B"], 8, color));
    let small = ("depth", [2, 1], [1, 1], vec![("Z", floats(2, 7.0))]);
    let write = |parts| exr_bytes(parts, ([0, 0], [4, 2]), ex::Encoding::FAST_LOSSLESS, |_, _| {});
    let bytes = write(vec![small, whole("rgb")]);
    let image = decode(&bytes).unwrap();
    assert!(
        (image.width, image.height) == (4, 2)
            && image.warnings.is_empty()
            && image.notes.is_empty()
    );
    near(image.into_linear_rgb()[0], [100.0, 50.0, 25.0]);
    let depth = DecodedImage::decode(&bytes, Some("depth"), &check_size).unwrap().into_linear_rgb();
    assert_eq!((depth[0], depth[5], depth[6]), ([0.0; 3], [7.0; 3], [7.0; 3]));
    // A stereo image: the first view is used, with a warning.
    let right = ("right", [4, 2], [0, 0], rgb(["R", "G", "B"], 8, [1.0; 3]));
    let image = decode(&write(vec![whole("left"), right])).unwrap();
    assert!(
        image.warnings[0].contains("'left' is used (of 'left', 'right')"),
        "{:?}",
        image.warnings
    );
    near(image.into_linear_rgb()[0], [100.0, 50.0, 25.0]);
    let aov = ("diffuse", [4, 2], [0, 0], rgb(["R", "G", "B"], 8, [1.0; 3]));
    let image = decode(&write(vec![aov, whole("ViewLayer.Combined")])).unwrap();
    assert!(image.warnings.is_empty());
    near(image.into_linear_rgb()[0], [100.0, 50.0, 25.0]);
}

#[test]
fn data_stand_where_their_window_is() {
    let write = |size: [usize; 2], at, display| {
        let values = ex::FlatSamples::F32((0..size[0] * size[1]).map(|i| i as f32 + 1.0).collect());
        let channels = vec![("Y", values)];
        exr_bytes(vec![("", size, at, channels)], display, ex::Encoding::FAST_LOSSLESS, |_, _| {})
    };
    let gray = |bytes: &[u8]| -> (usize, usize, Vec<f32>) {
        let image = decode(bytes).unwrap();
        (image.width, image.height, image.into_linear_rgb().iter().map(|pixel| pixel[1]).collect())
    };
    // The lower half of 4x2.
    let lower = write([4, 1], [0, 1], ([0, 0], [4, 2]));
    assert_eq!(gray(&lower), (4, 2, vec![0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]));
    // A display window of negative origin.
    let negative = write([2, 1], [-3, -2], ([-4, -2], [4, 2]));
    assert_eq!(gray(&negative), (4, 2, vec![0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    // Overscan is cropped.
    let over = write([4, 3], [-1, -1], ([0, 0], [2, 1]));
    assert_eq!(gray(&over), (2, 1, vec![6.0, 7.0]));
    text_of!(Size, decode(&write([2, 1], [9, 0], ([0, 0], [4, 2]))));
}

#[test]
fn every_encoding_of_an_exr_is_read() {
    use ex::{Blocks, Compression, Encoding, LineOrder};
    let value = |i: usize| 1.0 + (i % 37) as f32;
    let size = [37, 19];
    let mut files = Vec::new();
    let flat = [Compression::Uncompressed, Compression::RLE, Compression::ZIP1, Compression::ZIP16];
    for compression in
        flat.into_iter().chain([Compression::PIZ, Compression::PXR24, Compression::B44A])
    {
        for blocks in [Blocks::ScanLines, Blocks::Tiles(ex::Vec2(8, 8))] {
            files.push(Encoding { compression, blocks, line_order: LineOrder::Increasing });
        }
    }
    files.push(Encoding { line_order: LineOrder::Decreasing, ..files[6] });
    for encoding in files {
        let samples = |half: bool| match half {
            true => ex::FlatSamples::F16((0..37 * 19).map(|i| f16::from_f32(value(i))).collect()),
            false => ex::FlatSamples::F32((0..37 * 19).map(value).collect()),
        };
        let integers = ex::FlatSamples::U32((0..37 * 19).map(|i| value(i) as u32).collect());
        let channels = vec![("R", samples(true)), ("G", samples(false)), ("B", integers)];
        let bytes =
            exr_bytes(vec![("", size, [3, -2], channels)], ([3, -2], size), encoding, |_, _| {});
        for (i, pixel) in light(&bytes).into_iter().enumerate() {
            // B44 and PXR24 are lossy.
            assert!(
                pixel.iter().all(|v| (v / value(i) - 1.0).abs() < 0.05),
                "{encoding:?} {i}: {pixel:?}"
            );
        }
    }
}

#[test]
fn attributes_of_an_exr_are_taken_into_account() {
    let wanted = [100.0, 50.0, 25.0];
    let wide = [0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290];
    let aces = [0.7347, 0.2653, 0.0, 1.0, 0.0001, -0.077, 0.32168, 0.33767];
    let with = |primaries: [f64; 8], white: Option<f32>, channels: Vec<(&str, ex::FlatSamples)>| {
        let [rx, ry, gx, gy, bx, by, wx, wy] = primaries.map(|n| n as f32);
        let (red, green, blue) = (ex::Vec2(rx, ry), ex::Vec2(gx, gy), ex::Vec2(bx, by));
        let chromaticities =
            ex::attribute::Chromaticities { red, green, blue, white: ex::Vec2(wx, wy) };
        let parts = vec![("", [4, 2], [0, 0], channels)];
        exr_bytes(parts, ([0, 0], [4, 2]), ex::Encoding::FAST_LOSSLESS, |image, own| {
            image.chromaticities = Some(chromaticities);
            own.white_luminance = white;
        })
    };
    for primaries in [wide, aces] {
        let stored = rec709_in(primaries, wanted).map(|c| c as f32);
        let image = decode(&with(primaries, None, rgb(["R", "G", "B"], 8, stored))).unwrap();
        assert!(
            image.notes[0].contains("to Rec.709 (the attribute chromaticities)"),
            "{:?}",
            image.notes
        );
        near(image.into_linear_rgb()[2], wanted);
        let image = decode(&with(primaries, Some(20.0), rgb(["R", "G", "B"], 8, stored))).unwrap();
        near(image.into_linear_rgb()[2], wanted.map(|c| c * 20.0));
        // Luminance has no color, and directions have no primaries.
        near(light(&with(primaries, None, vec![("Y", floats(8, 5.0))]))[2], [5.0; 3]);
        near(
            light(&with(primaries, None, rgb(["X", "Y", "Z"], 8, [1.0, -2.0, 3.0])))[2],
            [1.0, -2.0, 3.0],
        );
    }
    let image = decode(&with([0.0; 8], Some(-3.0), rgb(["R", "G", "B"], 8, [1.0; 3]))).unwrap();
    assert_eq!(image.warnings.len(), 2, "{:?}", image.warnings);
    near(image.into_linear_rgb()[2], [1.0; 3]);
}

#[test]
fn invalid_radiance_is_clamped_and_reported_once() {
    let values =
        |infinite: f32| vec![100.0, infinite, f32::NAN, -5.0, f32::NEG_INFINITY, 300.0, 0.0, 100.0];
    let file = |half: bool, white: Option<f32>, infinite: f32| {
        let values = values(infinite);
        let samples = if half {
            ex::FlatSamples::F16(values.into_iter().map(f16::from_f32).collect())
        } else {
            ex::FlatSamples::F32(values)
        };
        let channels = vec![("R", samples.clone()), ("G", samples.clone()), ("B", samples)];
        let parts = vec![("", [4, 2], [0, 0], channels)];
        exr_bytes(parts, ([0, 0], [4, 2]), ex::Encoding::FAST_LOSSLESS, |_, own| {
            own.white_luminance = white
        })
    };
    for (half, white, bound) in
        [(true, None, 65504.0), (false, None, 300.0), (true, Some(2.0), 131_008.0)]
    {
        let factor = white.unwrap_or(1.0);
        let (pixels, warning) =
            decode(&file(half, white, f32::INFINITY)).unwrap().into_bounded_rgb();
        let gray: Vec<f32> = pixels.iter().map(|pixel| pixel[2]).collect();
        assert_eq!(
            gray,
            [100.0 * factor, bound, 0.0, 0.0, 0.0, 300.0 * factor, 0.0, 100.0 * factor]
        );
        let warning = warning.unwrap();
        assert!(
            warning.contains("of 8 pixels, 1 infinite")
                && warning.contains(&format!("{bound} nits")),
            "{warning}"
        );
        assert!(warning.contains("1 NaN") && warning.contains("2 negative"), "{warning}");
    }
    let (pixels, warning) = decode(&file(false, None, 1e20)).unwrap().into_bounded_rgb();
    assert_eq!(pixels[1], [1e12; 3]);
    assert!(warning.unwrap().contains("1 above 1e12 nits"));
    let (pixels, warning) =
        decode(&exr(rgb(["R", "G", "B"], 8, [1.0, 0.0, 3.0]))).unwrap().into_bounded_rgb();
    assert_eq!((pixels[0], warning), ([1.0, 0.0, 3.0], None));
    // As stored, without clamping.
    let pixels = decode(&file(true, Some(2.0), f32::INFINITY)).unwrap().into_linear_rgb();
    assert!(pixels[1][0] == f32::INFINITY && pixels[2][0].is_nan() && pixels[3] == [-10.0; 3]);
}

/// An uncompressed EXR written by hand: channels with their sampling, windows from (0, 0), a byte
/// for the compression, more attributes, and samples by position.
fn raw_exr(
    channels: &[(&str, usize)],
    [width, height]: [usize; 2],
    compression: u8,
    more: &[(&str, &str, Vec<u8>)],
    sample: impl Fn(usize, usize, usize) -> f32,
) -> Vec<u8> {
    let mut bytes = vec![0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0];
    let mut attribute = |name: &str, kind: &str, value: &[u8]| {
        bytes.extend(format!("{name}\0{kind}\0").bytes());
        bytes.extend((value.len() as i32).to_le_bytes());
        bytes.extend(value);
    };
    let mut list = Vec::new();
    for (name, sampling) in channels {
        list.extend(format!("{name}\0").bytes());
        // A 32-bit float, not linear.
        list.extend([2, 0, 0, 0, 0, 0, 0, 0]);
        list.extend([*sampling as i32, *sampling as i32].map(i32::to_le_bytes).concat());
    }
    list.push(0);
    attribute("channels", "chlist", &list);
    attribute("compression", "compression", &[compression]);
    let window = [0, 0, width as i32 - 1, height as i32 - 1].map(i32::to_le_bytes).concat();
    attribute("dataWindow", "box2i", &window);
    attribute("displayWindow", "box2i", &window);
    attribute("lineOrder", "lineOrder", &[0]);
    attribute("pixelAspectRatio", "float", &1f32.to_le_bytes());
    attribute("screenWindowCenter", "v2f", &[0; 8]);
    attribute("screenWindowWidth", "float", &1f32.to_le_bytes());
    for (name, kind, value) in more {
        attribute(name, kind, value);
    }
    bytes.push(0);
    let mut at = bytes.len() + 8 * height;
    let mut chunks = Vec::new();
    for y in 0..height {
        let mut data = Vec::new();
        for (index, (_, sampling)) in
            channels.iter().enumerate().filter(|(_, (_, sampling))| y % sampling == 0)
        {
            data.extend(
                (0..width).step_by(*sampling).flat_map(|x| sample(index, x, y).to_le_bytes()),
            );
        }
        bytes.extend((at as u64).to_le_bytes());
        let chunk =
            [&(y as i32).to_le_bytes()[..], &(data.len() as i32).to_le_bytes(), &data].concat();
        at += chunk.len();
        chunks.push(chunk);
    }
    bytes.extend(chunks.concat());
    bytes
}

#[test]
fn luminance_with_chroma_is_color() {
    // BY, RY and Y of (100, 50, 25) in Rec.709, chroma at every other pixel.
    let y = REC709_TO_XYZ.row(1).dot(DVec3::new(100.0, 50.0, 25.0));
    let values = [(25.0 - y) / y, (100.0 - y) / y, y];
    for sampling in [1, 2] {
        let bytes =
            raw_exr(&[("BY", sampling), ("RY", sampling), ("Y", 1)], [8, 6], 0, &[], |c, _, _| {
                values[c] as f32
            });
        light(&bytes).into_iter().for_each(|pixel| near(pixel, [100.0, 50.0, 25.0]));
    }
    // Between samples chroma is linear: BY is 0 in a column of samples and 2 in the next.
    let ramp = |c: usize, x: usize, _: usize| {
        if c == 2 {
            1.0
        } else if c == 0 && x % 4 == 2 {
            2.0
        } else {
            0.0
        }
    };
    let pixels = light(&raw_exr(&[("BY", 2), ("RY", 2), ("Y", 1)], [8, 2], 0, &[], ramp));
    let blue: Vec<f32> = pixels[8..].iter().map(|pixel| pixel[2]).collect();
    assert_eq!(blue, [1.0, 2.0, 3.0, 2.0, 1.0, 2.0, 3.0, 3.0]);
    let odd = raw_exr(&[("BY", 2), ("RY", 2), ("Y", 1)], [7, 6], 0, &[], |_, _, _| 1.0);
    assert!(text_of!(Damaged, decode(&odd)).contains("2x2"));
}

#[test]
fn what_an_exr_lacks_is_named() {
    let channels = [("B", 1), ("G", 1), ("R", 1)];
    let value = |c: usize, x: usize, y: usize| (c + 10 * x + 100 * y) as f32;
    let whole = raw_exr(&channels, [4, 3], 0, &[], value);
    let wanted = light(&whole);
    assert_eq!(wanted[5], [112.0, 111.0, 110.0]);
    // An unwritten chunk table, as interrupted programs leave it.
    let mut unfinished = whole.clone();
    let table = whole.len() - 3 * (8 + 48) - 3 * 8;
    unfinished[table..table + 24].fill(0);
    assert_eq!(light(&unfinished), wanted);
    let cut = |bytes: &[u8]| text_of!(Truncated, decode(bytes));
    assert!(cut(&unfinished[..unfinished.len() - 1]).contains("2 of 3 blocks"));
    assert!(cut(&whole[..whole.len() - 100]).contains("1 of 3 blocks"));
    assert!(cut(&whole[..table + 9]).contains("table"));
    assert!(cut(&whole[..100]).contains("header"));
    // HTJ2K, methods that later versions of OpenEXR may add; deep data.
    for (compression, word) in [(11, "HTJ2K"), (12, "unknown method"), (200, "unknown method")] {
        let packed = decode(&raw_exr(&channels, [4, 3], compression, &[], value));
        assert!(text_of!(Unsupported, packed).contains(word), "{compression}");
    }
    let mut deep =
        raw_exr(&channels, [4, 3], 0, &[("type", "string", b"deepscanline".to_vec())], value);
    deep[5] = 8;
    assert!(text_of!(Unsupported, decode(&deep)).contains("deep"));
    // Sizes that the bytes cannot contain allocate nothing.
    for (size, compression) in
        [([8192, 4096], 0), ([8192, 4096], 3), ([8192, 4096], 8), ([30_000, 30_000], 3)]
    {
        let mut hollow = raw_exr(&channels, [1, 1], compression, &[], value);
        let window = [0, 0, size[0] - 1, size[1] - 1].map(i32::to_le_bytes).concat();
        for name in ["dataWindow\0box2i\0", "displayWindow\0box2i\0"] {
            let at = hollow.windows(name.len()).position(|w| w == name.as_bytes()).unwrap()
                + name.len()
                + 4;
            hollow[at..at + 16].copy_from_slice(&window);
        }
        let error = decode(&hollow).unwrap_err();
        assert!(matches!(error, ImageError::Truncated(_) | ImageError::Size(_)), "{error}");
    }
}

#[test]
fn what_is_no_image_is_named_by_its_cause() {
    let cases: [(&[u8], &str); 19] = [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
        (b"../../.git/annex/objects/aa/bb/MD5E-s1--0.hdr", "git annex get"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b"\xef\xbb\xbf<HTML>", "web page"),
        (b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code>", "XML"),
        (b"{\"message\": \"not found\"}", "JSON"),
        (b"\xff\xfe#\0?\0R\0", "UTF-16"),
        (b"\xef\xbf\xbdPNG\r\n", "converted to text"),
        (&[0; 300], "zeros"),
        (b"II\x2a\0\x08\0\0\0", "TIFF"),
        (b"PF\n4 2\n-1.0\n", "PFM"),
        (b"\0\0\0\x1cftypheic", "HEIF"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP"),
        (b"PK\x03\x04", "unpack"),
        (b"hello, this is no picture", "text that begins with 'hello"),
        (&[7, 200, 3, 9], "07 c8 03 09"),
        (b"\x89PN", "89 50 4e"),
        // The line ends were converted.
        (b"\x89PNG\n\x1a\n\0", "unknown format"),
    ];
    for (bytes, cause) in cases {
        let error = text_of!(Format, decode(bytes));
        assert!(error.contains(cause) && !error.contains('\n'), "{cause}: {error}");
    }
}

#[test]
fn gain_maps_and_video_codes_are_remarked_on() {
    let mut jpeg = Cursor::new(Vec::new());
    image::RgbImage::from_pixel(8, 8, image::Rgb([200; 3]))
        .write_to(&mut jpeg, image::ImageFormat::Jpeg)
        .unwrap();
    let plain = jpeg.into_inner();
    assert!(decode(&plain).unwrap().warnings.is_empty());
    let text = b"http://ns.adobe.com/xap/1.0/\0<x hdrgm:Version=\"1.0\"/>";
    let mut ultra = plain[..2].to_vec();
    ultra.extend([0xff, 0xe1]);
    ultra.extend((text.len() as u16 + 2).to_be_bytes());
    ultra.extend(text);
    ultra.extend(&plain[2..]);
    let image = decode(&ultra).unwrap();
    assert!(image.warnings[0].contains("gain map"), "{:?}", image.warnings);
    let mut png = Cursor::new(Vec::new());
    image::RgbImage::from_pixel(8, 8, image::Rgb([200; 3]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    let mut png = png.into_inner();
    // Rec.2020, PQ, RGB, full range; the checksum is PNG's CRC-32 of name and data.
    let chunk =
        [&[0, 0, 0, 4][..], b"cICP", &[9, 16, 0, 1], &crc(b"cICP\x09\x10\x00\x01").to_be_bytes()]
            .concat();
    png.splice(33..33, chunk);
    assert!(decode(&png).unwrap().warnings[0].contains("cICP"));
}

/// CRC-32 of ISO 3309, as PNG has it.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    })
}

/// Truncation and byte flips of small files give one-line errors, never a panic, and valid light.
#[test]
fn damaged_files_are_answered() {
    let new = [&[2, 2, 0, 8][..], &[136, 130].repeat(4)].concat();
    let chroma = raw_exr(&[("BY", 2), ("RY", 2), ("Y", 1)], [4, 2], 0, &[], |_, _, _| 1.0);
    let half = vec![("R", halves(8, 1.0)), ("G", halves(8, 2.0)), ("B", halves(8, 3.0))];
    let piz = ex::Encoding { compression: ex::Compression::PIZ, ..ex::Encoding::FAST_LOSSLESS };
    let parts =
        vec![("a", [4, 2], [0, 0], vec![("Z", floats(8, 1.0))]), ("b", [4, 2], [0, 0], half)];
    let files = [
        hdr(
            &format!("{RGBE}\nEXPOSURE=2\nCOLORCORR=1 2 3"),
            "+X 8 -Y 4",
            &rgbe([1.0, 2.0, 3.0]).repeat(32),
        ),
        hdr(RGBE, "-Y 4 +X 8", &new.repeat(4)),
        exr(rgb(["R", "G", "B"], 8, [1.0, 2.0, 3.0])),
        exr_bytes(parts, ([0, 0], [4, 2]), piz, |_, _| {}),
        chroma,
    ];
    // A decoder's panic is caught, but prints a message.
    let mut count = [0usize; 2];
    for whole in &files {
        assert!(decode(whole).is_ok(), "{:?}", decode(whole).err());
        let cuts = (0..whole.len()).map(|end| whole[..end].to_vec());
        let bent = (0..whole.len()).flat_map(|at| {
            [0xff, 0x01, 0x80].map(|flip| {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                bytes
            })
        });
        for bytes in cuts.chain(bent) {
            match decode(&bytes) {
                Ok(image) => {
                    count[0] += 1;
                    let (pixels, _) = image.into_bounded_rgb();
                    assert!(
                        pixels.iter().all(
                            |p| Vec3::from_array(*p).is_finite() && p.iter().all(|v| *v >= 0.0)
                        )
                    );
                }
                Err(error) => {
                    count[1] += 1;
                    let text = error.to_string();
                    assert!(!text.contains('\n') && text.len() < 600, "{text}");
                }
            }
        }
    }
    assert!(count[0] > 300 && count[1] > 300, "{count:?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_before_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.png");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success()) {
        // Opening it would wait for a writer.
        let error = Format::of_file(&pipe).unwrap_err();
        assert!(error.contains("not a regular file"), "{error}");
    }
}
