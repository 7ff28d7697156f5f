//! Depth of field: small emissive squares at several distances, against the circle of confusion of
//! a thin lens.

use std::f64::consts::PI;

use glam::{DMat4, DVec3, Vec3, dvec3, vec3};
use sunny16::scene::{
    Material, Primitive,
    build::{SceneBuilder, dielectric},
};

use crate::case::{Case, Reference};

/// Meters: focal length, focus distance from the lens, sensor width.
const F: f64 = 0.1;
const S: f64 = 1.0;
const SENSOR: f64 = 0.036;
const STOP: f64 = 1.4;
const SIZE: [u32; 2] = [192, 128];
const NITS: f64 = 1000.0;
/// Sides of the squares' images in pixels.
const SIDE: f64 = 2.0;

pub fn cases() -> Vec<Case> {
    let mut builder = SceneBuilder::new("points");
    let glow =
        Material { emission: Vec3::splat(NITS as f32), ..dielectric("glow", Vec3::ZERO, 1.0) };
    let glow = builder.add_material(glow);
    let image = F * S / (S - F);
    let pixel = SENSOR / f64::from(SIZE[0]);
    let mut places = Vec::new();
    for (index, z) in [0.7, 0.85, 1.0, 1.5, 2.0, 4.0].into_iter().enumerate() {
        let at = [32.0 + 64.0 * (index % 3) as f64, 32.0 + 64.0 * (index / 3) as f64];
        let scale = pixel * z / image;
        let half = (SIDE / 2.0 * scale) as f32;
        let square = Primitive {
            positions: [[-half, -half], [half, -half], [half, half], [-half, half]]
                .map(|[x, y]| vec3(x, y, 0.0))
                .to_vec(),
            normals: vec![Vec3::Z; 4],
            indices: vec![0, 1, 2, 0, 2, 3],
            ..Primitive::default()
        };
        let name = format!("{z} m");
        let mesh = builder.add_mesh(&name, square, glow);
        let center = dvec3((at[0] - 96.0) * scale, (64.0 - at[1]) * scale, -z);
        builder.instance(&name, mesh, DMat4::from_translation(center));
        places.push((name, z, at));
    }
    builder.camera("Camera", DVec3::ZERO, DVec3::NEG_Z, 0.2, Some(1.5));
    let look = format!(
        "[camera.body]\nsensor = \"36x24\"\n\n[camera.lens]\nfocal_length = {}\nf_stop = {STOP}\nfocus = {S:?}\nblades = 0\nbarrel_length = 0\n\n[effects.vignetting]\nenabled = false\n\n[effects.bloom]\nenabled = false\n",
        F * 1e3
    );
    let mut case = Case {
        name: "depth_of_field".into(),
        title: "Depth of field: points before and behind the focus".into(),
        text: "Squares of 1000 nit at 0.7, 0.85, 1, 1.5, 2 and 4 m; 100 mm, f/1.4, focused at 1 m, a round iris, no barrel before it."
            .into(),
        size: SIZE,
        scene: Some(builder.build().unwrap()),
        look,
        bounces: 0,
        spp: 4096,
        references: vec![Reference::mitsuba(32_768, "independent")],
        ..Case::default()
    };
    for (name, z, at) in places {
        let circle = F * F / (STOP * (S - F)) * (z - S).abs() / z / pixel;
        let all = (circle / 2.0 + 3.0).ceil();
        // A disk of pixels has about its area; a square has exactly its area.
        let rect = [at[0] - all, at[1] - all, at[0] + all, at[1] + all].map(|v| v as u32);
        case.rect(&name, rect);
        let mean = NITS * SIDE * SIDE / (4.0 * all * all);
        let why = "all of a square's light falls within its circle of confusion, c = f^2 |Z - S| / (N (S - f) Z)";
        case.expect_of_all(&name, mean, [0.01, 0.01, 0.0], why);
        if circle > 8.0 {
            let inner = format!("{name}, inside");
            let half = (circle * 0.5 / 2f64.sqrt() - 2.0).floor();
            case.rect(
                &inner,
                [at[0] - half, at[1] - half, at[0] + half, at[1] + half].map(|v| v as u32),
            );
            let value = NITS * SIDE * SIDE / (PI / 4.0 * circle * circle);
            let why = "spread evenly over the circle";
            case.expect_of_all(&inner, value, [0.02, 0.02, 0.0], why);
        }
    }
    let why = "the same lens by another renderer";
    case.mean_of_mitsuba("0.01", "", why);
    vec![case]
}
