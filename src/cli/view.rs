//! `sunny16 view`: the look-dev window.

use clap::Args;

use super::{CliError, DeviceArgs, open::SceneArgs};
use crate::viewer::{self, Options, ViewError, recent::state_folder};

/// Options of `view`.
#[derive(Args)]
pub struct ViewArgs {
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print at the end how the window kept pace: frames, by which frame inputs were shown, and the times (ms: median, of a hundred
    /// the longest but one, longest) that a frame took, without and with the path tracer at work.
    #[arg(long)]
    pacing: bool,
}

pub fn run(args: &ViewArgs) -> Result<(), CliError> {
    let gallery = args.scene.scene.is_none();
    let state = state_folder(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"));
    let options = Options { request: args.scene.request(), gallery, state, prints: true, pacing: args.pacing };
    viewer::run(options, args.device.options()?).map_err(|error| match error {
        ViewError::Gpu(error) => CliError::Gpu(error),
        ViewError::Studio(error) => error.into(),
        ViewError::Window { .. } => CliError::NoWindow(error.to_string()),
        ViewError::Validation(messages) => CliError::Validation(messages),
        ViewError::System(_) | ViewError::Ended => CliError::Internal(error.to_string()),
    })
}
