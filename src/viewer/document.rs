//! The look being edited: its text with comments and order kept, undo and redo, saving and
//! autosave.
//!
//! The text is the single source. Every panel edits it by a property's path, as `--set` does, and
//! the look is parsed from it. A saved look is therefore what the command line reads.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use glam::DVec2;

use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value};

use crate::{
    output::{self, OutputError},
    scene::{
        FlowMap,
        look::{self, Look, LookError},
    },
};

/// Maximum number of undo steps; each keeps its whole text.
const MAX_UNDO_STEPS: usize = 1000;

/// Maximum bytes of painted flow maps in the undo history; the oldest steps are dropped first.
const MAX_UNDO_MAP_BYTES: usize = 256 << 20;

/// Delay from a change to its autosave.
const AUTOSAVE_DELAY: Duration = Duration::from_secs(2);

/// A look file being edited.
pub struct Document {
    text: String,
    /// Name used in messages; files that it names are relative to it.
    name: String,
    /// The file it is saved to; with none, saving asks for one.
    file: Option<PathBuf>,
    /// Flow maps painted here, by the water's name; they override the files that the text names.
    maps: Maps,
    /// Painted maps as last saved to their files.
    saved_maps: Maps,
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// The current gesture's change: further changes of the same properties join its undo step.
    last: Option<String>,
    /// The text as saved in the file.
    saved: String,
    /// Time of the first change that the autosave lacks.
    autosave_pending_since: Option<Instant>,
    /// Autosave path of a look without a file.
    unnamed_copy: Option<PathBuf>,
    /// True if this run has written the autosave.
    copied: bool,
    /// The file's text as another program wrote it, once the user has been warned.
    told_of: Option<String>,
}

/// A flow map painted here.
#[derive(Clone)]
struct Painted {
    /// The file name in the text, relative to the look.
    file: String,
    map: Arc<FlowMap>,
}

type Maps = BTreeMap<String, Painted>;

fn same(a: &Maps, b: &Maps) -> bool {
    let alike = |a: &Painted, b: &Painted| a.file == b.file && Arc::ptr_eq(&a.map, &b.map);
    a.len() == b.len()
        && a.iter().all(|(name, painted)| b.get(name).is_some_and(|other| alike(painted, other)))
}

/// An undo step: the text and maps before a change, and the change's name.
#[derive(Clone)]
struct Step {
    text: String,
    maps: Maps,
    what: String,
}

impl Step {
    /// Bytes of its maps that the next step does not share.
    fn new_bytes(&self, next: &Maps) -> usize {
        let gone = |(name, painted): &(&String, &Painted)| {
            next.get(*name).is_none_or(|other| !Arc::ptr_eq(&other.map, &painted.map))
        };
        let bytes =
            |painted: &Painted| painted.map.width() * painted.map.height() * size_of::<[f32; 3]>();
        self.maps.iter().filter(gone).map(|(_, painted)| bytes(painted)).sum()
    }
}

/// A document's autosave that differs from its file.
pub struct Recovered {
    /// Its text.
    pub text: String,
    /// The autosave file.
    pub file: PathBuf,
    maps: Maps,
}

impl Document {
    /// A document with this text; `file` is where it is saved.
    #[must_use]
    pub fn new(text: &str, name: &str, file: Option<PathBuf>) -> Self {
        Self {
            text: text.into(),
            name: name.into(),
            file,
            maps: Maps::new(),
            saved_maps: Maps::new(),
            undo: Vec::new(),
            redo: Vec::new(),
            last: None,
            saved: text.into(),
            autosave_pending_since: None,
            unnamed_copy: None,
            copied: false,
            told_of: None,
        }
    }

    /// Sets the autosave path for a document without a file.
    #[must_use]
    pub fn with_autosave(self, copy: PathBuf) -> Self {
        Self { unnamed_copy: Some(copy), ..self }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file it is saved to.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// True if it has unsaved changes.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.text != self.saved || !same(&self.maps, &self.saved_maps)
    }

    /// The look parsed from the text.
    ///
    /// # Errors
    /// The errors of `Look::parse`.
    pub fn look(&self) -> Result<Look, LookError> {
        let mut look = Look::default();
        look.parse(&self.name, &self.text)?;
        for (name, painted) in &self.maps {
            let file = self.resolve_path(&painted.file);
            // The text may name another file by now.
            if let Some(water) =
                look.water.get_mut(name).filter(|water| water.flow.as_ref() == Some(&file))
            {
                water.map = Some(Arc::clone(&painted.map));
            }
        }
        Ok(look)
    }

    /// Resolves a file name of the text.
    fn resolve_path(&self, file: &str) -> PathBuf {
        Path::new(&self.name).parent().unwrap_or_else(|| Path::new("")).join(file)
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
        let own = self.name_for(name);
        let file = match named {
            Some(file) if self.maps.get(name).is_some_and(|painted| painted.file == file) => file,
            // The map was painted in an earlier run: undo restores what the file had, also after a
            // save.
            Some(file) if file == own => {
                let painted = Painted { file: file.clone(), map: Arc::clone(before) };
                // Each earlier step had this map too, in its file.
                let steps = self.undo.iter_mut().chain(&mut self.redo).map(|step| &mut step.maps);
                for maps in steps.chain([&mut self.maps, &mut self.saved_maps]) {
                    maps.entry(name.into()).or_insert_with(|| painted.clone());
                }
                file
            }
            // A map from elsewhere is not overwritten.
            _ => self.free(own),
        };
        let pair = |v: DVec2| format!("{} {}", v.x, v.y);
        let [origin, size] = rectangle.map(pair);
        let mut changes =
            vec![("flow", file.clone()), ("flow_origin", origin), ("flow_size", size)];
        changes.extend(speed.map(|speed| ("speed", format!("{speed}"))));
        let mut text = self.text.clone();
        for (property, value) in changes {
            text = edited(&self.name, &text, &path(property), Some(&value))?;
        }
        Look::default().parse(&self.name, &text)?;
        let mut maps = self.maps.clone();
        maps.insert(name.into(), Painted { file, map });
        self.end_gesture();
        self.step(text, maps, &format!("flow of {name}"));
        self.end_gesture();
        Ok(())
    }

    /// A file name, numbered if the file exists.
    fn free(&self, own: String) -> String {
        if !self.resolve_path(&own).exists() {
            return own;
        }
        let numbered =
            (2..100).map(|number| own.replace(".flow.png", &format!(".{number}.flow.png")));
        numbered.into_iter().find(|name| !self.resolve_path(name).exists()).unwrap_or(own)
    }

    /// File name of a flow map, made of the look's and the water's names.
    fn name_for(&self, water: &str) -> String {
        let file =
            self.file.as_ref().and_then(|file| file.file_name()).map(|name| name.to_string_lossy());
        let look = file.as_deref().unwrap_or("scene");
        let look = look.strip_suffix(".toml").unwrap_or(look);
        let look = look.strip_suffix(".look").unwrap_or(look);
        let plain =
            |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        format!("{look}.{}.flow.png", water.chars().map(plain).collect::<String>())
    }

    /// The properties that the text sets, by path, in the syntax of `--set`.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, String> {
        look::flattened(&self.text).into_iter().collect()
    }

    /// Sets properties, given as (path, value), or removes those without a value; all of them or
    /// none.
    ///
    /// # Errors
    /// An unknown property or an invalid value; nothing has changed then.
    pub fn set(&mut self, changes: &[(&str, Option<&str>)]) -> Result<(), LookError> {
        let mut text = self.text.clone();
        for &(path, value) in changes {
            let path = look::current_path(path).unwrap_or_else(|| path.to_owned());
            for old in look::old_paths(&path) {
                text = moved(&self.name, &text, &old, &path)?;
            }
            text = edited(&self.name, &text, &path, value)?;
        }
        Look::default().parse(&self.name, &text)?;
        let what = changes.iter().map(|(path, _)| *path).collect::<Vec<_>>().join(", ");
        self.replace(text, &what);
        Ok(())
    }

    /// Replaces the text as one undo step; `what` names the change.
    pub fn replace(&mut self, text: String, what: &str) {
        self.step(text, self.maps.clone(), what);
    }

    /// Restores an autosave as one undo step.
    pub fn restore(&mut self, recovered: Recovered) {
        let mut maps = self.maps.clone();
        maps.extend(recovered.maps);
        self.step(recovered.text, maps, "restored autosave");
    }

    fn step(&mut self, text: String, maps: Maps, what: &str) {
        if text == self.text && same(&maps, &self.maps) {
            return;
        }
        let goes_on = self.last.as_deref() == Some(what);
        if !goes_on || self.undo.is_empty() {
            self.undo.push(Step {
                text: self.text.clone(),
                maps: self.maps.clone(),
                what: what.into(),
            });
            let mut held: usize =
                self.undo.windows(2).map(|pair| pair[0].new_bytes(&pair[1].maps)).sum();
            while self.undo.len() > MAX_UNDO_STEPS
                || (self.undo.len() > 1 && held > MAX_UNDO_MAP_BYTES)
            {
                held = held.saturating_sub(
                    self.undo[0].new_bytes(self.undo.get(1).map_or(&maps, |next| &next.maps)),
                );
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.last = Some(what.into());
        self.now(text, maps);
    }

    fn now(&mut self, text: String, maps: Maps) {
        (self.text, self.maps) = (text, maps);
        self.autosave_pending_since.get_or_insert_with(Instant::now);
    }

    /// Ends a gesture: the next change starts a new undo step.
    pub fn end_gesture(&mut self) {
        self.last = None;
    }

    /// Undoes the last step and returns its name.
    pub fn undo(&mut self) -> Option<String> {
        let step = self.undo.pop()?;
        self.redo.push(Step {
            text: self.text.clone(),
            maps: self.maps.clone(),
            what: step.what.clone(),
        });
        self.last = None;
        self.now(step.text, step.maps);
        Some(step.what)
    }

    /// Redoes the last undone step and returns its name.
    pub fn redo(&mut self) -> Option<String> {
        let step = self.redo.pop()?;
        self.undo.push(Step {
            text: self.text.clone(),
            maps: self.maps.clone(),
            what: step.what.clone(),
        });
        self.last = None;
        self.now(step.text, step.maps);
        Some(step.what)
    }

    /// Names of the steps that undo and redo would apply.
    #[must_use]
    pub fn steps(&self) -> [Option<&str>; 2] {
        [&self.undo, &self.redo].map(|steps| steps.last().map(|step| step.what.as_str()))
    }

    /// Writes painted flow maps and then the file, each atomically.
    ///
    /// # Errors
    /// No file to save to, or a file system error; the old file is kept then.
    pub fn save(&mut self) -> Result<PathBuf, OutputError> {
        let Some(file) = self.file.clone() else {
            return Err(OutputError {
                file: self.name.clone(),
                detail: "the look has no file yet: save it as a file".into(),
            });
        };
        if let Ok(there) = Look::text_of(&file)
            && there != self.saved
            && there != self.text
            && self.told_of.as_ref() != Some(&there)
        {
            self.told_of = Some(there);
            return Err(OutputError {
                file: file.display().to_string(),
                detail: "another program has changed it since it was read; save again to replace it, or save as another file"
                    .into(),
            });
        }
        for (name, painted) in self.used() {
            let to = file.with_file_name(&painted.file);
            let there = self
                .saved_maps
                .get(name)
                .is_some_and(|saved| Arc::ptr_eq(&saved.map, &painted.map));
            if !there || !to.exists() {
                write_map(&to, &painted.map)?;
            }
        }
        output::write_text(&file, &self.text)?;
        self.saved = self.text.clone();
        self.saved_maps = self.maps.clone();
        self.told_of = None;
        self.delete_autosave();
        Ok(file)
    }

    /// Saves to another file from now on, replacing it. Relative file names are rewritten for the
    /// new folder; painted maps are saved beside it and replace no existing file.
    ///
    /// # Errors
    /// A file system error; nothing has changed then.
    pub fn save_as(&mut self, file: PathBuf) -> Result<PathBuf, OutputError> {
        if self.file.as_ref() == Some(&file) {
            self.told_of = Look::text_of(&file).ok();
            return self.save();
        }
        let copies: Vec<PathBuf> = if self.copied { self.own_copies() } else { Vec::new() };
        let before = (
            self.file.clone(),
            self.name.clone(),
            self.text.clone(),
            self.maps.clone(),
            self.saved_maps.clone(),
        );
        let steps = (self.undo.clone(), self.redo.clone());
        let folder = folder_of(&self.name);
        (self.file, self.name) = (Some(file.clone()), file.display().to_string());
        let moves = Moves {
            from: (folder != folder_of(&self.name)).then_some(folder),
            maps: used(&before.2, &before.3)
                .into_iter()
                .map(|(name, painted)| {
                    (name.clone(), (painted.file.clone(), self.free(self.name_for(name))))
                })
                .collect(),
        };
        (self.text, self.maps) = moves.of(&self.text, &self.maps);
        for step in self.undo.iter_mut().chain(&mut self.redo) {
            (step.text, step.maps) = moves.of(&step.text, &step.maps);
        }
        // None of them has a file there yet.
        self.saved_maps.clear();
        self.told_of = Look::text_of(&file).ok();
        let saved = self.save();
        if saved.is_ok() {
            // The autosave of the old location is obsolete.
            for copy in copies {
                let _ = fs::remove_file(copy);
            }
        } else {
            (self.file, self.name, self.text, self.maps, self.saved_maps) = before;
            (self.undo, self.redo) = steps;
        }
        saved
    }

    /// The painted maps that the text names.
    fn used(&self) -> Vec<(&String, &Painted)> {
        used(&self.text, &self.maps)
    }

    /// Path of the autosave: beside the file, or the path given for a look without one.
    fn autosave_file(&self) -> Option<PathBuf> {
        let Some(file) = self.file.as_ref() else { return self.unnamed_copy.clone() };
        Some(copy_of(file))
    }

    /// Writes the autosave once `AUTOSAVE_DELAY` has passed since a change. A failure is only
    /// logged.
    pub fn autosave(&mut self) {
        let due =
            self.autosave_pending_since.is_some_and(|since| since.elapsed() >= AUTOSAVE_DELAY);
        if !due {
            return;
        }
        self.autosave_pending_since = None;
        if !self.changed() {
            self.delete_autosave();
        } else if let Some(copy) = self.autosave_file() {
            let before = self.copied_maps();
            if let Some(folder) =
                self.unnamed_copy.as_deref().and_then(Path::parent).filter(|_| self.file.is_none())
            {
                // If this fails, writing the autosave reports it.
                let _ = fs::create_dir_all(folder);
            }
            if let Err(error) =
                self.copy_maps().and_then(|()| output::write_text(&copy, &self.text))
            {
                log::warn!("{error}");
                return;
            }
            self.copied = true;
            // Maps of an earlier autosave that was not restored: no text refers to them.
            let used: Vec<PathBuf> =
                self.used().iter().map(|(_, painted)| self.copy_of_map(&painted.file)).collect();
            for map in before.iter().filter(|map| !used.contains(map)) {
                let _ = fs::remove_file(map);
            }
        }
    }

    /// The map files that belong to the autosave on disk, whichever run wrote it.
    fn copied_maps(&self) -> Vec<PathBuf> {
        let text =
            self.autosave_file().and_then(|copy| Look::text_of(&copy).ok()).unwrap_or_default();
        let plain =
            |file: &String| Path::new(file).file_name().is_some_and(|name| name == file.as_str());
        look::flattened(&text)
            .into_iter()
            .filter(|(path, file)| {
                path.starts_with("water.") && path.ends_with(".flow") && plain(file)
            })
            // Autosaved maps lie beside the look; files elsewhere are not touched.
            .map(|(_, file)| self.copy_of_map(&file))
            .collect()
    }

    fn copy_maps(&self) -> Result<(), OutputError> {
        self.used()
            .into_iter()
            .try_for_each(|(_, painted)| write_map(&self.copy_of_map(&painted.file), &painted.map))
    }

    /// Writes the autosave at once, as before an unplanned exit.
    pub fn autosave_now(&mut self) {
        self.autosave_pending_since = self
            .autosave_pending_since
            .map(|_| Instant::now().checked_sub(AUTOSAVE_DELAY).unwrap_or_else(Instant::now));
        self.autosave();
    }

    /// Time until the autosave is due.
    #[must_use]
    pub fn autosave_due(&self) -> Option<Duration> {
        self.autosave_pending_since.map(|since| AUTOSAVE_DELAY.saturating_sub(since.elapsed()))
    }

    /// Discards the unsaved changes: deletes the autosave.
    pub fn discard(&mut self) {
        self.delete_autosave();
    }

    /// Autosave path of a flow map's file.
    fn copy_of_map(&self, file: &str) -> PathBuf {
        let unnamed = self.unnamed_copy.as_deref().filter(|_| self.file.is_none());
        copy_of(&unnamed.map_or_else(|| self.resolve_path(file), |copy| copy.with_file_name(file)))
    }

    /// Paths of the autosave and of its maps; they may not exist.
    fn own_copies(&self) -> Vec<PathBuf> {
        let Some(copy) = self.autosave_file() else { return Vec::new() };
        let maps = self.maps.values().map(|painted| self.copy_of_map(&painted.file));
        maps.chain(self.copied_maps()).chain([copy]).collect()
    }

    fn delete_autosave(&mut self) {
        (self.autosave_pending_since, self.copied) = (None, false);
        for file in self.own_copies() {
            let _ = fs::remove_file(file);
        }
    }

    /// The autosave of an earlier run, if it differs from the file.
    #[must_use]
    pub fn recovered(&self) -> Option<Recovered> {
        let file = self.autosave_file()?;
        let text = Look::text_of(&file).ok()?;
        let mut maps = Maps::new();
        for (path, file) in look::flattened(&text) {
            let name = path.strip_prefix("water.").and_then(|rest| rest.strip_suffix(".flow"));
            let bytes = name.and_then(|_| fs::read(self.copy_of_map(&file)).ok());
            if let (Some(name), Some(Ok(map))) =
                (name, bytes.map(|bytes| FlowMap::from_bytes(&bytes)))
            {
                maps.insert(name.into(), Painted { file, map: Arc::new(map) });
            }
        }
        (text != self.text || !maps.is_empty()).then_some(Recovered { text, file, maps })
    }
}

/// The painted maps that a text names.
fn used<'a>(text: &str, maps: &'a Maps) -> Vec<(&'a String, &'a Painted)> {
    let values: BTreeMap<String, String> = look::flattened(text).into_iter().collect();
    let named = |name: &str, file: &str| {
        values.get(&format!("water.{name}.flow")).is_some_and(|now| now == file)
    };
    maps.iter().filter(|(name, painted)| named(name, &painted.file)).collect()
}

/// The folder that a look's relative names start from.
fn folder_of(name: &str) -> PathBuf {
    Path::new(name).parent().unwrap_or_else(|| Path::new("")).into()
}

/// Rewrites a text and its maps for another folder.
struct Moves {
    /// The old folder, if it differs from the new one.
    from: Option<PathBuf>,
    /// Old and new files of painted maps, by their water.
    maps: BTreeMap<String, (String, String)>,
}

impl Moves {
    fn of(&self, text: &str, maps: &Maps) -> (String, Maps) {
        let (mut text, mut maps) = (text.to_owned(), maps.clone());
        for (path, value) in look::flattened(&text) {
            let water = path.strip_prefix("water.").and_then(|rest| rest.strip_suffix(".flow"));
            let painted =
                water.and_then(|water| self.maps.get(water)).filter(|(old, _)| *old == value);
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
            text = edited("", &text, &path, Some(&new)).unwrap_or(text);
        }
        for (water, (old, new)) in &self.maps {
            if let Some(painted) = maps.get_mut(water).filter(|painted| painted.file == *old) {
                painted.file.clone_from(new);
            }
        }
        (text, maps)
    }
}

/// Autosave path of a file.
fn copy_of(file: &Path) -> PathBuf {
    output::with_suffix(file, ".autosave")
}

fn write_map(file: &Path, map: &FlowMap) -> Result<(), OutputError> {
    let bytes =
        map.png().map_err(|detail| OutputError { file: file.display().to_string(), detail })?;
    output::write_with(file, |to| to.write_all(&bytes))
}

/// The keys of a property's path; names of lights may contain dots.
fn keys(path: &str) -> Vec<String> {
    let section = path.split('.').next().unwrap_or_default();
    let known = look::properties().map(|known| known.path).chain(look::old_properties());
    let named = known.filter_map(|known| known.split_once(".*."));
    // The longest known suffix wins: `water.*.depth.red` before `water.*.red`.
    let end = named
        .filter(|(of, end)| *of == section && path.ends_with(&format!(".{end}")))
        .map(|(_, end)| end)
        .max_by_key(|end| end.len());
    if let Some(end) = end
        && let Some(name) = path.get(section.len() + 1..path.len().saturating_sub(end.len() + 1))
    {
        let mut keys = vec![section.to_owned(), name.to_owned()];
        keys.extend(end.split('.').map(str::to_owned));
        return keys;
    }
    path.split('.').map(str::to_owned).collect()
}

/// The text with a property under its present path; its comments go with it.
fn moved(name: &str, text: &str, old: &str, new: &str) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    let Some((key, item)) = taken(document.as_table_mut(), &keys(old)) else {
        return Ok(text.into());
    };
    let keys = keys(new);
    let Some((last, tables)) = keys.split_last() else { return Ok(text.into()) };
    let Some(table) = section(name, document.as_table_mut(), (tables, new), true)? else {
        return Ok(text.into());
    };
    let key = Key::new(last).with_leaf_decor(key.leaf_decor().clone());
    table.entry_format(&key).or_insert(item);
    Ok(document.to_string())
}

/// Removes an entry, and sections that it leaves empty unless a comment precedes them.
fn taken(table: &mut dyn TableLike, keys: &[String]) -> Option<(Key, Item)> {
    let (first, rest) = keys.split_first()?;
    if rest.is_empty() {
        let key = table.key(first)?.clone();
        return table.remove(first).map(|item| (key, item));
    }
    let inner = table.get_mut(first)?;
    let found = taken(inner.as_table_like_mut()?, rest);
    let commented = |table: &Table| {
        table.decor().prefix().and_then(|text| text.as_str()).is_some_and(|text| text.contains('#'))
    };
    let empty = inner.as_table_like().is_some_and(TableLike::is_empty);
    if found.is_some() && empty && !inner.as_table().is_some_and(commented) {
        table.remove(first);
    }
    found
}

fn parsed(name: &str, text: &str) -> Result<DocumentMut, LookError> {
    text.parse().map_err(|error: toml_edit::TomlError| LookError::File {
        file: name.into(),
        detail: error.to_string(),
    })
}

/// The section of a path's leading keys; a missing one is created or `None`.
fn section<'a>(
    name: &str,
    mut table: &'a mut dyn TableLike,
    (keys, path): (&[String], &str),
    create: bool,
) -> Result<Option<&'a mut dyn TableLike>, LookError> {
    for key in keys {
        if table.get(key).is_none() {
            if !create {
                return Ok(None);
            }
            let mut made = Table::new();
            made.set_implicit(true);
            table.insert(key, Item::Table(made));
        }
        table = match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => inner,
            None => {
                let detail = format!("{path}: '{key}' is a value, expected a section");
                return Err(LookError::File { file: name.into(), detail });
            }
        };
    }
    Ok(Some(table))
}

/// A TOML value: numbers and booleans as such, anything else as a string.
fn value_of(text: &str) -> Value {
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    if let Ok(number) = text.parse::<f64>()
        && number.is_finite()
    {
        return number.into();
    }
    match text {
        "true" => true.into(),
        "false" => false.into(),
        text => text.into(),
    }
}

/// The text with a property set or removed; comments are kept.
fn edited(name: &str, text: &str, path: &str, value: Option<&str>) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    let keys = keys(path);
    let Some((last, tables)) = keys.split_last() else { return Ok(text.into()) };
    let whole = document.as_table_mut();
    let Some(table) = section(name, whole, (tables, path), value.is_some())? else {
        return Ok(text.into());
    };
    match value {
        None => {
            table.remove(last);
        }
        Some(value) => {
            let mut new = value_of(value);
            if let Some(Item::Value(old)) = table.get(last) {
                // The comment after a value is kept.
                *new.decor_mut() = old.decor().clone();
            }
            // `insert` would drop the comments above a key that is there.
            match table.get_mut(last) {
                Some(item) => *item = Item::Value(new),
                None => {
                    table.insert(last, Item::Value(new));
                }
            }
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TEXT: &str = "# The key light is a 1200 lm bulb.\n[lights.Key]\nlumens = 1200 # from its box\n\n[camera.lens]\nf_stop = 2.8\n";

    #[test]
    fn a_change_keeps_comments_and_order() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        document
            .set(&[("lights.Key.lumens", Some("800")), ("camera.body.iso", Some("400"))])
            .unwrap();
        let text = document.text();
        assert!(
            text.starts_with(
                "# The key light is a 1200 lm bulb.\n[lights.Key]\nlumens = 800 # from its box\n"
            ),
            "{text}"
        );
        assert!(text.contains("[camera.body]\niso = 400"), "{text}");
        let look = document.look().unwrap();
        assert_eq!(look.camera.iso, Some(400.0));
        assert_eq!(look.camera.f_stop, Some(2.8));
    }

    #[test]
    fn what_the_text_sets_can_be_read_by_path() {
        let values = Document::new(
            &format!("{TEXT}[environment]\nlux = 500\nfile = \"a.hdr\"\n"),
            "a",
            None,
        )
        .values();
        assert_eq!(values.get("environment.file").map(String::as_str), Some("a.hdr"));
        assert_eq!(values.get("environment.lux").map(String::as_str), Some("500"));
        assert_eq!(values.get("camera.lens.f_stop").map(String::as_str), Some("2.8"));
        assert_eq!(values.len(), 4);
    }

    #[test]
    fn names_with_dots_and_spaces_are_one_key() {
        let mut document = Document::new("", "a.look.toml", None);
        document
            .set(&[("lights.Spot.001.lumens", Some("5")), ("lights.Big lamp.kelvin", Some("3000"))])
            .unwrap();
        let look = document.look().unwrap();
        assert_eq!(look.lights.keys().collect::<Vec<_>>(), ["Big lamp", "Spot.001"]);
        assert!(document.text().contains("[lights.\"Spot.001\"]"), "{}", document.text());
    }

    #[test]
    fn what_the_look_refuses_changes_nothing() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        for (path, value) in
            [("camera.lens.f_stop", "-1"), ("camera.lens.fstop", "2"), ("camera.lens", "2")]
        {
            document.set(&[("camera.body.iso", Some("400")), (path, Some(value))]).unwrap_err();
        }
        assert_eq!(document.text(), TEXT);
        assert!(!document.changed() && document.undo().is_none());
    }

    #[test]
    fn setting_a_property_removes_its_old_name() {
        let mut document = Document::new("[gi]\nrays = 8\n", "a.look.toml", None);
        assert_eq!(document.values()["gi.vpl_samples"], "8");
        document.set(&[("gi.vpl_samples", Some("4"))]).unwrap();
        assert_eq!(document.text(), "[gi]\nvpl_samples = 4\n");
        document.set(&[("gi.vpl_samples", None)]).unwrap();
        assert!(document.values().is_empty(), "{}", document.text());
        // By its old name too, with comments, and with dots in an address.
        document.set(&[("gi.rays", Some("2"))]).unwrap();
        assert_eq!(document.values()["gi.vpl_samples"], "2");
        let text = "[passes.light_lists]\nenabled = true # measured\n\n\
                    [probes.\"Probe.001\"]\n# One meter.\nblend = 1\n";
        let mut document = Document::new(text, "a.look.toml", None);
        document.set(&[("probes.Probe.001.blend_distance", Some("2"))]).unwrap();
        document.set(&[("passes.clustered_lights.enabled", Some("false"))]).unwrap();
        let text = document.text();
        assert!(text.contains("# One meter.\nblend_distance = 2"), "{text}");
        assert!(text.contains("enabled = false # measured"), "{text}");
        assert!(!text.contains("light_lists") && !text.contains("blend ="), "{text}");
        document.look().unwrap();
    }

    #[test]
    fn steps_are_taken_back_and_forth_and_a_drag_is_one() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        for stop in 1..50 {
            document.set(&[("camera.lens.f_stop", Some(&format!("{stop}")))]).unwrap();
        }
        document.end_gesture();
        document.set(&[("camera.lens.f_stop", Some("8"))]).unwrap();
        assert_eq!(document.undo().as_deref(), Some("camera.lens.f_stop"));
        assert_eq!(document.look().unwrap().camera.f_stop, Some(49.0));
        document.undo().unwrap();
        assert_eq!(document.text(), TEXT);
        assert!(document.undo().is_none());
        document.redo().unwrap();
        document.redo().unwrap();
        assert_eq!(document.look().unwrap().camera.f_stop, Some(8.0));
        assert!(document.redo().is_none());
        document.undo().unwrap();
        document.set(&[("camera.body.iso", Some("100"))]).unwrap();
        assert!(document.redo().is_none(), "a new change clears redo");
    }

    #[test]
    fn painted_maps_are_undo_steps_saved_beside_the_look_and_autosaved() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        let map = |x: f32| {
            let plain = FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap();
            Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 32]).unwrap())
        };
        let [zero, one, two, three] = [0.0, 0.25, 0.5, 0.75].map(map);
        let rectangle = [DVec2::new(-2.0, 0.1), DVec2::new(4.0, 2.0)];
        let open =
            |text: &str| Document::new(text, &file.display().to_string(), Some(file.clone()));
        let flow = |document: &Document| document.look().unwrap().water["My pool"].map.clone();
        let mut document = open(TEXT);
        document.paint("My pool", &zero, Arc::clone(&one), rectangle, Some(2.0)).unwrap();
        document.paint("My pool", &one, Arc::clone(&two), rectangle, None).unwrap();
        assert!(document.text().contains("flow = \"a.My_pool.flow.png\""), "{}", document.text());
        assert_eq!(flow(&document), Some(Arc::clone(&two)));
        assert_eq!(document.undo().as_deref(), Some("flow of My pool"));
        assert_eq!(flow(&document), Some(Arc::clone(&one)));
        document.redo().unwrap();
        // A crash.
        document.autosave_now();
        assert!(!dir.path().join("a.My_pool.flow.png").exists(), "the file waits for a save");
        let mut next = open(TEXT);
        let recovered = next.recovered().unwrap();
        next.restore(recovered);
        assert_eq!(flow(&next).as_deref(), Some(&*two));
        // A save, and the files it leaves.
        document.save().unwrap();
        assert!(!document.changed());
        let mut names: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["a.My_pool.flow.png", "a.look.toml"]);
        assert_eq!(FlowMap::read(&dir.path().join("a.My_pool.flow.png")).unwrap(), *two);
        // The next run continues painting: undo finds the old map, also after a save.
        let text = fs::read_to_string(&file).unwrap();
        let mut later = open(&text);
        assert!(later.recovered().is_none() && !later.changed());
        later.paint("My pool", &two, Arc::clone(&three), rectangle, None).unwrap();
        assert!(later.changed(), "the map differs, though the text is the same");
        assert_eq!(later.text(), text);
        later.save().unwrap();
        assert_eq!(FlowMap::read(&dir.path().join("a.My_pool.flow.png")).unwrap(), *three);
        later.undo().unwrap();
        assert!(later.changed());
        assert_eq!(flow(&later), Some(Arc::clone(&two)));
        // A file set by hand replaces the painted flow.
        later.set(&[("water.My pool.flow", Some("other.png"))]).unwrap();
        assert_eq!(flow(&later), None);
        later.paint("My pool", &zero, Arc::clone(&one), rectangle, None).unwrap();
        assert!(
            later.text().contains("a.My_pool.2.flow.png"),
            "the existing file is kept: {}",
            later.text()
        );
    }

    #[test]
    fn autosaved_maps_that_are_not_restored_are_deleted_with_the_autosave() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        fs::write(&file, TEXT).unwrap();
        let map = Arc::new(FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap());
        let painted = Arc::new(map.with_velocities(vec![glam::Vec2::new(0.5, 0.0); 32]).unwrap());
        let rectangle = [DVec2::ZERO, DVec2::ONE];
        let open = || Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        let names = || {
            let mut names: Vec<String> = fs::read_dir(dir.path())
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let accident = || {
            let mut document = open();
            document.paint("Pool", &map, Arc::clone(&painted), rectangle, Some(2.0)).unwrap();
            document.autosave_now();
        };
        let copies = ["a.Pool.flow.png.autosave", "a.look.toml", "a.look.toml.autosave"];
        accident();
        assert_eq!(names(), copies);
        // Not restored: they are kept for the next start, until a newer autosave.
        let mut next = open();
        assert!(next.recovered().is_some());
        assert_eq!(names(), copies);
        next.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
        next.autosave_now();
        assert_eq!(names(), copies[1..]);
        next.save().unwrap();
        assert_eq!(names(), copies[1..2]);
        // Saved before an autosave is due.
        fs::write(&file, TEXT).unwrap();
        accident();
        // A map in another folder is not part of the autosave.
        let copy = dir.path().join(copies[2]);
        let text = fs::read_to_string(&copy).unwrap();
        let elsewhere = dir.path().join("sub/b.png.autosave");
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(&elsewhere, b"x").unwrap();
        fs::write(&copy, format!("{text}[water.Other]\nflow = \"sub/b.png\"\n")).unwrap();
        let mut next = open();
        next.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
        next.save().unwrap();
        assert_eq!(names(), ["a.look.toml", "sub"]);
        assert!(elsewhere.exists());
    }

    fn maps() -> ([Arc<FlowMap>; 3], [DVec2; 2]) {
        let map = |x: f32| {
            let plain = FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap();
            Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 32]).unwrap())
        };
        ([0.0, 0.25, 0.5].map(map), [DVec2::ZERO, DVec2::ONE])
    }

    #[test]
    fn maps_of_several_waters_are_all_saved_and_undone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        let open =
            |text: &str| Document::new(text, &file.display().to_string(), Some(file.clone()));
        let ([zero, one, two], rectangle) = maps();
        // An earlier run has painted both.
        let mut first = open(TEXT);
        for water in ["A", "B"] {
            first.paint(water, &zero, Arc::clone(&one), rectangle, None).unwrap();
        }
        first.save().unwrap();
        let mut next = open(&fs::read_to_string(&file).unwrap());
        next.set(&[("camera.lens.f_stop", Some("8"))]).unwrap();
        for water in ["A", "B"] {
            next.paint(water, &one, Arc::clone(&two), rectangle, None).unwrap();
        }
        next.save().unwrap();
        for water in ["A", "B"] {
            assert_eq!(
                FlowMap::read(&dir.path().join(format!("a.{water}.flow.png"))).unwrap(),
                *two,
                "{water}"
            );
        }
        // Undo past the strokes and the setting: the maps are those of the file then.
        for _ in 0..3 {
            next.undo().unwrap();
            let maps = next.look().unwrap().water;
            assert_eq!(maps["B"].map, Some(Arc::clone(&one)));
        }
        assert_eq!(next.look().unwrap().water["A"].map, Some(Arc::clone(&one)));
        assert!(next.changed());
    }

    #[test]
    fn painted_maps_that_wait_to_be_undone_are_bounded() {
        let big = |x: f32| {
            let plain = FlowMap::new(2048, 2048, vec![glam::Vec2::ZERO; 2048 * 2048]).unwrap();
            Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 2048 * 2048]).unwrap())
        };
        let mut document = Document::new(TEXT, "a.look.toml", None);
        let mut before = big(0.0);
        for stroke in 1..=8u8 {
            let map = big(f32::from(stroke) / 10.0);
            document
                .paint("A", &before, Arc::clone(&map), [DVec2::ZERO, DVec2::ONE], None)
                .unwrap();
            before = map;
        }
        let steps = std::iter::from_fn(|| document.undo()).count();
        assert!((2..8).contains(&steps), "{steps} steps of 48 MiB each");
    }

    #[test]
    fn saved_elsewhere_a_look_still_finds_its_files_and_takes_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| dir.path().join(name));
        fs::create_dir(&here).unwrap();
        fs::create_dir(&there).unwrap();
        let ([zero, one, _], rectangle) = maps();
        let file = here.join("a.look.toml");
        let text = "[lights.Key]\nies = \"lamps/key.ies\"\n[environment]\nfile = \"/sky.hdr\"\n";
        let mut document = Document::new(text, &file.display().to_string(), Some(file.clone()));
        document.paint("Pool", &zero, Arc::clone(&one), rectangle, None).unwrap();
        document.autosave_now();
        assert!(here.join("a.look.toml.autosave").exists());
        // An existing file has the name that the map would get there.
        fs::write(there.join("b.Pool.flow.png"), b"theirs").unwrap();
        document.save_as(there.join("b.look.toml")).unwrap();
        let values = document.values();
        assert_eq!(values["lights.Key.ies"], here.join("lamps/key.ies").display().to_string());
        assert_eq!(values["environment.file"], "/sky.hdr");
        assert_eq!(values["water.Pool.flow"], "b.Pool.2.flow.png");
        assert_eq!(FlowMap::read(&there.join("b.Pool.2.flow.png")).unwrap(), *one);
        assert_eq!(fs::read(there.join("b.Pool.flow.png")).unwrap(), b"theirs");
        assert_eq!(document.look().unwrap().water["Pool"].map, Some(Arc::clone(&one)));
        assert_eq!(fs::read_dir(&here).unwrap().count(), 0, "the autosave is deleted");
        document.undo().unwrap();
        assert_eq!(
            document.values()["lights.Key.ies"],
            here.join("lamps/key.ies").display().to_string()
        );
        assert!(!document.changed() || document.text() != document.saved);
    }

    #[test]
    fn what_others_wrote_is_replaced_only_once_that_was_said() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        fs::write(&file, TEXT).unwrap();
        let mut document = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        document.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
        let theirs = format!("{TEXT}# by hand\n");
        fs::write(&file, &theirs).unwrap();
        let said = document.save().unwrap_err().to_string();
        assert!(said.contains("another program has changed it"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
        assert!(document.changed());
        document.save().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), document.text());
        // Changed by hand again: it warns again.
        fs::write(&file, &theirs).unwrap();
        document.set(&[("camera.lens.f_stop", Some("5.6"))]).unwrap();
        document.save().unwrap_err();
    }

    #[test]
    fn a_look_without_a_file_autosaves_to_the_given_path() {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("unsaved/petals.look.toml.autosave");
        let open = || Document::new(TEXT, "petals.look.toml", None).with_autosave(copy.clone());
        let ([zero, one, _], rectangle) = maps();
        let mut document = open();
        document.paint("Pond", &zero, Arc::clone(&one), rectangle, None).unwrap();
        document.autosave_now();
        let mut next = open();
        next.restore(next.recovered().unwrap());
        assert_eq!(next.text(), document.text());
        assert_eq!(next.look().unwrap().water["Pond"].map.as_deref(), Some(&*one));
        // After discarding there is no autosave.
        document.discard();
        assert_eq!(fs::read_dir(dir.path().join("unsaved")).unwrap().count(), 0);
        assert!(open().recovered().is_none());
    }

    #[test]
    fn a_property_can_be_taken_out() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        document.set(&[("lights.Key.lumens", None), ("lights.Missing.lumens", None)]).unwrap();
        assert!(
            document
                .look()
                .unwrap()
                .lights
                .get("Key")
                .is_none_or(|light| light.strength().is_none())
        );
    }

    #[test]
    fn saving_is_atomic_and_a_crash_leaves_an_autosave() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        fs::write(&file, TEXT).unwrap();
        let mut document = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        assert!(document.recovered().is_none());
        document.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
        document.autosave_now();
        assert_eq!(fs::read_to_string(&file).unwrap(), TEXT, "the file waits for a save");
        // The program ends here; the next run finds the autosave.
        let next = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        assert_eq!(next.recovered().unwrap().text, document.text());
        document.save().unwrap();
        assert!(!document.changed());
        assert!(next.recovered().is_none(), "a save deletes the autosave");
        assert_eq!(fs::read_to_string(&file).unwrap(), document.text());
        document.save_as(dir.path().join("no/such/folder/b.toml")).unwrap_err();
        assert_eq!(document.file(), Some(file.as_path()), "a failed save does not change the file");
    }
}
