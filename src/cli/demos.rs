//! `sunny16 demos`: the demo scenes, listed or written as files.

use std::{fs, path::PathBuf};

use clap::Args;

use super::CliError;
use crate::{
    output::write_with,
    scene::{
        procedural::{PREFIX, demos::Demo},
        write_glb::write_glb,
    },
};

#[derive(Args, Debug)]
pub struct DemosArgs {
    /// The demo to write; without it, all are listed.
    name: Option<String>,
    /// Where NAME.glb and NAME.look.toml go; the folder is made where it is missing.
    #[arg(short, long, value_name = "DIR", requires = "name")]
    output: Option<PathBuf>,
}

pub fn run(args: &DemosArgs) -> Result<(), CliError> {
    let Some(name) = &args.name else {
        for demo in Demo::ALL {
            println!("{:<14} {}: {}", demo.name, demo.title, demo.about);
        }
        println!(
            "\nsunny16 render {PREFIX}NAME -o picture.png   renders one with its look\nsunny16 demos NAME -o DIR                  writes NAME.glb and NAME.look.toml"
        );
        return Ok(());
    };
    let names = || Demo::ALL.map(|demo| demo.name).join(", ");
    let demo = Demo::named(name)
        .ok_or_else(|| CliError::Usage(format!("there is no demo scene '{name}'; there are {}", names())))?;
    let Some(directory) = &args.output else {
        println!("{}: {}", demo.title, demo.about);
        println!("sunny16 render {PREFIX}{name} -o {name}.png\nsunny16 demos {name} -o DIR");
        return Ok(());
    };
    let made = demo.builtin().ok_or_else(|| CliError::Internal(format!("{name} has no scene")))?;
    let (scene, look) = made.make().map_err(|error| CliError::Internal(error.to_string()))?;
    let glb = write_glb(&scene).map_err(|error| CliError::Internal(error.to_string()))?;
    if scene.is_animated() {
        eprintln!("{name} moves by formula: the file holds it at rest, and `sunny16 render {PREFIX}{name}` plays it");
    }
    let files = [(format!("{name}.glb"), glb), (format!("{name}.look.toml"), look.into_bytes())];
    // Where the folder cannot be made, writing says so.
    drop(fs::create_dir_all(directory));
    for (file, bytes) in files {
        let path = directory.join(file);
        write_with(&path, |out| out.write_all(&bytes))?;
        println!("{}: {} bytes", path.display(), bytes.len());
    }
    Ok(())
}
