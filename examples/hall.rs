//! Writes the hall of the light-culling benchmark: `hall [DIRECTORY] [LAMPS] [TRIANGLES]` makes
//! `hall_LAMPS.glb`.
use std::{error::Error, fs, path::PathBuf};

use sunny16::scene::{procedural, write_glb::write_glb};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map_or_else(|| PathBuf::from("assets/demo"), PathBuf::from);
    let lamps: usize = arguments.next().map_or(Ok(1000), |count| count.parse())?;
    let triangles: usize = arguments.next().map_or(Ok(50_000), |count| count.parse())?;
    fs::create_dir_all(&directory)?;
    let scene = procedural::hall(lamps, triangles)?;
    let glb = write_glb(&scene)?;
    let name = format!("hall_{lamps}.glb");
    fs::write(directory.join(&name), &glb)?;
    fs::write(directory.join(format!("hall_{lamps}.look.toml")), procedural::HALL_LOOK)?;
    println!(
        "{name}: {} bytes, {} triangles, {} lamps",
        glb.len(),
        scene.instanced_triangles(),
        scene.lights.len()
    );
    Ok(())
}
