//! Scenes and looks as read from files, or as generated.

use std::path::{Path, PathBuf};

use super::{error::SessionError, request::OpenRequest};
use crate::scene::{
    NoteKind, Scene,
    gltf::{self, ImportError},
    look::{Look, close_name},
    procedural::{BuiltinScene, PREFIX},
};

/// A scene as read, before its look is applied.
pub struct SceneSource {
    /// The scene.
    pub scene: Scene,
    /// Text of the look (TOML); empty if there is none.
    pub look: String,
    /// Name of the look in messages; relative paths in the look start from its folder.
    pub look_name: String,
    /// The look file; `None` for a built-in scene's look and if no file exists.
    pub look_file: Option<PathBuf>,
    /// Warnings about the scene file.
    pub warnings: Vec<String>,
}

/// Path of the look file that belongs to a scene file: `NAME.look.toml` beside it, or a file whose
/// name differs only in case. The file may not exist.
#[must_use]
pub fn default_look_path(scene: &Path) -> PathBuf {
    let usual = scene.with_extension("look.toml");
    if usual.exists() {
        return usual;
    }
    let folder =
        scene.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = usual.file_name().unwrap_or_default();
    let mut names =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names
        .find(|name| name.eq_ignore_ascii_case(wanted))
        .map_or_else(|| usual.clone(), |name| usual.with_file_name(name))
}

/// Imports a scene file; referenced files must lie below `root` (default: see
/// [`OpenRequest::root`]).
///
/// # Errors
///
/// [`SessionError::Import`] if the file cannot be imported, [`SessionError::InvalidRequest`] if
/// `root` does not contain it.
pub fn import(scene: &Path, root: Option<&Path>) -> Result<Scene, SessionError> {
    let folder = files_of(scene, root)?;
    gltf::load_from(scene, &folder).map_err(|error| match error {
        ImportError::NotFound { file, .. } => {
            let names = BuiltinScene::ALL.map(|builtin| builtin.name);
            let alternative = close_name(&file, &names).map(|name| format!("{PREFIX}{name}"));
            ImportError::NotFound { file, alternative }.into()
        }
        error => error.into(),
    })
}

/// The folder that a scene's files are read from, by `root` as for [`import`].
pub(super) fn files_of(scene: &Path, root: Option<&Path>) -> Result<gltf::Folder, SessionError> {
    Ok(match root.map(Path::to_path_buf).or_else(|| working_root(scene)) {
        // A missing scene file is reported by the import below.
        Some(root) if scene.exists() => gltf::Folder::within(scene, &root)
            .map_err(|what| SessionError::InvalidRequest(format!("--root: {what}")))?,
        _ => gltf::Folder::of(scene),
    })
}

/// The working directory as root folder, if it contains the scene. A folder that contains the home
/// directory is not used.
fn working_root(scene: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let wide = here.parent().is_none()
        || home.is_none_or(|home| gltf::contains(&here, &home.join("scene")));
    (!wide && gltf::contains(&here, scene)).then_some(here)
}

/// Reads the scene file or generates the built-in scene, with the text of its look.
///
/// # Errors
///
/// [`SessionError::Import`] or [`SessionError::Look`] for unusable files,
/// [`SessionError::InvalidRequest`] for an unknown built-in scene.
pub fn read(request: &OpenRequest) -> Result<SceneSource, SessionError> {
    if let Some(builtin) = request.builtin()? {
        if let Some(root) = &request.root {
            let what =
                format!("--root {}: {} has no files; omit --root", root.display(), request.name());
            return Err(SessionError::InvalidRequest(what));
        }
        let (scene, text) =
            builtin.make().map_err(|error| SessionError::Internal(error.to_string()))?;
        let (look, look_name) = match &request.look {
            Some(file) => (Look::text_of(file)?, file.display().to_string()),
            None => {
                let own = if request.no_look { String::new() } else { text };
                (own, format!("{}.look.toml", builtin.name))
            }
        };
        return Ok(SceneSource {
            scene,
            look,
            look_name,
            look_file: request.look.clone(),
            warnings: Vec::new(),
        });
    }
    let Some(path) = &request.scene else {
        return Err(SessionError::Internal("no scene is named".into()));
    };
    let beside = default_look_path(path);
    let look_file = request
        .look
        .clone()
        .or_else(|| (!request.no_look && beside.is_file()).then(|| beside.clone()));
    let look = look_file.as_deref().map(Look::text_of).transpose()?.unwrap_or_default();
    let look_name = look_file.as_deref().unwrap_or(&beside).display().to_string();
    let scene = import(path, request.root.as_deref())?;
    let worth_saying: Vec<_> =
        scene.notes.iter().filter(|note| note.kind != NoteKind::Info).collect();
    let mut warnings = Vec::new();
    if !worth_saying.is_empty() {
        let (name, count) = (path.display(), worth_saying.len());
        let mut text =
            format!("{name}: {count} warnings (`sunny16 inspect {name}` lists all); the first:");
        for note in worth_saying.iter().take(3) {
            text += &format!("\n  {:?} {}: {}", note.kind, note.location, note.message);
        }
        warnings.push(text);
    }
    Ok(SceneSource { scene, look, look_name, look_file, warnings })
}
