//! The window on HDR displays: encoding on the device against the host, drawn to an image.

use crate::common::gpu;
use egui::{ColorImage, TextureId, TexturesDelta, epaint::ImageDelta};
use glam::{Mat3, Vec3, vec3};
use sunny16::{
    camera::{DisplayEncoding, DisplayRange, ToneMapper, display},
    gpu::vk,
    passes::{
        tonemap::DisplayTransform,
        ui::{UiDraw, UiShapes, UiVertex},
    },
    photometry::{Nit, color},
    viewer::painter::{HDR_IMAGE, HdrImage, Painter},
};

const HUES: [[f32; 3]; 6] = [
    [1.0, 1.0, 1.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.25, 0.05],
    [0.125, 0.05, 1.0],
];
const LEVELS: usize = 32;
/// Below the picture: the panel's rows.
const PANEL: u32 = 6;
const SIZE: [u32; 2] = [LEVELS as u32, HUES.len() as u32 + PANEL];
/// Panels in sRGB bytes.
const BYTES: [u8; 3] = [0, 188, 255];

/// A textured quad over rows of the target.
fn quad(shapes: &mut UiShapes, texture: u64, rows: [u32; 2], color: [u8; 4]) {
    let first = shapes.indices.len() as u32;
    let first_vertex = shapes.vertices.len() as u32;
    shapes.indices.extend([0, 1, 2, 2, 1, 3]);
    for corner in 0..4u32 {
        let uv = [(corner & 1) as f32, (corner >> 1) as f32];
        let y = rows[0] as f32 + uv[1] * (rows[1] - rows[0]) as f32;
        shapes.vertices.push(UiVertex { position: [uv[0] * SIZE[0] as f32, y], uv, color });
    }
    let clip = [0, rows[0], SIZE[0], rows[1] - rows[0]];
    shapes.draws.push(UiDraw { clip, indices: first..first + 6, first_vertex, texture });
}

/// Codes of a target's pixels.
fn codes(format: vk::Format, bytes: &[u8]) -> Vec<Vec3> {
    match format {
        vk::Format::A2B10G10R10_UNORM_PACK32 => bytes
            .chunks_exact(4)
            .map(|b| {
                let word = u32::from_le_bytes(b.try_into().unwrap());
                assert_eq!(word >> 30, 3, "alpha is 1");
                vec3((word & 1023) as f32, (word >> 10 & 1023) as f32, (word >> 20 & 1023) as f32)
                    / 1023.0
            })
            .collect(),
        _ => bytes
            .chunks_exact(8)
            .map(|b| {
                let half = |i: usize| half::f16::from_le_bytes([b[i * 2], b[i * 2 + 1]]).to_f32();
                assert_eq!(half(3), 1.0);
                vec3(half(0), half(1), half(2))
            })
            .collect(),
    }
}

#[test]
fn device_encoding_of_picture_and_panels_matches_host() {
    let Some(guard) = gpu() else { return };
    let nits: Vec<[f32; 3]> = HUES
        .iter()
        .flat_map(|hue| {
            // Exposed values of 1e-3 to 1e3, with white at 50 nit.
            (0..LEVELS).map(move |i| {
                hue.map(|h| h * 50.0 * 1e-3 * 1e6f32.powf(i as f32 / (LEVELS - 1) as f32))
            })
        })
        .collect();
    let white_balance = Mat3::from_diagonal(vec3(1.1, 1.0, 0.8));
    let mut painter = Painter::new(&guard.gpu, vk::Format::R8G8B8A8_UNORM).unwrap();
    let mut white = TexturesDelta::default();
    let image = ColorImage::filled([1, 1], egui::Color32::WHITE);
    white.set.insert(
        TextureId::Managed(0),
        [ImageDelta::full(image, egui::TextureOptions::LINEAR)].into(),
    );
    // The texture survives changes of the display.
    painter.take(white, &[], 1.0, SIZE).unwrap();
    let mut number = 0;
    for (format, encoding) in [
        (vk::Format::A2B10G10R10_UNORM_PACK32, DisplayEncoding::Hdr10),
        (vk::Format::R16G16B16A16_SFLOAT, DisplayEncoding::ScRgb),
    ] {
        painter.aim_at(format, encoding).unwrap();
        assert_eq!((painter.format(), painter.encoding()), (format, encoding));
        for (mapper, [paper, peak]) in ToneMapper::ALL.into_iter().zip([
            [203.0, 1000.0],
            [100.0, 4000.0],
            [203.0, 1000.0],
            [300.0, 300.0],
        ]) {
            number += 1;
            let range = DisplayRange::new(Nit(paper), Nit(peak)).unwrap();
            let to_display = DisplayTransform { mapper, white_balance, dither: true };
            let size = [LEVELS, HUES.len()];
            let light = HdrImage { number, size, nits: &nits, multiplier: 1.0 / 50.0, to_display };
            painter.set_hdr_image(Some(light), range).unwrap();
            let mut shapes = UiShapes { scale: 1.0, ..UiShapes::default() };
            quad(&mut shapes, u64::MAX, [0, HUES.len() as u32], [255; 4]);
            assert_eq!(HDR_IMAGE, TextureId::User(u64::MAX));
            for (i, byte) in BYTES.into_iter().enumerate() {
                let top = HUES.len() as u32 + 2 * i as u32;
                quad(&mut shapes, 0, [top, top + 2], [byte, byte, byte, 255]);
            }
            // The second time from the cache.
            let first = painter.render_to_bytes(SIZE, &shapes).unwrap();
            painter.set_hdr_image(Some(light), range).unwrap();
            assert_eq!(painter.render_to_bytes(SIZE, &shapes).unwrap(), first);
            let got = codes(format, &first);
            // Ten bits, and half floats before them; scRGB in half floats twice.
            let mut worst: f32 = 0.0;
            let mut compare = |got: Vec3, linear: Vec3, what: &str| {
                let want = encoding.codes(linear, range);
                let off = (got - want).abs();
                let off = match encoding {
                    DisplayEncoding::Hdr10 => off * 1023.0,
                    _ => off / want.max(Vec3::splat(0.01)) * 500.0,
                };
                worst = worst.max(off.max_element());
                assert!(
                    off.max_element() <= 2.0,
                    "{encoding:?} {mapper:?} {what}: {got} is not {want}"
                );
            };
            let mut brightest: f32 = 0.0;
            for (i, nits) in nits.iter().enumerate() {
                let exposed = white_balance * (Vec3::from_array(*nits) / 50.0);
                let linear = display::tone_map_hdr(mapper, exposed, range.headroom());
                brightest = brightest.max(linear.max_element());
                compare(got[i], linear, &format!("{exposed}"));
            }
            assert!(
                (brightest / range.headroom() - 1.0).abs() < 0.01,
                "the ramp reaches the peak: {brightest}"
            );
            for (i, byte) in BYTES.into_iter().enumerate() {
                let linear = Vec3::splat(color::srgb_eotf(f64::from(byte) / 255.0) as f32);
                compare(
                    got[(HUES.len() + 2 * i) * LEVELS + 3],
                    linear,
                    &format!("panel of {byte}"),
                );
            }
            let name = mapper.name();
            println!(
                "{encoding:?} {name}, {paper} to {peak} nit: {worst:.2} of 2 steps off, up to {brightest:.2} of white"
            );
        }
    }
    // Published: paper white at 203 nit is 58.07 %, ITU-R BT.2408.
    painter.aim_at(vk::Format::A2B10G10R10_UNORM_PACK32, DisplayEncoding::Hdr10).unwrap();
    let mut shapes = UiShapes { scale: 1.0, ..UiShapes::default() };
    quad(&mut shapes, 0, [0, SIZE[1]], [255; 4]);
    let paper = codes(painter.format(), &painter.render_to_bytes(SIZE, &shapes).unwrap())[0];
    assert!((paper * 1023.0 - Vec3::splat(594.0)).abs().max_element() < 1.01, "{}", paper * 1023.0);
    // And back to bytes, unchanged.
    painter.aim_at(vk::Format::R8G8B8A8_UNORM, DisplayEncoding::Srgb).unwrap();
    assert_eq!(painter.render_to_bytes(SIZE, &shapes).unwrap()[..4], [255; 4]);
}
