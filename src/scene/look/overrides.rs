//! The look: overrides by property path, read from a file or from assignments.

use std::{collections::BTreeMap, path::Path};

use super::{
    AddedCameraLook, CameraLook, EnvironmentLook, LightLook, LookError, MaterialLook, ProbeLook,
    SceneLook, Spelling, Spellings, VolumeLook, WaterLook, added_cameras, added_lights,
    current_path, current_value, lights, materials,
    origin::{Origin, Origins},
    probes,
    properties::{choices, description, range, unit, unknown_property},
    reader::Reader,
    timeline::{SegmentStarts, Timeline},
    timeline_toml::{self, ParsedTimeline},
    toml_text::{TomlProperty, flatten, syntax_error},
    volumes, water,
};
use crate::{
    camera::{Camera, EffectSettings},
    message::{read_input, utf8_text},
    scene::{Scene, address::AddressTable},
    settings::{GiLook, PassesLook, QualityLook},
};

/// Maximum size of a look file (bytes).
const MAX_FILE: u64 = 16 << 20;

/// Overrides by property path; absent ones keep their default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// `quality`; [`Look::with_tier`] sets its values in the sections, where the look sets none.
    pub quality: QualityLook,
    /// `camera.*`.
    pub camera: CameraLook,
    /// `cameras.NAME.*` by the name of the camera that the look adds.
    pub cameras: BTreeMap<String, AddedCameraLook>,
    /// `environment.*`.
    pub environment: EnvironmentLook,
    /// `effects.*`.
    pub effects: EffectSettings,
    /// `passes.*`.
    pub passes: PassesLook,
    /// `gi.*`.
    pub gi: GiLook,
    /// `scene.*`.
    pub scene: SceneLook,
    /// `lights.NAME.*` by the light's address: its name, its node's name, or its number.
    pub lights: BTreeMap<String, LightLook>,
    /// `materials.NAME.*` by the material's address.
    pub materials: BTreeMap<String, MaterialLook>,
    /// `probes.NAME.*`.
    pub probes: BTreeMap<String, ProbeLook>,
    /// `water.NAME.*` by the material's address or a node's.
    pub water: BTreeMap<String, WaterLook>,
    /// `volumes.NAME.*`.
    pub volumes: BTreeMap<String, VolumeLook>,
    /// `timeline`: values over time, which replace those of the look.
    pub timeline: Timeline,
    /// Spellings that are read with a notice.
    pub spellings: Spellings,
    /// Where properties are set.
    pub origins: Origins,
}

/// Path and value of an assignment `PATH=VALUE`, trimmed; `None` without `=`.
///
/// Names in a path may contain `=`, and so may values: the path is the shortest that names a
/// property, or ends at the first `=` if there is none.
#[must_use]
pub fn split_assignment(text: &str) -> Option<(&str, &str)> {
    let at = |(place, _)| (text[..place].trim(), text[place + 1..].trim());
    let names = |&(path, value): &(&str, &str)| {
        !matches!(Look::default().set(path, value), Err(LookError::UnknownPath { .. }))
    };
    let mut ways = text.match_indices('=').map(at).peekable();
    let first = ways.peek().copied();
    ways.find(names).or(first)
}

/// Checks that assignments of the command line do not contradict each other. They may contradict
/// the look file, which they override.
///
/// # Errors
/// Two strengths of one light.
pub fn check_assignments(assignments: &[String]) -> Result<(), LookError> {
    let paths = assignments.iter().filter_map(|text| split_assignment(text));
    match lights::rivals(paths.map(|(path, _)| path)) {
        Some(rivals) => Err(LookError::Contradiction(lights::two_strengths(rivals))),
        None => Ok(()),
    }
}

impl Look {
    /// Reads a look file into this look.
    ///
    /// # Errors
    /// An unreadable file, invalid TOML, an unknown property, an invalid value; each names the
    /// file.
    pub fn read(&mut self, file: &Path) -> Result<(), LookError> {
        self.parse(&file.display().to_string(), &Self::text_of(file)?)
    }

    /// Text of a look file.
    ///
    /// # Errors
    /// An unreadable file, one that is too large, or one that is not text.
    pub fn text_of(file: &Path) -> Result<String, LookError> {
        let invalid = |detail: String| LookError::File { file: file.display().to_string(), detail };
        let bytes = read_input(file, MAX_FILE, "a look file").map_err(invalid)?;
        utf8_text(bytes, "a look file").map_err(invalid)
    }

    /// Reads the text of a look file into this look; `name` is for messages.
    ///
    /// # Errors
    /// Invalid TOML, an unknown property, an invalid value.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), LookError> {
        let invalid = |detail: String| LookError::File { file: name.into(), detail };
        let document = toml_edit::Document::parse(text)
            .map_err(|error| invalid(syntax_error(text, &error)))?;
        let mut flat = Vec::new();
        flatten("", document.as_table(), &mut flat);
        let at = |property: &TomlProperty, error| {
            let origin = property.origin(name, text);
            Err(LookError::At { origin, error: Box::new(error) })
        };
        let paths: Vec<String> = flat.iter().map(|property| property.path.clone()).collect();
        if let Some(rivals) = lights::rivals(paths.iter().map(String::as_str))
            && let Some(second) = flat.iter().find(|property| property.path == rivals[1])
        {
            return at(second, LookError::Contradiction(lights::two_strengths(rivals)));
        }
        let folder = Path::new(name).parent().unwrap_or_else(|| Path::new(""));
        for property in &flat {
            let TomlProperty { path, value, .. } = property;
            let current = current_path(path);
            if let Some(new) = &current
                && paths.contains(new)
            {
                return at(
                    property,
                    LookError::Contradiction(format!(
                        "{path} is the old name of {new}, which the file sets too; remove {path}"
                    )),
                );
            }
            let mistaken = property.mistaken_kind();
            let set = match mistaken {
                // Only quotes can be overlooked.
                Some(_) if !property.is_text() => Err(LookError::BadValue {
                    path: path.clone(),
                    value: value.clone(),
                    expected: String::new(),
                }),
                _ => self.set_in(folder, path, value),
            };
            match (set, mistaken) {
                (Ok(()), None) => {}
                (Ok(()), Some(expected)) => {
                    let (path, value) = (path.clone(), value.clone());
                    self.spellings.add(Spelling::Quoted { path, value, expected });
                }
                // The kind explains more than the range.
                (Err(LookError::BadValue { path, value, .. }), Some(kinds)) => {
                    let expected = format!("expected {kinds}");
                    return at(property, LookError::BadValue { path, value, expected });
                }
                (Err(error), _) => return at(property, error),
            }
            let origin = property.origin(name, text);
            self.origins.add(current.unwrap_or_else(|| path.clone()), origin);
        }
        self.add_timeline(timeline_toml::parse((name, text), document.as_table())?, folder)
    }

    /// Sets the timeline, after a check of the values of its keys.
    fn add_timeline(&mut self, parsed: ParsedTimeline, folder: &Path) -> Result<(), LookError> {
        for key in parsed.values {
            let set = Self::default().set_in(folder, &key.path, &key.value);
            let at = |error| LookError::At { origin: key.origin, error: Box::new(error) };
            set.map_err(at)?;
        }
        if !parsed.timeline.is_empty() {
            self.timeline = parsed.timeline;
        }
        for (path, origin) in parsed.origins {
            self.origins.add(path, origin);
        }
        Ok(())
    }

    /// This look at a time in s: without a timeline, and with the values that the timeline has
    /// then.
    ///
    /// # Errors
    /// None after [`Look::parse`], which has checked the values of all keys; else a value that its
    /// property does not accept.
    pub fn at_time(&self, time: f64, rate: f64, starts: &SegmentStarts) -> Result<Self, LookError> {
        let mut look = Self { timeline: Timeline::default(), ..self.clone() };
        for (track, value) in self.timeline.values(time, rate, starts) {
            look.set_in(&track.folder, &track.path, &value)?;
        }
        Ok(look)
    }

    /// Warnings about the lights that it changes, by name.
    #[must_use]
    pub fn light_warnings(&self) -> Vec<String> {
        self.lights.iter().filter_map(|(name, light)| light.warning(name)).collect()
    }

    /// Warnings about properties of indirect light that have no effect; not about a tier's.
    #[must_use]
    pub fn gi_warnings(&self) -> Vec<String> {
        let is_own = |path: &str| self.quality.value(path).is_none();
        let gi = &self.gi;
        GiLook {
            vpls: gi.vpls.filter(|_| is_own("gi.vpls")),
            vpl_samples: gi.vpl_samples.filter(|_| is_own("gi.vpl_samples")),
            resolution: gi.resolution.filter(|_| is_own("gi.resolution")),
            denoise: gi.denoise.filter(|_| is_own("gi.denoise")),
            ..*gi
        }
        .warnings()
    }

    /// Notices of spellings that are read, but are not the described ones; one line each.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.spellings.notices().collect()
    }

    /// Sets `PATH=VALUE` from the command line.
    ///
    /// # Errors
    /// No `=`, an unknown property, an invalid value.
    pub fn assign(&mut self, text: &str) -> Result<(), LookError> {
        let (path, value) = split_assignment(text).ok_or_else(|| LookError::BadValue {
            path: text.into(),
            value: String::new(),
            expected: "expected PATH=VALUE, e.g. camera.lens.f_stop=2.8".into(),
        })?;
        self.set(path, value)
    }

    /// A look of assignments `PATH=VALUE`, set in order.
    ///
    /// # Errors
    /// As [`Look::assign`].
    pub fn of(assignments: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, LookError> {
        let mut look = Self::default();
        assignments.into_iter().try_for_each(|text| look.assign(text.as_ref())).map(|()| look)
    }

    /// Sets each `PATH=VALUE` of the command line, in order.
    ///
    /// # Errors
    /// As [`Look::assign`] and [`check_assignments`].
    pub fn assign_all(&mut self, assignments: &[String]) -> Result<(), LookError> {
        check_assignments(assignments)?;
        for assignment in assignments {
            let origin = || Origin::Argument(assignment.trim().to_owned());
            self.assign(assignment).map_err(|error| match split_assignment(assignment) {
                Some(_) => LookError::At { origin: origin(), error: Box::new(error) },
                None => error,
            })?;
            if let Some((path, _)) = split_assignment(assignment) {
                // The command line overrides the file, its timeline included.
                self.timeline.remove(&current_path(path).unwrap_or_else(|| path.into()));
                self.origins.add(current_path(path).unwrap_or_else(|| path.into()), origin());
            }
        }
        Ok(())
    }

    /// Sets one property; file names are relative to the working directory.
    ///
    /// # Errors
    /// An unknown property or an invalid value.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), LookError> {
        self.set_in(Path::new(""), path, value)
    }

    /// Sets one property; file names are relative to a folder.
    fn set_in(&mut self, folder: &Path, path: &str, value: &str) -> Result<(), LookError> {
        let bare = value.trim_matches('"');
        if let Some(new) = current_path(path) {
            self.set_in(folder, &new, value)?;
            self.spellings.add(Spelling::OldPath { old: path.into(), new });
            return Ok(());
        }
        if let Some(new) = current_value(path, bare) {
            self.set_in(folder, path, new)?;
            let (path, old) = (path.into(), bare.into());
            self.spellings.add(Spelling::OldValue { path, old, new });
            return Ok(());
        }
        self.set_value(folder, path, bare)?;
        self.quality.state(path);
        Ok(())
    }

    /// This look with the values of its tier, or of the default one, in each property of the tiers
    /// that it does not set.
    ///
    /// # Errors
    /// None by the tables of this program: a tier's value that its property does not accept.
    pub fn with_tier(mut self) -> Result<Self, LookError> {
        let below: Vec<_> = self.quality.values().collect();
        for (path, value) in below {
            self.set_value(Path::new(""), path, value)?;
        }
        Ok(self)
    }

    /// Sets one property by its present path, without quotes.
    fn set_value(&mut self, folder: &Path, path: &str, bare: &str) -> Result<(), LookError> {
        let (expected, choices) = (description(path), choices(path));
        let (max, unit) = (range(path)[1], unit(path));
        let read = Reader { path, value: bare, folder, expected, choices, max, unit };
        let set = match path.split('.').next() {
            Some("quality") => read.set(&mut self.quality)?,
            Some("effects") => read.set(&mut self.effects)?,
            Some("camera") => self.camera.set(&read)?,
            Some("cameras") => read.set_addressed("cameras", &mut self.cameras)?,
            Some("passes") => read.set(&mut self.passes)?,
            Some("gi") => read.set(&mut self.gi)?,
            Some("environment") => read.set(&mut self.environment)?,
            Some("lights") => lights::set(&mut self.lights, &read)?,
            Some("materials") => read.set_addressed("materials", &mut self.materials)?,
            Some("probes") => read.set_addressed("probes", &mut self.probes)?,
            Some("water") => read.set_addressed("water", &mut self.water)?,
            Some("volumes") => read.set_addressed("volumes", &mut self.volumes)?,
            Some("scene") => read.set(&mut self.scene)?,
            _ => false,
        };
        if set { Ok(()) } else { Err(unknown_property(path)) }
    }

    /// The physical camera of the file's cameras, with the look's effects. Reads the lens
    /// prescription.
    #[must_use]
    pub fn physical_camera(&self) -> Camera {
        self.camera.physical(self.effects)
    }

    /// `camera.*` as they apply to a camera of the scene: an added camera has its own pose, and its
    /// own lens and dials override the shared ones.
    #[must_use]
    pub fn camera_of(&self, name: &str) -> CameraLook {
        match self.cameras.get(name).filter(|camera| camera.is_added()) {
            Some(added) => added.over(&self.camera),
            None => self.camera.clone(),
        }
    }

    /// Applies the overrides that change a scene: environment, probes, materials, water, volumes,
    /// added cameras, lights and `scene.*`. `lights.sun` and `lights.moon` are those of the sky.
    ///
    /// # Errors
    /// A name that no light has; a unit that does not fit the kind of light; a file that cannot be
    /// used.
    pub fn apply(&self, scene: &mut Scene) -> Result<(), LookError> {
        scene.scale(self.scene.scale());
        scene.emissive_lights = self.scene.emissive_lights();
        scene.max_emissive_lights = self.scene.max_emissive_lights;
        scene.multiscatter = self.scene.multiscatter();
        if let Some(name) = &self.scene.variant
            && !scene.choose_variant(name)
        {
            let names = AddressTable::from_names(
                scene.variants.iter().map(|variant| variant.name.as_str()),
            )
            .suggestions();
            let expected = match names.as_slice() {
                [] => "the file has no variants".to_owned(),
                names => format!("expected one of {}", names.join(", ")),
            };
            return Err(LookError::BadValue {
                path: "scene.variant".into(),
                value: name.clone(),
                expected,
            });
        }
        self.environment.apply(scene)?;
        probes::apply(&self.probes, scene)?;
        materials::apply(&self.materials, scene)?;
        water::apply(&self.water, scene)?;
        volumes::apply(&self.volumes, scene)?;
        added_cameras::apply(&self.cameras, scene)?;
        added_lights::apply(&self.lights, scene)?;
        lights::apply(&self.lights, scene)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::camera::ExposureControl;

    #[test]
    fn names_and_values_of_an_assignment_may_contain_equals_signs() {
        for (text, want) in [
            ("lights.x=y.candela=500", ("lights.x=y.candela", "500")),
            (" scene.variant = a=b ", ("scene.variant", "a=b")),
            ("no.such=1=2", ("no.such", "1=2")),
        ] {
            assert_eq!(split_assignment(text), Some(want));
        }
        assert_eq!(split_assignment("scene.variant"), None);
        let mut look = Look::default();
        look.assign("lights.x=y.candela=500").unwrap();
        assert!(look.lights.contains_key("x=y"), "{:?}", look.lights);
    }

    #[test]
    fn the_file_and_the_command_line_set_the_same_properties() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        let text = "[camera.body]\niso = 400\nshutter = \"1/60\"\n[camera.lens]\nf_stop = 2.8\n\
                    prescription = \"builtin:dgauss-50-f2\"\n\
                    [lights.Key]\nlumens = 800\n[passes.tonemap]\noperator = \"aces\"\n";
        fs::write(&file, text).unwrap();
        let mut read = Look::default();
        read.read(&file).unwrap();
        let mut set = Look::default();
        for assignment in [
            "camera.body.iso=400",
            "camera.body.shutter=1/60",
            "camera.lens.f_stop=2.8",
            // A builtin prescription is no file.
            "camera.lens.prescription=builtin:dgauss-50-f2",
            "lights.Key.lumens=800",
            "passes.tonemap.operator=aces",
        ] {
            set.assign(assignment).unwrap();
        }
        assert_eq!(read, set);
        let ev = read.camera.dials.exposure().unwrap().ev100().get();
        assert!((ev - 6.877_744).abs() < 1e-6, "formulas, section 1: {ev}");
    }

    #[test]
    fn a_wrong_path_names_the_right_one() {
        let error = Look::default().assign("camera.lens.fstop=2").unwrap_err().to_string();
        assert!(error.contains("camera.lens.f_stop"), "{error}");
        let error = Look::default().assign("lights.Key.lumen=2").unwrap_err().to_string();
        assert!(error.contains("mean lights.Key.lumens"), "{error}");
        // An empty address is not suggested again.
        for nameless in ["lights..lumens=2", "lights..lumen=2", "lights.lumens=2"] {
            let error = Look::default().assign(nameless).unwrap_err().to_string();
            assert!(error.contains("mean lights.NAME.lumens"), "{error}");
        }
    }

    #[test]
    fn two_strengths_of_one_light_are_refused_on_the_command_line() {
        let assign = |assignments: &[&str]| {
            let mut look = Look::default();
            look.parse("a", "lights.Key.lux = 3\n").unwrap();
            let assignments: Vec<String> = assignments.iter().map(|&text| text.into()).collect();
            look.assign_all(&assignments).map(|()| look)
        };
        let error = assign(&["lights.Key.lumens=800", "lights.Key.candela=9"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "lights.Key has two strengths, lumens and candela; keep the one of its data sheet"
        );
        // The command line overrides the file, and the last of two values applies.
        assign(&["lights.Key.lumens=800", "lights.Rim.candela=9"]).unwrap();
        let last = assign(&["lights.Key.lumens=800", "lights.Key.lumens=900"]).unwrap();
        assert_eq!(last, assign(&["lights.Key.lumens=900"]).unwrap());
    }

    #[test]
    fn wrong_values_say_what_is_right() {
        for bad in [
            "camera.body.iso=0",
            "camera.lens.f_stop=NaN",
            "camera.body.shutter=1/0",
            "lights.A.lux=-1",
        ] {
            let error = Look::default().assign(bad).unwrap_err().to_string();
            assert!(error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn what_a_file_gets_wrong_is_named_with_its_line() {
        for (text, line) in [
            ("[camera.body]\niso = 100\n\n[camera.lens]\nf_stop = -1\n", "line 5, column 1: "),
            ("camera.body.iso = 100\ncamera.lens.f_stp = 2\n", "line 2, column 13: "),
            ("[camera.lens]\nf_stop = {a = 1}\n", "line 2, column 11: "),
            ("[camera\n", "line 1, column "),
            ("[camera.lens]\nf_stop = \"wide\"\n", "expected a number without quotes"),
            ("camera.exposure.auto_iso = \"yes\"\n", "expected true or false, without quotes"),
            ("camera.exposure.mode = 3\n", "expected text in quotes"),
        ] {
            let error = Look::default().parse("a.look.toml", text).unwrap_err().to_string();
            assert!(error.contains("a.look.toml") && error.contains(line), "{text}: {error}");
        }
    }

    #[test]
    fn without_dials_the_scene_is_metered() {
        assert_eq!(Look::default().camera.dials.control(), ExposureControl::Auto);
    }
}
