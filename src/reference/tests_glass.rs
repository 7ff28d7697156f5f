//! Glass against closed forms, path by path.

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    LightComponents, PathSettings, SamplerKind, SamplingStrategy, World,
    bsdf::{fresnel, refract},
    sampler::Sampler,
};
use crate::{
    photometry::{
        Lumen, Nit,
        environment::{RadianceMap, RowMapping},
        lights::{Emitter, LightStrength, Sides},
    },
    scene::{
        AlphaMode, Environment, Material, MaterialVolume, Primitive, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::{shapes, textures},
    },
};

/// A scene in an environment of two halves: nits from above and from below.
fn under(above: f64, below: f64, fill: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("glass");
    fill(&mut builder);
    let mut scene = builder.build().unwrap();
    let map = RadianceMap::from_fn(4, 64, RowMapping::Linear, |d| {
        DVec3::splat(if d.y > 0.0 { above } else { below })
    });
    scene.environment =
        Some(Environment { map: map.unwrap().into(), rotation: 0.0, origin: "test".into() });
    scene
}

fn glass(ior: f32, roughness: f32, absorbed: Option<(Vec3, f32)>) -> Material {
    let (attenuation_color, attenuation_distance) = absorbed.unwrap_or((Vec3::ONE, f32::INFINITY));
    let volume = MaterialVolume {
        thickness: 1.0,
        attenuation_color,
        attenuation_distance,
        ..MaterialVolume::default()
    };
    Material { ior, transmission: 1.0, volume, ..dielectric("glass", Vec3::ONE, roughness) }
}

fn thin(roughness: f32) -> Material {
    Material {
        volume: MaterialVolume::default(),
        double_sided: true,
        ..glass(1.5, roughness, None)
    }
}

fn put(builder: &mut SceneBuilder, part: Primitive, material: Material, at: DVec3) {
    let material = builder.add_material(material);
    let mesh = builder.add_mesh("part", part, material);
    builder.instance("part", mesh, DMat4::from_translation(at));
}

/// Mean of paths along a ray from the eye, and the standard error of that mean (of green).
fn seen(
    world: &World<'_>,
    direction: DVec3,
    walk: &PathSettings,
    count: u32,
) -> (LightComponents, f64) {
    let (mut parts, mut squares) = (LightComponents::default(), 0.0);
    // Different numbers for different directions.
    let (x, y) = ((direction.x * 1e4) as i64 as u32, (direction.y * 1e4) as i64 as u32);
    for index in 0..count {
        let mut sampler = Sampler::new(SamplerKind::Sobol, 5, x, y, index);
        let path = world.trace_path(DVec3::ZERO, direction.normalize(), walk, &mut sampler);
        assert!(path.total().is_finite());
        squares += path.total().y * path.total().y;
        for (sum, part) in [
            (&mut parts.emission, path.emission),
            (&mut parts.direct_diffuse, path.direct_diffuse),
            (&mut parts.direct_specular, path.direct_specular),
            (&mut parts.direct_transmission, path.direct_transmission),
            (&mut parts.indirect_diffuse, path.indirect_diffuse),
            (&mut parts.indirect_specular, path.indirect_specular),
            (&mut parts.indirect_transmission, path.indirect_transmission),
        ] {
            *sum += part / f64::from(count);
        }
    }
    let mean = parts.total().y;
    (parts, ((squares / f64::from(count) - mean * mean).max(0.0) / f64::from(count)).sqrt())
}

fn close(got: f64, want: f64, relative: f64, what: &str) {
    assert!((got - want).abs() <= relative * want.abs() + 1e-9, "{what}: {got}, {want}");
}

/// Directions from an eye at (0, 0, 4) over a ball of radius 1 at the origin.
fn over_a_ball() -> impl Iterator<Item = DVec3> {
    (0..40).map(|i| {
        let (r, phi) = (f64::from(i) / 40.0 * 0.26, f64::from(i) * 2.4);
        DVec3::new(r * phi.cos(), r * phi.sin(), -1.0)
    })
}

#[test]
fn clear_glass_white_furnace() {
    // For any nesting, radiance over the squared index is constant along each path.
    for (name, balls) in [
        ("ball", vec![(1.0, 1.5)]),
        ("bubble in glass", vec![(1.0, 1.5), (0.6, 1.0)]),
        ("glass in water in glass", vec![(1.0, 1.5), (0.8, 1.33), (0.5, 2.4)]),
    ] {
        let scene = under(7.0, 7.0, |builder| {
            for (radius, ior) in &balls {
                put(builder, shapes::icosphere(*radius, 4), glass(*ior, 0.0, None), DVec3::ZERO);
            }
        });
        let world = World::new(&scene, DVec3::Z * 4.0);
        for direction in over_a_ball() {
            let (parts, _) = seen(
                &world,
                direction,
                &PathSettings { bounces: 512, ..PathSettings::default() },
                16,
            );
            close(parts.total().y, 7.0, 1e-3, name);
        }
    }
}

#[test]
fn light_in_glass_is_the_square_of_the_index_stronger() {
    let scene = under(7.0, 7.0, |builder| {
        put(builder, shapes::icosphere(1.0, 4), glass(1.5, 0.0, None), DVec3::ZERO);
        put(builder, shapes::icosphere(0.5, 4), glass(1.2, 0.0, None), DVec3::ZERO);
    });
    for (eye, index) in
        [(DVec3::new(0.1, 0.2, 0.0), 1.2), (DVec3::new(0.0, 0.6, 0.1), 1.5), (DVec3::Y * 1.2, 1.0)]
    {
        let world = World::new(&scene, eye);
        for direction in over_a_ball() {
            let (parts, _) = seen(
                &world,
                direction,
                &PathSettings { bounces: 4096, ..PathSettings::default() },
                16,
            );
            close(
                parts.total().y,
                7.0 * index * index,
                1e-3,
                &format!("eye {eye} towards {direction}"),
            );
        }
    }
    // An eye beside the one that the world was built for, on the other side of an interface, as on
    // a lens's rim.
    let world = World::new(&scene, DVec3::Y * 0.99);
    let mut sampler = Sampler::new(SamplerKind::Sobol, 5, 3, 8, 0);
    let path = world.trace_path(DVec3::Y * 0.02, DVec3::Y, &PathSettings::default(), &mut sampler);
    close(path.total().y, 7.0, 1e-3, "outside beside an eye inside");
}

#[test]
fn a_slab_transmits_what_its_reflections_add_up_to() {
    // Born and Wolf, section 7.6.1, without interference: T = (1 - R)^2 t / (1 - R^2 t^2), R' = R
    // (1 + t T), where t is the transmittance of one crossing. Without absorption T = (1 - R) / (1
    // + R).
    let thickness = 0.02f32;
    for absorbed in [None, Some((Vec3::new(0.9, 0.5, 0.1), 0.01))] {
        for (above, below) in [(0.0, 3.0), (3.0, 0.0)] {
            let scene = under(above, below, |builder| {
                put(
                    builder,
                    shapes::cuboid(Vec3::new(40.0, thickness, 40.0)),
                    glass(1.5, 0.0, absorbed),
                    DVec3::ZERO,
                );
            });
            let world = World::new(&scene, DVec3::Y);
            for angle in [0.0f64, 0.6, 1.2] {
                let direction = DVec3::new(angle.sin(), -angle.cos(), 0.0);
                let (parts, _) = seen(
                    &world,
                    direction,
                    &PathSettings { roulette_after: 64, ..PathSettings::default() },
                    1 << 13,
                );
                let r = fresnel(angle.cos(), 1.5);
                let beyond = refract(-direction, DVec3::Y, 1.5).unwrap();
                let way = f64::from(thickness) / -beyond.y;
                let t = glass(1.5, 0.0, absorbed).volume.absorption().map(|a| (-a * way).exp());
                let through = (1.0 - r).powi(2) * t / (DVec3::ONE - r * r * t * t);
                if absorbed.is_none() {
                    close(through.x, (1.0 - r) / (1.0 + r), 1e-12, "the closed form itself");
                }
                let want =
                    if below > 0.0 { 3.0 * through } else { 3.0 * r * (DVec3::ONE + t * through) };
                for channel in 0..3 {
                    close(
                        parts.total()[channel],
                        want[channel],
                        0.01,
                        &format!("{absorbed:?}, {above} above, {angle} rad"),
                    );
                }
            }
        }
    }
}

#[test]
fn tint_follows_the_law_of_beer_and_lambert() {
    // Glass of the index of air: the tint alone.
    let tint = Vec3::new(0.8, 0.4, 0.1);
    for (centimeters, power) in [(1.0f32, 1), (2.0, 2)] {
        let scene = under(0.0, 5.0, |builder| {
            let size = Vec3::new(1.0, centimeters * 0.01, 1.0);
            put(builder, shapes::cuboid(size), glass(1.0, 0.0, Some((tint, 0.01))), DVec3::ZERO);
        });
        let world = World::new(&scene, DVec3::Y * 0.5);
        let (parts, _) = seen(&world, DVec3::NEG_Y, &PathSettings::default(), 4);
        for channel in 0..3 {
            let want = 5.0 * f64::from(tint[channel]).powi(power);
            close(
                parts.total()[channel],
                want,
                1e-4,
                &format!("{centimeters} cm, channel {channel}"),
            );
        }
    }
}

#[test]
fn beyond_the_critical_angle_all_is_reflected() {
    let scene = under(2.0, 0.0, |builder| {
        put(
            builder,
            shapes::cuboid(Vec3::new(40.0, 1.0, 40.0)),
            glass(1.5, 0.0, None),
            DVec3::ZERO,
        );
    });
    // Inside, looking up; light that returns downwards does not count.
    let world = World::new(&scene, DVec3::ZERO);
    let critical = (1.0f64 / 1.5).asin();
    for angle in [0.0, 0.3, 0.6, critical - 0.01, critical + 0.01, 1.0, 1.3] {
        let direction = DVec3::new(angle.sin(), angle.cos(), 0.0);
        let (parts, _) = seen(
            &world,
            direction,
            &PathSettings { bounces: 1, ..PathSettings::default() },
            1 << 12,
        );
        let want = 2.0 * 1.5 * 1.5 * (1.0 - fresnel(angle.cos(), 1.0 / 1.5));
        assert!((angle > critical) == (want == 0.0));
        close(parts.direct_transmission.y, want, 5e-3, &format!("{angle} rad"));
        close(parts.total().y, want, 5e-3, "it is all transmitted");
    }
}

#[test]
fn thin_walls_bend_nothing_and_tint_once() {
    let color = Vec3::new(0.9, 0.5, 0.2);
    let scene = under(0.0, 2.0, |builder| {
        let pane = Material { base_color: color.extend(1.0), ..thin(0.0) };
        put(builder, shapes::plane(Vec2::splat(4.0), 1, 1), pane, DVec3::ZERO);
    });
    let world = World::new(&scene, DVec3::Y);
    for angle in [0.0f64, 0.5, 1.0] {
        // Seen through the pane, no surface counts: zero bounces are enough.
        for bounces in [0, 8] {
            let direction = DVec3::new(angle.sin(), -angle.cos(), 0.0);
            let (parts, _) = seen(
                &world,
                direction,
                &PathSettings { bounces, ..PathSettings::default() },
                1 << 13,
            );
            for channel in 0..3 {
                let want = 2.0 * f64::from(color[channel]) * (1.0 - fresnel(angle.cos(), 1.5));
                close(
                    parts.emission[channel],
                    want,
                    5e-3,
                    &format!("{angle} rad, channel {channel}"),
                );
            }
        }
    }
}

/// A small surface, seen from above beside the objects over it.
fn over_a_patch(fill: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("agree");
    put(
        &mut builder,
        shapes::plane(Vec2::splat(4.0), 1, 1),
        dielectric("m", Vec3::new(0.7, 0.5, 0.3), 0.6),
        DVec3::ZERO,
    );
    fill(&mut builder);
    Scene { emissive_lights: true, ..builder.build().unwrap() }
}

fn square(builder: &mut SceneBuilder, height: f64) {
    let pose = look_at_transform(DVec3::new(0.1, height, 0.0), DVec3::ZERO);
    let emitter = Emitter::Rectangle { width: 0.5, height: 0.4, sides: Sides::One };
    builder.light("lamp", emitter, LightStrength::Nits(Nit(1000.0)), Vec3::ONE, pose);
}

#[test]
fn strategies_agree_through_glass() {
    let texture = |builder: &mut SceneBuilder| {
        let picture = textures::picture(4, 4, |u, v| [u, v, 0.4, if u > 0.5 { 1.0 } else { 0.25 }]);
        SceneBuilder::texture_ref(builder.add_texture(
            "t",
            picture,
            crate::scene::Sampler::default(),
        ))
    };
    let pane = || shapes::plane(Vec2::splat(1.2), 1, 1);
    let scenes: Vec<(&str, Scene)> = vec![
        (
            "a thin smooth pane in front of a lamp",
            over_a_patch(|b| {
                put(
                    b,
                    pane(),
                    Material { base_color: Vec3::new(0.9, 0.6, 0.3).extend(1.0), ..thin(0.0) },
                    DVec3::Y * 0.5,
                );
                square(b, 1.0);
            }),
        ),
        (
            "a thin rough pane in front of a lamp",
            over_a_patch(|b| {
                put(b, pane(), thin(0.5), DVec3::Y * 0.5);
                square(b, 1.0);
            }),
        ),
        (
            "a blended layer in front of a lamp",
            over_a_patch(|b| {
                let half = Material {
                    base_color: Vec3::splat(0.5).extend(0.5),
                    alpha: AlphaMode::Blend,
                    double_sided: true,
                    ..metal("half", Vec3::ONE, 0.5)
                };
                put(b, pane(), half, DVec3::Y * 0.5);
                square(b, 1.0);
            }),
        ),
        (
            "a lamp that nothing shadows",
            over_a_patch(|b| {
                put(b, pane(), dielectric("wall", Vec3::ONE, 1.0), DVec3::Y * 0.5);
                square(b, 1.0);
            }),
        ),
        (
            "a glowing sheet with texture and holes",
            over_a_patch(|b| {
                let reference = texture(b);
                let sheet = Material {
                    emission: Vec3::splat(900.0),
                    emissive_texture: Some(reference),
                    base_color_texture: Some(reference),
                    alpha: AlphaMode::Blend,
                    double_sided: true,
                    ..dielectric("sheet", Vec3::ONE, 1.0)
                };
                put(b, pane(), sheet, DVec3::Y * 0.7);
            }),
        ),
        (
            "a lamp under water",
            over_a_patch(|b| {
                let water = glass(1.33, 0.0, Some((Vec3::new(0.3, 0.6, 0.9), 0.5)));
                put(b, shapes::cuboid(Vec3::new(3.9, 4.0, 3.9)), water, DVec3::Y * 1.9);
                square(b, 1.0);
            }),
        ),
    ];
    for (name, mut scene) in scenes {
        let alone = name == "a lamp that nothing shadows";
        scene.lights.iter_mut().for_each(|light| light.shadow = !alone);
        // In every scene the eye sees the surface below the objects over it.
        let eye = DVec3::new(0.0, 0.3, 0.3);
        let world = World::new(&scene, eye);
        let run = |strategy, count| {
            let walk = PathSettings { bounces: 3, strategy, ..PathSettings::default() };
            let (parts, deviation) = seen(&world, DVec3::new(0.0, -0.3, -0.3), &walk, count);
            (parts.total().y, deviation)
        };
        let ((both, s0), (lights, s1), (brdf, s2)) = (
            run(SamplingStrategy::Mis, 1 << 13),
            run(SamplingStrategy::Lights, 1 << 13),
            run(SamplingStrategy::Bsdf, 1 << 15),
        );
        assert!(
            (both - lights).abs() < 3.0 * s0.hypot(s1) + 1e-6 * both,
            "{name}: both {both} lights {lights} {s0} {s1}"
        );
        if !alone {
            assert!(
                (both - brdf).abs() < 3.0 * s0.hypot(s2) + 1e-6 * both,
                "{name}: both {both} brdf {brdf} {s0} {s2}"
            );
            assert!(s0.hypot(s1).hypot(s2) < 0.06 * both, "{name}: {s0} {s1} {s2} of {both}");
        }
    }
}

#[test]
fn strategies_agree_on_rough_glass() {
    for roughness in [0.3f32, 0.7] {
        for ball in [true, false] {
            let mut builder = SceneBuilder::new("rough");
            let part = if ball {
                shapes::icosphere(0.5, 4)
            } else {
                shapes::plane(Vec2::splat(2.0), 1, 1)
            };
            let material = if ball { glass(1.5, roughness, None) } else { thin(roughness) };
            put(&mut builder, part, material, DVec3::ZERO);
            // Behind it and in front of it.
            for y in [-1.5, 1.5] {
                let pose = look_at_transform(DVec3::new(0.4, y, 0.0), DVec3::ZERO);
                let sphere = Emitter::Sphere { radius: 0.4 };
                builder.light("lamp", sphere, LightStrength::Lumens(Lumen(500.0)), Vec3::ONE, pose);
            }
            let scene = builder.build().unwrap();
            let world = World::new(&scene, DVec3::new(-0.4, 1.5, 0.0));
            let run = |strategy, count| {
                let walk = PathSettings { bounces: 6, strategy, ..PathSettings::default() };
                let (parts, deviation) = seen(&world, DVec3::new(0.4, -1.5, 0.1), &walk, count);
                assert!(
                    parts.direct_diffuse == DVec3::ZERO && parts.indirect_diffuse == DVec3::ZERO
                );
                assert!(
                    parts.direct_specular.y > 0.0 && ball != (parts.direct_transmission.y > 0.0)
                );
                (parts.total().y, deviation)
            };
            let ((both, s0), (lights, s1), (brdf, s2)) = (
                run(SamplingStrategy::Mis, 1 << 13),
                run(SamplingStrategy::Lights, 1 << 14),
                run(SamplingStrategy::Bsdf, 1 << 14),
            );
            assert!(
                (both - lights).abs() < 3.0 * s0.hypot(s1),
                "{roughness} {ball}: {both} lights {lights} {s0} {s1}"
            );
            assert!(
                (both - brdf).abs() < 3.0 * s0.hypot(s2),
                "{roughness} {ball}: {both} brdf {brdf} {s0} {s2}"
            );
        }
    }
}

#[test]
fn invisible_lights_illuminate() {
    for visible in [true, false] {
        let mut scene = over_a_patch(|builder| square(builder, 1.0));
        scene.lights.iter_mut().for_each(|light| light.visible = visible);
        let world = World::new(&scene, DVec3::new(0.1, 0.5, 0.0));
        let (up, _) = seen(&world, DVec3::Y, &PathSettings::default(), 4);
        close(up.total().y, if visible { 1000.0 } else { 0.0 }, 1e-9, "the lamp itself");
        let (down, _) = seen(&world, DVec3::NEG_Y, &PathSettings::default(), 64);
        assert!(down.direct_diffuse.y > 1.0);
    }
}

/// An index of 1 leaves only Lambert's law, for which there are closed forms.
fn lambert(reflectance: f32, emission: f32) -> Material {
    Material {
        ior: 1.0,
        emission: Vec3::splat(emission),
        double_sided: true,
        ..dielectric("lambert", Vec3::splat(reflectance), 1.0)
    }
}

#[test]
fn a_sphere_in_a_sphere_glows_evenly() {
    // Each surface emits the complement of its reflectance: radiance 1 in all directions solves the
    // rendering equation.
    let mut builder = SceneBuilder::new("spheres");
    put(&mut builder, shapes::icosphere(2.0, 4), lambert(0.6, 0.4), DVec3::ZERO);
    put(&mut builder, shapes::icosphere(0.7, 4), lambert(0.3, 0.7), DVec3::new(0.3, 0.2, 0.0));
    put(&mut builder, shapes::icosphere(0.3, 4), glass(1.5, 0.0, None), DVec3::new(-0.6, 0.9, 0.0));
    let scene = Scene { emissive_lights: true, ..builder.build().unwrap() };
    let world = World::new(&scene, DVec3::new(0.0, 0.0, 1.7));
    let (mut sum, mut all) = (0.0, 0.0);
    for i in 0..64 {
        let (y, phi) = (f64::from(i) / 32.0 - 1.0, f64::from(i) * 2.4);
        let direction = DVec3::new(phi.cos(), y * 2.0, phi.sin());
        sum += seen(&world, direction, &PathSettings::default(), 256).0.total().y;
        all += 1.0;
    }
    close(sum / all, 1.0, 5e-3, "mean radiance");
}

#[test]
fn light_in_a_diffuse_sphere_matches_the_series() {
    // E = flux / (4 pi R^2) / (1 - reflectance): 2 lx for 4 pi lm, 1 m and 0.5.
    let mut builder = SceneBuilder::new("sphere");
    put(&mut builder, shapes::icosphere(1.0, 5), lambert(0.5, 0.0), DVec3::ZERO);
    builder.point_light_lumens("lamp", Lumen(4.0 * std::f64::consts::PI), Vec3::ONE, DVec3::ZERO);
    let scene = builder.build().unwrap();
    let world = World::new(&scene, DVec3::new(0.0, 0.1, 0.3));
    for (bounces, lux) in [(1, 1.0), (2, 1.5), (64, 2.0)] {
        let walk = PathSettings { bounces, ..PathSettings::default() };
        let mean =
            over_a_ball().map(|d| seen(&world, d, &walk, 256).0.total().y).sum::<f64>() / 40.0;
        close(mean * std::f64::consts::PI / 0.5, lux, 5e-3, &format!("{bounces} bounces"));
    }
}

#[test]
fn light_right_behind_glass_is_counted_once() {
    // An emissive square with a clear cover half a millimeter in front of it, 12 m above a small
    // surface: shadow rays must hit the cover.
    let height = 12.0;
    let scene = over_a_patch(|builder| {
        let mut glow = dielectric("glow", Vec3::ZERO, 1.0);
        (glow.emission, glow.double_sided) = (Vec3::splat(100.0), true);
        put(builder, shapes::plane(Vec2::splat(8.0), 1, 1), glow, DVec3::Y * height);
        let cover = shapes::cuboid(Vec3::new(8.2, 0.0005, 8.2));
        put(builder, cover, glass(1.5, 0.0, None), DVec3::Y * (height - 0.0006));
    });
    let world = World::new(&scene, DVec3::new(0.1, 1.0, 0.0));
    let run = |strategy| {
        let walk = PathSettings { strategy, bounces: 12, ..PathSettings::default() };
        let (parts, deviation) = seen(&world, DVec3::new(0.1, -1.0, 0.05), &walk, 1 << 14);
        (parts.total().y, deviation)
    };
    let ((both, s0), (brdf, s1)) = (run(SamplingStrategy::Mis), run(SamplingStrategy::Bsdf));
    assert!(
        both > 1.0 && (both - brdf).abs() < 3.0 * s0.hypot(s1),
        "{both}, {brdf}, deviations {s0} {s1}"
    );
}

#[test]
fn nothing_is_lost_however_often_light_is_reflected() {
    // Walls of a closed room that reflect 95 % and emit 5 %: radiance 1. After 64 surfaces 3.7 % of
    // the energy remains.
    let mut builder = SceneBuilder::new("room");
    let mut wall = lambert(0.95, 0.05);
    wall.double_sided = true;
    put(&mut builder, shapes::cuboid(Vec3::new(3.0, 2.0, 4.0)), wall, DVec3::ZERO);
    let scene = Scene { emissive_lights: true, ..builder.build().unwrap() };
    let world = World::new(&scene, DVec3::new(0.3, 0.2, 0.1));
    let mean = over_a_ball()
        .map(|d| seen(&world, d, &PathSettings::default(), 1024).0.total().y)
        .sum::<f64>()
        / 40.0;
    close(mean, 1.0, 5e-3, "mean radiance");
}
