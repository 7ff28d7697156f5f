//! The rasterizer against the path tracer: direct light of every kind of light, with its shadows.

use crate::common::traced::{centered, film, of_bounces};
use crate::common::{Place, exposed, exposure_for, picture, renderer, traced_shadows, unclustered};
use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    frame::{RenderSettings, Renderer},
    gpu_scene::View,
    photometry::{
        Candela, Lux, Nit, color,
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
        units::Lumen,
    },
    reference::PathSettings,
    scene::{
        Material, Mesh, Node, Primitive, Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::shapes,
    },
};

const SIZE: (usize, usize) = (96, 64);
const PROJECTION: Projection =
    Projection::Perspective { vertical_fov: 0.7, aspect: None, near: 0.05, far: None };

/// Two rows of balls and a wall on a floor, under one light.
fn scene(emitter: Emitter, strength: LightStrength) -> Scene {
    let mut builder = SceneBuilder::new("balls");
    let floor = builder.add_material(dielectric("floor", Vec3::new(0.5, 0.45, 0.4), 0.9));
    builder.floor(12.0, floor);
    builder.place(shapes::cuboid(Vec3::new(0.1, 0.8, 1.2)), floor, DVec3::new(-1.3, 0.4, 0.0));
    for (index, roughness) in [0.25f32, 0.45, 0.7, 1.0].into_iter().enumerate() {
        let x = index as f64 * 0.6 - 0.8;
        for (z, material) in [
            (-0.4, metal("metal", Vec3::new(0.9, 0.7, 0.4), roughness)),
            (0.4, dielectric("plastic", Vec3::new(0.6, 0.1, 0.1), roughness)),
        ] {
            let material: Material = material;
            builder.place(shapes::icosphere(0.25, 5), material, DVec3::new(x, 0.25, z));
        }
    }
    builder.light(
        "lamp",
        emitter,
        strength,
        Vec3::new(1.0, 0.9, 0.8),
        look_at_transform(DVec3::new(1.2, 2.2, 1.0), DVec3::ZERO),
    );
    builder.build().unwrap()
}

/// Difference of the rasterizer's direct light from the path tracer's: of the mean, and of 8x8
/// blocks (rms over the mean).
fn compare(name: &str, renderer: &mut Renderer, scene: &Scene, samples: u32) -> (f64, f64) {
    let eye = DVec3::new(0.3, 1.9, 3.4);
    let pose = look_at_transform(eye, DVec3::new(0.0, 0.15, 0.0));
    let view = View::new(pose, &PROJECTION, SIZE.0 as u32, SIZE.1 as u32);
    let shadows = traced_shadows(samples);
    let film = film(scene, (pose, PROJECTION), SIZE, centered(of_bounces(1)), 64);
    let y = |c: DVec3| color::luminance(c);
    let of = |p: &[f32; 3]| y(Vec3::from_array(*p).as_dvec3());
    // The light itself, where visible, would outshine all else.
    let reference = film.mean(|parts| parts.total() - parts.emission);
    let glows = film.mean(|parts| parts.emission);
    let mean = reference.iter().map(|c| y(*c)).sum::<f64>() / reference.len() as f64;
    let settings =
        RenderSettings { clustered_lights: unclustered(), shadows, ..exposed(mean, 0.2) };
    let raster = picture(renderer, scene, &view, &settings);
    let raster: Vec<f64> = raster
        .nits
        .iter()
        .zip(&glows)
        .map(|(p, glow)| if y(*glow) > 0.0 { 0.0 } else { of(p) })
        .collect();
    let reference: Vec<f64> = reference
        .iter()
        .zip(&glows)
        .map(|(c, glow)| if y(*glow) > 0.0 { 0.0 } else { y(*c) })
        .collect();
    let mean = reference.iter().sum::<f64>() / reference.len() as f64;
    let got = raster.iter().sum::<f64>() / reference.len() as f64;
    let mut blocks = 0.0;
    for top in (0..SIZE.1).step_by(8) {
        for left in (0..SIZE.0).step_by(8) {
            let sum: f64 = (0..64)
                .map(|i| (top + i / 8) * SIZE.0 + left + i % 8)
                .map(|at| raster[at] - reference[at])
                .sum();
            blocks += (sum / 64.0).powi(2);
        }
    }
    let blocks = (blocks / (SIZE.0 * SIZE.1 / 64) as f64).sqrt() / mean;
    let bias = got / mean - 1.0;
    println!(
        "{name}: mean {:+.3} % of {mean:.3} nit, blocks {:.2} % rms",
        bias * 100.0,
        blocks * 100.0
    );
    assert!(mean > 0.0);
    (bias.abs(), blocks)
}

#[test]
fn direct_light_and_shadows_match_path_tracer() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let lumens = LightStrength::Lumens(Lumen(2000.0));
    let cone = Cone::new(0.3, 0.6).unwrap();
    let cases = [
        ("point", Emitter::Point, LightStrength::Candela(Candela(200.0))),
        ("spot", Emitter::Spot { cone, flux: SpotFlux::Exact }, lumens),
        ("parallel", Emitter::PARALLEL, LightStrength::Lux(Lux(100.0))),
        (
            "sun of 4 degrees",
            Emitter::Sun { angular_radius: 0.035 },
            LightStrength::Lux(Lux(100.0)),
        ),
        ("sphere", Emitter::Sphere { radius: 0.2 }, lumens),
        ("disk", Emitter::Disk { radius: 0.4, sides: Sides::One }, lumens),
        ("rectangle", Emitter::Rectangle { width: 0.9, height: 0.5, sides: Sides::One }, lumens),
        ("tube", Emitter::Tube { radius: 0.08, length: 1.2 }, lumens),
    ];
    for (name, emitter, strength) in cases {
        let (bias, blocks) = compare(name, &mut renderer, &scene(emitter, strength), 64);
        assert!(bias < 5e-3 * guard.slack(), "{name}: {bias}");
        assert!(blocks < 0.02, "{name}: {blocks}");
    }
}

/// A panel much larger than its distance: few uniformly distributed points would miss where its
/// light comes from.
#[test]
fn large_panels_conserve_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for size in [30.0, 300.0] {
        let emitter = Emitter::Rectangle { width: size, height: size, sides: Sides::One };
        let scene = scene(emitter, LightStrength::Nits(Nit(100.0)));
        let (bias, blocks) = compare(&format!("panel of {size} m"), &mut renderer, &scene, 16);
        assert!(bias < 0.01, "{size} m: {bias}");
        assert!(blocks < 0.03, "{size} m: {blocks}");
    }
}

/// An unlit surface beside a white one, without lights: the same base color in both renderers at
/// any exposure, and no light from it.
#[test]
fn unlit_surfaces_show_their_base_color_and_emit_no_light() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let color = Vec3::new(0.5, 0.18, 0.9);
    let mut builder = SceneBuilder::new("unlit");
    builder.floor(6.0, dielectric("floor", Vec3::ONE, 0.5));
    // Emission is ignored on an unlit material.
    let flat =
        Material { unlit: true, emission: Vec3::splat(300.0), ..dielectric("flat", color, 1.0) };
    builder.place(shapes::cuboid(Vec3::splat(0.8)), flat, DVec3::Y * 0.4);
    let scene = builder.build().unwrap();
    let eye = DVec3::new(0.3, 1.9, 3.4);
    let pose = look_at_transform(eye, DVec3::new(0.0, 0.3, 0.0));
    let view = View::new(pose, &PROJECTION, SIZE.0 as u32, SIZE.1 as u32);
    let film = film(&scene, (pose, PROJECTION), SIZE, centered(PathSettings::default()), 8);
    assert!(film.mean(|parts| parts.total()).iter().all(|light| *light == DVec3::ZERO));
    for ev100 in [-2.0, 6.0, 15.0] {
        let exposure = exposure_for(1.2 * f64::exp2(ev100), 1.0);
        let white = exposure.saturation_luminance();
        let raster = picture(
            &mut renderer,
            &scene,
            &view,
            &RenderSettings { exposure, ..RenderSettings::default() },
        );
        let shown = film.displayed(white);
        let seen = shown.iter().filter(|nits| **nits != DVec3::ZERO).count();
        assert!((300..4000).contains(&seen), "{seen}");
        let off = |a: DVec3, b: DVec3| (a - b).abs().max_element() / white.get();
        let want = color.as_dvec3() * white.get();
        assert!(shown.iter().all(|nits| *nits == DVec3::ZERO || off(*nits, want) < 1e-6));
        let worst =
            raster.nits.iter().zip(&shown).map(|(a, b)| off(Vec3::from_array(*a).as_dvec3(), *b));
        let worst = worst.fold(0.0, f64::max);
        println!(
            "unlit at EV100 {ev100}: {seen} pixels, worst difference {:.3} % of white",
            worst * 100.0
        );
        // Half floats.
        assert!(worst < 1e-3, "{worst}");
    }
}

#[test]
fn emissive_triangles_match_path_tracer() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let mut scene = scene(Emitter::Point, LightStrength::Candela(Candela(0.0)));
    let corners =
        [DVec3::new(0.9, 1.6, 0.4), DVec3::new(1.7, 1.9, -0.3), DVec3::new(1.1, 2.3, 0.7)];
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
    let triangle = Primitive {
        positions: corners.map(|corner| corner.as_vec3()).to_vec(),
        normals: vec![normal.as_vec3(); 3],
        indices: vec![0, 1, 2],
        material: Some(scene.materials.len()),
        ..Primitive::default()
    };
    scene.materials.push(Material {
        emission: Vec3::new(900.0, 800.0, 600.0),
        double_sided: true,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    });
    scene.nodes.push(Node { mesh: Some(scene.meshes.len()), ..Node::default() });
    scene.roots.push(scene.nodes.len() - 1);
    scene.meshes.push(Mesh { name: "glow".into(), primitives: vec![triangle] });
    scene.emissive_lights = true;
    let (bias, blocks) = compare("glowing triangle", &mut renderer, &scene, 64);
    assert!(bias < 5e-3 * guard.slack(), "{bias}");
    assert!(blocks < 0.02, "{blocks}");
}

/// 1280 triangles as 64 lights, each with a shadow ray of its own.
#[test]
fn merged_emissive_ball_matches_path_tracer() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let mut scene = scene(Emitter::Point, LightStrength::Candela(Candela(0.0)));
    let ball = Primitive { material: Some(scene.materials.len()), ..shapes::icosphere(0.3, 3) };
    scene.materials.push(Material {
        emission: Vec3::new(900.0, 800.0, 600.0),
        ..dielectric("glow", Vec3::ZERO, 1.0)
    });
    let local = DMat4::from_translation(DVec3::new(1.2, 2.2, 1.0));
    scene.nodes.push(Node { mesh: Some(scene.meshes.len()), local, ..Node::default() });
    scene.roots.push(scene.nodes.len() - 1);
    scene.meshes.push(Mesh { name: "ball".into(), primitives: vec![ball] });
    (scene.emissive_lights, scene.max_emissive_lights) = (true, Some(64));
    let (bias, blocks) = compare("glowing ball", &mut renderer, &scene, 1);
    assert!(bias < 0.01 * guard.slack(), "{bias}");
    assert!(blocks < 0.02, "{blocks}");
}
