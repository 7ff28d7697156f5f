//! Participating media against closed forms, quadrature, and the furnace.

use std::{f64::consts::PI, sync::Arc, sync::atomic::AtomicBool};

use glam::{DMat4, DVec2, DVec3, Vec3};

use super::*;
use crate::{
    photometry::{
        Candela, Lux, Nit,
        environment::{RadianceMap, RowMapping},
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
    },
    scene::{
        Environment, Material, MediumCoefficients, ParticipatingVolume, Projection, Scene,
        VolumeShape,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
        volume::DensityGrid,
    },
};
use volumes::{henyey_greenstein, sample_henyey_greenstein};

const SINGLE: PathSettings =
    PathSettings { bounces: 1, strategy: SamplingStrategy::Mis, roulette_after: 4 };

fn filled(size: DVec3, medium: MediumCoefficients) -> ParticipatingVolume {
    ParticipatingVolume {
        name: "fog".into(),
        shape: VolumeShape::Box(DMat4::from_scale(size)),
        node: None,
        medium,
        density: None,
    }
}

fn medium(absorption: f64, scattering: f64, anisotropy: f64) -> MediumCoefficients {
    let (absorption, scattering) = (DVec3::splat(absorption), DVec3::splat(scattering));
    MediumCoefficients { absorption, scattering, anisotropy, emission: DVec3::ZERO }
}

/// A narrow view.
fn seen(scene: &Scene, eye: DVec3, target: DVec3, walk: PathSettings, samples: u32) -> DVec3 {
    let world = World::new(scene, eye);
    let projection =
        Projection::Perspective { vertical_fov: 1e-4, aspect: None, near: 1e-3, far: None };
    let camera = Pinhole::new(look_at_transform(eye, target), projection, 4, 4);
    let mut film = Film::new(4, 4, FilmSettings { path: walk, ..FilmSettings::default() });
    assert!(film.add(&world, &camera, samples, &AtomicBool::new(false)));
    let pixels = film.mean(LightComponents::total);
    pixels.iter().sum::<DVec3>() / pixels.len() as f64
}

fn near(got: DVec3, want: DVec3, relative: f64, what: &str) {
    let off = ((got - want) / want.max(DVec3::splat(1e-300))).abs().max_element();
    println!("{what}: {got} for {want}, off by {:.3} %", off * 100.0);
    assert!(off < relative, "{what}: {got} for {want}");
}

/// A grid that is dense in the middle, and the integral of its density from (0, y, z) to (1, y, z)
/// at y = z = 0.5.
fn blob() -> (DensityGrid, f64) {
    let n = 12u32;
    let at = |i: u32| 1.0 - ((f64::from(i) + 0.5) / f64::from(n) * 2.0 - 1.0).powi(2);
    let value = |i: u32| at(i % n) * at(i / n % n) * at(i / n / n);
    let grid = DensityGrid::new([n; 3], (0..n * n * n).map(|i| value(i) as f32).collect()).unwrap();
    let steps = 10_000;
    let along = (0..steps)
        .map(|i| grid.sample(DVec3::new((f64::from(i) + 0.5) / f64::from(steps), 0.5, 0.5)));
    let integral = along.sum::<f64>() / f64::from(steps);
    (grid, integral)
}

fn around(nits: f32) -> Environment {
    let map = RadianceMap::new(8, 4, RowMapping::Linear, vec![Vec3::splat(nits); 32]).unwrap();
    Environment { map: Arc::new(map), rotation: 0.0, origin: "even".into() }
}

#[test]
fn light_fades_by_beer_and_lambert() {
    let absorption = DVec3::new(0.1, 0.5, 2.0);
    let mut fog = filled(
        DVec3::new(2.0, 4.0, 4.0),
        MediumCoefficients { absorption, ..medium(0.0, 0.3, 0.0) },
    );
    let mut scene = Scene { environment: Some(around(100.0)), ..Scene::default() };
    let only_seen = PathSettings { bounces: 0, ..PathSettings::default() };
    for turn in [0.0f64, 0.4] {
        fog.shape = VolumeShape::Box(
            DMat4::from_rotation_y(turn) * DMat4::from_scale(DVec3::new(2.0, 4.0, 4.0)),
        );
        scene.volumes = vec![fog.clone()];
        let length = 2.0 / turn.cos();
        let want = 100.0 * DVec3::new(-0.4, -0.8, -2.3).map(|x| (x * length).exp());
        near(seen(&scene, -5.0 * DVec3::X, DVec3::ZERO, only_seen, 4), want, 1e-6, "homogeneous");
        // From inside, half of it.
        let half = 100.0 * DVec3::new(-0.4, -0.8, -2.3).map(|x| (x * length / 2.0).exp());
        near(seen(&scene, DVec3::ZERO, DVec3::X, only_seen, 4), half, 1e-6, "from within");
    }
    let (grid, integral) = blob();
    fog.shape = VolumeShape::Box(DMat4::from_scale(DVec3::new(2.0, 4.0, 4.0)));
    fog.density = Some(grid);
    scene.volumes = vec![fog];
    let want = 100.0 * DVec3::new(-0.4, -0.8, -2.3).map(|x| (x * 2.0 * integral).exp());
    near(
        seen(&scene, -5.0 * DVec3::X, DVec3::ZERO, only_seen, 1 << 15),
        want,
        5e-3,
        "heterogeneous",
    );
}

/// A slab of this thickness across z, seen along -z, under the sun: behind the slab or on the
/// viewer's side, at a cosine to the slab's normal.
fn sun_on_slab(g: f64, cosine: f64, behind: bool) -> (Scene, f64) {
    let (absorption, scattering, thickness, lux) = (0.2, 0.5, 2.0, 1000.0);
    let sine = (1.0 - cosine * cosine).sqrt();
    let shines = DVec3::new(sine, 0.0, if behind { cosine } else { -cosine });
    let mut builder = SceneBuilder::new("slab");
    builder.sun("sun", Lux(lux), Vec3::ONE, shines);
    let mut scene = builder.build().unwrap();
    scene.volumes =
        vec![filled(DVec3::new(1e3, 1e3, thickness), medium(absorption, scattering, g))];
    let extinction = absorption + scattering;
    // Chandrasekhar, "Radiative Transfer" (1950), section 13: the first order of scattering by a
    // plane-parallel layer.
    let integral = if behind {
        let k = 1.0 / cosine - 1.0;
        let depth = extinction * thickness;
        if k < 1e-9 {
            thickness * (-depth).exp()
        } else {
            ((-depth).exp() - (-depth / cosine).exp()) / (extinction * k)
        }
    } else {
        let k = extinction * (1.0 + 1.0 / cosine);
        (1.0 - (-k * thickness).exp()) / k
    };
    // Light that comes from -shines and the line of sight along -z.
    let phase = henyey_greenstein(shines.z, g);
    (scene, lux * scattering * phase * integral)
}

#[test]
fn a_slab_scatters_the_sun_once_as_the_closed_form_says() {
    for (g, cosine, behind) in
        [(0.0, 0.6, false), (0.6, 0.8, true), (-0.3, 0.8, false), (0.85, 1.0, true)]
    {
        let (scene, want) = sun_on_slab(g, cosine, behind);
        let got = seen(&scene, 10.0 * DVec3::Z, DVec3::ZERO, SINGLE, 4096);
        near(got, DVec3::splat(want), 5e-3, &format!("g {g}, cosine {cosine}, behind {behind}"));
    }
}

#[test]
fn the_air_around_a_lamp_glows_as_quadrature_says() {
    let mut builder = SceneBuilder::new("lamp");
    builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, DVec3::new(0.3, 0.4, 0.5));
    let mut scene = builder.build().unwrap();
    let g = 0.5;
    let (scattering, extinction) = (DVec3::new(0.1, 0.3, 0.5), DVec3::new(0.3, 0.4, 0.5));
    let air = MediumCoefficients {
        absorption: extinction - scattering,
        scattering,
        ..medium(0.0, 0.0, g)
    };
    scene.volumes = vec![filled(DVec3::splat(4.0), air)];
    let lamp = DVec3::new(0.3, 0.4, 0.5);
    let steps = 200_000;
    let mut want = DVec3::ZERO;
    for i in 0..steps {
        let t = (f64::from(i) + 0.5) / f64::from(steps) * 4.0;
        let d = lamp - DVec3::new(t - 2.0, 0.0, 0.0);
        let r = d.length();
        let remains = extinction.map(|e| (-e * (t + r)).exp());
        want += scattering * remains * (100.0 * henyey_greenstein(d.x / r, g) / (r * r));
    }
    want *= 4.0 / f64::from(steps);
    let got = seen(&scene, -6.0 * DVec3::X, DVec3::ZERO, SINGLE, 1 << 14);
    near(got, want, 1e-2, "airlight");
}

#[test]
fn volume_white_furnace() {
    let fogs = [
        ("homogeneous", vec![filled(DVec3::splat(2.0), medium(0.0, 1.5, 0.0))]),
        ("forward", vec![filled(DVec3::splat(2.0), medium(0.0, 1.5, 0.7))]),
        (
            "colored",
            vec![filled(
                DVec3::splat(2.0),
                MediumCoefficients {
                    scattering: DVec3::new(0.2, 1.0, 3.0),
                    ..medium(0.0, 0.0, 0.3)
                },
            )],
        ),
        (
            "heterogeneous",
            vec![ParticipatingVolume {
                density: Some(blob().0),
                ..filled(DVec3::splat(2.0), medium(0.0, 4.0, 0.2))
            }],
        ),
        (
            "heterogeneous and colored",
            vec![ParticipatingVolume {
                density: Some(blob().0),
                ..filled(
                    DVec3::splat(2.0),
                    MediumCoefficients {
                        scattering: DVec3::new(0.5, 2.0, 4.0),
                        ..medium(0.0, 0.0, 0.2)
                    },
                )
            }],
        ),
        (
            "overlapping",
            vec![
                filled(DVec3::splat(2.0), medium(0.0, 0.5, 0.6)),
                ParticipatingVolume {
                    density: Some(blob().0),
                    ..filled(DVec3::splat(1.5), medium(0.0, 3.0, -0.4))
                },
            ],
        ),
    ];
    for (name, volumes) in fogs {
        let scene = Scene { environment: Some(around(50.0)), volumes, ..Scene::default() };
        let got =
            seen(&scene, DVec3::new(-4.0, 0.3, 0.2), DVec3::ZERO, PathSettings::default(), 4096);
        near(got, DVec3::splat(50.0), 1e-2, name);
    }
}

#[test]
fn in_equilibrium_what_is_absorbed_is_emitted() {
    // Kirchhoff: emission equals absorption times the ambient luminance.
    for density in [None, Some(blob().0)] {
        let emission = DVec3::new(0.3, 0.6, 1.2) * 50.0;
        let medium =
            MediumCoefficients { absorption: emission / 50.0, emission, ..medium(0.0, 0.8, 0.2) };
        let fog = ParticipatingVolume { density, ..filled(DVec3::splat(2.0), medium) };
        let scene =
            Scene { environment: Some(around(50.0)), volumes: vec![fog], ..Scene::default() };
        let got =
            seen(&scene, DVec3::new(-4.0, 0.3, 0.2), DVec3::ZERO, PathSettings::default(), 2048);
        near(got, DVec3::splat(50.0), 1e-2, "equilibrium");
    }
}

#[test]
fn a_column_emits_what_the_closed_form_says() {
    let glow = MediumCoefficients { emission: DVec3::splat(10.0), ..medium(0.5, 0.0, 0.0) };
    let mut scene = Scene { volumes: vec![filled(DVec3::splat(2.0), glow)], ..Scene::default() };
    let want = 10.0 * (1.0 - (-1f64).exp()) / 0.5;
    near(
        seen(&scene, -5.0 * DVec3::X, DVec3::ZERO, SINGLE, 1),
        DVec3::splat(want),
        1e-9,
        "with absorption",
    );
    let glow = MediumCoefficients { absorption: DVec3::ZERO, ..glow };
    scene.volumes = vec![filled(DVec3::splat(2.0), glow)];
    near(
        seen(&scene, -5.0 * DVec3::X, DVec3::ZERO, SINGLE, 1),
        DVec3::splat(20.0),
        1e-9,
        "without",
    );
    let (grid, integral) = blob();
    scene.volumes =
        vec![ParticipatingVolume { density: Some(grid), ..filled(DVec3::splat(2.0), glow) }];
    near(
        seen(&scene, -5.0 * DVec3::X, DVec3::ZERO, SINGLE, 4096),
        DVec3::splat(20.0 * integral),
        5e-3,
        "a glowing cloud",
    );
}

#[test]
fn a_mesh_is_a_box_where_it_is_one() {
    let mut builder = SceneBuilder::new("mesh");
    let material = builder.add_material(Material::default());
    let cube = builder.add_mesh("cube", shapes::cuboid(Vec3::new(2.0, 1.0, 1.0)), material);
    let node = builder.add_node(
        "place",
        DMat4::from_rotation_y(0.3) * DMat4::from_scale(DVec3::new(1.0, 2.0, -2.0)),
    );
    builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::new(-0.3, -0.5, -0.4));
    let mut scene = builder.build().unwrap();
    let fog = filled(DVec3::ONE, medium(0.2, 0.7, 0.3));
    let mesh = ParticipatingVolume {
        shape: VolumeShape::Mesh(cube.index()),
        node: Some(node.index()),
        ..fog.clone()
    };
    let place = DMat4::from_rotation_y(0.3) * DMat4::from_scale(DVec3::splat(2.0));
    let brick = ParticipatingVolume { shape: VolumeShape::Box(place), ..fog };
    for eye in [DVec3::new(-4.0, 0.5, 1.0), DVec3::new(0.1, 0.2, 0.3)] {
        let mut of = |volume: &ParticipatingVolume| {
            scene.volumes = vec![volume.clone()];
            seen(&scene, eye, DVec3::new(0.1, 0.0, 0.0), SINGLE, 1024)
        };
        let (mesh, brick) = (of(&mesh), of(&brick));
        near(mesh, brick, 1e-3, "mesh and box");
    }
}

#[test]
fn volumes_that_overlap_add_up() {
    let mut builder = SceneBuilder::new("overlap");
    builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::new(-0.3, -0.5, -0.4));
    let mut scene = builder.build().unwrap();
    let mut of = |volumes: Vec<ParticipatingVolume>| {
        scene.volumes = volumes;
        seen(&scene, DVec3::new(-4.0, 0.5, 0.6), DVec3::ZERO, SINGLE, 1 << 14)
    };
    let size = DVec3::splat(2.0);
    let both = of(vec![filled(size, medium(0.1, 0.3, 0.4)), filled(size, medium(0.2, 0.6, 0.4))]);
    near(both, of(vec![filled(size, medium(0.3, 0.9, 0.4))]), 3e-3, "two in one place");
    // A grid of ones equals a homogeneous volume.
    let ones = Some(DensityGrid::new([2, 2, 2], vec![1.0; 8]).unwrap());
    let grid =
        of(vec![ParticipatingVolume { density: ones, ..filled(size, medium(0.3, 0.9, 0.4)) }]);
    near(grid, of(vec![filled(size, medium(0.3, 0.9, 0.4))]), 5e-3, "a grid of ones");
}

#[test]
fn sampling_strategies_agree_in_fog() {
    let mut builder = SceneBuilder::new("fog");
    let strength = LightStrength::Nits(Nit(500.0));
    builder.light(
        "ball",
        Emitter::Sphere { radius: 0.4 },
        strength,
        Vec3::ONE,
        DMat4::from_translation(DVec3::Y),
    );
    let floor = builder.add_material(dielectric("floor", Vec3::splat(0.5), 1.0));
    let plane = builder.add_mesh("floor", shapes::plane(glam::Vec2::splat(8.0), 1, 1), floor);
    builder.instance("floor", plane, DMat4::from_translation(-DVec3::Y));
    let mut scene = builder.build().unwrap();
    scene.volumes = vec![filled(DVec3::splat(3.0), medium(0.1, 0.6, 0.5))];
    let of = |strategy| {
        let walk = PathSettings { bounces: 3, strategy, roulette_after: 100 };
        seen(&scene, DVec3::new(-4.0, 0.3, 0.2), DVec3::new(0.0, -0.2, 0.0), walk, 8192)
    };
    let both = of(SamplingStrategy::Mis);
    near(of(SamplingStrategy::Lights), both, 2e-2, "points on lights");
    near(of(SamplingStrategy::Bsdf), both, 3e-2, "directions");
}

#[test]
fn lamps_shine_through_fog_on_to_what_stands_behind() {
    let mut builder = SceneBuilder::new("behind");
    let wall = builder.add_material(dielectric("wall", Vec3::splat(0.5), 1.0));
    let plane = builder.add_mesh("wall", shapes::plane(glam::Vec2::splat(2.0), 1, 1), wall);
    builder.instance("wall", plane, DMat4::IDENTITY);
    builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, 4.0 * DVec3::Y);
    let mut scene = builder.build().unwrap();
    let eye = DVec3::new(0.0, 0.5, 0.1);
    let clear = seen(&scene, eye, DVec3::ZERO, SINGLE, 16);
    // Above the eye, so that it is not visible.
    let mut fog = filled(DVec3::new(9.0, 1.0, 9.0), medium(0.4, 0.5, 0.0));
    fog.shape = VolumeShape::Box(
        DMat4::from_translation(2.0 * DVec3::Y) * DMat4::from_scale(DVec3::new(9.0, 1.0, 9.0)),
    );
    scene.volumes = vec![fog];
    near(
        seen(&scene, eye, DVec3::ZERO, SINGLE, 16),
        clear * (-0.9f64).exp(),
        1e-5,
        "a shadow of fog",
    );
}

#[test]
fn light_without_shadows_is_dimmed_by_volumes() {
    // A wall below fog of optical depth 0.9, below a board: the board occludes lights with shadows,
    // the fog attenuates all.
    let small = LightStrength::Nits(Nit(1e5));
    let cone = Cone::new(0.3, 0.9).unwrap();
    let lamps: [(&str, Emitter, LightStrength); 6] = [
        ("point", Emitter::Point, LightStrength::Candela(Candela(100.0))),
        (
            "spot",
            Emitter::Spot { cone, flux: SpotFlux::Exact },
            LightStrength::Candela(Candela(100.0)),
        ),
        ("sphere", Emitter::Sphere { radius: 0.02 }, small),
        ("disk", Emitter::Disk { radius: 0.02, sides: Sides::One }, small),
        ("sun", Emitter::Sun { angular_radius: 0.0 }, LightStrength::Lux(Lux(100.0))),
        ("sun's disk", Emitter::Sun { angular_radius: 0.00465 }, LightStrength::Lux(Lux(100.0))),
    ];
    let eye = DVec3::new(0.0, 0.5, 0.1);
    for (name, emitter, strength) in lamps {
        let mut builder = SceneBuilder::new("below");
        let wall = builder.add_material(dielectric("wall", Vec3::splat(0.5), 1.0));
        let plane = builder.add_mesh("wall", shapes::plane(glam::Vec2::splat(2.0), 1, 1), wall);
        builder.instance("wall", plane, DMat4::IDENTITY);
        builder.light(
            "lamp",
            emitter,
            strength,
            Vec3::ONE,
            look_at_transform(4.0 * DVec3::Y, DVec3::ZERO),
        );
        let mut scene = builder.clone().build().unwrap();
        let clear = seen(&scene, eye, DVec3::ZERO, SINGLE, 16);
        builder.instance("board", plane, DMat4::from_translation(3.0 * DVec3::Y));
        scene = builder.build().unwrap();
        let mut fog = filled(DVec3::ONE, medium(0.4, 0.5, 0.0));
        let place =
            DMat4::from_translation(2.0 * DVec3::Y) * DMat4::from_scale(DVec3::new(9.0, 1.0, 9.0));
        fog.shape = VolumeShape::Box(place);
        scene.volumes = vec![fog];
        assert_eq!(seen(&scene, eye, DVec3::ZERO, SINGLE, 16), DVec3::ZERO, "{name} hidden");
        scene.lights[0].shadow = false;
        // Area lights are seen along slightly different paths.
        near(seen(&scene, eye, DVec3::ZERO, SINGLE, 16), clear * (-0.9f64).exp(), 1e-3, name);
    }
    // Within fog too: single scattering of the sun in closed form, with and without shadows.
    for (g, cosine, behind) in [(0.0, 0.6, false), (0.6, 0.8, true)] {
        let (mut scene, want) = sun_on_slab(g, cosine, behind);
        scene.lights[0].shadow = false;
        let got = seen(&scene, 10.0 * DVec3::Z, DVec3::ZERO, SINGLE, 4096);
        near(
            got,
            DVec3::splat(want),
            5e-3,
            &format!("in fog, g {g}, cosine {cosine}, behind {behind}"),
        );
    }
}

#[test]
fn the_phase_function_is_sampled_as_it_is() {
    let along = DVec3::new(1.0, -2.0, 0.5).normalize();
    for g in [-0.7, 0.0, 1e-4, 0.3, 0.9] {
        let n = 400;
        let cosines = (0..n * n).map(|i| {
            let u = DVec2::new(
                (f64::from(i % n) + 0.5) / f64::from(n),
                (f64::from(i / n) + 0.5) / f64::from(n),
            );
            sample_henyey_greenstein(along, g, u).dot(along)
        });
        let mean = cosines.sum::<f64>() / f64::from(n * n);
        assert!((mean - g).abs() < 1e-3, "{g}: {mean}");
        let steps = 100_000;
        let total: f64 = (0..steps)
            .map(|i| henyey_greenstein((f64::from(i) + 0.5) / f64::from(steps) * 2.0 - 1.0, g))
            .sum::<f64>()
            * 4.0
            * PI
            / f64::from(steps);
        assert!((total - 1.0).abs() < 1e-3, "{g}: {total}");
    }
}
