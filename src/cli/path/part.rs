//! Parts: a range of the samples of a picture (`--samples`), which `merge` joins.

use std::{path::Path, sync::atomic::Ordering};

use super::trace;
use crate::{
    cli::{error::CliError, interrupt::INTERRUPTED, render_args::RenderArgs},
    message::counted,
    reference::{Film, SampleRange},
    session::{
        PathScene,
        part::{self, PartOrigin},
    },
};

/// Renders a range of samples, and writes their sums.
pub fn render(
    args: &RenderArgs,
    scene: &PathScene<'_>,
    range: SampleRange,
) -> Result<(), CliError> {
    let mut film = Film::starting_at(range.first, scene.size(), scene.settings);
    let seconds = trace(args, &mut film, scene, None);
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(CliError::Interrupted(format!(
            "interrupted; {} was not written; repeat the command",
            args.output.display()
        )));
    }
    let opened = scene.session;
    let file = args.scene.scene.as_deref().and_then(Path::file_name);
    let origin = PartOrigin {
        scene: file.map_or_else(|| opened.request.name(), |name| name.to_string_lossy().into()),
        camera: opened.camera_name.clone(),
        of: args.path.spp.unwrap_or(range.end),
        print: scene.print,
        arguments: arguments(args),
    };
    part::write(&args.output, &film, origin)?;
    if args.reports_pictures() {
        let (width, height) = scene.size();
        println!(
            "{}: {width}x{height}, part of {}: numbers {range}, in {seconds:.1} s; `sunny16 merge` \
             joins parts",
            args.output.display(),
            counted(range.count() as usize, "sample"),
        );
    }
    Ok(())
}

/// Arguments of `render` that open the scene of a part and set its paths.
fn arguments(args: &RenderArgs) -> Vec<String> {
    let path = [
        ("--bounces", args.path.bounces.map(|bounces| bounces.to_string())),
        ("--seed", args.path.seed.map(|seed| seed.to_string())),
    ];
    let given = path.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    args.scene.arguments().into_iter().chain(given).collect()
}
