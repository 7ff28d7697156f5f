//! Scenes with one mistake each, and their correct counterparts.

use glam::{Vec2, Vec4};

use super::*;
use crate::{
    photometry::{
        Candela, Nit,
        lights::{LightStrength, Sides},
    },
    scene::{
        Sampler, Texture,
        build::{SceneBuilder, dielectric},
        inspect::node_lights,
        procedural::shapes,
    },
};

fn look(settings: &[&str]) -> Look {
    Look::of(settings).unwrap()
}

fn with_object(name: &str, size: f32) -> Scene {
    let mut builder = SceneBuilder::new("one");
    let gray = builder.add_material(dielectric("gray", Vec3::ONE, 1.0));
    let mesh = builder.add_mesh("body", shapes::cuboid(Vec3::splat(size)), gray);
    builder.instance(name, mesh, DMat4::IDENTITY);
    builder.build().unwrap()
}

#[test]
fn names_have_words() {
    assert_eq!(words("Dining_chair.001"), ["dining", "chair"]);
    assert_eq!(words("diningChair12B"), ["dining", "chair", "b"]);
    assert_eq!(words("BOTTLE"), ["bottle"]);
    assert!(plausible("chairs").is_some() && plausible("armchairLeft").is_some());
    // Parts of words and models are no objects.
    assert!(plausible("mandala").is_none() && plausible("ToyTable").is_none());
}

#[test]
fn lengths_have_readable_units() {
    let texts = [(1234.0, "1.23 km"), (12.34, "12.3 m"), (0.5, "50 cm"), (0.004, "4 mm")];
    for (meters, text) in texts {
        assert_eq!(length(meters), text);
    }
    assert_eq!(length(100.0), "100 m");
}

#[test]
fn the_unit_is_found_by_common_objects() {
    let found = |name: &str, size: f32| match findings(&with_object(name, size), &look(&[]), &[]) {
        found if found.is_empty() => None,
        found => match found.as_slice() {
            [Finding::Unit { scale, object: Some((object, extent, _)), .. }] => {
                assert_eq!((object.as_str(), *extent), (name, f64::from(size)));
                Some(*scale)
            }
            other => panic!("{other:?}"),
        },
    };
    // In m, cm, mm, scaled down twice.
    assert_eq!(found("Chair", 0.9), None);
    assert_eq!(found("Chair", 90.0), Some(0.01));
    assert_eq!(found("Chair", 900.0), Some(0.001));
    assert_eq!(found("Chair", 0.009), Some(100.0));
    assert_eq!(found("Table.003", 160.0), Some(0.01));
    // A large table, and names without a size.
    assert_eq!(found("Table", 12.0), None);
    assert_eq!(found("Cube", 90.0), None);
    // A scale that is set is meant.
    assert_eq!(findings(&with_object("Chair", 90.0), &look(&["scene.scale=1"]), &[]), []);
}

#[test]
fn parts_count_as_their_object() {
    let mut builder = SceneBuilder::new("parts");
    let gray = builder.add_material(dielectric("gray", Vec3::ONE, 1.0));
    let mesh = builder.add_mesh("leg", shapes::cuboid(Vec3::new(0.05, 0.45, 0.05)), gray);
    let chair = builder.instance("Chair", mesh, DMat4::from_scale(DVec3::splat(100.0)));
    builder.instance_in(chair, "Leg", mesh, DMat4::from_translation(DVec3::X * 0.4));
    let scene = builder.build().unwrap();
    let extents = Extents::of(&scene);
    let [(name, extent, _)] = extents.objects.as_slice() else { panic!() };
    assert_eq!(*name, "Chair");
    assert!((extent - 45.0).abs() < 1e-4 && (extents.size - 45.0).abs() < 1e-4, "{extent}");
}

#[test]
fn sizes_that_no_scene_has_are_found() {
    let scale = |size: f32| match findings(&with_object("Cube", size), &look(&[]), &[]).as_slice() {
        [Finding::Unit { scale, object: None, .. }] => Some(*scale),
        [] => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(scale(30_000.0), Some(0.001));
    assert_eq!(scale(0.002), Some(1000.0));
    assert_eq!([scale(0.01), scale(2000.0)], [None, None]);
}

#[test]
fn lights_larger_than_the_scene_are_found() {
    let panel = |width: f64| {
        let mut builder = SceneBuilder::new("panel");
        let gray = builder.add_material(dielectric("gray", Vec3::ONE, 1.0));
        let mesh = builder.add_mesh("floor", shapes::plane(Vec2::splat(3.0), 1, 1), gray);
        builder.instance("Floor", mesh, DMat4::IDENTITY);
        let emitter = Emitter::Rectangle { width, height: 1.0, sides: Sides::One };
        let strength = LightStrength::Nits(Nit(1000.0));
        builder.light("Panel", emitter, strength, Vec3::ONE, DMat4::IDENTITY);
        findings(&builder.build().unwrap(), &look(&[]), &[])
    };
    assert_eq!(panel(0.6), []);
    // A studio's light bank above a small set.
    assert_eq!(panel(12.0), []);
    let found = panel(600.0);
    let [Finding::HugeLight { light, size, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((light.as_str(), *size), ("lights.Panel", 600.0));
}

/// A changed light has a new number in the scene; the look addresses it by the old one.
#[test]
fn changed_lights_are_named_as_the_look_addresses_them() {
    let mut builder = SceneBuilder::new("unnamed");
    let gray = builder.add_material(dielectric("gray", Vec3::ONE, 1.0));
    let mesh = builder.add_mesh("body", shapes::icosphere(1.0, 2), gray);
    builder.instance("Globe", mesh, DMat4::IDENTITY);
    builder.point_light_candela("", Candela(100.0), Vec3::ONE, DVec3::X * 0.3);
    builder.point_light_candela("Key light", Candela(100.0), Vec3::ONE, DVec3::X * 9.0);
    let mut scene = builder.build().unwrap();
    let look = look(&[
        "lights.#0.lumens=100",
        "lights.Key light.shape=sphere",
        "lights.Key light.radius=100",
    ]);
    let before = node_lights(&scene);
    look.apply(&mut scene).unwrap();
    assert_ne!(node_lights(&scene), before);
    let inside = enclosed(&scene, &before);
    let [Finding::Inside { what, .. }] = inside.as_slice() else { panic!("{inside:?}") };
    assert_eq!(what, "light '#0'");
    let huge = findings(&scene, &look, &before);
    let [Finding::HugeLight { light, .. }] = huge.as_slice() else { panic!("{huge:?}") };
    assert_eq!(light, "lights.\"Key light\"");
}

#[test]
fn shutter_times_of_denominators_are_found() {
    let scene = with_object("Cube", 1.0);
    let found = |setting: &str| findings(&scene, &look(&[setting]), &[]);
    for path in ["camera.body.shutter", "cameras.Top.shutter"] {
        let long = Finding::LongShutter { path: path.into(), seconds: 125.0 };
        assert_eq!(found(&format!("{path}=125")), [long]);
    }
    for meant in ["1/125", "30", "90", "0.008"] {
        assert_eq!(found(&format!("camera.body.shutter={meant}")), [], "{meant}");
    }
}

/// A material whose maps have one texel each.
fn mapped(normal: [u8; 3], base: Option<[u8; 3]>, shared: bool) -> Vec<Finding> {
    let mut scene = with_object("Cube", 1.0);
    let map =
        |index: usize| TextureRef { texture: index, uv_set: 0, transform: TextureRef::IDENTITY };
    let mut add = |[r, g, b]: [u8; 3]| {
        scene.images.push(Image {
            name: format!("image {}", scene.images.len()),
            width: 1,
            height: 1,
            rgba8: [r, g, b, 255].into(),
            is_error_pattern: false,
            compressed: None,
        });
        scene.textures.push(Texture { image: scene.images.len() - 1, sampler: Sampler::default() });
        map(scene.textures.len() - 1)
    };
    let normal = add(normal);
    let base = base.map(&mut add).or(shared.then_some(normal));
    scene.materials[0].normal_texture = Some(normal);
    scene.materials[0].base_color_texture = base;
    scene.materials[0].base_color = Vec4::ONE;
    findings(&scene, &look(&[]), &[])
}

#[test]
fn maps_of_the_wrong_kind_are_found() {
    // Straight up, and 30 degrees aslant.
    assert_eq!(mapped([128, 128, 255], None, false), []);
    assert_eq!(mapped([191, 128, 238], Some([200, 30, 20]), false), []);
    // Two channels.
    assert_eq!(mapped([128, 128, 0], None, false), []);
    // 0.5 encoded as sRGB is 188.
    let encoded = mapped([188, 188, 255], None, false);
    assert!(matches!(encoded.as_slice(), [Finding::NotNormals { srgb: true, .. }]), "{encoded:?}");
    let height = mapped([90, 90, 90], None, false);
    assert!(matches!(height.as_slice(), [Finding::NotNormals { srgb: false, .. }]), "{height:?}");
    let shared = mapped([128, 128, 255], None, true);
    assert!(
        matches!(shared.as_slice(), [Finding::ColorAsData { data: "normals", .. }]),
        "{shared:?}"
    );
}

#[test]
fn lights_and_cameras_inside_of_bodies_are_found() {
    let found = |at: f64, double_sided: bool, mirror: f64| {
        let mut builder = SceneBuilder::new("closed");
        let mut gray = dielectric("gray", Vec3::ONE, 1.0);
        gray.double_sided = double_sided;
        let gray = builder.add_material(gray);
        let mesh = builder.add_mesh("body", shapes::icosphere(1.0, 2), gray);
        builder.instance("Globe", mesh, DMat4::from_scale(DVec3::new(mirror, 1.0, 1.0)));
        let position = DVec3::X * at;
        builder.point_light_candela("Lamp", Candela(100.0), Vec3::ONE, position);
        builder.camera("Eye", position, DVec3::Z * 9.0, 0.6, None);
        enclosed(&builder.build().unwrap(), &[])
    };
    for mirror in [1.0, -1.0] {
        let bodies: Vec<String> = (found(0.3, false, mirror).into_iter())
            .map(|finding| match finding {
                Finding::Inside { what, body } => format!("{what} in {body}"),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(bodies, ["light 'Lamp' in Globe", "camera 'Eye' in Globe"]);
        assert_eq!(found(3.0, false, mirror), []);
    }
    // A room whose walls are meant to be seen from both sides.
    assert_eq!(found(0.3, true, 1.0), []);
}
