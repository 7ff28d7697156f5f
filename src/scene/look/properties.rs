//! The properties of all sections, by path.

use std::sync::LazyLock;

use super::{
    LookError, camera, effects, environment, lights, materials, metering, probes, rig,
    suggestions::nearest, volumes, water,
};
use crate::settings::{Accepts, Affects, GiLook, PassesLook, Property, Section};

/// Properties of `scene.*`, which are fields of `Look`.
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

/// Every property, in the order of the reference; `*` stands for an address (`scene::address`).
pub fn properties() -> impl Iterator<Item = Property> {
    static ALL: LazyLock<Vec<Property>> = LazyLock::new(|| {
        let described =
            |rows: &[(&'static str, &'static str)]| rows.iter().map(described).collect::<Vec<_>>();
        [
            described(&PROPERTIES),
            described(camera::PROPERTIES),
            described(rig::PROPERTIES),
            described(metering::PROPERTIES),
            described(effects::PROPERTIES),
            PassesLook::properties(),
            GiLook::properties(),
            described(lights::PROPERTIES),
            described(materials::PROPERTIES),
            described(environment::PROPERTIES),
            described(probes::PROPERTIES),
            described(water::PROPERTIES),
            described(volumes::PROPERTIES),
        ]
        .concat()
    });
    ALL.iter().copied()
}

/// A property of which only the description is known.
fn described(&(path, description): &(&'static str, &'static str)) -> Property {
    Property {
        path,
        description,
        unit: "",
        accepts: Accepts::Described,
        default: || None,
        affects: Affects::Scene,
    }
}

/// The property of a path, which may contain an address.
pub(super) fn property(path: &str) -> Option<Property> {
    let generic = generic_path(path);
    properties().find(|property| property.path == generic)
}

/// The names that a property accepts; empty if it is not chosen by name.
#[must_use]
pub fn choices(path: &str) -> &'static [&'static str] {
    property(path).map_or(&[], |property| property.accepts.choices())
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

/// Description of a property; empty if there is none of this path.
pub(super) fn description(path: &str) -> &'static str {
    property(path).map_or("", |property| property.description)
}

/// The path with `*` in place of its address.
fn generic_path(path: &str) -> String {
    for section in ["lights", "materials", "probes", "volumes", "water"] {
        let rest = path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
        if let Some((_, property)) = rest.and_then(|rest| rest.rsplit_once('.')) {
            return format!("{section}.*.{property}");
        }
    }
    path.into()
}

/// Error for a path that no property has.
pub(super) fn unknown_property(path: &str) -> LookError {
    LookError::UnknownPath {
        path: path.into(),
        nearest: nearest(&generic_path(path), properties().map(|property| property.path)),
    }
}
