//! One light a meter above a diffuse strip, seen at 45 degrees: every kind of light against
//! quadratures.

use std::f64::consts::{PI, SQRT_2};

use glam::{DVec3, Vec2, Vec3, dvec3};
use sunny16::{
    photometry::{
        Candela, Lux,
        lights::{Cone, Emitter, LightStrength, SpotFlux},
    },
    scene::{
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

use crate::{
    case::{Case, Reference, make_parallel, number, place},
    closed_forms::{Lamp, Surface},
};

const SIZE: [u32; 2] = [128, 32];
const HALF: [f64; 2] = [4.0, 1.0];
const AT: DVec3 = dvec3(0.0, 1.0, 0.0);
/// A measured distribution, cd at 0, 5, ... degrees: wings at 25 degrees, none from 60 on.
const WINGS: [f64; 19] = [
    400.0, 420.0, 480.0, 560.0, 640.0, 700.0, 690.0, 600.0, 420.0, 200.0, 60.0, 10.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0,
];

struct Kind {
    name: &'static str,
    what: &'static str,
    lamp: Lamp,
    look: &'static str,
    within: [f64; 3],
    why: &'static str,
}

fn kinds() -> Vec<Kind> {
    let exact = [0.001, 0.002, 0.003];
    let area = [0.003, 0.003, 0.005];
    let towards_sun = dvec3(-0.5, 0.8, 0.3).normalize();
    vec![
        Kind {
            name: "point",
            what: "800 lm in all directions",
            lamp: Lamp::Point(800.0 / (4.0 * PI)),
            look: "",
            within: exact,
            why: "E = I cos / d^2, I = 800 lm / 4 pi, times glTF's BRDF",
        },
        Kind {
            name: "spot",
            what: "500 cd, half angles of 0.6 and 1.1 rad",
            lamp: Lamp::Spot(500.0, 0.6, 1.1),
            look: "",
            within: exact,
            why: "KHR_lights_punctual's falloff, squared, over d^2, times glTF's BRDF",
        },
        Kind {
            name: "sun",
            what: "parallel light of 10,000 lx",
            lamp: Lamp::Sun(10_000.0, towards_sun),
            look: "",
            within: exact,
            why: "E = 10,000 lx cos, times glTF's BRDF",
        },
        Kind {
            name: "sphere",
            what: "1000 nit, radius 0.3 m",
            lamp: Lamp::Sphere(1000.0, 0.3),
            look: "shape = \"sphere\"\nradius = 0.3\nnits = 1000.0\n",
            within: area,
            why: "quadrature over the sphere; its illuminance is that of a point of pi L r^2 candela",
        },
        Kind {
            name: "disk",
            what: "1000 nit, radius 0.4 m",
            lamp: Lamp::Disk(1000.0, 0.4),
            look: "shape = \"disk\"\nradius = 0.4\nnits = 1000.0\n",
            within: area,
            why: "quadrature over the disk; below its middle E = pi L r^2 / (r^2 + d^2)",
        },
        Kind {
            name: "rectangle",
            what: "1000 nit, 1.2 m by 0.4 m",
            lamp: Lamp::Rectangle(1000.0, 1.2, 0.4),
            look: "shape = \"rectangle\"\nwidth = 1.2\nheight = 0.4\nnits = 1000.0\n",
            within: area,
            why: "quadrature over the rectangle; its illuminance is Lambert's sum over the edges",
        },
        Kind {
            name: "tube",
            what: "1000 nit, radius 0.05 m, 1.2 m long, round ends",
            lamp: Lamp::Tube(1000.0, 0.05, 1.2),
            look: "shape = \"tube\"\nradius = 0.05\nlength = 1.2\nnits = 1000.0\n",
            within: area,
            why: "quadrature over barrel and ends",
        },
        Kind {
            name: "ies",
            what: "a measured distribution with wings at 25 degrees",
            lamp: Lamp::Measured(5.0, &WINGS),
            look: "ies = \"wings.ies\"\n",
            within: [0.002, 0.004, 0.004],
            why: "LM-63 candela, interpolated linearly in the angle, over d^2, times glTF's BRDF",
        },
    ]
}

fn ies() -> Vec<u8> {
    let angles: Vec<String> = (0..WINGS.len()).map(|i| (i * 5).to_string()).collect();
    let values: Vec<String> = WINGS.iter().map(f64::to_string).collect();
    format!(
        "IESNA:LM-63-2002\n[TEST] made for validation\n[TESTLAB] none\n[ISSUEDATE] 2026\n[MANUFAC] none\nTILT=NONE\n1 -1 1 {} 1 1 2 0 0 0\n1 1 10\n{}\n0\n{}\n",
        WINGS.len(),
        angles.join(" "),
        values.join(" ")
    )
    .into_bytes()
}

pub fn cases() -> Vec<Case> {
    kinds().into_iter().map(one).collect()
}

fn one(kind: Kind) -> Case {
    let mut builder = SceneBuilder::new(kind.name);
    let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    place(&mut builder, "strip", shapes::plane(Vec2::new(8.0, 1.4), 1, 1), matte, DVec3::ZERO);
    let down = look_at_transform(AT, DVec3::ZERO);
    // A rectangle's width and a tube's length lie along the node's X, which is the world's here.
    assert!(down.x_axis.truncate().abs_diff_eq(DVec3::X, 1e-12));
    let candela = |value| LightStrength::Candela(Candela(value));
    match kind.lamp {
        Lamp::Sun(lux, towards) => {
            builder.sun("Lamp", Lux(lux), Vec3::ONE, -towards);
        }
        Lamp::Spot(value, inner, outer) => {
            let emitter =
                Emitter::Spot { cone: Cone::new(inner, outer).unwrap(), flux: SpotFlux::Exact };
            builder.light("Lamp", emitter, candela(value), Vec3::ONE, down);
        }
        Lamp::Point(value) => {
            builder.light("Lamp", Emitter::Point, candela(value), Vec3::ONE, down);
        }
        Lamp::Measured(..) => {
            builder.light("Lamp", Emitter::Point, candela(700.0), Vec3::ONE, down);
        }
        _ => {
            builder.light("Lamp", Emitter::Point, candela(1.0), Vec3::ONE, down);
        }
    }
    builder.camera("Camera", dvec3(0.0, 5.0, 5.0), DVec3::ZERO, 0.5, None);
    let mut scene = builder.build().unwrap();
    make_parallel(&mut scene, HALF.map(|half| half as f32));
    let look =
        if kind.look.is_empty() { String::new() } else { format!("[lights.Lamp]\n{}", kind.look) };
    let mut case = Case {
        name: format!("falloff_{}", kind.name),
        title: format!("Falloff: {}", kind.name),
        text: format!(
            "A matte strip (base color 0.5, roughness 1) and a lamp 1 m above it: {}.",
            kind.what
        ),
        size: SIZE,
        scene: Some(scene),
        look,
        bounces: 1,
        // Pixels and lights are sampled by the Sobol sequence. At 256 samples the tube would differ
        // from its closed form by 0.17 % of a bound of 0.3 %, the others by much less.
        spp: if kind.name == "tube" { 1024 } else { 256 },
        raster: true,
        references: vec![if kind.name == "tube" {
            Reference::mitsuba(32_768, "multi-jittered")
        } else {
            Reference::mitsuba(1024, "independent")
        }],
        more: if kind.name == "ies" { vec![("wings.ies".into(), ies())] } else { Vec::new() },
        ..Case::default()
    };
    let surface = Surface::gray(0.5, 0.0, 1.0);
    let eye = dvec3(0.0, 1.0, 1.0).normalize();
    let mut names = Vec::new();
    for (name, x) in [("below", 64), ("1 m", 80), ("2 m", 96), ("3.5 m", 120)] {
        // The spot and the measured light reach no farther.
        let reaches = match kind.name {
            "spot" => x < 96,
            "ies" => x < 90,
            _ => true,
        };
        if !reaches {
            continue;
        }
        let rect = [x - 2, 12, x + 2, 20];
        case.rect(name, rect);
        // Path-traced pixels are means over their area, rasterized ones are point samples; the two
        // differ where the light is not linear.
        let mean = |steps: u32| {
            let mut sum = 0.0;
            let step =
                |edge: u32, i: u32| f64::from(edge) + (f64::from(i) + 0.5) / f64::from(steps);
            let columns =
                (rect[0]..rect[2]).flat_map(|edge| (0..steps).map(move |i| step(edge, i)));
            let rows: Vec<f64> = (rect[1]..rect[3])
                .flat_map(|edge| (0..steps).map(move |i| step(edge, i)))
                .collect();
            for px in columns {
                for py in &rows {
                    let x = (2.0 * px / f64::from(SIZE[0]) - 1.0) * HALF[0];
                    let up = (1.0 - 2.0 * py / f64::from(SIZE[1])) * HALF[1];
                    // Up in the picture is (0, 1, -1) / sqrt 2.
                    sum += kind.lamp.seen(&surface, dvec3(x, 0.0, -up * SQRT_2), eye, AT);
                }
            }
            sum / f64::from(32 * steps * steps)
        };
        let (whole, middle) = (mean(3), mean(1));
        for (test, value, within) in [
            ("path", whole, kind.within[0]),
            ("mitsuba", whole, kind.within[1]),
            ("raster", middle, kind.within[2]),
        ] {
            case.expect(test, name, &format!("value = {:?}", number(value)), within, kind.why, "");
        }
        names.push(name.to_owned());
    }
    let limit = "at_most = 0.005";
    let more = crate::case::list(&names);
    case.bound(["path", "mitsuba"], "mean", limit, &more, "the same light by another renderer");
    case.bound(
        ["raster", "path_pixel_centers"],
        "mean",
        limit,
        &more,
        "direct light alone, at the middles of pixels",
    );
    case
}
