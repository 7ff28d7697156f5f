//! Lens prescriptions by name: builtin ones and files.

use std::path::Path;

use super::{LookError, suggestions::are_nearest};
use crate::{
    message::{read_file, utf8_text},
    optics::{Prescription, library, parse::MAX_BYTES},
};

/// Prefix of the names of builtin lenses.
pub const BUILTIN: &str = crate::settings::BUILTIN;

/// Reads a prescription for a property: `builtin:NAME`, or a file.
///
/// # Errors
/// An unknown builtin name; a file that cannot be read or is not a valid prescription.
pub fn read_prescription(property: &str, name: &str) -> Result<Prescription, LookError> {
    load(name).map_err(|detail| LookError::Input {
        property: property.into(),
        file: name.into(),
        detail,
    })
}

/// Reads a prescription: `builtin:NAME`, or a file.
///
/// # Errors
/// The cause and remedy.
pub(super) fn load(name: &str) -> Result<Prescription, String> {
    if let Some(lens) = name.strip_prefix(BUILTIN) {
        let found = Prescription::builtin(lens).ok_or_else(|| {
            let near = are_nearest(lens, library::NAMES.iter().copied());
            format!("unknown builtin lens; the nearest {near}, and `sunny16 lens` lists all")
        })?;
        return found.map_err(|error| error.to_string());
    }
    let expected = "a lens prescription (.json)";
    let bytes = read_file(Path::new(name), MAX_BYTES as u64, expected).map_err(|detail| {
        let builtin = library::NAMES.contains(&name).then(|| format!("; or write {BUILTIN}{name}"));
        detail + &builtin.unwrap_or_default()
    })?;
    let text = utf8_text(bytes, expected)?;
    Prescription::parse(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_and_files() {
        assert_eq!(read_prescription("lens", "builtin:wide-22").unwrap().refracting(), 12);
        let error = |name: &str| {
            read_prescription("camera.lens.prescription", name).unwrap_err().to_string()
        };
        assert!(
            error("builtin:wide-23").contains("nearest is wide-22,"),
            "{}",
            error("builtin:wide-23")
        );
        assert!(error("wide-22").contains("builtin:wide-22"));
        assert!(error("/").contains("not a regular file"));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bad.json");
        fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        let bad = path.display().to_string();
        assert!(error(&bad).contains("not UTF-8 text") && error(&bad).contains("bad.json"));
        fs::write(&path, "{\"schema\": \"lens-prescription/1\", \"elements\": [{}]}").unwrap();
        assert!(error(&bad).contains("element 0: thickness_mm is missing"), "{}", error(&bad));
        fs::write(&path, vec![b' '; MAX_BYTES + 1]).unwrap();
        assert!(error(&bad).contains("reduce it"));
    }
}
