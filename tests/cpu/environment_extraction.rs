//! Lights extracted from environment maps, against sums over the texels.

use std::{f64::consts::PI, path::Path};

use crate::common::planes;
use glam::{DQuat, DVec3};
use sunny16::{
    photometry::{
        color::luminance,
        environment::{Extraction, ExtractionLimits, RadianceMap, RowMapping},
        lights::Emitter,
    },
    scene::{
        Note, Scene,
        look::{Look, LookError},
    },
};

const LIMITS: ExtractionLimits =
    ExtractionLimits { max_lights: 8, max_radius: 0.26, threshold: 10.0, min_part: 0.01 };

/// Illuminance (lx per channel) of a plane by a map: the sum over all texels.
fn by_map(map: &RadianceMap, normal: DVec3) -> DVec3 {
    let rows = map.texels().chunks_exact(map.width()).enumerate();
    rows.map(|(y, row)| {
        let texels = row
            .iter()
            .enumerate()
            .map(|(x, texel)| texel.as_dvec3() * normal.dot(map.texel_direction(x, y)).max(0.0));
        texels.sum::<DVec3>() * map.texel_solid_angle(y)
    })
    .sum()
}

/// Illuminance of a plane by a disk, by points of equal solid angle.
fn by_disk(towards: DVec3, lux: DVec3, radius: f64, normal: DVec3) -> DVec3 {
    let count = 20_000;
    let turn = DQuat::from_rotation_arc(DVec3::Z, towards);
    let cosines = (0..count).map(|i| {
        let part = (f64::from(i) + 0.5) / f64::from(count);
        let cosine = 1.0 - part * (1.0 - radius.cos());
        let (sin, cos) = (f64::from(i) * 2.399_963_229_728_653).sin_cos();
        let sine = (1.0 - cosine * cosine).sqrt();
        normal.dot(turn * DVec3::new(sine * cos, sine * sin, cosine)).max(0.0)
    });
    let mean = cosines.sum::<f64>() / f64::from(count);
    // Luminance times solid angle of the disk.
    lux / (PI * radius.sin().powi(2)) * (2.0 * PI * (1.0 - radius.cos())) * mean
}

/// Integral of luminance over all directions (nit sr per channel).
fn total(map: &RadianceMap) -> DVec3 {
    let rows = map.texels().chunks_exact(map.width()).enumerate();
    rows.map(|(y, row)| row.iter().map(|t| t.as_dvec3()).sum::<DVec3>() * map.texel_solid_angle(y))
        .sum()
}

/// Greatest relative change of the illuminance of the eight planes, and of the map's whole light.
fn changes(before: &RadianceMap, after: &Extraction) -> [f64; 2] {
    let planes = planes().map(|normal| {
        let disks: DVec3 = after
            .lights
            .iter()
            .map(|l| by_disk(l.towards, l.illuminance, l.angular_radius, normal))
            .sum();
        let [was, is] = [by_map(before, normal), by_map(&after.map, normal) + disks];
        ((is - was) / was).abs().max_element()
    });
    let disks: DVec3 =
        after.lights.iter().map(|l| l.illuminance * 2.0 / (1.0 + l.angular_radius.cos())).sum();
    let [was, is] = [total(before), total(&after.map) + disks];
    let kept = (luminance(is) / luminance(was) - 1.0).abs();
    [planes.into_iter().fold(0.0, f64::max), kept]
}

/// A sky of 3000 to 6000 nits with disks of a direction, angular radius (rad) and luminance.
fn sky(width: usize, disks: &[(DVec3, f64, DVec3)]) -> RadianceMap {
    RadianceMap::from_fn(width, width / 2, RowMapping::Linear, |d| {
        let disk = disks.iter().find(|(towards, radius, _)| d.dot(*towards) > radius.cos());
        disk.map_or(DVec3::new(0.8, 1.0, 1.3) * (4500.0 + 1500.0 * d.y), |(.., nits)| *nits)
    })
    .unwrap()
}

fn direction(azimuth: f64, elevation: f64) -> DVec3 {
    let ((sin_a, cos_a), (sin_e, cos_e)) =
        (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
    DVec3::new(cos_e * sin_a, sin_e, -cos_e * cos_a)
}

#[test]
fn a_sun_is_extracted_anywhere_with_its_energy() {
    let warm = DVec3::new(1.2, 1.0, 0.7) * 5e7;
    let radius = 1.5f64.to_radians();
    // Also at both poles, near one, and on the seam of the map.
    for (azimuth, elevation) in
        [(40.0, 35.0), (0.0, 90.0), (70.0, -90.0), (200.0, 89.0), (180.0, 10.0), (-179.9, -30.0)]
    {
        let sun = direction(azimuth, elevation);
        let map = sky(720, &[(sun, radius, warm)]);
        let out = map.extract_lights(LIMITS);
        let [light] = out.lights.as_slice() else { panic!("{azimuth} {elevation}: {out:?}") };
        let [planes, kept] = changes(&map, &out);
        println!("sun at {azimuth}, {elevation}: planes {planes:.2e}, total {kept:.1e}");
        // The horizon of planes cuts the suns at the poles.
        assert!(planes < 0.005 && kept < 1e-5, "{azimuth} {elevation}: {planes} {kept}");
        assert!(light.towards.dot(sun) > 0.1f64.to_radians().cos(), "{}", light.towards);
        // A disk of the solid angle of its texels, which are half a degree wide.
        let drawn: f64 = (0..360)
            .flat_map(|y| (0..720).map(move |x| (x, y)))
            .filter(|&(x, y)| map.texel_direction(x, y).dot(sun) > radius.cos())
            .map(|(_, y)| map.texel_solid_angle(y))
            .sum();
        let drawn = (1.0 - drawn / (2.0 * PI)).acos();
        assert!((light.angular_radius / drawn - 1.0).abs() < 0.05, "{}", light.angular_radius);
        let color = light.illuminance / luminance(light.illuminance);
        assert!((color - warm / luminance(warm)).abs().max_element() < 1e-3, "{color}");
        // Nothing of it is left.
        let brightest =
            out.map.texels().iter().map(|t| luminance(t.as_dvec3())).fold(0.0, f64::max);
        assert!(brightest < 6500.0, "{brightest}");
        let part = 1.0 - luminance(total(&out.map)) / luminance(total(&map));
        assert!((light.part - part).abs() < 1e-5, "{} {part}", light.part);
    }
}

#[test]
fn neighboring_lights_are_one_and_separate_lights_are_several() {
    let bright = DVec3::splat(2e6);
    let radius = 1f64.to_radians();
    let of = |apart: f64| {
        let disks = [direction(0.0, 30.0), direction(apart, 30.0)].map(|d| (d, radius, bright));
        let map = sky(720, &disks);
        let out = map.extract_lights(LIMITS);
        let [planes, kept] = changes(&map, &out);
        assert!(planes < 0.01 && kept < 1e-5, "{apart}: {planes} {kept}");
        out.lights
    };
    let [one] = *of(1.5) else { panic!("two") };
    assert!(one.towards.dot(direction(0.75, 30.0)) > 0.1f64.to_radians().cos());
    let [first, second] = *of(8.0) else { panic!("not two") };
    let ends = [first.towards, second.towards].map(|d| d.dot(direction(0.0, 30.0)));
    assert!(ends[0].max(ends[1]) > 0.1f64.to_radians().cos() && ends[0].min(ends[1]) < 0.995);
    // Two peaks with a ridge of a third between them are two lights; of two thirds, one.
    for (ridge, count) in [(0.3, 2), (0.7, 1)] {
        let map = RadianceMap::from_fn(720, 360, RowMapping::Linear, |d| {
            let x = d.x.atan2(-d.z).to_degrees();
            let inside = d.y.asin().to_degrees().abs() < 1.0 && x.abs() < 3.0;
            let nits = if x.abs() < 1.0 { ridge * 1e6 } else { 1e6 };
            DVec3::splat(if inside { nits } else { 100.0 })
        })
        .unwrap();
        assert_eq!(map.extract_lights(LIMITS).lights.len(), count, "{ridge}");
    }
}

#[test]
fn the_strongest_lights_come_first_and_the_rest_stays() {
    let lamps = [(0.0, 1e6), (60.0, 4e6), (120.0, 2e6), (-90.0, 0.5e6)];
    let disks = lamps.map(|(azimuth, nits)| (direction(azimuth, 20.0), 0.03, DVec3::splat(nits)));
    let map = sky(512, &disks);
    let out = map.extract_lights(ExtractionLimits { max_lights: 2, ..LIMITS });
    let azimuths: Vec<f64> =
        out.lights.iter().map(|l| l.towards.x.atan2(-l.towards.z).to_degrees().round()).collect();
    assert_eq!(azimuths, [60.0, 120.0]);
    assert!(luminance(out.map.sample(disks[0].0).as_dvec3()) > 9e5);
    assert!(luminance(out.map.sample(disks[1].0).as_dvec3()) < 7e3);
    let [planes, kept] = changes(&map, &out);
    assert!(planes < 0.01 && kept < 1e-5, "{planes} {kept}");
}

#[test]
fn maps_without_a_peak_are_unchanged() {
    let none = [
        sky(128, &[]),
        // A spark with little light.
        sky(128, &[(direction(10.0, 10.0), 0.02, DVec3::splat(1e5))]),
        RadianceMap::from_fn(64, 32, RowMapping::Linear, |_| DVec3::ZERO).unwrap(),
        RadianceMap::from_fn(64, 32, RowMapping::SquareRoot, |_| DVec3::splat(1e3)).unwrap(),
    ];
    for map in none {
        let out = map.extract_lights(LIMITS);
        assert!(out.lights.is_empty() && out.wide == 0 && out.map == map, "{:?}", out.lights);
    }
    // A window of 60 degrees is no disk.
    let map = sky(256, &[(DVec3::X, 0.5, DVec3::splat(1e6))]);
    let out = map.extract_lights(LIMITS);
    assert!(out.lights.is_empty() && out.wide == 1 && out.map == map);
    let wider = map.extract_lights(ExtractionLimits { max_radius: 0.6, ..LIMITS });
    assert!((wider.lights[0].angular_radius / 0.5 - 1.0).abs() < 0.02, "{:?}", wider.lights);
}

#[test]
fn the_greatest_luminances_give_finite_lights() {
    let map = sky(256, &[(direction(30.0, 50.0), 0.05, DVec3::splat(f64::INFINITY))]);
    let out = map.extract_lights(LIMITS);
    let [light] = out.lights.as_slice() else { panic!("{:?}", out.lights) };
    assert!(light.illuminance.is_finite() && luminance(light.illuminance) > 1e9);
    // Black but for one texel.
    let mut texels = vec![glam::Vec3::ZERO; 64 * 32];
    texels[64 * 9 + 63] = glam::Vec3::splat(1e4);
    let map = RadianceMap::new(64, 32, RowMapping::Linear, texels).unwrap();
    let out = map.extract_lights(LIMITS);
    let [light] = out.lights.as_slice() else { panic!("{:?}", out.lights) };
    assert!(total(&out.map) == DVec3::ZERO && (light.part - 1.0).abs() < 1e-9);
    let [_, kept] = changes(&map, &out);
    assert!(kept < 1e-6, "{kept}");
}

fn write(file: &Path, map: &RadianceMap) {
    let nits = |x: usize, y: usize| {
        let texel = map.texels()[y * map.width() + x];
        (texel.x, texel.y, texel.z)
    };
    exr::prelude::write_rgb_file(file, map.width(), map.height(), nits).unwrap();
}

fn applied(settings: &[&str]) -> Scene {
    let mut scene = Scene::default();
    Look::of(settings).unwrap().apply(&mut scene).unwrap();
    scene
}

/// The world direction to a light, and the light's lux.
fn suns(scene: &Scene) -> Vec<(&str, DVec3, f64)> {
    let lights = scene.nodes.iter().filter_map(|node| Some((node, scene.lights.get(node.light?)?)));
    lights
        .map(|(node, light)| {
            let lux = light.source.lux(1.0).get() * light.color_luminance();
            (light.name.as_str(), node.local.z_axis.truncate(), lux)
        })
        .collect()
}

#[test]
fn a_look_extracts_scales_turns_and_changes_the_lights() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sky.exr");
    let (sun, lamp) = (direction(30.0, 40.0), direction(-60.0, 20.0));
    let map = sky(256, &[(sun, 0.03, DVec3::splat(4e6)), (lamp, 0.03, DVec3::splat(2e6))]);
    write(&file, &map);
    let file = format!("environment.file={}", file.display());
    let by = |more: &[&str]| applied(&[&[file.as_str()], more].concat());
    assert!(by(&["environment.extract=off"]).lights.is_empty());
    // By default those that rays would miss: here both, without a lamp of a few percent.
    assert_eq!(suns(&by(&[])).len(), 2);
    assert_eq!(suns(&by(&["environment.extract=auto"])).len(), 2);
    let even = dir.path().join("even.exr");
    write(&even, &sky(256, &[(lamp, 0.03, DVec3::splat(2e4))]));
    let even = applied(&[format!("environment.file={}", even.display()).as_str()]);
    assert!(even.lights.is_empty() && even.notes.is_empty(), "{:?}", even.notes);

    let lit = by(&["environment.extract=lights", "environment.rotation=90"]);
    let [(first, to_sun, lux), (second, ..)] = *suns(&lit) else { panic!("{:?}", suns(&lit)) };
    assert_eq!([first, second], ["environment.sun", "environment.light_2"]);
    // Clockwise from above: 30 degrees are 120.
    assert!(to_sun.dot(direction(120.0, 40.0)) > 0.3f64.to_radians().cos(), "{to_sun}");
    assert!((lux / (4e6 * PI * 0.03f64.sin().powi(2)) - 1.0).abs() < 0.1, "{lux}");
    let note = &lit.notes[0];
    assert!(note.location == "environment.extract" && note.message.contains("environment.sun"));

    let one = by(&["environment.extract=sun"]);
    assert_eq!(suns(&one).len(), 1);
    assert!(
        matches!(one.lights[0].emitter(), Emitter::Sun { angular_radius } if angular_radius > 0.02)
    );

    // Map and light together give the illuminance that is set, on level ground.
    let scaled = by(&["environment.extract=sun", "environment.lux=800"]);
    let (_, to_sun, lux) = suns(&scaled)[0];
    let level = scaled.environment.as_ref().unwrap().map.illuminance().get() + lux * to_sun.y;
    assert!((level / 800.0 - 1.0).abs() < 1e-3, "{level}");

    // Lights are addressed by their names.
    let path = "lights.environment.sun.lux=5000";
    let changed = by(&["environment.extract=sun", path, "lights.environment.sun.shadow=false"]);
    let (_, _, lux) = suns(&changed)[0];
    assert!((lux - 5000.0).abs() < 1.0 && !changed.lights.last().unwrap().shadow, "{lux}");

    // An override of a light that is not extracted stays in the look, with a note.
    let kept = by(&["environment.extract=off", path]);
    assert!(suns(&kept).is_empty());
    let is_of_light = |note: &Note| note.location == "lights.environment.sun";
    assert!(kept.notes.iter().any(is_of_light), "{:?}", kept.notes);
    let unknown = ["lights.environment.lamp.lux=5000"];
    let unknown = Look::of(unknown).unwrap().apply(&mut Scene::default());
    assert!(matches!(unknown, Err(LookError::UnknownLight { .. })), "{unknown:?}");

    // A note says that nothing is extracted.
    let notes = |scene: Scene| scene.notes.into_iter().map(|n| n.message).collect::<String>();
    let high = notes(by(&["environment.extract=sun", "environment.extract_threshold=10000"]));
    assert!(high.contains("environment.extract_threshold"), "{high}");
    let none = notes(applied(&["environment.extract=sun", "environment.sun.elevation=40"]));
    assert!(none.contains("environment.file"), "{none}");
}
