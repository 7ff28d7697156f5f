//! Drop-down lists of look values. All lists that set properties are made here, so that a test can
//! parse every value of every list (`watch`).

use std::sync::{Arc, Mutex};

use egui::{ComboBox, Context, Id, Ui};

use crate::gpu::mutex::lock;
pub(super) use crate::viewer::action::Changes;

/// An entry of a list.
pub(super) struct Entry {
    /// Label.
    pub name: String,
    /// True if it is the current value.
    pub chosen: bool,
    /// Changes that it makes.
    pub changes: Changes,
}

impl Entry {
    /// An entry that sets one property, or removes it.
    pub fn new(name: impl Into<String>, chosen: bool, path: &str, value: Option<String>) -> Self {
        Self { name: name.into(), chosen, changes: vec![(path.into(), value)] }
    }
}

/// A drop-down list: its id and its name in the accessibility tree, its current text, and its width
/// (points) where egui's default does not fit.
pub(super) fn choice(
    ui: &mut Ui,
    (id, name): (&str, &str),
    (text, width): (&str, Option<f32>),
    entries: Vec<Entry>,
    changes: &mut Changes,
) {
    if let Some(watched) = ui.ctx().data(|data| data.get_temp::<Watched>(watched())) {
        let offers = entries.iter().map(|entry| (id.to_owned(), entry.changes.clone()));
        lock(&watched).extend(offers);
    }
    let combo = ComboBox::from_id_salt(id).selected_text(text);
    let combo = match width {
        Some(width) => combo.width(width),
        None => combo,
    };
    let shown = combo.show_ui(ui, |ui| {
        for entry in entries {
            if ui.selectable_label(entry.chosen, entry.name).clicked() {
                changes.extend(entry.changes);
            }
        }
    });
    shown.response.ctx.accesskit_node_builder(shown.response.id, |node| node.set_label(name));
}

/// An entry offered: the list's name, and the changes it makes.
pub type Offer = (String, Vec<(String, Option<String>)>);

type Watched = Arc<Mutex<Vec<Offer>>>;

fn watched() -> Id {
    Id::new("offers of lists")
}

/// Collects the entries that lists offer from now on, opened or not.
#[must_use]
pub fn watch(ctx: &Context) -> Arc<Mutex<Vec<Offer>>> {
    let offers = Watched::default();
    ctx.data_mut(|data| data.insert_temp(watched(), Arc::clone(&offers)));
    offers
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn lists_of_the_look_are_made_here() {
        let panels = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/viewer/panels");
        for file in fs::read_dir(panels).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            // Tools, guides and comparison modes belong to the window and set no property.
            if !matches!(name.as_str(), "choice.rs" | "bar.rs" | "guides.rs" | "reference_view.rs")
            {
                let source = fs::read_to_string(file.path()).unwrap();
                assert!(
                    !source.contains("ComboBox"),
                    "{name}: make lists that set properties by choice()"
                );
            }
        }
    }
}
