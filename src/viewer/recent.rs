//! Recent scenes, kept between runs in the program's state folder.
//!
//! The file is TOML: `scenes = ["/home/me/a.glb", "builtin:cornell"]`, newest first. An unreadable
//! file is reported and replaced by an empty list; the window opens anyway.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use toml_edit::{Document, Item, Value};

use crate::output;

/// Maximum number of scenes.
pub const MAX_SCENES: usize = 10;
/// Maximum size of the file, and of a name in it (bytes).
const MAX_FILE_BYTES: u64 = 64 << 10;
const MAX_NAME_BYTES: usize = 4096;

/// The program's state folder, from the values of `XDG_STATE_HOME` and `HOME` (XDG Base Directory
/// Specification 0.8: relative paths are ignored); none if neither is usable.
#[must_use]
pub fn state_folder(xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let folder = |name: Option<OsString>| name.map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder(xdg).or_else(|| Some(folder(home)?.join(".local/state")))?;
    Some(state.join("sunny16"))
}

/// Recent scenes, newest first.
#[derive(Debug, Default)]
pub struct RecentScenes {
    /// None: kept for this run only.
    file: Option<PathBuf>,
    scenes: Vec<PathBuf>,
}

impl RecentScenes {
    /// Reads the file `recent` of a folder; also returns a message if it is unusable. Without a
    /// folder nothing is kept.
    #[must_use]
    pub fn of(folder: Option<&Path>) -> (Self, Option<String>) {
        let Some(file) = folder.map(|folder| folder.join("recent")) else {
            return (Self::default(), None);
        };
        let (scenes, notice) = match read(&file) {
            Ok(scenes) => (scenes, None),
            Err(detail) => (
                Vec::new(),
                Some(format!(
                    "{}: {detail}; starting with an empty list of recent scenes",
                    file.display()
                )),
            ),
        };
        (Self { file: Some(file), scenes }, notice)
    }

    /// The scenes, newest first.
    #[must_use]
    pub fn scenes(&self) -> &[PathBuf] {
        &self.scenes
    }

    /// Adds an opened scene. Windows open at the same time share the list.
    ///
    /// # Errors
    /// The file cannot be written; the list is kept for this run only.
    pub fn put(&mut self, scene: &Path) -> Result<(), String> {
        let scene = if is_builtin(scene) {
            scene.into()
        } else {
            std::path::absolute(scene).unwrap_or(scene.into())
        };
        if let Some(kept) = self.file.as_deref().and_then(|file| read(file).ok()) {
            // Scenes of this run that the file lacks are older than what other windows have written
            // since.
            let own = std::mem::replace(&mut self.scenes, kept);
            let new: Vec<PathBuf> =
                own.into_iter().filter(|scene| !self.scenes.contains(scene)).collect();
            self.scenes.extend(new);
        }
        self.scenes.retain(|known| *known != scene);
        self.scenes.insert(0, scene);
        self.scenes.truncate(MAX_SCENES);
        let Some(file) = &self.file else { return Ok(()) };
        // A name that is not UTF-8 cannot be written, but can be opened again in this run.
        let names = self
            .scenes
            .iter()
            .filter_map(|scene| scene.to_str())
            .filter(|name| name.len() <= MAX_NAME_BYTES);
        let list: toml_edit::Array = names.collect();
        let text = format!("# Recent scenes of sunny16, newest first.\nscenes = {list}\n");
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        output::write_text(file, &text).map_err(|error| error.to_string())
    }
}

/// True if a scene can be opened again: a built-in scene, or an existing file.
#[must_use]
pub fn is_there(scene: &Path) -> bool {
    is_builtin(scene) || scene.is_file()
}

fn is_builtin(scene: &Path) -> bool {
    scene.to_string_lossy().starts_with("builtin:")
}

fn read(file: &Path) -> Result<Vec<PathBuf>, String> {
    let length = match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
        Ok(known) if !known.is_file() => return Err("not a regular file".into()),
        Ok(known) => known.len(),
    };
    if length > MAX_FILE_BYTES {
        return Err(format!("{length} bytes exceed the maximum of {MAX_FILE_BYTES}"));
    }
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let document = Document::parse(text).map_err(|_| "not valid TOML".to_owned())?;
    let list = document.get("scenes").and_then(Item::as_array).ok_or("expected a list 'scenes'")?;
    let names: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    let mut scenes: Vec<PathBuf> = Vec::new();
    for name in names.ok_or("expected strings in 'scenes'")? {
        let scene = PathBuf::from(name);
        if !name.is_empty() && name.len() <= MAX_NAME_BYTES && !scenes.contains(&scene) {
            scenes.push(scene);
        }
    }
    scenes.truncate(MAX_SCENES);
    Ok(scenes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_that_of_the_specification() {
        let folder = |xdg: &str, home: &str| state_folder(Some(xdg.into()), Some(home.into()));
        assert_eq!(folder("/s", "/h"), Some("/s/sunny16".into()));
        assert_eq!(folder("", "/h"), Some("/h/.local/state/sunny16".into()));
        assert_eq!(folder("relative", "/h"), Some("/h/.local/state/sunny16".into()));
        assert_eq!(folder("", ""), None);
        assert_eq!(state_folder(None, None), None);
    }

    #[test]
    fn what_was_opened_is_there_in_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("state/sunny16");
        let (mut recent, notice) = RecentScenes::of(Some(&folder));
        assert!(recent.scenes().is_empty() && notice.is_none(), "nothing was opened yet");
        let odd = dir.path().join("a \"b\"\n\\c.glb");
        for scene in [
            Path::new("builtin:cornell"),
            &odd,
            Path::new("here.glb"),
            Path::new("builtin:cornell"),
        ] {
            recent.put(scene).unwrap();
        }
        let here = std::path::absolute("here.glb").unwrap();
        let expected = [PathBuf::from("builtin:cornell"), here, odd.clone()];
        assert_eq!(recent.scenes(), expected);
        let (mut next, notice) = RecentScenes::of(Some(&folder));
        assert_eq!((next.scenes(), notice), (expected.as_slice(), None));
        // Another window adds to the same list.
        recent.put(Path::new("/other.glb")).unwrap();
        next.put(Path::new("/third.glb")).unwrap();
        assert_eq!(next.scenes()[..2], [PathBuf::from("/third.glb"), "/other.glb".into()]);
        for number in 0..20 {
            next.put(&PathBuf::from(format!("/{number}.glb"))).unwrap();
        }
        assert_eq!(
            (next.scenes().len(), RecentScenes::of(Some(&folder)).0.scenes().len()),
            (MAX_SCENES, MAX_SCENES)
        );
        // No temporary file is left.
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(!is_there(&odd) && is_there(Path::new("builtin:cornell")));
    }

    #[test]
    fn an_unreadable_file_is_reported_and_replaced() {
        let long = format!("scenes = [\"{}\"]", "x".repeat(70_000));
        for (bytes, said) in [
            (&b"scenes = [\"a"[..], "not valid TOML"),
            (b"scenes = 3", "expected a list"),
            (b"scenes = [1, 2]", "expected strings"),
            (b"", "expected a list"),
            (b"\xff\xfe\x00", "UTF-8"),
            (long.as_bytes(), "exceed"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("recent"), bytes).unwrap();
            let (mut recent, notice) = RecentScenes::of(Some(dir.path()));
            assert!(notice.as_ref().is_some_and(|text| text.contains(said)), "{said}: {notice:?}");
            recent.put(Path::new("/a.glb")).unwrap();
            assert_eq!(RecentScenes::of(Some(dir.path())).0.scenes(), [PathBuf::from("/a.glb")]);
        }
        // A folder at its path: reported too, and the list is kept for this run only.
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("recent")).unwrap();
        let (mut recent, notice) = RecentScenes::of(Some(dir.path()));
        assert!(notice.is_some_and(|text| text.contains("not a regular file")));
        recent.put(Path::new("/a.glb")).unwrap_err();
        assert_eq!(recent.scenes(), [PathBuf::from("/a.glb")]);
    }
}
