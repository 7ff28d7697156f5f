//! Location of a look: its name in messages, its file, and the files that it names.

use std::path::{Path, PathBuf};

/// Name and file of a look.
#[derive(Clone)]
pub(super) struct Location {
    /// Name used in messages; files that the look names are relative to it.
    pub name: String,
    /// The file it is saved to; with none, saving asks for one.
    pub file: Option<PathBuf>,
}

impl Location {
    /// The folder that the look's relative names start from.
    pub fn folder(&self) -> PathBuf {
        Path::new(&self.name).parent().unwrap_or_else(|| Path::new("")).into()
    }

    /// Resolves a file name of the look.
    pub fn resolve(&self, file: &str) -> PathBuf {
        self.folder().join(file)
    }

    /// File name of a painted flow map, made of the look's and the water's names.
    pub fn map_name(&self, water: &str) -> String {
        let file =
            self.file.as_ref().and_then(|file| file.file_name()).map(|name| name.to_string_lossy());
        let look = file.as_deref().unwrap_or("scene");
        let look = look.strip_suffix(".toml").unwrap_or(look);
        let look = look.strip_suffix(".look").unwrap_or(look);
        let plain =
            |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        format!("{look}.{}.flow.png", water.chars().map(plain).collect::<String>())
    }

    /// A flow map's file name, numbered if the file exists.
    pub fn free_map_name(&self, own: String) -> String {
        if !self.resolve(&own).exists() {
            return own;
        }
        let mut numbered =
            (2..100).map(|number| own.replace(".flow.png", &format!(".{number}.flow.png")));
        numbered.find(|name| !self.resolve(name).exists()).unwrap_or(own)
    }
}
