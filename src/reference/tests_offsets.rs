//! Ray offsets at surfaces: no light leaks past large surfaces, and no surface shades itself.

use std::f64::consts::PI;

use glam::{DMat4, DQuat, DVec3, Vec2, Vec3};

use super::{LightComponents, PathSettings, SamplerKind, World, sampler::Sampler};
use crate::{
    photometry::{
        Lux,
        environment::{RadianceMap, RowMapping},
    },
    scene::{
        AlphaMode, Environment, Material, Scene, Specular,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

/// A Lambertian material of reflectance 0.5.
fn diffuse() -> Material {
    let none = Specular { factor: 0.0, ..Specular::default() };
    Material { specular: none, double_sided: true, ..dielectric("diffuse", Vec3::splat(0.5), 1.0) }
}

fn mean(
    world: &World<'_>,
    origin: DVec3,
    direction: DVec3,
    walk: &PathSettings,
    paths: u32,
) -> DVec3 {
    let sum: DVec3 = (0..paths)
        .map(|path| {
            let mut sampler = Sampler::new(SamplerKind::Sobol, 5, 0, 0, path);
            LightComponents::total(&world.trace_path(origin, direction, walk, &mut sampler))
        })
        .sum();
    sum / f64::from(paths)
}

/// A board of a meter, a millimeter above a floor, in a uniform environment of 1000 nit. From
/// below, the board receives only about 4e-6 of the environment, by the floor's light beyond its
/// own edge. A leak shows the sky.
#[test]
fn no_light_leaks_under_a_board_over_a_large_floor() {
    let turned = DQuat::from_axis_angle(DVec3::new(0.3, 0.5, 0.8).normalize(), 0.7);
    for size in [20.0, 200.0, 2e3, 2e4] {
        for (turn, away) in
            [(DQuat::IDENTITY, 0.0), (turned, 0.0), (DQuat::IDENTITY, 1e5), (turned, 1e5)]
        {
            let middle = DVec3::splat(away);
            let at = |x: f64, y: f64, z: f64| middle + turn * DVec3::new(x * size, y, z * size);
            let mut builder = SceneBuilder::new("board");
            let material = builder.add_material(diffuse());
            let floor =
                builder.add_mesh("floor", shapes::plane(Vec2::splat(size as f32), 1, 1), material);
            let board = builder.add_mesh("board", shapes::plane(Vec2::splat(1.0), 1, 1), material);
            builder.instance("floor", floor, DMat4::from_rotation_translation(turn, middle));
            builder.instance(
                "board",
                board,
                DMat4::from_rotation_translation(turn, at(0.2, 1e-3, 0.3)),
            );
            let mut scene = builder.build().unwrap();
            let sky =
                RadianceMap::from_fn(4, 64, RowMapping::Linear, |_| DVec3::splat(1000.0)).unwrap();
            scene.environment =
                Some(Environment { map: sky.into(), rotation: 0.0, origin: "test".into() });
            let eye = at(0.2, 5e-4, 0.3);
            let world = World::new(&scene, eye);
            let walk = PathSettings::default();
            for direction in [DVec3::Y, DVec3::NEG_Y, DVec3::new(30.0, 1.0, 10.0).normalize()] {
                let dark = mean(&world, DVec3::ZERO, turn * direction, &walk, 256).y;
                assert!(
                    dark < 0.05,
                    "{size} m, {away} m out, turned {turn}, {direction}: {dark} nit"
                );
            }
            // Beside the board the floor receives half of the sky's light.
            let beside = at(0.2, 5e-4, 0.3) + turn * DVec3::new(1.0, 0.0, 0.0) - eye;
            let lit = mean(&world, beside, turn * DVec3::NEG_Y, &walk, 512).y;
            assert!((lit / 500.0 - 1.0).abs() < 0.02, "{size} m, {away} m out: {lit} nit");
        }
    }
}

/// A plane under parallel light: E rho / pi from every side, at any size and position.
#[test]
fn a_lit_plane_does_not_shade_itself() {
    let one = PathSettings { bounces: 1, ..PathSettings::default() };
    let turned = DQuat::from_axis_angle(DVec3::new(0.3, 0.5, 0.8).normalize(), 0.7);
    let plane = |scale: f64, place: DMat4, towards: DVec3| -> Scene {
        let mut builder = SceneBuilder::new("plane");
        let material = builder.add_material(diffuse());
        let mesh = builder.add_mesh("plane", shapes::plane(Vec2::splat(10.0), 3, 3), material);
        builder.instance("plane", mesh, place * DMat4::from_scale(DVec3::splat(scale)));
        builder.sun("sun", Lux(500.0), Vec3::ONE, towards);
        builder.build().unwrap()
    };
    for scale in [1e-3, 1.0, 1e3] {
        for away in [0.0, 1e3, 1e5] {
            for turn in [DQuat::IDENTITY, turned] {
                for height in [1.0, 0.1, 0.01] {
                    let sun = DVec3::new(0.6, height, -0.3).normalize();
                    let middle = DVec3::splat(away);
                    let scene =
                        plane(scale, DMat4::from_rotation_translation(turn, middle), turn * -sun);
                    let want = 500.0 * sun.y * 0.5 / PI;
                    for view in [DVec3::Y, DVec3::new(0.5, 0.5, 0.5), DVec3::new(1.0, 0.02, 0.2)] {
                        let view = view.normalize();
                        let eye = middle + turn * view * scale * 2.0;
                        let world = World::new(&scene, eye);
                        for index in 0..32 {
                            let aside = DVec3::new(
                                f64::from(index % 8) - 3.4,
                                0.0,
                                f64::from(index / 8) - 1.3,
                            );
                            let aim = aside * 0.3 - view * 2.0;
                            let got = mean(&world, DVec3::ZERO, turn * aim.normalize(), &one, 1).y;
                            assert!(
                                (got / want - 1.0).abs() < 1e-3,
                                "scale {scale}, {away} m out, sun {height}, view {view}: {got} for {want}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Transmissive layers a micrometer apart: each is hit once, none is skipped.
#[test]
fn each_of_many_close_layers_is_hit_once() {
    let mut builder = SceneBuilder::new("layers");
    let pane =
        Material { alpha: AlphaMode::Blend, base_color: Vec3::ZERO.extend(0.1), ..diffuse() };
    let material = builder.add_material(pane);
    let mesh = builder.add_mesh("layer", shapes::plane(Vec2::splat(100.0), 1, 1), material);
    for layer in 0..10 {
        builder.instance(
            "layer",
            mesh,
            DMat4::from_translation(DVec3::Y * (1e-6 * f64::from(layer))),
        );
    }
    let material = builder.add_material(diffuse());
    let floor = builder.add_mesh("floor", shapes::plane(Vec2::splat(100.0), 1, 1), material);
    builder.instance("floor", floor, DMat4::from_translation(DVec3::NEG_Y));
    builder.sun("sun", Lux(500.0), Vec3::ONE, DVec3::new(-1.0, -4.0, -2.0));
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::Y);
    for direction in [DVec3::NEG_Y, DVec3::new(3.0, -1.0, 2.0).normalize()] {
        let (mut origin, mut away, mut count) = (DVec3::ZERO, DVec3::ZERO, 0);
        while let Some(hit) =
            world.closest(origin, direction, away).filter(|hit| hit.position.y > -1.5)
        {
            (origin, away) = (hit.position, -hit.geometric_normal);
            count += 1;
            assert!(count <= 10);
        }
        assert_eq!(count, 10, "{direction}");
    }
    // Between floor and layers the eye sees the light that passes the shadow rays: E cos(theta)
    // 0.9^10 0.5 / pi.
    let walk = PathSettings { bounces: 1, ..PathSettings::default() };
    let got = mean(&world, DVec3::NEG_Y * 1.5, DVec3::NEG_Y, &walk, 1).y;
    let want = 500.0 * 4.0 / 21f64.sqrt() * 0.9f64.powi(10) * 0.5 / PI;
    assert!((got / want - 1.0).abs() < 1e-5, "{got} for {want}");
}

/// A cover half a millimeter above an emissive board hides it, also 1 km from the eye.
#[test]
fn light_of_a_board_does_not_pass_a_cover_right_before_it() {
    for away in [1.0, 1e3, 1e5] {
        let middle = DVec3::new(away, 0.0, away * 0.5);
        let mut builder = SceneBuilder::new("cover");
        let glowing = builder.add_material(Material { emission: Vec3::splat(1000.0), ..diffuse() });
        let dark =
            builder.add_material(Material { base_color: Vec3::ZERO.extend(1.0), ..diffuse() });
        let gray = builder.add_material(diffuse());
        let board = builder.add_mesh("board", shapes::plane(Vec2::splat(1.0), 1, 1), glowing);
        let cover = builder.add_mesh("cover", shapes::plane(Vec2::splat(20.0), 1, 1), dark);
        let floor = builder.add_mesh("floor", shapes::plane(Vec2::splat(1.0), 1, 1), gray);
        builder.instance("board", board, DMat4::from_translation(middle));
        builder.instance("cover", cover, DMat4::from_translation(middle + DVec3::Y * 5e-4));
        builder.instance("floor", floor, DMat4::from_translation(middle + DVec3::Y * 0.3));
        let mut scene = builder.build().unwrap();
        scene.emissive_lights = true;
        let world = World::new(&scene, DVec3::ZERO);
        let walk = PathSettings { bounces: 1, ..PathSettings::default() };
        let got = mean(&world, middle + DVec3::Y * 0.2, DVec3::Y, &walk, 64).y;
        assert!(got == 0.0, "{away} m out: {got} nit");
    }
}

/// A ball of 320 triangles under a sun from the side: E rho / pi times the cosine of its smooth
/// normal, everywhere. Rays from the triangles themselves meet their neighbors at the terminator.
#[test]
fn facets_of_a_ball_do_not_show_at_its_terminator() {
    let one = PathSettings { bounces: 1, ..PathSettings::default() };
    let mut builder = SceneBuilder::new("ball");
    let material = builder.add_material(diffuse());
    let mesh = builder.add_mesh("ball", shapes::icosphere(1.0, 2), material);
    // Mirrored and stretched: offsets follow the object.
    let place = DMat4::from_scale(DVec3::new(-1.0, 1.5, 1.0));
    builder.instance("ball", mesh, place);
    let sun = DVec3::new(0.8, 0.6, 0.0);
    builder.sun("sun", Lux(500.0), Vec3::ONE, -sun);
    let scene = builder.build().unwrap();
    let eye = DVec3::new(0.0, 0.0, 10.0);
    let world = World::new(&scene, eye);
    let (mut got, mut want) = (0.0, 0.0);
    for index in 0..4096 {
        let at = DVec3::new(f64::from(index % 64) - 31.3, f64::from(index / 64) - 31.6, 0.0) / 24.0;
        let direction = (at - eye).normalize();
        let Some(hit) = world.closest(DVec3::ZERO, direction, DVec3::ZERO) else { continue };
        let cosine = hit.normal.dot(sun).max(0.0);
        let (lit, expected) =
            (mean(&world, DVec3::ZERO, direction, &one, 1).y, 500.0 * 0.5 / PI * cosine);
        assert!((lit / expected - 1.0).abs() < 1e-3 || cosine < 0.1, "{at}: {lit} for {expected}");
        (got, want) = (got + lit, want + expected);
    }
    assert!((got / want - 1.0).abs() < 2e-3, "{got} for {want}");
}
