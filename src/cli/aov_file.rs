//! Names of AOV files, and the lines that report them.

use std::path::{Path, PathBuf};

use crate::output;

/// File of an AOV beside a PNG: `picture.png` and `normal` give `picture.normal.png`.
pub fn aov_path(file: &Path, name: &str) -> PathBuf {
    output::replace_extension(file, &format!("{name}.png"))
}

/// Prints the files of AOVs beside a PNG.
pub fn print_aov_files<'a>(file: &Path, names: impl Iterator<Item = &'a str>) {
    for name in names {
        println!("{}: AOV {name}", aov_path(file, name).display());
    }
}
