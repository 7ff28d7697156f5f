//! Merged VPLs are equivalent to their members.
use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};

use super::{
    tests_emission::{build_bvh, diffuse_material, plain, room, vpls_of},
    *,
};
use crate::{
    bvh::unpack_normal,
    photometry::Lumen,
    scene::{Scene, build::SceneBuilder, procedural::shapes},
    settings::GiSettings,
};

fn slab(
    builder: &mut SceneBuilder,
    material: crate::scene::build::MaterialId,
    low: [f32; 3],
    high: [f32; 3],
) {
    let (low, high) = (Vec3::from(low), Vec3::from(high));
    let mesh = builder.add_mesh("slab", shapes::cuboid(high - low), material);
    builder.instance("slab", mesh, DMat4::from_translation(((low + high) / 2.0).as_dvec3()));
}

/// A room with a ball and a box, and a colored light.
fn furnished() -> Scene {
    let mut builder = room(0.6);
    let material = builder.add_material(diffuse_material(0.4));
    let ball = builder.add_mesh("ball", shapes::icosphere(0.5, 3), material);
    builder.instance("ball", ball, DMat4::from_translation(DVec3::new(1.0, -0.8, 0.3)));
    slab(&mut builder, material, [-1.5, -1.5, -1.0], [-0.5, -0.7, 0.0]);
    builder.point_light_lumens(
        "lamp",
        Lumen(1000.0),
        Vec3::new(1.0, 0.7, 0.3),
        DVec3::new(0.2, 0.9, 0.4),
    );
    builder.build().unwrap()
}

fn total(set: &VplSet) -> DVec3 {
    set.vpls.iter().map(|vpl| vpl.flux.as_dvec3()).sum()
}

#[test]
fn flux_is_kept_and_the_number_is_not_exceeded() {
    let scene = furnished();
    let whole = vpls_of(&scene, &plain(6000, 3));
    for vpls in [300, 1000, 3000] {
        let settings = GiSettings { vpls, merge: true, ..plain(6000, 3) };
        let set = vpls_of(&scene, &settings);
        let error = ((total(&set) - total(&whole)) / total(&whole)).abs().max_element();
        println!(
            "{} of {} VPLs, voxels of {:.3} m, flux off by {error:.2e}",
            set.stats.kept, set.stats.created, set.stats.merge_cell_size
        );
        assert!(error <= 1e-6);
        assert_eq!(set.stats.created as usize, whole.vpls.len());
        assert!(set.vpls.len() <= vpls as usize && set.vpls.len() as f64 > 0.4 * f64::from(vpls));
        assert_eq!(set.nodes.len(), 2 * set.vpls.len() - 1);
    }
    let fixed =
        vpls_of(&scene, &GiSettings { merge_cell_size: Some(0.25), merge: true, ..plain(6000, 3) });
    assert!(((total(&fixed) - total(&whole)) / total(&whole)).abs().max_element() <= 1e-6);
    for cell in [f64::NAN, 0.0, -1.0, 1e300, f64::INFINITY] {
        let set = vpls_of(
            &scene,
            &GiSettings { merge_cell_size: Some(cell), merge: true, ..plain(200, 2) },
        );
        assert!(!set.vpls.is_empty() && set.vpls.iter().all(|vpl| vpl.position.is_finite()));
    }
    // Fewer VPLs than the limit stay unmerged.
    let few = vpls_of(&scene, &GiSettings { vpls: 100_000, merge: true, ..plain(6000, 3) });
    assert_eq!((&few.vpls, few.stats.merge_cell_size), (&whole.vpls, 0.0));
}

/// Every merged VPL lies on the walls, the box or the ball, and faces away from it.
#[test]
fn they_lie_on_surfaces() {
    let set = vpls_of(&furnished(), &GiSettings { vpls: 400, merge: true, ..plain(6000, 3) });
    for vpl in &set.vpls {
        let p = (vpl.position.as_dvec3() + set.anchor).as_vec3();
        let n = unpack_normal(vpl.normal);
        let on_box = |p: Vec3, half: Vec3| (p.abs() - half).max_element().abs() < 3e-6;
        let ball = p - Vec3::new(1.0, -0.8, 0.3);
        let on_ball = (0.49..0.501).contains(&ball.length()) && n.dot(ball.normalize()) > 0.85;
        let on_walls = on_box(p, Vec3::new(2.0, 1.5, 2.5));
        assert!(
            on_walls
                || on_ball
                || on_box(p - Vec3::new(-1.0, -1.1, -0.5), Vec3::new(0.5, 0.4, 0.5)),
            "{p} {n}"
        );
    }
}

/// The irradiance of a merged set above a plane equals that of its members: the light of a lit
/// floor on the ceiling.
#[test]
fn merged_vpls_keep_irradiance() {
    let scene = furnished();
    let lux = |set: &VplSet, place: Vec3, normal: Vec3| -> f64 {
        set.vpls
            .iter()
            .map(|vpl| {
                let to = (vpl.position.as_dvec3() + set.anchor).as_vec3() - place;
                let d2 = to.length_squared();
                let cosines =
                    normal.dot(to).max(0.0) * (-unpack_normal(vpl.normal).dot(to)).max(0.0);
                f64::from(vpl.flux.y * cosines / (d2 * d2)) / std::f64::consts::PI
            })
            .sum()
    };
    let (whole, joined) = (
        vpls_of(&scene, &plain(6000, 3)),
        vpls_of(&scene, &GiSettings { vpls: 600, merge: true, ..plain(6000, 3) }),
    );
    let mut worst: f64 = 0.0;
    for (place, normal) in [
        (Vec3::new(0.0, 0.0, 0.0), Vec3::Y),
        (Vec3::new(0.0, 0.0, 0.0), Vec3::NEG_Y),
        (Vec3::new(1.0, 0.3, -1.2), Vec3::X),
        (Vec3::new(-0.8, 0.2, 1.2), Vec3::Z),
    ] {
        let (a, b) = (lux(&whole, place, normal), lux(&joined, place, normal));
        println!("{place}: {a:.3} lx, joined {b:.3} lx ({:+.2} %)", (b / a - 1.0) * 100.0);
        worst = worst.max((b / a - 1.0).abs());
    }
    assert!(worst < 0.02, "{worst}");
}

/// A wall of 1 cm between two lit rooms on one floor, and a step of that floor, within voxels of a
/// meter: VPLs of the two sides are not merged.
#[test]
fn walls_and_steps_keep_apart() {
    let mut builder = SceneBuilder::new("rooms");
    let material = builder.add_material(diffuse_material(0.5));
    for (low, high) in [
        ([-2.0, -0.1, -1.0], [2.0, 0.0, 1.0]),
        ([-2.0, 2.0, -1.0], [2.0, 2.1, 1.0]),
        ([-2.1, 0.0, -1.0], [-2.0, 2.0, 1.0]),
        ([2.0, 0.0, -1.0], [2.1, 2.0, 1.0]),
        ([-2.0, 0.0, -1.1], [2.0, 2.0, -1.0]),
        ([-2.0, 0.0, 1.0], [2.0, 2.0, 1.1]),
        ([-0.005, 0.0, -1.0], [0.005, 2.0, 1.0]),
        ([0.8, 0.0, -1.0], [2.0, 0.2, 1.0]),
    ] {
        slab(&mut builder, material, low, high);
    }
    // Red on one side, green on the other.
    builder.point_light_lumens("left", Lumen(1000.0), Vec3::X, DVec3::new(-0.8, 1.0, 0.1));
    builder.point_light_lumens("right", Lumen(1000.0), Vec3::Y, DVec3::new(0.6, 1.2, 0.0));
    let scene = builder.build().unwrap();
    let set =
        vpls_of(&scene, &GiSettings { merge_cell_size: Some(1.0), merge: true, ..plain(8000, 3) });
    println!("{} of {} VPLs, {} rays", set.stats.kept, set.stats.created, set.stats.merge_rays);
    assert!(set.stats.kept * 10 < set.stats.created);
    for vpl in &set.vpls {
        let x = f64::from(vpl.position.x) + set.anchor.x;
        let y = f64::from(vpl.position.y) + set.anchor.y;
        assert!(vpl.flux.x == 0.0 || vpl.flux.y == 0.0, "{:?} at {x}", vpl.flux);
        assert_eq!(vpl.flux.x > 0.0, x < 0.0, "{:?} at {x}", vpl.flux);
        // On the floor or on the step.
        if unpack_normal(vpl.normal).y > 0.9 {
            assert!(y.abs() < 1e-5 || (y - 0.2).abs() < 1e-5, "{y}");
        }
    }
}

/// While a light moves or dims, the voxel size is kept; the merged set equals that of a full
/// retrace.
#[test]
fn voxels_do_not_jump() {
    let mut scene = furnished();
    let bvh = build_bvh(&scene);
    let settings = GiSettings { vpls: 800, merge: true, ..plain(4000, 3) };
    let mut radiosity = Radiosity::new();
    let first = radiosity.update(&scene, &bvh, &settings).0;
    let lamp = scene.nodes.iter().position(|node| node.light.is_some()).unwrap();
    for step in 1..6 {
        scene.nodes[lamp].local =
            DMat4::from_translation(DVec3::new(0.2 + 0.05 * f64::from(step), 0.9, 0.4));
        let moved = radiosity.update(&scene, &bvh, &settings).0;
        assert_eq!(moved.stats.merge_cell_size, first.stats.merge_cell_size, "step {step}");
        assert!(moved.vpls.len() <= 800);
        radiosity.retrace();
        let (again, change) = radiosity.update(&scene, &bvh, &settings);
        assert_eq!(
            (&again.vpls, &again.nodes, change),
            (&moved.vpls, &moved.nodes, ChangedFraction(0.0))
        );
    }
    let last = radiosity.update(&scene, &bvh, &settings).0;
    assert!(Arc::ptr_eq(&last, &radiosity.update(&scene, &bvh, &settings).0));
}
