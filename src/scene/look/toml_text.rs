//! Text of a look file: its properties, flattened, and line numbers for messages.

use super::current_path;

/// The properties that a look file's text sets, as (path, value); empty if it is not TOML.
pub(crate) fn flattened(text: &str) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    if let Ok(table) = text.parse::<toml::Table>() {
        flatten("", &table, &mut flat);
    }
    for (path, _) in &mut flat {
        if let Some(new) = current_path(path) {
            *path = new;
        }
    }
    flat
}

/// Appends a table's properties as (path, value).
pub(super) fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, out),
            // The form of `--set`: 100,6400.
            toml::Value::Array(list) => {
                out.push((path, list.iter().map(plain).collect::<Vec<_>>().join(",")))
            }
            other => out.push((path, plain(other))),
        }
    }
}

/// A TOML syntax error on one line, with its line number.
pub(crate) fn syntax_error(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(0, |span| line_at(text, span.start));
    format!("line {line}: {}", error.message().lines().next().unwrap_or_default())
}

/// Line number, from 1, of a byte offset in a text.
fn line_at(text: &str, place: usize) -> usize {
    text.get(..place).map_or(0, |before| before.matches('\n').count()) + 1
}

/// Line number of a flattened property.
pub(super) fn line_of(text: &str, path: &str) -> Option<usize> {
    fn find(prefix: &str, table: &toml::de::DeTable<'_>, path: &str) -> Option<usize> {
        table.iter().find_map(|(key, value)| {
            let here = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            match value.get_ref() {
                toml::de::DeValue::Table(inner) => find(&here, inner, path),
                _ => (here == path).then(|| key.span().start),
            }
        })
    }
    let table = toml::de::DeTable::parse(text).ok()?;
    find("", table.get_ref(), path).map(|place| line_at(text, place))
}

/// A scalar as text; `set` rejects types that a property does not take, such as a date or a nested
/// list.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(on) => on.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::Array(_) | toml::Value::Table(_) => "a list".into(),
    }
}
