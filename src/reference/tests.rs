//! The path tracer against closed forms.

use std::{f64::consts::PI, sync::atomic::AtomicBool};

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::*;
use crate::{
    photometry::{
        Candela, Lux, Nit,
        lights::{Emitter, LightStrength, Sides},
        units::Lumen,
    },
    scene::{
        Material, Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

const FOV: Projection =
    Projection::Perspective { vertical_fov: 0.6, aspect: None, near: 0.01, far: None };

fn film(
    scene: &Scene,
    eye: DVec3,
    target: DVec3,
    size: (usize, usize),
    samples: u32,
    walk: PathSettings,
) -> Film {
    let world = World::new(scene, eye);
    let camera = Pinhole::new(look_at_transform(eye, target), FOV, size.0, size.1);
    let mut film =
        Film::new(size.0, size.1, FilmSettings { path: walk, ..FilmSettings::default() });
    assert!(film.add(&world, &camera, samples, &AtomicBool::new(false)));
    film
}

fn mean(film: &Film) -> DVec3 {
    let pixels = film.mean(LightComponents::total);
    pixels.iter().sum::<DVec3>() / pixels.len() as f64
}

fn diffuse(reflectance: f32) -> Material {
    dielectric("diffuse", Vec3::splat(reflectance), 1.0)
}

/// A small part of a plane, seen from straight above, under one light.
fn lit(light: impl FnOnce(&mut SceneBuilder), walk: PathSettings, samples: u32) -> DVec3 {
    let mut builder = SceneBuilder::new("lit");
    let material = builder.add_material(diffuse(0.5));
    let mesh = builder.add_mesh("plane", shapes::plane(Vec2::splat(0.02), 1, 1), material);
    builder.instance("plane", mesh, DMat4::IDENTITY);
    light(&mut builder);
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::new(0.0, 0.05, 0.01));
    let camera = Pinhole::new(
        look_at_transform(DVec3::new(0.0, 0.05, 0.01), DVec3::ZERO),
        Projection::Perspective { vertical_fov: 0.02, aspect: None, near: 1e-3, far: None },
        4,
        4,
    );
    let mut film = Film::new(4, 4, FilmSettings { path: walk, ..FilmSettings::default() });
    assert!(film.add(&world, &camera, samples, &AtomicBool::new(false)));
    let pixels = film.mean(|parts| parts.direct_diffuse);
    pixels.iter().sum::<DVec3>() / pixels.len() as f64
}

/// Ratio of diffuse luminance to irradiance for the diffuse half of a dielectric, for light and
/// view at normal incidence.
const MATTE: f64 = 0.5 * 0.96 / PI;

/// A mirrored box keeps its outside: a box is its own mirror image.
#[test]
fn a_mirrored_place_is_not_turned_inside_out() {
    let seen = |pose: DMat4| {
        let mut builder = SceneBuilder::new("box");
        let material =
            builder.add_material(Material { emission: Vec3::new(3.0, 2.0, 1.0), ..diffuse(0.5) });
        let mesh = builder.add_mesh("box", shapes::cuboid(Vec3::splat(1.0)), material);
        builder.instance("box", mesh, pose);
        builder.sun("sun", Lux(100.0), Vec3::ONE, DVec3::new(-0.3, -0.5, -1.0));
        let scene = builder.build().unwrap();
        let walk = PathSettings { bounces: 1, ..PathSettings::default() };
        mean(&film(&scene, DVec3::new(1.0, 1.5, 5.0), DVec3::ZERO, (16, 16), 16, walk))
    };
    let plain = seen(DMat4::IDENTITY);
    assert!(plain.min_element() > 1.0);
    for scale in [DVec3::new(-1.0, 1.0, 1.0), DVec3::splat(-1.0)] {
        let mirrored = seen(DMat4::from_scale(scale));
        assert!(
            (mirrored - plain).abs().max_element() < 1e-3 * plain.max_element(),
            "{mirrored} {plain}"
        );
    }
}

#[test]
fn lights_give_what_closed_forms_say() {
    let direct = PathSettings { bounces: 1, ..PathSettings::default() };
    let down = |height: f64| look_at_transform(DVec3::Y * height, DVec3::ZERO);
    let cases: Vec<(&str, Emitter, LightStrength, f64)> = vec![
        ("point", Emitter::Point, LightStrength::Candela(Candela(100.0)), 100.0 / 4.0),
        ("parallel", Emitter::PARALLEL, LightStrength::Lux(Lux(500.0)), 500.0),
        ("sun", Emitter::SUN, LightStrength::Lux(Lux(500.0)), 500.0),
        // 1000 nit; E = pi L r^2 / d^2.
        (
            "sphere",
            Emitter::Sphere { radius: 0.2 },
            LightStrength::Nits(Nit(1000.0)),
            PI * 1000.0 * 0.04 / 4.0,
        ),
        // E = pi L r^2 / (r^2 + d^2).
        (
            "disk",
            Emitter::Disk { radius: 0.2, sides: Sides::One },
            LightStrength::Nits(Nit(1000.0)),
            PI * 1000.0 * 0.04 / 4.04,
        ),
        // Over the center: four corner rectangles of 0.2 by 0.3 (Nusselt): each 1/2 (a/sqrt(a2+d2)
        // atan(b/sqrt(a2+d2)) + ...).
        (
            "rectangle",
            Emitter::Rectangle { width: 0.4, height: 0.6, sides: Sides::One },
            LightStrength::Nits(Nit(1000.0)),
            {
                let corner = |a: f64, b: f64, d: f64| {
                    let (p, q) = ((a * a + d * d).sqrt(), (b * b + d * d).sqrt());
                    0.5 * (a / p * (b / p).atan() + b / q * (a / q).atan())
                };
                4.0 * 1000.0 * corner(0.2, 0.3, 2.0)
            },
        ),
    ];
    for (name, emitter, strength, lux) in cases {
        let got = lit(
            |builder| {
                builder.light("lamp", emitter, strength, Vec3::ONE, down(2.0));
            },
            direct,
            256,
        )
        .y;
        // Small lights are near the normal: 1 - F is 0.96 within 1e-6.
        let want = MATTE * lux;
        assert!((got / want - 1.0).abs() < 5e-3, "{name}: {got}, {want}");
    }
}

/// Mean luminance and its standard deviation, in direct light.
fn by_strategy(scene: &Scene, strategy: SamplingStrategy, samples: u32) -> (f64, f64) {
    let walk = PathSettings { bounces: 1, strategy, ..PathSettings::default() };
    // Looking down, so that the light itself is not in the picture.
    let (eye, target) = (DVec3::new(0.0, 0.6, 0.9), DVec3::new(0.0, 0.0, 0.1));
    let film = film(scene, eye, target, (8, 8), samples, walk);
    let deviation = film.variance().iter().sum::<f64>().sqrt() / 64.0;
    (crate::photometry::color::luminance(mean(&film)), deviation)
}

#[test]
fn strategies_agree() {
    for (emitter, name) in [
        (Emitter::Sphere { radius: 0.4 }, "sphere"),
        (Emitter::Disk { radius: 0.5, sides: Sides::Two }, "disk"),
        (Emitter::Rectangle { width: 0.8, height: 0.6, sides: Sides::One }, "rectangle"),
        (Emitter::Tube { radius: 0.15, length: 0.8 }, "tube"),
        (Emitter::Sun { angular_radius: 0.2 }, "wide sun"),
    ] {
        for roughness in [0.3f32, 0.8] {
            let mut builder = SceneBuilder::new("agree");
            let material =
                builder.add_material(dielectric("m", Vec3::new(0.7, 0.5, 0.3), roughness));
            let mesh = builder.add_mesh("plane", shapes::plane(Vec2::splat(4.0), 1, 1), material);
            builder.instance("plane", mesh, DMat4::IDENTITY);
            let pose = look_at_transform(DVec3::new(0.3, 1.0, -0.4), DVec3::ZERO);
            let strength = if matches!(emitter, Emitter::Sun { .. }) {
                LightStrength::Lux(Lux(1000.0))
            } else {
                LightStrength::Lumens(Lumen(1000.0))
            };
            builder.light("lamp", emitter, strength, Vec3::ONE, pose);
            let scene = builder.build().unwrap();
            let run = |strategy, samples| by_strategy(&scene, strategy, samples);
            let (both, s0) = run(SamplingStrategy::Mis, 256);
            let (lights, s1) = run(SamplingStrategy::Lights, 256);
            let (brdf, s2) = run(SamplingStrategy::Bsdf, 2048);
            assert!(
                (both - lights).abs() < 3.0 * s0.hypot(s1) + 1e-6 * both,
                "{name} {roughness}: {both} {lights}"
            );
            assert!(
                (both - brdf).abs() < 3.0 * s0.hypot(s2) + 1e-6 * both,
                "{name} {roughness}: {both} {brdf}"
            );
        }
    }
}

#[test]
fn strategies_agree_on_a_glowing_triangle() {
    let mut builder = SceneBuilder::new("glow");
    let material = builder.add_material(dielectric("m", Vec3::new(0.7, 0.5, 0.3), 0.6));
    let mesh = builder.add_mesh("plane", shapes::plane(Vec2::splat(4.0), 1, 1), material);
    builder.instance("plane", mesh, DMat4::IDENTITY);
    let glow = Material {
        emission: Vec3::splat(900.0),
        double_sided: true,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    };
    let glow = builder.add_material(glow);
    let mesh = builder.add_mesh("glow", shapes::plane(Vec2::new(0.8, 0.5), 1, 1), glow);
    let pose = DMat4::from_translation(DVec3::new(0.3, 1.0, -0.4)) * DMat4::from_rotation_x(0.4);
    builder.instance("glow", mesh, pose);
    let scene = Scene { emissive_lights: true, ..builder.build().unwrap() };
    let (lights, s1) = by_strategy(&scene, SamplingStrategy::Lights, 512);
    let (brdf, s2) = by_strategy(&scene, SamplingStrategy::Bsdf, 2048);
    assert!(
        (lights - brdf).abs() < 3.0 * s1.hypot(s2) && s1.hypot(s2) < 0.02 * lights,
        "{lights} {brdf} {s1} {s2}"
    );
}

#[test]
fn inside_of_a_sphere_light_adds_up_to_the_closed_form() {
    // A point light of flux 4 pi in a diffuse sphere of radius 1: E = (flux / 4 pi R^2) / (1 - rho)
    // everywhere. The diffuse part of a dielectric is not Lambertian, not even with base color 0.5
    // under light at 60 degrees or less. So the reference is the mean albedo of the same BRDF, from
    // a furnace.
    let mut builder = SceneBuilder::new("sphere");
    let material = builder.add_material(Material { double_sided: true, ..diffuse(0.5) });
    let mesh = builder.add_mesh("sphere", shapes::icosphere(1.0, 5), material);
    builder.instance("sphere", mesh, DMat4::IDENTITY);
    builder.point_light_lumens("lamp", Lumen(4.0 * PI), Vec3::ONE, DVec3::ZERO);
    let scene = builder.build().unwrap();
    let run = |bounces| {
        let walk = PathSettings { bounces, roulette_after: 64, ..PathSettings::default() };
        mean(&film(
            &scene,
            DVec3::new(0.0, 0.0, 0.3),
            DVec3::new(0.0, 0.1, -1.0),
            (12, 12),
            256,
            walk,
        ))
        .y
    };
    // Direct light: 1 lx at the wall, up to its facets.
    let direct = run(1);
    assert!((direct / (1.0 * 0.5 * 0.96 / PI + 0.0) - 1.0).abs() < 0.05, "{direct}");
    // Each further bounce multiplies by the same albedo: the series is geometric.
    let (two, three, all) = (run(2), run(3), run(40));
    let ratio = (three - two) / (two - direct);
    let closed = direct + (two - direct) / (1.0 - ratio);
    assert!((all / closed - 1.0).abs() < 5e-3, "{all} {closed}");
}

#[test]
fn stopping_keeps_the_picture_and_batches_do_not_change_it() {
    let mut builder = SceneBuilder::new("batches");
    let material = builder.add_material(diffuse(0.5));
    let mesh = builder.add_mesh("plane", shapes::plane(Vec2::splat(2.0), 1, 1), material);
    builder.instance("plane", mesh, DMat4::IDENTITY);
    builder.point_light_lumens("lamp", Lumen(400.0), Vec3::ONE, DVec3::Y);
    let scene = builder.build().unwrap();
    let eye = DVec3::new(0.0, 1.0, 2.0);
    let world = World::new(&scene, eye);
    let camera = Pinhole::new(look_at_transform(eye, DVec3::ZERO), FOV, 20, 17);
    let never = AtomicBool::new(false);
    let mut once = Film::new(20, 17, FilmSettings::default());
    once.add(&world, &camera, 12, &never);
    let mut twice = Film::new(20, 17, FilmSettings::default());
    twice.add(&world, &camera, 5, &never);
    assert!(!twice.add(&world, &camera, 7, &AtomicBool::new(true)));
    assert_eq!(twice.samples(), 5);
    twice.add(&world, &camera, 7, &never);
    assert_eq!(once.mean(LightComponents::total), twice.mean(LightComponents::total));
}

#[test]
fn paths_stay_inside_of_a_hollow_ball() {
    // Seen from inside at an angle: rays that start on the wall itself have hits on its inner side.
    let mut part = shapes::icosphere(2.0, 4);
    part.indices.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
    part.normals.iter_mut().for_each(|normal| *normal = -*normal);
    let mut builder = SceneBuilder::new("hollow");
    let material = builder.add_material(diffuse(0.5));
    let mesh = builder.add_mesh("wall", part, material);
    builder.instance("wall", mesh, DMat4::IDENTITY);
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::new(1.5, 0.0, 0.0));
    let mut outside = 0;
    for index in 0..5000 {
        let mut sampler = sampler::Sampler::new(SamplerKind::Independent, 1, 0, 0, index);
        let (mut origin, mut away, mut normal) = (DVec3::ZERO, DVec3::ZERO, DVec3::NEG_Z);
        for _ in 0..6 {
            let (x, y) = normal.any_orthonormal_pair();
            let local = bsdf::sample_cosine_hemisphere(sampler.next_2d());
            let direction = x * local.x + y * local.y + normal * local.z;
            let Some(hit) = world.closest(origin, direction, away) else {
                outside += 1;
                break;
            };
            outside += i32::from(!hit.front);
            (origin, away, normal) = (hit.position, hit.geometric_normal, hit.geometric_normal);
        }
    }
    // 0.6 % of them pass without the projection of positions onto their triangles.
    assert!(outside <= 3, "{outside} of 30,000 rays passed through the wall");
}
