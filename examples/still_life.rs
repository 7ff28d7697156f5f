//! Writes the demo scene, `still_life.glb` with `still_life.look.toml`, to the directory given
//! (`assets/demo`).
use std::{error::Error, fs, path::PathBuf};

use sunny16::scene::{procedural, write_glb::write_glb};

fn main() -> Result<(), Box<dyn Error>> {
    let directory =
        std::env::args_os().nth(1).map_or_else(|| PathBuf::from("assets/demo"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let still = procedural::still_life()?;
    let glb = write_glb(&still.scene)?;
    fs::write(directory.join("still_life.glb"), &glb)?;
    fs::write(directory.join("still_life.look.toml"), still.look())?;
    println!(
        "still_life.glb: {} bytes, {} triangles",
        glb.len(),
        still.scene.instanced_triangles()
    );
    print!("{}", still.look());
    Ok(())
}
