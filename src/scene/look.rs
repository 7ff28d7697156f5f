//! The look: what glTF lacks, by path. A look file (`NAME.look.toml` beside `NAME.glb`) and `--set PATH=VALUE` go
//! through the same table, so that each property has one name and one check.

use std::{collections::BTreeMap, fs, path::Path};

use super::{LightKind, Scene};
use crate::{
    camera::{Exposure, ExposureError, ToneMapper},
    photometry::{Candela, Ev100, Lux, lights::STRENGTH_LIMIT, units::Lumen},
};

/// The largest look file that is read (bytes).
const MAX_FILE: u64 = 16 << 20;

/// Overrides by property path; what is absent keeps its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// `camera.name`: which of the file's cameras.
    pub camera: Option<String>,
    /// `camera.body.iso`.
    pub iso: Option<f64>,
    /// `camera.body.shutter` in seconds; written as a number or as `"1/60"`.
    pub shutter: Option<f64>,
    /// `camera.lens.f_stop`.
    pub f_stop: Option<f64>,
    /// `camera.exposure.ev100`: takes the place of the three dials.
    pub ev100: Option<f64>,
    /// `camera.exposure.compensation` in stops, brighter above 0.
    pub compensation: Option<f64>,
    /// `passes.tonemap.operator`.
    pub tone_mapper: Option<ToneMapper>,
    /// `passes.light_lists.enabled`.
    pub light_lists: Option<bool>,
    /// `passes.light_lists.cull_bound`, a fraction of white.
    pub cull_bound: Option<f64>,
    /// `scene.default_light`: a sun from behind the camera; without it only scenes that have no light at all are
    /// given one.
    pub default_light: Option<bool>,
    /// `lights.NAME.*` by the light's name or its node's.
    pub lights: BTreeMap<String, LightLook>,
}

/// Overrides of one light.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LightLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `lumens`, `candela` or `lux`: the last one set counts.
    pub strength: Option<Strength>,
}

/// A strength in the unit that its author chose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// All its light.
    Lumens(Lumen),
    /// On its axis.
    Candela(Candela),
    /// Of a directional light, on a surface that faces it.
    Lux(Lux),
}

/// A property that cannot be set, or a look file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The file cannot be read.
    #[error("look file {file}: {detail}")]
    File {
        /// The file.
        file: String,
        /// Why.
        detail: String,
    },
    /// No property of this name.
    #[error("no property '{path}'; did you mean {nearest}?")]
    UnknownPath {
        /// As written.
        path: String,
        /// The nearest right ones.
        nearest: String,
    },
    /// The value does not fit the property.
    #[error("{path} = {value}: {expected}")]
    BadValue {
        /// The property.
        path: String,
        /// As written.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// The dials give no exposure.
    #[error("camera: {0}")]
    Exposure(#[from] ExposureError),
}

/// Every property with what it takes; `*` stands for a light's name.
pub const PROPERTIES: [(&str, &str); 14] = [
    ("camera.name", "the name of a camera in the file"),
    ("camera.body.iso", "an ISO speed above 0, e.g. 100"),
    ("camera.body.shutter", "seconds above 0, e.g. 0.01 or \"1/100\""),
    ("camera.lens.f_stop", "an f-number above 0, e.g. 2.8"),
    ("camera.exposure.ev100", "an exposure value, e.g. 14.6; it takes the place of the three dials"),
    ("camera.exposure.compensation", "stops, brighter above 0"),
    ("passes.tonemap.operator", "linear, aces, agx or pbr-neutral"),
    ("passes.light_lists.enabled", "true or false"),
    ("passes.light_lists.cull_bound", "a fraction of white from 0 to 1, e.g. 0.0009765625"),
    ("scene.default_light", "true or false: add a sun from behind the camera"),
    ("lights.*.enabled", "true or false"),
    ("lights.*.lumens", "luminous flux of 0 or more (point and spot lights)"),
    ("lights.*.candela", "luminous intensity of 0 or more (point and spot lights)"),
    ("lights.*.lux", "illuminance of 0 or more (directional lights)"),
];

impl Look {
    /// Reads a look file into this look.
    ///
    /// # Errors
    /// An unreadable file, TOML that does not parse, an unknown property, a wrong value; each names the file.
    pub fn read(&mut self, file: &Path) -> Result<(), LookError> {
        let oops = |detail: String| LookError::File { file: file.display().to_string(), detail };
        let length = fs::metadata(file).map_err(|error| oops(format!("{error}; check the path of --look")))?.len();
        if length > MAX_FILE {
            return Err(oops(format!("{length} bytes are more than a look file has ({MAX_FILE})")));
        }
        let text = fs::read_to_string(file).map_err(|error| oops(error.to_string()))?;
        self.parse(&file.display().to_string(), &text)
    }

    /// Reads the text of a look file into this look; `name` is for messages.
    ///
    /// # Errors
    /// TOML that does not parse, an unknown property, a wrong value.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), LookError> {
        let oops = |detail: String| LookError::File { file: name.into(), detail };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(0, |span| text.get(..span.start).map_or(0, |t| t.matches('\n').count()) + 1);
            oops(format!("line {line}: {}", error.message().lines().next().unwrap_or_default()))
        })?;
        let mut flat = Vec::new();
        flatten("", &table, &mut flat);
        for (path, value) in flat {
            self.set(&path, &value).map_err(|error| oops(error.to_string()))?;
        }
        Ok(())
    }

    /// Sets `PATH=VALUE` as the command line gives it.
    ///
    /// # Errors
    /// No `=`, an unknown property, a wrong value.
    pub fn assign(&mut self, text: &str) -> Result<(), LookError> {
        let (path, value) = text.split_once('=').ok_or_else(|| LookError::BadValue {
            path: text.into(),
            value: String::new(),
            expected: "write it as PATH=VALUE, e.g. camera.lens.f_stop=2.8".into(),
        })?;
        self.set(path.trim(), value.trim())
    }

    /// Sets one property.
    ///
    /// # Errors
    /// An unknown property or a wrong value.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), LookError> {
        let bare = value.trim_matches('"');
        let read = Reader { path, value: bare };
        match path {
            "camera.name" => self.camera = Some(bare.into()),
            "camera.body.iso" => self.iso = Some(read.positive()?),
            "camera.body.shutter" => self.shutter = Some(read.seconds()?),
            "camera.lens.f_stop" => self.f_stop = Some(read.positive()?),
            "camera.exposure.ev100" => self.ev100 = Some(read.number()?),
            "camera.exposure.compensation" => self.compensation = Some(read.number()?),
            "passes.tonemap.operator" => {
                // `neutral` is what people call it.
                let name = if bare == "neutral" { "pbr-neutral" } else { bare };
                self.tone_mapper = Some(ToneMapper::from_name(name).ok_or_else(|| read.wrong())?);
            }
            "passes.light_lists.enabled" => self.light_lists = Some(read.boolean()?),
            "passes.light_lists.cull_bound" => self.cull_bound = Some(read.fraction()?),
            "scene.default_light" => self.default_light = Some(read.boolean()?),
            _ => return self.set_light(path, &read),
        }
        Ok(())
    }

    fn set_light(&mut self, path: &str, read: &Reader<'_>) -> Result<(), LookError> {
        let parts = path.strip_prefix("lights.").and_then(|rest| rest.rsplit_once('.'));
        let Some((name, property)) = parts.filter(|(name, _)| !name.is_empty()) else { return Err(unknown(path)) };
        let mut light = self.lights.get(name).copied().unwrap_or_default();
        match property {
            "enabled" => light.enabled = Some(read.boolean()?),
            "lumens" => light.strength = Some(Strength::Lumens(Lumen(read.not_negative()?))),
            "candela" => light.strength = Some(Strength::Candela(Candela(read.not_negative()?))),
            "lux" => light.strength = Some(Strength::Lux(Lux(read.not_negative()?))),
            _ => return Err(unknown(path)),
        }
        self.lights.insert(name.into(), light);
        Ok(())
    }

    /// Whether the look sets the exposure, by dials or by value.
    #[must_use]
    pub fn has_dials(&self) -> bool {
        self.ev100.or(self.f_stop).or(self.shutter).or(self.iso).is_some()
    }

    /// The exposure that the dials or the exposure value give; none where the look names neither, so that the scene is
    /// metered. A dial that is not named stands at f/8, 1/125 s, ISO 100.
    ///
    /// # Errors
    /// Dials beyond what can be represented.
    pub fn exposure(&self) -> Result<Option<Exposure>, LookError> {
        let exposure = if let Some(ev) = self.ev100 {
            Exposure::from_ev100(Ev100(ev))?
        } else if self.has_dials() {
            Exposure::from_dials(
                self.f_stop.unwrap_or(8.0),
                self.shutter.unwrap_or(1.0 / 125.0),
                self.iso.unwrap_or(100.0),
            )?
        } else {
            return Ok(None);
        };
        Ok(Some(exposure.compensated(self.compensation.unwrap_or(0.0))?))
    }

    /// Applies the overrides of lights to a scene.
    ///
    /// # Errors
    /// A name that no light has; a unit that does not fit the kind of light.
    pub fn apply(&self, scene: &mut Scene) -> Result<(), LookError> {
        for (name, look) in &self.lights {
            let nodes: Vec<usize> = scene
                .nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| {
                    let of_light = node.light.and_then(|light| scene.lights.get(light));
                    of_light.is_some_and(|light| light.name == *name || node.name == *name)
                })
                .map(|(index, _)| index)
                .collect();
            if nodes.is_empty() {
                let names: Vec<String> = scene.lights.iter().map(|light| format!("lights.{}", light.name)).collect();
                return Err(LookError::UnknownPath {
                    path: format!("lights.{name}"),
                    nearest: nearest(&format!("lights.{name}"), names.iter().map(String::as_str)),
                });
            }
            for node in nodes {
                let Some(node) = scene.nodes.get_mut(node) else { continue };
                if look.enabled == Some(false) {
                    node.light = None;
                    continue;
                }
                let Some((strength, index)) = look.strength.zip(node.light) else { continue };
                let Some(light) = scene.lights.get(index) else { continue };
                // The name may be the node's, and other nodes may carry the same light: this one gets its own.
                let mut own = light.clone();
                set_strength(name, &mut own, strength)?;
                node.light = Some(scene.lights.len());
                scene.lights.push(own);
            }
        }
        Ok(())
    }
}

/// Gives a light this strength. Lumens are of the whole light: its colour's luminance counts, so that a tinted lamp
/// still gives what was asked for.
fn set_strength(name: &str, light: &mut super::Light, strength: Strength) -> Result<(), LookError> {
    let wrong = |expected: &str| {
        Err(LookError::BadValue {
            path: format!("lights.{name}"),
            value: match strength {
                Strength::Lumens(v) => v.to_string(),
                Strength::Candela(v) => v.to_string(),
                Strength::Lux(v) => v.to_string(),
            },
            expected: expected.into(),
        })
    };
    let luminance = f64::from(light.color.dot(glam::Vec3::new(0.2126, 0.7152, 0.0722))).max(1e-6);
    match (&mut light.kind, strength) {
        (LightKind::Directional { illuminance }, Strength::Lux(lux)) => *illuminance = lux / luminance,
        (LightKind::Directional { .. }, _) => return wrong("a directional light takes lux"),
        (LightKind::Point { intensity } | LightKind::Spot { intensity, .. }, Strength::Candela(candela)) => {
            *intensity = candela / luminance;
        }
        (LightKind::Point { intensity }, Strength::Lumens(lumens)) => {
            *intensity = super::build::point_intensity(lumens) / luminance;
        }
        (LightKind::Spot { intensity, inner_half_angle, outer_half_angle }, Strength::Lumens(lumens)) => {
            let (inner, outer) = (f64::from(*inner_half_angle), f64::from(*outer_half_angle));
            *intensity = super::build::spot_intensity(lumens, inner, outer) / luminance;
        }
        (_, Strength::Lux(_)) => return wrong("a point or spot light takes lumens or candela"),
    }
    Ok(())
}

struct Reader<'a> {
    path: &'a str,
    value: &'a str,
}

impl Reader<'_> {
    fn wrong(&self) -> LookError {
        let generic = generic_path(self.path);
        let expected = PROPERTIES.iter().find(|(path, _)| *path == generic).map_or("", |(_, expected)| expected);
        LookError::BadValue {
            path: self.path.into(),
            value: self.value.into(),
            expected: format!("it takes {expected}"),
        }
    }

    fn number(&self) -> Result<f64, LookError> {
        self.value.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| self.wrong())
    }

    fn positive(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|&v| v > 0.0).ok_or_else(|| self.wrong())
    }

    fn not_negative(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|v| (0.0..=STRENGTH_LIMIT).contains(v)).ok_or_else(|| self.wrong())
    }

    fn fraction(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or_else(|| self.wrong())
    }

    fn seconds(&self) -> Result<f64, LookError> {
        let Some((above, below)) = self.value.split_once('/') else { return self.positive() };
        let part = |value: &str| value.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
        match (part(above), part(below)) {
            (Some(above), Some(below)) => Ok(above / below),
            _ => Err(self.wrong()),
        }
    }

    fn boolean(&self) -> Result<bool, LookError> {
        self.value.parse().map_err(|_| self.wrong())
    }
}

fn generic_path(path: &str) -> String {
    match path.strip_prefix("lights.").and_then(|rest| rest.rsplit_once('.')) {
        Some((_, property)) => format!("lights.*.{property}"),
        None => path.into(),
    }
}

fn unknown(path: &str) -> LookError {
    LookError::UnknownPath {
        path: path.into(),
        nearest: nearest(&generic_path(path), PROPERTIES.iter().map(|(path, _)| *path)),
    }
}

/// The three names that differ least.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut ranked: Vec<(usize, &str)> = names.map(|name| (edit_distance(wanted, name), name)).collect();
    ranked.sort_unstable();
    if ranked.is_empty() {
        return "nothing: the scene has no lights".into();
    }
    ranked.iter().take(3).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// Insertions, deletions and substitutions between two texts (Wagner and Fischer 1974).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, out),
            toml::Value::String(text) => out.push((path, text.clone())),
            toml::Value::Integer(number) => out.push((path, number.to_string())),
            toml::Value::Float(number) => out.push((path, number.to_string())),
            toml::Value::Boolean(on) => out.push((path, on.to_string())),
            // No property takes a date or a list; `set` refuses the text and says what the property takes.
            toml::Value::Datetime(date) => out.push((path, date.to_string())),
            toml::Value::Array(_) => out.push((path, "a list".into())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_file_and_the_command_line_set_the_same_properties() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.look.toml");
        let text = "[camera.body]\niso = 400\nshutter = \"1/60\"\n[camera.lens]\nf_stop = 2.8\n\
                    [lights.Key]\nlumens = 800\n[passes.tonemap]\noperator = \"aces\"\n";
        fs::write(&file, text).unwrap();
        let mut read = Look::default();
        read.read(&file).unwrap();
        let mut set = Look::default();
        for assignment in [
            "camera.body.iso=400",
            "camera.body.shutter=1/60",
            "camera.lens.f_stop=2.8",
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
        for bad in ["camera.body.iso=0", "camera.lens.f_stop=NaN", "camera.body.shutter=1/0", "lights.A.lux=-1"] {
            let error = Look::default().assign(bad).unwrap_err().to_string();
            assert!(error.contains("it takes"), "{error}");
        }
    }

    #[test]
    fn without_dials_the_scene_is_metered() {
        assert_eq!(Look::default().exposure().unwrap(), None);
    }
}
