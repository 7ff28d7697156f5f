//! Virtual point lights against the path tracer: with exact visibility and an unclamped geometry
//! term, VPLs give the path tracer's indirect light.

use crate::common::Place;
use std::f64::consts::PI;

use glam::{DMat4, DVec3, Vec2, Vec3};
use rayon::prelude::*;
use sunny16::{
    bvh::{Ray, SceneBvh, unpack_normal},
    gi::{Radiosity, VplSet},
    photometry::{
        color::luminance,
        environment::{RadianceMap, RowMapping},
        lights::{Emitter, LightStrength, Sides},
        units::{Lumen, Lux},
    },
    reference::{PathSettings, SamplerKind, World, sampler::Sampler},
    scene::{
        Environment, Material, Scene,
        build::{MaterialId, SceneBuilder, dielectric, look_at_transform, metal},
        procedural::shapes,
    },
    settings::GiSettings,
};

/// A purely diffuse (Lambertian) material.
fn diffuse_material(color: Vec3) -> Material {
    Material { ior: 1.0, ..dielectric("matte", color, 1.0) }
}

fn slab(builder: &mut SceneBuilder, material: MaterialId, low: [f32; 3], high: [f32; 3]) {
    let (low, high) = (Vec3::from(low), Vec3::from(high));
    builder.place(shapes::cuboid(high - low), material, ((low + high) / 2.0).as_dvec3());
}

/// A room of 4 m x 3 m x 4 m on a diffuse floor, with red and green side walls, a block and a ball
/// of the given materials; open to the front.
fn room(walls: impl Fn(Vec3) -> Material, things: Material) -> SceneBuilder {
    let mut builder = SceneBuilder::new("room");
    let floor = builder.add_material(diffuse_material(Vec3::splat(0.6)));
    let [white, red, green] =
        [Vec3::splat(0.75), Vec3::new(0.65, 0.1, 0.08), Vec3::new(0.1, 0.5, 0.12)]
            .map(|color| builder.add_material(walls(color)));
    let things = builder.add_material(things);
    slab(&mut builder, floor, [-2.0, -0.1, -2.0], [2.0, 0.0, 2.0]);
    slab(&mut builder, white, [-2.1, 3.0, -2.1], [2.1, 3.1, 2.0]);
    slab(&mut builder, red, [-2.1, -0.1, -2.0], [-2.0, 3.0, 2.0]);
    slab(&mut builder, green, [2.0, -0.1, -2.0], [2.1, 3.0, 2.0]);
    slab(&mut builder, white, [-2.1, -0.1, -2.1], [2.1, 3.0, -2.0]);
    slab(&mut builder, things, [-1.3, 0.0, -1.2], [-0.5, 1.2, -0.4]);
    builder.place(shapes::icosphere(0.5, 4), things, DVec3::new(0.9, 0.5, -0.3));
    builder
}

fn lamp(builder: &mut SceneBuilder) {
    builder.point_light_lumens(
        "lamp",
        Lumen(1500.0),
        Vec3::new(1.0, 0.9, 0.7),
        DVec3::new(0.3, 2.2, 0.4),
    );
}

/// Positions on the floor.
fn places() -> Vec<DVec3> {
    let step = |i: u32, count: u32| (f64::from(i) + 0.5) / f64::from(count) * 2.0 - 1.0;
    (0..36).map(|i| DVec3::new(1.5 * step(i % 6, 6), 0.0, 0.6 + 0.9 * step(i / 6, 6))).collect()
}

/// Luminance (nits) of the floor by VPLs.
fn gathered(set: &VplSet, bvh: &SceneBvh, place: DVec3) -> f64 {
    let top = bvh.tlas_from(set.anchor);
    let origin = (place - set.anchor).as_vec3();
    let mut sum = 0.0;
    for vpl in &set.vpls {
        let to = vpl.position - origin;
        let d2 = f64::from(to.length_squared());
        let cosines = f64::from(to.y.max(0.0) * (-unpack_normal(vpl.normal).dot(to)).max(0.0));
        if cosines <= 0.0 {
            continue;
        }
        let ray =
            Ray { origin, direction: to, t_min: 0.0, t_max: 1.0 - 1e-4, offset_normal: Vec3::Y };
        if !bvh.occluded(&top, &ray) {
            sum += luminance(vpl.flux.as_dvec3()) / PI * cosines / (d2 * d2);
        }
    }
    sum * 0.6 / PI
}

/// The same by the path tracer, with as many bounces: the mean of `samples` paths from straight
/// above.
fn traced(world: &World<'_>, place: DVec3, bounces: u32, samples: u32, number: u32) -> f64 {
    let walk = PathSettings { bounces: bounces + 1, ..PathSettings::default() };
    let sum: f64 = (0..samples)
        .map(|index| {
            let mut sampler = Sampler::new(SamplerKind::Sobol, 1, number, 0, index);
            let parts =
                world.trace_path(place + DVec3::Y * 1e-3, DVec3::NEG_Y, &walk, &mut sampler);
            luminance(parts.indirect_diffuse + parts.indirect_specular)
        })
        .sum();
    sum / f64::from(samples)
}

/// Difference between VPLs and the path tracer: of the mean, and per position (rms over the mean).
fn compare(name: &str, scene: &Scene, settings: &GiSettings, samples: u32) -> (f64, f64) {
    let mut bvh = SceneBvh::new(scene, |_| true);
    bvh.build_wide();
    let world = World::new(scene, DVec3::ZERO);
    let set = Radiosity::new().update(scene, &bvh, settings).0;
    let both: Vec<(f64, f64)> = places()
        .par_iter()
        .enumerate()
        .map(|(i, &place)| {
            (
                gathered(&set, &bvh, place),
                traced(&world, place, settings.bounces, samples, i as u32),
            )
        })
        .collect();
    let count = both.len() as f64;
    let (got, want) = both.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / count, b + y / count));
    let rms = (both.iter().map(|(a, b)| (a - b).powi(2)).sum::<f64>() / count).sqrt() / want;
    println!(
        "{name}: {} VPLs of {} ({:.3} m), mean {:+.2} % of {want:.4} nit, places {:.2} % rms",
        set.stats.kept,
        set.stats.created,
        set.stats.merge_cell_size,
        (got / want - 1.0) * 100.0,
        rms * 100.0
    );
    (got / want - 1.0, rms)
}

fn plain(photons: u32, bounces: u32) -> GiSettings {
    GiSettings {
        vpls: 4096,
        photons: Some(photons),
        bounces,
        merge: false,
        ..GiSettings::default()
    }
}

#[test]
fn vpls_match_path_tracer_in_diffuse_rooms() {
    let mut builder = room(diffuse_material, diffuse_material(Vec3::new(0.3, 0.4, 0.7)));
    lamp(&mut builder);
    let scene = builder.build().unwrap();
    for bounces in [1, 3] {
        let (mean, rms) = compare("matte", &scene, &plain(16_384, bounces), 1024);
        assert!(mean.abs() < 0.01 && rms < 0.02, "{mean} {rms}");
    }
    let merged = GiSettings { vpls: 2048, merge: true, ..plain(16_384, 3) };
    let (mean, rms) = compare("matte, joined", &scene, &merged, 1024);
    assert!(mean.abs() < 0.015 && rms < 0.03, "{mean} {rms}");
}

/// Rough plastic and metal: VPLs treat their highlights as diffuse.
#[test]
fn vpls_match_path_tracer_in_rough_rooms() {
    for (name, roughness, walls) in [("rough", 0.9, 0.8), ("smoother", 0.6, 0.5)] {
        let mut builder = room(
            |color| dielectric("plastic", color, walls),
            metal("metal", Vec3::new(0.9, 0.7, 0.4), roughness),
        );
        lamp(&mut builder);
        let (mean, rms) = compare(name, &builder.build().unwrap(), &plain(16_384, 3), 1024);
        assert!(mean.abs() < 0.04 && rms < 0.06, "{name}: {mean} {rms}");
    }
}

#[test]
fn vpls_match_path_tracer_for_every_light_type() {
    // They illuminate the left wall.
    let lamp = |emitter: Emitter| {
        let mut builder = room(diffuse_material, diffuse_material(Vec3::new(0.3, 0.4, 0.7)));
        let pose = look_at_transform(DVec3::new(0.4, 2.0, 0.3), DVec3::new(-1.0, 1.2, -0.6));
        builder.light("lamp", emitter, LightStrength::Lumens(Lumen(900.0)), Vec3::ONE, pose);
        builder.build().unwrap()
    };
    // For tubes and spots the path tracer is too noisy for a quick test: see
    // `photons_go_where_the_intensity_says`.
    for (name, emitter) in [
        ("ball", Emitter::Sphere { radius: 0.15 }),
        ("disk", Emitter::Disk { radius: 0.3, sides: Sides::Two }),
        ("rectangle", Emitter::Rectangle { width: 0.8, height: 0.2, sides: Sides::One }),
    ] {
        let (mean, rms) = compare(name, &lamp(emitter), &plain(16_384, 2), 1024);
        assert!(mean.abs() < 0.015 && rms < 0.03, "{name}: {mean} {rms}");
    }
}

#[test]
fn vpls_match_path_tracer_for_emissive_and_sky() {
    let open = || room(diffuse_material, diffuse_material(Vec3::new(0.3, 0.4, 0.7)));
    // An emissive panel.
    let mut builder = open();
    let glow = builder.add_material(Material {
        emission: Vec3::new(400.0, 300.0, 200.0),
        ..diffuse_material(Vec3::splat(0.2))
    });
    let panel = builder.add_mesh("panel", shapes::plane(Vec2::new(1.0, 0.6), 1, 1), glow);
    let pose = DMat4::from_translation(DVec3::new(0.3, 2.9, 0.2)) * DMat4::from_rotation_x(PI);
    builder.instance("panel", panel, pose);
    let mut panel = builder.build().unwrap();
    panel.emissive_lights = true;
    // A low sun that shines in, under a sky that is brighter below the horizon's south.
    let mut builder = open();
    let pose = look_at_transform(DVec3::ZERO, DVec3::new(0.25, -0.45, -1.0));
    builder.light("sun", Emitter::SUN, LightStrength::Lux(Lux(20_000.0)), Vec3::ONE, pose);
    let mut sunny = builder.build().unwrap();
    let nits = |d: DVec3| DVec3::new(0.6, 0.8, 1.0) * (2000.0 + 1500.0 * d.z);
    sunny.environment = Some(Environment {
        map: std::sync::Arc::new(RadianceMap::from_fn(64, 32, RowMapping::Linear, nits).unwrap()),
        rotation: 0.4,
        origin: String::new(),
    });
    // The path tracer rarely hits the sunlit area: it needs more paths there.
    for (name, scene, photons, paths) in
        [("panel", panel, 65_536, 1024), ("sun and sky", sunny, 32_768, 4096)]
    {
        let (mean, rms) = compare(name, &scene, &plain(photons, 2), paths);
        assert!(mean.abs() < 0.015 && rms < 0.04, "{name}: {mean} {rms}");
    }
}
