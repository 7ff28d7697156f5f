//! Edits of a look's text by the paths of its properties; comments and order are kept.

use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value};

use super::{
    LookError, current_path, kinds, lights::STRENGTHS, old_paths, old_properties, properties, unit,
};
use crate::settings::{ValueKind, units::in_unit};

/// The keys of a property's path; names of lights may contain dots.
pub(super) fn keys(path: &str) -> Vec<String> {
    let section = path.split('.').next().unwrap_or_default();
    let known = properties().map(|known| known.path).chain(old_properties());
    let named = known.filter_map(|known| known.split_once(".*."));
    // The longest known suffix wins: `water.*.depth.red` before `water.*.red`.
    let end = named
        .filter(|(of, end)| *of == section && path.ends_with(&format!(".{end}")))
        .map(|(_, end)| end)
        .max_by_key(|end| end.len());
    if let Some(end) = end
        && let Some(name) = path.get(section.len() + 1..path.len().saturating_sub(end.len() + 1))
    {
        let mut keys = vec![section.to_owned(), name.to_owned()];
        keys.extend(end.split('.').map(str::to_owned));
        return keys;
    }
    path.split('.').map(str::to_owned).collect()
}

/// The text with a property under its present path; its comments go with it.
fn moved(name: &str, text: &str, old: &str, new: &str) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    let Some((key, item)) = taken(document.as_table_mut(), &keys(old)) else {
        return Ok(text.into());
    };
    let keys = keys(new);
    let Some((last, tables)) = keys.split_last() else { return Ok(text.into()) };
    let Some(table) = section(name, document.as_table_mut(), (tables, new), true)? else {
        return Ok(text.into());
    };
    let key = Key::new(last).with_leaf_decor(key.leaf_decor().clone());
    table.entry_format(&key).or_insert(item);
    Ok(document.to_string())
}

/// Removes an entry, and sections that it leaves empty unless a comment precedes them.
fn taken(table: &mut dyn TableLike, keys: &[String]) -> Option<(Key, Item)> {
    let (first, rest) = keys.split_first()?;
    if rest.is_empty() {
        let key = table.key(first)?.clone();
        return table.remove(first).map(|item| (key, item));
    }
    let inner = table.get_mut(first)?;
    let found = taken(inner.as_table_like_mut()?, rest);
    let commented = |table: &Table| {
        table.decor().prefix().and_then(|text| text.as_str()).is_some_and(|text| text.contains('#'))
    };
    let empty = inner.as_table_like().is_some_and(TableLike::is_empty);
    if found.is_some() && empty && !inner.as_table().is_some_and(commented) {
        table.remove(first);
    }
    found
}

pub(super) fn parsed(name: &str, text: &str) -> Result<DocumentMut, LookError> {
    text.parse().map_err(|error: toml_edit::TomlError| LookError::File {
        file: name.into(),
        detail: error.to_string(),
    })
}

/// The section of a path's leading keys; a missing one is created or `None`.
fn section<'a>(
    name: &str,
    mut table: &'a mut dyn TableLike,
    (keys, path): (&[String], &str),
    create: bool,
) -> Result<Option<&'a mut dyn TableLike>, LookError> {
    for key in keys {
        if table.get(key).is_none() {
            if !create {
                return Ok(None);
            }
            let mut made = Table::new();
            made.set_implicit(true);
            table.insert(key, Item::Table(made));
        }
        table = match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => inner,
            None => {
                let detail = format!("{path}: '{key}' is a value, expected a section");
                return Err(LookError::File { file: name.into(), detail });
            }
        };
    }
    Ok(Some(table))
}

/// A TOML value of a property: a number or a boolean if the property takes one, else a string. A
/// number in another unit is converted to that of the property.
pub(super) fn value_of(path: &str, text: &str) -> Value {
    let kinds = kinds(path);
    let takes = |kind| kinds.is_empty() || kinds.contains(&kind);
    let converted = in_unit(text, if takes(ValueKind::Number) { unit(path) } else { "" });
    let text = &*converted;
    if takes(ValueKind::Number) {
        if let Ok(whole) = text.parse::<i64>() {
            return whole.into();
        }
        if let Ok(number) = text.parse::<f64>()
            && number.is_finite()
        {
            return number.into();
        }
    }
    match text.parse::<bool>() {
        Ok(on) if takes(ValueKind::Bool) => on.into(),
        _ => text.into(),
    }
}

/// The text with properties set, given as (path, value), or removed, those without a value. Old
/// names of the properties give way to the present ones, and other strengths of a light to a new
/// one. `name` is used in messages.
///
/// # Errors
/// [`LookError::File`]: the text is not TOML, or has a value where a path needs a section.
pub fn with_changes(
    name: &str,
    text: &str,
    changes: &[(&str, Option<&str>)],
) -> Result<String, LookError> {
    let mut text = text.to_owned();
    for &(path, value) in changes {
        let path = current_path(path).unwrap_or_else(|| path.to_owned());
        for old in old_paths(&path) {
            text = moved(name, &text, &old, &path)?;
        }
        text = edited(name, &text, &path, value)?;
        // A light has one strength: a new one replaces those in other units.
        if let Some((light, unit)) = path.rsplit_once('.').filter(|_| value.is_some())
            && light.starts_with("lights.")
            && STRENGTHS.contains(&unit)
        {
            for other in STRENGTHS.into_iter().filter(|other| *other != unit) {
                text = edited(name, &text, &format!("{light}.{other}"), None)?;
            }
        }
    }
    Ok(text)
}

/// The text with a property set or removed; comments are kept. `name` is used in messages.
///
/// # Errors
/// [`LookError::File`]: the text is not TOML, or has a value where the path needs a section.
pub fn edited(
    name: &str,
    text: &str,
    path: &str,
    value: Option<&str>,
) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    let keys = keys(path);
    let Some((last, tables)) = keys.split_last() else { return Ok(text.into()) };
    let whole = document.as_table_mut();
    let Some(table) = section(name, whole, (tables, path), value.is_some())? else {
        return Ok(text.into());
    };
    match value {
        None => {
            table.remove(last);
        }
        Some(value) => {
            let mut new = value_of(path, value);
            if let Some(Item::Value(old)) = table.get(last) {
                // The comment after a value is kept.
                *new.decor_mut() = old.decor().clone();
            }
            // `insert` would drop the comments above a key that is there.
            match table.get_mut(last) {
                Some(item) => *item = Item::Value(new),
                None => {
                    table.insert(last, Item::Value(new));
                }
            }
        }
    }
    Ok(document.to_string())
}

/// The text without an item of a section, such as the light `Key` of `lights`, and its comments.
///
/// # Errors
/// [`LookError::File`]: the text is not TOML.
pub fn without_item(
    name: &str,
    text: &str,
    section: &str,
    item: &str,
) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    taken(document.as_table_mut(), &[section.to_owned(), item.to_owned()]);
    Ok(document.to_string())
}

/// The text without a property, and without sections that it leaves empty.
///
/// # Errors
/// [`LookError::File`]: the text is not TOML.
pub fn without_property(name: &str, text: &str, path: &str) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    taken(document.as_table_mut(), &keys(path));
    Ok(document.to_string())
}

/// The text with another name for an item of a section; place and comments are kept.
///
/// # Errors
/// [`LookError::File`]: the text is not TOML.
pub fn with_renamed_item(
    name: &str,
    text: &str,
    section: &str,
    [old, new]: [&str; 2],
) -> Result<String, LookError> {
    let mut document = parsed(name, text)?;
    let items = document.as_table_mut().get_mut(section).and_then(Item::as_table_like_mut);
    if let Some(items) = items
        && let Some(item) = items.remove(old)
    {
        items.insert(new, item);
    }
    Ok(document.to_string())
}
