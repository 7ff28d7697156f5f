//! Flow maps painted in the window: they belong to the look's content beside its text, and override
//! the files that the text names until these are written.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    output::{self, OutputError},
    scene::{FlowMap, look},
};

/// A flow map painted here.
#[derive(Clone)]
pub(super) struct Painted {
    /// The file name in the text, relative to the look.
    pub file: String,
    pub map: Arc<FlowMap>,
}

/// Painted maps by the water's name.
pub(super) type Maps = BTreeMap<String, Painted>;

/// A look's text and the flow maps painted for it.
#[derive(Clone, Default)]
pub(super) struct Content {
    pub text: String,
    pub maps: Maps,
}

impl Content {
    /// True if texts and maps are the same; maps are compared by identity.
    pub fn same(&self, other: &Self) -> bool {
        let alike = |a: &Painted, b: &Painted| a.file == b.file && Arc::ptr_eq(&a.map, &b.map);
        self.text == other.text
            && self.maps.len() == other.maps.len()
            && self
                .maps
                .iter()
                .all(|(name, painted)| other.maps.get(name).is_some_and(|b| alike(painted, b)))
    }

    /// The painted maps that the text names.
    pub fn used_maps(&self) -> Vec<(&String, &Painted)> {
        let values: BTreeMap<String, String> = look::flattened(&self.text).into_iter().collect();
        let named = |name: &str, file: &str| {
            values.get(&format!("water.{name}.flow")).is_some_and(|now| now == file)
        };
        self.maps.iter().filter(|(name, painted)| named(name, &painted.file)).collect()
    }
}

/// The water whose flow map a property names.
pub(super) fn water_of(path: &str) -> Option<&str> {
    path.strip_prefix("water.").and_then(|rest| rest.strip_suffix(".flow"))
}

/// Rewrites a look's content for another folder.
pub(super) struct Moves {
    /// The old folder, if it differs from the new one.
    pub from: Option<PathBuf>,
    /// Old and new files of painted maps, by their water.
    pub maps: BTreeMap<String, (String, String)>,
}

impl Moves {
    /// Rewrites the file names of a content.
    pub fn apply(&self, content: &mut Content) {
        for (path, value) in look::flattened(&content.text) {
            let painted = water_of(&path)
                .and_then(|water| self.maps.get(water))
                .filter(|(old, _)| *old == value);
            let new = match (painted, &self.from) {
                (Some((_, new)), _) => new.clone(),
                (None, Some(folder)) if look::is_file_property(&path, &value) => {
                    // A path that cannot be made absolute stays; the look reports the missing file.
                    std::path::absolute(folder.join(&value))
                        .map_or(value, |whole| whole.display().to_string())
                }
                _ => continue,
            };
            // The text was parsed before, so the edit succeeds.
            if let Ok(text) = look::edited("", &content.text, &path, Some(&new)) {
                content.text = text;
            }
        }
        for (water, (old, new)) in &self.maps {
            if let Some(painted) =
                content.maps.get_mut(water).filter(|painted| painted.file == *old)
            {
                painted.file.clone_from(new);
            }
        }
    }
}

/// Writes a map as PNG, atomically.
pub(super) fn write_map(file: &Path, map: &FlowMap) -> Result<(), OutputError> {
    let bytes =
        map.png().map_err(|detail| OutputError { file: file.display().to_string(), detail })?;
    output::write_with(file, |to| to.write_all(&bytes))
}
