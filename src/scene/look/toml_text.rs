//! Text of a look file: its properties, flattened, and line numbers for messages.

use toml_edit::{Document, Item, TableLike, TomlError, Value};

use super::{Origin, current_path, current_value, kinds};
use crate::settings::ValueKind;

/// Name of the section of a look file that holds values over time.
pub(super) const TIMELINE: &str = "timeline";

/// A property of a look file.
pub(super) struct TomlProperty {
    /// Path as written.
    pub path: String,
    /// Value as text.
    pub value: String,
    /// Kind of the value; `None` for one that no property takes, such as a date.
    kind: Option<ValueKind>,
    /// Offset of the property's name in bytes.
    offset: usize,
}

impl TomlProperty {
    /// Place of the property's name in its file.
    pub fn origin(&self, file: &str, text: &str) -> Origin {
        let (line, column) = place_at(text, self.offset);
        Origin::File { file: file.into(), line, column }
    }

    /// True if the value is text.
    pub fn is_text(&self) -> bool {
        self.kind == Some(ValueKind::Text)
    }

    /// The kinds of values that the property takes in a look file, if the value has another.
    pub fn mistaken_kind(&self) -> Option<String> {
        let path = current_path(&self.path);
        let kinds = kinds(path.as_deref().unwrap_or(&self.path));
        // A value that is no plain one is refused by its text.
        let is_mistaken = !kinds.is_empty() && self.kind.is_some_and(|kind| !kinds.contains(&kind));
        is_mistaken.then(|| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or "))
    }
}

/// The properties that a look file's text sets, as (path, value); empty if it is not TOML.
#[must_use]
pub fn flattened(text: &str) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    if let Ok(document) = Document::parse(text) {
        flatten("", document.as_table(), &mut flat);
    }
    let current = |TomlProperty { path, value, .. }| {
        let path = current_path(&path).unwrap_or(path);
        let value = current_value(&path, &value).map_or(value, str::to_owned);
        (path, value)
    };
    flat.into_iter().map(current).collect()
}

/// The path of a key in a table.
fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.into() } else { format!("{prefix}.{key}") }
}

/// Appends a table's properties, sorted by the keys of each table, without the timeline.
pub(super) fn flatten(prefix: &str, table: &dyn TableLike, out: &mut Vec<TomlProperty>) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    for (key, item) in entries {
        if prefix.is_empty() && key == TIMELINE {
            continue;
        }
        let path = join(prefix, key);
        let offset = table.key(key).and_then(|key| key.span()).map_or(0, |span| span.start);
        let mut add = |value, kind| {
            out.push(TomlProperty { path: path.clone(), value, kind, offset });
        };
        match item {
            // The form of `--set`: 100,6400.
            Item::Value(Value::Array(list)) => {
                let values = list.iter().map(plain).collect::<Vec<_>>().join(",");
                add(values, Some(ValueKind::List));
            }
            Item::ArrayOfTables(list) => add(vec![LIST; list.len()].join(","), None),
            Item::Value(value) if !value.is_inline_table() => add(plain(value), kind(value)),
            _ => {
                if let Some(inner) = item.as_table_like() {
                    flatten(&path, inner, out);
                }
            }
        }
    }
}

/// A TOML error on one line, with its line and column.
#[must_use]
pub fn syntax_error(text: &str, error: &TomlError) -> String {
    let (line, column) = error.span().map_or((1, 1), |span| place_at(text, span.start));
    let message = error.message().lines().next().unwrap_or_default();
    let source = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // The key of a property or a section; a quoted one may have spaces.
    let key = source.split(['=', ']']).next().unwrap_or_default().trim_matches(['[', ' ', '\t']);
    let has_space = key.contains(' ') && !key.contains(['"', '\'', '#']);
    let hint = if has_space { "; quote names with spaces: [lights.\"Key Light\"]" } else { "" };
    format!("line {line}, column {column}: {message}{hint}")
}

/// Line and column, from 1, of a byte offset in a text; the column counts characters.
pub(super) fn place_at(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Kind of a scalar; `None` for a date.
const fn kind(value: &Value) -> Option<ValueKind> {
    match value {
        Value::String(_) => Some(ValueKind::Text),
        Value::Integer(_) | Value::Float(_) => Some(ValueKind::Number),
        Value::Boolean(_) => Some(ValueKind::Bool),
        Value::Array(_) => Some(ValueKind::List),
        Value::Datetime(_) | Value::InlineTable(_) => None,
    }
}

/// Text of a nested list, which no property takes.
const LIST: &str = "a list";

/// A scalar as text; `set` rejects types that a property does not take, such as a date or a nested
/// list.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        Value::Boolean(on) => on.value().to_string(),
        Value::Datetime(date) => date.value().to_string(),
        Value::Array(_) | Value::InlineTable(_) => LIST.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_are_to_be_quoted() {
        let told = |text: &str| {
            Document::parse(text).err().map(|error| syntax_error(text, &error)).unwrap_or_default()
        };
        let error = told("# look\n[lights.Key Light]\nlumens = 800\n");
        assert!(
            error.starts_with("line 2, column ") && error.ends_with("[lights.\"Key Light\"]"),
            "{error}"
        );
        assert!(!told("a = = 1\n").contains("quote"), "{}", told("a = = 1\n"));
        assert_eq!(told("[lights.\"Key Light\"]\nlumens = 800\n"), "");
    }
}
