//! Collects findings: notes for repairs, and the first error with the number of further ones.

use std::{collections::HashMap, fmt};

use crate::scene::{Note, NoteKind};

/// Maximum notes of one file; a hostile file could otherwise cause as many as it has bytes.
const MAX_NOTES: usize = 1000;

/// Maximum characters of one message, as names in a file may be of any length.
const MAX_MESSAGE: usize = 300;

/// Escapes control characters and truncates text from a file, for one line.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_MESSAGE));
    for (count, c) in text.chars().enumerate() {
        if count >= MAX_MESSAGE {
            out.push_str("...");
            break;
        }
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}') {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// A place in the document, formatted only when there is a finding.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl At<'static> {
    /// The whole document.
    pub(super) const ROOT: Self = At { parent: None, step: Step::Root };
}

impl<'a> At<'a> {
    /// A property of this object.
    pub(super) fn key(&'a self, key: &'a str) -> At<'a> {
        At { parent: Some(self), step: Step::Key(key) }
    }

    /// An element of this array.
    pub(super) fn index(&'a self, index: usize) -> At<'a> {
        At { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            // RFC 6901 section 3.
            Step::Key(key) => write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => write!(f, "/{index}"),
        }
    }
}

/// All findings on one file.
#[derive(Default)]
pub(super) struct ImportReport {
    notes: Vec<Note>,
    left_out: usize,
    first_error: Option<(String, String)>,
    errors: usize,
    /// Errors of unusable objects, by place.
    faults: HashMap<String, String>,
}

impl ImportReport {
    fn note(&mut self, kind: NoteKind, place: &dyn fmt::Display, message: &dyn fmt::Display) {
        if self.notes.len() >= MAX_NOTES {
            self.left_out += 1;
            return;
        }
        let mut place = one_line(&place.to_string());
        if place.is_empty() {
            place.push('/');
        }
        self.notes.push(Note { kind, location: place, message: one_line(&message.to_string()) });
    }

    /// An error: the file violates the specification and cannot be shown sensibly.
    pub(super) fn error(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        if self.first_error.is_none() {
            let place = one_line(&place.to_string());
            self.first_error = Some((
                if place.is_empty() { "/".into() } else { place },
                one_line(&message.to_string()),
            ));
        }
        self.errors += 1;
    }

    /// A repair: the file violates the specification and is shown anyway.
    pub(super) fn repair(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        self.note(NoteKind::Repaired, &place, &message);
    }

    /// An unusable object, which is an error only if the shown scene needs it.
    pub(super) fn broken(&mut self, place: impl fmt::Display, problem: impl fmt::Display) {
        let problem = one_line(&problem.to_string());
        self.repair(&place, format!("{problem}; what needs it is left out"));
        // Bounded by the number of objects.
        self.faults.entry(place.to_string()).or_insert(problem);
    }

    /// The error of an unusable object.
    pub(super) fn fault(&self, place: impl fmt::Display) -> Option<&str> {
        if self.faults.is_empty() {
            return None;
        }
        self.faults.get(&place.to_string()).map(String::as_str)
    }

    /// Errors of unusable objects, by place.
    pub(super) fn faults(&self) -> &HashMap<String, String> {
        &self.faults
    }

    /// A feature that is not rendered.
    pub(super) fn unsupported(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        self.note(NoteKind::Unsupported, &place, &message);
    }

    /// Information.
    pub(super) fn info(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        self.note(NoteKind::Info, &place, &message);
    }

    /// The first error and the number of further ones.
    pub(super) fn first_error(&self) -> Option<(&str, &str, usize)> {
        self.first_error
            .as_ref()
            .map(|(place, message)| (place.as_str(), message.as_str(), self.errors - 1))
    }

    /// The notes, in order.
    pub(super) fn into_notes(mut self) -> Vec<Note> {
        if self.left_out > 0 {
            let message = format!("{} more findings are not listed", self.left_out);
            self.notes.push(Note { kind: NoteKind::Repaired, location: "/".into(), message });
        }
        self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_escaped_pointer() {
        let root = At::ROOT;
        let (a, b) = (root.key("a/b~c"), 3);
        assert_eq!(a.index(b).to_string(), "/a~1b~0c/3");
    }

    #[test]
    fn messages_stay_on_one_line_and_are_bounded() {
        let mut report = ImportReport::default();
        report.error("/x", format!("two\nlines{}", "y".repeat(1000)));
        for _ in 0..2000 {
            report.repair("/x", "again");
        }
        let (_, message, _) = report.first_error().unwrap_or_default();
        assert!(message.starts_with("two\\nlines") && message.len() < 400);
        assert_eq!(report.into_notes().len(), MAX_NOTES + 1);
    }
}
