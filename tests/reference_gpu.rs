//! The raster renderer beside the path tracer: direct light of every kind of lamp, with its shadows.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use std::sync::atomic::AtomicBool;

use common::{gpu, picture};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    camera::Exposure,
    frame::{LightListSettings, Settings, ShadowSettings},
    passes::View,
    photometry::{
        Candela, Ev100, Lux, color,
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
        units::Lumen,
    },
    reference::{Film, FilmSettings, Parts, Pinhole, Walk, World},
    scene::{
        Material, Projection, Scene,
        build::{SceneBuilder, dielectric, facing, metal},
        look::ShadowMethod,
        procedural::shapes,
    },
};

const SIZE: (usize, usize) = (96, 64);
const PROJECTION: Projection = Projection::Perspective { vertical_fov: 0.7, aspect: None, near: 0.05, far: None };

/// Two rows of balls and a wall on a floor, under one lamp.
fn scene(emitter: Emitter, strength: LightStrength) -> Scene {
    let mut builder = SceneBuilder::new("balls");
    let floor = builder.add_material(dielectric("floor", Vec3::new(0.5, 0.45, 0.4), 0.9));
    let plane = builder.add_mesh("floor", shapes::plane(Vec2::splat(12.0), 1, 1), floor);
    builder.instance("floor", plane, DMat4::IDENTITY);
    let wall = builder.add_mesh("wall", shapes::cuboid(Vec3::new(0.1, 0.8, 1.2)), floor);
    builder.instance("wall", wall, DMat4::from_translation(DVec3::new(-1.3, 0.4, 0.0)));
    for (index, roughness) in [0.25f32, 0.45, 0.7, 1.0].into_iter().enumerate() {
        let x = index as f64 * 0.6 - 0.8;
        for (z, material) in [
            (-0.4, metal("metal", Vec3::new(0.9, 0.7, 0.4), roughness)),
            (0.4, dielectric("plastic", Vec3::new(0.6, 0.1, 0.1), roughness)),
        ] {
            let material: Material = material;
            let material = builder.add_material(material);
            let ball = builder.add_mesh("ball", shapes::icosphere(0.25, 5), material);
            builder.instance("ball", ball, DMat4::from_translation(DVec3::new(x, 0.25, z)));
        }
    }
    builder.light("lamp", emitter, strength, Vec3::new(1.0, 0.9, 0.8), facing(DVec3::new(1.2, 2.2, 1.0), DVec3::ZERO));
    builder.build().unwrap()
}

#[test]
fn direct_light_and_shadows_are_those_of_the_path_tracer() {
    let Some(guard) = gpu() else { return };
    let mut renderer = guard.renderer();
    let eye = DVec3::new(0.3, 1.9, 3.4);
    let pose = facing(eye, DVec3::new(0.0, 0.15, 0.0));
    let view = View::new(pose, &PROJECTION, SIZE.0 as u32, SIZE.1 as u32);
    let lumens = LightStrength::Lumens(Lumen(2000.0));
    let cone = Cone::new(0.3, 0.6).unwrap();
    let cases = [
        ("point", Emitter::Point, LightStrength::Candela(Candela(200.0))),
        ("spot", Emitter::Spot { cone, flux: SpotFlux::Exact }, lumens),
        ("parallel", Emitter::PARALLEL, LightStrength::Lux(Lux(100.0))),
        ("sun of 4 degrees", Emitter::Sun { angular_radius: 0.035 }, LightStrength::Lux(Lux(100.0))),
        ("sphere", Emitter::Sphere { radius: 0.2 }, lumens),
        ("disk", Emitter::Disk { radius: 0.4, sides: Sides::One }, lumens),
        ("rectangle", Emitter::Rectangle { width: 0.9, height: 0.5, sides: Sides::One }, lumens),
        ("tube", Emitter::Tube { radius: 0.08, length: 1.2 }, lumens),
    ];
    let mut worst = (0.0, "");
    for (name, emitter, strength) in cases {
        let scene = scene(emitter, strength);
        let shadows = ShadowSettings { method: ShadowMethod::Traced, samples: 64, ..ShadowSettings::default() };
        let settings = Settings {
            exposure: Exposure::from_ev100(Ev100(7.0)).unwrap(),
            light_lists: LightListSettings { enabled: false, ..LightListSettings::default() },
            shadows,
            ..Settings::default()
        };
        let raster = picture(&mut renderer, &scene, &view, &settings);
        let world = World::new(&scene, eye);
        let camera = Pinhole::new(pose, PROJECTION, SIZE.0, SIZE.1);
        let walk = Walk { bounces: 1, ..Walk::default() };
        let mut film = Film::new(SIZE.0, SIZE.1, FilmSettings { walk, whole_pixels: false, ..FilmSettings::default() });
        assert!(film.add(&world, &camera, 64, &AtomicBool::new(false)));
        let reference = film.mean(Parts::total);
        let y = |c: DVec3| color::luminance(c);
        let of = |p: &[f32; 3]| y(Vec3::from_array(*p).as_dvec3());
        let mean = reference.iter().map(|c| y(*c)).sum::<f64>() / reference.len() as f64;
        let got = raster.nits.iter().map(of).sum::<f64>() / reference.len() as f64;
        // Blocks of 8x8 pixels, and how many pixels differ by more than a tenth of the mean: edges.
        let mut blocks = 0.0;
        for top in (0..SIZE.1).step_by(8) {
            for left in (0..SIZE.0).step_by(8) {
                let sum: f64 = (0..64)
                    .map(|i| (top + i / 8) * SIZE.0 + left + i % 8)
                    .map(|at| of(&raster.nits[at]) - y(reference[at]))
                    .sum();
                blocks += (sum / 64.0).powi(2);
            }
        }
        let blocks = (blocks / (SIZE.0 * SIZE.1 / 64) as f64).sqrt() / mean;
        let off = reference.iter().zip(&raster.nits).filter(|(a, b)| (y(**a) - of(b)).abs() > 0.1 * mean).count();
        let bias = got / mean - 1.0;
        println!(
            "{name}: mean {:+.3} % of {mean:.3} nit, blocks {:.2} % rms, {off} of {} pixels off by more than a tenth",
            bias * 100.0,
            blocks * 100.0,
            reference.len()
        );
        if bias.abs() > worst.0 {
            worst = (bias.abs(), name);
        }
        assert!(bias.abs() < 5e-3 * guard.slack(), "{name}: {bias}");
        assert!(blocks < 0.02, "{name}: {blocks}");
    }
    println!("worst mean: {:.3} %, {}", worst.0 * 100.0, worst.1);
}
