//! Collects a scene, its look and all files that they refer to into one folder, which can be moved
//! or sent.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use super::{
    error::SessionError,
    request::OpenRequest,
    source::{files_of, read},
};
use crate::{
    image_io::split_layer,
    output::OutputError,
    scene::{
        gltf::{self, ExternalFile, ImportError, MAX_FILE_BYTES},
        look::{self, Look, LookError},
        procedural::PREFIX,
    },
};

/// Folder of files whose place relative to the look cannot be kept.
const LOOK_FILES: &str = "look_files";

/// An error of [`collect`]. The output folder is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The scene or the look cannot be read.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<ImportError> for CollectError {
    fn from(error: ImportError) -> Self {
        Self::Session(error.into())
    }
}

impl From<LookError> for CollectError {
    fn from(error: LookError) -> Self {
        Self::Session(error.into())
    }
}

/// Result of [`collect`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Files with their bytes, relative to the folder; the scene comes first.
    pub files: BTreeMap<PathBuf, u64>,
    /// The scene file, relative to the folder.
    pub scene: PathBuf,
    /// Messages about files that are named but cannot be read.
    pub missing: Vec<String>,
}

/// A new folder that gets its name when it is complete.
struct Draft {
    folder: PathBuf,
    at: PathBuf,
    temporary: tempfile::TempDir,
    collected: Collected,
}

fn output_error(file: &Path, detail: impl std::fmt::Display) -> OutputError {
    let detail = format!("{detail}; choose another folder");
    OutputError { file: file.display().to_string(), detail }
}

impl Draft {
    fn new(folder: &Path) -> Result<Self, OutputError> {
        let failed = |error: std::io::Error| output_error(folder, error);
        match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
            Ok(true) => return Err(output_error(folder, "the folder is not empty")),
            Ok(false) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(failed)?;
        let temporary = tempfile::Builder::new()
            .prefix(".")
            .suffix(".tmp")
            .tempdir_in(parent)
            .map_err(failed)?;
        // Not the temporary folder itself, which others may not read.
        let at = temporary.path().join("folder");
        fs::create_dir(&at).map_err(failed)?;
        let collected = Collected::default();
        Ok(Self { folder: folder.into(), at, temporary, collected })
    }

    /// Prepares the place of a file; the error names the final path.
    fn place(&self, file: &Path) -> Result<PathBuf, OutputError> {
        if !keeps_place(file) {
            // Never written to, whatever the document names.
            return Err(output_error(file, "the path leaves the folder"));
        }
        let place = self.at.join(file);
        let folder = place.parent().unwrap_or(&self.at);
        fs::create_dir_all(folder).map_err(|error| output_error(&self.folder.join(file), error))?;
        Ok(place)
    }

    fn write(&mut self, file: &Path, bytes: &[u8]) -> Result<(), OutputError> {
        fs::write(self.place(file)?, bytes)
            .map_err(|error| output_error(&self.folder.join(file), error))?;
        self.collected.files.insert(file.into(), bytes.len() as u64);
        Ok(())
    }

    /// Copies a file, which others may be writing meanwhile.
    fn copy(&mut self, from: &Path, file: &Path) -> Result<(), OutputError> {
        let copied = fs::copy(from, self.place(file)?)
            .map_err(|error| output_error(&self.folder.join(file), error))?;
        self.collected.files.insert(file.into(), copied);
        Ok(())
    }

    fn finish(self) -> Result<Collected, OutputError> {
        let Self { folder, at, temporary, collected } = self;
        // An empty folder is replaced.
        fs::rename(&at, &folder).map_err(|error| output_error(&folder, error))?;
        drop(temporary);
        Ok(collected)
    }
}

/// The last `levels` names of a document's folder.
fn last_folders(document: &Path, levels: usize) -> Result<PathBuf, SessionError> {
    let folder = document.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().map_err(|error| {
        SessionError::InvalidRequest(format!("{}: {error}; check the path", document.display()))
    })?;
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let names: Vec<Component<'_>> = folder.components().filter(is_name).collect();
    Ok(names.iter().skip(names.len().saturating_sub(levels)).collect())
}

/// A relative path without `..`, whose place can be kept.
fn keeps_place(file: &Path) -> bool {
    file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Writes the scene, its look and all files that they refer to into `folder`, which must be empty
/// or not exist. The scene's references stay as they are; those of the look that leave its folder
/// are changed to `look_files/`. Files that are named but cannot be read are listed.
///
/// # Errors
/// [`CollectError::Session`] if the scene or the look cannot be read or the scene is built-in,
/// [`CollectError::Output`] if the folder cannot be written. Nothing is left behind then.
pub fn collect(request: &OpenRequest, folder: &Path) -> Result<Collected, CollectError> {
    let Some(document) =
        request.scene.as_deref().filter(|_| !matches!(request.builtin(), Ok(Some(_))))
    else {
        let what = format!(
            "{} has no files: `sunny16 demos` writes the demos ({PREFIX}NAME) as files",
            request.name()
        );
        return Err(SessionError::InvalidRequest(what).into());
    };
    let source = read(request)?;
    Look::default().parse(&source.look_name, &source.look)?;
    let resolver = files_of(document, request.root.as_deref())?;
    let mut files = Vec::new();
    gltf::external_files::<CollectError>(document, &resolver, MAX_FILE_BYTES, |file| {
        files.push(file);
        Ok(())
    })?;
    let found = files.iter().filter(|file| file.bytes.is_ok());
    let levels = found.map(|file| gltf::ups(&file.path)).max().unwrap_or(0);
    let sub = last_folders(document, levels)?;
    let name = PathBuf::from(document.file_name().unwrap_or_default());
    let mut draft = Draft::new(folder)?;
    draft.copy(document, &sub.join(&name))?;
    draft.collected.scene = sub.join(&name);
    for ExternalFile { path, bytes } in files {
        match bytes {
            Ok(bytes) => {
                let ups = gltf::ups(&path);
                let mut place = sub.clone();
                for _ in 0..ups {
                    place.pop();
                }
                place.extend(path.split('/').skip(ups));
                draft.write(&place, &bytes)?;
            }
            Err(why) => draft.collected.missing.push(why),
        }
    }
    collect_look(&mut draft, (&source.look_name, &source.look), &sub, &name)?;
    Ok(draft.finish()?)
}

/// A file property's value without the layer that it selects.
fn without_layer<'a>(value: &'a str, layer: Option<&str>) -> &'a str {
    layer.and_then(|layer| value.strip_suffix(layer)?.strip_suffix(':')).unwrap_or(value)
}

/// Writes the look beside the scene, and its files.
fn collect_look(
    draft: &mut Draft,
    (look_name, text): (&str, &str),
    sub: &Path,
    name: &Path,
) -> Result<(), CollectError> {
    if text.is_empty() {
        return Ok(());
    }
    let from = Path::new(look_name).parent().unwrap_or(Path::new(""));
    let mut places: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut changes: Vec<(String, String)> = Vec::new();
    for (path, value) in look::flattened(text) {
        if !look::is_file_property(&path, &value) {
            continue;
        }
        let (file, layer) = split_layer(&from.join(&value));
        if !file.is_file() {
            let why = format!("'{value}' of {path}: not a file");
            draft.collected.missing.push(why);
            continue;
        }
        let place = match places.get(&file) {
            Some(place) => place.clone(),
            None => {
                let named = without_layer(&value, layer.as_deref());
                let place = free_place(draft, sub, Path::new(named));
                draft.copy(&file, &sub.join(&place))?;
                places.insert(file, place.clone());
                place
            }
        };
        let named = match layer {
            Some(layer) => format!("{place}:{layer}"),
            None => place,
        };
        if named != value {
            changes.push((path, named));
        }
    }
    let changes: Vec<(&str, Option<&str>)> =
        changes.iter().map(|(path, value)| (path.as_str(), Some(value.as_str()))).collect();
    let text = look::with_changes(look_name, text, &changes)?;
    draft.write(&sub.join(name.with_extension("look.toml")), text.as_bytes())?;
    Ok(())
}

/// A place for a file of the look that no other file has, relative to the look, with forward
/// slashes.
fn free_place(draft: &Draft, sub: &Path, file: &Path) -> String {
    let is_free = |place: &Path| !draft.collected.files.contains_key(&sub.join(place));
    let text = |place: &Path| place.display().to_string().replace('\\', "/");
    if keeps_place(file) && is_free(file) {
        return text(file);
    }
    let name = Path::new(file.file_name().unwrap_or_default());
    let first = Path::new(LOOK_FILES).join(name);
    let numbered = (2..).map(|number: u32| {
        let stem = name.file_stem().unwrap_or_default().to_string_lossy();
        let mut other = PathBuf::from(format!("{stem}_{number}"));
        if let Some(extension) = name.extension() {
            other.set_extension(extension);
        }
        Path::new(LOOK_FILES).join(other)
    });
    let mut places = std::iter::once(first.clone()).chain(numbered);
    text(&places.find(|place| is_free(place)).unwrap_or(first))
}
