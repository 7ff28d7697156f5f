//! Scene, look and camera options shared by several commands.

use std::path::PathBuf;

use clap::{Args, builder::PossibleValuesParser};

use super::{error::CliError, warnings::warn};
use crate::{
    session::{self, OpenRequest, OpenScene, Size},
    settings::{Choice, Quality, QualityLook, tier_table},
};

/// Scene options, shared by every command that renders a scene.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Scene")]
pub struct SceneArgs {
    /// Scene: a .glb or .gltf file, or a demo such as builtin:street (`sunny16 demos` lists them)
    /// [default: builtin:still_life].
    #[arg(help_heading = "Arguments")]
    pub scene: Option<PathBuf>,
    /// Look file with camera dials and overrides [default: NAME.look.toml beside the scene, if it
    /// exists].
    #[arg(long, value_name = "FILE", conflicts_with = "no_look")]
    pub look: Option<PathBuf>,
    /// Ignore the look file beside the scene.
    #[arg(long)]
    pub no_look: bool,
    /// Root folder of the scene's files (buffers, images, profiles); needed for ../ in a .gltf
    /// [default: the working directory if the scene is inside it, else the scene's folder].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Camera of the file, by name or number (#0), as `inspect` lists them [default: the look's,
    /// else the first, else one framed on the scene].
    #[arg(long, value_name = "NAME")]
    pub camera: Option<String>,
    /// Picture size in pixels, e.g. 640x360 [default: the look's resolution, else a height of 720
    /// and the camera's aspect].
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// Quality tier: values of properties that neither the look nor --set sets [default: the
    /// look's, else standard].
    #[arg(long, value_name = "TIER", value_parser = PossibleValuesParser::new(Quality::NAMES),
          long_help = quality_help())]
    pub quality: Option<String>,
    /// Override a property of the look, e.g. camera.lens.f_stop=2.8; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Meters per unit of the file, e.g. 0.01 for centimeters; short for --set scene.scale=METERS.
    #[arg(long, value_name = "METERS")]
    pub scale: Option<String>,
    /// Time in seconds; animations loop (scene.animation selects them) [default: the scene at
    /// rest].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub time: Option<f64>,
}

/// The assignment that `--scale` stands for.
pub fn scale_assignment(scale: &str) -> String {
    format!("scene.scale={scale}")
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.ok_or_else(|| "expected seconds from 0 to 1e9, e.g. 2.5".into())
}

/// Help of `--quality`, with the values of all tiers.
fn quality_help() -> String {
    let mut help = "Quality tier: values of properties that neither the look nor --set sets \
                    [default: the look's, else standard].\n"
        .to_owned();
    for [property, tiers @ ..] in tier_table() {
        let tiers = tiers.map(|value| format!("{value:>14}")).concat();
        help.push_str(&format!("\n{property:<40}{tiers}"));
    }
    help + "\n"
}

impl SceneArgs {
    /// The session request of these options.
    pub fn request(&self) -> OpenRequest {
        let Self { scene, look, no_look, root, camera, size, quality, set, scale, time } =
            self.clone();
        let tier = quality.map(|tier| format!("{}={tier}", QualityLook::PATH));
        let scale = scale.as_deref().map(scale_assignment);
        let set = tier.into_iter().chain(scale).chain(set).collect();
        let unset = OpenRequest::default();
        OpenRequest { scene, look, no_look, root, camera, size, set, time, ..unset }
    }

    /// The command-line arguments of these options.
    pub fn arguments(&self) -> Vec<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let size = self.size.map(|size| format!("{}x{}", size.width, size.height));
        let single = [
            ("--look", path(&self.look)),
            ("--root", path(&self.root)),
            ("--camera", self.camera.clone()),
            ("--size", size),
            ("--quality", self.quality.clone()),
            ("--scale", self.scale.clone()),
            // The shortest digits that give the same number.
            ("--time", self.time.map(|time| time.to_string())),
        ];
        let set = self.set.iter().map(|set| ("--set", Some(set.clone())));
        let named = single.into_iter().chain(set).filter_map(|(name, value)| Some((name, value?)));
        let mut arguments: Vec<String> = path(&self.scene).into_iter().collect();
        arguments.extend(self.no_look.then(|| "--no-look".to_owned()));
        arguments.extend(named.map(|(name, value)| format!("{name}={value}")));
        arguments
    }

    /// The scene as an argument.
    pub fn name_or_default(&self) -> String {
        let named = self.scene.as_ref().map(|path| path.display().to_string());
        named.unwrap_or_else(|| "builtin:still_life".to_owned())
    }

    /// Name of the scene for messages.
    pub fn name(&self) -> String {
        self.request().name()
    }
}

/// Opens the scene with its look and camera, and prints the session's warnings.
pub fn open_scene(args: &SceneArgs) -> Result<OpenScene, CliError> {
    open_request(&args.request(), false)
}

/// [`open_scene`] for a request; `quiet` leaves out notes.
pub fn open_request(request: &OpenRequest, quiet: bool) -> Result<OpenScene, CliError> {
    let session = session::open(request)?;
    warn(&session.warnings, quiet);
    Ok(session)
}
