//! Writes a dark field under a low sun: `ghost_chart [DIRECTORY]` makes `ghost_chart.glb` and its
//! look, and `ghost_chart sheet SHEET.png COLUMNS PICTURE.png...` puts pictures of one size on a
//! sheet, row by row (docs/lens-ghosts.md).
use std::{error::Error, fs, path::Path};

use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::scene::{
    build::{SceneBuilder, dielectric},
    procedural::shapes,
    write_glb::write_glb,
};

/// The sun: degrees above the horizon and east of north, which is -Z.
const SUN: [f64; 2] = [20.0, 6.0];

/// Height (m) of what stands before it.
const TRUNK: f64 = 9.0;

/// Pixels between the pictures of a sheet.
const GAP: u32 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [first, to, columns, pictures @ ..] if first == "sheet" && !pictures.is_empty() => {
            sheet(Path::new(to), columns.parse()?, pictures)
        }
        [first, ..] if first == "sheet" => {
            Err("usage: ghost_chart sheet SHEET.png COLUMNS PICTURE.png...".into())
        }
        [] => chart(Path::new("out")),
        [directory, ..] => chart(Path::new(directory)),
    }
}

fn chart(directory: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory)?;
    let mut builder = SceneBuilder::new("ghost chart");
    let ground = builder.add_material(dielectric("ground", Vec3::new(0.05, 0.06, 0.03), 0.9));
    let bark = builder.add_material(dielectric("bark", Vec3::splat(0.04), 0.8));
    let plane = builder.add_mesh("ground", shapes::plane(Vec2::splat(400.0), 1, 1), ground);
    builder.instance("ground", plane, DMat4::IDENTITY);
    let trunk = builder.add_mesh("trunk", shapes::cuboid(Vec3::new(0.4, TRUNK as f32, 0.4)), bark);
    for (x, z) in
        [(-5.0, -14.0), (-1.5, -30.0), (2.6, -22.0), (6.0, -16.0), (-8.0, -34.0), (9.0, -40.0)]
    {
        builder.instance("trunk", trunk, DMat4::from_translation(DVec3::new(x, TRUNK / 2.0, z)));
    }
    // The sun stands right of the middle of each picture and above it, by these degrees.
    for (name, aside, above) in [("Near", 4.0, 3.0), ("Wide", 13.0, 8.0), ("Beside", 26.0, 4.0)] {
        let (elevation, azimuth) =
            (f64::to_radians(SUN[0] - above), f64::to_radians(SUN[1] - aside));
        let eye = DVec3::new(0.0, 1.6, 0.0);
        let ahead = DVec3::new(
            azimuth.sin() * elevation.cos(),
            elevation.sin(),
            -azimuth.cos() * elevation.cos(),
        );
        builder.camera(name, eye, eye + ahead, 0.47, None);
    }
    let glb = write_glb(&builder.build()?)?;
    fs::write(directory.join("ghost_chart.glb"), &glb)?;
    let look = format!(
        "[camera.exposure]\nev100 = 12.5\n\n[camera.lens]\nprescription = \"builtin:nikon-28-75-f2.8-wide\"\n\n\
         [environment.sun]\nelevation = {}\nazimuth = {}\n\n[environment.sky]\nturbidity = 2\n\n\
         [effects.ghosts]\nenabled = true\n\n[effects.bloom]\nenabled = false\n",
        SUN[0], SUN[1]
    );
    fs::write(directory.join("ghost_chart.look.toml"), look)?;
    println!("ghost_chart.glb: {} bytes", glb.len());
    Ok(())
}

/// Pictures on white, row by row.
fn sheet(to: &Path, columns: u32, files: &[String]) -> Result<(), Box<dyn Error>> {
    let pictures: Vec<image::RgbImage> = files
        .iter()
        .map(|file| Ok(image::open(file)?.into_rgb8()))
        .collect::<image::ImageResult<_>>()?;
    let size = pictures.first().map(image::RgbImage::dimensions).ok_or("no pictures")?;
    if let Some((_, file)) =
        pictures.iter().zip(files).find(|(picture, _)| picture.dimensions() != size)
    {
        return Err(format!("{file} is not {}x{} as the first picture is", size.0, size.1).into());
    }
    let columns = columns.clamp(1, files.len() as u32);
    let rows = (files.len() as u32).div_ceil(columns);
    let (width, height) = (columns * (size.0 + GAP) + GAP, rows * (size.1 + GAP) + GAP);
    let mut whole = image::RgbImage::from_pixel(width, height, image::Rgb([255; 3]));
    for (index, picture) in (0..).zip(&pictures) {
        let (column, row) = (index % columns, index / columns);
        let at = (GAP + column * (size.0 + GAP), GAP + row * (size.1 + GAP));
        image::imageops::replace(&mut whole, picture, at.0.into(), at.1.into());
    }
    whole.save(to)?;
    println!("{}: {width}x{height}", to.display());
    Ok(())
}
