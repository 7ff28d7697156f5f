//! Writes a room with colored walls, a mirror for a ball and a polished floor: `probe_room
//! [DIRECTORY]` makes `probe_room.glb` and its look with a local probe (docs/environment.md).
use std::{error::Error, fs, path::PathBuf};

use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    photometry::Lumen,
    scene::{
        Material,
        build::{SceneBuilder, dielectric, metal},
        procedural::shapes,
        write_glb::write_glb,
    },
};

const LOOK: &str = "[camera.exposure]\nev100 = 6\n\n[probes.room]\ncenter = \"0 1.5 0\"\nsize = \"6 3 4\"\n\
                    position = \"0.3 1.2 0.2\"\nresolution = 256\n";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).map_or_else(|| PathBuf::from("out"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let mut builder = SceneBuilder::new("probe room");
    let (half, center) = (DVec3::new(3.0, 1.5, 2.0), DVec3::new(0.0, 1.5, 0.0));
    let wall = |rgb: [f32; 3]| dielectric("wall", Vec3::from_array(rgb), 1.0);
    let walls = [
        (DVec3::X, wall([0.1, 0.25, 0.6])),
        (DVec3::NEG_X, wall([0.65, 0.08, 0.06])),
        (DVec3::Y, wall([0.75, 0.75, 0.72])),
        (DVec3::NEG_Y, dielectric("floor", Vec3::new(0.12, 0.1, 0.08), 0.08)),
        (DVec3::Z, wall([0.7, 0.6, 0.2])),
        (DVec3::NEG_Z, wall([0.2, 0.5, 0.15])),
    ];
    for (out, material) in walls {
        let (u, v) = (
            DVec3::new(out.y.abs(), out.z.abs(), out.x.abs()),
            DVec3::new(out.z.abs(), out.x.abs(), out.y.abs()),
        );
        let corner = center + (out - u - v) * half;
        let quad = shapes::quad(
            corner.as_vec3(),
            (u * half * 2.0).as_vec3(),
            (v * half * 2.0).as_vec3(),
            1,
            1,
        );
        let material = builder.add_material(Material { double_sided: true, ..material });
        let mesh = builder.add_mesh("wall", quad, material);
        builder.instance("wall", mesh, DMat4::IDENTITY);
    }
    for (name, material, place) in [
        ("mirror", metal("mirror", Vec3::splat(0.95), 0.0), DVec3::new(0.9, 0.5, -0.6)),
        (
            "brushed",
            metal("brushed", Vec3::new(0.95, 0.78, 0.45), 0.35),
            DVec3::new(-0.4, 0.5, 0.2),
        ),
    ] {
        let material = builder.add_material(material);
        let mesh = builder.add_mesh(name, shapes::uv_sphere(0.5, 96, 48), material);
        builder.instance(name, mesh, DMat4::from_translation(place));
    }
    builder.point_light_lumens("Lamp", Lumen(3000.0), Vec3::ONE, DVec3::new(0.0, 2.6, 0.4));
    builder.camera("Camera", DVec3::new(-2.2, 1.5, 1.7), DVec3::new(0.5, 0.5, -0.4), 0.9, None);
    let glb = write_glb(&builder.build()?)?;
    fs::write(directory.join("probe_room.glb"), &glb)?;
    fs::write(directory.join("probe_room.look.toml"), LOOK)?;
    println!("probe_room.glb: {} bytes", glb.len());
    Ok(())
}
