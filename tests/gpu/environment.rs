//! Environment maps, sky, sun and moon on the device.

use std::{f64::consts::PI, path::Path, sync::Arc};

use crate::common::planes;
use crate::common::traced::{film, of_bounces};
use crate::common::{
    Brdf, Place, even, exposed, exposure_for, nits, perspective, pixel_of, pixel_ray, relative,
    renderer,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    camera::Exposure,
    frame::{RenderSettings, RenderedImage, Renderer},
    gpu_scene::View,
    photometry::{
        Ev100,
        color::luminance,
        environment::{RadianceMap, RowMapping, dfg::specular_scale_bias},
    },
    reference::FilmSettings,
    scene::{
        Environment, Material, Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        environment,
        look::Look,
        procedural::shapes,
    },
};

fn around(map: RadianceMap, rotation: f64) -> Option<Environment> {
    Some(Environment { map: Arc::new(map), rotation, origin: "test".into() })
}

fn sphere(material: Material) -> Scene {
    let mut builder = SceneBuilder::new("sphere");
    builder.place(shapes::uv_sphere(1.0, 96, 48), material, DMat4::IDENTITY);
    builder.build().unwrap()
}

fn empty() -> Scene {
    // Something stands behind the camera, so that the scene has a size.
    let mut builder = SceneBuilder::new("sky");
    builder.place(
        shapes::plane(Vec2::splat(1.0), 1, 1),
        dielectric("gray", Vec3::splat(0.18), 1.0),
        DVec3::new(0.0, -100.0, 0.0),
    );
    builder.build().unwrap()
}

fn look_at_sky(settings: &[&str]) -> Scene {
    let mut scene = empty();
    let look = Look::of(settings).unwrap();
    look.apply(&mut scene).unwrap();
    scene
}

fn shot(renderer: &mut Renderer, scene: &Scene, view: &View, exposure: Exposure) -> RenderedImage {
    let settings = RenderSettings { exposure, ..RenderSettings::default() };
    crate::common::picture(renderer, scene, view, &settings)
}

fn at_ev(ev: f64) -> Exposure {
    Exposure::from_ev100(Ev100(ev)).unwrap()
}

/// A sphere in uniform light shows its directional albedo everywhere.
#[test]
fn white_furnace() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let view = perspective(DVec3::new(0.0, 0.0, 4.0), DVec3::ZERO, 0.6, 0.01, (64, 64));
    let light = 250.0;
    for (metallic, roughness, base) in [
        (0.0, 1.0, 1.0),
        (0.0, 0.4, 0.9),
        (0.0, 0.05, 0.5),
        (1.0, 1.0, 1.0),
        (1.0, 0.5, 0.9),
        (1.0, 0.2, 1.0),
        (0.5, 0.7, 0.8),
    ] {
        let mut material = dielectric("white", Vec3::splat(base), roughness);
        material.metallic = metallic;
        let stored = Brdf::of(&material);
        let mut scene = sphere(material);
        scene.environment = even(light);
        let picture = shot(&mut renderer, &scene, &view, exposure_for(light, 0.95));
        let (mut worst, mut min) = (0f64, f64::MAX);
        for (x, y) in [(32, 32), (40, 30), (20, 38), (32, 48), (32, 52), (32, 56), (8, 32)] {
            let (from, along) = pixel_ray(&view, x, y);
            let half = from.dot(along);
            let square = half * half - from.length_squared() + 1.0;
            if square <= 0.0 {
                continue;
            }
            let normal = from + along * (-half - square.sqrt());
            let nv = -normal.dot(along);
            // The diffuse part by quadrature over light directions, the specular part over visible
            // normals.
            let (mut diffuse, steps) = (0.0, 160);
            for i in 0..steps {
                let u = (f64::from(i) + 0.5) / f64::from(steps);
                for j in 0..steps {
                    let a = 2.0 * PI * (f64::from(j) + 0.5) / f64::from(steps);
                    let l = DVec3::new(u.sqrt() * a.cos(), u.sqrt() * a.sin(), (1.0 - u).sqrt());
                    let v = DVec3::new((1.0 - nv * nv).sqrt(), 0.0, nv);
                    diffuse += 1.0 - crate::common::dielectric_fresnel(l, v);
                }
            }
            diffuse *= stored.base.x * (1.0 - stored.metallic) / f64::from(steps * steps);
            let (scale, bias) = specular_scale_bias(nv, stored.roughness, 256);
            let f0 = 0.04 + (stored.base.x - 0.04) * stored.metallic;
            let want = light * (diffuse + f0 * scale + bias);
            let got = nits(&picture, x, y).y;
            worst = worst.max((got / want - 1.0).abs());
            min = min.min(nv);
            assert!(got < light * 1.001, "more light than came: {got}");
        }
        println!(
            "metallic {metallic} roughness {roughness}: {:.2} %, cosines down to {min:.2}",
            worst * 100.0
        );
        assert!(worst < 0.01 * guard.slack(), "metallic {metallic} roughness {roughness}: {worst}");
    }
}

/// A studio with a bright window, which has no smooth closed form.
fn studio() -> RadianceMap {
    RadianceMap::from_fn(256, 128, RowMapping::Linear, |d| {
        let window = if d.z > 0.5 && d.y > 0.2 && d.x.abs() < 0.4 { 4000.0 } else { 0.0 };
        DVec3::new(
            120.0 + 100.0 * d.y + window,
            120.0 + 80.0 * d.x + window,
            150.0 - 100.0 * d.y + window,
        )
    })
    .unwrap()
}

/// Diffuse light of each normal against the sum over every texel.
#[test]
fn irradiance_against_the_sum() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let map = studio();
    let material = dielectric("matte", Vec3::splat(0.8), 1.0);
    let stored = Brdf::of(&material);
    let mut scene = sphere(material);
    for rotation in [0.0, 1.0] {
        scene.environment = around(map.clone(), rotation);
        for eye in [DVec3::new(0.0, 0.5, 4.0), DVec3::new(-3.0, -2.0, -1.0)] {
            let view = perspective(eye, DVec3::ZERO, 0.6, 0.01, (48, 48));
            let settings = RenderSettings {
                aovs: vec![sunny16::frame::Aov::DirectDiffuse, crate::common::NORMAL],
                ..exposed(2000.0, 0.95)
            };
            let picture = crate::common::picture(&mut renderer, &scene, &view, &settings);
            let (mut worst, mut max) = (0f64, 0f64);
            for (x, y) in [(24, 24), (30, 20), (14, 26), (24, 38), (36, 30)] {
                let normal = crate::common::aov3(&picture, crate::common::NORMAL, x, y).normalize();
                let mut e = DVec3::ZERO;
                for row in 0..map.height() {
                    for column in 0..map.width() {
                        let d = glam::DQuat::from_rotation_y(-rotation)
                            * map.texel_direction(column, row);
                        let texel = map.texels()[row * map.width() + column].as_dvec3();
                        e += texel * normal.dot(d).max(0.0) * map.texel_solid_angle(row);
                    }
                }
                let nv = -normal.dot(pixel_ray(&view, x, y).1);
                // The Fresnel-weighted diffuse part in uniform light.
                let mut left = 0.0;
                for i in 0..10_000 {
                    let (u, a) = ((f64::from(i) + 0.5) / 1e4, f64::from(i) * 2.399_963);
                    let l = DVec3::new(u.sqrt() * a.cos(), u.sqrt() * a.sin(), (1.0 - u).sqrt());
                    left +=
                        (1.0 - crate::common::dielectric_fresnel(
                            l,
                            DVec3::new((1.0 - nv * nv).sqrt(), 0.0, nv),
                        )) / 1e4;
                }
                let want = e * stored.base * left / PI;
                let got = crate::common::aov3(&picture, sunny16::frame::Aov::DirectDiffuse, x, y);
                worst = worst.max((got - want).abs().max_element());
                max = max.max(want.max_element());
            }
            println!("rotation {rotation}: {:.3} % of the greatest", worst / max * 100.0);
            assert!(worst < 0.01 * max * guard.slack(), "{worst} of {max}");
        }
    }
}

/// The background is the rotated map in nits; a mirror shows the same.
#[test]
fn background_and_mirror_show_the_map() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for rows in [RowMapping::Linear, RowMapping::SquareRoot] {
        let map = RadianceMap::from_fn(256, 128, rows, |d| {
            DVec3::new(2.0 + d.x, 2.0 + d.y, 2.0 + d.z) * 100.0
        })
        .unwrap();
        let mut mirror = dielectric("mirror", Vec3::ONE, 0.0);
        mirror.metallic = 1.0;
        let mut scene = sphere(mirror);
        let rotation = 0.7;
        scene.environment = around(map.clone(), rotation);
        let view = perspective(DVec3::new(1.0, 0.5, 4.0), DVec3::ZERO, 1.2, 0.01, (64, 48));
        let picture = shot(&mut renderer, &scene, &view, exposure_for(300.0, 0.95));
        let turned = |d: DVec3| map.sample(glam::DQuat::from_rotation_y(rotation) * d).as_dvec3();
        for (x, y) in [(2, 2), (60, 3), (5, 44), (58, 40)] {
            let got = nits(&picture, x, y);
            assert!(
                relative(got, turned(pixel_ray(&view, x, y).1)) < 2e-3,
                "{rows:?} {x} {y}: {got}"
            );
        }
        for at in [DVec3::new(0.0, 0.0, 1.0), DVec3::new(0.5, 0.3, 0.8), DVec3::new(0.3, -0.5, 0.8)]
        {
            let (x, y) = pixel_of(&view, at.normalize()).unwrap();
            let (from, along) = pixel_ray(&view, x, y);
            let half = from.dot(along);
            let normal =
                from + along * (-half - (half * half - from.length_squared() + 1.0).sqrt());
            let want = turned(along - normal * 2.0 * normal.dot(along));
            // The sphere has 96 by 48 faces, whose interpolated normals have small errors.
            assert!(
                relative(nits(&picture, x, y), want) < 0.02,
                "{x} {y}: {} {want}",
                nits(&picture, x, y)
            );
        }
    }
}

/// Maximum difference (10-bit codes of the sRGB curve) of a pixel from the mean of its neighbors in
/// its row.
fn greatest_step(picture: &RenderedImage, skip: impl Fn(usize, usize) -> bool) -> f64 {
    let white = picture.exposure.saturation_luminance().get();
    let code = |x: usize, y: usize| {
        1023.0
            * sunny16::photometry::color::srgb_oetf(
                (luminance(nits(picture, x, y)) / white).clamp(0.0, 1.0),
            )
    };
    let mut worst = 0f64;
    for y in 0..picture.height {
        for x in 1..picture.width - 1 {
            if !skip(x, y) {
                worst =
                    worst.max((code(x, y) - f64::midpoint(code(x - 1, y), code(x + 1, y))).abs());
            }
        }
    }
    worst
}

/// The sun's disk of 1e9 nits at a day's and a night's exposure, and a moonlit night: finite,
/// bright where it should be, no banding.
#[test]
fn sun_disk_and_night_survive_half_floats() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let day = look_at_sky(&["environment.sun.elevation=30", "environment.sun.azimuth=0"]);
    let sun = day.lights.last().unwrap();
    let disk = sun.source.nits().unwrap().get();
    assert!((1.0e9..2.0e9).contains(&disk), "{disk}");
    let towards = DVec3::new(0.0, 30f64.to_radians().sin(), -30f64.to_radians().cos());
    let view = perspective(DVec3::ZERO, towards, 0.5, 0.01, (161, 121));
    for ev in [15.0, 5.0] {
        let picture = shot(&mut renderer, &day, &view, at_ev(ev));
        let all_finite = picture.nits.iter().flatten().all(|v| v.is_finite() && *v >= 0.0);
        assert!(all_finite, "EV {ev}: a pixel is not finite");
        let center = luminance(nits(&picture, 80, 60));
        let limit = 65504.0 / at_ev(ev).multiplier();
        assert!(center > 0.98 * disk.min(limit), "EV {ev}: {center} of {disk}");
        assert!(
            picture.nits.iter().all(|n| n[0] > 0.0 && n[2] > 0.0),
            "EV {ev}: a black pixel in the sky"
        );
        let far = luminance(nits(&picture, 2, 2));
        assert!((500.0..60_000.0).contains(&far), "{far}");
        let step = greatest_step(&picture, |x, y| (x as f64 - 80.0).hypot(y as f64 - 60.0) < 12.0);
        println!(
            "EV {ev}: disk {center:.3e} nit of {disk:.3e}, sky {far:.0} nit, greatest step {step:.2} of 1023"
        );
        assert!(step < 1.0, "EV {ev}: {step}");
    }
    // The disk has the sun's size: 0.533 degrees.
    let close = perspective(DVec3::ZERO, towards, 0.02, 0.01, (200, 200));
    let picture = shot(&mut renderer, &day, &close, at_ev(25.0));
    let bright = picture.nits.iter().filter(|n| f64::from(n[1]) > disk / 2.0).count() as f64;
    let pixel = (2.0 * 0.01f64.tan() / 200.0).powi(2);
    let solid_angle = 2.0 * PI * (1.0 - 0.2666f64.to_radians().cos());
    assert!((bright * pixel / solid_angle - 1.0).abs() < 0.01, "{}", bright * pixel / solid_angle);

    let night = look_at_sky(&["environment.moon.elevation=40", "environment.moon.azimuth=180"]);
    let view = perspective(DVec3::ZERO, DVec3::new(0.3, 0.6, -1.0), 1.0, 0.01, (160, 120));
    let picture = shot(&mut renderer, &night, &view, at_ev(-6.0));
    let values: Vec<f64> =
        picture.nits.iter().map(|n| luminance(Vec3::from_array(*n).as_dvec3())).collect();
    let (min, max) = values.iter().fold((f64::MAX, 0f64), |(a, b), v| (a.min(*v), b.max(*v)));
    let step = greatest_step(&picture, |_, _| false);
    println!("moonlit sky: {min:.2e} to {max:.2e} nit, greatest step {step:.2} of 1023");
    assert!(min > 5e-4 && max < 1.0, "{min} {max}");
    assert!(step < 1.0, "{step}");
}

/// A sun centered on the horizon is half a disk at full luminance. It lights a vertical card with
/// half its light, exactly once: shadow rays sample the visible half.
#[test]
fn horizon_clips_the_setting_sun() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = [
        "environment.sun.elevation=0",
        "environment.sun.azimuth=0",
        "environment.sky.enabled=false",
    ];
    let scene = look_at_sky(&settings);
    let light = scene.lights.last().unwrap();
    let disk = light.source.nits().unwrap().get() * light.color_luminance();
    let view = perspective(DVec3::ZERO, DVec3::NEG_Z, 0.02, 0.01, (100, 100));
    let picture = shot(&mut renderer, &scene, &view, at_ev(20.0));
    let pixel = 2.0 * 0.01f64.tan() / 100.0;
    let half = 0.5 * PI * (0.2666f64.to_radians() / pixel).powi(2);
    let pinhole =
        Projection::Perspective { vertical_fov: 0.02, aspect: None, near: 0.01, far: None };
    let camera = look_at_transform(DVec3::ZERO, DVec3::NEG_Z);
    let settings_of_path = FilmSettings { path: of_bounces(0), ..FilmSettings::default() };
    let traced = film(&scene, (camera, pinhole), (100, 100), settings_of_path, 16);
    let traced = traced.mean(|parts| parts.total());
    let rasterized: Vec<DVec3> = (0..10_000).map(|i| nits(&picture, i % 100, i / 100)).collect();
    for (renderer, picture) in [("rasterizer", rasterized), ("path tracer", traced)] {
        let parts: Vec<f64> = picture.iter().map(|light| luminance(*light) / disk).collect();
        let full = parts.iter().filter(|part| (*part - 1.0).abs() < 0.01).count() as f64;
        let lit = parts.iter().filter(|part| **part > 0.01).count() as f64;
        let sum: f64 = parts.iter().sum();
        println!(
            "{renderer}: {full} pixels at full luminance, {lit} lit, sum {sum:.1} of {half:.1}"
        );
        assert!(full < half && full > 0.88 * half && lit > half && lit < 1.12 * half, "{renderer}");
        assert!((sum / half - 1.0).abs() < 0.01, "{renderer}: {sum}, not {half}");
    }

    let mut builder = SceneBuilder::new("card");
    let material = dielectric("card", Vec3::splat(0.18), 1.0);
    let stored = Brdf::of(&material);
    let material = builder.add_material(material);
    builder.place(
        shapes::plane(Vec2::splat(2.0), 1, 1),
        material,
        DMat4::from_rotation_x(-0.5 * PI),
    );
    // It hides the right half of the sun from the card's center; its sunlit side is not visible.
    let wall = builder.add_mesh("wall", shapes::plane(Vec2::new(4.0, 4.0), 1, 1), material);
    let beside =
        DMat4::from_translation(DVec3::new(2.0, 0.0, -8.0)) * DMat4::from_rotation_x(0.5 * PI);
    for hidden in [0.0, 0.5] {
        let mut scene = if hidden > 0.0 {
            builder.instance("wall", wall, beside);
            std::mem::replace(&mut builder, SceneBuilder::new("used")).build().unwrap()
        } else {
            builder.clone().build().unwrap()
        };
        let look = Look::of(settings).unwrap();
        look.apply(&mut scene).unwrap();
        let lux = scene.lights.last().unwrap().source.lux(1.0).get() * 0.5;
        let view = perspective(DVec3::new(-0.5, 0.5, -3.0), DVec3::ZERO, 0.001, 0.01, (16, 16));
        let settings = RenderSettings {
            aovs: vec![sunny16::frame::Aov::DirectDiffuse],
            shadows: sunny16::frame::ShadowSettings {
                samples: 64,
                ..sunny16::frame::ShadowSettings::default()
            },
            ..exposed(lux * 0.05, 0.9)
        };
        let picture = crate::common::picture(&mut renderer, &scene, &view, &settings);
        let mut got = 0.0;
        for i in 0..256 {
            got += luminance(crate::common::aov3(
                &picture,
                sunny16::frame::Aov::DirectDiffuse,
                i % 16,
                i / 16,
            )) / 256.0;
        }
        // The light's mean elevation is 4 / (3 pi) radii: its cosine is hardly affected.
        let v = DVec3::new(-0.5, 0.5, -3.0).normalize();
        let enters = 1.0 - crate::common::dielectric_fresnel(DVec3::NEG_Z, v);
        let want = stored.base.y / PI * lux * enters * (1.0 - hidden);
        println!("{hidden} hidden: {got:.3} nit, right {want:.3}");
        assert!((got / want - 1.0).abs() < 0.02, "{hidden}: {got}, not {want}");
    }
}

/// The sun's disk gives all its light, however few pixels it covers.
#[test]
fn sub_pixel_sun_conserves_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = [
        "environment.sun.elevation=30",
        "environment.sun.azimuth=0",
        "environment.sky.enabled=false",
    ];
    let day = look_at_sky(&settings);
    let light = day.lights.last().unwrap();
    let lux = light.source.lux(1.0).get() * light.color_luminance();
    let mut means = Vec::new();
    for width in [9u32, 17, 33, 65, 129, 513] {
        let mut sum = 0.0;
        // Sub-pixel positions of the mean. A disk of 24 pixels needs few: pixel centers in it
        // deviate by about 0.67 sqrt(12) of 450, 0.5 %, and their mean by half of that.
        let side = if width > 200 { 2 } else { 4 };
        for turn in 0..side * side {
            let at = |index: i32, offset: f64| f64::from(index) / f64::from(side) - offset;
            let (dx, dy) = (at(turn % side, 0.37), at(turn / side, 0.41));
            let towards = DVec3::new(0.0, 30f64.to_radians().sin(), -30f64.to_radians().cos());
            let pixel = 2.0 * 0.1f64.tan() / f64::from(width);
            let off = towards + DVec3::X * (dx * pixel) + DVec3::Y * (dy * pixel);
            let view = perspective(DVec3::ZERO, off, 0.2, 0.01, (width, width));
            let picture = shot(&mut renderer, &day, &view, at_ev(28.0));
            sum += picture
                .nits
                .iter()
                .map(|n| luminance(Vec3::from_array(*n).as_dvec3()))
                .sum::<f64>()
                * pixel
                * pixel;
        }
        means.push(sum / f64::from(side * side) / lux);
    }
    println!("the sun's light over its lux, by ever smaller pixels: {means:.3?}");
    assert!(means.iter().all(|mean| (mean - 1.0).abs() < 0.02), "{means:?}");
}

/// Sky and sun on a gray card sum to the lux that the sky states.
#[test]
fn a_card_under_the_sky() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("card");
    let material = dielectric("card", Vec3::splat(0.18), 1.0);
    let stored = Brdf::of(&material);
    builder.floor(10.0, material);
    let mut scene = builder.build().unwrap();
    let mut look = Look::default();
    for setting in
        ["environment.sun.elevation=45", "environment.sun.azimuth=135", "lights.sun.shadow=false"]
    {
        look.assign(setting).unwrap();
    }
    look.apply(&mut scene).unwrap();
    let map = &scene.environment.as_ref().unwrap().map;
    let (sky, sun) = (map.illuminance().get(), scene.lights.last().unwrap().source.lux(1.0).get());
    let view = perspective(DVec3::new(0.0, 5.0, 0.1), DVec3::ZERO, 0.5, 0.01, (32, 32));
    let settings = |aovs| RenderSettings { aovs, ..exposed(6000.0, 0.9) };
    let picture = crate::common::picture(
        &mut renderer,
        &scene,
        &view,
        &settings(vec![sunny16::frame::Aov::DirectDiffuse]),
    );
    let got = luminance(crate::common::aov3(&picture, sunny16::frame::Aov::DirectDiffuse, 16, 16));
    // From above nearly all light enters: the sun's part by its Fresnel term, the sky's by that of
    // uniform light, 0.9463.
    let sun_dir = DVec3::new(0.5, 0.5f64.sqrt(), 0.5);
    let entering = 1.0 - crate::common::dielectric_fresnel(sun_dir.normalize(), DVec3::Y);
    let want = stored.base.y / PI * (sun * 45f64.to_radians().sin() * entering + sky * 0.9463);
    println!(
        "card: {got:.0} nit, by the sky's own lux {want:.0} (sky {sky:.0} lx, sun {sun:.0} lx)"
    );
    assert!((got / want - 1.0).abs() < 0.01, "{got}, not {want}");
}

/// Colors and levels of the sky at every elevation of the sun, on the device.
#[test]
fn every_sun_elevation_gives_a_valid_sky() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = perspective(DVec3::ZERO, DVec3::new(0.0, 0.2, -1.0), 1.2, 0.01, (64, 48));
    let mut last = f64::MAX;
    for (elevation, ev) in [("80", 14.0), ("10", 13.0), ("-0.3", 9.0), ("-6", 2.0), ("-12", -5.0)] {
        let scene = look_at_sky(&[&format!("environment.sun.elevation={elevation}")]);
        let picture = shot(&mut renderer, &scene, &view, at_ev(ev));
        assert!(picture.nits.iter().flatten().all(|v| v.is_finite()), "{elevation}");
        let mean = picture
            .nits
            .iter()
            .map(|n| luminance(Vec3::from_array(*n).as_dvec3()).min(1e5))
            .sum::<f64>()
            / 3072.0;
        println!("sun {elevation}: mean {mean:.3e} nit");
        assert!(mean < last * 1.05 || elevation == "10", "{elevation}: {mean} after {last}");
        last = mean;
    }
}

#[test]
fn maps_from_files() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/hdri");
    let file = folder.join("pmndrs/lobby.hdr");
    if !file.is_file() {
        println!("skipped: {} is not there", file.display());
        return;
    }
    // Lossy DWAB with negative samples: a result, and if it is a map, a valid one.
    match environment::load(&folder.join("negative/studio_dwab.exr")) {
        Ok(loaded) => assert!(
            loaded.map.texels().iter().all(|texel| texel.is_finite() && texel.min_element() >= 0.0)
        ),
        Err(error) => assert!(error.file.ends_with("studio_dwab.exr"), "{error}"),
    }
    assert!(environment::load(&folder.join("spiaggia_di_mondello_1k.hdr")).is_ok());
    let mut scene = sphere(dielectric("matte", Vec3::splat(0.5), 0.6));
    let mut look = Look::default();
    look.assign(&format!("environment.file={}", file.display())).unwrap();
    look.assign("environment.lux=750").unwrap();
    look.assign("environment.extract=off").unwrap();
    look.apply(&mut scene).unwrap();
    assert!((scene.environment.as_ref().unwrap().map.illuminance().get() - 750.0).abs() < 0.1);
    let view = perspective(DVec3::new(0.0, 0.3, 4.0), DVec3::ZERO, 0.8, 0.01, (64, 64));
    let first = shot(&mut renderer, &scene, &view, exposure_for(300.0, 0.9));
    let again = shot(&mut renderer, &scene, &view, exposure_for(300.0, 0.9));
    assert_eq!(first.nits, again.nits, "the same input gives the same picture");
    assert!(first.nits.iter().flatten().all(|v| v.is_finite() && *v >= 0.0));
}

/// Illuminance of eight planes by a map with a sun, before and after the sun is extracted, by both
/// renderers and by the sum over the texels.
#[test]
fn an_extracted_sun_keeps_the_illuminance() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sky.exr");
    let sun = DVec3::new(0.4, 0.6, -0.7).normalize();
    let map = RadianceMap::from_fn(512, 256, RowMapping::Linear, |d| {
        let is_sun = d.dot(sun) > 0.02f64.cos();
        let sky = DVec3::new(0.7, 0.9, 1.4) * (3000.0 + 2000.0 * d.y);
        if is_sun { DVec3::new(1.1, 1.0, 0.8) * 2e7 } else { sky }
    })
    .unwrap();
    let texel = |x: usize, y: usize| {
        let nits = map.texels()[y * 512 + x];
        (nits.x, nits.y, nits.z)
    };
    exr::prelude::write_rgb_file(&file, 512, 256, texel).unwrap();
    let file = format!("environment.file={}", file.display());
    let looks = ["off", "sun"].map(|extract| {
        Look::of([file.as_str(), &format!("environment.extract={extract}")]).unwrap()
    });
    let mut worst = [0f64; 3];
    for normal in planes() {
        let sum: f64 = (0..map.height())
            .flat_map(|y| (0..map.width()).map(move |x| (x, y)))
            .map(|(x, y)| {
                let nits = luminance(map.texels()[y * 512 + x].as_dvec3());
                nits * map.texel_solid_angle(y) * normal.dot(map.texel_direction(x, y)).max(0.0)
            })
            .sum();
        let read = looks.each_ref().map(|look| {
            // A card that faces the camera.
            let mut builder = SceneBuilder::new("card");
            let pose = look_at_transform(DVec3::ZERO, -normal)
                * DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
            builder.place(
                shapes::plane(Vec2::splat(1.0), 1, 1),
                dielectric("gray", Vec3::splat(0.5), 1.0),
                pose,
            );
            let mut scene = builder.build().unwrap();
            look.apply(&mut scene).unwrap();
            let metered = sunny16::frame::incident::illuminance(
                &mut renderer,
                &scene,
                normal * 0.1,
                normal,
                sunny16::camera::exposure::Receptor::Flat,
                sunny16::settings::ShadowSettings::default(),
            );
            let view = (
                look_at_transform(normal, DVec3::ZERO),
                Projection::Perspective { vertical_fov: 0.3, aspect: None, near: 0.01, far: None },
            );
            let settings = FilmSettings { path: of_bounces(1), ..FilmSettings::default() };
            let film = film(&scene, view, (8, 8), settings, 256);
            let traced = film.mean(|light| light.total());
            let traced = traced.iter().map(|nits| luminance(*nits)).sum::<f64>() / 64.0;
            (metered.unwrap().get(), traced)
        });
        let [(before, traced), (after, traced_after)] = read;
        let changes = [before / sum - 1.0, after / sum - 1.0, traced_after / traced - 1.0];
        println!(
            "{normal}: {sum:.0} lx, {before:.0} to {after:.0} lx, {traced:.1} to {traced_after:.1} nit"
        );
        for (worst, change) in worst.iter_mut().zip(changes) {
            *worst = worst.max(change.abs());
        }
    }
    let [before, after, traced] = worst;
    println!("meter: {before:.4} before, {after:.4} after; path tracer: {traced:.4}");
    assert!(after < 0.01 && traced < 0.01, "{worst:?}");
    // The irradiance table interpolates between normals, and a sun is sharp.
    assert!(after < before, "{worst:?}");
}

/// Balls on a floor: metal above, plastic below, from smooth to rough.
fn balls() -> Scene {
    let mut builder = SceneBuilder::new("balls");
    builder.floor(60.0, dielectric("floor", Vec3::splat(0.2), 0.9));
    for i in 0..5 {
        for (row, metallic, base) in
            [(0, 0.0, Vec3::new(0.5, 0.1, 0.08)), (1, 1.0, Vec3::new(0.95, 0.93, 0.88))]
        {
            let mut material = dielectric("ball", base, 0.05 + 0.22 * i as f32);
            material.metallic = metallic;
            let place = DVec3::new(f64::from(i) - 2.0, 0.45, 1.1 - 1.2 * f64::from(row));
            builder.place(shapes::uv_sphere(0.45, 96, 48), material, place);
        }
    }
    builder.build().unwrap()
}

/// The pictures of docs/sky.md and docs/environment.md: `cargo test --test gpu
/// environment::pictures -- --ignored`.
#[test]
#[ignore = "writes docs/pictures"]
fn pictures() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let (width, height) = (480, 270);
    let view = perspective(
        DVec3::new(0.0, 1.5, 6.0),
        DVec3::new(0.0, 1.0, 0.0),
        0.75,
        0.01,
        (width, height),
    );
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/hdri/pmndrs/lobby.hdr");
    let file = format!("environment.file={}", map.display());
    let mut all: Vec<(&str, Vec<&str>, f64)> = vec![
        ("sky_noon", vec!["environment.sun.elevation=50", "environment.sun.azimuth=-60"], 14.5),
        ("sky_low", vec!["environment.sun.elevation=4", "environment.sun.azimuth=-8"], 12.0),
        ("sky_twilight", vec!["environment.sun.elevation=-5", "environment.sun.azimuth=10"], 3.0),
        ("sky_moon", vec!["environment.moon.elevation=15", "environment.moon.azimuth=12"], -3.5),
        (
            "sky_haze",
            vec![
                "environment.sun.elevation=30",
                "environment.sun.azimuth=15",
                "environment.sky.turbidity=7",
            ],
            15.0,
        ),
    ];
    if map.is_file() {
        all.push(("environment_map", vec![&file, "environment.lux=750"], 7.5));
    }
    for (name, settings, ev) in all {
        let mut scene = balls();
        let look = Look::of(settings).unwrap();
        look.apply(&mut scene).unwrap();
        let tone_mapper = sunny16::camera::ToneMapper::Agx;
        let settings =
            RenderSettings { exposure: at_ev(ev), tone_mapper, ..RenderSettings::default() };
        let picture = crate::common::picture(&mut renderer, &scene, &view, &settings);
        let times: Vec<String> = picture.times.iter().map(|time| format!("{time:?}")).collect();
        println!("{name}: {}", times.join(" "));
        let target = folder.join(format!("{name}.png"));
        sunny16::output::write_png(&target, picture.width, picture.height, &picture.display)
            .unwrap();
    }
}
