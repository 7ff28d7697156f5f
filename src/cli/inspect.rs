//! `sunny16 inspect`: what is in a file.

use std::path::PathBuf;

use clap::Args;

use super::CliError;
use crate::scene::{gltf, inspect};

#[derive(Args, Debug)]
pub struct InspectArgs {
    /// The scene: a .glb or .gltf file.
    scene: PathBuf,
}

pub fn run(args: &InspectArgs) -> Result<(), CliError> {
    let scene = gltf::load(&args.scene)?;
    print!("{}", inspect::report(&scene));
    Ok(())
}
