//! Light sampling follows the density that ray hits on the lights return.

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    World,
    chi_square::{Cells, Test, TrialSampler, check},
};
use crate::{
    photometry::{
        Candela, Lumen, Lux, Nit,
        environment::{RadianceMap, RowMapping},
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
    },
    scene::{
        Environment, Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

/// Density (1/sr) of all lights from a position in a direction, by ray hits.
fn density(world: &World<'_>, from: DVec3, direction: DVec3) -> f64 {
    let mut sum = world.lights.environment_radiance(direction).1;
    world
        .lights
        .for_each_light_hit(from, direction, f64::INFINITY, 0.0, |lamp| sum += lamp.pdf.unwrap());
    let (mut origin, mut away) = (from, DVec3::ZERO);
    while let Some(hit) = world.closest(origin, direction, away) {
        if let Some(triangle) = hit.emitter.filter(|_| hit.emission != DVec3::ZERO) {
            sum += world.lights.triangle_pdf(triangle, direction, (hit.position - from).length());
        }
        (origin, away) = (hit.position, -hit.geometric_normal);
    }
    sum
}

fn lamp(emitter: Emitter) -> Scene {
    let mut builder = SceneBuilder::new("lamp");
    let strength = if matches!(emitter, Emitter::Sun { .. }) {
        LightStrength::Lux(Lux(100.0))
    } else {
        LightStrength::Nits(Nit(100.0))
    };
    builder.light(
        "lamp",
        emitter,
        strength,
        Vec3::ONE,
        look_at_transform(DVec3::new(0.2, 1.0, -0.3), DVec3::ZERO),
    );
    builder.build().unwrap()
}

/// A rotated map of few, very different texels.
fn sky(rows: RowMapping) -> Scene {
    let mut scene = SceneBuilder::new("sky").build().unwrap();
    let texels: Vec<Vec3> = (0..32u32)
        .map(|i| Vec3::splat((i * 7 % 11) as f32 * if i == 9 { 20.0 } else { 1.0 }))
        .collect();
    let map = RadianceMap::new(8, 4, rows, texels).unwrap();
    scene.environment = Some(Environment { map: map.into(), rotation: 0.7, origin: "test".into() });
    scene
}

fn glowing(double_sided: bool) -> Scene {
    let mut builder = SceneBuilder::new("glow");
    let glow = Material {
        emission: Vec3::splat(50.0),
        double_sided,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    };
    let glow = builder.add_material(glow);
    let mesh = builder.add_mesh("ball", shapes::icosphere(0.3, 1), glow);
    builder.instance("ball", mesh, DMat4::from_translation(DVec3::new(0.2, 0.9, 0.0)));
    Scene { emissive_lights: true, ..builder.build().unwrap() }
}

#[test]
fn points_on_lights_follow_their_density() {
    let mut mixed = glowing(false);
    let rectangle = Emitter::Rectangle { width: 0.5, height: 0.2, sides: Sides::Two };
    let other = lamp(rectangle);
    mixed.lights = other.lights.clone();
    for mut node in other.nodes {
        node.parent = None;
        mixed.roots.push(mixed.nodes.len());
        mixed.nodes.push(node);
    }
    mixed.environment = sky(RowMapping::Linear).environment;
    let scenes = [
        ("sphere", lamp(Emitter::Sphere { radius: 0.3 }), true),
        ("disk", lamp(Emitter::Disk { radius: 0.4, sides: Sides::One }), true),
        ("disk of two sides", lamp(Emitter::Disk { radius: 0.4, sides: Sides::Two }), true),
        (
            "rectangle",
            lamp(Emitter::Rectangle { width: 0.8, height: 0.3, sides: Sides::One }),
            true,
        ),
        ("tube", lamp(Emitter::Tube { radius: 0.1, length: 0.6 }), true),
        ("sun", lamp(Emitter::Sun { angular_radius: 0.3 }), true),
        ("narrow sun", lamp(Emitter::SUN), true),
        ("sky", sky(RowMapping::Linear), false),
        ("sky by square roots", sky(RowMapping::SquareRoot), false),
        ("glowing ball", glowing(false), true),
        ("glowing ball of two sides", glowing(true), true),
        ("lamp, glow and sky", mixed, false),
    ];
    // Below the lights, beside and above them.
    let places = [DVec3::ZERO, DVec3::new(1.1, 0.6, 0.2), DVec3::new(0.1, 1.6, -0.5)];
    let family = scenes.len() * places.len();
    for (name, scene, one) in &scenes {
        let world = World::new(scene, DVec3::ZERO);
        for from in places {
            let one = *one && !(name.contains("sun"));
            let middle = (DVec3::new(0.2, 0.95, -0.15) - from).normalize();
            let cells = match *name {
                "sun" => Cells::cap(DVec3::new(0.2, 1.0, -0.3).normalize(), 0.4),
                "narrow sun" => Cells::cap(DVec3::new(0.2, 1.0, -0.3).normalize(), 0.006),
                _ if one => Cells::cap(middle, 1.2),
                _ => Cells::sphere(),
            };
            let test = Test {
                name: format!("{name} from {from}"),
                cells: cells.with_edges(),
                density: &|d| density(&world, from, d),
                sample: &|numbers: &mut TrialSampler| {
                    let (choice, u) = (numbers.next_1d(), numbers.next_2d());
                    world.lights.sample(from, choice, u).map(|light| {
                        // A sample and a ray hit return the same values.
                        let (own, by_rays) =
                            (light.pdf.unwrap(), density(&world, from, light.direction));
                        let alone = !name.contains("lamp,") && !name.contains("glowing");
                        assert!(
                            !alone || by_rays == 0.0 || (own / by_rays - 1.0).abs() < 1e-3,
                            "{name}: {own} {by_rays}"
                        );
                        light.direction
                    })
                },
            };
            // One-sided lights do not emit upwards.
            let dark = from.y > 1.0 && ["disk", "rectangle"].contains(name);
            if dark {
                assert!((0..100).all(|i| {
                    world
                        .lights
                        .sample(from, 0.5, glam::DVec2::splat(f64::from(i) / 100.0))
                        .is_none()
                }));
            } else {
                let integral = check(&test, 20_000, family);
                assert!(integral > 0.3, "{}: {integral}", test.name);
            }
        }
    }
}

#[test]
fn lights_are_sampled_by_flux() {
    let mut builder = SceneBuilder::new("lamps");
    let cone = Cone::new(0.3, 0.6).unwrap();
    let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
    let lamps = [
        (Emitter::Point, LightStrength::Candela(Candela(10.0)), Vec3::ONE, DVec3::X),
        (
            Emitter::Point,
            LightStrength::Lumens(Lumen(300.0)),
            Vec3::new(1.0, 0.5, 0.0),
            DVec3::NEG_X,
        ),
        (spot, LightStrength::Candela(Candela(200.0)), Vec3::ONE, DVec3::Z),
    ];
    for (emitter, strength, color, at) in lamps {
        builder.light("lamp", emitter, strength, color, look_at_transform(at * 2.0, DVec3::ZERO));
    }
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::ZERO);
    let flux: Vec<f64> = scene
        .lights
        .iter()
        .map(|light| light.lumens().unwrap().get() * light.color_luminance())
        .collect();
    let count = 1 << 14;
    let mut counts = [0.0; 3];
    for i in 0..count {
        let choice = (f64::from(i) + 0.5) / f64::from(count);
        let light = world.lights.sample(DVec3::ZERO, choice, glam::DVec2::splat(0.5)).unwrap();
        assert!(light.pdf.is_none());
        let lamp = (0..3).find(|&k| light.direction.dot(lamps[k].3) > 0.99).unwrap();
        counts[lamp] += 1.0;
        // Candela over the square of the distance, over the probability.
        let chance = flux[lamp] / flux.iter().sum::<f64>();
        let want = scene.lights[lamp].color.as_dvec3()
            * scene.lights[lamp].candela().unwrap().get()
            / 4.0
            / chance;
        assert!(
            (light.weight - want).abs().max_element() < 1e-6 * want.max_element(),
            "{} {want}",
            light.weight
        );
    }
    for (counted, flux_of) in counts.iter().zip(&flux) {
        let want = flux_of / flux.iter().sum::<f64>() * f64::from(count);
        assert!((counted - want).abs() <= 1.0, "{counted} of {want}");
    }
}

#[test]
fn a_point_of_a_glowing_sheet_weighs_what_its_texture_says() {
    // The mean over points of luminance times solid angle is the integral over the sheet.
    let mut builder = SceneBuilder::new("sheet");
    let picture = crate::scene::procedural::textures::picture(8, 8, |u, v| [u, v, 0.5, 1.0]);
    let texture = builder.add_texture("t", picture, crate::scene::Sampler::default());
    let sheet = Material {
        emission: Vec3::splat(100.0),
        emissive_texture: Some(SceneBuilder::texture_ref(texture)),
        double_sided: true,
        ..dielectric("sheet", Vec3::ZERO, 1.0)
    };
    let sheet = builder.add_material(sheet);
    let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::splat(1.0), 1, 1), sheet);
    builder.instance("sheet", mesh, DMat4::from_translation(DVec3::Y));
    let scene = Scene { emissive_lights: true, ..builder.build().unwrap() };
    let world = World::new(&scene, DVec3::ZERO);
    let steps = 64;
    let (mut by_points, mut by_rays) = (DVec3::ZERO, DVec3::ZERO);
    for i in 0..steps {
        for j in 0..steps {
            let u = glam::DVec2::new(
                (f64::from(i) + 0.5) / f64::from(steps),
                (f64::from(j) + 0.5) / f64::from(steps),
            );
            for choice in [0.25, 0.75] {
                let light = world.lights.sample(DVec3::ZERO, choice, u).unwrap();
                by_points += light.weight
                    * world.emission_coverage(&light.triangle_point.unwrap(), light.direction)
                    / f64::from(2 * steps * steps);
            }
            let to = DVec3::new(u.x - 0.5, 1.0, u.y - 0.5);
            let hit = world.closest(DVec3::ZERO, to.normalize(), DVec3::ZERO).unwrap();
            by_rays +=
                hit.emission * to.normalize().y / to.length_squared() / f64::from(steps * steps);
        }
    }
    assert!((by_points / by_rays - 1.0).abs().max_element() < 5e-3, "{by_points} {by_rays}");
}
