//! Indirect light against closed forms and the path tracer.

use std::sync::Arc;

use crate::common::traced::{centered, film, floats, save_ppm};
use crate::common::{
    Place, after, aov3, exposed,
    gi_reference::{blocks, mean, print_map, reference, settings_from_env, write_reference},
    gpu, hit_plane, long, perspective, renderer, traced_shadows,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    bvh::pack_normal,
    frame::{Aov, GiSettings, RenderSettings, RenderedImage},
    gi::{Vpl, VplSet, dfg_lookup, light_tree},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    photometry::{
        Candela, Lumen, Lux, color,
        lights::{Emitter, LightStrength, Sides},
    },
    reference::{FilmSettings, PathSettings},
    scene::{
        Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::{BuiltinScene, shapes},
    },
    settings::Resolution,
};

fn diffuse_material(name: &str, rgb: Vec3) -> sunny16::scene::Material {
    dielectric(name, rgb, 1.0)
}

fn settings(gi: GiSettings, nits: f64) -> RenderSettings {
    RenderSettings {
        shadows: traced_shadows(16),
        gi,
        aovs: vec![Aov::IndirectDiffuse, Aov::VplClampLoss],
        ..exposed(nits, 0.18)
    }
}

fn indirect(picture: &RenderedImage) -> Vec<DVec3> {
    picture.aovs[0].1.iter().map(|p| Vec3::from_slice(p).as_dvec3()).collect()
}

/// One VPL over a floor: its illuminance is flux / pi times both cosines over the squared distance.
#[test]
fn vpl_irradiance_matches_closed_form() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("floor");
    let white = builder.add_material(diffuse_material("white", Vec3::ONE));
    builder.floor(8.0, white);
    let card = builder.add_mesh("card", shapes::cuboid(Vec3::new(0.5, 0.02, 3.0)), white);
    builder.instance("card", card, DMat4::from_translation(DVec3::new(1.0, 1.0, 0.0)));
    let scene = builder.build().unwrap();
    let (at, down) = (DVec3::new(0.4, 2.0, -0.2), DVec3::new(0.3, -1.0, 0.1).normalize());
    let flux = Vec3::new(900.0, 700.0, 500.0);
    let vpls =
        vec![Vpl { position: at.as_vec3(), normal: pack_normal(down.as_vec3()), flux, size: 0.01 }];
    let set = VplSet { nodes: light_tree(&vpls), vpls, ..VplSet::default() };
    let view = perspective(DVec3::new(0.0, 5.0, 6.0), DVec3::ZERO, 0.8, 0.1, (96, 64));
    let gi = GiSettings {
        enabled: true,
        denoise: false,
        bias_compensation: false,
        ..GiSettings::default()
    };
    let mut on_device = renderer.upload_for(&scene, &settings(gi, 50.0).shadows).unwrap();
    on_device.set_vpls(renderer.gpu(), &scene, set).unwrap();
    let picture = after(&mut renderer, &on_device, &view, &settings(gi, 50.0), 1);
    let (mut lit, mut dark) = (0, 0);
    for y in 0..64 {
        for x in 0..96 {
            let place = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
            let got = aov3(&picture, Aov::IndirectDiffuse, x, y);
            // Where the segment to the VPL crosses the card's height, and where the view ray does.
            let crossing = |from: DVec3| from.lerp(place, 0.99 / from.y).abs();
            let eye = DVec3::new(0.0, 5.0, 6.0);
            let seen = eye.lerp(place, (eye.y - 1.0) / eye.y);
            if place.x.abs().max(place.z.abs()) > 3.9
                || (seen.x - 1.0).abs() < 0.4 && seen.z.abs() < 1.7
            {
                continue;
            }
            let over = at.lerp(place, (at.y - 1.0) / at.y);
            let (dx, dz) = ((over.x - 1.0).abs() - 0.25, over.z.abs() - 1.5);
            let _ = crossing;
            if dx < -0.05 && dz < -0.05 {
                assert_eq!(got, DVec3::ZERO, "{x} {y}");
                dark += 1;
            } else if dx > 0.05 || dz > 0.05 {
                let to = at - place;
                let l = to.normalize();
                let e = flux.as_dvec3() / std::f64::consts::PI * l.y * down.dot(-l)
                    / to.length_squared();
                let brdf = crate::common::Brdf::of(&diffuse_material("white", Vec3::ONE));
                let v = (eye - place).normalize();
                let (diffuse, _) = brdf.evaluate(DVec3::Y, l, v);
                let want = e / l.y * diffuse;
                assert!(crate::common::relative(got, want) < 2e-3, "{x} {y}: {got} {want}");
                lit += 1;
            }
        }
    }
    assert!(lit > 2000 && dark > 100, "{lit} {dark}");
}

/// A room of 2 m with a red and a green wall, two blocks, and walls of 10 cm.
fn cornell() -> SceneBuilder {
    let mut builder = SceneBuilder::new("cornell");
    let white = builder.add_material(diffuse_material("white", Vec3::splat(0.73)));
    let red = builder.add_material(diffuse_material("red", Vec3::new(0.63, 0.06, 0.05)));
    let green = builder.add_material(diffuse_material("green", Vec3::new(0.15, 0.48, 0.09)));
    let mut wall = |material, size: Vec3, at: DVec3| {
        builder.place(shapes::cuboid(size), material, at);
    };
    wall(white, Vec3::new(2.2, 0.1, 2.2), DVec3::new(0.0, -0.05, 0.0));
    wall(white, Vec3::new(2.2, 0.1, 2.2), DVec3::new(0.0, 2.05, 0.0));
    wall(white, Vec3::new(2.2, 2.0, 0.1), DVec3::new(0.0, 1.0, -1.05));
    wall(red, Vec3::new(0.1, 2.0, 2.0), DVec3::new(-1.05, 1.0, 0.0));
    wall(green, Vec3::new(0.1, 2.0, 2.0), DVec3::new(1.05, 1.0, 0.0));
    for (size, at, turn) in [
        (Vec3::new(0.6, 1.2, 0.6), DVec3::new(-0.35, 0.6, -0.35), 0.3),
        (Vec3::new(0.6, 0.6, 0.6), DVec3::new(0.38, 0.3, 0.3), -0.28),
    ] {
        builder.place(
            shapes::cuboid(size),
            white,
            DMat4::from_translation(at) * DMat4::from_rotation_y(turn),
        );
    }
    builder
}

const SIZE: (usize, usize) = (64, 64);
/// Off center: otherwise edges pass through pixel centers.
const FROM: DVec3 = DVec3::new(0.031, 1.017, 4.2);

fn room_pose() -> (DMat4, Projection) {
    let projection =
        Projection::Perspective { vertical_fov: 0.6, aspect: None, near: 0.05, far: None };
    (look_at_transform(FROM, DVec3::new(0.013, 0.991, 0.0)), projection)
}

/// Writes the references that `path_traced` reads.
#[test]
#[ignore = "traces the references again: minutes"]
fn references_are_made() {
    for (lamp, builder) in lamps() {
        let scene = builder.build().unwrap();
        let halves = [0, 1].map(|seed| path_traced_with(&scene, REFERENCE_SAMPLES / 2, seed));
        write_reference(lamp, SIZE, &halves);
    }
}

/// A path-traced picture, for `references_are_made`.
const REFERENCE_SAMPLES: u32 = 8192;

fn path_traced_with(scene: &Scene, samples: u32, seed: u32) -> Vec<DVec3> {
    let settings = FilmSettings { seed, ..centered(PathSettings::default()) };
    film(scene, room_pose(), SIZE, settings, samples).mean(|parts| parts.indirect_diffuse)
}

fn save(name: &str, picture: &[DVec3], white: f64) {
    let exposed: Vec<DVec3> = picture.iter().map(|light| *light / white).collect();
    save_ppm(name, &floats(&exposed), SIZE.0);
}

const ALL: [&str; 3] = ["point", "panel", "sun"];

fn lamps() -> [(&'static str, SceneBuilder); 3] {
    let mut point = cornell();
    point.point_light_lumens("lamp", Lumen(800.0), Vec3::ONE, DVec3::new(0.0, 1.85, 0.0));
    let mut area = cornell();
    let panel = Emitter::Rectangle { width: 0.5, height: 0.5, sides: Sides::One };
    let down = look_at_transform(DVec3::new(0.0, 1.995, 0.0), DVec3::new(0.0, 0.0, 1e-4));
    area.light("panel", panel, LightStrength::Lumens(Lumen(800.0)), Vec3::ONE, down);
    let mut sun = cornell();
    sun.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::new(0.25, -0.5, -1.0));
    [("point", point), ("panel", area), ("sun", sun)]
}

fn room(name: &str, wanted: &[&str], gi: GiSettings, frames: u32) -> (f64, f64) {
    let Some(guard) = gpu() else { return (0.0, 0.0) };
    let mut renderer = guard.renderer();
    let mut worst = (0.0f64, 0.0f64);
    for (lamp, builder) in lamps().into_iter().filter(|(lamp, _)| wanted.contains(lamp)) {
        let scene = builder.build().unwrap();
        let reference = reference(lamp);
        let mean = mean(&reference);
        let (pose, projection) = room_pose();
        let view = View::new(pose, &projection, SIZE.0 as u32, SIZE.1 as u32);
        let settings = settings(gi, mean);
        let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
        let picture = after(&mut renderer, &on_device, &view, &settings, frames);
        let got = indirect(&picture);
        let (rms, bias) = blocks(SIZE, &got, &reference, &[]);
        println!(
            "{name} {lamp}: blocks {:.2} %, mean {:+.2} %, {mean:.2} nits",
            rms * 100.0,
            bias * 100.0
        );
        print_map(SIZE, &got, &reference, &[]);
        save(&format!("{name}-{lamp}-gi"), &got, mean * 4.0);
        save(&format!("{name}-{lamp}-path"), &reference, mean * 4.0);
        worst = (worst.0.max(rms), worst.1.max(bias.abs()));
    }
    worst
}

#[test]
fn rooms_match_path_tracer() {
    let gi = GiSettings {
        enabled: true,
        vpls: 1_000_000,
        bounces: 16,
        denoise: false,
        freeze_after: 4096,
        ..GiSettings::default()
    };
    let (rms, bias) = room("unmerged", &["panel"], gi, 48);
    assert!(rms < 0.01 && bias < 0.005, "{rms} {bias}");
}

#[test]
fn merged_vpls_match_path_tracer() {
    let gi = GiSettings {
        enabled: true,
        vpls: 8192,
        photons: Some(100_000),
        bounces: 16,
        vpl_samples: 8,
        merge: true,
        denoise: false,
        freeze_after: 4096,
        ..GiSettings::default()
    };
    let (rms, bias) = room("merged", if long() { &ALL } else { &["panel"] }, gi, 32);
    assert!(rms < 0.03 && bias < 0.01, "{rms} {bias}");
}

/// The filter leaves less than half of the noise of one frame, and little bias.
#[test]
fn denoiser_preserves_mean_radiance() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = cornell();
    builder.point_light_lumens("lamp", Lumen(800.0), Vec3::ONE, DVec3::new(0.0, 1.85, 0.0));
    let scene = builder.build().unwrap();
    // The middle of the room, at 256 pixels for all of it.
    let (pose, _) = room_pose();
    let projection =
        Projection::Perspective { vertical_fov: 0.269, aspect: None, near: 0.05, far: None };
    let view = View::new(pose, &projection, 112, 112);
    let plain =
        GiSettings { enabled: true, freeze_after: 4096, denoise: false, ..GiSettings::default() };
    let mut on_device = renderer.upload_for(&scene, &settings(plain, 5.0).shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &plain).unwrap();
    let mut seen = |gi: GiSettings, frames| {
        let picture = after(&mut renderer, &on_device, &view, &settings(gi, 5.0), frames);
        indirect(&picture).iter().map(|c| color::luminance(*c)).collect::<Vec<f64>>()
    };
    let settled = seen(GiSettings { vpl_samples: 16, ..plain }, 16);
    let raw = seen(plain, 1);
    let filtered = seen(GiSettings { denoise: true, ..plain }, 1);
    let sum = |list: &[f64]| list.iter().sum::<f64>();
    let off = |list: &[f64]| {
        list.iter().zip(&settled).map(|(a, b)| (a - b).abs()).sum::<f64>() / sum(&settled)
    };
    let bias = sum(&filtered) / sum(&settled) - 1.0;
    println!(
        "one frame: off by {:.1} %, filtered {:.1} %, mean {:+.2} %",
        off(&raw) * 100.0,
        off(&filtered) * 100.0,
        bias * 100.0
    );
    assert!(
        off(&filtered) < 0.06 && off(&filtered) < 0.5 * off(&raw),
        "{} {}",
        off(&raw),
        off(&filtered)
    );
    assert!(bias.abs() < 0.02, "{bias}");
}

/// At half resolution a frame gathers a quarter of the pixels. One filtered frame is close to the
/// picture at full resolution, and the mean of a static view without a filter equals it: samples
/// of other pixels do not blur it. An eighth frame after a lamp is moved shows the moved lamp.
#[test]
fn half_resolution_converges_to_full_resolution() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let build = |x: f64| {
        let mut builder = cornell();
        let at = DVec3::new(x, 1.85, 0.0);
        builder.point_light_lumens("lamp", Lumen(800.0), Vec3::ONE, at);
        builder.build().unwrap()
    };
    let [scene, moved] = [0.0, 0.5].map(build);
    // The middle of the room, at 96 pixels for all of its height. An odd width: the last block has a
    // single column.
    let (pose, _) = room_pose();
    let projection =
        Projection::Perspective { vertical_fov: 0.456, aspect: None, near: 0.05, far: None };
    let view = View::new(pose, &projection, 95, 72);
    let plain = GiSettings {
        enabled: true,
        freeze_after: 4096,
        denoise: false,
        vpls: 8192,
        ..GiSettings::default()
    };
    let half = GiSettings { resolution: Resolution::Half, ..plain };
    let mut on_device = renderer.upload_for(&scene, &settings(plain, 5.0).shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &plain).unwrap();
    let light = |picture: &RenderedImage| {
        indirect(picture).iter().map(|c| color::luminance(*c)).collect::<Vec<f64>>()
    };
    let mut seen = |gi: GiSettings, frames| {
        light(&after(&mut renderer, &on_device, &view, &settings(gi, 5.0), frames))
    };
    let settled = seen(GiSettings { vpl_samples: 16, ..plain }, 16);
    let one = seen(GiSettings { denoise: true, ..half }, 1);
    let mean = seen(GiSettings { vpl_samples: 16, ..half }, 64);
    let off = |list: &[f64], right: &[f64]| {
        let sum: f64 = right.iter().sum();
        let bias = list.iter().sum::<f64>() / sum - 1.0;
        (list.iter().zip(right).map(|(a, b)| (a - b).abs()).sum::<f64>() / sum, bias)
    };
    let [one, mean] = [off(&one, &settled), off(&mean, &settled)];
    println!("one filtered frame: off by {one:?} (bias), mean of 64: {mean:?}");
    // A quarter of the samples has twice the noise of a filtered frame at full resolution.
    assert!(one.0 < 0.15 && one.1.abs() < 0.02, "{one:?}");
    assert!(mean.0 < 0.03 && mean.1.abs() < 0.003, "{mean:?}");

    let filtered = settings(GiSettings { denoise: true, ..half }, 5.0);
    after(&mut renderer, &on_device, &view, &filtered, 8);
    on_device.follow(renderer.gpu(), &moved).unwrap();
    on_device.update_gi(renderer.gpu(), &moved, &filtered.gi).unwrap();
    let mut eighth = None;
    for _ in 0..8 {
        eighth = Some(renderer.render(&on_device, &view, &filtered).unwrap());
    }
    let eighth = light(&eighth.unwrap());
    let right = light(&after(&mut renderer, &on_device, &view, &settings(plain, 5.0), 16));
    let change = off(&eighth, &right);
    println!("eighth frame after a move: {change:?}; before it: {:?}", off(&settled, &right));
    assert!(change.0 < 0.08 && change.0 < 0.3 * off(&settled, &right).0, "{change:?}");
}

/// A wall of 10 cm is opaque: behind it there is no light at all.
#[test]
fn walls_do_not_leak() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = cornell();
    let white = builder.add_material(diffuse_material("white", Vec3::splat(0.73)));
    let wall = builder.add_mesh("wall", shapes::cuboid(Vec3::new(0.1, 2.0, 2.0)), white);
    builder.instance("wall", wall, DMat4::from_translation(DVec3::new(0.0, 1.0, 0.0)));
    // The room is open at the front: light that leaves it does not return.
    builder.point_light_candela("lamp", Candela(500.0), Vec3::ONE, DVec3::new(0.6, 1.5, 0.4));
    let scene = builder.build().unwrap();
    let (pose, projection) = room_pose();
    let view = View::new(pose, &projection, SIZE.0 as u32, SIZE.1 as u32);
    let gi = GiSettings { enabled: true, vpl_samples: 8, denoise: true, ..GiSettings::default() };
    let settings = settings(gi, 100.0);
    let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    let picture = after(&mut renderer, &on_device, &view, &settings, 8);
    let got = indirect(&picture);
    let mean = |from: usize, to: usize| -> f64 {
        let mut sum = 0.0;
        for y in 6..58 {
            for x in from..to {
                sum += color::luminance(got[y * SIZE.0 + x]);
            }
        }
        sum / (52 * (to - from)) as f64
    };
    let (dark, lit) = (mean(8, 26), mean(38, 56));
    println!("behind the wall {dark} nits, before it {lit}");
    assert!(lit > 1.0 && dark < 1e-3 * lit, "{dark} {lit}");
    save("leak", &got, lit * 4.0);
    let _ = Arc::new(0);
}

/// Walls without thickness are opaque at their edges too: the ground around a closed box with a lamp
/// in it stays black.
#[test]
fn closed_boxes_of_thin_walls_do_not_leak() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("box");
    let mut white = diffuse_material("white", Vec3::splat(0.8));
    white.double_sided = true;
    let white = builder.add_material(white);
    let side = builder.add_mesh("side", shapes::plane(Vec2::ONE, 1, 1), white);
    for (axis, number) in [(DVec3::X, 0), (DVec3::X, 1), (DVec3::X, 2), (DVec3::X, 3)]
        .into_iter()
        .chain([(DVec3::Z, 1), (DVec3::Z, 3)])
    {
        let turn = DMat4::from_axis_angle(axis, f64::from(number) * std::f64::consts::FRAC_PI_2);
        builder.instance("side", side, turn * DMat4::from_translation(DVec3::Y * 0.5));
    }
    let ground = builder.add_mesh("ground", shapes::plane(Vec2::splat(10.0), 1, 1), white);
    builder.instance("ground", ground, DMat4::from_translation(DVec3::NEG_Y * 0.75));
    builder.point_light_candela("lamp", Candela(1e5), Vec3::ONE, DVec3::new(0.1, 0.02, -0.05));
    let scene = builder.build().unwrap();
    let view =
        perspective(DVec3::new(0.0, 1.5, 4.0), DVec3::new(0.0, -0.4, 0.0), 1.05, 0.01, (80, 60));
    let gi = GiSettings { enabled: true, vpl_samples: 32, denoise: false, ..GiSettings::default() };
    let settings = settings(gi, 100.0);
    let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    let picture = after(&mut renderer, &on_device, &view, &settings, 2);
    let lit = indirect(&picture).iter().filter(|nits| **nits != DVec3::ZERO).count();
    assert_eq!(lit, 0, "of {}", 80 * 60);
}

#[test]
#[ignore = "prints what settings make of it"]
fn compare_gi_settings() {
    let plain = GiSettings {
        enabled: true,
        bounces: 16,
        denoise: false,
        freeze_after: 4096,
        ..GiSettings::default()
    };
    let (asked, gi, frames) = settings_from_env(plain, 64);
    room(&asked, &ALL, gi, frames);
}

/// Lights that give a room no light must not take its compensated light: a ray's hit that chooses
/// among all lights evenly finds the lamp nearby so rarely that the bound on outliers removes it.
#[test]
fn faint_lights_leave_indirect_light_unchanged() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A clamp that takes most of the VPLs' light.
    let gi = GiSettings { enabled: true, clamp_radius: 24.0, ..GiSettings::default() };
    let mut mean_with = |faint: u32| {
        let mut builder = cornell();
        builder.point_light_lumens("lamp", Lumen(800.0), Vec3::ONE, DVec3::new(0.0, 1.5, 0.3));
        for index in 0..faint {
            let at = DVec3::new(40.0 + f64::from(index % 8), 1.0, f64::from(index / 8));
            builder.point_light_lumens("faint", Lumen(0.1), Vec3::ONE, at);
        }
        let scene = builder.build().unwrap();
        let (pose, projection) = room_pose();
        let view = View::new(pose, &projection, SIZE.0 as u32, SIZE.1 as u32);
        let settings = settings(gi, 20.0);
        let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
        mean(&indirect(&after(&mut renderer, &on_device, &view, &settings, 4)))
    };
    let (alone, among) = (mean_with(0), mean_with(100));
    println!("indirect light {alone:.3} nits, among faint lights {among:.3}");
    assert!((among / alone - 1.0).abs() < 0.03, "{among} of {alone}");
}

/// Roughness and place of metal balls in the room.
const METAL_BALLS: [(f32, DVec3); 3] = [
    (0.3, DVec3::new(0.45, 1.1, 0.2)),
    (0.5, DVec3::new(-0.45, 1.62, -0.3)),
    (0.8, DVec3::new(-0.4, 0.35, 0.6)),
];

fn metal_balls() -> Scene {
    let mut builder = cornell();
    for (roughness, at) in METAL_BALLS {
        builder.place(shapes::icosphere(0.35, 4), metal("metal", Vec3::splat(0.9), roughness), at);
    }
    builder.point_light_lumens("lamp", Lumen(800.0), Vec3::ONE, DVec3::new(0.0, 1.85, 0.3));
    builder.build().unwrap()
}

/// Writes the reference of `rough_metals_reflect_indirect_light`.
#[test]
#[ignore = "traces the reference again: a minute"]
fn reference_of_metals_is_made() {
    let scene = metal_balls();
    let halves = [0, 1].map(|seed| {
        let settings = FilmSettings { seed, ..centered(PathSettings::default()) };
        film(&scene, room_pose(), SIZE, settings, 1024).mean(|parts| parts.indirect_specular)
    });
    write_reference("metals", SIZE, &halves);
}

/// Metal balls against the path tracer, ball by ball: with lobes too narrow for the few VPLs within
/// them, and on the floor with highlights of VPLs, whose clamp takes much of their light.
#[test]
fn rough_metals_reflect_indirect_light() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = metal_balls();
    let (pose, projection) = room_pose();
    let reference = reference("metals");
    let view = View::new(pose, &projection, SIZE.0 as u32, SIZE.1 as u32);
    // A clamp that reaches over half of a ball.
    let gi = GiSettings { enabled: true, clamp_radius: 24.0, ..GiSettings::default() };
    let settings = RenderSettings {
        aovs: vec![
            Aov::IndirectSpecular,
            Aov::Channel(GbufferChannel::Metallic),
            Aov::Channel(GbufferChannel::Roughness),
        ],
        ..settings(gi, reference.iter().map(|c| color::luminance(*c)).sum::<f64>() / 600.0)
    };
    let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    let picture = after(&mut renderer, &on_device, &view, &settings, 64);
    let clamped =
        RenderSettings { gi: GiSettings { bias_compensation: false, ..gi }, ..settings.clone() };
    let clamped = after(&mut renderer, &on_device, &view, &clamped, 24);
    let of = |aov: usize, pixel: usize| f64::from(picture.aovs[aov].1[pixel][0]);
    for (roughness, _) in METAL_BALLS {
        let (mut want, mut got, mut square, mut count) = (0.0, 0.0, 0.0, 0);
        let mut uncompensated = 0.0;
        for (pixel, reference) in reference.iter().enumerate() {
            if of(1, pixel) < 0.5 || (of(2, pixel) - f64::from(roughness)).abs() > 0.01 {
                continue;
            }
            let here = Vec3::from_slice(&picture.aovs[0].1[pixel]).as_dvec3();
            let there = Vec3::from_slice(&clamped.aovs[0].1[pixel]).as_dvec3();
            uncompensated += color::luminance(there);
            let [a, b] = [*reference, here].map(color::luminance);
            (want, got, square, count) = (want + a, got + b, square + (a - b) * (a - b), count + 1);
        }
        let rms = (square / f64::from(count)).sqrt() / (want / f64::from(count));
        let [bias, clamped_bias] = [got, uncompensated].map(|sum| sum / want - 1.0);
        println!(
            "metal of {roughness}: mean {:+.2} % ({:+.2} % without compensation), pixels {:.1} % \
             rms, {count} pixels",
            bias * 100.0,
            clamped_bias * 100.0,
            rms * 100.0
        );
        assert!(count > 150, "{count}");
        // The rest is noise: rays that hit the other balls' image of the light.
        assert!(bias.abs() < 0.04, "{roughness}: {bias}");
        let lost = bias - clamped_bias;
        assert!(roughness < 0.4 || lost > 0.015, "roughness {roughness}: {lost}");
        assert!(rms < 0.3, "roughness {roughness}: {rms}");
    }
}

/// Metal balls in an emissive shell that is no light: reflection rays see its emission up to
/// roughness 0.48, and half of it at 0.54 (docs/reference.md). Closed form: the shell's luminance
/// times the lobe's albedo. From inside, a single-sided shell emits nothing.
#[test]
fn emission_that_lights_nothing_is_reflected() {
    const NITS: f64 = 50.0;
    let Some((_guard, mut renderer)) = renderer() else { return };
    let balls = [(0.3, -0.6, 1.0), (0.54, 0.6, 0.5)];
    let gi = GiSettings { enabled: true, ..GiSettings::default() };
    let settings = RenderSettings {
        aovs: vec![Aov::IndirectSpecular, Aov::Channel(GbufferChannel::Roughness)],
        ..settings(gi, NITS)
    };
    let view = perspective(DVec3::new(0.0, 0.0, 4.0), DVec3::ZERO, 0.5, 0.05, (96, 64));
    for double_sided in [true, false] {
        let mut builder = SceneBuilder::new("shell");
        let shell = sunny16::scene::Material {
            emission: Vec3::splat(NITS as f32),
            double_sided,
            ..dielectric("shell", Vec3::ZERO, 1.0)
        };
        builder.place(shapes::icosphere(8.0, 4), shell, DVec3::ZERO);
        for (roughness, x, _) in balls {
            let white = metal("white metal", Vec3::ONE, roughness);
            builder.place(shapes::icosphere(0.5, 5), white, DVec3::new(x, 0.0, 0.0));
        }
        // VPLs need a light; its own are negligible.
        builder.point_light_lumens("lamp", Lumen(1e-6), Vec3::ONE, DVec3::new(0.0, 7.0, 0.0));
        let mut scene = builder.build().unwrap();
        scene.emissive_lights = false;
        let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
        let picture = after(&mut renderer, &on_device, &view, &settings, 16);
        for (roughness, x, share) in balls {
            // The middle of the ball faces the camera.
            let center = (48.0 + x / 4.0 / 0.25_f64.tan() * 32.0) as usize;
            let entry = dfg_lookup(1.0, f64::from(roughness));
            let expected = if double_sided { NITS * share * (entry.x + entry.y) } else { 0.0 };
            let mut sum = 0.0;
            for (dx, dy) in (0..4).flat_map(|y| (0..4).map(move |x| (x, y))) {
                let pixel = (30 + dy) * 96 + center - 2 + dx;
                let found = f64::from(picture.aovs[1].1[pixel][0]);
                assert!((found - f64::from(roughness)).abs() < 0.01, "{found}");
                let light = Vec3::from_slice(&picture.aovs[0].1[pixel]).as_dvec3();
                sum += color::luminance(light) / 16.0;
            }
            println!("roughness {roughness}: {sum:.2} nits, expected {expected:.2}");
            assert!((sum - expected).abs() < 0.01 * NITS, "{roughness}: {sum} {expected}");
        }
    }
}

/// The indirect light of a frame, exposed.
fn shown(picture: &RenderedImage, settings: &RenderSettings) -> Vec<f64> {
    indirect(picture)
        .iter()
        .map(|c| color::luminance(*c) * settings.exposure.multiplier())
        .collect()
}

/// Difference of two exposed values in 8-bit steps of the sRGB curve.
fn steps(a: f64, b: f64) -> f64 {
    (color::srgb_oetf(a.clamp(0.0, 1.0)) - color::srgb_oetf(b.clamp(0.0, 1.0))).abs() * 255.0
}

/// A room behind a closed door has none of the corridor's light.
#[test]
fn closed_doors_do_not_leak() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (scene, _) = BuiltinScene::named("corridor").unwrap().make().unwrap();
    let gi = GiSettings { enabled: true, ..GiSettings::default() };
    let settings = settings(gi, 0.01);
    let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    let mut means = Vec::new();
    for node in scene.walk() {
        let Some(camera) = node.node.camera.and_then(|camera| scene.cameras.get(camera)) else {
            continue;
        };
        let view = View::new(node.world, &camera.projection, 96, 54);
        let picture = after(&mut renderer, &on_device, &view, &settings, 4);
        means.push(
            indirect(&picture).iter().map(|c| color::luminance(*c)).sum::<f64>() / (96.0 * 54.0),
        );
    }
    println!("corridor {} nits, room {} nits", means[0], means[1]);
    assert!(means[0] > 1.0 && means[1] == 0.0, "{means:?}");
}

/// A light is dimmed, moved, switched off and on. After eight frames the light equals that of a
/// view which always had it so, but for the noise of eight frames; and a still view is stable.
#[test]
fn gi_history_converges_in_eight_frames_and_is_stable() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let build = |flux: f64, at: DVec3| {
        let mut builder = cornell();
        builder.point_light_lumens("lamp", Lumen(flux), Vec3::ONE, at);
        builder.point_light_lumens(
            "other",
            Lumen(300.0),
            Vec3::new(1.0, 0.8, 0.5),
            DVec3::new(0.6, 1.2, 0.5),
        );
        builder.build().unwrap()
    };
    let home = DVec3::new(0.0, 1.85, 0.0);
    let first = build(800.0, home);
    let (_, gi, _) =
        settings_from_env(GiSettings { enabled: true, vpls: 8192, ..GiSettings::default() }, 0);
    let settings = settings(gi, 5.0);
    let (pose, projection) = room_pose();
    let view = View::new(pose, &projection, 48, 48);
    let mut scene = renderer.upload_for(&first, &settings.shadows).unwrap();
    scene.update_gi(renderer.gpu(), &first, &gi).unwrap();
    // From its eighth frame on the picture changes by at most one 8-bit step; from the freeze frame
    // on, the samples do not change at all.
    let picture = after(&mut renderer, &scene, &view, &settings, 8);
    let (mut last, mut bytes) = (shown(&picture, &settings), picture.display);
    for (from, to) in [(8, 64), (64, 65), (65, 72)] {
        let (mut worst, mut sum, mut count, mut byte) = (0.0f64, 0.0, 0.0, 0);
        for _ in from..to {
            let picture = renderer.render(&scene, &view, &settings).unwrap();
            let now = shown(&picture, &settings);
            for (a, b) in now.iter().zip(&last) {
                worst = worst.max(steps(*a, *b));
                sum += steps(*a, *b);
                count += 1.0;
            }
            byte = picture
                .display
                .iter()
                .zip(&bytes)
                .map(|(a, b)| a.abs_diff(*b))
                .max()
                .unwrap()
                .max(byte);
            (last, bytes) = (now, picture.display);
        }
        let mean = sum / count;
        println!(
            "frames {from} to {to}: bytes of the picture move by {byte} at most from one to the next; what was found by {worst:.2} \
             steps at worst, {mean:.3} in the mean"
        );
        assert!(byte <= 1 && mean < 0.25, "{byte} {mean}");
        assert!(from < 65 || worst == 0.0, "{worst}");
    }
    after(&mut renderer, &scene, &view, &settings, 16);
    for (name, flux, at) in [
        ("dimmed", 200.0, home),
        ("moved", 200.0, DVec3::new(-0.7, 1.6, 0.4)),
        ("off", 0.0, DVec3::new(-0.7, 1.6, 0.4)),
        ("on", 800.0, home),
        ("moved a little", 800.0, DVec3::new(0.03, 1.85, 0.0)),
    ] {
        let changed = build(flux, at);
        scene.follow(renderer.gpu(), &changed).unwrap();
        scene.update_gi(renderer.gpu(), &changed, &gi).unwrap();
        let mut eighth = Vec::new();
        for _ in 0..8 {
            eighth = shown(&renderer.render(&scene, &view, &settings).unwrap(), &settings);
        }
        let mut fresh = renderer.upload_for(&changed, &settings.shadows).unwrap();
        fresh.update_gi(renderer.gpu(), &changed, &gi).unwrap();
        let eight = shown(&after(&mut renderer, &fresh, &view, &settings, 8), &settings);
        for _ in 8..31 {
            renderer.render(&fresh, &view, &settings).unwrap();
        }
        let settled = shown(&renderer.render(&fresh, &view, &settings).unwrap(), &settings);
        let means = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let off = |list: &[f64]| {
            list.iter().zip(&settled).map(|(a, b)| (a - b).abs()).sum::<f64>()
                / settled.iter().sum::<f64>()
        };
        println!(
            "{name}: mean {:+.2} % of the settled one, pixels off by {:.2} %, eight fresh frames by {:.2} %",
            (means(&eighth) / means(&settled) - 1.0) * 100.0,
            off(&eighth) * 100.0,
            off(&eight) * 100.0
        );
        assert!((means(&eighth) / means(&settled) - 1.0).abs() < 0.02, "{name}");
        assert!(
            off(&eighth) < 1.5 * off(&eight) + 0.01,
            "{name}: {} {}",
            off(&eighth),
            off(&eight)
        );
        // The next change starts from a history of the scene under test.
        after(&mut renderer, &scene, &view, &settings, 8);
    }
}
