//! The look being edited: its text with comments and order kept, undo and redo, saving and
//! autosave.
//!
//! The text is the single source. Every panel edits it by a property's path, as `--set` does, and
//! the look is parsed from it. A saved look is therefore what the command line reads.

mod autosave;
mod flow_maps;
mod location;
#[cfg(test)]
mod tests;
mod undo;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use glam::DVec2;

pub use self::autosave::Recovered;
use self::{
    autosave::Autosave,
    flow_maps::{Content, Maps, Moves, Painted, write_map},
    location::Location,
    undo::History,
};
use crate::{
    output::{self, OutputError},
    scene::{
        FlowMap,
        look::{self, Look, LookError},
    },
};

/// A look file being edited.
pub struct Document {
    location: Location,
    content: Content,
    /// The content as saved in the file.
    saved: Content,
    history: History,
    autosave: Autosave,
    /// The file's text as another program wrote it, once the user has been warned.
    told_of: Option<String>,
}

impl Document {
    /// A document with this text; `file` is where it is saved.
    #[must_use]
    pub fn new(text: &str, name: &str, file: Option<PathBuf>) -> Self {
        let content = Content { text: text.into(), maps: Maps::new() };
        Self {
            location: Location { name: name.into(), file },
            saved: content.clone(),
            content,
            history: History::default(),
            autosave: Autosave::default(),
            told_of: None,
        }
    }

    /// Sets the autosave path for a document without a file.
    #[must_use]
    pub fn with_autosave(mut self, copy: PathBuf) -> Self {
        self.autosave.unnamed = Some(copy);
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.content.text
    }

    /// The file it is saved to.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.location.file.as_deref()
    }

    /// True if it has unsaved changes.
    #[must_use]
    pub fn changed(&self) -> bool {
        !self.content.same(&self.saved)
    }

    /// The look parsed from the text.
    ///
    /// # Errors
    /// The errors of `Look::parse`.
    pub fn look(&self) -> Result<Look, LookError> {
        let mut look = Look::default();
        look.parse(&self.location.name, &self.content.text)?;
        for (name, painted) in &self.content.maps {
            let file = self.location.resolve(&painted.file);
            // The text may name another file by now.
            if let Some(water) =
                look.water.get_mut(name).filter(|water| water.flow.as_ref() == Some(&file))
            {
                water.map = Some(Arc::clone(&painted.map));
            }
        }
        Ok(look)
    }

    /// The properties that the text sets, by path, in the syntax of `--set`.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, String> {
        look::flattened(&self.content.text).into_iter().collect()
    }

    /// Sets properties, given as (path, value), or removes those without a value; all of them or
    /// none.
    ///
    /// # Errors
    /// An unknown property or an invalid value; nothing has changed then.
    pub fn set(&mut self, changes: &[(&str, Option<&str>)]) -> Result<(), LookError> {
        let text = look::with_changes(&self.location.name, &self.content.text, changes)?;
        Look::default().parse(&self.location.name, &text)?;
        let what = changes.iter().map(|(path, _)| *path).collect::<Vec<_>>().join(", ");
        self.replace(text, &what);
        Ok(())
    }

    /// Sets properties as `set` does, as an undo step of its own; `what` names the step.
    ///
    /// # Errors
    /// An unknown property or an invalid value; nothing has changed then.
    pub fn create(
        &mut self,
        changes: &[(&str, Option<&str>)],
        what: &str,
    ) -> Result<(), LookError> {
        let text = look::with_changes(&self.location.name, &self.content.text, changes)?;
        self.replace_checked(text, what)
    }

    /// Removes an item of a section, such as the light `Key` of `lights`, with its comments, as one
    /// undo step.
    ///
    /// # Errors
    /// A text that is not TOML; nothing has changed then.
    pub fn remove_item(&mut self, section: &str, item: &str) -> Result<(), LookError> {
        self.remove_item_and(section, item, &[])
    }

    /// The same, with further properties, which refer to the item.
    ///
    /// # Errors
    /// A text that is not TOML; nothing has changed then.
    pub fn remove_item_and(
        &mut self,
        section: &str,
        item: &str,
        properties: &[&str],
    ) -> Result<(), LookError> {
        let name = &self.location.name;
        let mut text = look::without_item(name, &self.content.text, section, item)?;
        for path in properties {
            text = look::without_property(name, &text, path)?;
        }
        self.replace_checked(text, &format!("delete {item}"))
    }

    /// Renames an item of a section as one undo step; its comments are kept.
    ///
    /// # Errors
    /// A name that the look rejects; nothing has changed then.
    pub fn rename_item(&mut self, section: &str, names: [&str; 2]) -> Result<(), LookError> {
        let (name, text) = (&self.location.name, &self.content.text);
        let text = look::with_renamed_item(name, text, section, names)?;
        self.replace_checked(text, &format!("rename {} to {}", names[0], names[1]))
    }

    /// Sets a key of the timeline, as one undo step: path and value, time (s) and frames per second
    /// of keys in frames.
    ///
    /// # Errors
    /// An unknown property or an invalid value; nothing has changed then.
    pub fn set_key(
        &mut self,
        key: (&str, &str),
        (time, rate): (f64, f64),
    ) -> Result<(), LookError> {
        let text = look::with_key(&self.location.name, &self.content.text, key, (time, rate))?;
        self.replace_checked(text, &format!("key of {}", key.0))
    }

    /// Replaces the text as an undo step of its own, if it is a look.
    fn replace_checked(&mut self, text: String, what: &str) -> Result<(), LookError> {
        Look::default().parse(&self.location.name, &text)?;
        self.end_gesture();
        self.replace(text, what);
        self.end_gesture();
        Ok(())
    }

    /// Sets a water's flow map as one undo step. The text names its file, which is written when the
    /// look is saved. `before` is the previous map, `rectangle` its extent (minimum x and z, size;
    /// m), `speed` the speed of a component of 1 (m/s), where it changes.
    ///
    /// # Errors
    /// A name that the look rejects.
    pub fn paint(
        &mut self,
        name: &str,
        before: &Arc<FlowMap>,
        map: Arc<FlowMap>,
        rectangle: [DVec2; 2],
        speed: Option<f64>,
    ) -> Result<(), LookError> {
        let path = |property: &str| format!("water.{name}.{property}");
        let named = self.values().remove(&path("flow"));
        let own = self.location.map_name(name);
        let painted_as = self.content.maps.get(name).map(|painted| &painted.file);
        let file = match named {
            Some(file) if painted_as == Some(&file) => file,
            // The map was painted in an earlier run: undo restores what the file had, also after a
            // save.
            Some(file) if file == own => {
                let painted = Painted { file: file.clone(), map: Arc::clone(before) };
                // Each earlier step had this map too, in its file.
                let contents = [&mut self.content, &mut self.saved];
                for content in self.history.contents_mut().chain(contents) {
                    content.maps.entry(name.into()).or_insert_with(|| painted.clone());
                }
                file
            }
            // A map from elsewhere is not overwritten.
            _ => self.location.free_map_name(own),
        };
        let pair = |v: DVec2| format!("{} {}", v.x, v.y);
        let [origin, size] = rectangle.map(pair);
        let mut changes =
            vec![("flow", file.clone()), ("flow_origin", origin), ("flow_size", size)];
        changes.extend(speed.map(|speed| ("speed", format!("{speed}"))));
        let mut text = self.content.text.clone();
        for (property, value) in changes {
            text = look::edited(&self.location.name, &text, &path(property), Some(&value))?;
        }
        Look::default().parse(&self.location.name, &text)?;
        let mut maps = self.content.maps.clone();
        maps.insert(name.into(), Painted { file, map });
        self.end_gesture();
        self.step(Content { text, maps }, &format!("flow of {name}"));
        self.end_gesture();
        Ok(())
    }

    /// Replaces the text as one undo step; `what` names the change.
    pub fn replace(&mut self, text: String, what: &str) {
        self.step(Content { text, maps: self.content.maps.clone() }, what);
    }

    /// Restores an autosave as one undo step.
    pub fn restore(&mut self, recovered: Recovered) {
        let mut maps = self.content.maps.clone();
        maps.extend(recovered.maps);
        self.step(Content { text: recovered.text, maps }, "restored autosave");
    }

    fn step(&mut self, content: Content, what: &str) {
        if !content.same(&self.content) {
            self.history.record(&self.content, &content.maps, what);
            self.content = content;
            self.autosave.mark();
        }
    }

    /// Ends a gesture: the next change starts a new undo step.
    pub fn end_gesture(&mut self) {
        self.history.end_gesture();
    }

    /// Undoes the last step and returns its name.
    pub fn undo(&mut self) -> Option<String> {
        let what = self.history.undo(&mut self.content)?;
        self.autosave.mark();
        Some(what)
    }

    /// Redoes the last undone step and returns its name.
    pub fn redo(&mut self) -> Option<String> {
        let what = self.history.redo(&mut self.content)?;
        self.autosave.mark();
        Some(what)
    }

    /// Names of the steps that undo and redo would apply.
    #[must_use]
    pub fn steps(&self) -> [Option<&str>; 2] {
        self.history.names()
    }

    /// Writes painted flow maps and then the file, each atomically.
    ///
    /// # Errors
    /// No file to save to, or a file system error; the old file is kept then.
    pub fn save(&mut self) -> Result<PathBuf, OutputError> {
        let Some(file) = self.location.file.clone() else {
            return Err(OutputError {
                file: self.location.name.clone(),
                detail: "the look has no file yet: save it as a file".into(),
            });
        };
        if let Ok(there) = Look::text_of(&file)
            && there != self.saved.text
            && there != self.content.text
            && self.told_of.as_ref() != Some(&there)
        {
            self.told_of = Some(there);
            return Err(OutputError {
                file: file.display().to_string(),
                detail: "another program has changed it since it was read; save again to replace it, or save as another file"
                    .into(),
            });
        }
        for (name, painted) in self.content.used_maps() {
            let to = file.with_file_name(&painted.file);
            let saved = self.saved.maps.get(name);
            let there = saved.is_some_and(|saved| Arc::ptr_eq(&saved.map, &painted.map));
            if !there || !to.exists() {
                write_map(&to, &painted.map)?;
            }
        }
        output::write_text(&file, &self.content.text)?;
        self.saved = self.content.clone();
        self.told_of = None;
        self.discard();
        Ok(file)
    }

    /// Saves to another file, which is replaced and becomes the document's file. Relative file
    /// names are rewritten for the new folder; painted maps are saved in it and replace no existing
    /// file.
    ///
    /// # Errors
    /// A file system error; nothing has changed then.
    pub fn save_as(&mut self, file: PathBuf) -> Result<PathBuf, OutputError> {
        if self.location.file.as_ref() == Some(&file) {
            self.told_of = Look::text_of(&file).ok();
            return self.save();
        }
        let copies = self.autosave.written_files(&self.location, &self.content);
        let before = (self.location.clone(), self.content.clone(), self.history.clone());
        let saved_maps = self.saved.maps.clone();
        let folder = self.location.folder();
        self.location = Location { name: file.display().to_string(), file: Some(file.clone()) };
        let renamed = |(name, painted): (&String, &Painted)| {
            let new = self.location.free_map_name(self.location.map_name(name));
            (name.clone(), (painted.file.clone(), new))
        };
        let moves = Moves {
            maps: self.content.used_maps().into_iter().map(renamed).collect(),
            from: (folder != self.location.folder()).then_some(folder),
        };
        for content in self.history.contents_mut().chain([&mut self.content]) {
            moves.apply(content);
        }
        // None of them has a file there yet.
        self.saved.maps.clear();
        self.told_of = Look::text_of(&file).ok();
        let saved = self.save();
        if saved.is_ok() {
            // The autosave of the old location is obsolete.
            for copy in copies {
                let _ = fs::remove_file(copy);
            }
        } else {
            (self.location, self.content, self.history) = before;
            self.saved.maps = saved_maps;
        }
        saved
    }

    /// Writes the autosave once its delay has passed since a change. A failure is only logged.
    pub fn autosave(&mut self) {
        if !self.autosave.take_due() {
            return;
        }
        if self.changed() {
            self.autosave.write(&self.location, &self.content);
        } else {
            self.discard();
        }
    }

    /// Writes the autosave at once, as before an unplanned exit.
    pub fn autosave_now(&mut self) {
        self.autosave.hasten();
        self.autosave();
    }

    /// Time until the autosave is due.
    #[must_use]
    pub fn autosave_due(&self) -> Option<Duration> {
        self.autosave.due_in()
    }

    /// Deletes the autosave, as when the unsaved changes are discarded.
    pub fn discard(&mut self) {
        self.autosave.delete(&self.location, &self.content);
    }

    /// The autosave of an earlier run, if it differs from the file.
    #[must_use]
    pub fn recovered(&self) -> Option<Recovered> {
        self.autosave.recovered(&self.location, &self.content.text)
    }
}
