//! `sunny16 graph`: the frame graph as Mermaid or DOT.

use clap::{Args, ValueEnum};

use super::{device_args::DeviceArgs, error::CliError, scene_args};
use crate::{
    camera::Exposure,
    frame::RenderSettings,
    graph::export,
    session::{self, Session},
};

#[derive(Args, Debug)]
pub struct GraphArgs {
    /// Output format: Mermaid (Markdown) or DOT (Graphviz).
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    #[command(flatten)]
    scene: scene_args::SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Mermaid,
    Dot,
}

pub fn run(args: &GraphArgs) -> Result<(), CliError> {
    let opened = scene_args::open_scene(&args.scene)?;
    let mut session = Session::open(session::open_device(&args.device.options()?)?, opened)?;
    let opened = &session.opened;
    let (effects, lens, anti_aliasing) =
        (opened.effects, opened.lens.clone(), opened.anti_aliasing());
    let ghosts = opened.physical_camera.ghosts(lens.as_deref())?;
    let settings = RenderSettings {
        effects,
        lens,
        ghosts,
        anti_aliasing,
        ..opened.settings(Exposure::default(), vec![])
    };
    let prepared = session.plan(&settings)?;
    let language = if args.format == Format::Mermaid {
        export::GraphFormat::Mermaid
    } else {
        export::GraphFormat::Dot
    };
    print!("{}", export::export(&prepared, language));
    drop(prepared);
    Ok(session.close()?)
}
