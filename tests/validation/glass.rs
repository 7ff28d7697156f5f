//! Glass: a clear ball, an absorbing block, a rough plate, before a wall and in a sky.

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3, vec3};
use sunny16::scene::{
    Material, MaterialVolume,
    build::{SceneBuilder, dielectric},
    procedural::shapes,
};

use crate::case::{Case, Reference, bare, list};

fn glass(name: &str, roughness: f32, volume: MaterialVolume) -> Material {
    Material { transmission: 1.0, volume, ..dielectric(name, Vec3::ONE, roughness) }
}

pub fn cases() -> Vec<Case> {
    let mut builder = SceneBuilder::new("glass");
    for (name, color, x) in
        [("red wall", vec3(0.6, 0.1, 0.1), -1.5), ("gray wall", Vec3::splat(0.4), 1.5)]
    {
        let wall = builder.add_material(dielectric(name, color, 1.0));
        let mesh = builder.add_mesh(name, bare(shapes::plane(Vec2::new(3.0, 2.0), 1, 1)), wall);
        let upright = DMat4::from_translation(dvec3(x, 0.0, -1.2))
            * DMat4::from_rotation_x(90f64.to_radians());
        builder.instance(name, mesh, upright);
    }
    let solid = MaterialVolume { thickness: 1.0, ..MaterialVolume::default() };
    let amber = MaterialVolume {
        attenuation_distance: 0.5,
        attenuation_color: vec3(0.8, 0.45, 0.1),
        ..solid
    };
    let turned = DMat4::from_rotation_y(0.5) * DMat4::from_rotation_x(0.3);
    for (name, part, roughness, volume, x, turn) in [
        ("clear ball", shapes::icosphere(0.45, 4), 0.0, solid, -1.1, DMat4::IDENTITY),
        ("amber block", shapes::cuboid(vec3(0.6, 0.6, 0.6)), 0.0, amber, 0.0, turned),
        (
            "rough plate",
            shapes::cuboid(vec3(0.8, 0.8, 0.1)),
            0.4,
            solid,
            1.1,
            DMat4::from_rotation_y(0.3),
        ),
    ] {
        let material = builder.add_material(glass(name, roughness, volume));
        let mesh = builder.add_mesh(name, bare(part), material);
        builder.instance(name, mesh, DMat4::from_translation(dvec3(x, 0.0, 0.0)) * turn);
    }
    builder.camera(
        "Camera",
        dvec3(0.0, 0.0, 6.0),
        DVec3::ZERO,
        2.0 * (0.85f32 / 6.0).atan(),
        Some(2.0),
    );
    let mut case = Case {
        name: "glass".into(),
        title: "Glass: a clear ball, an amber block, a rough plate".into(),
        text: "Solid glass of index 1.5 with Fresnel's equations, absorption by Beer's law, roughness 0.4; a wall of two colors behind, the sky of the grid around."
            .into(),
        size: [160, 80],
        scene: Some(builder.build().unwrap()),
        look: "[environment]\nscale = 1.0\nfile = \"../grid_sky/sky.hdr\"\n".into(),
        bounces: 32,
        // The block differs by 0.67 %, the others by 0.18 %, of a bound of 1 %.
        spp: 128,
        references: vec![Reference::mitsuba(256, "independent")],
        ..Case::default()
    };
    let scale = 40.0 / 0.85;
    for (name, x, radius) in
        [("clear ball", -1.1, 20.0), ("amber block", 0.0, 14.0), ("rough plate", 1.1, 14.0)]
    {
        case.circle(name, [80.0 + x * scale, 40.0], radius);
    }
    let names = ["clear ball", "amber block", "rough plate"].map(String::from);
    case.mean_of_mitsuba("0.01", &list(&names), "one glass, two renderers");
    vec![case]
}
