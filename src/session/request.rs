//! The request to open a scene.

use std::path::PathBuf;

use super::{error::SessionError, size::Size};
use crate::scene::{
    look::are_nearest,
    procedural::{self, BuiltinScene},
};

/// Request to open a scene: files, camera, picture size, look overrides and time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenRequest {
    /// A .glb or .gltf file, or a built-in scene as `builtin:NAME` (default: the built-in still
    /// life).
    pub scene: Option<PathBuf>,
    /// Look file (default: NAME.look.toml beside the scene, if it exists).
    pub look: Option<PathBuf>,
    /// True to ignore the look beside the scene, or a built-in scene's own.
    pub no_look: bool,
    /// Root folder of the files that the scene may reference (default: the scene's folder, or the
    /// working directory if that contains it).
    pub root: Option<PathBuf>,
    /// Camera by its address (`scene::address`). Default: the look's, else the file's first, else
    /// one framed on the scene.
    pub camera: Option<String>,
    /// Picture size in pixels (default: the look's resolution, else a height of 720).
    pub size: Option<Size>,
    /// Overrides of look properties, as PATH=VALUE.
    pub set: Vec<String>,
    /// Animation time in s; `None` is the scene at rest.
    pub time: Option<f64>,
    /// Frames per second of a sequence, of keys in frames and of the timeline's conditions
    /// ([`DEFAULT_RATE`] if absent).
    ///
    /// [`DEFAULT_RATE`]: super::DEFAULT_RATE
    pub fps: Option<f64>,
    /// True for a sequence of pictures, which starts at 0 s if `time` is `None`.
    pub is_sequence: bool,
}

impl OpenRequest {
    /// Name of the scene for messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.scene
            .as_ref()
            .map_or_else(|| "the built-in still life".into(), |path| path.display().to_string())
    }

    /// The requested built-in scene; `None` for a file.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidRequest`] for an unknown built-in scene.
    pub fn builtin(&self) -> Result<Option<BuiltinScene>, SessionError> {
        let Some(path) = &self.scene else { return Ok(BuiltinScene::named("still_life")) };
        if path.as_os_str() == "petals" && !path.exists() {
            return Ok(BuiltinScene::named("petals"));
        }
        let Some(name) = path.to_str().and_then(|path| path.strip_prefix(procedural::PREFIX))
        else {
            return Ok(None);
        };
        BuiltinScene::named(name).map(Some).ok_or_else(|| {
            let wanted = path.display().to_string();
            let there =
                BuiltinScene::ALL.map(|builtin| format!("{}{}", procedural::PREFIX, builtin.name));
            let near = are_nearest(&wanted, there.iter().map(String::as_str));
            SessionError::InvalidRequest(format!(
                "unknown built-in scene '{name}'; the nearest {near}, and `sunny16 demos` lists all"
            ))
        })
    }
}
