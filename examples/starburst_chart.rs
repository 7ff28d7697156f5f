//! Writes an alley at night, and posts to look into the sun between: `starburst_chart [DIRECTORY]`
//! makes `starburst_chart.glb` and its look (docs/starburst.md).
use std::{error::Error, f64::consts::FRAC_PI_2, fs, path::PathBuf};

use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    photometry::Lumen,
    scene::{
        build::{SceneBuilder, dielectric, metal},
        procedural::shapes,
        write_glb::write_glb,
    },
};

/// Lanterns: how far along the alley, on which side.
const LANTERNS: [(f64, f64); 6] =
    [(-4.0, -1.6), (-7.0, 1.6), (-11.0, -1.6), (-16.0, 1.6), (-24.0, -1.6), (-36.0, 1.6)];

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).map_or_else(|| PathBuf::from("out"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let mut builder = SceneBuilder::new("starburst chart");
    let ground = builder.add_material(dielectric("ground", Vec3::new(0.12, 0.11, 0.1), 0.35));
    let iron = builder.add_material(dielectric("iron", Vec3::splat(0.03), 0.5));
    let chrome = builder.add_material(metal("chrome", Vec3::splat(0.9), 0.05));
    let plane = builder.add_mesh("ground", shapes::plane(Vec2::new(14.0, 90.0), 1, 1), ground);
    builder.instance("ground", plane, DMat4::from_translation(DVec3::new(0.0, 0.0, -40.0)));
    let post = builder.add_mesh("post", shapes::cylinder(0.05, 3.0, 24), iron);
    let mut look = String::from(
        "[camera.exposure]\nev100 = 4\n\n[camera.lens]\nfocal_length = 28\nblades = 6\nblade_rotation = 10\n\n\
         [effects.starburst]\nenabled = true\n\n[effects.bloom]\nenabled = false\n",
    );
    for (number, (z, x)) in LANTERNS.into_iter().enumerate() {
        builder.instance("post", post, DMat4::from_translation(DVec3::new(x, 0.0, z)));
        let name = format!("Lantern{number}");
        builder.point_light_lumens(
            &name,
            Lumen(9000.0),
            Vec3::new(1.12, 0.99, 0.75),
            DVec3::new(x, 3.12, z),
        );
        look.push_str(&format!("\n[lights.{name}]\nshape = \"sphere\"\nradius = 0.04\n"));
    }
    let ball = builder.add_mesh("ball", shapes::uv_sphere(0.35, 96, 48), chrome);
    builder.instance("ball", ball, DMat4::from_translation(DVec3::new(0.5, 0.35, -3.2)));
    // To look into the sun: bars beside each other, the outer ones near its disk.
    let bar = builder.add_mesh("bar", shapes::cylinder(0.08, 6.0, 24), iron);
    for x in [-1.2, -0.4, 0.4, 1.2] {
        builder.instance("bar", bar, DMat4::from_translation(DVec3::new(x, -1.0, 24.0)));
    }
    let rail =
        DMat4::from_translation(DVec3::new(3.0, 2.2, 24.0)) * DMat4::from_rotation_z(FRAC_PI_2);
    builder.instance("rail", bar, rail);
    builder.camera("Alley", DVec3::new(0.0, 1.6, 1.0), DVec3::new(0.0, 1.9, -8.0), 0.7, None);
    builder.camera("Sun", DVec3::new(0.0, 1.6, 20.0), DVec3::new(0.0, 2.8, 24.0), 0.7, None);
    let glb = write_glb(&builder.build()?)?;
    fs::write(directory.join("starburst_chart.glb"), &glb)?;
    fs::write(directory.join("starburst_chart.look.toml"), look)?;
    println!("starburst_chart.glb: {} bytes", glb.len());
    Ok(())
}
