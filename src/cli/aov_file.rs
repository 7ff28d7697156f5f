//! Names of AOV files.

use std::path::{Path, PathBuf};

use crate::output;

/// File of an AOV beside a PNG: `picture.png` and `normal` give `picture.normal.png`.
pub fn aov_path(file: &Path, name: &str) -> PathBuf {
    output::replace_extension(file, &format!("{name}.png"))
}
