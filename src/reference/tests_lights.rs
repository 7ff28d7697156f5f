//! Light sampling follows the density that ray hits on the lights return.

use glam::{DMat4, DVec2, DVec3, Vec2, Vec3};

use super::{
    Receiver, SamplerKind, World,
    bsdf::Bsdf,
    chi_square::{Cells, Test, TrialSampler, check},
    lights::LightChoice,
    sampler::Sampler,
};
use crate::{
    photometry::{
        Candela, Lumen, Lux, Nit,
        environment::{RadianceMap, RowMapping},
        lights::{Cone, Emitter, LightStrength, PhysicalLight, Sides, SpotFlux},
    },
    scene::{
        Environment, Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

/// Density (1/sr) of all lights from a position in a direction, by ray hits.
fn density(world: &World<'_>, choice: &LightChoice, from: DVec3, direction: DVec3) -> f64 {
    let mut sum = world.lights.environment_radiance(choice, direction).1;
    world.lights.for_each_light_hit(choice, from, direction, f64::INFINITY, 0.0, |lamp| {
        sum += lamp.pdf.unwrap();
    });
    let (mut origin, mut away) = (from, DVec3::ZERO);
    while let Some(hit) = world.closest(origin, direction, away) {
        if let Some(triangle) = hit.emitter.filter(|_| hit.emission != DVec3::ZERO) {
            let distance = (hit.position - from).length();
            sum += world.lights.triangle_pdf(choice, triangle, direction, distance);
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
            let choice = world.lights.choice_at(&Receiver::at(from));
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
                density: &|d| density(&world, &choice, from, d),
                sample: &|numbers: &mut TrialSampler| {
                    world.lights.sample(&choice, numbers.next_2d()).map(|light| {
                        // A sample and a ray hit return the same values.
                        let (own, by_rays) =
                            (light.pdf.unwrap(), density(&world, &choice, from, light.direction));
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
                    world.lights.sample(&choice, DVec2::splat(f64::from(i) / 100.0)).is_none()
                }));
            } else {
                let integral = check(&test, 20_000, family);
                assert!(integral > 0.3, "{}: {integral}", test.name);
            }
        }
    }
}

/// Sums `f` of light samples over a stratified grid of pairs of numbers; returns the mean.
fn mean_over_pairs(steps: u32, mut f: impl FnMut(DVec2) -> f64) -> f64 {
    let place = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
    let mut sum = 0.0;
    for i in 0..steps {
        for j in 0..steps {
            sum += f(DVec2::new(place(i), place(j)));
        }
    }
    sum / f64::from(steps * steps)
}

#[test]
fn points_and_spots_are_chosen_by_contribution() {
    let mut builder = SceneBuilder::new("lamps");
    let cone = Cone::new(0.3, 0.6).unwrap();
    let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
    let lamps = [
        (Emitter::Point, LightStrength::Candela(Candela(10.0)), Vec3::ONE, DVec3::X),
        (
            Emitter::Point,
            LightStrength::Lumens(Lumen(300.0)),
            Vec3::new(1.0, 0.5, 0.0),
            DVec3::NEG_X * 2.0,
        ),
        (spot, LightStrength::Candela(Candela(200.0)), Vec3::ONE, DVec3::Z * 3.0),
    ];
    for (emitter, strength, color, at) in lamps {
        builder.light("lamp", emitter, strength, color, look_at_transform(at, DVec3::ZERO));
    }
    // A spot that points away takes no samples.
    let away = look_at_transform(DVec3::Y * 2.0, DVec3::Y * 9.0);
    builder.light("away", spot, LightStrength::Candela(Candela(9e3)), Vec3::ONE, away);
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::ZERO);
    let lux: Vec<f64> = scene.lights[..3]
        .iter()
        .zip(lamps)
        .map(|(light, lamp)| {
            light.candela().unwrap().get() * light.color_luminance() / lamp.3.length_squared()
        })
        .collect();
    let choice = world.lights.choice_at(&Receiver::at(DVec3::ZERO));
    assert_eq!(world.lights.probability(&choice, 3), 0.0);
    let count = 1 << 14;
    let mut counts = [0.0; 3];
    for i in 0..count {
        let u = DVec2::new((f64::from(i) + 0.5) / f64::from(count), 0.5);
        let light = world.lights.sample(&choice, u).unwrap();
        assert!(light.pdf.is_none());
        let lamp = (0..3).find(|&k| light.direction.dot(lamps[k].3.normalize()) > 0.99).unwrap();
        counts[lamp] += 1.0;
        // Candela over the square of the distance, over the probability.
        let chance = lux[lamp] / lux.iter().sum::<f64>();
        assert!((world.lights.probability(&choice, lamp) - chance).abs() < 1e-9);
        let want = scene.lights[lamp].color.as_dvec3()
            * scene.lights[lamp].candela().unwrap().get()
            / lamps[lamp].3.length_squared()
            / chance;
        assert!(
            (light.weight - want).abs().max_element() < 1e-6 * want.max_element(),
            "{} {want}",
            light.weight
        );
    }
    for (counted, lux_of) in counts.iter().zip(&lux) {
        let want = lux_of / lux.iter().sum::<f64>() * f64::from(count);
        assert!((counted - want).abs() <= 1.0, "{counted} of {want}");
    }
}

/// A hall of 20x20 m with 196 lamps of different strength at 2 to 4 m, some of them area lights.
fn hall() -> Scene {
    let mut builder = SceneBuilder::new("hall");
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    for i in 0..196 {
        let (x, z) = (f64::from(i % 14) - 6.5, f64::from(i / 14) - 6.5);
        let at = DVec3::new(x + random() * 0.5, 2.0 + 2.0 * random(), z + random() * 0.5) * 1.4;
        let strength = LightStrength::Lumens(Lumen(100.0 + 900.0 * random()));
        let emitter = match i % 4 {
            0 => Emitter::Disk { radius: 0.1, sides: Sides::One },
            1 => Emitter::Spot { cone: Cone::new(0.4, 0.9).unwrap(), flux: SpotFlux::Exact },
            _ => Emitter::Point,
        };
        let aim = at + DVec3::new(random() - 0.5, -1.0, random() - 0.5);
        builder.light("lamp", emitter, strength, Vec3::ONE, look_at_transform(at, aim));
    }
    builder.build().unwrap()
}

fn floor(at: DVec3) -> Receiver {
    let matte = Bsdf { f0: 0.0, ..Bsdf::default() };
    Receiver::on_surface(at, DVec3::Y, DVec3::new(0.6, 0.8, 0.0), &matte)
}

#[test]
fn probabilities_add_up_and_follow_the_samples() {
    let scene = hall();
    let world = World::new(&scene, DVec3::ZERO);
    let glossy = Bsdf { alpha: 0.01, metallic: 1.0, ..Bsdf::default() };
    let view = DVec3::new(0.1, 0.3, 0.9).normalize();
    let receivers = [
        Receiver::at(DVec3::new(1.0, 0.3, 2.0)),
        Receiver::at(DVec3::new(0.0, 3.0, 0.0)),
        floor(DVec3::new(-3.0, 0.0, 5.0)),
        floor(DVec3::new(30.0, 0.0, 0.0)),
        Receiver::on_surface(DVec3::new(0.0, 0.5, 0.0), DVec3::Y, view, &glossy),
        Receiver::on_surface(DVec3::new(0.0, 3.0, 0.0), DVec3::X, DVec3::X, &glossy),
        Receiver::in_volume(DVec3::new(0.0, 1.0, 2.0), view, 0.7),
        Receiver::in_volume(DVec3::new(0.0, 1.0, 2.0), view, -0.6),
    ];
    for (index, receiver) in receivers.iter().enumerate() {
        let choice = world.lights.choice_at(receiver);
        let chances: Vec<f64> =
            (0..scene.lights.len()).map(|light| world.lights.probability(&choice, light)).collect();
        let sum: f64 = chances.iter().sum();
        // Groups of which the bounds promise light that no member gives take the rest.
        assert!(sum > 0.9 && sum < 1.0 + 1e-9, "{index}: {sum}");
        // All numbers of a fine grid: each light takes its part to within a step at either end.
        let count = 1 << 16;
        let mut counts = vec![0u32; scene.lights.len()];
        let mut none = 0;
        for i in 0..count {
            match world.lights.choose_light(&choice, (f64::from(i) + 0.5) / f64::from(count)) {
                Some((light, chance)) => {
                    counts[light] += 1;
                    assert!((chance / chances[light] - 1.0).abs() < 1e-6, "{index} {light}");
                }
                None => none += 1,
            }
        }
        for (light, (&counted, chance)) in counts.iter().zip(&chances).enumerate() {
            let want = chance * f64::from(count);
            assert!((f64::from(counted) - want).abs() < 2.5, "{index} {light}: {counted} {want}");
        }
        assert!((f64::from(none) - (1.0 - sum) * f64::from(count)).abs() < 100.0, "{index} {none}");
    }
}

#[test]
fn many_lamps_give_the_closed_form_with_little_variance() {
    // Points and spots alone: candela times cosine over the square of the distance.
    let mut scene = hall();
    for light in &mut scene.lights {
        if matches!(light.emitter(), Emitter::Disk { .. }) {
            *light = crate::scene::Light::new(
                "point",
                PhysicalLight::new(Emitter::Point, LightStrength::Candela(Candela(30.0))).unwrap(),
            );
        }
    }
    let world = World::new(&scene, DVec3::ZERO);
    let nodes: Vec<_> = scene.walk();
    let flux: f64 = scene.lights.iter().map(|light| light.lumens().unwrap().get()).sum();
    let (mut by_flux, mut by_contribution, mut closed, mut sampled) = (0.0, 0.0, 0.0, 0.0);
    for place in 0..25 {
        let at =
            DVec3::new(f64::from(place % 5) * 2.0 - 4.0, 0.0, f64::from(place / 5) * 2.0 - 4.0);
        let choice = world.lights.choice_at(&floor(at));
        let mut lux = 0.0;
        let mut squares = [0.0; 2];
        for (index, light) in scene.lights.iter().enumerate() {
            let node = nodes.iter().find(|node| node.node.light == Some(index)).unwrap();
            let offset = node.world.w_axis.truncate() - at;
            let away = -offset.normalize();
            let axis = -node.world.z_axis.truncate();
            let intensity = light.candela().unwrap().get()
                * light.emitter().relative_intensity(axis.dot(away)).unwrap();
            let own = intensity * -away.y / offset.length_squared();
            lux += own;
            if own > 0.0 {
                squares[0] += own * own * flux / light.lumens().unwrap().get();
                squares[1] += own * own / world.lights.probability(&choice, index);
            }
        }
        closed += lux;
        by_flux += squares[0] / (lux * lux) - 1.0;
        by_contribution += squares[1] / (lux * lux) - 1.0;
        // The second number is without effect on points and spots.
        let count = 1 << 14;
        for i in 0..count {
            let u = DVec2::new((f64::from(i) + 0.5) / f64::from(count), 0.5);
            if let Some(light) = world.lights.sample(&choice, u) {
                sampled += light.weight.y * light.direction.y.max(0.0) / f64::from(count);
            }
        }
    }
    assert!((sampled / closed - 1.0).abs() < 5e-3, "{sampled} {closed}");
    let ratio = by_flux / by_contribution;
    println!("relative variance by flux {by_flux}, by contribution {by_contribution}: {ratio}");
    assert!(ratio > 9.0, "{ratio}");
}

#[test]
fn kinds_of_lights_take_chances_of_their_own() {
    // A lamp below a roof: neither sun nor sky reaches it, and beside the roof they do.
    let mut builder = SceneBuilder::new("roof");
    let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    let roof = builder.add_mesh("box", shapes::cuboid(Vec3::splat(10.0)), matte);
    builder.instance("box", roof, DMat4::IDENTITY);
    builder.point_light_lumens("lamp", Lumen(500.0), Vec3::ONE, DVec3::new(0.0, 2.0, 0.0));
    builder.sun("sun", Lux(50_000.0), Vec3::ONE, DVec3::new(-0.3, -1.0, -0.2));
    let mut scene = builder.build().unwrap();
    let map = RadianceMap::from_fn(8, 5, RowMapping::Linear, |_| DVec3::splat(3000.0)).unwrap();
    scene.environment = Some(Environment { map: map.into(), rotation: 0.0, origin: "t".into() });
    let world = World::new(&scene, DVec3::ZERO);
    let inside = world.light_choice(&floor(DVec3::new(1.0, -1.0, 0.5)));
    let lamp = world.lights.probability(&inside, 0);
    assert!(lamp > 0.8, "{lamp}");
    let outside = world.light_choice(&floor(DVec3::new(20.0, 0.5, 0.5)));
    let sun = world.lights.probability(&outside, 1);
    assert!(sun > 0.5, "{sun}");
}

#[test]
fn light_and_point_are_stratified_together() {
    // Irradiance below a sheet of two triangles: with one pair of numbers the error is that of
    // stratified points on the whole sheet; with a number of its own for the choice it is not.
    let mut builder = SceneBuilder::new("sheet");
    let glow = Material {
        emission: Vec3::splat(100.0),
        double_sided: true,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    };
    let glow = builder.add_material(glow);
    let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::splat(2.0), 1, 1), glow);
    builder.instance("sheet", mesh, DMat4::from_translation(DVec3::Y));
    let scene = Scene { emissive_lights: true, ..builder.build().unwrap() };
    let world = World::new(&scene, DVec3::ZERO);
    let choice = world.lights.choice_at(&floor(DVec3::ZERO));
    let lux = |u: DVec2| {
        world.lights.sample(&choice, u).map_or(0.0, |light| light.weight.y * light.direction.y)
    };
    let exact = mean_over_pairs(512, lux);
    let (mut together, mut apart) = (0.0, 0.0);
    for seed in 0..200 {
        let (mut sums, count) = ([0.0; 2], 64);
        for index in 0..count {
            let mut sampler = Sampler::new(SamplerKind::Sobol, seed, 0, 0, index);
            let u = sampler.next_2d();
            let pick = (sampler.next_2d(), sampler.next_2d()).1.x;
            sums[0] += lux(u);
            // The same estimate with an independent choice between the halves of the first number.
            sums[1] += lux(DVec2::new(((pick * 2.0).floor() + u.x) / 2.0, u.y));
        }
        together += (sums[0] / f64::from(count) / exact - 1.0f64).powi(2);
        apart += (sums[1] / f64::from(count) / exact - 1.0f64).powi(2);
    }
    let ratio = (apart / together).sqrt();
    println!("rms of separate numbers over that of one pair: {ratio}");
    assert!(ratio > 2.0, "{ratio}");
}

#[test]
fn a_bright_texel_is_found_by_its_density() {
    // The interpolated map spreads a bright texel over its neighbors: luminance over density is
    // nearly the same everywhere.
    let mut scene = SceneBuilder::new("sky").build().unwrap();
    let mut texels = vec![Vec3::splat(1.0); 64 * 32];
    texels[9 * 64 + 20] = Vec3::splat(1e5);
    texels[30 * 64 + 63] = Vec3::splat(1e5);
    let map = RadianceMap::new(64, 32, RowMapping::Linear, texels).unwrap();
    scene.environment = Some(Environment { map: map.into(), rotation: 0.3, origin: "test".into() });
    let world = World::new(&scene, DVec3::ZERO);
    let choice = world.lights.choice_at(&Receiver::at(DVec3::ZERO));
    let (mut max, mut squares) = (0.0f64, 0.0);
    let mean = mean_over_pairs(256, |u| {
        let weight = world.lights.sample(&choice, u).unwrap().weight.y;
        max = max.max(weight);
        squares += weight * weight / 65_536.0;
        weight
    });
    // The integral over directions, by the midpoint rule.
    let (rows, columns) = (2048, 4096);
    let mut integral = 0.0;
    for row in 0..rows {
        let sine = 1.0 - 2.0 * (f64::from(row) + 0.5) / f64::from(rows);
        let level = (1.0 - sine * sine).sqrt();
        for column in 0..columns {
            let (s, c) = (std::f64::consts::TAU * f64::from(column) / f64::from(columns)).sin_cos();
            let direction = DVec3::new(level * s, sine, level * c);
            integral += world.lights.environment_radiance(&choice, direction).0.y;
        }
    }
    integral *= 4.0 * std::f64::consts::PI / f64::from(rows * columns);
    assert!((mean / integral - 1.0).abs() < 2e-3, "{mean} {integral}");
    let deviation = (squares / (mean * mean) - 1.0).max(0.0).sqrt();
    println!("deviation {deviation}, largest weight {} of the mean", max / mean);
    assert!(deviation < 0.1 && max < 1.6 * mean, "{deviation} {}", max / mean);
}

#[test]
fn an_even_environment_has_no_variance() {
    let mut scene = SceneBuilder::new("even").build().unwrap();
    let map = RadianceMap::from_fn(8, 5, RowMapping::SquareRoot, |_| DVec3::splat(250.0)).unwrap();
    scene.environment = Some(Environment { map: map.into(), rotation: 0.3, origin: "test".into() });
    let world = World::new(&scene, DVec3::ZERO);
    let choice = world.lights.choice_at(&Receiver::at(DVec3::ZERO));
    let want = 250.0 * 4.0 * std::f64::consts::PI;
    mean_over_pairs(64, |u| {
        let weight = world.lights.sample(&choice, u).unwrap().weight.y;
        assert!((weight / want - 1.0).abs() < 1e-5, "{weight} {want}");
        weight
    });
}

#[test]
fn a_textured_emitter_is_chosen_by_its_texture() {
    // Two sheets at the same distance: a quarter of the first one's picture is white, the other
    // has a texture of luminance 1 everywhere.
    let mut builder = SceneBuilder::new("sheets");
    let textured = |builder: &mut SceneBuilder, x: f64, f: fn(f32, f32) -> [f32; 4]| {
        let picture = crate::scene::procedural::textures::picture(64, 64, f);
        let texture = builder.add_texture("t", picture, crate::scene::Sampler::default());
        let sheet = builder.add_material(Material {
            emission: Vec3::splat(100.0),
            emissive_texture: Some(SceneBuilder::texture_ref(texture)),
            double_sided: true,
            ..dielectric("sheet", Vec3::ZERO, 1.0)
        });
        let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::splat(0.1), 1, 1), sheet);
        builder.instance("sheet", mesh, DMat4::from_translation(DVec3::new(x, 4.0, 0.0)));
    };
    textured(&mut builder, -1.0, |u, v| {
        let white = f32::from(u8::from(u < 0.5 && v < 0.5));
        [white, white, white, 1.0]
    });
    textured(&mut builder, 1.0, |_, _| [1.0; 4]);
    let scene = Scene { emissive_lights: true, ..builder.build().unwrap() };
    let world = World::new(&scene, DVec3::ZERO);
    let choice = world.lights.choice_at(&Receiver::at(DVec3::ZERO));
    let chances: Vec<f64> = (0..4).map(|t| world.lights.probability(&choice, t)).collect();
    let ratio = (chances[0] + chances[1]) / (chances[2] + chances[3]);
    assert!((ratio - 0.25).abs() < 0.02, "{chances:?}");
    assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
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
    let choice = world.lights.choice_at(&Receiver::at(DVec3::ZERO));
    let steps = 256;
    let (mut by_points, mut by_rays) = (DVec3::ZERO, DVec3::ZERO);
    for i in 0..steps {
        for j in 0..steps {
            let u = DVec2::new(
                (f64::from(i) + 0.5) / f64::from(steps),
                (f64::from(j) + 0.5) / f64::from(steps),
            );
            let light = world.lights.sample(&choice, u).unwrap();
            by_points += light.weight
                * world.emission_coverage(&light.triangle_point.unwrap(), light.direction)
                / f64::from(steps * steps);
            let to = DVec3::new(u.x - 0.5, 1.0, u.y - 0.5);
            let hit = world.closest(DVec3::ZERO, to.normalize(), DVec3::ZERO).unwrap();
            by_rays +=
                hit.emission * to.normalize().y / to.length_squared() / f64::from(steps * steps);
        }
    }
    assert!((by_points / by_rays - 1.0).abs().max_element() < 5e-3, "{by_points} {by_rays}");
}
