//! `sunny16 view`: the look-dev window.

use clap::Args;

use super::{device_args::DeviceArgs, error::CliError, scene_args::SceneArgs};
use crate::viewer::{self, Options, governor::GovernorMode, recent::state_folder};

const SCENE_HELP: &str = "Scene: a .glb or .gltf file, or a demo such as builtin:street \
                          [default: the gallery of demos]";

/// Options of `view`.
#[derive(Args)]
#[command(
    mut_arg("scene", |arg| arg.help(SCENE_HELP)),
    mut_arg("size", |arg| arg.help("Window size in pixels, e.g. 1280x720 [default: 1440x900]")),
)]
pub struct ViewArgs {
    /// Print frame pacing at the end: frames, input latency in frames, and frame times in ms
    /// (median, 99th percentile, maximum), without and with the path tracer.
    #[arg(long)]
    pacing: bool,
    /// Quality in motion: auto (by frame time), off (full quality), or 0 (full) to 9 to pin a level
    /// (docs/view.md) [default: the setting window.governor].
    #[arg(long, value_name = "MODE", value_parser = governor_mode)]
    governor: Option<GovernorMode>,
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

fn governor_mode(text: &str) -> Result<GovernorMode, String> {
    GovernorMode::parse(text).ok_or_else(|| format!("expected {}", GovernorMode::VALUES))
}

pub fn run(args: &ViewArgs) -> Result<(), CliError> {
    let gallery = args.scene.scene.is_none();
    let state = state_folder(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"));
    let options = Options {
        request: args.scene.request(),
        gallery,
        state,
        print_readings: true,
        pacing: args.pacing,
        governor: args.governor,
    };
    Ok(viewer::run(options, args.device.options()?)?)
}
