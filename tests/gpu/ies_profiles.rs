//! Photometric profiles on the device, against the parser's own interpolation.

use std::{f64::consts::PI, path::Path, sync::Arc};

use crate::common::{Place, aov3, exposure_for, hit_plane, perspective, renderer, unclustered};
use glam::{DMat3, DMat4, DQuat, DVec3, Vec2, Vec3};
use sunny16::{
    camera::Exposure,
    frame::{Aov, RenderSettings, Renderer},
    gpu_scene::View,
    photometry::{
        Candela, Cone, IesProfile, SpotFlux,
        lights::{Emitter, LightStrength, PhysicalLight},
    },
    scene::{
        Light, Scene,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

/// A white plane under a light with a profile, at a position and orientation.
fn scene(profile: &Arc<IesProfile>, emitter: Emitter, lamp: DMat4, size: f32) -> Scene {
    let mut builder = SceneBuilder::new("plane");
    builder.floor(size, dielectric("matte", Vec3::splat(0.5), 1.0));
    builder.light("lamp", emitter, LightStrength::Candela(profile.peak()), Vec3::ONE, lamp);
    let mut scene = builder.build().unwrap();
    scene.lights[0].profile = Some(Arc::clone(profile));
    scene.lights[0].shadow = false;
    scene
}

/// The same light without its profile.
fn bare(scene: &Scene) -> Scene {
    let mut bare = scene.clone();
    bare.lights[0].profile = None;
    bare
}

fn settings(nits: f64) -> RenderSettings {
    let light_lists = unclustered();
    let exposure = if nits > 0.0 { exposure_for(nits, 0.9) } else { Exposure::default() };
    RenderSettings {
        exposure,
        clustered_lights: light_lists,
        aovs: vec![Aov::DirectDiffuse],
        ..RenderSettings::default()
    }
}

/// Diffuse luminance with the profile over that without, pixel by pixel, against candela over peak;
/// returns the maximum difference relative to the peak. Lambert's cosine and the squared distance
/// are in both pictures.
fn compare(renderer: &mut Renderer, scene: &Scene, view: &View, lamp: DMat4) -> (f64, f64) {
    let profile = scene.lights[0].profile.clone().unwrap();
    let plain = bare(scene);
    let (with, without) = (renderer.upload(scene).unwrap(), renderer.upload(&plain).unwrap());
    // Both at one exposure: half floats lose nothing over the few stops of one plane.
    let first = renderer.render(&without, view, &settings(0.0)).unwrap();
    let max = first.nits.iter().map(|n| f64::from(n[1])).fold(0.0, f64::max);
    let without = renderer.render(&without, view, &settings(max)).unwrap();
    let with = renderer.render(&with, view, &settings(max)).unwrap();
    let to_lamp = DMat3::from_mat4(lamp).transpose();
    let (mut worst, mut brightest) = (0f64, 0f64);
    for y in 0..with.height {
        for x in 0..with.width {
            let point = hit_plane(view, x, y, DVec3::ZERO, DVec3::Y);
            let away = (point - lamp.w_axis.truncate()).normalize();
            let want = profile.candela_towards(to_lamp * away).get() / profile.peak().get();
            let (a, b) = (
                aov3(&with, Aov::DirectDiffuse, x, y).y,
                aov3(&without, Aov::DirectDiffuse, x, y).y,
            );
            if b > 0.01 * max * 0.3 {
                worst = worst.max((a / b - want).abs());
                brightest = brightest.max(want);
            }
        }
    }
    (worst, brightest)
}

fn lamp_at(place: DVec3, turn: DQuat) -> DMat4 {
    // Unrotated it points down with its +X along the world's.
    DMat4::from_rotation_translation(turn * DQuat::from_rotation_x(-PI / 2.0), place)
}

fn corpus() -> Vec<(String, Arc<IesProfile>)> {
    let mut profiles = vec![
        // A narrow beam with nonuniform angles; a full circle that does not close; type B; type A
        // with negative angles.
        ("narrow", "8 2 1\n0 1 2 3 5 8 20 90\n0 180\n9000 8000 5000 2000 500 100 10 0\n9000 7000 4000 1000 300 50 5 0\n"),
        ("full", "3 4 1\n0 45 90\n0 90 180 270\n100 80 10\n100 60 20\n100 40 30\n100 20 40\n"),
        ("type B", "5 5 2\n-40 -10 0 20 40\n-30 -10 0 20 30\n0 0 0 0 0\n0 20 60 20 0\n0 80 100 50 0\n0 40 70 10 0\n0 0 0 0 0\n"),
        ("type A", "3 3 3\n-20 0 40\n-45 0 45\n5 10 5\n20 100 30\n5 40 10\n"),
    ]
    .into_iter()
    .map(|(name, body)| {
        let (counts, values) = body.split_once('\n').unwrap();
        let mut counts = counts.split(' ');
        let (v, h, kind) = (counts.next().unwrap(), counts.next().unwrap(), counts.next().unwrap());
        let text = format!("IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 {v} {h} {kind} 2 0 0 0\n1 1 100\n{values}");
        (name.to_owned(), Arc::new(IesProfile::parse(text.as_bytes()).unwrap()))
    })
    .collect::<Vec<_>>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ies");
    match std::fs::read_dir(&folder) {
        Ok(entries) => {
            let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            files.sort();
            for file in
                files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "ies"))
            {
                if let Ok(profile) = IesProfile::parse(&std::fs::read(file).unwrap()) {
                    profiles.push((
                        file.file_name().unwrap().to_string_lossy().into_owned(),
                        Arc::new(profile),
                    ));
                }
            }
        }
        Err(_) => println!("skipped: the files of {}: not there", folder.display()),
    }
    profiles
}

#[test]
fn profiles_light_a_plane_by_their_candela() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let view =
        perspective(DVec3::new(0.2, 6.0, 0.1), DVec3::new(0.1, 0.0, 0.0), 1.5, 0.01, (64, 48));
    for (name, profile) in corpus() {
        for turn in [
            DQuat::IDENTITY,
            DQuat::from_rotation_z(0.5) * DQuat::from_rotation_y(1.1),
            DQuat::from_rotation_x(PI),
        ] {
            let lamp = lamp_at(DVec3::new(0.3, 2.0, -0.2), turn);
            let (worst, brightest) =
                compare(&mut renderer, &scene(&profile, Emitter::Point, lamp, 60.0), &view, lamp);
            println!(
                "{name}: greatest difference {:.3} % of the peak, brightest {brightest:.2}",
                worst * 100.0
            );
            assert!(worst < 0.005 * guard.slack(), "{name}: {worst}");
        }
    }
}

/// The flux through a closed box around the light is the file's lumens.
#[test]
fn total_flux_is_the_files_lumens() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, profile) in corpus() {
        // Six views of a plane 1 m below the light, which is rotated instead; a pixel's solid angle
        // is cos^3 dA / d^2.
        let mut flux = 0.0;
        let view = perspective(
            DVec3::new(0.0, 1.0, 0.0),
            DVec3::ZERO,
            (PI / 2.0) as f32,
            0.01,
            (192, 192),
        );
        for turn in [
            DQuat::IDENTITY,
            DQuat::from_rotation_x(PI / 2.0),
            DQuat::from_rotation_x(-PI / 2.0),
            DQuat::from_rotation_x(PI),
            DQuat::from_rotation_z(PI / 2.0),
            DQuat::from_rotation_z(-PI / 2.0),
        ] {
            let lamp = lamp_at(DVec3::new(0.0, 1.0, 0.0), turn);
            let lit = scene(&profile, Emitter::Point, lamp, 10.0);
            let plain = bare(&lit);
            let (lit, plain) = (renderer.upload(&lit).unwrap(), renderer.upload(&plain).unwrap());
            let exposed = settings(0.5 / PI * profile.peak().get());
            let (lit, plain) = (
                renderer.render(&lit, &view, &exposed).unwrap(),
                renderer.render(&plain, &view, &exposed).unwrap(),
            );
            for y in 0..192 {
                for x in 0..192 {
                    let point = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
                    let cos = 1.0 / (point - DVec3::Y).length();
                    let solid_angle = (2.0f64 / 192.0).powi(2) * cos.powi(3);
                    let part = aov3(&lit, Aov::DirectDiffuse, x, y).y
                        / aov3(&plain, Aov::DirectDiffuse, x, y).y;
                    flux += part * profile.peak().get() * solid_angle;
                }
            }
        }
        let want = profile.lumens().get();
        println!(
            "{name}: {flux:.2} lm through the box, the file has {want:.2}: {:+.3} %",
            (flux / want - 1.0) * 100.0
        );
        assert!((flux / want - 1.0).abs() < 0.005, "{name}: {flux}, not {want}");
    }
}

#[test]
fn spot_cones_clip_the_profile() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (_, profile) = corpus().into_iter().find(|(name, _)| name == "full").unwrap();
    let cone = Cone::new(0.3, 0.5).unwrap();
    let lamp = lamp_at(DVec3::new(0.0, 2.0, 0.0), DQuat::IDENTITY);
    let spot = scene(&profile, Emitter::Spot { cone, flux: SpotFlux::Exact }, lamp, 20.0);
    let view = perspective(DVec3::new(0.0, 3.0, 0.0), DVec3::ZERO, 1.2, 0.01, (64, 64));
    let (worst, brightest) = compare(&mut renderer, &spot, &view, lamp);
    println!("spot with a profile: {:.3} %", worst * 100.0);
    assert!(worst < 0.005 && brightest > 0.5);
    let light: &Light = &spot.lights[0];
    // Lumens of distribution and cone together.
    let lumens = light.lumens().unwrap().get();
    let by_lumens = Light {
        source: PhysicalLight::new(
            light.emitter(),
            LightStrength::Lumens(sunny16::photometry::Lumen(lumens)),
        )
        .unwrap(),
        ..light.clone()
    };
    assert!(
        (by_lumens.candela().unwrap().get() / Candela(profile.peak().get()).get() - 1.0).abs()
            < 1e-9
    );
}

/// The picture of docs/ies.md: `cargo test --test gpu profiles::pictures -- --ignored`.
#[test]
#[ignore = "writes docs/pictures"]
fn pictures() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("wall");
    builder.place(
        shapes::plane(Vec2::new(12.0, 6.0), 1, 1),
        dielectric("plaster", Vec3::splat(0.6), 1.0),
        DMat4::from_rotation_x(PI / 2.0),
    );
    let profiles: Vec<_> = corpus()
        .into_iter()
        .filter(|(name, _)| ["narrow", "full", "type B", "type A"].contains(&name.as_str()))
        .collect();
    for i in 0..profiles.len() {
        let place = DVec3::new(i as f64 * 2.2 - 3.3, 1.2, 0.5);
        builder.light(
            "lamp",
            Emitter::Point,
            LightStrength::Candela(Candela(100.0)),
            Vec3::ONE,
            lamp_at(place, DQuat::IDENTITY),
        );
    }
    let mut scene = builder.build().unwrap();
    for (light, (_, profile)) in scene.lights.iter_mut().zip(&profiles) {
        light.profile = Some(Arc::clone(profile));
        light.source = PhysicalLight::new(
            Emitter::Point,
            LightStrength::Lumens(sunny16::photometry::Lumen(150.0)),
        )
        .unwrap();
    }
    let view = perspective(DVec3::new(0.0, 0.0, 6.0), DVec3::ZERO, 0.65, 0.01, (640, 270));
    let exposure = exposure_for(12.0, 0.6);
    let picture = crate::common::picture(
        &mut renderer,
        &scene,
        &view,
        &RenderSettings { exposure, ..RenderSettings::default() },
    );
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/ies_wall.png");
    sunny16::output::write_png(&target, picture.width, picture.height, &picture.display).unwrap();
}
