//! Where properties are set: a place in a look file, or an argument of the command line.

use std::{collections::BTreeMap, fmt};

/// Place at which a property is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A look file.
    File {
        /// The file, as named in messages.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column of the property's name, from 1, in characters.
        column: usize,
    },
    /// An assignment `PATH=VALUE` of `--set`.
    Argument(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => {
                write!(out, "look file {file}: line {line}, column {column}")
            }
            Self::Argument(text) => write!(out, "--set {text}"),
        }
    }
}

/// The last origin of each property, by path. Looks that differ in nothing else are equal: the
/// origin changes no picture.
#[derive(Clone, Debug, Default)]
pub struct Origins(BTreeMap<String, Origin>);

impl PartialEq for Origins {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Origins {
    pub(super) fn add(&mut self, path: String, origin: Origin) {
        self.0.insert(path, origin);
    }

    /// The origin of a property; for a section or an address, of its first property.
    pub(super) fn of(&self, path: &str) -> Option<&Origin> {
        let inside = |known: &str| known.strip_prefix(path).is_some_and(|end| end.starts_with('.'));
        let first = || self.0.iter().find(|(known, _)| inside(known)).map(|(_, origin)| origin);
        self.0.get(path).or_else(first)
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, look::Look};

    /// The error of a look applied to an empty scene.
    fn error(text: &str, set: &[&str]) -> String {
        let mut look = Look::default();
        look.parse("a.look.toml", text).unwrap();
        let set: Vec<String> = set.iter().map(|&text| text.into()).collect();
        look.assign_all(&set).unwrap();
        let error = look.apply(&mut Scene::default()).unwrap_err();
        error.located(&look.origins).to_string()
    }

    #[test]
    fn errors_found_after_parsing_name_line_and_column() {
        let text = "[scene]\n  variant = \"noon\"\n";
        let expected = "look file a.look.toml: line 2, column 3: scene.variant = noon: ";
        assert!(error(text, &[]).starts_with(expected), "{}", error(text, &[]));
        // The last assignment applies.
        let set = error(text, &["scene.variant=dusk", "scene.variant=dawn"]);
        assert!(set.starts_with("--set scene.variant=dawn: the file has no"), "{set}");
        // An address has the place of its first property.
        let light = error("lights.Key.lumens = 3\n", &[]);
        assert!(light.starts_with("look file a.look.toml: line 1, column 12: "), "{light}");
    }
}
