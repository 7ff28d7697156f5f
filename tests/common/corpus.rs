//! The corpus of glTF files.

use std::path::{Path, PathBuf};

use super::source_files;

/// Its folder, if it exists.
pub fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/gltf");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: ../shared/data/gltf is absent");
    None
}

/// All glTF files below a folder, in a fixed order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    source_files::files(folder, &["gltf", "glb"])
}
