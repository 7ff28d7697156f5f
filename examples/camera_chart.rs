//! Writes the chart on which docs/camera-effects.md shows each effect: `camera_chart [DIRECTORY]`
//! makes `camera_chart.glb` with the cameras "Lights", "Wall", "Lines" and "Lamp".
use std::{error::Error, f64::consts::FRAC_PI_2, fs, path::PathBuf};

use glam::{DMat4, DVec3, Vec2, Vec3, Vec4};
use sunny16::scene::{Material, build::SceneBuilder, procedural::shapes, write_glb::write_glb};

/// Vertical field of view of 50 mm on 36 x 24 mm, cropped to 16:9.
const FOV: f32 = 0.398_3;

/// A sheet that faces +Z and shines.
fn sheet(builder: &mut SceneBuilder, center: DVec3, size: Vec2, nits: Vec3) {
    let material = builder.add_material(Material {
        base_color: Vec4::new(0.0, 0.0, 0.0, 1.0),
        emission: nits,
        double_sided: true,
        ..Material::default()
    });
    let mesh = builder.add_mesh("sheet", shapes::plane(size, 1, 1), material);
    builder.instance(
        "sheet",
        mesh,
        DMat4::from_translation(center) * DMat4::from_rotation_x(FRAC_PI_2),
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).map_or_else(|| PathBuf::from("out"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let mut builder = SceneBuilder::new("camera chart");
    let camera = |builder: &mut SceneBuilder, name: &str, at: DVec3| {
        builder.camera(name, at, at + DVec3::NEG_Z, FOV, Some(16.0 / 9.0));
    };
    // City lights 40 m away behind a card at 1.5 m, and two sparks at 0.8 m.
    for row in 0..7i32 {
        for column in 0..13i32 {
            let at = DVec3::new(f64::from(column - 6) * 2.2, f64::from(row - 3) * 2.2, -40.0);
            let warm = [Vec3::new(1.0, 0.75, 0.4), Vec3::new(0.7, 0.85, 1.0), Vec3::ONE]
                [((row * 5 + column * 3) % 3) as usize];
            sheet(&mut builder, at, Vec2::splat(0.1), warm * 1.2e4);
        }
    }
    sheet(
        &mut builder,
        DVec3::new(-0.1, -0.1, -1.5),
        Vec2::new(0.34, 0.2),
        Vec3::new(20.0, 20.0, 22.0),
    );
    for stripe in 0..6 {
        let at = DVec3::new(-0.235 + 0.054 * f64::from(stripe), -0.1, -1.499);
        sheet(&mut builder, at, Vec2::new(0.02, 0.16), Vec3::new(2.0, 2.0, 3.0));
    }
    for x in [0.13, 0.2] {
        sheet(&mut builder, DVec3::new(x, -0.1, -0.8), Vec2::splat(0.002), Vec3::splat(1.2e4));
    }
    camera(&mut builder, "Lights", DVec3::ZERO);
    // Elsewhere, so that no camera sees another's.
    let wall = DVec3::new(500.0, 0.0, 0.0);
    sheet(&mut builder, wall - DVec3::Z, Vec2::splat(10.0), Vec3::splat(18.0));
    camera(&mut builder, "Wall", wall);
    let lines = DVec3::new(1000.0, 0.0, 0.0);
    for line in -20..=20 {
        let offset = f64::from(line) * 0.04;
        sheet(
            &mut builder,
            lines + DVec3::new(offset, 0.0, -1.0),
            Vec2::new(0.006, 1.0),
            Vec3::splat(90.0),
        );
        sheet(
            &mut builder,
            lines + DVec3::new(0.0, offset, -1.0),
            Vec2::new(2.0, 0.006),
            Vec3::splat(90.0),
        );
    }
    camera(&mut builder, "Lines", lines);
    let lamp = DVec3::new(1500.0, 0.0, 0.0);
    sheet(&mut builder, lamp - DVec3::Z, Vec2::splat(10.0), Vec3::splat(1.0));
    sheet(
        &mut builder,
        lamp + DVec3::new(0.08, 0.05, -0.99),
        Vec2::splat(0.02),
        Vec3::new(1.0, 0.9, 0.7) * 3e4,
    );
    sheet(
        &mut builder,
        lamp + DVec3::new(-0.1, -0.03, -0.98),
        Vec2::new(0.12, 0.1),
        Vec3::splat(30.0),
    );
    camera(&mut builder, "Lamp", lamp);
    let glb = write_glb(&builder.build()?)?;
    fs::write(directory.join("camera_chart.glb"), &glb)?;
    println!("camera_chart.glb: {} bytes", glb.len());
    Ok(())
}
