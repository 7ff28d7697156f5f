//! The properties of all sections, by path.

use std::sync::LazyLock;

use super::{
    AddedCameraLook, CameraLook, EnvironmentLook, LightLook, LookError, MaterialLook, ProbeLook,
    SceneLook, VolumeLook, WaterLook, suggestions::nearest,
};
use crate::{
    camera::EffectSettings,
    settings::{Accepts, BUILTIN, GiLook, PassesLook, Property, QualityLook, Section, ValueKind},
};

/// Every property, in the order of the reference; `*` stands for an address (`scene::address`).
pub fn properties() -> impl Iterator<Item = Property> {
    static ALL: LazyLock<Vec<Property>> = LazyLock::new(|| {
        [
            QualityLook::properties(),
            SceneLook::properties(),
            CameraLook::properties(),
            EffectSettings::properties(),
            PassesLook::properties(),
            GiLook::properties(),
            AddedCameraLook::properties(),
            LightLook::properties(),
            MaterialLook::properties(),
            EnvironmentLook::properties(),
            ProbeLook::properties(),
            WaterLook::properties(),
            VolumeLook::properties(),
        ]
        .concat()
    });
    ALL.iter().copied()
}

/// The property of a path, which may contain an address.
pub(super) fn property(path: &str) -> Option<Property> {
    let generic = generic_path(path);
    properties().find(|property| property.path == generic)
}

/// Minimum and maximum of a number; all numbers if the property has none.
#[must_use]
pub fn range(path: &str) -> [f64; 2] {
    let range = property(path).and_then(|property| property.accepts.range());
    range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY])
}

/// Unit of a number; empty for properties without one.
#[must_use]
pub fn unit(path: &str) -> &'static str {
    property(path).map_or("", |property| property.unit)
}

/// The kinds of values that a look file may give a property; empty for an unknown path.
#[must_use]
pub fn kinds(path: &str) -> Vec<ValueKind> {
    property(path).map_or_else(Vec::new, |property| property.accepts.kinds())
}

/// The names that a property accepts; empty if it is not chosen by name.
#[must_use]
pub fn choices(path: &str) -> &'static [&'static str] {
    property(path).map_or(&[], |property| property.accepts.choices())
}

/// True if a property's value is a file name, relative to the look file.
#[must_use]
pub fn is_file_property(path: &str, value: &str) -> bool {
    let is_file = property(path).is_some_and(|known| matches!(known.accepts, Accepts::File));
    is_file && !value.is_empty() && !value.starts_with(BUILTIN)
}

/// Description of a property; empty if there is none of this path.
pub(super) fn description(path: &str) -> &'static str {
    property(path).map_or("", |property| property.description)
}

/// The path with `*` in place of its address.
fn generic_path(path: &str) -> String {
    for section in ["cameras", "lights", "materials", "probes", "volumes", "water"] {
        let rest = path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
        if let Some((_, property)) = rest.and_then(|rest| rest.rsplit_once('.')) {
            return format!("{section}.*.{property}");
        }
    }
    path.into()
}

/// Error for a path that no property has.
pub(super) fn unknown_property(path: &str) -> LookError {
    let generic = generic_path(path);
    let mut nearest = nearest(&generic, properties().map(|property| property.path));
    // `lights.*.lumens` with the address as written.
    if let Some((section, property)) = generic.split_once(".*.") {
        let address = path
            .strip_prefix(section)
            .and_then(|rest| rest.strip_suffix(property))
            .filter(|address| address.len() > 2)
            .unwrap_or(".NAME.");
        nearest = nearest.replace(&format!("{section}.*."), &format!("{section}{address}"));
    }
    // The path has no address for these.
    LookError::UnknownPath { path: path.into(), nearest: nearest.replace(".*.", ".NAME.") }
}
