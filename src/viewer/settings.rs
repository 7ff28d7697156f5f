//! The window's own settings, kept between runs in the program's state folder.
//!
//! The file is TOML: `[window]` with `hdr = true`, `paper_white = 203`, `peak = 1000`,
//! `governor = "auto"`. An unreadable file is reported and the defaults apply; the window opens anyway.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toml_edit::{Document, Item};

use super::{
    governor::GovernorMode,
    guides::{FrameGuide, Guides},
};
use crate::{camera::DisplayRange, output, photometry::Nit, scene::look::flattened};

/// All settings: path and accepted values.
pub const SETTINGS: [(&str, &str); 13] = [
    ("window.hdr", "true or false: HDR output, where the window's display offers HDR10 or scRGB"),
    (
        "window.paper_white",
        "nit, 40 to 1000: luminance of the interface's white; 203 by ITU-R BT.2408",
    ),
    ("window.peak", "nit, 40 to 10000: maximum luminance of the display"),
    (
        "window.governor",
        "quality in motion: auto (by frame time), off (full quality), or 0 (full) to 9 to pin a level",
    ),
    (
        "window.gate",
        "true or false: the picture has the frame of the camera, as render writes it; false fills the panel",
    ),
    (
        "window.frame",
        "frame within the picture: none, 2.39:1, 1.85:1, 16:9, 3:2, 4:3, 1:1, 4:5 or 9:16",
    ),
    ("window.mask", "0 to 1: opacity of the mask outside of window.frame"),
    ("window.thirds", "true or false: lines at thirds of the frame"),
    ("window.safe_areas", "true or false: areas that are safe for action and titles"),
    ("window.center", "true or false: a cross at the center of the frame"),
    ("window.horizon", "true or false: the horizon, level with the camera"),
    ("window.tour", "true or false: the tour, now and at the next start"),
    ("window.high_contrast", "true or false: panels in black and white, with outlines"),
];

/// Maximum size of the file (bytes).
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The window's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowSettings {
    /// True to use HDR output, if the window's display offers it.
    pub hdr: bool,
    /// Luminance range of the HDR display.
    pub range: DisplayRange,
    /// Quality of a moving view.
    pub governor: GovernorMode,
    /// Camera's frame and composition guides.
    pub guides: Guides,
    /// True if the tour is not shown at the next start.
    pub toured: bool,
    /// True for panels in black and white.
    pub high_contrast: bool,
}

impl WindowSettings {
    /// Sets a setting by its path; without a value it returns to its default.
    ///
    /// # Errors
    /// An unknown path or an invalid value, as text; nothing has changed then.
    pub fn set(&mut self, path: &str, value: Option<&str>) -> Result<(), String> {
        let Some((_, takes)) = SETTINGS.iter().find(|(known, _)| *known == path) else {
            let known = SETTINGS.map(|(path, _)| path).join(", ");
            return Err(format!("{path}: no such setting; expected {known}"));
        };
        let invalid = || format!("{path} = {}: expected {takes}", value.unwrap_or_default());
        let default = Self::default();
        let number = |default: Nit| match value {
            Some(text) => text.parse().map(Nit).map_err(|_| invalid()),
            None => Ok(default),
        };
        let switch =
            |default: bool| value.map_or(Ok(default), |text| text.parse().map_err(|_| invalid()));
        match path {
            "window.hdr" => self.hdr = switch(default.hdr)?,
            "window.gate" => self.guides.gate = switch(default.guides.gate)?,
            "window.thirds" => self.guides.thirds = switch(default.guides.thirds)?,
            "window.safe_areas" => self.guides.safe = switch(default.guides.safe)?,
            "window.center" => self.guides.center = switch(default.guides.center)?,
            "window.horizon" => self.guides.horizon = switch(default.guides.horizon)?,
            "window.tour" => self.toured = !switch(!default.toured)?,
            "window.high_contrast" => self.high_contrast = switch(default.high_contrast)?,
            "window.frame" => {
                self.guides.frame = match value {
                    Some(text) => FrameGuide::from_name(text).ok_or_else(invalid)?,
                    None => default.guides.frame,
                };
            }
            "window.mask" => {
                let mask = value.map_or(Some(default.guides.mask), |text| text.parse().ok());
                let mask = mask.filter(|mask| (0.0..=1.0).contains(mask));
                self.guides.mask = mask.ok_or_else(invalid)?;
            }
            "window.governor" => {
                self.governor = match value {
                    Some(text) => GovernorMode::parse(text).ok_or_else(invalid)?,
                    None => default.governor,
                };
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

    /// Parses the settings of a file; also returns what is invalid in it.
    fn read(text: &str) -> Result<(Self, Option<String>), String> {
        let document = Document::parse(text).map_err(|_| "not valid TOML".to_owned())?;
        if !document.get("window").is_some_and(Item::is_table_like) {
            return Err("section [window] is missing".into());
        }
        let (mut settings, mut unused) = (Self::default(), None);
        for (path, value) in flattened(text) {
            if path.starts_with("window.")
                && let Err(error) = settings.set(&path, Some(&value))
            {
                unused.get_or_insert(error);
            }
        }
        Ok((settings, unused))
    }

    fn text(self) -> String {
        let (white, peak) = (self.range.paper_white().get(), self.range.peak().get());
        let Self { hdr, governor, guides, toured, high_contrast, .. } = self;
        let tour = !toured;
        let Guides { gate, frame, mask, thirds, safe, center, horizon } = guides;
        let frame = frame.name();
        format!(
            "# Settings of sunny16's window.\n[window]\nhdr = {hdr}\npaper_white = {white}\npeak = {peak}\n\
             governor = \"{governor}\"\ngate = {gate}\nframe = \"{frame}\"\nmask = {mask}\n\
             thirds = {thirds}\nsafe_areas = {safe}\ncenter = {center}\nhorizon = {horizon}\n\
             tour = {tour}\nhigh_contrast = {high_contrast}\n"
        )
    }
}

/// The settings and their file.
#[derive(Debug, Default)]
pub struct SettingsStore {
    /// None: kept for this run only.
    file: Option<PathBuf>,
    settings: WindowSettings,
    /// True if they differ from the file.
    changed: bool,
}

impl SettingsStore {
    /// Reads the file `settings` of a folder; also returns a message if it is unusable. Without a
    /// folder nothing is kept.
    #[must_use]
    pub fn of(folder: Option<&Path>) -> (Self, Option<String>) {
        let Some(file) = folder.map(|folder| folder.join("settings")) else {
            return (Self::default(), None);
        };
        let (settings, notice) = match read(&file) {
            Ok((settings, unused)) => {
                let notice = unused.map(|detail| {
                    format!("{}: {detail}; the other settings apply", file.display())
                });
                (settings, notice)
            }
            Err(detail) => {
                let notice =
                    format!("{}: {detail}; using the default window settings", file.display());
                (WindowSettings::default(), Some(notice))
            }
        };
        (Self { file: Some(file), settings, changed: false }, notice)
    }

    /// The current settings.
    #[must_use]
    pub fn now(&self) -> WindowSettings {
        self.settings
    }

    /// Replaces the settings.
    pub fn put(&mut self, settings: WindowSettings) {
        self.changed |= self.settings != settings;
        self.settings = settings;
    }

    /// Writes changed settings, e.g. at the end of a drag.
    ///
    /// # Errors
    /// The file cannot be written; the settings are kept for this run only.
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
        Ok(known) if !known.is_file() => return Err("not a regular file".into()),
        Ok(known) if known.len() > MAX_FILE_BYTES => {
            return Err(format!("{} bytes: the file is too large", known.len()));
        }
        Ok(_) => {}
    }
    WindowSettings::read(&fs::read_to_string(file).map_err(|error| error.to_string())?)
}

#[cfg(test)]
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
            "off, with the white of BT.2408"
        );
        let mut settings = kept.now();
        for (path, value) in [
            ("window.hdr", "true"),
            ("window.paper_white", "150"),
            ("window.peak", "620.5"),
            ("window.governor", "4"),
            ("window.gate", "false"),
            ("window.frame", "2.39:1"),
            ("window.mask", "0.25"),
            ("window.thirds", "true"),
            ("window.safe_areas", "true"),
            ("window.center", "true"),
            ("window.horizon", "true"),
            ("window.tour", "false"),
            ("window.high_contrast", "true"),
        ] {
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
            ("window.governor", "10"),
            ("window.governor", "fast"),
            ("window.gate", "yes"),
            ("window.frame", "17:9"),
            ("window.mask", "1.5"),
            ("window.tour", "6"),
            ("window.high_contrast", "high"),
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
            (&b"[window"[..], "not valid TOML", false),
            (b"", "[window] is missing", false),
            (b"window = 3", "[window] is missing", false),
            // Valid settings apply.
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
