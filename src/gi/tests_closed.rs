//! VPL illumination against closed forms.
use std::f64::consts::PI;

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    tests_emission::{diffuse_material, plain, room, vpls_of},
    *,
};
use crate::{
    bvh::unpack_normal,
    photometry::{Emitter, LightStrength, Lumen, Lux},
    scene::{
        AlphaMode, Material, MaterialVolume, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::shapes,
    },
};

/// Illuminance (lx, red) of a set on a plane at a position, without occluders.
fn lux(set: &VplSet, place: DVec3, normal: DVec3) -> f64 {
    let of = |vpl: &Vpl| {
        let to = vpl.position.as_dvec3() + set.anchor - place;
        let (d2, facing) = (to.length_squared(), unpack_normal(vpl.normal).as_dvec3());
        let cosines = (normal.dot(to)).max(0.0) * (-facing.dot(to)).max(0.0);
        if d2 > 0.0 { f64::from(vpl.flux.x) / PI * cosines / (d2 * d2) } else { 0.0 }
    };
    set.vpls.iter().map(of).sum()
}

/// The same by Lambert's formula (1760) for a polygon of uniform luminous exitance (lm/m2),
/// entirely in front of the plane: vertices counterclockwise as seen from the position.
fn lux_of_polygon(corners: &[DVec3], exitance: f64, place: DVec3, normal: DVec3) -> f64 {
    let towards = |i: usize| (corners[i % corners.len()] - place).normalize();
    let edge = |i: usize| {
        let (a, b) = (towards(i), towards(i + 1));
        a.dot(b).acos() * normal.dot(a.cross(b).normalize())
    };
    exitance / (2.0 * PI) * (0..corners.len()).map(edge).sum::<f64>()
}

/// A hollow ball of 1 m around a light of 4 pi lm: 1 lx everywhere. Any two of its points see each
/// other with the same geometry term, 1/4, so indirect light has no variance.
fn ball() -> Scene {
    let mut builder = SceneBuilder::new("ball");
    let material = builder.add_material(diffuse_material(0.5));
    let mesh = builder.add_mesh("ball", shapes::icosphere(1.0, 5), material);
    builder.instance("ball", mesh, DMat4::from_translation(DVec3::new(10.0, -20.0, 30.0)));
    builder.point_light_lumens("lamp", Lumen(4.0 * PI), Vec3::ONE, DVec3::new(10.0, -20.0, 30.0));
    builder.build().unwrap()
}

#[test]
fn inside_a_ball_each_bounce_brings_half_of_the_last() {
    let scene = ball();
    let places: Vec<DVec3> = (0..16)
        .map(|i| {
            let (y, phi) = ((f64::from(i) + 0.5) / 8.0 - 1.0, f64::from(i) * 2.4);
            let across = (1.0 - y * y).sqrt();
            DVec3::new(across * phi.cos(), y, across * phi.sin())
        })
        .collect();
    for photons in [64, 256, 1024, 4096] {
        for (bounces, want) in [(1, 0.5), (2, 0.75), (3, 0.875)] {
            let set = vpls_of(&scene, &plain(photons, bounces));
            // Flux, to single precision.
            assert!(
                (set.stats.stored.x / (4.0 * PI) - want).abs() < 1e-6,
                "{}",
                set.stats.stored.x
            );
            let all: Vec<f64> =
                places.iter().map(|&p| lux(&set, p + DVec3::new(10.0, -20.0, 30.0), -p)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let worst = all.iter().map(|e| (e / want - 1.0).abs()).fold(0.0, f64::max);
            println!(
                "{photons} photons, {bounces} bounces: mean {mean:.5}, worst {:.3} %",
                worst * 100.0
            );
            assert!((mean / want - 1.0).abs() < 0.005 && worst < 0.005, "{mean}, worst {worst}");
        }
    }
}

/// All flux ends in the walls of a closed room: the reflected flux is a geometric series.
#[test]
fn closed_rooms_keep_the_light() {
    for reflectance in [0.3, 0.8] {
        let mut builder = room(reflectance);
        builder.point_light_lumens("lamp", Lumen(1000.0), Vec3::ONE, DVec3::new(0.7, 0.2, -1.0));
        let set = vpls_of(&builder.build().unwrap(), &plain(4096, 64));
        let rho = f64::from(reflectance);
        let want = 1000.0 * rho / (1.0 - rho);
        println!("{reflectance}: {} lm stored of {want}", set.stats.stored.x);
        assert!((set.stats.stored.x / want - 1.0).abs() < 0.005);
        assert_eq!((set.stats.escaped, set.stats.dropped), (DVec3::ZERO, 0));
    }
}

#[test]
fn a_lit_square_is_a_square_lamp() {
    let mut builder = SceneBuilder::new("square");
    let material = builder.add_material(diffuse_material(0.5));
    let mesh = builder.add_mesh("square", shapes::plane(Vec2::ONE, 1, 1), material);
    builder.instance("square", mesh, DMat4::IDENTITY);
    builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::NEG_Y);
    let set = vpls_of(&builder.build().unwrap(), &plain(4096, 1));
    let h = 0.5;
    let square = [
        DVec3::new(h, 0.0, h),
        DVec3::new(-h, 0.0, h),
        DVec3::new(-h, 0.0, -h),
        DVec3::new(h, 0.0, -h),
    ];
    for (what, place, normal) in [
        ("facing", DVec3::new(0.1, 0.4, 0.0), DVec3::NEG_Y),
        ("facing, far", DVec3::new(0.0, 3.0, 0.5), DVec3::NEG_Y),
        ("perpendicular", DVec3::new(-0.7, 0.3, 0.1), DVec3::X),
        ("perpendicular, high", DVec3::new(-0.6, 1.0, 0.4), DVec3::X),
    ] {
        let (got, want) =
            (lux(&set, place, normal), lux_of_polygon(&square, 500.0, place, normal).abs());
        println!("{what}: {got:.4} lx, {want:.4} lx ({:+.3} %)", (got / want - 1.0) * 100.0);
        assert!((got / want - 1.0).abs() < 0.005, "{what}: {got}, not {want}");
    }
}

#[test]
fn sun_comes_in_through_a_hole() {
    let mut builder = SceneBuilder::new("hut");
    let material = builder.add_material(diffuse_material(0.5));
    let slab = |builder: &mut SceneBuilder, low: [f32; 3], high: [f32; 3]| {
        let (low, high) = (Vec3::from(low), Vec3::from(high));
        let mesh = builder.add_mesh("slab", shapes::cuboid(high - low), material);
        builder.instance("slab", mesh, DMat4::from_translation(((low + high) / 2.0).as_dvec3()));
    };
    // 4 m x 3 m x 4 m inside, walls of 0.1 m, a hole of 0.8 m x 0.5 m in the roof.
    for (low, high) in [
        ([-2.1, -0.1, -2.1], [2.1, 0.0, 2.1]),
        ([-2.1, 0.0, -2.1], [-2.0, 3.0, 2.1]),
        ([2.0, 0.0, -2.1], [2.1, 3.0, 2.1]),
        ([-2.0, 0.0, -2.1], [2.0, 3.0, -2.0]),
        ([-2.0, 0.0, 2.0], [2.0, 3.0, 2.1]),
        ([-2.1, 3.0, -2.1], [-0.4, 3.001, 2.1]),
        ([0.4, 3.0, -2.1], [2.1, 3.001, 2.1]),
        ([-0.4, 3.0, -2.1], [0.4, 3.001, -0.25]),
        ([-0.4, 3.0, 0.25], [0.4, 3.001, 2.1]),
    ] {
        slab(&mut builder, low, high);
    }
    let direction = DVec3::new(0.3, -1.0, 0.2).normalize();
    builder.sun("sun", Lux(50_000.0), Vec3::ONE, direction);
    let set = vpls_of(&builder.build().unwrap(), &plain(1 << 16, 1));
    let inside = |vpl: &&Vpl| {
        let p = vpl.position.as_dvec3() + set.anchor;
        p.x.abs() < 2.0 && p.z.abs() < 2.0 && p.y > -0.01 && p.y < 2.9
    };
    let (got, want) = (
        set.vpls.iter().filter(inside).map(|vpl| f64::from(vpl.flux.x)).sum::<f64>(),
        0.5 * 50_000.0 * 0.8 * 0.5 * direction.y.abs(),
    );
    println!("{got:.1} lm on the floor, {want:.1} lm ({:+.3} %)", (got / want - 1.0) * 100.0);
    assert!((got / want - 1.0).abs() < 0.01, "{got}, not {want}");
}

/// A lossless ball does not change the total flux that the walls of a closed room receive.
#[test]
fn what_absorbs_nothing_loses_nothing() {
    let glass = Material { transmission: 1.0, ..dielectric("glass", Vec3::ONE, 0.0) };
    let thick = MaterialVolume { thickness: 1.0, ..MaterialVolume::default() };
    for (name, material) in [
        ("mirror", metal("mirror", Vec3::ONE, 0.0)),
        ("thin glass", glass.clone()),
        ("glass", Material { volume: thick, ..glass }),
        (
            "blended",
            Material {
                alpha: AlphaMode::Blend,
                base_color: [1.0, 1.0, 1.0, 0.3].into(),
                ..diffuse_material(1.0)
            },
        ),
    ] {
        let mut builder = room(0.5);
        let material = builder.add_material(material);
        let mesh = builder.add_mesh("ball", shapes::icosphere(0.7, 3), material);
        builder.instance("ball", mesh, DMat4::IDENTITY);
        builder.point_light_lumens("lamp", Lumen(1000.0), Vec3::ONE, DVec3::new(1.2, 0.2, -1.0));
        let set = vpls_of(&builder.build().unwrap(), &plain(4096, 64));
        let wall = |vpl: &&Vpl| (vpl.position.as_dvec3() + set.anchor).length() > 0.75;
        let walls: f64 = set.vpls.iter().filter(wall).map(|vpl| f64::from(vpl.flux.x)).sum();
        println!("{name}: {walls:.1} lm from the walls, {} VPLs", set.vpls.len());
        assert!((walls / 1000.0 - 1.0).abs() < 0.01, "{name}: {walls}");
        assert_eq!(set.stats.escaped, DVec3::ZERO);
        if !matches!(name, "blended") {
            assert_eq!(
                set.vpls.iter().filter(|vpl| !wall(vpl)).count(),
                0,
                "{name} sends nothing diffusely"
            );
        }
    }
}

/// The sun in a mirror: its VPLs lie where the mirrored light falls.
#[test]
fn specular_photons_reach_the_diffuse_surface() {
    let mut builder = SceneBuilder::new("mirror");
    let (mirror, wall) = (
        builder.add_material(metal("mirror", Vec3::splat(0.8), 0.0)),
        builder.add_material(diffuse_material(0.5)),
    );
    let mesh = builder.add_mesh("mirror", shapes::plane(Vec2::ONE, 1, 1), mirror);
    builder.instance("mirror", mesh, DMat4::IDENTITY);
    let mesh = builder.add_mesh("wall", shapes::plane(Vec2::splat(4.0), 1, 1), wall);
    let pose =
        DMat4::from_translation(DVec3::new(2.0, 1.0, 0.0)) * DMat4::from_rotation_z(PI / 2.0);
    builder.instance("wall", mesh, pose);
    // A narrow spot onto the mirror's center, at 45 degrees: the reflection hits the wall 2 m high.
    let emitter = Emitter::Spot {
        cone: crate::photometry::Cone::new(0.025, 0.025).unwrap(),
        flux: crate::photometry::SpotFlux::Exact,
    };
    let pose = look_at_transform(DVec3::new(-2.0, 2.0, 0.0), DVec3::ZERO);
    builder.light("spot", emitter, LightStrength::Lumens(Lumen(100.0)), Vec3::ONE, pose);
    let set = vpls_of(&builder.build().unwrap(), &plain(512, 2));
    assert!((set.stats.stored.x - 100.0 * 0.8 * 0.5).abs() < 0.5, "{}", set.stats.stored.x);
    for vpl in &set.vpls {
        let p = vpl.position.as_dvec3() + set.anchor;
        assert!((p - DVec3::new(2.0, 2.0, 0.0)).length() < 0.3, "{p}");
        assert!(unpack_normal(vpl.normal).x < -0.99);
    }
    // With one allowed bounce, the mirror's is the only one.
    assert!(vpls_of(&SceneBuilder::new("empty").build().unwrap(), &plain(64, 2)).vpls.is_empty());
}

/// No ray of a pixel finds the light that polished dielectrics reflect, so their VPLs have it: the
/// directional albedo of GGX with F0 0.04 at normal incidence, by numerical integration. It is below
/// 4 % on rough surfaces, whose single scattering loses light.
#[test]
fn polished_dielectrics_store_what_their_lobe_reflects() {
    for (roughness, albedo) in [(0.05, 0.04000), (0.3, 0.03962), (0.5, 0.03666)] {
        let mut builder = SceneBuilder::new("wet ground");
        let material = builder.add_material(dielectric("wet", Vec3::ZERO, roughness));
        let mesh = builder.add_mesh("ground", shapes::plane(Vec2::ONE, 1, 1), material);
        builder.instance("ground", mesh, DMat4::IDENTITY);
        builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::NEG_Y);
        let stored = vpls_of(&builder.build().unwrap(), &plain(1024, 1)).stats.stored.x;
        let wanted = 1000.0 * albedo;
        assert!((stored / wanted - 1.0).abs() < 0.01, "roughness {roughness}: {stored}");
    }
}

/// Light without shadows falls on each of three sheets, one behind the other.
#[test]
fn light_without_shadows_falls_on_all() {
    let mut builder = SceneBuilder::new("sheets");
    let material = builder.add_material(diffuse_material(0.5));
    let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::ONE, 1, 1), material);
    for height in 0..3 {
        builder.instance("sheet", mesh, DMat4::from_translation(DVec3::Y * f64::from(height)));
    }
    builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::NEG_Y);
    let mut scene = builder.build().unwrap();
    let stored = |scene: &Scene| vpls_of(scene, &plain(4096, 1));
    assert!((stored(&scene).stats.stored.x / 500.0 - 1.0).abs() < 0.005);
    scene.lights[0].shadow = false;
    let set = stored(&scene);
    assert!((set.stats.stored.x / 1500.0 - 1.0).abs() < 0.005, "{}", set.stats.stored.x);
    for height in 0..3 {
        let there = |vpl: &&Vpl| {
            (f64::from(vpl.position.y) + set.anchor.y - f64::from(height)).abs() < 1e-3
        };
        let lumens: f64 = set.vpls.iter().filter(there).map(|vpl| f64::from(vpl.flux.x)).sum();
        // A third of the photons, three times as strong: chosen by independent numbers.
        assert!((lumens / 500.0 - 1.0).abs() < 0.08, "{height}: {lumens}");
    }
}

/// A diffusely transmitting leaf emits to both sides.
#[test]
fn leaves_shine_on_both_sides() {
    let mut builder = SceneBuilder::new("leaf");
    let mut leaf = diffuse_material(0.6);
    leaf.diffuse_transmission.factor = 0.25;
    leaf.diffuse_transmission.color = Vec3::new(0.0, 0.8, 0.0);
    let leaf = builder.add_material(leaf);
    let mesh = builder.add_mesh("leaf", shapes::plane(Vec2::ONE, 1, 1), leaf);
    builder.instance("leaf", mesh, DMat4::IDENTITY);
    builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::NEG_Y);
    let set = vpls_of(&builder.build().unwrap(), &plain(256, 1));
    let side = |sign: f32| {
        let there = set.vpls.iter().filter(|vpl| unpack_normal(vpl.normal).y * sign > 0.9);
        there.map(|vpl| vpl.flux.as_dvec3()).sum::<DVec3>()
    };
    let (above, below) = (side(1.0), side(-1.0));
    assert!((above - DVec3::splat(1000.0 * 0.75 * 0.6)).abs().max_element() < 3.0, "{above}");
    assert!((below - DVec3::Y * (1000.0 * 0.25 * 0.8)).abs().max_element() < 3.0, "{below}");
}
