//! Material extensions in complete paths.

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    LightComponents, PathSettings, SamplerKind, SamplingStrategy, World, media::Medium,
    sampler::Sampler,
};
use crate::{
    photometry::{
        Lumen,
        environment::{RadianceMap, RowMapping},
    },
    scene::{
        Clearcoat, DiffuseTransmission, Environment, Material, MaterialVolume, Scene, Sheen,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

/// A scene in a uniform environment.
fn even(nits: f64, fill: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("materials");
    fill(&mut builder);
    let mut scene = builder.build().unwrap();
    let map = RadianceMap::from_fn(4, 64, RowMapping::Linear, |_| DVec3::splat(nits));
    scene.environment =
        Some(Environment { map: map.unwrap().into(), rotation: 0.0, origin: "test".into() });
    scene
}

fn put(builder: &mut SceneBuilder, part: crate::scene::Primitive, material: Material, at: DVec3) {
    let material = builder.add_material(material);
    let mesh = builder.add_mesh("part", part, material);
    builder.instance("part", mesh, DMat4::from_translation(at));
}

/// Mean of paths along a ray from the eye.
fn seen(world: &World<'_>, direction: DVec3, walk: &PathSettings, count: u32) -> DVec3 {
    let mut sum = LightComponents::default().total();
    for index in 0..count {
        let mut sampler =
            Sampler::new(SamplerKind::Sobol, 5, (direction.x * 1e4) as i64 as u32, 3, index);
        let path = world.trace_path(DVec3::ZERO, direction.normalize(), walk, &mut sampler);
        assert!(path.total().is_finite());
        sum += path.total();
    }
    sum / f64::from(count)
}

fn near(got: DVec3, want: DVec3, relative: f64, what: &str) {
    assert!(
        (got - want).abs().max_element() <= relative * want.max_element() + 1e-9,
        "{what}: {got}, {want}"
    );
}

fn disperse(dispersion: f32, roughness: f32) -> Material {
    let volume = MaterialVolume { thickness: 1.0, ..MaterialVolume::default() };
    Material { transmission: 1.0, dispersion, volume, ..dielectric("prism", Vec3::ONE, roughness) }
}

#[test]
fn three_indices_bend_three_channels() {
    let medium = Medium::of(&disperse(2.0, 0.0)).unwrap();
    let indices = [Some(0), Some(1), Some(2), None].map(|channel| medium.ior_of(channel));
    // Half of (n - 1) / V with V = 20 / 2.
    assert_eq!(indices, [1.475, 1.5, 1.525, 1.5]);
    // A slab in air: where a ray leaves at the bottom by Snell's law, the floor is colored
    // accordingly: red to the far side of blue.
    let scene = even(0.0, |builder| {
        put(builder, shapes::cuboid(Vec3::new(8.0, 1.0, 8.0)), disperse(4.0, 0.0), DVec3::ZERO);
        // An emissive floor that ends half way between the exits of green and red.
        let sin: f64 = 0.8;
        let at = |ior: f64| sin / (ior * ior - sin * sin).sqrt();
        let edge = f64::midpoint(at(1.45), at(1.5));
        let floor =
            Material { emission: Vec3::splat(100.0), ..dielectric("floor", Vec3::ZERO, 1.0) };
        // The ray enters at (0, 0.5, 0) towards +x.
        let floor_at = DVec3::new(edge + 2.0, -0.5 - 1e-4, 0.0);
        put(
            builder,
            shapes::plane(Vec2::new(4.0, 4.0), 1, 1),
            Material { ior: 1.0, ..floor },
            floor_at,
        );
    });
    let direction = DVec3::new(0.8, -0.6, 0.0);
    // From above, so that the ray enters the slab's top at x = 0.
    let eye = DVec3::new(0.0, 0.5, 0.0) - direction * 2.0;
    let world = World::new(&scene, eye);
    let mean =
        seen(&world, direction, &PathSettings { bounces: 4, ..PathSettings::default() }, 4096);
    // Only red light: the least refracted goes farthest.
    assert!(mean.x > 50.0 && mean.y < 0.25 * mean.x && mean.z < 0.25 * mean.x, "{mean}");
}

#[test]
fn channels_apart_are_right_together() {
    for roughness in [0.0, 0.3] {
        let build = |dispersion: f32| {
            even(7.0, |builder| {
                put(
                    builder,
                    shapes::icosphere(1.0, 3),
                    disperse(dispersion, roughness),
                    DVec3::ZERO,
                );
            })
        };
        let (plain, scene) = (build(0.0), build(3.0));
        let eye = DVec3::Z * 4.0;
        let (plain, world) = (World::new(&plain, eye), World::new(&scene, eye));
        let walk = PathSettings { bounces: 128, ..PathSettings::default() };
        for x in [0.0, 0.1, 0.2] {
            let direction = DVec3::new(x, 0.03, -1.0);
            let got = seen(&world, direction, &walk, 3 << 11);
            if roughness == 0.0 {
                // Smooth glass without absorption is invisible in a uniform environment, in every
                // channel.
                near(got, DVec3::splat(7.0), 0.04, "smooth");
            } else {
                // Rough glass of similar indices has similar losses; green has the same index.
                let want = seen(&plain, direction, &walk, 1 << 11);
                near(got, want, 0.08, "rough");
            }
        }
    }
}

#[test]
fn a_coat_darkens_what_glows_below_it() {
    let coat = Clearcoat { factor: 1.0, roughness: 0.1, ..Clearcoat::default() };
    let glow = Material {
        emission: Vec3::splat(100.0),
        clearcoat: coat,
        double_sided: true,
        ior: 1.0,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    };
    let mut builder = SceneBuilder::new("coat");
    put(&mut builder, shapes::plane(Vec2::splat(2.0), 1, 1), glow, DVec3::ZERO);
    let mut scene = builder.build().unwrap();
    scene.emissive_lights = true;
    let world = World::new(&scene, DVec3::Y * 2.0);
    let none = PathSettings { bounces: 0, ..PathSettings::default() };
    near(seen(&world, DVec3::NEG_Y, &none, 1), DVec3::splat(96.0), 1e-12, "along the normal");
    // A card that it illuminates: light sampling and BSDF sampling agree on the coat.
    let mut builder = SceneBuilder::new("coat");
    put(
        &mut builder,
        shapes::plane(Vec2::splat(0.5), 1, 1),
        Material { clearcoat: coat, ..glow_of(100.0) },
        DVec3::ZERO,
    );
    put(
        &mut builder,
        shapes::plane(Vec2::splat(4.0), 1, 1),
        dielectric("card", Vec3::ONE, 1.0),
        DVec3::NEG_Y * 0.3,
    );
    let mut scene = builder.build().unwrap();
    scene.emissive_lights = true;
    let world = World::new(&scene, DVec3::new(0.0, 0.5, 2.0));
    let direction = DVec3::new(0.0, -0.8, -1.4);
    let by = |strategy| {
        seen(
            &world,
            direction,
            &PathSettings { bounces: 1, strategy, ..PathSettings::default() },
            1 << 13,
        )
        .y
    };
    let (lights, brdf, both) =
        (by(SamplingStrategy::Lights), by(SamplingStrategy::Bsdf), by(SamplingStrategy::Mis));
    assert!(
        (lights / both - 1.0).abs() < 0.01 && (brdf / both - 1.0).abs() < 0.03,
        "{lights} {brdf} {both}"
    );
}

fn glow_of(nits: f32) -> Material {
    Material {
        emission: Vec3::splat(nits),
        double_sided: true,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    }
}

/// With `scene.emissive_lights = false` a panel is visible to the eye, in mirrors and through
/// glass, and illuminates nothing. Mirror and glass match a uniform environment of the same
/// luminance.
#[test]
fn emission_that_illuminates_nothing_is_visible() {
    let floor = |material: Material, on: bool| {
        let mut builder = SceneBuilder::new("panel");
        // Around the origin: the eye in the middle, the panel above, the floor below.
        put(&mut builder, shapes::plane(Vec2::splat(200.0), 1, 1), glow_of(100.0), DVec3::Y);
        put(&mut builder, shapes::plane(Vec2::splat(200.0), 1, 1), material, DVec3::NEG_Y);
        put(
            &mut builder,
            shapes::plane(Vec2::splat(200.0), 1, 1),
            glow_of(60.0),
            DVec3::NEG_Y * 2.0,
        );
        let mut scene = builder.build().unwrap();
        scene.emissive_lights = on;
        scene
    };
    let one = PathSettings { bounces: 1, ..PathSettings::default() };
    let all = [SamplingStrategy::Mis, SamplingStrategy::Lights, SamplingStrategy::Bsdf];
    let down = DVec3::new(0.1, -1.0, 0.05);
    let look = |scene: &Scene, direction: DVec3, walk: &PathSettings| {
        seen(&World::new(scene, DVec3::ZERO), direction, walk, 1 << 12)
    };

    let matte = Material { ior: 1.0, ..dielectric("matte", Vec3::splat(0.5), 1.0) };
    let (dark, lit) = (floor(matte.clone(), false), floor(matte, true));
    for strategy in all {
        let walk = PathSettings { strategy, ..one };
        assert_eq!(
            look(&dark, DVec3::Y, &walk),
            DVec3::splat(100.0),
            "the panel itself, {strategy:?}"
        );
        assert_eq!(look(&dark, down, &walk), DVec3::ZERO, "a diffuse floor below it, {strategy:?}");
    }
    near(look(&lit, down, &one), DVec3::splat(50.0), 0.01, "the same floor, lit by it");

    let metal = |roughness: f32| Material {
        metallic: 1.0,
        roughness,
        ..dielectric("metal", Vec3::ONE, roughness)
    };
    for strategy in all {
        let walk = PathSettings { strategy, ..one };
        near(look(&floor(metal(0.0), false), down, &walk), DVec3::splat(100.0), 1e-3, "a mirror");
        // Narrow enough that the lobe stays on the panel: equal to a uniform environment, with the
        // same energy loss.
        let (shown, even) = (
            look(&floor(metal(0.4), false), down, &walk),
            look(&floor(metal(0.4), true), down, &one),
        );
        near(shown, even, 0.01, "satin");
        assert_eq!(
            look(&floor(metal(0.7), false), down, &walk),
            DVec3::ZERO,
            "a rough surface shows no emission"
        );
    }
    // A thin pane: it reflects 4 % of the panel, and transmits the emission from below.
    let pane = Material { transmission: 1.0, ..dielectric("pane", Vec3::ONE, 0.0) };
    near(look(&floor(pane, false), down, &one), DVec3::splat(61.6), 1e-3, "a pane");
    // A diffuse wall in front of a mirror that shows the panel: no caustic.
    let walls = |on: bool| {
        let mut builder = SceneBuilder::new("caustic");
        put(&mut builder, shapes::plane(Vec2::splat(200.0), 1, 1), glow_of(100.0), DVec3::Y);
        put(&mut builder, shapes::plane(Vec2::splat(200.0), 1, 1), metal(0.1), DVec3::NEG_Y);
        let stand = shapes::transformed(
            &shapes::plane(Vec2::splat(1.0), 1, 1),
            &glam::DAffine3::from_rotation_x(std::f64::consts::FRAC_PI_2),
        );
        let wall =
            Material { double_sided: true, ior: 1.0, ..dielectric("wall", Vec3::splat(0.5), 1.0) };
        put(&mut builder, stand, wall, DVec3::NEG_Z);
        Scene { emissive_lights: on, ..builder.build().unwrap() }
    };
    let two = PathSettings { bounces: 2, ..PathSettings::default() };
    assert!(look(&walls(true), DVec3::NEG_Z, &two).y > 20.0, "lit from both sides");
    assert_eq!(look(&walls(false), DVec3::NEG_Z, &two), DVec3::ZERO, "no caustic from the mirror");
    // A leaf transmits diffusely: it shows no emission.
    let leaf = Material {
        diffuse_transmission: DiffuseTransmission { factor: 0.5, ..DiffuseTransmission::default() },
        ..Material { ior: 1.0, ..dielectric("leaf", Vec3::splat(0.5), 0.2) }
    };
    assert_eq!(look(&floor(leaf, false), down, &one), DVec3::ZERO, "a leaf");
}

#[test]
fn a_leaf_lets_diffuse_light_through() {
    let leaf = Material {
        ior: 1.0,
        double_sided: true,
        diffuse_transmission: DiffuseTransmission {
            factor: 0.25,
            color: Vec3::new(0.2, 0.8, 0.4),
            ..DiffuseTransmission::default()
        },
        ..dielectric("leaf", Vec3::splat(0.5), 1.0)
    };
    // A light of 400 lm straight behind it at 1 m: 400 / (4 pi) lx.
    let mut builder = SceneBuilder::new("leaf");
    put(&mut builder, shapes::plane(Vec2::splat(1.0), 1, 1), leaf.clone(), DVec3::ZERO);
    builder.point_light_lumens("lamp", Lumen(400.0), Vec3::ONE, DVec3::NEG_Y);
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::Y * 2.0);
    let one = PathSettings { bounces: 1, ..PathSettings::default() };
    let lux = 400.0 / (4.0 * std::f64::consts::PI);
    let want = DVec3::new(0.2, 0.8, 0.4) * (0.25 * lux / std::f64::consts::PI);
    near(seen(&world, DVec3::NEG_Y, &one, 16), want, 1e-6, "one lamp behind");
    // White in a uniform environment: it reflects what it does not transmit, with all strategies.
    let white = Material {
        base_color: Vec3::ONE.extend(1.0),
        diffuse_transmission: DiffuseTransmission { color: Vec3::ONE, ..leaf.diffuse_transmission },
        ..leaf
    };
    let scene = even(3.0, |builder| {
        put(builder, shapes::plane(Vec2::splat(1.0), 1, 1), white.clone(), DVec3::ZERO)
    });
    let world = World::new(&scene, DVec3::Y * 2.0);
    for strategy in [SamplingStrategy::Mis, SamplingStrategy::Bsdf, SamplingStrategy::Lights] {
        let got = seen(
            &world,
            DVec3::NEG_Y,
            &PathSettings { bounces: 1, strategy, ..PathSettings::default() },
            1 << 12,
        );
        near(got, DVec3::splat(3.0), 5e-3, &format!("{strategy:?}"));
    }
    // As the border of a volume: through both faces of a slab, with Beer's law between them.
    let volume = MaterialVolume {
        thickness: 1.0,
        attenuation_distance: 1.0,
        attenuation_color: Vec3::splat(0.5),
        ..MaterialVolume::default()
    };
    let mut through = Material { double_sided: false, volume, ..white };
    through.diffuse_transmission.factor = 1.0;
    let scene = even(3.0, |builder| {
        put(builder, shapes::cuboid(Vec3::new(400.0, 1.0, 400.0)), through, DVec3::ZERO)
    });
    let world = World::new(&scene, DVec3::Y * 2.0);
    let got = seen(&world, DVec3::NEG_Y, &PathSettings::default(), 1 << 13).y;
    // Between diffuse faces: the mean of 0.5^(1 / cos) over cosine-distributed directions is 2
    // E3(ln 2).
    let (mut e3, steps) = (0.0, 100_000);
    for i in 0..steps {
        let cos = (f64::from(i) + 0.5) / f64::from(steps);
        e3 += cos * 0.5f64.powf(1.0 / cos) / f64::from(steps);
    }
    assert!((got / (3.0 * 2.0 * e3) - 1.0).abs() < 0.02, "{got}, {}", 6.0 * e3);
}

#[test]
fn strategies_agree_on_layers() {
    let layered = Material {
        sheen: Sheen { color: Vec3::new(0.2, 0.5, 0.8), roughness: 0.4, ..Sheen::default() },
        clearcoat: Clearcoat { factor: 0.8, roughness: 0.4, ..Clearcoat::default() },
        ..dielectric("layered", Vec3::new(0.6, 0.2, 0.1), 0.6)
    };
    let scene =
        even(5.0, |builder| put(builder, shapes::icosphere(1.0, 3), layered.clone(), DVec3::ZERO));
    let world = World::new(&scene, DVec3::Z * 4.0);
    for x in [0.0, 0.15, 0.24] {
        let by = |strategy| {
            let walk = PathSettings { bounces: 1, strategy, ..PathSettings::default() };
            seen(&world, DVec3::new(x, 0.0, -1.0), &walk, 1 << 12)
        };
        let both = by(SamplingStrategy::Mis);
        near(by(SamplingStrategy::Lights), both, 0.02, "lights");
        near(by(SamplingStrategy::Bsdf), both, 0.02, "BRDF");
        assert!(both.max_element() < 5.0 * 1.01, "no more than there is: {both}");
    }
}
