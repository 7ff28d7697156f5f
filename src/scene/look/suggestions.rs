//! Suggestions for names that do not exist.

use super::LookError;
use crate::scene::{Scene, address::AddressTable};

/// Error for an address that no item of a section has.
pub(super) fn unknown_address(
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

/// Error for an address that no light has; the look may add a light of this name.
pub(super) fn unknown_light(address: &str, things: &AddressTable<'_>) -> LookError {
    let path = format!("lights.{address}");
    let names: Vec<String> =
        things.suggestions().iter().map(|name| format!("lights.{name}")).collect();
    let near = || nearest(&path, names.iter().map(String::as_str));
    LookError::UnknownLight { nearest: (!names.is_empty()).then(near), path }
}

/// Index of the node that the parent of an item means; `item` is the item's path.
///
/// # Errors
/// An address of no node or of several; a node that is not shown.
pub(super) fn parent_node(scene: &Scene, item: &str, address: &str) -> Result<usize, LookError> {
    let nodes = AddressTable::nodes(scene);
    let wrong = |expected: String| {
        Err(LookError::BadValue { path: format!("{item}.parent"), value: address.into(), expected })
    };
    let index = match nodes.find(address).as_slice() {
        [index] => *index,
        [] => {
            let names = nodes.suggestions();
            let near = nearest(address, names.iter().map(String::as_str));
            return wrong(format!("expected the name of a node; the nearest: {near}"));
        }
        many => {
            return wrong(format!(
                "{} nodes have this name; expected one, e.g. '{address}#1' for the first",
                many.len()
            ));
        }
    };
    if scene.walk().iter().all(|placed| placed.index != index) {
        return wrong("this node is not in the shown scene; choose another".into());
    }
    Ok(index)
}

/// Maximum edit distance (Levenshtein) of close names.
const CLOSE: usize = 2;

/// The name nearest to `wanted`, if it is close.
#[must_use]
pub fn close_name<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
    let distance = |name: &&str| strsim::levenshtein(wanted, name);
    names.iter().copied().min_by_key(distance).filter(|name| distance(name) <= CLOSE)
}

/// Names that other programs give to properties, and the last parts of those that are meant.
const MEANT: [(&[&str], &[&str]); 10] = [
    (&["target", "direction", "look_at", "rotation"], &["aim"]),
    (&["temperature", "color_temperature", "cct"], &["kelvin"]),
    (&["intensity", "power", "strength", "brightness", "watts"], &["lumens", "lux", "candela"]),
    (&["exposure"], &["ev100", "lux", "scale"]),
    (&["angle", "cone", "cone_angle", "beam"], &["outer_half_angle", "inner_half_angle"]),
    (&["size"], &["width", "radius", "height"]),
    (&["color"], &["kelvin", "gel"]),
    (&["fov", "field_of_view", "zoom", "focal_length"], &["focal_length"]),
    (&["aperture", "fstop", "f_stop"], &["f_stop"]),
    (&["iso", "shutter", "shutter_speed"], &["iso", "shutter"]),
];

/// True if `wanted` is what other programs call the property `name`.
fn is_meant(wanted: &str, name: &str) -> bool {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let (wanted, name) = (last(wanted), last(name));
    MEANT
        .iter()
        .any(|(others, ours)| others.contains(&wanted.as_str()) && ours.contains(&name.as_str()))
}

/// Names of a group that are suggested for the group; more are cut to three.
const MAX_GROUP: usize = 6;

/// Up to three names to suggest for `wanted`, or all of a small group, each once: those within edit
/// distance 2 (Levenshtein), that continue it, with one group too many or too few, or that other
/// programs call so; else the three of least edit distance. Names with a group too many or too few, and a group's `enabled`, come first.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let ends_with =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
    let inside = |name: &str| name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
    let distance = |name: &str| {
        let inside = name.strip_prefix(wanted).filter(|rest| rest.starts_with('.'));
        let is_twin = ends_with(wanted, name) || ends_with(name, wanted);
        if is_twin || is_meant(wanted, name) || inside == Some(".enabled") {
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
    let in_group = |&(_, name): &(usize, &str)| inside(name);
    let is_group = ranked.len() <= MAX_GROUP && ranked.iter().all(in_group);
    let count = if is_group { MAX_GROUP } else { 3 };
    ranked.iter().take(count).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// The names of `nearest` after their verb: `is a`, `are a, b`.
#[must_use]
pub fn are_nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names = nearest(wanted, names);
    format!("{} {names}", if names.contains(", ") { "are" } else { "is" })
}

#[cfg(test)]
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
        let group = ["e.a", "e.b", "e.c", "e.d", "e.fgh", "ex", "q"];
        assert_eq!(super::nearest("e", group.into_iter()), "e.a, e.b, e.c");
        let group = ["exp.adapt", "exp.auto", "exp.comp", "exp.ev100", "exp.mode", "quite.other"];
        assert_eq!(super::nearest("exp", group.into_iter()), group[..5].join(", "), "a group");
        assert_eq!(nearest("a.wdte"), "a.wide, a.width", "two edits each");
        assert_eq!(nearest("quite.another").split(", ").count(), 3, "none is close");
        assert_eq!(are_nearest("b.he", names.into_iter()), "is b.height");
        assert_eq!(are_nearest("a.wdte", names.into_iter()), "are a.wide, a.width");
        assert_eq!(super::nearest("a", ["", ""].into_iter()), "nothing (the scene has none)");
    }

    #[test]
    fn names_of_other_programs_are_understood() {
        let lights = ["gel", "parent", "height", "aim", "kelvin", "lumens", "outer_half_angle"]
            .map(|name| format!("lights.NAME.{name}"));
        let meant = |wanted: &str| nearest(wanted, lights.iter().map(String::as_str));
        assert_eq!(meant("lights.Key.target"), "lights.NAME.aim");
        assert_eq!(meant("lights.Key.temperature"), "lights.NAME.kelvin");
        assert_eq!(meant("lights.Key.watts"), "lights.NAME.lumens");
        assert_eq!(meant("lights.Key.cone"), "lights.NAME.outer_half_angle");
        assert_eq!(meant("lights.Key.color"), "lights.NAME.gel, lights.NAME.kelvin");
        let camera = ["camera.body.iso", "camera.lens.f_stop", "camera.roll", "camera.name"];
        assert_eq!(nearest("camera.iso", camera.into_iter()), "camera.body.iso");
        assert_eq!(nearest("camera.aperture", camera.into_iter()), "camera.lens.f_stop");
    }
}
