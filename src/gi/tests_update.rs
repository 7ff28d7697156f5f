//! Incremental updates retrace only what has changed.
use std::sync::Arc;

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    tests_emission::{build_bvh, diffuse_material, plain, room},
    *,
};
use crate::{
    photometry::{Emitter, LightStrength, Lumen, Lux, PhysicalLight},
    scene::{Scene, build::SceneBuilder, procedural::shapes},
    settings::GiSettings,
};

/// A room with a box, two lights and a sun.
fn scene() -> Scene {
    let mut builder: SceneBuilder = room(0.6);
    let material = builder.add_material(diffuse_material(0.3));
    let mesh = builder.add_mesh("box", shapes::cuboid(Vec3::ONE), material);
    builder.instance("box", mesh, DMat4::from_translation(DVec3::new(0.0, -1.0, 0.5)));
    builder.point_light_lumens("a", Lumen(1000.0), Vec3::ONE, DVec3::new(1.0, 0.5, 1.0));
    builder.light(
        "b",
        Emitter::Sphere { radius: 0.1 },
        LightStrength::Lumens(Lumen(700.0)),
        Vec3::new(1.0, 0.8, 0.5),
        DMat4::from_translation(DVec3::new(-1.0, 0.9, -1.0)),
    );
    builder.sun("sun", Lux(30.0), Vec3::ONE, DVec3::NEG_Y);
    builder.build().unwrap()
}

fn lumens(scene: &mut Scene, light: usize, lumens: f64) {
    let emitter = scene.lights[light].emitter();
    scene.lights[light].source =
        PhysicalLight::new(emitter, LightStrength::Lumens(Lumen(lumens))).unwrap();
}

/// The set of a full retrace, with the same allocation.
fn rebuilt(
    radiosity: &mut Radiosity,
    scene: &Scene,
    bvh: &crate::bvh::SceneBvh,
    settings: &GiSettings,
) -> Arc<VplSet> {
    radiosity.retrace();
    let (set, change) = radiosity.update(scene, bvh, settings);
    assert_eq!(change, ChangedFraction(0.0), "the same photons go the same ways");
    assert!(set.stats.rays > 0);
    set
}

fn same(a: &VplSet, b: &VplSet) {
    assert_eq!(a.vpls, b.vpls);
    assert_eq!(a.nodes, b.nodes);
    let counted = |set: &VplSet| VplStats { rays: 0, traced: 0, merge_rays: 0, ..set.stats };
    assert_eq!(counted(a), counted(b));
}

#[test]
fn only_what_changed_is_traced() {
    let (mut scene, settings) = (scene(), plain(3000, 3));
    let mut bvh = build_bvh(&scene);
    let mut radiosity = Radiosity::new();
    let (first, change) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!(change, ChangedFraction(1.0));
    assert_eq!(first.stats.traced, first.stats.photons);
    assert!(first.stats.photons.abs_diff(3000) < 4 && first.stats.lights == 3);

    let (second, change) = radiosity.update(&scene, &bvh, &settings);
    assert!(Arc::ptr_eq(&first, &second) && change == ChangedFraction(0.0));

    // Dimmed by a third: no ray.
    lumens(&mut scene, 0, 667.0);
    let (dimmed, change) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!(
        (dimmed.stats.rays, dimmed.stats.traced, dimmed.vpls.len()),
        (0, 0, first.vpls.len())
    );
    assert!(
        dimmed
            .vpls
            .iter()
            .zip(&first.vpls)
            .all(|(a, b)| (a.position, a.normal) == (b.position, b.normal))
    );
    assert!(change.0 > 0.01 && change.0 < 0.2, "{change:?}");
    same(&dimmed, &rebuilt(&mut radiosity, &scene, &bvh, &settings));

    // Another color: no ray.
    scene.lights[1].color = Vec3::new(0.5, 0.8, 1.0);
    assert_eq!(radiosity.update(&scene, &bvh, &settings).0.stats.rays, 0);

    // One light moved: its photons.
    let lamp = scene.nodes.iter().position(|node| node.light == Some(1)).unwrap();
    scene.nodes[lamp].local = DMat4::from_translation(DVec3::new(-1.0, 0.8, -1.2));
    let (moved, change) = radiosity.update(&scene, &bvh, &settings);
    let share = moved.stats.traced as f64 / moved.stats.photons as f64;
    assert!((0.2..0.45).contains(&share), "{share}");
    assert!((0.1..0.6).contains(&change.0), "{change:?}");
    same(&moved, &rebuilt(&mut radiosity, &scene, &bvh, &settings));

    // Switched off and on: no ray, as its paths were kept.
    lumens(&mut scene, 1, 0.0);
    let (off, change) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!((off.stats.rays, off.stats.lights), (0, 2));
    assert!(change.0 > 0.1);
    lumens(&mut scene, 1, 700.0);
    let (on, _) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!((on.stats.rays, &on.vpls), (0, &moved.vpls));

    // Much brighter: more photons of its own, none of the others'.
    lumens(&mut scene, 1, 7000.0);
    let (bright, _) = radiosity.update(&scene, &bvh, &settings);
    assert!(bright.stats.traced > 0 && bright.stats.traced < bright.stats.photons);
    same(&bright, &rebuilt(&mut radiosity, &scene, &bvh, &settings));

    // The box moved: all photons.
    let node = scene.nodes.iter().position(|node| node.name == "box").unwrap();
    scene.nodes[node].local = DMat4::from_translation(DVec3::new(0.3, -1.0, 0.5));
    bvh.rebuild_tlas(&scene);
    let (shifted, change) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!(shifted.stats.traced, shifted.stats.photons);
    // Photons that miss it keep their paths.
    assert!(change.0 > 0.02 && change.0 < 0.9, "{change:?}");
    same(&shifted, &rebuilt(&mut radiosity, &scene, &bvh, &settings));

    // A material's color: all photons.
    scene.materials[0].base_color.x = 0.2;
    let (painted, _) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!(painted.stats.traced, painted.stats.photons);

    // A removed light.
    scene.nodes[lamp].light = None;
    let (fewer, change) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!(fewer.stats.lights, 2);
    assert!(change.0 > 0.3);
    same(&fewer, &rebuilt(&mut radiosity, &scene, &bvh, &settings));
}

/// Emissive surfaces are dimmed without rays, and traced when they are switched on for the first
/// time.
#[test]
fn glowing_surfaces_are_dimmed_without_rays() {
    let mut builder = room(0.6);
    let glow = builder.add_material(crate::scene::Material {
        emission: Vec3::splat(200.0),
        ..diffuse_material(0.1)
    });
    let mesh = builder.add_mesh("panel", shapes::plane(Vec2::ONE, 1, 1), glow);
    builder.instance("panel", mesh, DMat4::from_rotation_x(3.0));
    let mut scene = builder.build().unwrap();
    scene.emissive_lights = true;
    let (bvh, settings) = (build_bvh(&scene), plain(1000, 2));
    let mut radiosity = Radiosity::new();
    let first = radiosity.update(&scene, &bvh, &settings).0;
    scene.materials[1].emission = Vec3::new(100.0, 50.0, 10.0);
    let (dimmed, change) = radiosity.update(&scene, &bvh, &settings);
    assert_eq!(dimmed.stats.rays, 0);
    assert!((dimmed.stats.stored.x / first.stats.stored.x - 0.5).abs() < 1e-5 && change.0 > 0.3);
    same(&dimmed, &rebuilt(&mut radiosity, &scene, &bvh, &settings));
    scene.materials[1].emission = Vec3::ZERO;
    let (dark, change) = radiosity.update(&scene, &bvh, &settings);
    assert!(dark.vpls.is_empty() && dark.nodes.is_empty() && change == ChangedFraction(1.0));
}

/// The same scene gives the same bits on any number of threads.
#[test]
fn threads_do_not_matter() {
    let (scene, settings) = (scene(), plain(2000, 3));
    let bvh = build_bvh(&scene);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Radiosity::new().update(&scene, &bvh, &settings).0)
    };
    same(&run(1), &run(4));
}

/// VPLs lie on surfaces, also far from the origin.
#[test]
fn vpls_lie_on_surfaces() {
    for shift in [DVec3::ZERO, DVec3::new(1e6, -2e6, 5e5)] {
        let mut scene = scene();
        for &root in &scene.roots.clone() {
            scene.nodes[root].local = DMat4::from_translation(shift) * scene.nodes[root].local;
        }
        let set = Radiosity::new().update(&scene, &build_bvh(&scene), &plain(500, 2)).0;
        assert!(set.vpls.len() > 500);
        for vpl in &set.vpls {
            let p = (vpl.position.as_dvec3() + (set.anchor - shift)).as_vec3();
            let on = |p: Vec3, half: Vec3| {
                let d = p.abs() - half;
                d.max_element().abs() < 2e-6
            };
            assert!(
                on(p, Vec3::new(2.0, 1.5, 2.5))
                    || on(p - Vec3::new(0.0, -1.0, 0.5), Vec3::splat(0.5)),
                "{p}"
            );
        }
    }
}

/// More lights than photons: each emits one.
#[test]
fn every_light_gets_photons() {
    let mut builder = room(0.5);
    for i in 0..3000 {
        let place = DVec3::new(
            f64::from(i % 20) * 0.19 - 1.9,
            f64::from(i / 300) * 0.3 - 1.4,
            f64::from(i / 20 % 15) * 0.3 - 2.2,
        );
        builder.point_light_lumens("lamp", Lumen(1.0), Vec3::ONE, place);
    }
    let scene = builder.build().unwrap();
    let bvh = build_bvh(&scene);
    let mut radiosity = Radiosity::new();
    let set = radiosity.update(&scene, &bvh, &plain(1000, 1)).0;
    assert_eq!((set.stats.lights, set.stats.photons), (3000, 3000));
    assert!((set.stats.emitted.x - 3000.0).abs() < 1e-6 * 3000.0);
    assert!((set.stats.stored.x - 1500.0).abs() < 1e-3 * 1500.0);
}

/// A swinging object reaches beyond the scene's bounds: after one swing the sun's photons take the
/// same paths each time.
#[test]
fn moving_object_keeps_the_sun_photons() {
    let mut scene = scene();
    let node = scene.nodes.iter().position(|node| node.name == "box").unwrap();
    let mut bvh = build_bvh(&scene);
    let mut radiosity = Radiosity::new();
    let mut at = |x: f64| {
        scene.nodes[node].local = DMat4::from_translation(DVec3::new(x, 0.0, 0.5));
        bvh.rebuild_tlas(&scene);
        radiosity.update(&scene, &bvh, &plain(1000, 2)).0
    };
    let first: Vec<Arc<VplSet>> = [1.6, 1.62, 1.58].map(&mut at).to_vec();
    assert_ne!(first[0].stats.emitted, first[1].stats.emitted, "the box has grown");
    let again: Vec<Arc<VplSet>> = [1.6, 1.62, 1.58].map(&mut at).to_vec();
    let once_more: Vec<Arc<VplSet>> = [1.6, 1.62, 1.58].map(&mut at).to_vec();
    assert_eq!((first[1].vpls.len(), first[1].anchor), (again[1].vpls.len(), again[1].anchor));
    for (a, b) in again.iter().zip(&once_more) {
        same(a, b);
        assert_eq!(a.stats.emitted, first[1].stats.emitted);
    }
}

/// CPU time of an update on one thread: `cargo test --release --lib gi::tests_update::speed --
/// --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a check"]
fn speed() {
    // Run time of this thread in nanoseconds: Linux, Documentation/scheduler/sched-stats.
    let ran = || -> f64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        stat.split(' ').next().unwrap().parse().unwrap()
    };
    let timed = |what: &str, mut work: Box<dyn FnMut() + '_>| {
        let times = (0..15).map(|_| {
            let begin = ran();
            work();
            (ran() - begin) * 1e-6
        });
        println!("{what}: {:.2} ms (best of 15)", times.fold(f64::INFINITY, f64::min));
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let scene = scene();
        let bvh = build_bvh(&scene);
        let settings = plain(10_000, 3);
        let set = Radiosity::new().update(&scene, &bvh, &settings).0;
        println!("{} photons, {} rays, {} VPLs", set.stats.photons, set.stats.rays, set.vpls.len());
        timed("full update", Box::new(|| drop(Radiosity::new().update(&scene, &bvh, &settings))));
        let mut radiosity = Radiosity::new();
        radiosity.update(&scene, &bvh, &settings);
        timed("nothing changed", Box::new(|| drop(radiosity.update(&scene, &bvh, &settings))));
        let mut vpls = set.vpls.clone();
        timed("of which tree", Box::new(|| drop(light_tree(&set.vpls))));
        timed("of which sizes", Box::new(|| tree::measure(&mut vpls, &set.nodes, 4.0)));
        let merging = GiSettings { vpls: 4096, merge: true, ..settings };
        let mut radiosity = Radiosity::new();
        radiosity.update(&scene, &bvh, &merging);
        let mut bright = scene.clone();
        let mut times = 0;
        let mut dimmed = || {
            times += 1;
            lumens(&mut bright, 0, 1000.0 - f64::from(times));
            let set = radiosity.update(&bright, &bvh, &merging).0;
            assert_eq!(set.stats.rays, 0);
        };
        timed("dimmed, joined to 4096", Box::new(&mut dimmed));
        let mut radiosity = Radiosity::new();
        radiosity.update(&scene, &bvh, &merging);
        let mut moving = scene.clone();
        let lamp = moving.nodes.iter().position(|node| node.light == Some(1)).unwrap();
        let mut at = 0.0;
        let mut moved = || {
            at += 0.01;
            moving.nodes[lamp].local = DMat4::from_translation(DVec3::new(-1.0 + at, 0.8, -1.2));
            radiosity.update(&moving, &bvh, &merging);
        };
        timed("one of three lamps moved, joined to 4096", Box::new(&mut moved));
        let many = Radiosity::new().update(&scene, &bvh, &plain(60_000, 3)).0;
        timed(&format!("tree over {}", many.vpls.len()), Box::new(|| drop(light_tree(&many.vpls))));
        let mut vpls = many.vpls.clone();
        timed("its sizes", Box::new(|| tree::measure(&mut vpls, &many.nodes, 4.0)));
    });
}

/// At the VPL limit fewer photons share the flux, and carry as much light.
#[test]
fn near_white_rooms_do_not_take_all_memory() {
    let mut builder = room(0.97);
    builder.point_light_lumens("lamp", Lumen(1000.0), Vec3::ONE, DVec3::new(0.7, 0.2, -1.0));
    let scene = builder.build().unwrap();
    let (bvh, settings) = (build_bvh(&scene), plain(16_384, 64));
    let (all, _) = Radiosity::new().update(&scene, &bvh, &settings);
    let mut bounded = Radiosity::new();
    bounded.room = 100_000;
    let (some, _) = bounded.update(&scene, &bvh, &settings);
    println!(
        "{} of {} VPLs, {:.3} of the light",
        some.vpls.len(),
        all.vpls.len(),
        some.stats.stored.x / all.stats.stored.x
    );
    // One more batch of photons, each of which leaves 28 VPLs on average.
    assert!(all.vpls.len() > 400_000 && some.vpls.len() < 100_000 + 40 * 4096);
    assert!((some.stats.stored.x / all.stats.stored.x - 1.0).abs() < 0.01);
    assert_eq!(all.stats.photons, all.stats.allocated);
    assert!(some.stats.photons < some.stats.allocated && some.stats.allocated == 16_384);
    assert!((some.stats.emitted.x / 1000.0 - 1.0).abs() < 1e-3);
    let (again, change) = bounded.update(&scene, &bvh, &settings);
    assert!(Arc::ptr_eq(&some, &again) && change == ChangedFraction(0.0));
    same(&some, &rebuilt(&mut bounded, &scene, &bvh, &settings));
}
