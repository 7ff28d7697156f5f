//! `sunny16 graph`: the planned frame.

use clap::{Args, ValueEnum};

use super::{CliError, DeviceArgs, open};
use crate::{
    camera::Exposure,
    frame::{Renderer, Settings},
    gpu::Gpu,
    graph::draw,
};

#[derive(Args, Debug)]
pub struct GraphArgs {
    /// Output format: Mermaid (Markdown) or DOT (Graphviz).
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    #[command(flatten)]
    scene: open::SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Mermaid,
    Dot,
}

pub fn run(args: &GraphArgs) -> Result<(), CliError> {
    let opened = open::open(&args.scene)?;
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let on_device = opened.upload(&mut renderer)?;
    let (effects, lens, anti_aliasing) = (opened.effects, opened.lens.clone(), opened.anti_aliasing());
    let ghosts = opened.look.ghosts(lens.as_deref())?;
    let settings = Settings { effects, lens, ghosts, anti_aliasing, ..opened.settings(Exposure::default(), vec![]) };
    let prepared = renderer.plan(&on_device, &opened.view(), &settings)?;
    let language = if args.format == Format::Mermaid { draw::Language::Mermaid } else { draw::Language::Dot };
    print!("{}", draw::draw(&prepared, language));
    Ok(())
}
