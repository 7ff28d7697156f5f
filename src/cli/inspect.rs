//! `sunny16 inspect`: what is in a file.

use std::path::PathBuf;

use clap::Args;

use super::CliError;
use crate::{
    scene::{inspect, look::Look},
    studio::{self, Request},
};

#[derive(Args, Debug)]
pub struct InspectArgs {
    /// The scene: a .glb or .gltf file, or a built-in one, such as builtin:street.
    scene: PathBuf,
    /// A look file, whose lights, materials and surroundings are told [default: NAME.look.toml beside the scene, where there
    /// is one].
    #[arg(long, value_name = "FILE", conflicts_with = "no_look")]
    look: Option<PathBuf>,
    /// The file alone, without its look.
    #[arg(long)]
    no_look: bool,
    /// Override one property of the look, e.g. lights.Key.lumens=2000; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
}

pub fn run(args: &InspectArgs) -> Result<(), CliError> {
    let request = Request { scene: Some(args.scene.clone()), look: args.look.clone(), ..Request::default() };
    let mut source = studio::read(&request)?;
    let mut look = Look::default();
    let has_look = !args.no_look && !source.look.is_empty();
    if has_look {
        look.parse(&source.look_name, &source.look)?;
    }
    for assignment in &args.set {
        look.assign(assignment)?;
    }
    look.apply(&mut source.scene)?;
    if has_look {
        println!("by the look {}", source.look_name);
    }
    print!("{}", inspect::report(&source.scene));
    Ok(())
}
