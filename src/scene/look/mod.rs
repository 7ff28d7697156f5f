//! The look: properties that glTF lacks, by path. A look file (`NAME.look.toml` beside `NAME.glb`)
//! and `--set PATH=VALUE` use the same tables, so that each property has one name and one check.
//! One module per section.

mod camera;
mod effects;
mod environment;
mod gi;
mod lights;
mod materials;
pub mod metering;
mod passes;
mod prescription;
mod probes;
mod renamed;
mod rig;
mod volumes;
mod water;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

pub use camera::CameraLook;
pub use effects::EffectsLook;
pub use environment::{CelestialBodyLook, EnvironmentLook};
pub use gi::GiLook;
pub use lights::{LightLook, read_profile};
pub use materials::MaterialLook;
pub use metering::MeteringLook;
pub use passes::{AaMethod, PassesLook, RefractionMethod, ShadowMethod, SsrReprojection};
pub use prescription::read_prescription;
pub use probes::ProbeLook;
pub use renamed::RenamedPaths;
pub(crate) use renamed::{current_path, notice as renamed_notice, old_paths, old_properties};
pub use rig::{RigLook, ShutterType};
pub use volumes::VolumeLook;
pub use water::{WaterLook, from_extras as water_from_extras};

use super::{Scene, address::AddressTable};
use crate::{
    camera::{Exposure, ExposureError, LensError},
    photometry::{
        color::ColorError,
        lights::{LightError, STRENGTH_LIMIT},
    },
};

/// Maximum size of a look file (bytes).
const MAX_FILE: u64 = 16 << 20;

/// Overrides by property path; absent ones keep their default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// `camera.*`.
    pub camera: CameraLook,
    /// `environment.*`.
    pub environment: EnvironmentLook,
    /// `effects.*`.
    pub effects: EffectsLook,
    /// `camera.metering.*`, auto exposure and `camera.white_balance.*`.
    pub metering: MeteringLook,
    /// `passes.*`.
    pub passes: PassesLook,
    /// `gi.*`.
    pub gi: GiLook,
    /// `scene.default_light`: adds a sun behind the camera and a sky. Unless set, only scenes
    /// without any light get them.
    pub default_light: Option<bool>,
    /// `scene.animation`: the animations to play, by name or number, or `all`.
    pub animation: Option<String>,
    /// `scene.emissive_lights`: whether emissive surfaces light others, the default.
    pub emissive_lights: Option<bool>,
    /// `scene.max_emissive_lights`.
    pub max_emissive_lights: Option<u32>,
    /// `scene.multiscatter`: multiple scattering between microfacets keeps the energy of rough
    /// surfaces. Off by default, as glTF's material model loses it.
    pub multiscatter: Option<bool>,
    /// `scene.variant`: the material variant of the file (KHR_materials_variants).
    pub variant: Option<String>,
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
    /// Properties that were set by an old name.
    pub renamed: RenamedPaths,
}

/// A property that cannot be set, or a look file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The file cannot be read.
    #[error("look file {file}: {detail}")]
    File {
        /// The file.
        file: String,
        /// Cause and remedy.
        detail: String,
    },
    /// No property of this name.
    #[error("no property '{path}'; did you mean {nearest}?")]
    UnknownPath {
        /// Path as written.
        path: String,
        /// The nearest valid paths.
        nearest: String,
    },
    /// The value does not fit the property.
    #[error("{path}{}: {expected}", if value.is_empty() { String::new() } else { format!(" = {value}") })]
    BadValue {
        /// The property.
        path: String,
        /// Value as written.
        value: String,
        /// Expected values.
        expected: String,
    },
    /// Invalid light settings.
    #[error("lights.{name}: {error}")]
    Light {
        /// Name of the light.
        name: String,
        /// Cause.
        error: LightError,
    },
    /// A file that a property names cannot be used.
    #[error("{property}: {file}: {detail}")]
    Input {
        /// The property.
        property: String,
        /// The file.
        file: String,
        /// Cause, with the line number if there is one.
        detail: String,
    },
    /// A white balance that cannot be computed.
    #[error("{property}: {error}")]
    WhiteBalance {
        /// The property that sets it.
        property: &'static str,
        /// Cause.
        error: ColorError,
    },
    /// The exposure settings give no exposure.
    #[error("camera: {0}")]
    Exposure(#[from] ExposureError),
    /// Sensor, lens and focus form no image.
    #[error("camera.lens: {0}")]
    Lens(#[from] LensError),
}

/// Properties outside of any section.
const PROPERTIES: [(&str, &str); 6] = [
    (
        "scene.animation",
        "animation that --time plays: auto, all, a name or a number; auto plays all, or only the first if two animate the same property",
    ),
    (
        "scene.default_light",
        "true or false: add a sun behind the camera, and a sky if there is no environment",
    ),
    ("scene.emissive_lights", "true or false: emissive surfaces light others"),
    (
        "scene.max_emissive_lights",
        "maximum number of lights that stand for emissive triangles, 1 to 65536, e.g. 512; more are merged with their neighbors, except that one remains for each of 24 directions",
    ),
    (
        "scene.multiscatter",
        "true or false: multiple scattering between microfacets keeps the energy of rough surfaces",
    ),
    ("scene.variant", "material variant of the file, by name or number (#0)"),
];

/// Every property with its description; `*` stands for an address (`scene::address`).
pub fn properties() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROPERTIES
        .iter()
        .chain(camera::PROPERTIES)
        .chain(rig::PROPERTIES)
        .chain(metering::PROPERTIES)
        .chain(effects::PROPERTIES)
        .chain(passes::PROPERTIES)
        .chain(gi::PROPERTIES)
        .chain(lights::PROPERTIES)
        .chain(materials::PROPERTIES)
        .chain(environment::PROPERTIES)
        .chain(probes::PROPERTIES)
        .chain(water::PROPERTIES)
        .chain(volumes::PROPERTIES)
        .copied()
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
    /// An unreadable file, or one that is too large.
    pub fn text_of(file: &Path) -> Result<String, LookError> {
        let invalid = |detail: String| LookError::File { file: file.display().to_string(), detail };
        let length = fs::metadata(file)
            .map_err(|error| invalid(format!("{error}; check the path of --look")))?
            .len();
        if length > MAX_FILE {
            return Err(invalid(format!(
                "{length} bytes exceed the maximum of a look file ({MAX_FILE})"
            )));
        }
        fs::read_to_string(file).map_err(|error| invalid(error.to_string()))
    }

    /// Reads the text of a look file into this look; `name` is for messages.
    ///
    /// # Errors
    /// Invalid TOML, an unknown property, an invalid value.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), LookError> {
        let invalid = |detail: String| LookError::File { file: name.into(), detail };
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| invalid(syntax_error(text, &error)))?;
        let mut flat = Vec::new();
        flatten("", &table, &mut flat);
        let at = |path: &str| {
            line_of(text, path).map_or_else(String::new, |line| format!("line {line}: "))
        };
        if let Some([one, other]) = lights::rivals(&flat) {
            let light = one.rsplit_once('.').map_or(one, |(light, _)| light);
            let [unit, second] =
                [one, other].map(|path| path.rsplit_once('.').map_or(path, |(_, unit)| unit));
            let text = format!(
                "{light} has two strengths, {unit} and {second}; keep the one of its data sheet"
            );
            return Err(invalid(at(other) + &text));
        }
        let folder = Path::new(name).parent().unwrap_or_else(|| Path::new(""));
        for (path, _) in &flat {
            if let Some(new) = renamed::current_path(path)
                && flat.iter().any(|(other, _)| *other == new)
            {
                return Err(invalid(format!(
                    "{}{path} is the old name of {new}, which the file sets too; remove {path}",
                    at(path)
                )));
            }
        }
        for (path, value) in flat {
            self.set_in(folder, &path, &value)
                .map_err(|error| invalid(format!("{}{error}", at(&path))))?;
        }
        Ok(())
    }

    /// Warnings about the lights that it changes, by name.
    #[must_use]
    pub fn light_warnings(&self) -> Vec<String> {
        self.lights.iter().filter_map(|(name, light)| light.warning(name)).collect()
    }

    /// Warnings about numbers of the lens prescription that are replaced; empty if it cannot be
    /// read.
    #[must_use]
    pub fn lens_warnings(&self) -> Vec<String> {
        let Some(name) = &self.camera.rig.prescription else { return Vec::new() };
        let read = read_prescription("camera.lens.prescription", name);
        let notes = read.map(|lens| lens.notes().to_vec()).unwrap_or_default();
        notes.into_iter().map(|note| format!("{name}: {note}")).collect()
    }

    /// Notices of properties that were set by an old name, one line each.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.renamed.notices().collect()
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
        if let Some(new) = renamed::current_path(path) {
            self.set_in(folder, &new, value)?;
            self.renamed.add(path, &new);
            return Ok(());
        }
        let read = Reader { path, value: bare, folder };
        if path == "scene.default_light" {
            self.default_light = Some(read.boolean()?);
            return Ok(());
        }
        if path == "scene.animation" {
            self.animation = Some(bare.to_owned()).filter(|name| !name.is_empty());
            return if self.animation.is_some() { Ok(()) } else { Err(read.bad_value()) };
        }
        if path == "scene.emissive_lights" {
            self.emissive_lights = Some(read.boolean()?);
            return Ok(());
        }
        if path == "scene.max_emissive_lights" {
            self.max_emissive_lights = Some(read.integer(1, 65_536)?);
            return Ok(());
        }
        if path == "scene.multiscatter" {
            self.multiscatter = Some(read.boolean()?);
            return Ok(());
        }
        if path == "scene.variant" {
            self.variant = Some(bare.to_owned());
            return Ok(());
        }
        let set = match path.split('.').next() {
            Some("effects") => self.effects.set(&read)?,
            Some("camera") => self.camera.set(&read)? || self.metering.set(&read)?,
            Some("passes") => self.passes.set(&read)?,
            Some("gi") => self.gi.set(&read)?,
            Some("environment") => self.environment.set(&read)?,
            Some("lights") => lights::set(&mut self.lights, &read)?,
            Some("materials") => materials::set(&mut self.materials, &read)?,
            Some("probes") => probes::set(&mut self.probes, &read)?,
            Some("water") => water::set(&mut self.water, &read)?,
            Some("volumes") => volumes::set(&mut self.volumes, &read)?,
            _ => false,
        };
        if set { Ok(()) } else { Err(unknown_property(path)) }
    }

    /// `CameraLook::exposure`.
    ///
    /// # Errors
    /// Settings out of range of an exposure.
    pub fn exposure(&self) -> Result<Option<Exposure>, LookError> {
        self.camera.exposure()
    }

    /// Applies the overrides that change a scene: environment, probes, materials, water, volumes,
    /// lights and `scene.*`. `lights.sun` and `lights.moon` are those of the sky.
    ///
    /// # Errors
    /// A name that no light has; a unit that does not fit the kind of light; a file that cannot be
    /// used.
    pub fn apply(&self, scene: &mut Scene) -> Result<(), LookError> {
        scene.emissive_lights = self.emissive_lights.unwrap_or(true);
        scene.max_emissive_lights = self.max_emissive_lights;
        scene.multiscatter = self.multiscatter.unwrap_or(false);
        if let Some(name) = &self.variant
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
        lights::apply(&self.lights, scene)
    }
}

/// True if a property's value is a file name, relative to the look file.
#[must_use]
pub fn is_file_property(path: &str, value: &str) -> bool {
    const FILES: [&str; 5] = [
        "camera.lens.prescription",
        "environment.file",
        "lights.*.ies",
        "volumes.*.density",
        "water.*.flow",
    ];
    FILES.contains(&generic_path(path).as_str())
        && !value.is_empty()
        && !value.starts_with("builtin:")
}

/// One value with its path, for checks whose messages name both.
pub(in crate::scene::look) struct Reader<'a> {
    /// Path as written.
    pub path: &'a str,
    /// Value as written, without quotes.
    pub value: &'a str,
    /// Folder that file names are relative to.
    pub folder: &'a Path,
}

impl Reader<'_> {
    pub fn bad_value(&self) -> LookError {
        let generic = generic_path(self.path);
        let expected =
            properties().find(|(path, _)| *path == generic).map_or("", |(_, expected)| expected);
        LookError::BadValue {
            path: self.path.into(),
            value: self.value.into(),
            expected: format!("expected {expected}"),
        }
    }

    pub fn number(&self) -> Result<f64, LookError> {
        self.value.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| self.bad_value())
    }

    pub fn positive(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|&v| v > 0.0).ok_or_else(|| self.bad_value())
    }

    pub fn non_negative(&self) -> Result<f64, LookError> {
        self.number()
            .ok()
            .filter(|v| (0.0..=STRENGTH_LIMIT).contains(v))
            .ok_or_else(|| self.bad_value())
    }

    pub fn fraction(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or_else(|| self.bad_value())
    }

    pub fn seconds(&self) -> Result<f64, LookError> {
        let Some((above, below)) = self.value.split_once('/') else { return self.positive() };
        let part =
            |value: &str| value.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
        match (part(above), part(below)) {
            (Some(above), Some(below)) => Ok(above / below),
            _ => Err(self.bad_value()),
        }
    }

    /// A number from `least` to `most`, inclusive.
    pub fn in_range(&self, least: f64, most: f64) -> Result<f64, LookError> {
        self.number().ok().filter(|v| (least..=most).contains(v)).ok_or_else(|| self.bad_value())
    }

    /// A file name, relative to the look file; `builtin:NAME` stays as it is.
    pub fn file(&self) -> Result<PathBuf, LookError> {
        match self.value {
            "" => Err(self.bad_value()),
            own if own.starts_with(prescription::BUILTIN) => Ok(own.into()),
            file => Ok(self.folder.join(file)),
        }
    }

    /// Millimeters in range, with or without the unit, as meters.
    pub fn millimeters(&self, least: f64, most: f64) -> Result<f64, LookError> {
        let value = self.value.strip_suffix("mm").unwrap_or(self.value).trim();
        Ok(Reader { value, ..*self }.in_range(least, most).map_err(|_| self.bad_value())? * 1e-3)
    }

    /// Meters above 0, with or without the unit, or infinity.
    pub fn distance(&self) -> Result<f64, LookError> {
        if matches!(self.value, "infinity" | "inf") {
            return Ok(f64::INFINITY);
        }
        let value = self.value.strip_suffix('m').unwrap_or(self.value).trim();
        Reader { value, ..*self }.positive().map_err(|_| self.bad_value())
    }

    /// Three numbers, separated by spaces or commas.
    pub fn vector(&self) -> Result<glam::DVec3, LookError> {
        let parts = self.value.split([' ', ',']).filter(|part| !part.is_empty());
        let numbers: Option<Vec<f64>> =
            parts.map(|part| part.parse().ok().filter(|v: &f64| v.is_finite())).collect();
        match numbers.as_deref() {
            Some(&[x, y, z]) => Ok(glam::DVec3::new(x, y, z)),
            _ => Err(self.bad_value()),
        }
    }

    /// World position (m), within the range of single precision.
    pub fn place(&self) -> Result<glam::DVec3, LookError> {
        self.vector()
            .ok()
            .filter(|place| place.abs().max_element() <= 1e9)
            .ok_or_else(|| self.bad_value())
    }

    /// An integer from `least` to `most`, inclusive.
    pub fn integer(&self, least: u32, most: u32) -> Result<u32, LookError> {
        self.value
            .parse()
            .ok()
            .filter(|v| (least..=most).contains(v))
            .ok_or_else(|| self.bad_value())
    }

    pub fn boolean(&self) -> Result<bool, LookError> {
        self.value.parse().map_err(|_| self.bad_value())
    }
}

fn generic_path(path: &str) -> String {
    for section in ["lights", "materials", "probes", "volumes", "water"] {
        let rest = path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
        if let Some((_, property)) = rest.and_then(|rest| rest.rsplit_once('.')) {
            return format!("{section}.*.{property}");
        }
    }
    path.into()
}

pub(in crate::scene::look) fn unknown_property(path: &str) -> LookError {
    LookError::UnknownPath {
        path: path.into(),
        nearest: nearest(&generic_path(path), properties().map(|(path, _)| path)),
    }
}

/// Error for an address that no item of a section has.
pub(in crate::scene::look) fn unknown_address(
    section: &str,
    address: &str,
    things: &AddressTable<'_>,
) -> LookError {
    let path = format!("{section}.{address}");
    let names: Vec<String> =
        things.suggestions().iter().map(|name| format!("{section}.{name}")).collect();
    if names.is_empty() {
        return LookError::BadValue {
            path,
            value: String::new(),
            expected: format!("the scene has no {section}"),
        };
    }
    LookError::UnknownPath { nearest: nearest(&path, names.iter().map(String::as_str)), path }
}

/// Up to three names to suggest for `wanted`, each once: those within edit distance 2
/// (Levenshtein), that continue it, or with one group too many or too few; else the three of least
/// edit distance. Names with a group too many or too few, and a group's `enabled`, come first.
pub(in crate::scene::look) fn nearest<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str>,
) -> String {
    const CLOSE: usize = 2;
    let ends_with =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
    let distance = |name: &str| {
        let inside = name.strip_prefix(wanted).filter(|rest| rest.starts_with('.'));
        if ends_with(wanted, name) || ends_with(name, wanted) || inside == Some(".enabled") {
            0
        } else if name.starts_with(wanted) {
            1
        } else {
            strsim::levenshtein(wanted, name)
        }
    };
    let named = names.filter(|name| !name.is_empty());
    let mut ranked: Vec<(usize, &str)> = named.map(|name| (distance(name), name)).collect();
    ranked.sort_unstable();
    ranked.dedup();
    if ranked.is_empty() {
        return "nothing (the scene has none)".into();
    }
    let is_close = |&(distance, _): &(usize, &str)| distance <= CLOSE;
    if ranked.iter().any(is_close) {
        ranked.retain(is_close);
    }
    ranked.iter().take(3).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// The properties that a look file's text sets, as (path, value); empty if it is not TOML.
pub(crate) fn flattened(text: &str) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    if let Ok(table) = text.parse::<toml::Table>() {
        flatten("", &table, &mut flat);
    }
    for (path, _) in &mut flat {
        if let Some(new) = renamed::current_path(path) {
            *path = new;
        }
    }
    flat
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, out),
            // The form of `--set`: 100,6400.
            toml::Value::Array(list) => {
                out.push((path, list.iter().map(plain).collect::<Vec<_>>().join(",")))
            }
            other => out.push((path, plain(other))),
        }
    }
}

/// A TOML syntax error on one line, with its line number.
pub(crate) fn syntax_error(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(0, |span| line_at(text, span.start));
    format!("line {line}: {}", error.message().lines().next().unwrap_or_default())
}

/// Line number, from 1, of a byte offset in a text.
fn line_at(text: &str, place: usize) -> usize {
    text.get(..place).map_or(0, |before| before.matches('\n').count()) + 1
}

/// Line number of a flattened property.
fn line_of(text: &str, path: &str) -> Option<usize> {
    fn find(prefix: &str, table: &toml::de::DeTable<'_>, path: &str) -> Option<usize> {
        table.iter().find_map(|(key, value)| {
            let here = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            match value.get_ref() {
                toml::de::DeValue::Table(inner) => find(&here, inner, path),
                _ => (here == path).then(|| key.span().start),
            }
        })
    }
    let table = toml::de::DeTable::parse(text).ok()?;
    find("", table.get_ref(), path).map(|place| line_at(text, place))
}

/// A scalar as text; `set` rejects types that a property does not take, such as a date or a nested
/// list.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(on) => on.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::Array(_) | toml::Value::Table(_) => "a list".into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_or_else_the_nearest() {
        let names = ["a.width", "a.wide", "b.height", "c.depth.enabled", "d.depth"];
        let nearest = |wanted: &str| nearest(wanted, names.into_iter());
        assert_eq!(nearest("a.wodths"), "a.width", "two edits");
        assert_eq!(nearest("x.b.height"), "b.height", "a group too many");
        assert_eq!(nearest("c.depth"), "c.depth.enabled, d.depth", "a group and its twin");
        assert_eq!(nearest("b.he"), "b.height", "a beginning");
        assert_eq!(nearest("a.wdte"), "a.wide, a.width", "two edits each");
        assert_eq!(nearest("quite.another").split(", ").count(), 3, "none is close");
        assert_eq!(super::nearest("a", ["", ""].into_iter()), "nothing (the scene has none)");
    }

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
        let ev = read.exposure().unwrap().unwrap().ev100().get();
        assert!((ev - 6.877_744).abs() < 1e-6, "formulas, section 1: {ev}");
    }

    #[test]
    fn a_wrong_path_names_the_right_one() {
        let error = Look::default().assign("camera.lens.fstop=2").unwrap_err().to_string();
        assert!(error.contains("camera.lens.f_stop"), "{error}");
        let error = Look::default().assign("lights.Key.lumen=2").unwrap_err().to_string();
        assert!(error.contains("lights.*.lumens"), "{error}");
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
            ("[camera.body]\niso = 100\n\n[camera.lens]\nf_stop = -1\n", "line 5"),
            ("camera.body.iso = 100\ncamera.lens.f_stp = 2\n", "line 2"),
            ("[camera.lens]\nf_stop = {a = 1}\n", "line 2"),
            ("[camera\n", "line 1"),
        ] {
            let error = Look::default().parse("a.look.toml", text).unwrap_err().to_string();
            assert!(error.contains("a.look.toml") && error.contains(line), "{text}: {error}");
        }
    }

    #[test]
    fn without_dials_the_scene_is_metered() {
        assert_eq!(Look::default().exposure().unwrap(), None);
    }
}
