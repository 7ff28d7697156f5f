//! Irradiance volume against closed forms, and its updates.

use crate::common::{Place, aov3, even, exposed, perspective, renderer, traced_shadows};
use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use sunny16::{
    frame::{Aov, GiSettings, Readback, RenderSettings, RenderedImage, Renderer},
    gi::{dfg_lookup, dielectric_f0, dielectric_f90, diffuse_fraction, diffuse_lobe_weight},
    gpu::{Frames, GpuError},
    gpu_scene::{GpuScene, View},
    graph::{Graph, GraphCache},
    photometry::{Candela, Lumen},
    scene::{
        Material, Primitive, Scene,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
    settings::GiMethod,
};

fn probes(spacing: f64) -> GiSettings {
    GiSettings {
        enabled: true,
        method: GiMethod::Probes,
        probe_spacing: Some(spacing),
        probe_rays: 16_384,
        ..GiSettings::default()
    }
}

fn settings(gi: GiSettings, nits: f64) -> RenderSettings {
    RenderSettings {
        shadows: traced_shadows(4),
        gi,
        aovs: vec![Aov::IndirectDiffuse],
        ..exposed(nits, 0.18)
    }
}

fn upload(renderer: &mut Renderer, scene: &Scene, settings: &RenderSettings) -> GpuScene {
    let mut on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), scene, &settings.gi).unwrap();
    on_device
}

/// A closed room with this inner size (m) about the origin, of walls of 20 cm.
fn add_room(builder: &mut SceneBuilder, center: DVec3, size: DVec3, material: Material) {
    let material = builder.add_material(material);
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut wall = size + 0.4;
            wall[axis] = 0.2;
            let mut at = center;
            at[axis] += side * (0.5 * size[axis] + 0.1);
            builder.place(shapes::cuboid(wall.as_vec3()), material, at);
        }
    }
}

fn indirect(picture: &RenderedImage) -> Vec<DVec3> {
    picture.aovs[0].1.iter().map(|p| Vec3::from_slice(p).as_dvec3()).collect()
}

fn mean(picture: &RenderedImage) -> f64 {
    let all = indirect(picture);
    all.iter().map(|c| c.y).sum::<f64>() / all.len() as f64
}

/// Pictures of a moving view: each updates the volume once.
fn frames(
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    settings: &RenderSettings,
    count: usize,
) -> Vec<RenderedImage> {
    (0..count)
        .map(|_| {
            let pending = renderer.submit(scene, view, settings, Readback::ALL).unwrap();
            renderer.collect(pending).unwrap()
        })
        .collect()
}

/// In even light from everywhere each surface has the irradiance pi L, whatever its normal.
#[test]
fn even_environment_gives_pi_l_at_every_normal() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let nits = 250.0;
    let mut builder = SceneBuilder::new("ball in even light");
    let ball = dielectric("gray", Vec3::splat(0.5), 1.0);
    builder.place(shapes::icosphere(0.4, 4), ball, DVec3::new(0.1, 0.05, -0.2));
    let mut scene = builder.build().unwrap();
    scene.environment = even(nits);
    let settings = settings(probes(0.4), nits);
    let on_device = upload(&mut renderer, &scene, &settings);
    let (mut low, mut high) = (f64::MAX, 0.0f64);
    for from in [DVec3::new(0.3, 0.2, 1.3), DVec3::new(-1.2, -0.9, -0.9), DVec3::new(0.1, 1.4, 0.0)]
    {
        let view = perspective(from, DVec3::new(0.1, 0.05, -0.2), 0.7, 0.05, (24, 24));
        let picture = renderer.render(&on_device, &view, &settings).unwrap();
        let ball: Vec<f64> =
            indirect(&picture).into_iter().map(|c| c.y).filter(|y| *y > 0.0).collect();
        assert!(ball.len() > 100, "{} pixels of the ball", ball.len());
        // Toward the camera, Fresnel reflection takes 4 % and, at grazing angles, 2.7 % more.
        let shares = ball.iter().map(|got| got / (0.5 * 0.96 * nits));
        (low, high) = shares.fold((low, high), |(low, high), s| (low.min(s), high.max(s)));
    }
    println!("{low:.4} to {high:.4} of pi L");
    assert!(low > 0.98 - 0.027 && high < 1.02, "{low} {high}");
}

/// Probes inside of a block are off: counted, their darkness would reach its faces.
#[test]
fn probes_inside_of_a_block_change_nothing() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let nits = 250.0;
    let mut builder = SceneBuilder::new("block in even light");
    let gray = dielectric("gray", Vec3::splat(0.5), 1.0);
    builder.place(shapes::cuboid(Vec3::splat(1.5)), gray, DVec3::new(0.05, 0.1, -0.2));
    let mut scene = builder.build().unwrap();
    scene.environment = even(nits);
    let settings = settings(probes(0.4), nits);
    let on_device = upload(&mut renderer, &scene, &settings);
    for from in [DVec3::new(1.7, 1.6, 1.8), DVec3::new(-1.6, -1.2, -1.8)] {
        let view = perspective(from, DVec3::new(0.05, 0.1, -0.2), 0.6, 0.05, (24, 24));
        let picture = renderer.render(&on_device, &view, &settings).unwrap();
        let block: Vec<f64> =
            indirect(&picture).into_iter().map(|c| c.y).filter(|y| *y > 0.0).collect();
        let want = 0.5 * 0.96 * nits;
        let [low, high] = [f64::min as fn(f64, f64) -> f64, f64::max]
            .map(|pick| block.iter().copied().reduce(pick).unwrap_or(0.0) / want);
        println!("{} pixels of the block: {low:.4} to {high:.4}", block.len());
        assert!(block.len() > 100 && low > 0.96 && high < 1.02, "{low} {high}");
    }
}

/// A sphere seen from the inside.
fn hollow_sphere(radius: f32) -> Primitive {
    let mut sphere = shapes::icosphere(radius, 4);
    sphere.normals.iter_mut().for_each(|normal| *normal = -*normal);
    sphere.indices.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
    sphere
}

/// A light in the center of a sphere gives its wall the illuminance I / r^2; all bounces together
/// give rho / (1 - rho) of that.
#[test]
fn hollow_sphere_sums_all_bounces() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for base in [0.5f64, 0.8] {
        let (f0, f90) = (dielectric_f0(1.5, DVec3::ONE, 1.0), dielectric_f90(1.5, 1.0));
        let entry = dfg_lookup(0.7, 1.0);
        let wide = diffuse_lobe_weight(1.0, f0.max_element());
        let rho = base * diffuse_fraction(f0.max_element(), f90, entry.z)
            + (f0.x * entry.x + entry.y * f90) * wide;
        let mut builder = SceneBuilder::new("hollow sphere");
        let wall = dielectric("wall", Vec3::splat(base as f32), 1.0);
        builder.place(hollow_sphere(2.0), wall, DVec3::ZERO);
        builder.point_light_candela("light", Candela(1000.0), Vec3::ONE, DVec3::ZERO);
        let scene = builder.build().unwrap();
        let irradiance = 1000.0 / 4.0 * rho / (1.0 - rho);
        let want = base * 0.96 * irradiance / PI;
        let settings = settings(probes(0.7), want);
        let on_device = upload(&mut renderer, &scene, &settings);
        let view = perspective(
            DVec3::new(0.2, 0.1, 1.0),
            DVec3::new(0.0, -0.1, -2.0),
            1.0,
            0.05,
            (24, 24),
        );
        let picture = renderer.render(&on_device, &view, &settings).unwrap();
        let all = indirect(&picture);
        let mean = all.iter().map(|c| c.y).sum::<f64>() / all.len() as f64 / want;
        let center = aov3(&picture, Aov::IndirectDiffuse, 12, 12).y / want;
        println!("base {base}, reflectance {rho:.4}: mean {mean:.4}, center {center:.4}");
        assert!((mean - 1.0).abs() < 0.02 && (center - 1.0).abs() < 0.02, "{mean} {center}");
    }
}

/// Two closed rooms side by side share a wall of 20 cm, one is lit; or both are dark.
fn two_rooms(lumens: f64) -> Scene {
    let mut builder = SceneBuilder::new("two rooms");
    let white = dielectric("white", Vec3::splat(0.7), 1.0);
    for x in [-1.6, 1.6] {
        add_room(&mut builder, DVec3::new(x, 0.0, 0.0), DVec3::splat(3.0), white.clone());
    }
    builder.point_light_lumens("bulb", Lumen(lumens), Vec3::ONE, DVec3::new(-1.6, 1.0, 0.2));
    builder.build().unwrap()
}

#[test]
fn dark_room_beside_a_lit_one_stays_dark() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = two_rooms(3000.0);
    let settings = settings(probes(0.5), 20.0);
    let on_device = upload(&mut renderer, &scene, &settings);
    let mut seen = |x: f64, away: f64| {
        let view = perspective(
            DVec3::new(x + away, 0.1, 1.2),
            DVec3::new(x - away, -0.3, -0.9),
            1.4,
            0.05,
            (32, 32),
        );
        mean(&renderer.render(&on_device, &view, &settings).unwrap())
    };
    // Toward the common wall, and away from it.
    let lit = seen(-1.6, -1.0);
    for dark in [seen(1.6, 1.0), seen(1.6, -1.0)] {
        println!("lit {lit:.3} nits, dark {dark:.3e} nits: {:.4} %", dark / lit * 100.0);
        assert!(dark < 1e-3 * lit, "{dark} {lit}");
    }
}

/// A light reaches 90 % of its effect within 10 frames at the default budget of rays.
#[test]
fn switched_light_arrives_within_ten_frames() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (dark, lit) = (two_rooms(300.0), two_rooms(3000.0));
    let budget = GiSettings::default().probe_rays;
    let settings = settings(GiSettings { probe_rays: budget, ..probes(0.5) }, 20.0);
    let view =
        perspective(DVec3::new(-1.6, 0.1, 1.2), DVec3::new(-1.2, -0.3, -0.9), 1.2, 0.05, (32, 32));
    let on_device = upload(&mut renderer, &lit, &settings);
    let settled = mean(&renderer.render(&on_device, &view, &settings).unwrap());
    let mut on_device = upload(&mut renderer, &dark, &settings);
    let before = frames(&mut renderer, &on_device, &view, &settings, 40);
    let before = mean(before.last().unwrap());
    assert!((before / (0.1 * settled) - 1.0).abs() < 0.05, "{before} {settled}");
    on_device.follow(renderer.gpu(), &lit).unwrap();
    on_device.update_gi(renderer.gpu(), &lit, &settings.gi).unwrap();
    let after = frames(&mut renderer, &on_device, &view, &settings, 10);
    let reached: Vec<f64> =
        after.iter().map(|picture| (mean(picture) - before) / (settled - before)).collect();
    println!("reached after 1 to 10 frames: {reached:.3?}");
    assert!(reached[9] > 0.9 && reached[9] < 1.1, "{reached:?}");
}

/// The volume stores absolute light.
#[test]
fn exposure_step_of_eight_stops_leaves_no_trace() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = two_rooms(3000.0);
    let normal = settings(probes(0.8), 20.0);
    let view =
        perspective(DVec3::new(-1.6, 0.1, 1.2), DVec3::new(-1.2, -0.3, -0.9), 1.2, 0.05, (24, 24));
    for nits in [20.0 / 256.0, 20.0 * 256.0] {
        let other = settings(probes(0.8), nits);
        let mut run = |between: &RenderSettings| {
            let on_device = upload(&mut renderer, &scene, &normal);
            frames(&mut renderer, &on_device, &view, &normal, 3);
            frames(&mut renderer, &on_device, &view, between, 3);
            indirect(&frames(&mut renderer, &on_device, &view, &normal, 1)[0])
        };
        let (steady, stepped) = (run(&normal), run(&other));
        assert_eq!(steady, stepped);
        assert!(steady.iter().all(|c| c.y > 0.0));
    }
}

/// A still depends on scene and settings alone.
#[test]
fn stills_are_bit_identical_whatever_came_before() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = two_rooms(3000.0);
    let settings = settings(probes(0.8), 20.0);
    let view =
        perspective(DVec3::new(-1.6, 0.1, 1.2), DVec3::new(-1.2, -0.3, -0.9), 1.2, 0.05, (24, 24));
    let first = upload(&mut renderer, &scene, &settings);
    let still = renderer.render(&first, &view, &settings).unwrap();
    let again = renderer.render(&first, &view, &settings).unwrap();
    let second = upload(&mut renderer, &scene, &settings);
    frames(&mut renderer, &second, &view, &settings, 5);
    let after_frames = renderer.render(&second, &view, &settings).unwrap();
    assert!(still.nits == again.nits && still.aovs == again.aovs);
    assert!(still.nits == after_frames.nits && still.aovs == after_frames.aovs);
    assert!(mean(&still) > 0.0);
}

/// Too many probes are an error that says at which spacing they fit.
#[test]
fn too_many_probes_are_an_error() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = two_rooms(100.0);
    let settings = settings(probes(0.01), 20.0);
    let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    let error = on_device.update_gi(renderer.gpu(), &scene, &settings.gi).unwrap_err();
    assert!(
        matches!(&error, GpuError::TooLarge { what, limit, .. }
        if what == "irradiance volume" && limit.contains("gi.probe_spacing=")),
        "{error}"
    );
    // A spacing that fits.
    on_device.update_gi(renderer.gpu(), &scene, &probes(0.5)).unwrap();
    let volume = on_device.gi.as_ref().and_then(|gi| gi.volume.as_ref()).unwrap();
    assert!(volume.bytes() > 0 && volume.grid.probes() < 2000, "{:?}", volume.grid);
}

/// The device repeats the texels across the maps' edges in the borders, bit for bit.
#[test]
fn borders_repeat_the_texels_across_the_edges() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = two_rooms(3000.0);
    let settings = settings(probes(1.0), 20.0);
    let view =
        perspective(DVec3::new(-1.6, 0.1, 1.2), DVec3::new(-1.2, -0.3, -0.9), 1.2, 0.05, (8, 8));
    let on_device = upload(&mut renderer, &scene, &settings);
    frames(&mut renderer, &on_device, &view, &settings, 8);
    let volume = on_device.gi.as_ref().and_then(|gi| gi.volume.as_ref()).unwrap();
    for (map, texels, bytes) in [(&volume.irradiance, 8, 16), (&volume.visibility, 16, 8)] {
        let mut graph = Graph::new(0);
        let image = graph.shared(map);
        let out = graph.read_back("map", image);
        let mut device_frames = Frames::new(renderer.gpu(), 1).unwrap();
        let mut rec = device_frames.begin().unwrap();
        let executed = graph.execute(&mut rec, &mut GraphCache::default()).unwrap();
        let ticket = rec.submit().unwrap();
        device_frames.wait(ticket).unwrap();
        let data = executed.buffer(out).unwrap().mapped().to_vec();
        let side = texels + 2;
        let width = volume.grid.columns() as usize * side;
        let mut lit = 0;
        for probe in 0..volume.grid.probes() as usize {
            let columns = volume.grid.columns() as usize;
            let [left, top] = [probe % columns * side, probe / columns * side];
            let texel = |x: usize, y: usize| {
                let at = ((top + y) * width + left + x) * bytes;
                &data[at..at + bytes]
            };
            for i in 1..=texels {
                let mirrored = texels + 1 - i;
                assert_eq!(texel(0, i), texel(1, mirrored), "left {probe} {i}");
                assert_eq!(texel(texels + 1, i), texel(texels, mirrored), "right {probe} {i}");
                assert_eq!(texel(i, 0), texel(mirrored, 1), "top {probe} {i}");
                assert_eq!(texel(i, texels + 1), texel(mirrored, texels), "bottom {probe} {i}");
                lit += usize::from(texel(1, i) != texel(texels, i));
            }
            for (corner, opposite) in [(0, texels), (texels + 1, 1)] {
                for (other_corner, other) in [(0, texels), (texels + 1, 1)] {
                    assert_eq!(texel(corner, other_corner), texel(opposite, other), "{probe}");
                }
            }
        }
        assert!(lit > 100, "the maps hold something: {lit}");
    }
}
