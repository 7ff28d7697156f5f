//! Materials halfway between dielectric and metal, and the camera's response: closed forms on flat
//! tiles.

use std::f64::consts::PI;

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3};
use sunny16::{
    photometry::Lux,
    scene::{
        Material,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

use crate::{
    case::{Case, Reference, bare, list, make_parallel, number},
    closed_forms::Surface,
};

pub fn cases() -> Vec<Case> {
    vec![pairs(), temperatures(), ladder(), sunny_16()]
}

/// Pairs of tiles: base color and roughness; each at metallic 0, 0.5 and 1.
const PAIRS: [(&str, [f32; 3], f32); 4] = [
    ("gold", [1.0, 0.766, 0.336], 0.3),
    ("gray", [0.18, 0.18, 0.18], 0.5),
    ("blue", [0.02, 0.05, 0.4], 0.7),
    ("white", [0.9, 0.9, 0.9], 1.0),
];

fn pairs() -> Case {
    let mut builder = SceneBuilder::new("pairs");
    for (column, (name, base, roughness)) in PAIRS.into_iter().enumerate() {
        for (row, metallic) in [0.0, 0.5, 1.0].into_iter().enumerate() {
            let name = format!("{name}, metallic {metallic}");
            let material = Material { metallic, ..dielectric(&name, Vec3::from(base), roughness) };
            let material = builder.add_material(material);
            let mesh =
                builder.add_mesh(&name, bare(shapes::plane(Vec2::splat(0.9), 1, 1)), material);
            let at = dvec3(column as f64 - 1.5, 0.0, row as f64 - 1.0);
            builder.instance(&name, mesh, DMat4::from_translation(at));
        }
    }
    // Near the mirror direction, where both the lobe and the base color contribute.
    let towards = dvec3(0.2, 1.0, -0.8).normalize();
    builder.sun("Sun", Lux(10_000.0), Vec3::ONE, -towards);
    builder.camera("Camera", dvec3(0.0, 7.0, 7.0), DVec3::ZERO, 0.5, None);
    let mut scene = builder.build().unwrap();
    make_parallel(&mut scene, [2.0, 1.2]);
    let mut case = Case {
        name: "material_pairs".into(),
        title: "Material pairs at metallic 0, 0.5 and 1".into(),
        text: "Tiles in parallel light, seen at 45 degrees: gold, gray, blue and white across, metallic 0, 0.5, 1 down. glTF mixes dielectric and metal; a mix of F0 and diffuse color instead would lose 12 to 21 %."
            .into(),
        size: [160, 96],
        scene: Some(scene),
        bounces: 1,
        spp: 64,
        raster: true,
        references: vec![Reference::mitsuba(64, "independent")],
        ..Case::default()
    };
    let eye = dvec3(0.0, -1.0, 1.0).normalize();
    let light = dvec3(towards.x, -towards.z, towards.y);
    let mut names = Vec::new();
    for (column, (name, base, roughness)) in PAIRS.into_iter().enumerate() {
        for (row, metallic) in [0.0, 0.5, 1.0].into_iter().enumerate() {
            let name = format!("{name}, metallic {metallic}");
            let x = 80.0 + 40.0 * (column as f64 - 1.5);
            let y = 48.0 + 40.0 * (row as f64 - 1.0) * 0.5f64.sqrt();
            case.rect(&name, [x - 12.0, y - 8.0, x + 12.0, y + 8.0].map(|v| v.round() as u32));
            let base = Vec3::from(base).as_dvec3();
            let roughness = f64::from((roughness * 1e6).round()) / 1e6;
            let nits = Surface { base, metallic, roughness }.brdf(eye, light) * light.z * 10_000.0;
            let value = format!("rgb = {:?}", nits.to_array().map(number));
            let why = "10,000 lx cos times glTF's BRDF in double precision";
            for (test, within) in [("path", 0.001), ("mitsuba", 0.002), ("raster", 0.005)] {
                // The rasterizer stores metallic in eight bits: 0.5 becomes 128/255.
                case.expect(test, &name, &value, within, why, "");
            }
            names.push(name);
        }
    }
    let why = "one BRDF, two renderers";
    case.mean_of_mitsuba("0.002", &list(&names), why);
    case
}

/// A card of roughness 1 that faces up, under a vertical sun, seen from above.
fn card(name: &str, base: f32, lux: f64) -> sunny16::scene::Scene {
    let mut builder = SceneBuilder::new(name);
    let card = builder.add_material(dielectric("card", Vec3::splat(base), 1.0));
    let mesh = builder.add_mesh("card", bare(shapes::plane(Vec2::splat(2.0), 1, 1)), card);
    builder.instance("card", mesh, DMat4::IDENTITY);
    builder.sun("Sun", Lux(lux), Vec3::ONE, DVec3::NEG_Y);
    builder.camera("Camera", dvec3(0.0, 5.0, 0.0), DVec3::ZERO, 0.5, None);
    let mut scene = builder.build().unwrap();
    make_parallel(&mut scene, [0.5, 0.5]);
    scene
}

/// The BRDF of a card of roughness 1 seen and lit along its normal: `(0.96 base + 0.01) / pi`.
fn of_card(base: f64) -> f64 {
    let brdf = Surface::gray(base, 0.0, 1.0).brdf(DVec3::Z, DVec3::Z).x;
    assert!((brdf - (0.96 * base + 0.01) / PI).abs() < 1e-12);
    brdf
}

/// Linear Rec.709 of black bodies at luminance 1: Planck's law with c2 = 1.438776877e-2 m K, the
/// CIE 1931 standard observer at 1 nm (CIE S 014-1 / ISO 11664-1) and Rec.709's primaries, computed
/// outside of this program.
const BLACK_BODIES: [(u32, [f64; 3]); 5] = [
    (2000, [2.5199, 0.6469, 0.0204]),
    (2700, [1.9348, 0.8036, 0.1918]),
    (4000, [1.4138, 0.9240, 0.5335]),
    (6500, [1.0432, 0.9836, 1.0352]),
    (10_000, [0.8718, 0.9946, 1.4310]),
];

fn temperatures() -> Case {
    let mut case = Case {
        name: "color_temperatures".into(),
        title: "Color temperatures of a lamp".into(),
        text: "A card under parallel light of 1000 lx of 2000 to 10,000 K: the color is a black body's, the lux stay."
            .into(),
        size: [16, 16],
        scene: Some(card("card", 0.5, 1000.0)),
        bounces: 1,
        spp: 16,
        raster: true,
        ..Case::default()
    };
    let gray = 1000.0 * of_card(0.5);
    for (kelvin, rgb) in BLACK_BODIES {
        let set = format!("set = [\"lights.Sun.kelvin={kelvin}\"]\n");
        let value = format!("rgb = {:?}", rgb.map(|v| number(v * gray)));
        // Four digits of the table: its smallest value is accurate to 0.25 %.
        let within = if kelvin == 2000 { 0.003 } else { 0.001 };
        let why = "Planck's law, CIE 1931, linear Rec.709 of luminance 1, times 1000 lx and the card's BRDF";
        case.expect("path", "all", &value, within, why, &set);
        case.expect("raster", "all", &value, within + 0.002, why, &set);
    }
    case
}

fn ladder() -> Case {
    // Reflectance 0.18 in total: 0.96 base + 0.01.
    let base = (0.18 - 0.01) / 0.96;
    let mut case = Case {
        name: "exposure_ladder".into(),
        title: "Exposure ladder and sunny 16".into(),
        text: "A card that reflects 18 % in 100,000 lx, from EV100 8 to 20.".into(),
        size: [16, 16],
        scene: Some(card("gray card", base as f32, 100_000.0)),
        look: "[camera.exposure]\nev100 = 15.0\n".into(),
        bounces: 1,
        spp: 16,
        raster: true,
        ..Case::default()
    };
    let mut add = |value: String, set: String, why: &str| {
        for (test, within) in [("path", 0.001), ("raster", 0.003)] {
            let more = format!("{set}exposed = true\n");
            case.expect(test, "all", &format!("value = {value:?}"), within, why, &more);
        }
    };
    for ev in (8..=20).step_by(2) {
        let why = "L / (1.2 2^EV100): ISO 12232's saturation at q = 0.65";
        let set = format!("set = [\"camera.exposure.ev100={ev}\"]\n");
        add(format!("100000 * 0.18 / PI / (1.2 * 2^{ev})"), set, why);
    }
    case
}

fn sunny_16() -> Case {
    let mut case = Case {
        name: "sunny_16".into(),
        title: "Sunny 16".into(),
        text: "The card of the exposure ladder at f/16, 1/100 s, ISO 100.".into(),
        size: [16, 16],
        scene_of: "exposure_ladder",
        look: "[camera.lens]\nf_stop = 16.0\n\n[camera.body]\nshutter = \"1/100\"\niso = 100.0\n"
            .into(),
        bounces: 1,
        spp: 16,
        raster: true,
        ..Case::default()
    };
    let value = "value = \"100000 * 0.18 / PI / (1.2 * 16^2 * 100)\"";
    let why = "EV100 = log2(N^2 / t): a card in full sun lands at 0.1865 of white";
    for (test, within) in [("path", 0.001), ("raster", 0.003)] {
        case.expect(test, "all", value, within, why, "exposed = true\n");
    }
    let why = "a stop more of each dial at the cost of another leaves the picture as it is";
    let set = "set = [\"camera.lens.f_stop=8\", \"camera.body.shutter=1/400\"]\nexposed = true\n";
    case.expect("path", "all", value, 0.001, why, set);
    case
}
