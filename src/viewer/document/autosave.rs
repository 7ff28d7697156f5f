//! Autosave of a look: a copy of its text and painted maps, beside its file, which an unplanned
//! exit leaves for the next start.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    flow_maps::{Content, Maps, Painted, water_of, write_map},
    location::Location,
};
use crate::{
    output,
    scene::{
        FlowMap,
        look::{self, Look},
    },
};

/// Delay from a change to its autosave.
const DELAY: Duration = Duration::from_secs(2);

/// A document's autosave that differs from its file.
pub struct Recovered {
    /// Its text.
    pub text: String,
    /// The autosave file.
    pub file: PathBuf,
    pub(super) maps: Maps,
}

/// State of the autosave.
#[derive(Default)]
pub(super) struct Autosave {
    /// Time of the first change that the autosave lacks.
    pending_since: Option<Instant>,
    /// Autosave path of a look without a file.
    pub unnamed: Option<PathBuf>,
    /// True if this run has written the autosave.
    written: bool,
}

impl Autosave {
    /// The content has changed: an autosave becomes due.
    pub fn mark(&mut self) {
        self.pending_since.get_or_insert_with(Instant::now);
    }

    /// Makes a pending autosave due at once.
    pub fn hasten(&mut self) {
        self.pending_since = self
            .pending_since
            .map(|_| Instant::now().checked_sub(DELAY).unwrap_or_else(Instant::now));
    }

    /// Time until the autosave is due.
    pub fn due_in(&self) -> Option<Duration> {
        self.pending_since.map(|since| DELAY.saturating_sub(since.elapsed()))
    }

    /// True once `DELAY` has passed since a change; the autosave is not pending then.
    pub fn take_due(&mut self) -> bool {
        let due = self.pending_since.is_some_and(|since| since.elapsed() >= DELAY);
        if due {
            self.pending_since = None;
        }
        due
    }

    /// Writes the autosave. A failure is only logged.
    pub fn write(&mut self, at: &Location, content: &Content) {
        let Some(copy) = self.file(at) else { return };
        let before = self.map_copies(at);
        if let Some(folder) =
            self.unnamed.as_deref().and_then(Path::parent).filter(|_| at.file.is_none())
        {
            // If this fails, writing the autosave reports it.
            let _ = fs::create_dir_all(folder);
        }
        let used: Vec<(PathBuf, &Painted)> = content
            .used_maps()
            .into_iter()
            .map(|(_, painted)| (self.copy_of_map(at, &painted.file), painted))
            .collect();
        let written = used
            .iter()
            .try_for_each(|(file, painted)| write_map(file, &painted.map))
            .and_then(|()| output::write_text(&copy, &content.text));
        if let Err(error) = written {
            log::warn!("{error}");
            return;
        }
        self.written = true;
        // Maps of an earlier autosave that was not restored: no text refers to them.
        for map in before.iter().filter(|map| used.iter().all(|(file, _)| file != *map)) {
            let _ = fs::remove_file(map);
        }
    }

    /// Deletes the autosave and its maps.
    pub fn delete(&mut self, at: &Location, content: &Content) {
        for file in self.files(at, content) {
            let _ = fs::remove_file(file);
        }
        (self.pending_since, self.written) = (None, false);
    }

    /// Files of the autosave that this run has written.
    pub fn written_files(&self, at: &Location, content: &Content) -> Vec<PathBuf> {
        if self.written { self.files(at, content) } else { Vec::new() }
    }

    /// Paths of the autosave and of its maps; they may not exist.
    fn files(&self, at: &Location, content: &Content) -> Vec<PathBuf> {
        let Some(copy) = self.file(at) else { return Vec::new() };
        let maps = content.maps.values().map(|painted| self.copy_of_map(at, &painted.file));
        maps.chain(self.map_copies(at)).chain([copy]).collect()
    }

    /// Path of the autosave: beside the file, or the path given for a look without one.
    fn file(&self, at: &Location) -> Option<PathBuf> {
        at.file.as_deref().map_or_else(|| self.unnamed.clone(), |file| Some(copy_of(file)))
    }

    /// Autosave path of a flow map's file.
    fn copy_of_map(&self, at: &Location, file: &str) -> PathBuf {
        let unnamed = self.unnamed.as_deref().filter(|_| at.file.is_none());
        copy_of(&unnamed.map_or_else(|| at.resolve(file), |copy| copy.with_file_name(file)))
    }

    /// The map files that belong to the autosave on disk, whichever run wrote it.
    fn map_copies(&self, at: &Location) -> Vec<PathBuf> {
        let text = self.file(at).and_then(|copy| Look::text_of(&copy).ok()).unwrap_or_default();
        let plain =
            |file: &String| Path::new(file).file_name().is_some_and(|name| name == file.as_str());
        look::flattened(&text)
            .into_iter()
            // Autosaved maps lie beside the look; files elsewhere are not touched.
            .filter(|(path, file)| water_of(path).is_some() && plain(file))
            .map(|(_, file)| self.copy_of_map(at, &file))
            .collect()
    }

    /// The autosave of an earlier run, if it differs from the look's text.
    pub fn recovered(&self, at: &Location, text_now: &str) -> Option<Recovered> {
        let file = self.file(at)?;
        let text = Look::text_of(&file).ok()?;
        let mut maps = Maps::new();
        for (path, file) in look::flattened(&text) {
            let name = water_of(&path);
            let bytes = name.and_then(|_| fs::read(self.copy_of_map(at, &file)).ok());
            if let (Some(name), Some(Ok(map))) =
                (name, bytes.map(|bytes| FlowMap::from_bytes(&bytes)))
            {
                maps.insert(name.into(), Painted { file, map: Arc::new(map) });
            }
        }
        (text != text_now || !maps.is_empty()).then_some(Recovered { text, file, maps })
    }
}

/// Autosave path of a file.
fn copy_of(file: &Path) -> PathBuf {
    output::with_suffix(file, ".autosave")
}
