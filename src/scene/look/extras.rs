//! Water properties in the extras of a scene file.

use std::path::Path;

use super::{
    LookError, WaterLook,
    properties::{choices, description, range, unit, unknown_property},
    reader::Reader,
};

/// Properties by name from a scene file's extras, without `flow`, which the importer resolves.
///
/// # Errors
/// An unknown property, an invalid value.
pub fn water_from_extras<'a>(
    properties: impl Iterator<Item = (&'a str, String)>,
) -> Result<WaterLook, LookError> {
    let mut look = WaterLook::default();
    for (name, value) in properties.filter(|(name, _)| *name != "flow") {
        let path = format!("water.extras.{name}");
        let read = Reader {
            path: &path,
            value: &value,
            folder: Path::new(""),
            expected: description(&path),
            choices: choices(&path),
            max: range(&path)[1],
            unit: unit(&path),
        };
        if !read.set_at(&format!("water.*.{name}"), &mut look)? {
            return Err(unknown_property(&path));
        }
    }
    Ok(look)
}
