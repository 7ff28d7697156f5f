//! The look being worked on: its text, with comments and order kept, undo and redo, saving and a copy for accidents.
//!
//! The text is the truth; every panel changes it by a property's path, as `--set` does, and the look is read from it. What is
//! saved is therefore what the command line reads.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use glam::DVec2;

use toml_edit::{DocumentMut, Item, Table, Value};

use crate::{
    output::{self, OutputError},
    scene::{
        FlowMap,
        look::{self, Look, LookError},
    },
};

/// Steps that can be undone at most: their texts are kept whole.
const MOST_STEPS: usize = 1000;

/// How long a change waits for the copy for accidents.
const COPY_AFTER: Duration = Duration::from_secs(2);

/// A look file in the making.
pub struct Document {
    text: String,
    /// What messages call it; files that it names are looked for beside it.
    name: String,
    /// Where it is saved; none asks for a place.
    file: Option<PathBuf>,
    /// Flow maps painted here, by the water's name: they go over the files that the text names.
    maps: Maps,
    /// Those that their files have.
    saved_maps: Maps,
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// What the last change was, until the hands rest: changes of the same are one step, however long a dial is held.
    last: Option<String>,
    /// The text as the file has it.
    saved: String,
    /// When the first change came that the copy for accidents lacks.
    uncopied: Option<Instant>,
}

/// A flow map painted here.
#[derive(Clone)]
struct Painted {
    /// The file as the text has it, beside the look.
    file: String,
    map: Arc<FlowMap>,
}

type Maps = BTreeMap<String, Painted>;

fn same(a: &Maps, b: &Maps) -> bool {
    let alike = |a: &Painted, b: &Painted| a.file == b.file && Arc::ptr_eq(&a.map, &b.map);
    a.len() == b.len() && a.iter().all(|(name, painted)| b.get(name).is_some_and(|other| alike(painted, other)))
}

/// A text before a change, with the maps that belong to it, and what the change was.
#[derive(Clone)]
struct Step {
    text: String,
    maps: Maps,
    what: String,
}

/// What a document's copy for accidents holds, where it is newer than the file.
pub struct Recovered {
    /// Its text.
    pub text: String,
    /// The copy.
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
            uncopied: None,
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it is saved.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether it holds what its file does not.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.text != self.saved || !same(&self.maps, &self.saved_maps)
    }

    /// The look that it stands for.
    ///
    /// # Errors
    /// What `Look::parse` finds wrong.
    pub fn look(&self) -> Result<Look, LookError> {
        let mut look = Look::default();
        look.parse(&self.name, &self.text)?;
        for (name, painted) in &self.maps {
            let file = self.beside(&painted.file);
            // The text may name another one by now.
            if let Some(water) = look.water.get_mut(name).filter(|water| water.flow.as_ref() == Some(&file)) {
                water.map = Some(Arc::clone(&painted.map));
            }
        }
        Ok(look)
    }

    /// A file that the text names.
    fn beside(&self, file: &str) -> PathBuf {
        Path::new(&self.name).parent().unwrap_or_else(|| Path::new("")).join(file)
    }

    /// Gives a water another flow map, as one step: the text names its file, which is written when the look is saved. `before` is the
    /// map as it was, `rectangle` what it covers (least x and z, size; m), `speed` what a component of 1 stands for (m/s), where that
    /// is new.
    ///
    /// # Errors
    /// A name that the look does not take.
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
            // Painted in an earlier run: undo goes back to what the file had, also after a save.
            Some(file) if file == own => {
                self.maps.insert(name.into(), Painted { file: file.clone(), map: Arc::clone(before) });
                self.saved_maps = self.maps.clone();
                file
            }
            // Somebody else's map stays as it is.
            _ => (2..100)
                .map(|number| own.replace(".flow.png", &format!(".{number}.flow.png")))
                .fold(None, |free: Option<String>, next| free.or((!self.beside(&next).exists()).then_some(next)))
                .filter(|_| self.beside(&own).exists())
                .unwrap_or(own),
        };
        let pair = |v: DVec2| format!("{} {}", v.x, v.y);
        let [origin, size] = rectangle.map(pair);
        let mut changes = vec![("flow", file.clone()), ("flow_origin", origin), ("flow_size", size)];
        changes.extend(speed.map(|speed| ("speed", format!("{speed}"))));
        let mut text = self.text.clone();
        for (property, value) in changes {
            text = edited(&self.name, &text, &path(property), Some(&value))?;
        }
        Look::default().parse(&self.name, &text)?;
        let mut maps = self.maps.clone();
        maps.insert(name.into(), Painted { file, map });
        self.rest();
        self.step(text, maps, &format!("flow of {name}"));
        self.rest();
        Ok(())
    }

    /// The name of a flow map's file: of the look and of the water.
    fn name_for(&self, water: &str) -> String {
        let file = self.file.as_ref().and_then(|file| file.file_name()).map(|name| name.to_string_lossy());
        let look = file.as_deref().unwrap_or("scene");
        let look = look.strip_suffix(".toml").unwrap_or(look);
        let look = look.strip_suffix(".look").unwrap_or(look);
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        format!("{look}.{}.flow.png", water.chars().map(plain).collect::<String>())
    }

    /// The properties that the text sets, by path, as `--set` would have them.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, String> {
        look::flattened(&self.text).into_iter().collect()
    }

    /// Sets properties, as (path, value), or takes them out where there is no value; all of them or none.
    ///
    /// # Errors
    /// A property that is not there, or a value that it does not take: nothing has changed then.
    pub fn set(&mut self, changes: &[(&str, Option<&str>)]) -> Result<(), LookError> {
        let mut text = self.text.clone();
        for &(path, value) in changes {
            text = edited(&self.name, &text, path, value)?;
        }
        Look::default().parse(&self.name, &text)?;
        let what = changes.iter().map(|(path, _)| *path).collect::<Vec<_>>().join(", ");
        self.replace(text, &what);
        Ok(())
    }

    /// Puts another text in the place of this one, as one step; `what` names the change.
    pub fn replace(&mut self, text: String, what: &str) {
        self.step(text, self.maps.clone(), what);
    }

    /// Takes up what an accident left, as one step.
    pub fn take_up(&mut self, recovered: Recovered) {
        let mut maps = self.maps.clone();
        maps.extend(recovered.maps);
        self.step(recovered.text, maps, "what an earlier run left");
    }

    fn step(&mut self, text: String, maps: Maps, what: &str) {
        if text == self.text && same(&maps, &self.maps) {
            return;
        }
        let goes_on = self.last.as_deref() == Some(what);
        if !goes_on || self.undo.is_empty() {
            self.undo.push(Step { text: self.text.clone(), maps: self.maps.clone(), what: what.into() });
            if self.undo.len() > MOST_STEPS {
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.last = Some(what.into());
        self.now(text, maps);
    }

    fn now(&mut self, text: String, maps: Maps) {
        (self.text, self.maps) = (text, maps);
        self.uncopied.get_or_insert_with(Instant::now);
    }

    /// Ends a gesture: the next change is a step of its own.
    pub fn rest(&mut self) {
        self.last = None;
    }

    /// Takes the last step back; says what it was.
    pub fn undo(&mut self) -> Option<String> {
        let step = self.undo.pop()?;
        self.redo.push(Step { text: self.text.clone(), maps: self.maps.clone(), what: step.what.clone() });
        self.last = None;
        self.now(step.text, step.maps);
        Some(step.what)
    }

    /// Takes the last step taken back again.
    pub fn redo(&mut self) -> Option<String> {
        let step = self.redo.pop()?;
        self.undo.push(Step { text: self.text.clone(), maps: self.maps.clone(), what: step.what.clone() });
        self.last = None;
        self.now(step.text, step.maps);
        Some(step.what)
    }

    /// What undo and redo would change.
    #[must_use]
    pub fn steps(&self) -> [Option<&str>; 2] {
        [&self.undo, &self.redo].map(|steps| steps.last().map(|step| step.what.as_str()))
    }

    /// Writes the file, and flow maps painted here before it: each whole, or not at all.
    ///
    /// # Errors
    /// No place to save to; whatever the file system says. The old file is still there then.
    pub fn save(&mut self) -> Result<PathBuf, OutputError> {
        let Some(file) = self.file.clone() else {
            return Err(OutputError { file: self.name.clone(), detail: "it has no place yet".into() });
        };
        for (name, painted) in self.used() {
            let to = file.with_file_name(&painted.file);
            let there = self.saved_maps.get(name).is_some_and(|saved| Arc::ptr_eq(&saved.map, &painted.map));
            if !there || !to.exists() {
                write_map(&to, &painted.map)?;
            }
        }
        output::write_text(&file, &self.text)?;
        self.saved = self.text.clone();
        self.saved_maps = self.maps.clone();
        self.forget_copy();
        Ok(file)
    }

    /// Saves to another file from now on.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn save_as(&mut self, file: PathBuf) -> Result<PathBuf, OutputError> {
        let before = (self.file.replace(file.clone()), std::mem::replace(&mut self.name, file.display().to_string()));
        self.save().inspect_err(|_| (self.file, self.name) = before)
    }

    /// The maps painted here that the text names.
    fn used(&self) -> Vec<(&String, &Painted)> {
        let values = self.values();
        let named = |name: &str, file: &str| values.get(&format!("water.{name}.flow")).is_some_and(|now| now == file);
        self.maps.iter().filter(|(name, painted)| named(name, &painted.file)).collect()
    }

    /// The copy for accidents: beside the file.
    fn copy(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let mut name = file.file_name()?.to_os_string();
        name.push(".autosave");
        Some(file.with_file_name(name))
    }

    /// Writes the copy for accidents, some time after a change. A copy that cannot be written costs nothing but itself.
    pub fn keep_copy(&mut self) {
        let due = self.uncopied.is_some_and(|since| since.elapsed() >= COPY_AFTER);
        if !due {
            return;
        }
        self.uncopied = None;
        if !self.changed() {
            self.forget_copy();
        } else if let Some(copy) = self.copy() {
            let before = self.copied_maps();
            if let Err(error) = self.copy_maps().and_then(|()| output::write_text(&copy, &self.text)) {
                log::warn!("{error}");
                return;
            }
            // Maps of an earlier accident that were not taken up: no text would have them but by mistake.
            let used: Vec<PathBuf> =
                self.used().iter().map(|(_, painted)| copy_of(&self.beside(&painted.file))).collect();
            for map in before.iter().filter(|map| !used.contains(map)) {
                let _ = fs::remove_file(map);
            }
        }
    }

    /// The maps' files that belong to the copy for accidents as it is on the disk, whoever wrote it.
    fn copied_maps(&self) -> Vec<PathBuf> {
        let text = self.copy().and_then(|copy| Look::text_of(&copy).ok()).unwrap_or_default();
        let plain = |file: &String| Path::new(file).file_name().is_some_and(|name| name == file.as_str());
        look::flattened(&text)
            .into_iter()
            .filter(|(path, file)| path.starts_with("water.") && path.ends_with(".flow") && plain(file))
            // Ours are all beside the look; what lies elsewhere is not touched.
            .map(|(_, file)| copy_of(&self.beside(&file)))
            .collect()
    }

    fn copy_maps(&self) -> Result<(), OutputError> {
        self.used()
            .into_iter()
            .try_for_each(|(_, painted)| write_map(&copy_of(&self.beside(&painted.file)), &painted.map))
    }

    /// Writes the copy for accidents at once, as before an end that nobody wants.
    pub fn keep_copy_now(&mut self) {
        self.uncopied = self.uncopied.map(|_| Instant::now().checked_sub(COPY_AFTER).unwrap_or_else(Instant::now));
        self.keep_copy();
    }

    /// When the copy is due.
    #[must_use]
    pub fn copy_due(&self) -> Option<Duration> {
        self.uncopied.map(|since| COPY_AFTER.saturating_sub(since.elapsed()))
    }

    fn forget_copy(&mut self) {
        self.uncopied = None;
        if let Some(copy) = self.copy() {
            let maps = self.maps.values().map(|painted| copy_of(&self.beside(&painted.file)));
            let maps: Vec<PathBuf> = maps.chain(self.copied_maps()).collect();
            // They may never have been written.
            for file in maps.into_iter().chain([copy]) {
                let _ = fs::remove_file(file);
            }
        }
    }

    /// What an accident left: a copy that differs from the file.
    #[must_use]
    pub fn recovered(&self) -> Option<Recovered> {
        let file = self.copy()?;
        let text = Look::text_of(&file).ok()?;
        let mut maps = Maps::new();
        for (path, file) in look::flattened(&text) {
            let name = path.strip_prefix("water.").and_then(|rest| rest.strip_suffix(".flow"));
            let bytes = name.and_then(|_| fs::read(copy_of(&self.beside(&file))).ok());
            if let (Some(name), Some(Ok(map))) = (name, bytes.map(|bytes| FlowMap::from_png(&bytes))) {
                maps.insert(name.into(), Painted { file, map: Arc::new(map) });
            }
        }
        (text != self.text || !maps.is_empty()).then_some(Recovered { text, file, maps })
    }
}

/// The copy for accidents of a flow map's file.
fn copy_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(".autosave");
    name.into()
}

fn write_map(file: &Path, map: &FlowMap) -> Result<(), OutputError> {
    let bytes = map.png().map_err(|detail| OutputError { file: file.display().to_string(), detail })?;
    output::write_with(file, |to| to.write_all(&bytes))
}

/// The keys of a property's path: names of lights may hold dots.
fn keys(path: &str) -> Vec<String> {
    let section = path.split('.').next().unwrap_or_default();
    let named = look::properties().filter_map(|(known, _)| known.split_once(".*."));
    // The longest known end: `water.*.depth.red` before `water.*.red`.
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

/// A value as TOML has it: numbers and booleans as such, all else as text.
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

/// The text with a property set or taken out; comments stay.
fn edited(name: &str, text: &str, path: &str, value: Option<&str>) -> Result<String, LookError> {
    let oops = |detail: String| LookError::File { file: name.into(), detail };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| oops(error.to_string()))?;
    let keys = keys(path);
    let Some((last, tables)) = keys.split_last() else { return Ok(text.into()) };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for key in tables {
        if table.get(key).is_none() {
            if value.is_none() {
                return Ok(text.into());
            }
            let mut made = Table::new();
            made.set_implicit(true);
            table.insert(key, Item::Table(made));
        }
        table = match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => inner,
            None => return Err(oops(format!("{path}: '{key}' is a value there, not a section"))),
        };
    }
    match value {
        None => {
            table.remove(last);
        }
        Some(value) => {
            let mut new = value_of(value);
            if let Some(Item::Value(old)) = table.get(last) {
                // The comment behind a value stays with it.
                *new.decor_mut() = old.decor().clone();
            }
            table.insert(last, Item::Value(new));
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
        document.set(&[("lights.Key.lumens", Some("800")), ("camera.body.iso", Some("400"))]).unwrap();
        let text = document.text();
        assert!(
            text.starts_with("# The key light is a 1200 lm bulb.\n[lights.Key]\nlumens = 800 # from its box\n"),
            "{text}"
        );
        assert!(text.contains("[camera.body]\niso = 400"), "{text}");
        let look = document.look().unwrap();
        assert_eq!(look.camera.iso, Some(400.0));
        assert_eq!(look.camera.f_stop, Some(2.8));
    }

    #[test]
    fn what_the_text_sets_can_be_read_by_path() {
        let values = Document::new(&format!("{TEXT}[environment]\nlux = 500\nfile = \"a.hdr\"\n"), "a", None).values();
        assert_eq!(values.get("environment.file").map(String::as_str), Some("a.hdr"));
        assert_eq!(values.get("environment.lux").map(String::as_str), Some("500"));
        assert_eq!(values.get("camera.lens.f_stop").map(String::as_str), Some("2.8"));
        assert_eq!(values.len(), 4);
    }

    #[test]
    fn names_with_dots_and_spaces_are_one_key() {
        let mut document = Document::new("", "a.look.toml", None);
        document.set(&[("lights.Spot.001.lumens", Some("5")), ("lights.Big lamp.kelvin", Some("3000"))]).unwrap();
        let look = document.look().unwrap();
        assert_eq!(look.lights.keys().collect::<Vec<_>>(), ["Big lamp", "Spot.001"]);
        assert!(document.text().contains("[lights.\"Spot.001\"]"), "{}", document.text());
    }

    #[test]
    fn what_the_look_refuses_changes_nothing() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        for (path, value) in [("camera.lens.f_stop", "-1"), ("camera.lens.fstop", "2"), ("camera.lens", "2")] {
            document.set(&[("camera.body.iso", Some("400")), (path, Some(value))]).unwrap_err();
        }
        assert_eq!(document.text(), TEXT);
        assert!(!document.changed() && document.undo().is_none());
    }

    #[test]
    fn steps_are_taken_back_and_forth_and_a_drag_is_one() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        for stop in 1..50 {
            document.set(&[("camera.lens.f_stop", Some(&format!("{stop}")))]).unwrap();
        }
        document.rest();
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
        assert!(document.redo().is_none(), "another way was taken");
    }

    #[test]
    fn painted_maps_are_steps_saved_beside_the_look_and_kept_for_accidents() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        let map = |x: f32| {
            let plain = FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap();
            Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 32]).unwrap())
        };
        let [zero, one, two, three] = [0.0, 0.25, 0.5, 0.75].map(map);
        let rectangle = [DVec2::new(-2.0, 0.1), DVec2::new(4.0, 2.0)];
        let open = |text: &str| Document::new(text, &file.display().to_string(), Some(file.clone()));
        let flow = |document: &Document| document.look().unwrap().water["My pool"].map.clone();
        let mut document = open(TEXT);
        document.paint("My pool", &zero, Arc::clone(&one), rectangle, Some(2.0)).unwrap();
        document.paint("My pool", &one, Arc::clone(&two), rectangle, None).unwrap();
        assert!(document.text().contains("flow = \"a.My_pool.flow.png\""), "{}", document.text());
        assert_eq!(flow(&document), Some(Arc::clone(&two)));
        assert_eq!(document.undo().as_deref(), Some("flow of My pool"));
        assert_eq!(flow(&document), Some(Arc::clone(&one)));
        document.redo().unwrap();
        // An accident.
        document.keep_copy_now();
        assert!(!dir.path().join("a.My_pool.flow.png").exists(), "the file waits for a save");
        let mut next = open(TEXT);
        let recovered = next.recovered().unwrap();
        next.take_up(recovered);
        assert_eq!(flow(&next).as_deref(), Some(&*two));
        // A save, and what it leaves.
        document.save().unwrap();
        assert!(!document.changed());
        let mut names: Vec<String> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["a.My_pool.flow.png", "a.look.toml"]);
        assert_eq!(FlowMap::read(&dir.path().join("a.My_pool.flow.png")).unwrap(), *two);
        // The next run paints on: undo finds the old map, also after a save.
        let text = fs::read_to_string(&file).unwrap();
        let mut later = open(&text);
        assert!(later.recovered().is_none() && !later.changed());
        later.paint("My pool", &two, Arc::clone(&three), rectangle, None).unwrap();
        assert!(later.changed(), "though the text is the same");
        assert_eq!(later.text(), text);
        later.save().unwrap();
        assert_eq!(FlowMap::read(&dir.path().join("a.My_pool.flow.png")).unwrap(), *three);
        later.undo().unwrap();
        assert!(later.changed());
        assert_eq!(flow(&later), Some(Arc::clone(&two)));
        // Another file by hand is another flow.
        later.set(&[("water.My pool.flow", Some("other.png"))]).unwrap();
        assert_eq!(flow(&later), None);
        later.paint("My pool", &zero, Arc::clone(&one), rectangle, None).unwrap();
        assert!(later.text().contains("a.My_pool.2.flow.png"), "nobody's file is lost: {}", later.text());
    }

    #[test]
    fn maps_of_an_accident_that_are_not_taken_up_go_with_its_copy() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        fs::write(&file, TEXT).unwrap();
        let map = Arc::new(FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap());
        let painted = Arc::new(map.with_velocities(vec![glam::Vec2::new(0.5, 0.0); 32]).unwrap());
        let rectangle = [DVec2::ZERO, DVec2::ONE];
        let open = || Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        let names = || {
            let mut names: Vec<String> =
                fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let accident = || {
            let mut document = open();
            document.paint("Pool", &map, Arc::clone(&painted), rectangle, Some(2.0)).unwrap();
            document.keep_copy_now();
        };
        let copies = ["a.Pool.flow.png.autosave", "a.look.toml", "a.look.toml.autosave"];
        accident();
        assert_eq!(names(), copies);
        // Not taken up: they wait for the next start, until there is something newer.
        let mut next = open();
        assert!(next.recovered().is_some());
        assert_eq!(names(), copies);
        next.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
        next.keep_copy_now();
        assert_eq!(names(), copies[1..]);
        next.save().unwrap();
        assert_eq!(names(), copies[1..2]);
        // Saved before any copy is due.
        fs::write(&file, TEXT).unwrap();
        accident();
        // A map elsewhere is nobody's copy of ours.
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

    #[test]
    fn a_property_can_be_taken_out() {
        let mut document = Document::new(TEXT, "a.look.toml", None);
        document.set(&[("lights.Key.lumens", None), ("lights.Nobody.lumens", None)]).unwrap();
        assert!(document.look().unwrap().lights.get("Key").is_none_or(|light| light.strength.is_none()));
    }

    #[test]
    fn saving_is_whole_and_an_accident_leaves_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        fs::write(&file, TEXT).unwrap();
        let mut document = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        assert!(document.recovered().is_none());
        document.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
        document.keep_copy_now();
        assert_eq!(fs::read_to_string(&file).unwrap(), TEXT, "the file waits for a save");
        // The program ends here; the next one finds the copy.
        let next = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
        assert_eq!(next.recovered().unwrap().text, document.text());
        document.save().unwrap();
        assert!(!document.changed());
        assert!(next.recovered().is_none(), "a save takes the copy away");
        assert_eq!(fs::read_to_string(&file).unwrap(), document.text());
        document.save_as(dir.path().join("no/such/folder/b.toml")).unwrap_err();
        assert_eq!(document.file(), Some(file.as_path()), "what cannot be written is not where it is saved");
    }
}
