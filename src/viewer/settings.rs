//! The window's own settings, kept from one run to the next in the folder for a program's state.
//!
//! The file is TOML: `[window]` with `hdr = true`, `paper_white = 203`, `peak = 1000`. Whatever it
//! holds, the window opens: what cannot be read is said, and the settings begin anew.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{camera::DisplayRange, output, photometry::Nit};

/// All settings, by path, with what they take.
pub const SETTINGS: [(&str, &str); 3] = [
    (
        "window.hdr",
        "true or false: highlights beyond white, where the window's display offers HDR10 or scRGB",
    ),
    ("window.paper_white", "nit, 40 to 1000: what panels show as white; 203 by ITU-R BT.2408"),
    ("window.peak", "nit, 40 to 10000: the brightest that the display shows"),
];

/// Most bytes of the file.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowSettings {
    /// More than white is wanted, where the window's display offers it.
    pub hdr: bool,
    /// What the display shows then.
    pub range: DisplayRange,
}

impl WindowSettings {
    /// Sets one by its path; without a value it is the default again.
    ///
    /// # Errors
    /// A path that is none, or a value that it does not take, in words: nothing has changed then.
    pub fn set(&mut self, path: &str, value: Option<&str>) -> Result<(), String> {
        let Some((_, takes)) = SETTINGS.iter().find(|(known, _)| *known == path) else {
            let known = SETTINGS.map(|(path, _)| path).join(", ");
            return Err(format!("{path}: no such setting; there are {known}"));
        };
        let invalid = || format!("{path} = {}: expected {takes}", value.unwrap_or_default());
        let default = Self::default();
        let number = |default: Nit| match value {
            Some(text) => text.parse().map(Nit).map_err(|_| invalid()),
            None => Ok(default),
        };
        match path {
            "window.hdr" => {
                self.hdr =
                    value.map_or(Ok(default.hdr), |text| text.parse().map_err(|_| invalid()))?;
            }
            "window.paper_white" => {
                let white = number(default.range.paper_white())?;
                self.range = DisplayRange::new(white, self.range.peak()).ok_or_else(invalid)?;
            }
            _ => {
                let peak = number(default.range.peak())?;
                self.range =
                    DisplayRange::new(self.range.paper_white(), peak).ok_or_else(invalid)?;
            }
        }
        Ok(())
    }

    /// The settings of a file, and what of it cannot be used.
    fn read(text: &str) -> Result<(Self, Option<String>), String> {
        let table: toml::Table = text.parse().map_err(|_| "it is no TOML".to_owned())?;
        let window =
            table.get("window").and_then(toml::Value::as_table).ok_or("it has no [window]")?;
        let (mut settings, mut unused) = (Self::default(), None);
        for (key, value) in window {
            let text = match value {
                toml::Value::Boolean(is) => is.to_string(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Float(number) => number.to_string(),
                toml::Value::String(text) => text.clone(),
                _ => String::new(),
            };
            if let Err(error) = settings.set(&format!("window.{key}"), Some(&text)) {
                unused.get_or_insert(error);
            }
        }
        Ok((settings, unused))
    }

    fn text(self) -> String {
        let (white, peak) = (self.range.paper_white().get(), self.range.peak().get());
        let hdr = self.hdr;
        format!(
            "# Settings of sunny16's window.\n[window]\nhdr = {hdr}\npaper_white = {white}\npeak = {peak}\n"
        )
    }
}

/// The settings and where they are kept.
#[derive(Debug, Default)]
pub struct SettingsStore {
    /// None: only this run's.
    file: Option<PathBuf>,
    settings: WindowSettings,
    /// They differ from the file's.
    changed: bool,
}

impl SettingsStore {
    /// What the file `settings` of a folder holds, and a line for the user where it cannot be used;
    /// without a folder nothing is kept.
    #[must_use]
    pub fn of(folder: Option<&Path>) -> (Self, Option<String>) {
        let Some(file) = folder.map(|folder| folder.join("settings")) else {
            return (Self::default(), None);
        };
        let (settings, notice) = match read(&file) {
            Ok((settings, unused)) => {
                let notice =
                    unused.map(|detail| format!("{}: {detail}; the rest is taken", file.display()));
                (settings, notice)
            }
            Err(detail) => {
                let notice =
                    format!("{}: {detail}; the window's settings begin anew", file.display());
                (WindowSettings::default(), Some(notice))
            }
        };
        (Self { file: Some(file), settings, changed: false }, notice)
    }

    /// The settings now.
    #[must_use]
    pub fn now(&self) -> WindowSettings {
        self.settings
    }

    /// Other settings from now on.
    pub fn put(&mut self, settings: WindowSettings) {
        self.changed |= self.settings != settings;
        self.settings = settings;
    }

    /// Writes what has changed since, as when a dial is let go.
    ///
    /// # Errors
    /// The file cannot be written: the settings are this run's then.
    pub fn keep(&mut self) -> Result<(), String> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        output::write_text(file, &self.settings.text()).map_err(|error| error.to_string())
    }
}

fn read(file: &Path) -> Result<(WindowSettings, Option<String>), String> {
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((WindowSettings::default(), None));
        }
        Err(error) => return Err(error.to_string()),
        Ok(known) if !known.is_file() => return Err("it is no file".into()),
        Ok(known) if known.len() > MAX_FILE_BYTES => {
            return Err(format!("{} bytes are too many", known.len()));
        }
        Ok(_) => {}
    }
    WindowSettings::read(&fs::read_to_string(file).map_err(|error| error.to_string())?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_there_in_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("state/sunny16");
        let (mut kept, notice) = SettingsStore::of(Some(&folder));
        assert_eq!((kept.now(), notice), (WindowSettings::default(), None));
        assert!(
            !kept.now().hdr && kept.now().range.paper_white() == Nit(203.0),
            "off, and as BT.2408 has it"
        );
        let mut settings = kept.now();
        for (path, value) in
            [("window.hdr", "true"), ("window.paper_white", "150"), ("window.peak", "620.5")]
        {
            settings.set(path, Some(value)).unwrap();
        }
        kept.put(settings);
        kept.keep().unwrap();
        let (next, notice) = SettingsStore::of(Some(&folder));
        assert_eq!((next.now(), notice), (settings, None));
        // Nothing has changed: nothing is written.
        fs::remove_file(folder.join("settings")).unwrap();
        kept.put(settings);
        kept.keep().unwrap();
        assert!(!folder.join("settings").exists());
        settings.set("window.peak", None).unwrap();
        assert_eq!(settings.range, DisplayRange::new(Nit(150.0), Nit(1000.0)).unwrap());
    }

    #[test]
    fn wrong_values_change_nothing() {
        let mut settings = WindowSettings::default();
        for (path, value) in [
            ("window.hdr", "1"),
            ("window.paper_white", "20"),
            ("window.paper_white", "NaN"),
            ("window.peak", "20000"),
            ("window.peak", ""),
            ("window.size", "3"),
        ] {
            let said = settings.set(path, Some(value)).unwrap_err();
            assert!(said.contains(path), "{said}");
        }
        assert_eq!(settings, WindowSettings::default());
    }

    #[test]
    fn what_of_the_file_cannot_be_used_is_said_and_left_out() {
        for (bytes, said, hdr) in [
            (&b"[window"[..], "no TOML", false),
            (b"", "no [window]", false),
            (b"window = 3", "no [window]", false),
            // What can be used of it is.
            (b"[window]\nhdr = true\npeak = -1", "window.peak", true),
            (b"[window]\nhdr = \"yes\"", "window.hdr", false),
            (b"[window]\nother = 1\nhdr = true", "no such setting", true),
            (b"\xff\xfe", "UTF-8", false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("settings"), bytes).unwrap();
            let (kept, notice) = SettingsStore::of(Some(dir.path()));
            assert!(notice.as_ref().is_some_and(|text| text.contains(said)), "{said}: {notice:?}");
            assert_eq!(kept.now(), WindowSettings { hdr, ..WindowSettings::default() });
        }
    }
}
