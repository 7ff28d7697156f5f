//! Panels of the window: each reads a part of the state and returns actions. Only `layout` knows
//! the window that carries them out.

mod bar;
pub mod choice;
mod dialogs;
mod dials;
mod edge_arrows;
mod environment;
mod fields;
pub mod gallery;
mod guides;
mod handles;
pub mod inspector;
mod keys;
pub mod layout;
pub mod mixer;
pub mod outliner;
pub mod palette;
pub mod reference_view;
pub mod scopes;
mod shortcuts;
pub mod status;
#[cfg(test)]
mod testing;
mod tour;
pub mod viewport;
pub mod water;

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn only_the_layout_knows_the_app() {
        let panels = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/viewer/panels");
        for file in fs::read_dir(panels).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            let source = fs::read_to_string(file.path()).unwrap();
            let knows = source.contains("impl App") || source.contains("app::");
            assert!(
                !knows || matches!(name.as_str(), "layout.rs" | "mod.rs"),
                "{name}: a panel reads ViewState and returns actions"
            );
        }
    }
}
