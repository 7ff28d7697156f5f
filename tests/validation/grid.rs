//! Eighteen balls before a wall: roughness 0.1 to 1 across, metallic 0, 0.5 and 1 down.

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3};
use sunny16::{
    photometry::{
        Candela, Lux,
        lights::{Emitter, LightStrength},
    },
    scene::{
        Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

use crate::case::{Case, Reference, bare, list};

pub const ROUGHNESS: [f32; 6] = [0.1, 0.2, 0.4, 0.6, 0.8, 1.0];
pub const METALLIC: [f32; 3] = [0.0, 0.5, 1.0];
const BASE: Vec3 = Vec3::new(0.9, 0.5, 0.2);
const SIZE: [u32; 2] = [192, 96];

fn scene() -> Scene {
    let mut builder = SceneBuilder::new("grid");
    let wall = builder.add_material(dielectric("wall", Vec3::splat(0.5), 1.0));
    let plane = builder.add_mesh("wall", bare(shapes::plane(Vec2::new(8.0, 5.0), 1, 1)), wall);
    let upright =
        DMat4::from_translation(dvec3(0.0, 0.0, -0.6)) * DMat4::from_rotation_x(90f64.to_radians());
    builder.instance("wall", plane, upright);
    for (row, metallic) in METALLIC.into_iter().enumerate() {
        for (column, roughness) in ROUGHNESS.into_iter().enumerate() {
            let name = format!("ball {row} {column}");
            let material = Material { metallic, ..dielectric(&name, BASE, roughness) };
            let material = builder.add_material(material);
            let mesh = builder.add_mesh(&name, bare(shapes::icosphere(0.4, 4)), material);
            builder.instance(
                &name,
                mesh,
                DMat4::from_translation(dvec3(column as f64 - 2.5, 1.0 - row as f64, 0.0)),
            );
        }
    }
    builder.sun("Sun", Lux(10_000.0), Vec3::ONE, dvec3(0.5, -0.8, -0.9));
    let at = dvec3(-1.5, 2.5, 3.0);
    builder.light(
        "Lamp",
        Emitter::Point,
        LightStrength::Candela(Candela(1.0)),
        Vec3::ONE,
        look_at_transform(at, DVec3::ZERO),
    );
    builder.camera(
        "Camera",
        dvec3(0.0, 0.0, 12.0),
        DVec3::ZERO,
        2.0 * (1.6f32 / 12.0).atan(),
        Some(2.0),
    );
    builder.build().unwrap()
}

/// A sky for the grid: pale blue above, brown below, a broad bright area before the balls at the
/// upper left. Radiance .hdr without compression, four bytes per pixel: a mantissa byte of 128 and
/// an exponent of 128 + 1 are 1.
pub fn hdr(width: usize, height: usize, nits: impl Fn(DVec3) -> DVec3) -> Vec<u8> {
    let mut out =
        format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n").into_bytes();
    for y in 0..height {
        for x in 0..width {
            let turn = ((x as f64 + 0.5) / width as f64 - 0.5) * std::f64::consts::TAU;
            let (sin_e, cos_e) =
                ((0.5 - (y as f64 + 0.5) / height as f64) * std::f64::consts::PI).sin_cos();
            // The middle of the picture is -Z, to the right is +X.
            let rgb = nits(dvec3(cos_e * turn.sin(), sin_e, -cos_e * turn.cos()));
            let exponent = rgb.max_element().log2().floor() as i32 + 1;
            let scale = 2f64.powi(8 - exponent);
            out.extend(rgb.to_array().map(|v| (v * scale).floor().min(255.0) as u8));
            out.push((exponent + 128) as u8);
        }
    }
    out
}

fn sky(d: DVec3) -> DVec3 {
    let t = d.y.clamp(-1.0, 1.0) * 0.5 + 0.5;
    let around = dvec3(60.0, 45.0, 30.0).lerp(dvec3(150.0, 220.0, 400.0), t * t * (3.0 - 2.0 * t));
    let cos = d.dot(dvec3(-0.5, 0.6, 0.7).normalize());
    around + dvec3(3000.0, 2700.0, 2200.0) * ((cos - 1.0) / 0.06).exp()
}

fn name(row: usize, column: usize) -> String {
    format!("metallic {}, roughness {}", METALLIC[row], ROUGHNESS[column])
}

pub fn cases() -> Vec<Case> {
    let lamp = "[lights.Sun]\nenabled = false\n\n[lights.Lamp]\nshape = \"sphere\"\nradius = 0.6\nlumens = 4000.0\n";
    let off = "[lights.Sun]\nenabled = false\n\n[lights.Lamp]\nenabled = false\n\n[environment]\nscale = 1.0\n";
    let mut out = Vec::new();
    for (light, what, look) in [
        ("sun", "parallel light of 10,000 lx", "[lights.Lamp]\nenabled = false\n".to_owned()),
        ("area_light", "a sphere of 4000 lm, radius 0.6 m", lamp.to_owned()),
        ("sky", "a sky with a broad glow", format!("{off}file = \"sky.hdr\"\n")),
    ] {
        for full in [false, true] {
            let mitsuba = match (light, full) {
                ("sky", true) => Reference::mitsuba(4096, "independent"),
                ("sky", false) | (_, true) => Reference::mitsuba(1024, "independent"),
                ("area_light", false) => Reference::mitsuba(16_384, "multi-jittered"),
                _ => Reference::mitsuba(8192, "multi-jittered"),
            };
            let mut references = vec![mitsuba];
            if light != "sky" && !full {
                references.push(Reference::cycles(128, "Principled with GGX"));
            }
            let mut case = Case {
                name: format!("grid_{light}{}", if full { "_full" } else { "" }),
                title: format!("Roughness by metallic under {what}, {}", if full { "all light" } else { "direct light" }),
                text: "Balls of base color 0.9, 0.5, 0.2: roughness 0.1, 0.2, 0.4, 0.6, 0.8, 1 across; metallic 0, 0.5, 1 down."
                    .into(),
                size: SIZE,
                scene: (light == "sun" && !full).then(scene),
                scene_of: "grid_sun",
                look: look.replace("\"sky", if full { "\"../grid_sky/sky" } else { "\"sky" }),
                more: if light == "sky" && !full { vec![("sky.hdr".into(), hdr(64, 32, sky))] } else { Vec::new() },
                bounces: if full { 32 } else { 1 },
                // Highlights of a point light on smooth metal are two pixels wide.
                // Without area, only the pixel is sampled: at 512 samples, balls were within 0.02 %,
                // of a bound of 0.5 %. Under the sky most of the difference is Mitsuba's noise.
                spp: match (light, full) {
                    ("area_light", false) => 1024,
                    ("sun", false) => 128,
                    ("sky", false) => 256,
                    _ => 512,
                },
                raster: light != "sky" && !full,
                references,
                ..Case::default()
            };
            let mut bounded = Vec::new();
            for row in 0..3 {
                for (column, roughness) in ROUGHNESS.into_iter().enumerate() {
                    let at =
                        [96.0 + 30.0 * (column as f64 - 2.5), 48.0 + 30.0 * (row as f64 - 1.0)];
                    case.circle(&name(row, column), at, 11.5);
                    if roughness >= 0.2 {
                        bounded.push(name(row, column));
                    }
                }
            }
            if !full {
                let why = "one BRDF, two renderers; a ball's mean";
                // A highlight of two pixels: at these samples that ball's standard error is up to
                // 0.8 %.
                let noisy = (light == "area_light").then(|| name(2, 1));
                let sharp: Vec<String> =
                    bounded.iter().filter(|ball| Some(*ball) != noisy.as_ref()).cloned().collect();
                case.mean_of_mitsuba("0.005", &list(&sharp), why);
                if let Some(ball) = noisy {
                    let why = "two pixels hold half of its light, noisy by up to 0.8 % (validation/README.md)";
                    case.mean_of_mitsuba("0.02", &list(&[ball]), why);
                }
            } else {
                // Caustics of smooth metal are found by random paths only: single balls are noisy
                // by percents, under a sun entirely.
                let why = "one BRDF, two renderers";
                case.mean_of_mitsuba("0.005", "", why);
            }
            if case.raster {
                case.raster_bounds();
                let more = list(&bounded);
                let why = "every ball by itself, against the path tracer at the middles of pixels";
                case.bound(["raster", "path_pixel_centers"], "mean", "at_most = 0.005", &more, why);
            }
            out.push(case);
        }
    }
    out
}
