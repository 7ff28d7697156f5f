//! `sunny16 collect`: a scene with everything that it refers to, in one folder.

use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use crate::session::{self, CollectError, OpenRequest};

#[derive(Args, Debug)]
pub struct CollectArgs {
    /// Scene: a .glb or .gltf file.
    scene: PathBuf,
    /// Folder to write; it must be empty or not exist.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Look file to collect [default: NAME.look.toml beside the scene, if it exists].
    #[arg(long, value_name = "FILE", conflicts_with = "no_look")]
    look: Option<PathBuf>,
    /// Leave out the look file.
    #[arg(long)]
    no_look: bool,
    /// Root folder of the scene's files (buffers, images, profiles); needed for ../ in a .gltf
    /// [default: the working directory if the scene is inside it, else the scene's folder].
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

pub fn run(args: &CollectArgs) -> Result<(), CliError> {
    let request = OpenRequest {
        scene: Some(args.scene.clone()),
        look: args.look.clone(),
        no_look: args.no_look,
        root: args.root.clone(),
        ..OpenRequest::default()
    };
    let collected = session::collect(&request, &args.output).map_err(|error| match error {
        CollectError::Session(error) => CliError::Session(error),
        CollectError::Output(error) => CliError::Output(error),
    })?;
    for why in &collected.missing {
        eprintln!("warning: left out: {why}");
    }
    let bytes: u64 = collected.files.values().sum();
    let scene = args.output.join(&collected.scene);
    let count = collected.files.len();
    println!("{}: {count} files, {bytes} bytes", args.output.display());
    println!("open it: sunny16 view {}", scene.display());
    Ok(())
}
