//! Screen-space reflections on the device: against the path tracer, under camera and object motion,
//! and stable in still views.

use crate::common::traced::{film, floats, of_bounces};
use crate::common::{Place, even, exposed, exposure_for, gpu, perspective, renderer, unshadowed};
use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    camera::ToneMapper,
    compare::flip,
    frame::{
        AntiAliasing, Aov, GiSettings, RenderSettings, RenderedImage, SsrAov, SsrReprojection,
        SsrSettings,
    },
    gpu_scene::{GpuScene, View},
    photometry::Candela,
    reference::FilmSettings,
    scene::{
        Material, Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::shapes,
    },
    settings::Resolution,
};

const HIT: Aov = Aov::Ssr(SsrAov::Hit);
const SIZE: (u32, u32) = (160, 90);
const FOV: f32 = 0.8;
const NEAR: f32 = 0.05;
const MOST: f64 = 100.0;

fn emissive_material(name: &str, color: Vec3) -> Material {
    let mut material = dielectric(name, Vec3::ZERO, 1.0);
    // Black environment: only emissive objects and their reflections.
    material.base_color = Vec3::ZERO.extend(1.0);
    material.emission = color * MOST as f32;
    material.double_sided = true;
    material.unlit = false;
    material
}

/// The reflecting surface.
#[derive(Clone, Copy, PartialEq)]
enum Ground {
    Floor(f32),
    Corridor,
    Hill,
    Ramp,
}

impl Ground {
    fn name(self) -> String {
        match self {
            Self::Floor(roughness) => format!("floor {roughness}"),
            Self::Corridor => "corridor".into(),
            Self::Hill => "hill".into(),
            Self::Ramp => "ramp".into(),
        }
    }
}

/// Purely emissive objects around a purely reflecting ground: the path tracer with one reflection
/// finds all light.
fn room(ground: Ground) -> Scene {
    let mut builder = SceneBuilder::new("room");
    let colors = [
        Vec3::new(0.9, 0.15, 0.1),
        Vec3::new(0.15, 0.5, 0.2),
        Vec3::new(0.1, 0.2, 0.8),
        Vec3::new(0.9, 0.8, 0.5),
        Vec3::splat(0.08),
    ];
    let colors: Vec<_> = colors
        .iter()
        .enumerate()
        .map(|(i, &c)| builder.add_material(emissive_material(&format!("glow {i}"), c)))
        .collect();
    let mut card = |corner: Vec3, x: Vec3, y: Vec3, color: usize| {
        builder.place(
            shapes::quad(corner + y, x, -y, 1, 1),
            colors[color % colors.len()],
            DMat4::IDENTITY,
        );
    };
    if ground == Ground::Corridor {
        for i in 0..12 {
            for (j, side) in [-1.5f32, 1.5].into_iter().enumerate() {
                let corner = Vec3::new(side, 0.0, 2.0 - i as f32);
                card(corner, Vec3::NEG_Z, Vec3::Y * 1.1, i + 2 * j);
                card(corner + Vec3::Y * 1.1, Vec3::NEG_Z, Vec3::Y * 1.1, i + 2 * j + 3);
            }
        }
        card(Vec3::new(-1.5, 0.0, -10.0), Vec3::X * 3.0, Vec3::Y * 2.2, 3);
    } else {
        // No part of the ramp's wall lies outside of the picture.
        let (columns, rows) = if ground == Ground::Ramp { (3..11, 2) } else { (0..14, 4) };
        for i in columns {
            for j in 0..rows {
                let corner = Vec3::new(-7.0 + i as f32, 0.8 * j as f32 - 0.4, -5.0);
                card(corner, Vec3::X, Vec3::Y * 0.8, i * 3 + j * 2);
            }
        }
    }
    // All reflections of the ramp are in the picture.
    let things = ground != Ground::Ramp;
    let ball = builder.add_mesh("ball", shapes::uv_sphere(0.4, 48, 24), colors[3]);
    if things {
        builder.instance("ball", ball, DMat4::from_translation(DVec3::new(-0.7, 0.55, -2.0)));
    }
    let stripe = |i: usize| {
        shapes::quad(
            Vec3::new(-0.3 + 0.15 * i as f32, 0.4, 0.0),
            Vec3::X * 0.15,
            Vec3::NEG_Y * 0.8,
            1,
            1,
        )
    };
    let card =
        builder.add_mesh_of("card", (0..4).map(|i| (stripe(i), colors[[0, 3, 4, 2][i]])).collect());
    if things {
        builder.instance("card", card, DMat4::from_translation(DVec3::new(0.9, 0.6, -2.5)));
    }
    let mut mirror = |name: &str, shape, roughness: f32, place: DVec3| {
        builder.place(
            shape,
            Material { double_sided: true, ..metal(name, Vec3::splat(0.9), roughness) },
            place,
        );
    };
    let flat = |x: f32, width: f32| {
        shapes::quad(Vec3::new(x, 0.0, -10.0), Vec3::X * width, Vec3::Z * 14.0, 1, 1)
    };
    match ground {
        Ground::Floor(roughness) => mirror("floor", flat(-8.0, 16.0), roughness, DVec3::ZERO),
        Ground::Corridor => mirror("floor", flat(-1.5, 3.0), 0.0, DVec3::ZERO),
        Ground::Hill => {
            mirror("hill", shapes::uv_sphere(12.0, 512, 256), 0.0, DVec3::new(0.0, -12.0, -2.0))
        }
        Ground::Ramp => {
            for i in 0..5u8 {
                mirror(
                    "strip",
                    flat(-2.0 + 0.8 * f32::from(i), 0.8),
                    0.1 + 0.08 * f32::from(i),
                    DVec3::ZERO,
                );
            }
        }
    }
    let mut scene = builder.build().unwrap();
    scene.emissive_lights = false;
    scene
}

fn eye() -> (DVec3, DVec3) {
    (DVec3::new(0.0, 1.1, 2.5), DVec3::new(0.0, 0.15, -2.0))
}

/// Rough surfaces need more samples of the path tracer; fewer pixels compensate.
const SMALL: (u32, u32) = (96, 54);

/// Picture width of either size.
fn across(pixels: &[[f32; 3]]) -> u32 {
    if pixels.len() == (SMALL.0 * SMALL.1) as usize { SMALL.0 } else { SIZE.0 }
}

fn view(eye: DVec3, at: DVec3) -> View {
    perspective(eye, at, FOV, NEAR, SIZE)
}

fn ssr() -> SsrSettings {
    SsrSettings { enabled: true, ..SsrSettings::default() }
}

fn settings(ssr: SsrSettings) -> RenderSettings {
    RenderSettings { ssr, aovs: watched(), ..exposed(MOST, 0.8) }
}

/// AOVs besides the picture: where reflections hit; all of SSR if pictures are saved.
fn watched() -> Vec<Aov> {
    if std::env::var_os("SSR_PICTURES").is_none() {
        return vec![HIT];
    }
    use SsrAov::{Distance, History, Hit, Motion, Rejection};
    [Hit, Distance, Motion, History, Rejection].map(Aov::Ssr).to_vec()
}

fn shown(pixels: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let multiplier = exposure_for(MOST, 0.8).multiplier() as f32;
    pixels
        .iter()
        .map(|p| ToneMapper::Agx.apply(Vec3::from_array(*p) * multiplier).to_array())
        .collect()
}

fn save(name: &str, pixels: &[[f32; 3]]) {
    let Some(folder) = std::env::var_os("SSR_PICTURES") else { return };
    let path = std::path::Path::new(&folder).join(format!("{name}.png"));
    let bytes: Vec<u8> = shown(pixels)
        .iter()
        .flat_map(|p| p.map(|v| (v.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0) as u8))
        .collect();
    image::save_buffer(
        path,
        &bytes,
        across(pixels),
        pixels.len() as u32 / across(pixels),
        image::ColorType::Rgb8,
    )
    .unwrap();
}

fn save_aovs(name: &str, picture: &RenderedImage) {
    for (aov, pixels) in &picture.aovs {
        let Some(folder) = std::env::var_os("SSR_PICTURES") else { return };
        let path = std::path::Path::new(&folder).join(format!("{name}.{}.png", aov.name()));
        let show = |p: &[f32; 4]| match aov {
            Aov::Ssr(SsrAov::Distance) => [p[0] / (p[0] + 10.0); 3],
            Aov::Ssr(SsrAov::Motion) => [0.5 + p[0] / 16.0, 0.5 + p[1] / 16.0, p[2] / 2.0],
            Aov::Ssr(SsrAov::History) => [p[0] / 16.0; 3],
            Aov::Ssr(SsrAov::Rejection) => [p[0] / 7.0; 3],
            _ => [p[0], p[1], p[2]],
        };
        let bytes: Vec<u8> = pixels
            .iter()
            .flat_map(|p| show(p).map(|v| (v.clamp(0.0, 1.0) * 255.0) as u8))
            .collect();
        image::save_buffer(
            path,
            &bytes,
            picture.width as u32,
            picture.height as u32,
            image::ColorType::Rgb8,
        )
        .unwrap();
    }
}

/// Pixels whose rays hit in these frames, by minimum fraction.
fn found(frames: &[RenderedImage], least: f64) -> Vec<bool> {
    let mut shares = vec![0.0; frames[0].nits.len()];
    for frame in frames {
        let (_, pixels) = frame.aovs.iter().find(|(aov, _)| *aov == HIT).unwrap();
        shares
            .iter_mut()
            .zip(pixels)
            .for_each(|(sum, p)| *sum += f64::from(p[0] + p[1]) / frames.len() as f64);
    }
    shares.iter().map(|&share| share >= least).collect()
}

/// Mean over a mask.
fn masked(values: &[f32], mask: &[bool]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for (value, _) in values.iter().zip(mask).filter(|(_, on)| **on) {
        sum += f64::from(*value);
        count += 1;
    }
    sum / f64::from(count.max(1))
}

/// Mean over a mask, with its standard error by the means of blocks of 64 pixels of the mask, as
/// neighbors share rays.
fn masked_with_error(values: &[f32], mask: &[bool]) -> (f64, f64) {
    let on: Vec<f32> = values.iter().zip(mask).filter(|(_, on)| **on).map(|(v, _)| *v).collect();
    let blocks: Vec<f64> = on.chunks_exact(64).map(|block| masked(block, &[true; 64])).collect();
    let count = blocks.len().max(2) as f64;
    let mean = blocks.iter().sum::<f64>() / count;
    let variance = blocks.iter().map(|block| (block - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (masked(values, mask), (variance / count).sqrt())
}

fn flip_where(test: &[[f32; 3]], reference: &[[f32; 3]], mask: &[bool]) -> f64 {
    let map =
        flip::ldr(&shown(test), &shown(reference), across(test) as usize, flip::PIXELS_PER_DEGREE);
    masked(&map, mask)
}

fn traced(
    scene: &Scene,
    (eye, at): (DVec3, DVec3),
    size: (u32, u32),
    samples: u32,
) -> Vec<[f32; 3]> {
    let projection =
        Projection::Perspective { vertical_fov: FOV, aspect: None, near: NEAR, far: None };
    let camera = (look_at_transform(eye, at), projection);
    let settings = FilmSettings { path: of_bounces(1), ..FilmSettings::default() };
    let size = (size.0 as usize, size.1 as usize);
    floats(&film(scene, camera, size, settings, samples).mean(|parts| parts.total()))
}

/// FLIP where all rays hit, between a still view's anti-aliased picture and the path tracer's; and
/// the number of those pixels.
fn against_the_path_tracer(
    name: &str,
    ground: Ground,
    samples: u32,
    resolution: Resolution,
) -> (f64, usize) {
    let Some(guard) = gpu() else { return (0.0, usize::MAX) };
    let mut renderer = guard.renderer();
    let host = room(ground);
    let scene = renderer.upload(&host).unwrap();
    let (eye, at) = eye();
    let aa = AntiAliasing::Temporal;
    let settings =
        RenderSettings { anti_aliasing: aa, ..settings(SsrSettings { resolution, ..ssr() }) };
    renderer.reset_history();
    let size = if ground == Ground::Ramp { SMALL } else { SIZE };
    let view = view(eye, at).resized(size.0, size.1);
    let count = if ground == Ground::Ramp { 8 } else { 48 };
    let mut frames: Vec<RenderedImage> =
        (0..count).map(|_| renderer.render(&scene, &view, &settings).unwrap()).collect();
    if ground == Ground::Ramp {
        // Wide lobes need more rays than a history has frames.
        let settings = RenderSettings { aovs: Vec::new(), ..settings.clone() };
        let nits = renderer.render_still(&scene, &view, &settings, 160).unwrap().nits;
        frames.last_mut().unwrap().nits = nits;
    }
    let picture = frames.last().unwrap();
    let want = traced(&host, (eye, at), size, samples);
    // The ramp's missing rays would hit nothing outside of the picture either.
    let least = if ground == Ground::Ramp { 0.2 } else { 0.97 };
    let mask = found(&frames, least);
    let count = mask.iter().filter(|&&on| on).count();
    // Elsewhere both are made equal: the metric includes a pixel's neighborhood.
    let shown: Vec<_> = mask
        .iter()
        .enumerate()
        .map(|(i, &on)| if on { picture.nits[i] } else { want[i] })
        .collect();
    let off = flip_where(&shown, &want, &mask);
    save(&format!("{name}-ssr"), &picture.nits);
    save(&format!("{name}-traced"), &want);
    save(
        &format!("{name}-mask"),
        &mask.iter().map(|&on| [if on { 100.0 } else { 0.0 }; 3]).collect::<Vec<_>>(),
    );
    save_aovs(name, picture);
    println!("{name}: FLIP {off:.4} over {count} pixels");
    (off, count)
}

#[test]
fn mirror_floor_matches_path_tracer() {
    let (off, count) = against_the_path_tracer("floor", Ground::Floor(0.0), 32, Resolution::Full);
    assert!(off < 0.05 && count > 2000, "{off} {count}");
}

#[test]
fn corridor_matches_path_tracer() {
    let (off, count) = against_the_path_tracer("corridor", Ground::Corridor, 32, Resolution::Full);
    assert!(off < 0.05 && count > 2000, "{off} {count}");
}

#[test]
fn curved_reflector_matches_path_tracer() {
    let (off, count) = against_the_path_tracer("hill", Ground::Hill, 32, Resolution::Full);
    assert!(off < 0.05 && count > 1000, "{off} {count}");
}

#[test]
fn rougher_surfaces_match_path_tracer() {
    let (off, count) = against_the_path_tracer("ramp", Ground::Ramp, 512, Resolution::Full);
    assert!(off < 0.05 && count > 400, "{off} {count}");
}

#[test]
fn half_resolution_rays_are_nearly_as_accurate() {
    let (off, count) = against_the_path_tracer("half", Ground::Floor(0.0), 32, Resolution::Half);
    assert!(off < 0.05 && count > 2000, "{off} {count}");
}

/// The kind of motion.
#[derive(Clone, Copy, Debug)]
enum Moves {
    Aside,
    Turn,
    Dolly,
    Card,
}

/// Error (mean of channels of exposed light) of the last of 16 frames from the converged picture at
/// its pose, by history reprojection method, over reflecting pixels; with its standard error. For a
/// moving card, over those whose reflection has changed over the last 3 frames.
fn off_after_16(
    ground: Ground,
    moves: Moves,
    aa: AntiAliasing,
    ways: &[SsrReprojection],
) -> Option<Vec<(f64, f64)>> {
    let guard = gpu()?;
    let mut renderer = guard.renderer();
    let mut host = room(ground);
    let mut scene = renderer.upload(&host).unwrap();
    let node = host.nodes.iter().position(|node| node.name == "card").unwrap();
    let at_frame = |frame: u32| {
        let t = f64::from(frame);
        let (eye, at) = eye();
        match moves {
            Moves::Aside => view(eye + DVec3::X * 0.05 * t, at + DVec3::X * 0.05 * t),
            Moves::Turn => view(at + glam::DQuat::from_rotation_y(0.012 * t) * (eye - at), at),
            Moves::Dolly => view(eye + DVec3::NEG_Z * 0.06 * t, at + DVec3::NEG_Z * 0.06 * t),
            Moves::Card => view(eye, at),
        }
    };
    let mut pose = |scene: &mut GpuScene, frame: u32| {
        if matches!(moves, Moves::Card) {
            let place = DVec3::new(0.9 - 0.07 * f64::from(frame), 0.6, -2.5);
            host.nodes[node].local = DMat4::from_translation(place);
            scene.follow(&guard.gpu, &host).unwrap();
        }
    };
    let scale = exposure_for(MOST, 0.8).multiplier() as f32;
    let difference = |a: &RenderedImage, b: &RenderedImage| -> Vec<f32> {
        let one = |(a, b): (&[f32; 3], &[f32; 3])| {
            (0..3).map(|c| (a[c] - b[c]).abs() * scale / 3.0).sum()
        };
        a.nits.iter().zip(&b.nits).map(one).collect()
    };
    let still = settings(SsrSettings { max_history_frames: 0, ..ssr() });
    let earlier = matches!(moves, Moves::Card).then(|| {
        pose(&mut scene, 12);
        renderer.render_still(&scene, &at_frame(12), &still, 32).unwrap()
    });
    pose(&mut scene, 15);
    // For wide lobes, the mean of 32 frames has noise of its own, which counts as a difference.
    let samples =
        if matches!(ground, Ground::Floor(roughness) if roughness > 0.0) { 256 } else { 32 };
    let want = renderer.render_still(&scene, &at_frame(15), &still, samples).unwrap();
    let watch = settings(SsrSettings { max_history_frames: 8, ..ssr() });
    renderer.reset_history();
    let frames: Vec<RenderedImage> =
        (0..8).map(|_| renderer.render(&scene, &at_frame(15), &watch).unwrap()).collect();
    let mut mask = found(&frames, 0.97);
    if let Some(earlier) = earlier {
        mask.iter_mut()
            .zip(difference(&want, &earlier))
            .for_each(|(on, changed)| *on &= changed > 0.05);
    }
    let mut run = |&way: &SsrReprojection| {
        let settings = RenderSettings {
            anti_aliasing: aa,
            ..settings(SsrSettings { reprojection: way, ..ssr() })
        };
        renderer.reset_history();
        let mut last = None;
        for frame in 0..16 {
            pose(&mut scene, frame);
            last = Some(renderer.render(&scene, &at_frame(frame), &settings).unwrap());
        }
        let last = last.unwrap();
        assert!(last.nits.iter().flatten().all(|v| v.is_finite()));
        let name = format!("{}-{moves:?}-{way:?}", ground.name()).to_lowercase();
        save_aovs(&name, &last);
        save(&format!("{name}-last"), &last.nits);
        save(&format!("{name}-still"), &want.nits);
        masked_with_error(&difference(&last, &want), &mask)
    };
    Some(ways.iter().map(&mut run).collect())
}

/// Asserts at most half of the error of surface motion. Frames have fixed seeds: the ratio is the
/// same in every run of a driver; the standard error says how far another seed's may be.
fn follows(ground: Ground, moves: Moves, aa: AntiAliasing) {
    let ways = [SsrReprojection::Virtual, SsrReprojection::Surface];
    let Some(off) = off_after_16(ground, moves, aa, &ways) else { return };
    let [(by_hit, hit_error), (by_surface, surface_error)] = off[..] else { unreachable!() };
    let ratio = by_hit / by_surface;
    let error = ratio * (hit_error / by_hit).hypot(surface_error / by_surface);
    println!(
        "{} {moves:?}: virtual {by_hit:.5}, surface {by_surface:.5}, ratio {ratio:.3} +- {error:.3}",
        ground.name()
    );
    assert!(by_hit < 0.5 * by_surface, "{off:?}");
}

#[test]
fn reflections_follow_a_sideways_camera() {
    follows(Ground::Floor(0.0), Moves::Aside, AntiAliasing::None);
}

#[test]
fn reflections_follow_a_turning_camera() {
    follows(Ground::Floor(0.0), Moves::Turn, AntiAliasing::None);
}

#[test]
fn reflections_follow_a_camera_dolly() {
    follows(Ground::Floor(0.0), Moves::Dolly, AntiAliasing::None);
}

#[test]
fn reflections_follow_a_moving_object() {
    follows(Ground::Floor(0.0), Moves::Card, AntiAliasing::None);
}

#[test]
fn anti_aliasing_follows_reflections_too() {
    follows(Ground::Floor(0.0), Moves::Aside, AntiAliasing::Temporal);
}

#[test]
fn reflections_in_a_curved_mirror_follow() {
    follows(Ground::Hill, Moves::Aside, AntiAliasing::None);
}

#[test]
fn reflections_in_a_glossy_floor_follow_a_sideways_camera() {
    follows(Ground::Floor(0.2), Moves::Aside, AntiAliasing::None);
}

#[test]
fn reflections_in_a_glossy_floor_follow_a_turning_camera() {
    follows(Ground::Floor(0.2), Moves::Turn, AntiAliasing::None);
}

#[test]
fn reflections_in_a_glossy_floor_follow_a_camera_dolly() {
    follows(Ground::Floor(0.2), Moves::Dolly, AntiAliasing::None);
}

/// Prints the reprojection table of validation/measured/reflections.md.
#[test]
#[ignore = "prints a table"]
fn compare_ssr_settings() {
    let ways = [
        SsrReprojection::Virtual,
        SsrReprojection::Surface,
        SsrReprojection::Smallest,
        SsrReprojection::HitParallax,
    ];
    for ground in [Ground::Floor(0.0), Ground::Floor(0.2), Ground::Hill] {
        for moves in [Moves::Aside, Moves::Turn, Moves::Dolly, Moves::Card] {
            if let Some(off) = off_after_16(ground, moves, AntiAliasing::None, &ways) {
                println!(
                    "| {} | {moves:?} | {:.4} | {:.4} | {:.4} | {:.4} |",
                    ground.name(),
                    off[0].0,
                    off[1].0,
                    off[2].0,
                    off[3].0
                );
            }
        }
    }
}

/// SSR debug AOVs, still views and the compared methods have their own pipelines.
#[test]
fn ssr_debug_aovs_do_not_change_the_image() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&room(Ground::Floor(0.1))).unwrap();
    let (eye, at) = eye();
    for way in [SsrReprojection::Virtual, SsrReprojection::Smallest] {
        let mut run = |aovs: Vec<Aov>| -> Vec<Vec<[f32; 3]>> {
            let settings =
                RenderSettings { aovs, ..settings(SsrSettings { reprojection: way, ..ssr() }) };
            renderer.reset_history();
            let mut frame = |number: u32| {
                let aside = DVec3::X * 0.05 * f64::from(number.min(3));
                renderer.render(&scene, &view(eye + aside, at + aside), &settings).unwrap().nits
            };
            (0..6).map(&mut frame).collect()
        };
        let (watched, plain) = (run(vec![HIT]), run(Vec::new()));
        for (frame, (a, b)) in watched.iter().zip(&plain).enumerate() {
            let off = a
                .iter()
                .flatten()
                .zip(b.iter().flatten())
                .map(|(a, b)| (a - b).abs() / (a + b).max(1.0));
            let far = off.filter(|&off| off > 2e-3).count();
            assert!(far * 1000 <= a.len(), "{way:?}, frame {frame}: {far} values differ");
        }
        let changed = plain[2].iter().flatten().zip(plain[3].iter().flatten()).any(|(a, b)| a != b);
        assert!(changed, "the camera moves");
    }
}

/// One ray per pixel without a history is written directly to the light buffer; with AOVs it goes
/// through the passes that share neighbors' rays.
#[test]
fn unshared_rays_match_shared_rays() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for environment in [None, even(20.0)] {
        let mut scene = room(Ground::Floor(0.2));
        scene.environment = environment;
        let uploaded = renderer.upload(&scene).unwrap();
        let (eye, at) = eye();
        let mut run = |aovs: Vec<Aov>, enabled: bool| -> Vec<[f32; 3]> {
            let ssr = SsrSettings { enabled, taps: 1, max_history_frames: 0, ..ssr() };
            renderer.reset_history();
            renderer
                .render(&uploaded, &view(eye, at), &RenderSettings { aovs, ..settings(ssr) })
                .unwrap()
                .nits
        };
        let (among, alone, without) =
            (run(vec![HIT], true), run(Vec::new(), true), run(Vec::new(), false));
        let off = |other: &[[f32; 3]]| -> Vec<f32> {
            let most = |p: [f32; 3]| p.into_iter().fold(0.0, f32::max);
            let pairs = alone.iter().zip(other);
            pairs
                .map(|(&a, &b)| {
                    most([0, 1, 2].map(|i| (a[i] - b[i]).abs())) / most(a).max(most(b)).max(1.0)
                })
                .collect()
        };
        // Shared, a ray's light has ten digits of the brightest channel, and is rounded to half
        // floats once more.
        let worst = off(&among).into_iter().fold(0.0, f32::max);
        assert!(worst <= 2.5e-3, "off by {worst}");
        let changed = off(&without).into_iter().filter(|&off| off > 0.05).count();
        assert!(changed * 10 > alone.len(), "{changed} values are of reflections");
    }
}

#[test]
fn exposure_step_does_not_change_reflections() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&room(Ground::Floor(0.1))).unwrap();
    let (eye, at) = eye();
    let mut run = |step: f64| {
        renderer.reset_history();
        let mut last = None;
        for frame in 0..8 {
            let aside = DVec3::X * 0.05 * f64::from(frame);
            let value = if frame < 6 { 0.8 } else { 0.8 * step };
            let settings =
                RenderSettings { exposure: exposure_for(MOST, value), ..settings(ssr()) };
            last =
                Some(renderer.render(&scene, &view(eye + aside, at + aside), &settings).unwrap());
        }
        last.unwrap()
    };
    let plain = run(1.0);
    for step in [0.25, 4.0] {
        let stepped = run(step);
        let both = plain.nits.iter().flatten().zip(stepped.nits.iter().flatten());
        let off: f64 = both.map(|(a, b)| f64::from((a - b).abs())).sum();
        let all: f64 = plain.nits.iter().flatten().map(|&v| f64::from(v)).sum();
        println!("exposure by {step}: {:.5} of all light is elsewhere", off / all);
        assert!(off < 0.01 * all, "{step}: {}", off / all);
    }
}

#[test]
fn still_views_do_not_flicker() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, aa) in [("none", AntiAliasing::None), ("taa", AntiAliasing::Temporal)] {
        let scene = renderer.upload(&room(Ground::Ramp)).unwrap();
        let (eye, at) = eye();
        let view = view(eye, at).resized(SMALL.0, SMALL.1);
        let settings = RenderSettings { anti_aliasing: aa, aovs: Vec::new(), ..settings(ssr()) };
        renderer.reset_history();
        for _ in 0..128 {
            renderer.render(&scene, &view, &settings).unwrap();
        }
        let frames: Vec<RenderedImage> =
            (0..16).map(|_| renderer.render(&scene, &view, &settings).unwrap()).collect();
        let deviation = |index: usize| {
            let mean = frames.iter().map(|f| f64::from(f.display[index])).sum::<f64>() / 16.0;
            (frames.iter().map(|f| (f64::from(f.display[index]) - mean).powi(2)).sum::<f64>()
                / 16.0)
                .sqrt()
        };
        let mut all: Vec<f64> = (0..frames[0].display.len()).map(deviation).collect();
        all.sort_by(f64::total_cmp);
        let (mean, worst) = (all.iter().sum::<f64>() / all.len() as f64, all[all.len() - 1]);
        let most = all[all.len() * 999 / 1000];
        println!(
            "{name}: flicker mean {mean:.4}, of 99.9 % below {most:.3}, worst {worst:.3} steps"
        );
        assert!(mean < 0.25 && worst < 1.0, "{name}: {mean} {most} {worst}");
    }
}

/// A floor and nothing else, to which tests add lamps.
fn bare_floor(floor: Material) -> SceneBuilder {
    let mut builder = SceneBuilder::new("bare floor");
    builder.place(
        shapes::quad(Vec3::new(-4.0, 0.0, -10.0), Vec3::X * 8.0, Vec3::Z * 14.0, 1, 1),
        floor,
        DMat4::IDENTITY,
    );
    builder
}

/// First row of the picture that shows the floor in front of the lamps, not the lamps.
const FLOOR_ROW: usize = 40;

fn floor_luminance(pixels: &[[f32; 3]]) -> Vec<f64> {
    pixels[FLOOR_ROW * SIZE.0 as usize..].iter().map(|p| f64::from(p[1])).collect()
}

/// A tube one pixel thick, far in front of what is behind it, is reflected with its energy: not as
/// a surface that reaches back to the background.
#[test]
fn thin_lamps_keep_their_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for roughness in [0.0, 0.2] {
        let mut builder = bare_floor(metal("floor", Vec3::splat(0.9), roughness));
        let glow = builder.add_material(emissive_material("tube", Vec3::ONE));
        let tube = builder.add_mesh("tube", shapes::cylinder(0.025, 2.0, 16), glow);
        let lying = DMat4::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let place = DMat4::from_translation(DVec3::new(1.0, 1.0, -3.0)) * lying;
        builder.instance("tube", tube, place);
        let host = builder.build().unwrap();
        let scene = renderer.upload(&host).unwrap();
        let (eye, at) = eye();
        renderer.reset_history();
        let settings = RenderSettings { aovs: Vec::new(), ..settings(ssr()) };
        let picture = renderer.render_still(&scene, &view(eye, at), &settings, 32).unwrap();
        let want = traced(&host, (eye, at), SIZE, 64);
        save(&format!("tube {roughness}-ssr"), &picture.nits);
        save(&format!("tube {roughness}-traced"), &want);
        let sum = |pixels: &[[f32; 3]]| floor_luminance(pixels).iter().sum::<f64>();
        let ratio = sum(&picture.nits) / sum(&want);
        println!("tube, roughness {roughness}: {ratio:.3} of the path tracer's light");
        assert!((ratio - 1.0).abs() <= 0.2, "roughness {roughness}: {ratio:.3}");
    }
}

/// Small bright lamps in a wide lobe: few rays find them. GI's denoised mean of the lobe has their
/// light without sparkles. The reference is a point light of each lamp's intensity, luminance times
/// projected area. In a picture this small the filter spreads the far ends of the highlights down
/// to the rows that are compared: 1.68 of the light (docs/denoiser.md, "Limits").
#[test]
fn small_lamps_do_not_sparkle_on_rough_floors() {
    const RADIUS: f32 = 0.02;
    const NITS: f32 = 20_000.0;
    let Some((_guard, mut renderer)) = renderer() else { return };
    let places: Vec<_> = (0..8u32)
        .map(|i| {
            let (column, row) = (f64::from(i % 2), f64::from(i / 2));
            DVec3::new(1.6 * column - 0.8 + 0.2 * row, 1.2, -2.0 - row)
        })
        .collect();
    let (eye, at) = eye();
    let view = view(eye, at);
    let base = RenderSettings { shadows: unshadowed(), ..exposed(MOST, 0.8) };
    let floor = || dielectric("floor", Vec3::ZERO, 0.4);
    let mut lamps = bare_floor(floor());
    let glow = emissive_material("lamp", Vec3::splat(NITS / MOST as f32));
    let glow = lamps.add_material(glow);
    let ball = lamps.add_mesh("lamp", shapes::uv_sphere(RADIUS, 16, 8), glow);
    let mut points = bare_floor(floor());
    let intensity = NITS * std::f32::consts::PI * RADIUS * RADIUS;
    for &place in &places {
        lamps.instance("lamp", ball, DMat4::from_translation(place));
        points.point_light_candela("lamp", Candela(f64::from(intensity)), Vec3::ONE, place);
    }
    // A dim sky: without any light but the lamps', the mean is 0 where GI has found none of them.
    let dim = even(0.5);
    let points = Scene { environment: dim.clone(), ..points.build().unwrap() };
    let points = renderer.upload(&points).unwrap();
    let want = floor_luminance(&renderer.render_still(&points, &view, &base, 4).unwrap().nits);
    let gi = GiSettings { enabled: true, resolution: Resolution::Half, ..GiSettings::default() };
    let settings = RenderSettings { gi, ssr: ssr(), ..base };
    let host = Scene { environment: dim, ..lamps.build().unwrap() };
    let mut scene = renderer.upload(&host).unwrap();
    scene.update_gi(renderer.gpu(), &host, &gi).unwrap();
    renderer.reset_history();
    let picture = renderer.render_still(&scene, &view, &settings, 16).unwrap().nits;
    save("lamps-ssr", &picture);
    let got = floor_luminance(&picture);
    let ratio = got.iter().sum::<f64>() / want.iter().sum::<f64>();
    let brightest = |pixels: &[f64]| pixels.iter().copied().fold(0.0, f64::max);
    let peak = brightest(&got) / brightest(&want);
    println!("{ratio:.3} of the light, the brightest pixel {peak:.2} times as bright");
    assert!((0.9..=1.8).contains(&ratio), "{ratio:.3} of the light");
    assert!(peak <= 3.0, "the brightest pixel is {peak:.2} times as bright");
}
