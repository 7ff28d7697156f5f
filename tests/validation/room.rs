//! The light room: a small studio of plain surfaces, lights in lumens, and a physical camera.
//!
//! Modeled after rooms with published luminaires, reflectances and illuminances for checks of
//! lighting programs: CIBSE TM28/00 ("Benchmarking Lighting Design Software", 2000) and section 4
//! of CIE 171:2006 ("Test Cases to Assess the Accuracy of Lighting Computer Programs"). It has
//! their kind of surfaces and luminaires, not their dimensions or measured values.

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3, vec3};
use sunny16::{
    photometry::{Kelvin, Lumen},
    scene::{
        Material, Scene,
        build::{SceneBuilder, black_body, dielectric, look_at_transform, metal},
        procedural::shapes,
    },
};

use crate::case::{Case, Reference, bare, list};

/// Meters: width, height, depth.
const ROOM: DVec3 = dvec3(4.0, 2.7, 3.6);

fn scene() -> Scene {
    let mut builder = SceneBuilder::new("light room");
    let floor = builder.add_material(dielectric("dark floor, 10 %", Vec3::splat(0.09), 0.8));
    let wall = builder.add_material(dielectric("white wall, 78 %", Vec3::splat(0.8), 1.0));
    let back = builder.add_material(dielectric("blue-gray wall", vec3(0.25, 0.32, 0.42), 1.0));
    let turn = |x: f64, z: f64| {
        DMat4::from_rotation_z(z.to_radians()) * DMat4::from_rotation_x(x.to_radians())
    };
    let (w, h, d) = (ROOM.x, ROOM.y, ROOM.z);
    for (name, size, material, at, pose) in [
        ("floor", [w, d], floor, dvec3(0.0, 0.0, 0.0), turn(0.0, 0.0)),
        ("ceiling", [w, d], wall, dvec3(0.0, h, 0.0), turn(180.0, 0.0)),
        ("back wall", [w, h], back, dvec3(0.0, h / 2.0, -d / 2.0), turn(90.0, 0.0)),
        ("front wall", [w, h], wall, dvec3(0.0, h / 2.0, d / 2.0), turn(-90.0, 0.0)),
        ("left wall", [h, d], wall, dvec3(-w / 2.0, h / 2.0, 0.0), turn(0.0, -90.0)),
        ("right wall", [h, d], wall, dvec3(w / 2.0, h / 2.0, 0.0), turn(0.0, 90.0)),
    ] {
        let size = Vec2::new(size[0] as f32, size[1] as f32);
        let mesh = builder.add_mesh(name, bare(shapes::plane(size, 1, 1)), material);
        builder.instance(name, mesh, DMat4::from_translation(at) * pose);
    }
    let wood = builder.add_material(dielectric("table", vec3(0.35, 0.22, 0.12), 0.5));
    let mesh = builder.add_mesh("table", bare(shapes::cuboid(vec3(1.8, 0.7, 0.8))), wood);
    builder.instance("table", mesh, DMat4::from_translation(dvec3(0.0, 0.35, -0.4)));
    for (name, material, x) in [
        ("matte ball", dielectric("matte ball", vec3(0.5, 0.5, 0.5), 1.0), -0.6),
        ("metal ball", metal("metal ball", vec3(0.91, 0.92, 0.92), 0.3), 0.0),
        ("glossy ball", dielectric("glossy ball", vec3(0.5, 0.03, 0.03), 0.25), 0.6),
    ] {
        let material = builder.add_material(material);
        let mesh = builder.add_mesh(name, bare(shapes::icosphere(0.2, 4)), material);
        builder.instance(name, mesh, DMat4::from_translation(dvec3(x, 0.9, -0.4)));
    }
    // 18 % in total: 0.96 of the base and 0.01 of the surface.
    let gray = builder.add_material(dielectric("gray card, 18 %", Vec3::splat(0.177), 1.0));
    let mesh = builder.add_mesh("gray card", bare(shapes::plane(Vec2::new(0.5, 0.5), 1, 1)), gray);
    builder.instance(
        "gray card",
        mesh,
        DMat4::from_translation(dvec3(-1.2, 1.3, -1.79)) * turn(90.0, 0.0),
    );
    // 3000 lm of a panel of 1.2 by 0.3 m, 4000 K: L = flux / (pi A).
    let nits = (3000.0 / (std::f64::consts::PI * 1.2 * 0.3)) as f32;
    let emission = black_body(Kelvin(4000.0)) * nits;
    let panel = builder
        .add_material(Material { emission, ..dielectric("panel, 3000 lm", Vec3::ZERO, 1.0) });
    let mesh = builder.add_mesh("panel", bare(shapes::plane(Vec2::new(1.2, 0.3), 1, 1)), panel);
    builder.instance(
        "panel",
        mesh,
        DMat4::from_translation(dvec3(0.0, 2.69, 0.2)) * turn(180.0, 0.0),
    );
    let warm = black_body(Kelvin(2700.0));
    builder.point_light_lumens("bulb", Lumen(806.0), warm, dvec3(1.5, 1.6, -1.2));
    let pose = look_at_transform(dvec3(-1.6, 2.4, 1.0), dvec3(-1.2, 1.3, -1.8));
    builder.spot_light_lumens("spot", Lumen(400.0), Vec3::ONE, (0.25, 0.45), pose);
    builder.camera("Camera", dvec3(0.0, 1.4, 1.75), dvec3(0.0, 1.0, -1.0), 0.95, Some(1.5));
    builder.build().unwrap()
}

pub fn cases() -> Vec<Case> {
    let mut case = Case {
        name: "light_room".into(),
        title: "The light room".into(),
        text: "A studio of 4 x 2.7 x 3.6 m: a panel of 3000 lm and 4000 K, a bulb of 806 lm and 2700 K, a spot of 400 lm on a gray card; f/4, 1/60 s, ISO 400; all reflections. After the rooms of CIBSE TM28 and CIE 171:2006, section 4, without their measured values."
            .into(),
        size: [192, 128],
        scene: Some(scene()),
        look: "[camera.lens]\nf_stop = 4.0\n\n[camera.body]\nshutter = \"1/60\"\niso = 400.0\n".into(),
        bounces: 64,
        spp: 1024,
        references: vec![Reference::mitsuba(2048, "independent")],
        ..Case::default()
    };
    let camera = |p: DVec3| {
        let eye = dvec3(0.0, 1.4, 1.75);
        let forward = (dvec3(0.0, 1.0, -1.0) - eye).normalize();
        let right = forward.cross(DVec3::Y).normalize();
        let d = p - eye;
        let scale = 64.0 / (0.475f64.tan() * d.dot(forward));
        [96.0 + d.dot(right) * scale, 64.0 - d.dot(right.cross(forward)) * scale]
    };
    let places = [
        ("gray card", dvec3(-1.2, 1.3, -1.79), 6.0),
        ("back wall", dvec3(0.3, 1.8, -1.8), 8.0),
        ("left wall", dvec3(-2.0, 1.2, -1.2), 6.0),
        ("floor", dvec3(-1.4, 0.0, -0.6), 6.0),
        ("table", dvec3(0.3, 0.7, -0.1), 3.0),
        ("matte ball", dvec3(-0.6, 0.9, -0.4), 10.0),
        ("metal ball", dvec3(0.0, 0.9, -0.4), 10.0),
        ("glossy ball", dvec3(0.6, 0.9, -0.4), 10.0),
    ];
    for (name, at, radius) in places {
        case.circle(name, camera(at), radius);
    }
    let names: Vec<String> = places.iter().map(|place| place.0.to_owned()).collect();
    let why = "one BRDF, two renderers";
    case.mean_of_mitsuba("0.003", "", why);
    case.bound(["path", "mitsuba"], "block_rms", "at_most = 0.01", "", why);
    let why = "the same, surface by surface, whose few pixels are noisy by half a percent";
    case.mean_of_mitsuba("0.007", &list(&names), why);
    vec![case]
}
