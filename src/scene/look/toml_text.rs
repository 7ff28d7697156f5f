//! Text of a look file: its properties, flattened, and line numbers for messages.

use toml_edit::{Document, Item, TableLike, TomlError, Value};

use super::current_path;

/// The properties that a look file's text sets, as (path, value); empty if it is not TOML.
pub(crate) fn flattened(text: &str) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    if let Ok(document) = Document::parse(text) {
        flatten("", document.as_table(), &mut flat);
    }
    for (path, _) in &mut flat {
        if let Some(new) = current_path(path) {
            *path = new;
        }
    }
    flat
}

/// The path of a key in a table.
fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.into() } else { format!("{prefix}.{key}") }
}

/// Appends a table's properties as (path, value), sorted by the keys of each table.
pub(super) fn flatten(prefix: &str, table: &dyn TableLike, out: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    for (key, item) in entries {
        let path = join(prefix, key);
        match item {
            // The form of `--set`: 100,6400.
            Item::Value(Value::Array(list)) => {
                out.push((path, list.iter().map(plain).collect::<Vec<_>>().join(",")));
            }
            Item::ArrayOfTables(list) => out.push((path, vec![LIST; list.len()].join(","))),
            Item::Value(value) if !value.is_inline_table() => out.push((path, plain(value))),
            _ => {
                if let Some(inner) = item.as_table_like() {
                    flatten(&path, inner, out);
                }
            }
        }
    }
}

/// A TOML error on one line, with its line number.
pub(crate) fn syntax_error(text: &str, error: &TomlError) -> String {
    let line = error.span().map_or(0, |span| line_at(text, span.start));
    let message = error.message().lines().next().unwrap_or_default();
    let source = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // The key of a property or a section; a quoted one may have spaces.
    let key = source.split(['=', ']']).next().unwrap_or_default().trim_matches(['[', ' ', '\t']);
    let has_space = key.contains(' ') && !key.contains(['"', '\'', '#']);
    let hint = if has_space { "; quote names with spaces: [lights.\"Key Light\"]" } else { "" };
    format!("line {line}: {message}{hint}")
}

/// Line number, from 1, of a byte offset in a text.
fn line_at(text: &str, place: usize) -> usize {
    text.get(..place).map_or(0, |before| before.matches('\n').count()) + 1
}

/// Line number of a flattened property.
pub(super) fn line_of(text: &str, path: &str) -> Option<usize> {
    fn find(prefix: &str, table: &dyn TableLike, path: &str) -> Option<usize> {
        table.iter().find_map(|(key, item)| {
            let here = join(prefix, key);
            match item.as_table_like() {
                Some(inner) => find(&here, inner, path),
                None => (here == path).then(|| table.key(key)?.span()).flatten().map(|s| s.start),
            }
        })
    }
    let document = Document::parse(text).ok()?;
    find("", document.as_table(), path).map(|place| line_at(text, place))
}

/// Text of a nested list, which no property takes.
const LIST: &str = "a list";

/// A scalar as text; `set` rejects types that a property does not take, such as a date or a nested
/// list.
fn plain(value: &Value) -> String {
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
            error.starts_with("line 2: ") && error.ends_with("[lights.\"Key Light\"]"),
            "{error}"
        );
        assert!(!told("a = = 1\n").contains("quote"), "{}", told("a = = 1\n"));
        assert_eq!(told("[lights.\"Key Light\"]\nlumens = 800\n"), "");
    }
}
