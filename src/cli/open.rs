//! What several commands share: which scene, seen how.

use std::path::PathBuf;

use clap::Args;

use super::CliError;
use crate::studio::{self, Opened, Request, Size};

/// Options of every command that looks at a scene through a camera.
#[derive(Args, Clone, Debug)]
pub struct SceneArgs {
    /// The scene: a .glb or .gltf file, or a built-in one, such as builtin:street: `sunny16 demos` lists them (`petals` means
    /// builtin:petals) [default: builtin:still_life].
    pub scene: Option<PathBuf>,
    /// A look file with camera dials and overrides [default: NAME.look.toml beside the scene, where there is one].
    #[arg(long, value_name = "FILE")]
    pub look: Option<PathBuf>,
    /// The folder that the scene's files (buffers, images, profiles) may come from, with all below it: for ../ in a .gltf
    /// [default: the scene's own folder, or the working directory where that contains it].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The camera of the file to look through, by name or number (#0), as `inspect` has them [default: the look's, else the first, else one framed on the scene].
    #[arg(long, value_name = "NAME")]
    pub camera: Option<String>,
    /// Pixels across and down, e.g. 640x360 [default: the look's resolution, else 720 down, across by the camera's aspect].
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// Override one property of the look, e.g. camera.lens.f_stop=2.8; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// When, in seconds: animations play from their start and over again (scene.animation chooses which) [default: the scene
    /// at rest].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub time: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.ok_or_else(|| "give seconds, at least 0, e.g. 2.5".into())
}

impl SceneArgs {
    /// What they ask for.
    pub fn request(&self) -> Request {
        let Self { scene, look, root, camera, size, set, time } = self.clone();
        Request { scene, look, root, camera, size, set, time }
    }

    /// The scene for messages.
    pub fn name(&self) -> String {
        self.request().name()
    }
}

/// Reads scene and look, chooses the camera, and passes on what the user should know.
pub fn open(args: &SceneArgs) -> Result<Opened, CliError> {
    requested(&args.request())
}

/// The same of a request.
pub fn requested(request: &Request) -> Result<Opened, CliError> {
    let opened = studio::open(request)?;
    for remark in &opened.remarks {
        eprintln!("{remark}");
    }
    Ok(opened)
}
