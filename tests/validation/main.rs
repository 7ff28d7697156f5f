//! The cases of `validation/cases`: this code makes each scene, look and `case.toml`, closed forms
//! included.
//!
//! `SUNNY16_WRITE=1 cargo test --test validation` writes them; without it the test compares the
//! files with what the code makes. The reference pictures are of other renderers:
//! `validation/scripts` makes them.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod camera;
mod case;
mod closed_forms;
mod cornell;
mod falloff;
mod furnace;
mod glass;
#[path = "../common/glb.rs"]
mod glb;
mod grid;
mod materials;
mod pairs;
mod room;
mod volumes;

use std::{collections::BTreeSet, fs, path::PathBuf};

use case::Case;

fn all() -> Vec<Case> {
    [
        falloff::cases(),
        furnace::cases(),
        grid::cases(),
        cornell::cases(),
        pairs::cases(),
        camera::cases(),
        room::cases(),
        glass::cases(),
        materials::cases(),
        volumes::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("validation/cases")
}

#[test]
fn case_files_match_the_code() {
    let write = std::env::var_os("SUNNY16_WRITE").is_some();
    let mut stale = Vec::new();
    for case in all() {
        let folder = folder().join(&case.name);
        for (name, bytes) in case.files() {
            let file = folder.join(&name);
            if name == "case.toml" {
                let text = String::from_utf8(bytes.clone()).unwrap();
                sunny16::compare::case::Case::parse(&text)
                    .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            }
            if write {
                fs::create_dir_all(&folder).unwrap();
                fs::write(&file, &bytes).unwrap();
            } else if fs::read(&file).ok().as_deref() != Some(&bytes) {
                stale.push(file);
            }
        }
    }
    assert!(stale.is_empty(), "run SUNNY16_WRITE=1 cargo test --test validation: {stale:?}");
}

#[test]
fn every_folder_belongs_to_a_case_and_every_reference_is_there() {
    let cases = all();
    let made: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(made.len(), cases.len(), "two cases have one name");
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(made.contains(name.as_str()), "{name} is no case");
    }
    for case in &cases {
        for reference in &case.references {
            let file = folder().join(&case.name).join(reference.file());
            assert!(
                file.is_file(),
                "{} is missing: validation/scripts/remake.sh makes it",
                file.display()
            );
        }
    }
}
