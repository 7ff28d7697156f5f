//! Water: attenuation by depth, and pictures against the path tracer.

use std::{path::Path, sync::Arc};

use crate::common::gi_reference::mean;
use crate::common::traced::{centered, clipped, doubles, film, mean_flip, of_bounces, save_ppm};
use crate::common::{
    Place, exposed, exposure_for, exr_channel, gpu, green, nits, parallel, picture, pixel_of,
    pixel_ray, renderer, traced_shadows,
};
use glam::{DMat4, DVec2, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{RenderSettings, Renderer},
    gpu_scene::View,
    photometry::{
        Lux, color,
        environment::{RadianceMap, RowMapping},
        lights::{Emitter, LightStrength},
        water::{self, WaterCoefficients, WaterKind},
    },
    reference::FilmSettings,
    scene::{
        Environment, Material, Projection, Scene, Specular, WaterSettings,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        look::RefractionMethod,
        procedural::shapes,
    },
    settings::CausticSettings,
};

/// Emissive floors 1, 2 and 5 m below a level surface, side by side along x.
fn steps() -> Scene {
    let mut builder = SceneBuilder::new("steps");
    let glow = Material { emission: Vec3::splat(100.0), ..metal("glow", Vec3::ZERO, 1.0) };
    let glow = builder.add_material(glow);
    let floor = builder.add_mesh("floor", shapes::plane(Vec2::new(1.0, 2.0), 1, 1), glow);
    for (index, depth) in [1.0, 2.0, 5.0].into_iter().enumerate() {
        builder.instance(
            "floor",
            floor,
            DMat4::from_translation(DVec3::new(index as f64 * 1.2 - 1.2, -depth, 0.0)),
        );
    }
    builder.place(
        shapes::plane(Vec2::new(6.0, 6.0), 1, 1),
        dielectric("water", Vec3::ONE, 0.0),
        DMat4::IDENTITY,
    );
    builder.build().unwrap()
}

#[test]
fn depth_attenuation_matches_beer_lambert() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = parallel(DVec3::new(0.0, 3.0, 0.0), DVec3::new(0.0, 0.0, 1e-4), 1.0, 20.0, (64, 32));
    for (name, kind) in WaterKind::ALL {
        let mut scene = steps();
        let coefficients = kind.coefficients();
        let settings = WaterSettings {
            coefficients,
            slope: 0.0,
            slope_still: 0.0,
            ..WaterSettings::default()
        };
        scene.add_water(1, &settings).unwrap();
        for refraction in [RefractionMethod::Traced, RefractionMethod::Screen] {
            let settings = RenderSettings { refraction, ..exposed(100.0, 0.5) };
            let picture = picture(&mut renderer, &scene, &view, &settings);
            let through =
                100.0 * (1.0 - water::fresnel(1.0, water::IOR)) / (water::IOR * water::IOR);
            let mut worst = 0f64;
            for (x, depth) in [(-1.2, 1.0), (0.0, 2.0), (1.2, 5.0)] {
                let (px, py) = pixel_of(&view, DVec3::new(x, 0.0, 0.0)).unwrap();
                let got = nits(&picture, px, py);
                let want = coefficients.transmittance(depth) * through;
                let error = (got - want).abs() / (want + 1e-3);
                worst = worst.max(error.max_element());
            }
            println!("{name}, {refraction:?}: off by {:.3} %", worst * 100.0);
            assert!(worst < 0.01, "{name} {refraction:?}: {worst}");
        }
    }
}

/// Single scattering of water over a black floor, by the closed form and by the path tracer.
#[test]
fn single_scattering_matches_closed_form() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let coefficients = WaterCoefficients {
        absorption: DVec3::new(0.5, 0.2, 0.05),
        scattering: DVec3::new(0.02, 0.02, 0.04),
    };
    let mut builder = SceneBuilder::new("deep");
    builder.place(
        shapes::plane(Vec2::splat(40.0), 1, 1),
        metal("black", Vec3::ZERO, 1.0),
        DVec3::Y * -3.0,
    );
    let sheet = builder.add_material(dielectric("water", Vec3::ONE, 0.0));
    let surface = builder.add_mesh("surface", shapes::plane(Vec2::splat(40.0), 1, 1), sheet);
    builder.instance("surface", surface, DMat4::IDENTITY);
    let towards = look_at_transform(DVec3::new(3.0, 4.0, 0.0), DVec3::ZERO);
    // The real sun: the tails of a wider one's highlight would reach the camera's view.
    let disk = Emitter::SUN;
    builder.light("sun", disk, LightStrength::Lux(Lux(10_000.0)), Vec3::ONE, towards);
    let mut scene = builder.build().unwrap();
    let settings =
        WaterSettings { coefficients, slope: 0.0, slope_still: 0.0, ..WaterSettings::default() };
    scene.add_water(1, &settings).unwrap();
    let (cosine, into) = water::refract_sunlight(0.8, water::IOR);
    let out_of = (1.0 - water::fresnel(1.0, water::IOR)) / (water::IOR * water::IOR);
    let extinction = coefficients.extinction();
    let rate = extinction * (1.0 + 1.0 / cosine);
    let filled = (DVec3::ONE - (-rate * 3.0).map(f64::exp)) / rate;
    let want = out_of * 10_000.0 * 0.8 * into / cosine * coefficients.scattering * filled
        / (4.0 * std::f64::consts::PI);
    let view = parallel(DVec3::new(0.0, 3.0, 0.0), DVec3::new(0.0, 0.0, 1e-4), 1.0, 20.0, (32, 16));
    for refraction in [RefractionMethod::Traced, RefractionMethod::Screen] {
        let settings = RenderSettings { refraction, ..exposed(want.max_element(), 0.5) };
        let got = nits(&picture(&mut renderer, &scene, &view, &settings), 16, 8);
        let error = ((got - want) / want).abs().max_element();
        println!(
            "scattered, {refraction:?}: {got}, closed form {want}, off by {:.2} %",
            error * 100.0
        );
        assert!(error < 0.02, "{refraction:?}: {got} {want}");
    }
    // The path tracer has all orders of scattering; two bounces, surface and water, are the first
    // one.
    let pose = look_at_transform(DVec3::new(0.0, 3.0, 0.0), DVec3::new(0.0, 0.0, 1e-4));
    let projection =
        Projection::Orthographic { half_width: 1.0, half_height: 1.0, near: 0.1, far: 20.0 };
    for (bounces, min, max) in [(3, 0.97, 1.03), (12, 1.0, 1.4)] {
        let film = film(&scene, (pose, projection), (16, 16), centered(of_bounces(bounces)), 512);
        let mean = film.mean(|parts| parts.total()).iter().sum::<DVec3>() / 256.0;
        println!(
            "scattered, path tracer of {bounces} bounces: {mean}, over the closed form {}",
            mean / want
        );
        let ratio = color::luminance(mean) / color::luminance(want);
        assert!((min..max).contains(&ratio), "{bounces}: {ratio}");
    }
}

const SIZE: (usize, usize) = (128, 72);
const EYE: DVec3 = DVec3::new(0.0, 2.6, 4.2);

/// A pool of 4 x 4 m, 0.6 m deep, with striped tiles and a column in it.
fn pool(settings: &WaterSettings, sun: f64) -> Scene {
    let mut builder = SceneBuilder::new("pool");
    let light = builder.add_material(dielectric("light tile", Vec3::new(0.6, 0.62, 0.6), 1.0));
    let dark = builder.add_material(dielectric("dark tile", Vec3::new(0.15, 0.2, 0.3), 1.0));
    let stone = builder.add_material(dielectric("stone", Vec3::new(0.5, 0.45, 0.4), 1.0));
    for stripe in 0..8 {
        builder.place(
            shapes::plane(Vec2::new(0.5, 4.0), 1, 1),
            if stripe % 2 == 0 { light } else { dark },
            DVec3::new(f64::from(stripe) * 0.5 - 1.75, -0.6, 0.0),
        );
    }
    for (size, at) in [
        (Vec3::new(0.4, 1.0, 4.8), DVec3::new(-2.2, -0.3, 0.0)),
        (Vec3::new(0.4, 1.0, 4.8), DVec3::new(2.2, -0.3, 0.0)),
        (Vec3::new(4.0, 1.0, 0.4), DVec3::new(0.0, -0.3, -2.2)),
        (Vec3::new(4.0, 1.0, 0.4), DVec3::new(0.0, -0.3, 2.2)),
    ] {
        builder.place(shapes::cuboid(size), stone, at);
    }
    builder.place(shapes::cylinder(0.25, 2.0, 48), stone, DVec3::new(0.6, 0.0, -0.5));
    builder.place(
        shapes::plane(Vec2::new(4.0, 4.0), 1, 1),
        dielectric("water", Vec3::ONE, 0.0),
        DMat4::IDENTITY,
    );
    let towards = look_at_transform(DVec3::new(3.0, 6.0, 2.0), DVec3::ZERO);
    let disk = Emitter::Sun { angular_radius: sun };
    builder.light(
        "sun",
        disk,
        LightStrength::Lux(Lux(10_000.0)),
        Vec3::new(1.0, 0.95, 0.85),
        towards,
    );
    let mut scene = builder.build().unwrap();
    scene.add_water(3, settings).unwrap();
    let texels = (0..64 * 32)
        .map(|i| if i / 64 < 16 { Vec3::new(0.6, 0.8, 1.2) * 1000.0 } else { Vec3::splat(200.0) })
        .collect();
    let map = RadianceMap::new(64, 32, RowMapping::Linear, texels).unwrap();
    scene.environment =
        Some(Environment { map: Arc::new(map), rotation: 0.0, origin: "test".into() });
    scene
}

/// The path tracer's picture with this many samples, stored in `tests/data/water`;
/// `SUNNY16_WRITE=1` traces it again. A few paths per pixel are always traced: their mean must
/// match the stored picture. Without a stored picture 128 samples are used and false is returned,
/// because their noise exceeds the bound on FLIP.
fn reference(
    name: &str,
    samples: u32,
    scene: &Scene,
    (pose, projection): (DMat4, Projection),
) -> (Vec<DVec3>, bool) {
    let traced = |samples: u32| {
        film(scene, (pose, projection), SIZE, centered(of_bounces(8)), samples)
            .mean(|parts| parts.total())
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/water/{name}.exr"));
    if std::env::var_os("SUNNY16_WRITE").is_some() {
        let picture = traced(samples);
        let pixel = |x: usize, y: usize| {
            let c = picture[y * SIZE.0 + x];
            (half::f16::from_f64(c.x), half::f16::from_f64(c.y), half::f16::from_f64(c.z))
        };
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        exr::prelude::write_rgb_file(&file, SIZE.0, SIZE.1, pixel).unwrap();
    }
    if !file.exists() {
        println!("{name}: no kept picture, SUNNY16_WRITE=1 traces it; FLIP is not bounded");
        return (traced(128), false);
    }
    let [r, g, b] = ["R", "G", "B"].map(|channel| exr_channel(&file, channel));
    let kept: Vec<DVec3> =
        r.iter().zip(&g).zip(&b).map(|((r, g), b)| Vec3::new(*r, *g, *b).as_dvec3()).collect();
    let now = mean(&traced(16));
    assert!((now / mean(&kept) - 1.0).abs() < 0.02, "{name}: {now} nits, kept {}", mean(&kept));
    (kept, true)
}

/// FLIP and the relative error of the mean, raster against path tracer; PPMs go to
/// `SUNNY16_PICTURES`.
fn compare_with_path_tracer(
    name: &str,
    samples: u32,
    renderer: &mut Renderer,
    scene: &Scene,
) -> (f64, f64) {
    let projection =
        Projection::Perspective { vertical_fov: 0.75, aspect: None, near: 0.1, far: None };
    let pose = look_at_transform(EYE, DVec3::new(0.0, -0.3, 0.0));
    let view = View::new(pose, &projection, SIZE.0 as u32, SIZE.1 as u32);
    let (reference, quiet) = reference(name, samples, scene, (pose, projection));
    let exposure = exposure_for(5000.0, 0.6);
    let shadows = traced_shadows(32);
    let settings = RenderSettings { exposure, shadows, ..RenderSettings::default() };
    let raster = picture(renderer, scene, &view, &settings);
    let raster = doubles(&raster.nits);
    let shown = |picture: &[DVec3]| clipped(picture, exposure);
    save_ppm(&format!("water-{name}-raster"), &shown(&raster), SIZE.0);
    save_ppm(&format!("water-{name}-path"), &shown(&reference), SIZE.0);
    let flip = mean_flip(&shown(&raster), &shown(&reference), SIZE.0);
    let bias = mean(&raster) / mean(&reference) - 1.0;
    println!("{name}: FLIP {flip:.4}, mean {:+.2} %", bias * 100.0);
    (if quiet { flip } else { 0.0 }, bias)
}

#[test]
fn level_water_matches_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let level =
        WaterSettings { slope: 0.0, slope_still: 0.0, shore: 0.0, ..WaterSettings::default() };
    let (flip, bias) =
        compare_with_path_tracer("level", 16_384, &mut renderer, &pool(&level, 0.05));
    assert!(flip < 0.05, "{flip}");
    assert!(bias.abs() < 0.05, "{bias}");
}

#[test]
fn frozen_waves_match_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let coefficients =
        WaterCoefficients { scattering: DVec3::ZERO, ..WaterKind::Coastal.coefficients() };
    let waves = WaterSettings {
        coefficients,
        direction: DVec2::new(1.0, 0.3),
        slope: 0.03,
        tile: 4.0,
        shore: 0.0,
        ..WaterSettings::default()
    };
    let mut scene = pool(&waves, 0.05);
    scene.time = 1.7;
    let (even, bias) = compare_with_path_tracer("waves", 2048, &mut renderer, &scene);
    assert!(even < 0.05, "{even}");
    assert!(bias.abs() < 0.02, "{bias}");
    scene.add_water(3, &WaterSettings { caustics: true, ..waves }).unwrap();
    let (gathered, bias) = compare_with_path_tracer("waves", 2048, &mut renderer, &scene);
    assert!(gathered < 0.05 && bias.abs() < 0.02, "{gathered} {bias}");
    assert!(gathered < even || even == 0.0, "with caustics {gathered}, without {even}");
}

/// Caustics on a bed: beams refracted by the surface in double precision, by Snell's law and the
/// sun's disk, counted in the pixels of a view straight down to half a width `half`; relative to
/// level water.
fn gathered(
    scene: &Scene,
    towards_sun: DVec3,
    sun: f64,
    (depth, half): (f64, f64),
    view: &View,
) -> Vec<f64> {
    let pixels = view.width as usize;
    // The picture's columns and rows by x and z.
    let corner = |x, y| pixel_ray(view, x, y).0;
    let (first, across, down) = (corner(0, 0), corner(pixels - 1, 0), corner(0, pixels - 1));
    let ways = [across, down].map(|to| DVec2::new(to.x - first.x, to.z - first.z).normalize());
    let water = scene.materials.iter().find_map(|material| material.water.clone()).unwrap();
    let bent = |normal: DVec3, to_sun: DVec3| {
        let c = normal.dot(to_sun);
        let t = (1.0 - (1.0 - c * c) / (water::IOR * water::IOR)).sqrt();
        (-to_sun / water::IOR + normal * (c / water::IOR - t), c)
    };
    let (right, up) = towards_sun.any_orthonormal_pair();
    let level = 1.0 - water::fresnel(towards_sun.y, water::IOR);
    let (middle, _) = bent(DVec3::Y, towards_sun);
    let shift = DVec2::new(middle.x, middle.z) * (depth / -middle.y);
    // The surface points that a level surface maps to the bed's pixels, with a margin for
    // refraction.
    let (reach, bundles) = (half + 0.1, 2000);
    let step = 2.0 * reach / bundles as f64;
    let mut counts = vec![0.0; pixels * pixels];
    for i in 0..bundles * bundles {
        let place = DVec2::new((i % bundles) as f64 + 0.5, (i / bundles) as f64 + 0.5) * step
            - reach
            - shift;
        let slope = water.slope_at(place, scene.time);
        let normal = DVec3::new(-slope.x, 1.0, -slope.y).normalize();
        // Uniform over the disk, by two powers of the plastic number.
        let radius = (i as f64 * 0.754_877_666_246_692_7).fract().sqrt() * sun;
        let angle = (i as f64 * 0.569_840_290_998_053_2).fract() * std::f64::consts::TAU;
        let to_sun = (towards_sun + (right * angle.cos() + up * angle.sin()) * radius).normalize();
        let (way, c) = bent(normal, to_sun);
        let at = place + DVec2::new(way.x, way.z) * (depth / -way.y);
        let at = DVec2::new(at.dot(ways[0]), at.dot(ways[1]));
        let pixel = ((at + half) / (2.0 * half) * pixels as f64).floor();
        if pixel.min_element() >= 0.0 && pixel.max_element() < pixels as f64 {
            let share =
                c / (normal.y * towards_sun.y) * (1.0 - water::fresnel(c, water::IOR)) / level;
            counts[pixel.y as usize * pixels + pixel.x as usize] += share;
        }
    }
    let even = (2.0 * half / pixels as f64 / step).powi(2);
    counts.into_iter().map(|count| count / even).collect()
}

#[test]
fn caustics_match_refracted_beams() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (depth, towards) = (0.6, DVec3::new(3.0, 6.0, 2.0).normalize());
    let mut builder = SceneBuilder::new("bed");
    builder.place(
        shapes::plane(Vec2::splat(6.0), 1, 1),
        Material {
            specular: Specular { factor: 0.0, ..Specular::default() },
            ..dielectric("matte", Vec3::splat(0.5), 1.0)
        },
        DVec3::Y * -depth,
    );
    let sheet = builder.add_material(dielectric("water", Vec3::ONE, 0.0));
    let surface = builder.add_mesh("surface", shapes::plane(Vec2::splat(4.0), 1, 1), sheet);
    builder.instance("surface", surface, DMat4::IDENTITY);
    let sun = 0.02;
    let disk = Emitter::Sun { angular_radius: sun };
    builder.light(
        "sun",
        disk,
        LightStrength::Lux(Lux(10_000.0)),
        Vec3::ONE,
        look_at_transform(towards, DVec3::ZERO),
    );
    let scene = builder.build().unwrap();
    // From within the water, so that the surface refracts only the light.
    let half = 0.1;
    let view = parallel(
        DVec3::new(0.0, -0.3, 0.0),
        DVec3::new(0.0, -depth, 1e-6),
        half as f32,
        1.0,
        (48, 48),
    );
    let waves = WaterSettings {
        slope: 0.03,
        slope_still: 0.03,
        tile: 2.0,
        shore: 0.0,
        ..WaterSettings::default()
    };
    let mut pictured = |caustics: bool, enabled: bool, resolution: u32| {
        let mut scene = scene.clone();
        scene.add_water(1, &WaterSettings { caustics, ..waves.clone() }).unwrap();
        let exposure = exposure_for(2000.0, 0.5);
        let settings = RenderSettings {
            exposure,
            caustics: CausticSettings { enabled, resolution },
            ..RenderSettings::default()
        };
        let picture = picture(&mut renderer, &scene, &view, &settings);
        (green(&picture), scene)
    };
    let (level, scene) = pictured(false, true, 16);
    assert!(pictured(true, false, 16).0 == level, "passes.caustics.enabled = false");
    let want = gathered(&scene, towards, sun, (depth, half), &view);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let rms = |values: &mut dyn Iterator<Item = f64>| {
        (values.map(|v| v * v).sum::<f64>() / want.len() as f64).sqrt()
    };
    let contrast = rms(&mut want.iter().map(|v| v - mean(&want)));
    let greatest = |values: &[f64]| values.iter().fold(0f64, |a, &b| a.max(b));
    println!(
        "light deviates by {contrast:.3} (rms), mean {:.4}, greatest {:.2}",
        mean(&want),
        greatest(&want)
    );
    let mut offs = Vec::new();
    for (resolution, max) in [(512, 0.12), (2048, 0.08)] {
        let (bright, _) = pictured(true, true, resolution);
        let got: Vec<f64> = bright.iter().zip(&level).map(|(a, b)| a / b).collect();
        let off = rms(&mut got.iter().zip(&want).map(|(a, b)| a - b));
        println!(
            "{resolution} texels: off by {off:.4} (rms), mean {:.4}, greatest {:.2}",
            mean(&got),
            greatest(&got)
        );
        offs.push((off, max));
        assert!((mean(&got) / mean(&want) - 1.0).abs() < 0.005, "{} {}", mean(&got), mean(&want));
    }
    assert!(offs.iter().all(|(off, max)| off < &(max * contrast)), "{offs:?}");
}

/// `SUNNY16_PICTURES=DIR cargo test --release --test gpu water:: -- --ignored` writes the pictures
/// of docs/water.md: the pool without caustics, with them, and by the path tracer.
#[test]
#[ignore = "minutes; writes pictures"]
fn pictures_of_caustics() {
    let (Some(guard), Some(_)) = (gpu(), std::env::var_os("SUNNY16_PICTURES")) else { return };
    let mut renderer = guard.renderer();
    let (width, height) = (400, 300);
    let projection =
        Projection::Perspective { vertical_fov: 0.75, aspect: None, near: 0.1, far: None };
    let pose = look_at_transform(DVec3::new(-0.6, 2.2, 1.8), DVec3::new(-0.1, -0.6, -0.1));
    let view = View::new(pose, &projection, width, height);
    let exposure = exposure_for(5000.0, 0.6);
    let waves = WaterSettings {
        slope: 0.04,
        slope_still: 0.04,
        tile: 4.0,
        shore: 0.0,
        ..WaterSettings::default()
    };
    let write = |name: &str, pixels: &[DVec3]| {
        save_ppm(&format!("caustics-{name}"), &clipped(pixels, exposure), width as usize);
    };
    for (name, caustics) in [("without", false), ("with", true)] {
        let scene = pool(&WaterSettings { caustics, ..waves.clone() }, 0.015);
        let shadows = traced_shadows(32);
        let settings = RenderSettings {
            exposure,
            shadows,
            caustics: CausticSettings { resolution: 1024, ..CausticSettings::default() },
            ..RenderSettings::default()
        };
        let nits = picture(&mut renderer, &scene, &view, &settings).nits;
        write(name, &doubles(&nits));
    }
    let scene = pool(&waves, 0.015);
    let samples = std::env::var("SUNNY16_SAMPLES")
        .ok()
        .and_then(|samples| samples.parse().ok())
        .unwrap_or(512);
    let size = (width as usize, height as usize);
    let film = film(
        &scene,
        (pose, projection),
        size,
        FilmSettings { path: of_bounces(8), ..FilmSettings::default() },
        samples,
    );
    write("path", &film.mean(|parts| parts.total()));
}
