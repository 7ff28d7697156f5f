//! Participating volumes on the device: closed forms, quadrature, and the path tracer.

use std::sync::Arc;

use crate::common::traced::{film, floats, mean_flip, of_bounces};
use crate::common::{
    Place, exposed, nits, parallel, perspective, picture, renderer, squares, unshadowed,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    camera::ToneMapper,
    frame::{RenderSettings, Renderer, ShadowSettings, VolumeSettings},
    gpu_scene::View,
    photometry::{
        Candela, Lux, Nit,
        environment::{RadianceMap, RowMapping},
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
    },
    reference::{FilmSettings, LightComponents, volumes::henyey_greenstein},
    scene::{
        Environment, Material, MediumCoefficients, ParticipatingVolume, Projection, Scene,
        VolumeShape,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::ShadowMethod,
        procedural::shapes,
        volume::DensityGrid,
    },
    settings::Resolution,
};

fn filled(place: DMat4, absorption: f64, scattering: f64, anisotropy: f64) -> ParticipatingVolume {
    let (absorption, scattering) = (DVec3::splat(absorption), DVec3::splat(scattering));
    ParticipatingVolume {
        name: "fog".into(),
        shape: VolumeShape::Box(place),
        node: None,
        medium: MediumCoefficients { absorption, scattering, anisotropy, emission: DVec3::ZERO },
        density: None,
    }
}

fn boxed(size: DVec3) -> DMat4 {
    DMat4::from_scale(size)
}

fn around(nits: f32) -> Option<Environment> {
    let map = RadianceMap::new(16, 8, RowMapping::Linear, vec![Vec3::splat(nits); 128]).unwrap();
    Some(Environment { map: Arc::new(map), rotation: 0.0, origin: "even".into() })
}

fn settings(white: f64) -> RenderSettings {
    exposed(white, 0.5)
}

/// A cloud: a grid without symmetry, empty at its border.
fn cloud(n: u32) -> DensityGrid {
    let value = |i: u32| {
        let at = DVec3::new(f64::from(i % n), f64::from(i / n % n), f64::from(i / n / n));
        let p = (at + 0.5) / f64::from(n) * 2.0 - 1.0;
        let waves = (p.x * 7.0 + 1.0).sin() * (p.y * 6.0 + 2.0).sin() * (p.z * 8.0).sin()
            + 0.5 * (p.x * 13.0 - p.y * 11.0).sin();
        (1.2 - 1.6 * p.length() + 0.35 * waves).clamp(0.0, 1.0) as f32
    };
    DensityGrid::new([n; 3], (0..n * n * n).map(value).collect()).unwrap()
}

/// Mean of a small, nearly uniform picture, to average the ray-march jitter.
fn mean(of: &[[f32; 3]]) -> DVec3 {
    let luminances: Vec<f32> = of.iter().map(|p| p[1]).collect();
    let (low, high) =
        luminances.iter().fold((f32::MAX, 0f32), |(low, high), &v| (low.min(v), high.max(v)));
    println!("  pixels from {low:.4} to {high:.4}");
    of.iter().map(|p| Vec3::from_array(*p).as_dvec3()).sum::<DVec3>() / of.len() as f64
}

fn near(got: DVec3, want: DVec3, relative: f64, what: &str) {
    let off = ((got - want) / want.max(DVec3::splat(1e-30))).abs().max_element();
    println!("{what}: {got:.4} for {want:.4}, off by {:.3} %", off * 100.0);
    assert!(off < relative, "{what}: {got} for {want}");
}

#[test]
fn transmittance_follows_beer_lambert() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let turned = DMat4::from_rotation_y(0.4) * boxed(DVec3::new(2.0, 30.0, 30.0));
    for (place, length) in [(boxed(DVec3::new(2.0, 30.0, 30.0)), 2.0), (turned, 2.0 / 0.4f64.cos())]
    {
        let mut scene = Scene { environment: around(100.0), ..Scene::default() };
        let fog = filled(place, 0.0, 0.0, 0.0);
        let colored = |absorption| MediumCoefficients { absorption, ..fog.medium };
        // Two overlapping ones add up.
        scene.volumes = vec![
            ParticipatingVolume { medium: colored(DVec3::new(0.1, 0.3, 1.0)), ..fog.clone() },
            ParticipatingVolume { medium: colored(DVec3::new(0.2, 0.1, 0.5)), ..fog.clone() },
        ];
        let view = parallel(-5.0 * DVec3::X, DVec3::ZERO, 0.5, 20.0, (16, 16));
        let got = picture(&mut renderer, &scene, &view, &settings(100.0));
        let want = 100.0 * DVec3::new(-0.3, -0.4, -1.5).map(|x| (x * length).exp());
        near(nits(&got, 8, 8), want, 5e-3, "from outside");
        let view = perspective(DVec3::ZERO, DVec3::X, 0.02, 0.1, (16, 16));
        let got = picture(&mut renderer, &scene, &view, &settings(100.0));
        let want = 100.0 * DVec3::new(-0.3, -0.4, -1.5).map(|x| (x * length / 2.0).exp());
        near(nits(&got, 8, 8), want, 5e-3, "from within");
    }
    // Emission in closed form.
    let glow = filled(boxed(DVec3::splat(2.0)), 0.5, 0.0, 0.0);
    let medium = MediumCoefficients { emission: DVec3::new(10.0, 20.0, 40.0), ..glow.medium };
    let scene = Scene { volumes: vec![ParticipatingVolume { medium, ..glow }], ..Scene::default() };
    let view = perspective(-5.0 * DVec3::X, DVec3::ZERO, 0.02, 0.1, (16, 16));
    let got = picture(&mut renderer, &scene, &view, &settings(20.0));
    near(nits(&got, 8, 8), medium.emission * ((1.0 - (-1f64).exp()) / 0.5), 5e-3, "emission");
}

/// Half-resolution compositing is distance-aware, independent of the far plane and the projection's
/// range.
#[test]
fn half_resolution_compositing_is_distance_aware() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut scene = squares(&[
        (DVec3::new(-5.0, 0.0, -5.0), 10.0, Vec3::splat(100.0)),
        (DVec3::new(0.0, 0.0, -6.0), 100.0, Vec3::splat(100.0)),
    ]);
    scene.volumes = vec![filled(boxed(DVec3::splat(40.0)), 0.5, 0.0, 0.0)];
    let volumes = VolumeSettings { resolution: Resolution::Half, ..VolumeSettings::default() };
    let settings = RenderSettings { volumes, ..settings(100.0) };
    let camera = look_at_transform(DVec3::ZERO, DVec3::NEG_Z);
    for far in [6.01f32, 6000.0] {
        let view = parallel(DVec3::ZERO, DVec3::NEG_Z, 2.0, far, (24, 16));
        let got = picture(&mut renderer, &scene, &view, &settings);
        // A column beside the border between the walls, whose half-resolution neighbors lie on
        // both.
        for (x, distance) in [(11, 5.0f64), (12, 6.0)] {
            let want = DVec3::splat(100.0 * (-0.5 * distance).exp());
            near(nits(&got, x, 8), want, 0.02, &format!("parallel to {far} m, column {x}"));
        }
    }
    let pictures = [None, Some(6.05)].map(|far| {
        let projection =
            Projection::Perspective { vertical_fov: 0.6, aspect: None, near: 0.1, far };
        picture(&mut renderer, &scene, &View::new(camera, &projection, 24, 16), &settings)
    });
    for (a, b) in pictures[0].nits.iter().zip(&pictures[1].nits) {
        assert!((a[1] / b[1] - 1.0).abs() < 0.01, "{a:?} {b:?}");
    }
}

#[test]
fn single_scattering_of_the_sun_matches_closed_form() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (absorption, scattering, thickness, lux) = (0.2, 0.5, 2.0, 1000.0);
    let extinction = absorption + scattering;
    for (g, cosine, behind) in
        [(0.0, 0.6, false), (0.6, 0.8, true), (-0.3, 0.8, false), (0.85, 1.0, true)]
    {
        let sine = f64::sqrt(1.0 - cosine * cosine);
        let shines = DVec3::new(sine, 0.0, if behind { cosine } else { -cosine });
        let mut builder = SceneBuilder::new("slab");
        builder.sun("sun", Lux(lux), Vec3::ONE, shines);
        let mut scene = builder.build().unwrap();
        scene.volumes =
            vec![filled(boxed(DVec3::new(1e3, 1e3, thickness)), absorption, scattering, g)];
        let integral = if behind {
            let k = 1.0 / cosine - 1.0;
            let depth: f64 = extinction * thickness;
            if k < 1e-9 {
                thickness * (-depth).exp()
            } else {
                ((-depth).exp() - (-depth / cosine).exp()) / (extinction * k)
            }
        } else {
            let k = extinction * (1.0 + 1.0 / cosine);
            (1.0 - (-k * thickness).exp()) / k
        };
        let want = lux * scattering * henyey_greenstein(shines.z, g) * integral;
        let view = parallel(10.0 * DVec3::Z, DVec3::ZERO, 0.5, 20.0, (16, 16));
        for steps in [8, 32] {
            let settings = RenderSettings {
                volumes: VolumeSettings { steps, ..VolumeSettings::default() },
                ..settings(want)
            };
            let got = picture(&mut renderer, &scene, &view, &settings);
            near(
                mean(&got.nits),
                DVec3::splat(want),
                2e-2,
                &format!("g {g}, {cosine}, behind {behind}, {steps} steps"),
            );
        }
    }
}

#[test]
fn inscattering_of_lights_matches_quadrature() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let lamp = DVec3::new(0.3, 0.4, 0.5);
    let (g, scattering, extinction) = (0.5, 0.3, 0.4);
    let pose = look_at_transform(lamp, DVec3::new(0.2, 0.0, 0.0));
    let cone = Cone::new(0.3, 0.9).unwrap();
    let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
    let candela = LightStrength::Candela(Candela(100.0));
    let shapes: [(&str, Emitter, LightStrength); 5] = [
        ("point", Emitter::Point, candela),
        ("spot", spot, candela),
        ("sphere", Emitter::Sphere { radius: 0.02 }, LightStrength::Nits(Nit(1e5))),
        (
            "rectangle",
            Emitter::Rectangle { width: 0.03, height: 0.05, sides: Sides::One },
            LightStrength::Nits(Nit(1e5)),
        ),
        ("disk", Emitter::Disk { radius: 0.02, sides: Sides::Two }, LightStrength::Nits(Nit(1e5))),
    ];
    for (name, emitter, strength) in shapes {
        let mut builder = SceneBuilder::new(name);
        builder.light("lamp", emitter, strength, Vec3::ONE, pose);
        let mut scene = builder.build().unwrap();
        scene.lights[0].visible = false;
        scene.volumes =
            vec![filled(boxed(DVec3::splat(4.0)), extinction - scattering, scattering, g)];
        let view = perspective(-6.0 * DVec3::X, DVec3::ZERO, 0.002, 0.1, (16, 16));
        let settings = RenderSettings {
            shadows: ShadowSettings { method: ShadowMethod::Traced, ..ShadowSettings::default() },
            ..settings(5.0)
        };
        let got = picture(&mut renderer, &scene, &view, &settings);
        let (from, along) = (view.position, view.forward.as_dvec3());
        let axis = -pose.z_axis.truncate();
        let steps = 20_000;
        let mut want = 0.0;
        for i in 0..steps {
            let t = (f64::from(i) + 0.5) / f64::from(steps) * 4.2 + 3.9;
            let p = from + along * t;
            if p.abs().max_element() > 2.0 {
                continue;
            }
            let d = lamp - p;
            let r = d.length();
            let facing = axis.dot(-d / r);
            // Small enough to be points.
            let intensity = match emitter {
                Emitter::Spot { cone, .. } => 100.0 * cone.falloff(facing),
                Emitter::Sphere { radius } => 1e5 * std::f64::consts::PI * radius * radius,
                Emitter::Rectangle { width, height, .. } => 1e5 * width * height * facing.max(0.0),
                Emitter::Disk { radius, .. } => {
                    1e5 * std::f64::consts::PI * radius * radius * facing.abs()
                }
                _ => 100.0,
            };
            let way = t - 4.0 + r;
            want += (-extinction * way).exp() * intensity * henyey_greenstein(d.dot(along) / r, g)
                / (r * r);
        }
        want *= scattering * 4.2 / f64::from(steps);
        near(mean(&got.nits), DVec3::splat(want), 2e-2, name);
    }
}

#[test]
fn lights_are_attenuated_through_fog() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("behind");
    builder.floor(2.0, dielectric("wall", Vec3::splat(0.5), 1.0));
    builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, 4.0 * DVec3::Y);
    let mut scene = builder.build().unwrap();
    let view = perspective(DVec3::new(0.0, 0.5, 0.1), DVec3::ZERO, 0.3, 0.01, (16, 16));
    let clear = picture(&mut renderer, &scene, &view, &settings(1.0));
    // Above the eye, so that it is invisible.
    let place = DMat4::from_translation(2.0 * DVec3::Y) * boxed(DVec3::new(9.0, 1.0, 9.0));
    scene.volumes = vec![filled(place, 0.4, 0.5, 0.0)];
    let dim = picture(&mut renderer, &scene, &view, &settings(1.0));
    near(nits(&dim, 8, 8), nits(&clear, 8, 8) * (-0.9f64).exp(), 5e-3, "a shadow of fog");
    // Disabled or without volumes there is no pass, and the picture is the same to the bit.
    let off = RenderSettings {
        volumes: VolumeSettings { enabled: false, ..VolumeSettings::default() },
        ..settings(1.0)
    };
    let off = picture(&mut renderer, &scene, &view, &off);
    assert_eq!(off.nits, clear.nits);
    for picture in [&off, &clear] {
        assert!(picture.times.iter().all(|time| !time.name.contains("volume")));
    }
    assert!(dim.times.iter().any(|time| time.name == "volumes"));
}

#[test]
fn volumes_attenuate_lights_without_shadows() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A wall below fog of optical depth 0.9, below a board: the board blocks lights that cast
    // shadows, the fog attenuates all.
    let rectangle = Emitter::Rectangle { width: 0.03, height: 0.03, sides: Sides::One };
    let lamps: [(&str, Emitter, LightStrength); 3] = [
        ("point", Emitter::Point, LightStrength::Candela(Candela(100.0))),
        ("sun", Emitter::Sun { angular_radius: 0.0 }, LightStrength::Lux(Lux(6.0))),
        ("rectangle", rectangle, LightStrength::Nits(Nit(1e5))),
    ];
    let view = perspective(DVec3::new(0.0, 0.5, 0.1), DVec3::ZERO, 0.3, 0.01, (16, 16));
    for (name, emitter, strength) in lamps {
        let mut builder = SceneBuilder::new("below");
        let wall = builder.add_material(dielectric("wall", Vec3::splat(0.5), 1.0));
        let plane = builder.add_mesh("wall", shapes::plane(Vec2::splat(2.0), 1, 1), wall);
        builder.instance("wall", plane, DMat4::IDENTITY);
        builder.light(
            "lamp",
            emitter,
            strength,
            Vec3::ONE,
            look_at_transform(4.0 * DVec3::Y, DVec3::ZERO),
        );
        let clear =
            picture(&mut renderer, &builder.clone().build().unwrap(), &view, &settings(1.0));
        builder.instance("board", plane, DMat4::from_translation(3.0 * DVec3::Y));
        let mut scene = builder.build().unwrap();
        // Above the eye, so that it is invisible.
        let place = DMat4::from_translation(2.0 * DVec3::Y) * boxed(DVec3::new(9.0, 1.0, 9.0));
        scene.volumes = vec![filled(place, 0.4, 0.5, 0.0)];
        let dim = nits(&clear, 8, 8) * (-0.9f64).exp();
        let hidden = picture(&mut renderer, &scene, &view, &settings(1.0));
        assert_eq!(nits(&hidden, 8, 8), DVec3::ZERO, "{name} hidden");
        let shadows = unshadowed();
        let no_pass =
            picture(&mut renderer, &scene, &view, &RenderSettings { shadows, ..settings(1.0) });
        near(nits(&no_pass, 8, 8), dim, 5e-3, &format!("{name}, shadow passes off"));
        scene.lights[0].shadow = false;
        let no_shadow = picture(&mut renderer, &scene, &view, &settings(1.0));
        near(nits(&no_shadow, 8, 8), dim, 5e-3, &format!("{name} without shadow"));
    }
    // Fog attenuates the light that it scatters, also of lights without shadows. For lights that
    // cast shadows, `inscattering_of_lights_matches_quadrature` checks this.
    let mut builder = SceneBuilder::new("box");
    builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, 0.3 * DVec3::Y);
    let mut scene = builder.build().unwrap();
    scene.volumes = vec![filled(boxed(DVec3::splat(2.0)), 1.0, 2.0, 0.3)];
    let view = View::new(look_at_transform(4.0 * DVec3::Z, DVec3::ZERO), &PROJECTION, 16, 16);
    let casting = picture(&mut renderer, &scene, &view, &settings(10.0));
    scene.lights[0].shadow = false;
    let plain = picture(&mut renderer, &scene, &view, &settings(10.0));
    near(mean(&plain.nits), mean(&casting.nits), 1e-3, "within fog");
}

#[test]
fn uniform_environment_is_single_scattered() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut scene = Scene { environment: around(100.0), ..Scene::default() };
    let ball = filled(boxed(DVec3::splat(2.0)), 0.0, 0.4, 0.6);
    scene.volumes = vec![ParticipatingVolume { density: Some(cloud(16)), ..ball.clone() }, ball];
    let eye = DVec3::new(-6.0, 0.5, 0.3);
    let pose = look_at_transform(eye, DVec3::ZERO);
    let view = View::new(pose, &PROJECTION, 24, 24);
    let got = picture(&mut renderer, &scene, &view, &settings(100.0));
    let want = traced(&scene, pose, (24, 24), 512);
    near(mean(&got.nits), mean(&want), 1e-2, "mean of the picture");
}

const PROJECTION: Projection =
    Projection::Perspective { vertical_fov: 0.7, aspect: None, near: 0.05, far: None };

/// The path tracer's picture of single scattering.
fn traced(scene: &Scene, pose: DMat4, size: (usize, usize), samples: u32) -> Vec<[f32; 3]> {
    let settings = FilmSettings { path: of_bounces(1), ..FilmSettings::default() };
    let film = film(scene, (pose, PROJECTION), size, settings, samples);
    floats(&film.mean(LightComponents::total))
}

fn flip_of(
    name: &str,
    test: &[[f32; 3]],
    reference: &[[f32; 3]],
    settings: &RenderSettings,
    width: u32,
) -> f64 {
    let exposure = settings.exposure.multiplier() as f32;
    let linear =
        |p: &[f32; 3]| ToneMapper::Linear.apply(Vec3::from_array(*p) * exposure).to_array();
    let shown = |pixels: &[[f32; 3]]| pixels.iter().map(linear).collect::<Vec<_>>();
    let error = mean_flip(&shown(test), &shown(reference), width as usize);
    println!("{name}: FLIP {error:.4}, mean {:.4} for {:.4}", mean(test).y, mean(reference).y);
    error
}

/// Posts before a spot in fog: light shafts.
fn shafts(emitter: Emitter, strength: LightStrength) -> Scene {
    let mut builder = SceneBuilder::new("shafts");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.4), 0.9));
    builder.floor(12.0, gray);
    let post = builder.add_mesh("post", shapes::cuboid(Vec3::new(0.15, 1.6, 0.15)), gray);
    for x in [-0.8, -0.2, 0.4, 1.0] {
        builder.instance("post", post, DMat4::from_translation(DVec3::new(x, 0.8, -0.5)));
    }
    let pose = look_at_transform(DVec3::new(0.5, 2.6, -2.6), DVec3::new(0.0, 0.3, 0.6));
    builder.light("lamp", emitter, strength, Vec3::new(1.0, 0.9, 0.8), pose);
    let mut scene = builder.build().unwrap();
    let place =
        DMat4::from_translation(DVec3::new(0.0, 1.5, 0.0)) * boxed(DVec3::new(5.0, 3.0, 5.0));
    scene.volumes = vec![filled(place, 0.02, 0.15, 0.4)];
    scene
}

fn beside(
    renderer: &mut Renderer,
    name: &str,
    scene: &Scene,
    method: ShadowMethod,
    white: f64,
) -> f64 {
    let eye = DVec3::new(0.6, 1.3, 4.0);
    let pose = look_at_transform(eye, DVec3::new(0.0, 0.8, 0.0));
    let view = View::new(pose, &PROJECTION, 72, 48);
    let shadows = ShadowSettings { method, ..ShadowSettings::default() };
    let settings = RenderSettings { shadows, ..settings(white) };
    let got = picture(renderer, scene, &view, &settings);
    let want = traced(scene, pose, (72, 48), 128);
    flip_of(name, &got.nits, &want, &settings, 72)
}

#[test]
fn light_shafts_match_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let cone = Cone::new(0.2, 0.6).unwrap();
    let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
    let candela = |cd| LightStrength::Candela(Candela(cd));
    let rectangle = Emitter::Rectangle { width: 0.5, height: 0.3, sides: Sides::One };
    for (name, emitter, strength, method, white) in [
        ("spot by maps", spot, candela(3000.0), ShadowMethod::Maps, 20.0),
        ("spot by rays", spot, candela(3000.0), ShadowMethod::Traced, 20.0),
        ("point by maps", Emitter::Point, candela(1000.0), ShadowMethod::Maps, 15.0),
        (
            "sun by maps",
            Emitter::PARALLEL,
            LightStrength::Lux(Lux(1000.0)),
            ShadowMethod::Maps,
            120.0,
        ),
        (
            "rectangle by rays",
            rectangle,
            LightStrength::Nits(Nit(10_000.0)),
            ShadowMethod::Traced,
            60.0,
        ),
    ] {
        let error = beside(&mut renderer, name, &shafts(emitter, strength), method, white);
        assert!(error < 0.05, "{name}: {error}");
    }
}

/// A cloud under the sun that shadows a floor; and a ball of fog, by its mesh.
fn clouds(mesh: bool) -> Scene {
    let mut builder = SceneBuilder::new("cloud");
    let gray = builder
        .add_material(Material { double_sided: true, ..dielectric("gray", Vec3::splat(0.4), 0.9) });
    builder.floor(12.0, gray);
    let ball = builder.add_mesh("ball", shapes::icosphere(0.8, 4), gray);
    let node = builder.add_node("ball", DMat4::from_translation(DVec3::new(0.2, 1.2, 0.0)));
    builder.sun("sun", Lux(10_000.0), Vec3::ONE, DVec3::new(-0.5, -1.0, -0.2));
    let mut scene = builder.build().unwrap();
    let place = DMat4::from_translation(DVec3::new(0.0, 1.2, 0.0)) * boxed(DVec3::splat(2.0));
    let cotton = filled(place, 0.2, 8.0, 0.3);
    scene.volumes = vec![if mesh {
        let thin = filled(DMat4::IDENTITY, 0.2, 2.5, 0.3);
        ParticipatingVolume {
            shape: VolumeShape::Mesh(ball.index()),
            node: Some(node.index()),
            ..thin
        }
    } else {
        ParticipatingVolume { density: Some(cloud(32)), ..cotton }
    }];
    scene
}

#[test]
fn cloud_self_shadowing_matches_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, mesh) in [("a cloud from a grid", false), ("a mesh", true)] {
        let error = beside(&mut renderer, name, &clouds(mesh), ShadowMethod::Traced, 1500.0);
        assert!(error < 0.05, "{name}: {error}");
    }
}

#[test]
fn half_resolution_raymarching_matches_full() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let eye = DVec3::new(0.6, 1.3, 4.0);
    let view = View::new(look_at_transform(eye, DVec3::new(0.0, 0.8, 0.0)), &PROJECTION, 97, 63);
    let scene = clouds(false);
    let full = picture(&mut renderer, &scene, &view, &settings(1500.0));
    let volumes = VolumeSettings { resolution: Resolution::Half, ..VolumeSettings::default() };
    let half = RenderSettings { volumes, ..settings(1500.0) };
    let got = picture(&mut renderer, &scene, &view, &half);
    let error = flip_of("half the resolution", &got.nits, &full.nits, &half, 97);
    assert!(error < 0.03, "{error}");
}

/// Fog in front of a pane attenuates it and adds its inscattered light.
#[test]
fn fog_attenuates_transparent_surfaces() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("pane");
    let pane = Material {
        alpha: sunny16::scene::AlphaMode::Blend,
        base_color: glam::Vec4::new(0.0, 0.0, 0.0, 0.5),
        emission: Vec3::splat(100.0),
        double_sided: true,
        roughness: 1.0,
        ..dielectric("pane", Vec3::ZERO, 1.0)
    };
    let pane = builder.add_material(pane);
    let upright = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    builder.place(shapes::plane(Vec2::splat(8.0), 1, 1), pane, upright);
    let mut scene = builder.build().unwrap();
    scene.emissive_lights = false;
    let fog = filled(boxed(DVec3::new(8.0, 8.0, 4.0)), 0.5, 0.0, 0.0);
    let medium = MediumCoefficients { emission: DVec3::splat(10.0), ..fog.medium };
    scene.volumes = vec![ParticipatingVolume { medium, ..fog }];
    let view = perspective(6.0 * DVec3::Z, DVec3::ZERO, 0.02, 0.1, (16, 16));
    let got = picture(&mut renderer, &scene, &view, &settings(50.0));
    let half = (-1f64).exp();
    let glow = 10.0 * (1.0 - half) / 0.5;
    // Fog, half of the pane, and the fog behind it.
    let want = glow + half * (0.5 * 100.0 + 0.5 * glow);
    near(nits(&got, 8, 8), DVec3::splat(want), 1e-2, "a pane in fog");
}
