//! `sunny16 inspect`: the contents of a scene file.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{error::CliError, scene_args::scale_assignment};
use crate::{
    scene::{Scene, inspect, look::Look},
    session::{self, OpenRequest, plausibility},
};

#[derive(Args, Debug)]
pub struct InspectArgs {
    /// Scene: a .glb or .gltf file, or a demo such as builtin:street.
    scene: PathBuf,
    /// Look file to apply [default: NAME.look.toml beside the scene, if it exists].
    #[arg(long, value_name = "FILE", conflicts_with = "no_look")]
    look: Option<PathBuf>,
    /// Root folder of the scene's files (buffers, images, profiles); needed for ../ in a .gltf
    /// [default: the working directory if the scene is inside it, else the scene's folder].
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Ignore the look file.
    #[arg(long)]
    no_look: bool,
    /// Override a property of the look, e.g. lights.Key.lumens=2000; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Meters per unit of the file, e.g. 0.01 for centimeters; short for --set scene.scale=METERS.
    #[arg(long, value_name = "METERS")]
    scale: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// A note that the look disables the caustics of water that the report lists.
fn hidden_caustics(look: &Look, scene: &Scene) -> Option<String> {
    let has_caustics =
        scene.materials.iter().filter_map(|of| of.water.as_ref()).any(|of| of.settings.caustics);
    (has_caustics && look.passes.caustics.enabled == Some(false)).then(|| {
        "note: passes.caustics.enabled=false: the raster renderer draws no caustics of water".into()
    })
}

/// A scene with its look applied, and what the report says of both.
struct Inspected {
    scene: Scene,
    /// Lights of the file, before the look.
    before: Vec<Option<usize>>,
    look_name: Option<String>,
    warnings: Vec<String>,
}

/// The report as JSON.
pub fn values(args: &InspectArgs) -> Result<Value, CliError> {
    Ok(of(args)?.json())
}

impl Inspected {
    fn json(&self) -> Value {
        let mut report = inspect::json::report(&self.scene, &self.before);
        report["look"] = json!(self.look_name);
        report["warnings"] = json!(self.warnings);
        report
    }
}

fn of(args: &InspectArgs) -> Result<Inspected, CliError> {
    let (scene, look, root) = (Some(args.scene.clone()), args.look.clone(), args.root.clone());
    let request = OpenRequest { scene, look, root, ..OpenRequest::default() };
    let mut look = Look::default();
    // With --no-look, an unreadable look file beside the scene is no error.
    let (mut scene, by) = if args.no_look && request.builtin()?.is_none() {
        (session::import(&args.scene, args.root.as_deref())?, None)
    } else {
        let source = session::read(&request)?;
        let has_look = !args.no_look && !source.look.is_empty();
        (source.scene, has_look.then_some((source.look_name, source.look)))
    };
    if let Some((name, text)) = &by {
        look.parse(name, text)?;
    }
    let scale = args.scale.as_deref().map(scale_assignment);
    look.assign_all(&scale.into_iter().chain(args.set.clone()).collect::<Vec<_>>())?;
    let before = inspect::node_lights(&scene);
    look.apply(&mut scene)?;
    let warnings: Vec<String> = look
        .notices()
        .into_iter()
        .chain(look.environment.warning())
        .chain(look.light_warnings())
        .chain(scene.profile_warnings())
        .chain(scene.material_warnings())
        .chain(scene.water_warnings())
        .chain(hidden_caustics(&look, &scene))
        .chain(plausibility::findings(&scene, &look, &before).iter().map(ToString::to_string))
        .chain(plausibility::enclosed(&scene, &before).iter().map(ToString::to_string))
        .collect();
    let look_name = by.map(|(name, _)| name);
    Ok(Inspected { scene, before, look_name, warnings })
}

pub fn run(args: &InspectArgs) -> Result<(), CliError> {
    let inspected = of(args)?;
    if args.json {
        println!("{:#}", inspected.json());
        return Ok(());
    }
    let Inspected { scene, before, look_name, warnings } = inspected;
    if let Some(name) = look_name {
        println!("look: {name}");
    }
    print!("{}", inspect::report_with_original_lights(&scene, &before));
    for warning in warnings {
        eprintln!("{warning}");
    }
    Ok(())
}
