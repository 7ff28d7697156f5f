//! `sunny16 graph`: the frame graph as Mermaid or DOT.

use clap::{Args, ValueEnum};

use super::{device_args::DeviceArgs, error::CliError, scene_args};
use crate::{
    camera::Exposure,
    frame::{RenderSettings, Renderer},
    gpu::Gpu,
    graph::export,
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
    let session = scene_args::open_scene(&args.scene)?;
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let on_device = session.upload(&mut renderer)?;
    let (effects, lens) = (session.effects, session.lens.clone());
    let ghosts = session.look.ghosts(lens.as_deref())?;
    let settings = RenderSettings {
        effects,
        lens,
        ghosts,
        anti_aliasing: session.passes().aa.method,
        ..session.settings(Exposure::default(), vec![])
    };
    let prepared = renderer.plan(&on_device, &session.view(), &settings)?;
    let language = if args.format == Format::Mermaid {
        export::GraphFormat::Mermaid
    } else {
        export::GraphFormat::Dot
    };
    print!("{}", export::export(&prepared, language));
    Ok(())
}
