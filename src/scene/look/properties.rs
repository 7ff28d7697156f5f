//! The properties of all sections, by path.

use super::{
    LookError, camera, effects, environment, gi, lights, materials, metering, passes, probes, rig,
    suggestions::nearest, volumes, water,
};

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
    let generic = generic_path(path);
    properties().find(|(path, _)| *path == generic).map_or("", |(_, expected)| expected)
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
        nearest: nearest(&generic_path(path), properties().map(|(path, _)| path)),
    }
}
