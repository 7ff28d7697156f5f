//! Every kind of light emits its lumens in the right directions.
use std::{f64::consts::PI, sync::Arc};

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::*;
use crate::{
    bvh::{SceneBvh, unpack_normal},
    photometry::{
        Cone, Emitter, IesProfile, LightStrength, Lumen, Lux, Nit, Sides, SpotFlux,
        color::luminance,
        environment::{RadianceMap, RowMapping},
    },
    scene::{
        Environment, Material, Primitive, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::{shapes, textures::TextureImage},
    },
    settings::GiSettings,
};

/// A purely Lambertian material.
pub(super) fn diffuse_material(reflectance: f32) -> Material {
    Material { ior: 1.0, ..dielectric("matte", Vec3::splat(reflectance), 1.0) }
}

/// A closed room of 4 m x 3 m x 5 m around the origin.
pub(super) fn room(reflectance: f32) -> SceneBuilder {
    let mut builder = SceneBuilder::new("room");
    let material = builder.add_material(diffuse_material(reflectance));
    let mesh = builder.add_mesh("walls", shapes::cuboid(Vec3::new(4.0, 3.0, 5.0)), material);
    builder.instance("walls", mesh, DMat4::IDENTITY);
    builder
}

pub(super) fn plain(photons: u32, bounces: u32) -> GiSettings {
    GiSettings {
        vpls: 4096,
        photons: Some(photons),
        bounces,
        merge: false,
        ..GiSettings::default()
    }
}

pub(super) fn build_bvh(scene: &Scene) -> SceneBvh {
    let mut bvh = SceneBvh::new(scene, |_| true);
    bvh.build_wide();
    bvh
}

pub(super) fn vpls_of(scene: &Scene, settings: &GiSettings) -> Arc<VplSet> {
    Radiosity::new().update(scene, &build_bvh(scene), settings).0
}

fn near(what: &str, got: f64, want: f64, within: f64) {
    println!("{what}: {got:.6}, expected {want:.6} ({:+.4} %)", (got / want - 1.0) * 100.0);
    assert!((got / want - 1.0).abs() <= within, "{what}: {got}, not {want}");
}

const LAMBERT: &str = "IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 10 1 1 2 0 0 0\n1 1 10\n0 10 20 30 40 50 60 70 80 90\n0\n\
    1000 984.8 939.7 866.0 766.0 642.8 500 342.0 173.6 0\n";

#[test]
fn lights_emit_their_lumens() {
    let cone = Cone::new(0.2, 0.7).unwrap();
    let hard = Cone::new(0.4, 0.4).unwrap();
    let spot = |cone, flux| Emitter::Spot { cone, flux };
    let lumens = LightStrength::Lumens(Lumen(800.0));
    let flat = |sides| Emitter::Rectangle { width: 0.4, height: 0.3, sides };
    for (name, emitter, strength, want) in [
        ("point", Emitter::Point, lumens, 800.0),
        ("soft spot", spot(cone, SpotFlux::Exact), lumens, 800.0),
        ("hard spot", spot(hard, SpotFlux::Exact), lumens, 800.0),
        // The soft edge leaves this fraction of the whole apex cone.
        (
            "apex spot",
            spot(cone, SpotFlux::ApexCone),
            lumens,
            800.0 * cone.flux_per_candela().get() / cone.solid_angle().get(),
        ),
        ("sphere", Emitter::Sphere { radius: 0.1 }, lumens, 800.0),
        (
            "sphere in nits",
            Emitter::Sphere { radius: 0.1 },
            LightStrength::Nits(Nit(5e3)),
            5e3 * PI * 4.0 * PI * 0.01,
        ),
        ("disk", Emitter::Disk { radius: 0.2, sides: Sides::Two }, lumens, 800.0),
        ("rectangle", flat(Sides::One), LightStrength::Nits(Nit(5e3)), 5e3 * PI * 0.12),
        ("both sides", flat(Sides::Two), LightStrength::Nits(Nit(5e3)), 5e3 * PI * 0.24),
        ("tube", Emitter::Tube { radius: 0.05, length: 1.0 }, lumens, 800.0),
    ] {
        let mut builder = room(0.5);
        builder.light(
            "lamp",
            emitter,
            strength,
            Vec3::new(1.0, 0.5, 0.0),
            DMat4::from_rotation_x(0.3),
        );
        let set = vpls_of(&builder.build().unwrap(), &plain(4096, 1));
        near(name, set.stats.emitted.x, want, 0.005);
        near("its green", set.stats.emitted.y, want / 2.0, 0.005);
        assert_eq!(set.stats.emitted.z, 0.0);
        // A closed room reflects half of it, once.
        near("stored", set.stats.stored.x, want / 2.0, 0.005);
        assert_eq!((set.stats.escaped, set.stats.dropped), (DVec3::ZERO, 0));
        assert!(set.stats.kept <= 4096 && set.stats.kept > 3900, "{}", set.stats.kept);
    }
}

/// In the far field, photon counts follow the intensity: each of 16 parts of equal solid angle
/// about the axis gets its share.
#[test]
fn photons_go_where_the_intensity_says() {
    let spot = |inner, outer| Emitter::Spot {
        cone: Cone::new(inner, outer).unwrap(),
        flux: SpotFlux::Exact,
    };
    for (emitter, along_tube) in [
        (Emitter::Point, false),
        (spot(0.3, 1.1), false),
        (spot(0.0, 2.0), false),
        (Emitter::Sphere { radius: 0.2 }, false),
        (Emitter::Disk { radius: 0.2, sides: Sides::One }, false),
        (Emitter::Rectangle { width: 0.3, height: 0.1, sides: Sides::Two }, false),
        (Emitter::Tube { radius: 0.1, length: 0.5 }, true),
    ] {
        let mut builder = room(0.5);
        let turn = DMat4::from_rotation_y(0.7) * DMat4::from_rotation_x(-0.4);
        builder.light("lamp", emitter, LightStrength::Lumens(Lumen(1.0)), Vec3::ONE, turn);
        let scene = builder.build().unwrap();
        let bvh = build_bvh(&scene);
        let (top, material) = (bvh.tlas_from(DVec3::ZERO), Material::default());
        let stage =
            surface_hit::TraceScene { scene: &scene, bvh: &bvh, tlas: &top, plain: &material };
        let bounds = bounds::Extent::new(&bvh, None).unwrap().relative_to(DVec3::ZERO);
        let all = emission::sources(
            &stage,
            DVec3::ZERO,
            &bounds,
            &std::collections::HashMap::new(),
            false,
        );
        // A tube's length lies along +X; others emit along -Z.
        let axis = turn.transform_vector3(if along_tube { DVec3::X } else { DVec3::NEG_Z });
        let (photons, parts) = (65_536, 16);
        let mut got = vec![0.0; parts];
        for number in 0..photons {
            let numbers = sequence::Sequence::new(5).point(0, number);
            let photon = all[0].emission.photon(&stage, numbers).unwrap();
            assert!((photon.direction.length() - 1.0).abs() < 1e-9 && photon.origin.length() < 0.4);
            let part = ((photon.direction.dot(axis) + 1.0) / 2.0 * parts as f64) as usize;
            got[part.min(parts - 1)] += photon.weight.x / f64::from(photons);
        }
        let fine = 1000;
        let intensity = |part: usize| -> f64 {
            let step =
                |i: usize| ((part * fine + i) as f64 + 0.5) / (parts * fine) as f64 * 2.0 - 1.0;
            (0..fine).map(|i| emitter.relative_intensity(step(i)).unwrap()).sum()
        };
        let total: f64 = (0..parts).map(intensity).sum();
        for (part, got) in got.iter().enumerate() {
            let want = intensity(part) / total;
            // Three standard deviations of independent samples where only the sum of position and
            // direction counts; the points do better.
            assert!(
                (got - want).abs() < 0.003,
                "{}: part {part} has {got}, not {want}",
                emitter.name()
            );
        }
    }
}

/// Lambert's law in a file: the floor below gets what the form factor gives, the ceiling nothing.
#[test]
fn a_profile_gives_its_lumens_downwards() {
    let profile = Arc::new(IesProfile::parse(LAMBERT.as_bytes()).unwrap());
    let want = profile.lumens().get();
    near("the file's integral", want, PI * 1000.0, 0.005);
    let mut builder = room(0.5);
    let candela = LightStrength::Candela(profile.peak());
    builder.light(
        "lamp",
        Emitter::Point,
        candela,
        Vec3::ONE,
        look_at_transform(DVec3::Y, DVec3::ZERO),
    );
    let mut scene = builder.build().unwrap();
    scene.lights[0].profile = Some(profile);
    let set = vpls_of(&scene, &plain(4096, 1));
    near("emitted", set.stats.emitted.x, want, 0.005);
    let up = |sign: f32| -> f64 {
        let facing = set.vpls.iter().filter(|vpl| unpack_normal(vpl.normal).y * sign > 0.9);
        facing.map(|vpl| f64::from(vpl.flux.x)).sum()
    };
    assert_eq!(up(-1.0), 0.0);
    // A small planar source 2.5 m above the center of 4 m x 5 m: four corner rectangles of 2 m x
    // 2.5 m.
    let corner = |a: f64, b: f64| {
        (a / (1.0 + a * a).sqrt() * (b / (1.0 + a * a).sqrt()).atan()
            + b / (1.0 + b * b).sqrt() * (a / (1.0 + b * b).sqrt()).atan())
            / (2.0 * PI)
    };
    near("floor", up(1.0), want * 0.5 * 4.0 * corner(2.0 / 2.5, 2.5 / 2.5), 0.01);
}

#[test]
fn suns_and_skies_light_the_scenes_box() {
    let direction = DVec3::new(0.3, -0.8, 0.2).normalize();
    let areas = DVec3::new(3.0 * 5.0, 4.0 * 5.0, 4.0 * 3.0);
    let shadow = areas.dot(direction.abs());
    for emitter in [Emitter::PARALLEL, Emitter::SUN, Emitter::Sun { angular_radius: 0.05 }] {
        let mut builder = room(0.5);
        let pose = look_at_transform(DVec3::ZERO, direction);
        builder.light("sun", emitter, LightStrength::Lux(Lux(1000.0)), Vec3::ONE, pose);
        let set = vpls_of(&builder.build().unwrap(), &plain(4096, 1));
        near(emitter.name(), set.stats.emitted.x, 1000.0 * shadow, 0.005);
        near("met", set.stats.stored.x, 500.0 * shadow, 0.005);
        // The whole box receives photons: almost none pass by.
        assert!(set.stats.escaped.x < 0.005 * set.stats.emitted.x, "{}", set.stats.escaped);
    }
    // A uniform sky gives pi L on each square meter of a box (Cauchy).
    let even = |nits: f64| {
        RadianceMap::from_fn(64, 32, RowMapping::Linear, |_| DVec3::splat(nits)).unwrap()
    };
    let around = |map: RadianceMap, rotation: f64| {
        let mut scene = room(0.5).build().unwrap();
        scene.environment =
            Some(Environment { map: Arc::new(map), rotation, origin: String::new() });
        vpls_of(&scene, &plain(8192, 1))
    };
    let set = around(even(100.0), 0.0);
    near("even sky", set.stats.emitted.x, 100.0 * PI * 2.0 * areas.element_sum(), 0.005);
    // A small area of sky in the north, which is -Z, turned to the east: it lights the walls that
    // face +X.
    let patch = |d: DVec3| if d.z < -0.999 { DVec3::new(3e4, 2e4, 1e4) } else { DVec3::ZERO };
    let map = RadianceMap::from_fn(256, 128, RowMapping::Linear, patch).unwrap();
    let set = around(map, std::f64::consts::FRAC_PI_2);
    let lit: f64 = set
        .vpls
        .iter()
        .filter(|v| unpack_normal(v.normal).x > 0.9)
        .map(|v| f64::from(v.flux.x))
        .sum();
    assert!(lit > 0.93 * set.stats.stored.x, "{lit} of {}", set.stats.stored.x);
    assert!((set.stats.stored.y / set.stats.stored.x - 2.0 / 3.0).abs() < 1e-3);
}

fn glowing(emission: Vec3) -> Material {
    Material { emission, ..diffuse_material(0.0) }
}

#[test]
fn emissive_flux_is_pi_luminance_area() {
    let lamp = |material: Material, shape: Primitive| {
        let mut builder = room(0.5);
        let material = builder.add_material(material);
        let mesh = builder.add_mesh("glow", shape, material);
        builder.instance("glow", mesh, DMat4::from_scale(DVec3::new(2.0, 1.0, -0.5)));
        let mut scene = builder.build().unwrap();
        scene.emissive_lights = true;
        scene
    };
    let square = || shapes::plane(Vec2::new(1.0, 1.0), 2, 3);
    let set = vpls_of(&lamp(glowing(Vec3::new(100.0, 50.0, 0.0)), square()), &plain(4096, 1));
    near("one side", set.stats.emitted.x, 100.0 * PI, 0.005);
    near("its green", set.stats.emitted.y, 50.0 * PI, 0.005);
    let up: f32 = set
        .vpls
        .iter()
        .filter(|vpl| vpl.position.y + set.anchor.y as f32 > 0.1)
        .map(|vpl| vpl.flux.x)
        .sum();
    assert!(up > 0.3 * set.stats.stored.x as f32, "the front shines upwards under a mirror, too");
    let both = Material { double_sided: true, ..glowing(Vec3::splat(100.0)) };
    near(
        "two sides",
        vpls_of(&lamp(both, square()), &plain(4096, 1)).stats.emitted.x,
        200.0 * PI,
        0.005,
    );
    let ball =
        vpls_of(&lamp(glowing(Vec3::splat(100.0)), shapes::icosphere(0.5, 4)), &plain(4096, 1));
    // An ellipsoid of half axes 1, 0.5 and 0.25 m: its area by quadrature, less the loss to facets.
    near("ellipsoid", ball.stats.emitted.x, 100.0 * PI * 3.9673, 0.02);
    let mut off = lamp(glowing(Vec3::splat(100.0)), square());
    off.emissive_lights = false;
    assert!(vpls_of(&off, &plain(64, 1)).vpls.is_empty());
}

/// Half of a texture is black: half of the flux, from the other half.
#[test]
fn glowing_textures_shine_where_they_are_bright() {
    let mut builder = room(0.5);
    let rgba8 =
        (0..64 * 64).flat_map(|i| if i % 64 < 32 { [255; 4] } else { [0, 0, 0, 255] }).collect();
    let sampler = crate::scene::Sampler { mag_linear: false, ..crate::scene::Sampler::default() };
    let texture =
        builder.add_texture("half", TextureImage { width: 64, height: 64, rgba8 }, sampler);
    let material = Material {
        emissive_texture: Some(SceneBuilder::texture_ref(texture)),
        ..glowing(Vec3::splat(100.0))
    };
    let material = builder.add_material(material);
    let mesh = builder.add_mesh("screen", shapes::plane(Vec2::new(1.0, 1.0), 1, 1), material);
    builder.instance("screen", mesh, DMat4::IDENTITY);
    let mut scene = builder.build().unwrap();
    scene.emissive_lights = true;
    let set = vpls_of(&scene, &plain(4096, 1));
    near("half a screen", set.stats.emitted.x, 50.0 * PI, 0.005);
}

/// NaN and infinite fluxes emit no light and do no harm.
#[test]
fn bad_numbers_are_dropped_and_counted() {
    let mut builder = room(0.5);
    builder.point_light_lumens("lamp", Lumen(100.0), Vec3::ONE, DVec3::ZERO);
    let mut scene = builder.build().unwrap();
    scene.lights.push(scene.lights[0].clone());
    scene.lights[1].color = Vec3::splat(f32::MAX);
    scene.lights[1].source =
        crate::photometry::PhysicalLight::new(Emitter::Point, LightStrength::Lumens(Lumen(1e30)))
            .unwrap();
    scene.lights.push(scene.lights[0].clone());
    scene.lights[2].color = Vec3::splat(f32::NAN);
    for light in [1, 2] {
        scene
            .nodes
            .push(crate::scene::Node { light: Some(light), ..crate::scene::Node::default() });
        scene.roots.push(scene.nodes.len() - 1);
    }
    let set = vpls_of(&scene, &plain(256, 2));
    assert!(set.stats.dropped > 0);
    assert!(!set.vpls.is_empty());
    for vpl in &set.vpls {
        assert!(
            vpl.flux.is_finite()
                && vpl.position.is_finite()
                && vpl.size.is_finite()
                && vpl.size > 0.0
        );
    }
    assert!(set.stats.emitted.is_finite() && luminance(set.stats.stored).is_finite());
}
