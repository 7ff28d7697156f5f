//! The corpus of glTF files.

use std::path::{Path, PathBuf};

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
    let (mut out, mut stack) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = stack.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                stack.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "gltf" || extension == "glb")
            {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}
