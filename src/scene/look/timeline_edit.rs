//! Edits of the keys of a timeline in a look's text; comments and order are kept.

use toml_edit::{Array, InlineTable, Item, Table, TableLike, Value};

use super::{
    LookError, current_path,
    edit::{keys, parsed, value_of},
    timeline::Timeline,
    toml_text::TIMELINE,
};

/// Keys closer than this are one (s).
const SAME_TIME: f64 = 1e-6;

/// Time of a key in s; `None` for one that is not read.
fn time_of(key: &Value, rate: f64) -> Option<f64> {
    let key = key.as_inline_table()?;
    let number = |value: &Value| {
        let text = value.as_str().map(|text| text.trim_end_matches('s').trim_end());
        let whole = || value.as_integer().map(|whole| whole as f64);
        value.as_float().or_else(whole).or_else(|| text?.parse().ok())
    };
    let frame = || Some(number(key.get("frame")?)? / rate);
    key.get("time").and_then(number).or_else(frame)
}

/// The track of a property: of a path in quotes, or of nested tables.
fn track<'a>(timeline: &'a mut dyn TableLike, path: &str) -> Option<&'a mut dyn TableLike> {
    if timeline.contains_key(path) {
        return timeline.get_mut(path)?.as_table_like_mut();
    }
    let mut table = timeline;
    for key in keys(path) {
        table = table.get_mut(&key)?.as_table_like_mut()?;
    }
    Some(table)
}

/// The text with a key of a property's track at a time in s; one at that time gets the value.
/// `rate` is that of keys in frames, in frames per second. Tracks of segments are not changed.
///
/// # Errors
/// [`LookError::File`]: the text is not TOML, or the track's keys are no list of inline tables.
pub fn with_key(
    name: &str,
    text: &str,
    (path, value): (&str, &str),
    (time, rate): (f64, f64),
) -> Result<String, LookError> {
    let invalid = |detail: String| LookError::File { file: name.into(), detail };
    let path = current_path(path).unwrap_or_else(|| path.to_owned());
    let mut document = parsed(name, text)?;
    let timeline = document.entry(TIMELINE).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let Some(timeline) = timeline.as_table_like_mut() else {
        return Err(invalid(format!("'{TIMELINE}' is a value, expected a section")));
    };
    if track(timeline, &path).is_none() {
        timeline.insert(&path, Item::Table(Table::new()));
    }
    let list = track(timeline, &path)
        .map(|track| track.entry("keys").or_insert(Item::Value(Array::new().into())))
        .and_then(|keys| keys.as_value_mut()?.as_array_mut());
    let Some(list) = list else {
        return Err(invalid(format!(
            "{TIMELINE}, {path}: expected keys = [{{ time = ..., value = ... }}, ...]"
        )));
    };
    let value = value_of(&path, value);
    let times: Vec<f64> =
        list.iter().map(|key| time_of(key, rate).unwrap_or(f64::NEG_INFINITY)).collect();
    let same = times.iter().position(|known| (known - time).abs() <= SAME_TIME);
    if let Some(key) = same.and_then(|index| list.get_mut(index)?.as_inline_table_mut()) {
        key.insert("value", value);
        return Ok(document.to_string());
    }
    let mut key = InlineTable::new();
    key.insert("time", time.into());
    key.insert("value", value);
    list.insert(times.iter().filter(|known| **known < time).count(), key);
    list.fmt();
    Ok(document.to_string())
}

impl Timeline {
    /// Time (s) of the key of any track from 0 s that is next after a time, or before it.
    #[must_use]
    pub fn neighbor_key(&self, time: f64, forward: bool, rate: f64) -> Option<f64> {
        let keys = self.tracks.iter().flat_map(|track| &track.keys);
        let times = keys.map(|key| key.time.seconds(rate));
        if forward {
            times.filter(|known| *known > time + SAME_TIME).min_by(f64::total_cmp)
        } else {
            times.filter(|known| *known < time - SAME_TIME).max_by(f64::total_cmp)
        }
    }
}
