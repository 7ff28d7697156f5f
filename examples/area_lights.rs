//! Writes scenes for area lights: `cargo run --example area_lights -- DIRECTORY`.
//!
//! `area_lights.glb` with its look: two rows of spheres under a rectangle, a disk, a sphere, a tube
//! and a glowing mesh. `area_bench_N.glb`, N = 1, 4, 16: a floor and spheres that every lamp
//! reaches; `lights.Lamp.shape` gives them a shape.
#![allow(clippy::print_stdout)]

use std::{error::Error, path::PathBuf};

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3};
use sunny16::{
    photometry::Lumen,
    scene::{
        Material,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
        write_glb::write_glb,
    },
};

fn room(name: &str) -> SceneBuilder {
    let mut builder = SceneBuilder::new(name);
    let floor = builder.add_material(dielectric("floor", Vec3::splat(0.35), 0.25));
    let wall = builder.add_material(dielectric("wall", Vec3::splat(0.6), 0.9));
    let plane = builder.add_mesh("floor", shapes::plane(Vec2::new(9.0, 6.0), 1, 1), floor);
    builder.instance("floor", plane, DMat4::IDENTITY);
    let plane = builder.add_mesh("wall", shapes::plane(Vec2::new(9.0, 4.0), 1, 1), wall);
    let upright = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    builder.instance("wall", plane, DMat4::from_translation(dvec3(0.0, 2.0, -2.0)) * upright);
    for (row, metallic) in [0.0f32, 1.0].into_iter().enumerate() {
        for column in 0..5 {
            let roughness = 0.1 + 0.2 * column as f32;
            let material = dielectric("ball", Vec3::new(0.9, 0.6, 0.4), roughness);
            let material = builder.add_material(Material { metallic, ..material });
            let mesh = builder.add_mesh("ball", shapes::uv_sphere(0.3, 64, 32), material);
            let at = dvec3(f64::from(column) * 0.9 - 1.8, 0.3, row as f64 * 0.9 - 0.3);
            builder.instance("ball", mesh, DMat4::from_translation(at));
        }
    }
    builder.camera("Front", dvec3(0.0, 1.7, 6.0), dvec3(0.0, 0.8, 0.0), 0.62, Some(16.0 / 9.0));
    builder
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let mut builder = room("area lights");
    let middle = dvec3(0.0, 0.3, 0.2);
    for (name, at) in [
        ("Panel", dvec3(-2.6, 1.7, -0.6)),
        ("Disk", dvec3(-0.9, 2.2, -0.9)),
        ("Globe", dvec3(0.8, 1.5, -1.0)),
        ("Tube", dvec3(2.4, 1.9, -0.7)),
    ] {
        builder.light(
            name,
            sunny16::photometry::Emitter::Point,
            sunny16::photometry::LightStrength::Lumens(Lumen(1000.0)),
            Vec3::ONE,
            look_at_transform(at, middle),
        );
    }
    let glow = Material {
        emission: Vec3::new(150.0, 280.0, 400.0),
        ..dielectric("screen", Vec3::ZERO, 0.5)
    };
    let glow = builder.add_material(glow);
    let screen = builder.add_mesh("screen", shapes::plane(Vec2::new(0.8, 0.45), 1, 1), glow);
    let turned = look_at_transform(dvec3(2.9, 0.5, 0.6), dvec3(0.0, 0.4, 0.8))
        * DMat4::from_rotation_x(-std::f64::consts::FRAC_PI_2);
    builder.instance("screen", screen, turned);
    std::fs::write(directory.join("area_lights.glb"), write_glb(&builder.build()?)?)?;
    std::fs::write(
        directory.join("area_lights.look.toml"),
        "[camera.body]\niso = 400\nshutter = \"1/60\"\n[camera.lens]\nf_stop = 2.8\n\
         [lights.Panel]\nshape = \"rectangle\"\nwidth = 0.9\nheight = 0.6\nlumens = 1200\n\
         [lights.Disk]\nshape = \"disk\"\nradius = 0.35\nlumens = 900\n\
         [lights.Globe]\nshape = \"sphere\"\nradius = 0.15\nlumens = 800\n\
         [lights.Tube]\nshape = \"tube\"\nradius = 0.03\nlength = 1.1\nlumens = 1500\n",
    )?;
    for count in [1u32, 4, 16] {
        let mut builder = room("bench");
        for i in 0..count {
            let angle = f64::from(i) / f64::from(count) * std::f64::consts::TAU;
            let at = dvec3(2.2 * angle.cos(), 1.6 + 0.05 * f64::from(i), 1.4 * angle.sin());
            let flux = Lumen(8000.0 / f64::from(count));
            let node = builder.point_light_lumens("Lamp", flux, Vec3::ONE, DVec3::ZERO);
            let pose = builder.add_node("pose", look_at_transform(at, middle));
            builder.set_parent(node, pose);
        }
        let file = directory.join(format!("area_bench_{count}.glb"));
        std::fs::write(&file, write_glb(&builder.build()?)?)?;
        println!("{}", file.display());
    }
    Ok(())
}
