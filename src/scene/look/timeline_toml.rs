//! Reads `[timeline]` of a look file.

use std::path::Path;

use toml_edit::{Item, TableLike, Value};

use super::{
    LookError, Origin, current_path, lights,
    properties::{property, unknown_property},
    suggestions::are_nearest,
    timeline::{
        Condition, KeyTime, Timeline, TimelineKey, TimelineLoop, TimelineSegment, TimelineTrack,
    },
    timeline_error::TimelineError,
    timeline_value::{Numbers, TimelineSpace},
    toml_text::{TIMELINE, place_at, plain},
};
use crate::{
    easing::Easing,
    settings::{Accepts, Property, number, units::in_unit},
};

/// Name of the table of segments, and path of a segment for messages.
const SEGMENTS: &str = "segments";

/// Maximum time of a key and of a segment's start (s), and frame of a key.
const MAX_SECONDS: f64 = 1e9;
const MAX_FRAME: i64 = 1_000_000;

/// Properties that are fixed for a run: the picture's size and number of samples, the units of the
/// scene, the choice of the animation, and what other properties are relative to.
const FIXED: [&str; 10] = [
    "camera.body.resolution",
    "cameras.*.add",
    "cameras.*.parent",
    "lights.*.add",
    "lights.*.parent",
    "passes.aa.samples",
    "quality",
    "scene.animation",
    "scene.default_light",
    "scene.scale",
];

/// A value of a key, to be checked against its property.
pub(super) struct KeyValue {
    pub path: String,
    pub value: String,
    pub origin: Origin,
}

/// A timeline as read.
#[derive(Default)]
pub(super) struct ParsedTimeline {
    pub timeline: Timeline,
    /// Origins of tracks by their property, and of segments by their path.
    pub origins: Vec<(String, Origin)>,
    /// The values of all keys.
    pub values: Vec<KeyValue>,
}

/// Path of a segment for messages and origins.
#[must_use]
pub fn segment_path(name: &str) -> String {
    format!("{TIMELINE}.{SEGMENTS}.{name}")
}

/// Reads the table `timeline` of a look file; `name` is the file.
///
/// # Errors
/// [`LookError::At`]: an unknown field, property or easing, keys out of order, invalid times.
pub(super) fn parse(
    (name, text): (&str, &str),
    root: &dyn TableLike,
) -> Result<ParsedTimeline, LookError> {
    let folder = Path::new(name).parent().unwrap_or_else(|| Path::new(""));
    let mut parser = Parser { name, text, folder, read: ParsedTimeline::default() };
    let Some(item) = root.get(TIMELINE) else { return Ok(parser.read) };
    let offset = key_offset(root, TIMELINE);
    let Some(table) = item.as_table_like() else {
        let field = TIMELINE.to_owned();
        let expected = "a table: [timeline.\"camera.lens.focus\"]".to_owned();
        return parser.fail(offset, TimelineError::Value { field, value: text_of(item), expected });
    };
    for (key, item) in table.iter() {
        if key == SEGMENTS {
            parser.segments(table, item)?;
        } else {
            let track = parser.tracks((table, key), key, item)?;
            parser.read.timeline.tracks.extend(track);
        }
    }
    parser.check_strengths(offset)?;
    Ok(parser.read)
}

/// Offset in bytes of a key in a table.
fn key_offset(table: &dyn TableLike, key: &str) -> usize {
    table.key(key).and_then(|key| key.span()).map_or(0, |span| span.start)
}

/// Text of a value, as it is read by properties.
fn text_of(item: &Item) -> String {
    match item {
        Item::Value(Value::Array(list)) => list.iter().map(plain).collect::<Vec<_>>().join(","),
        Item::Value(value) if !value.is_inline_table() => plain(value),
        Item::ArrayOfTables(_) => "a list of tables".into(),
        _ => "a table".into(),
    }
}

struct Parser<'a> {
    name: &'a str,
    text: &'a str,
    folder: &'a Path,
    read: ParsedTimeline,
}

impl Parser<'_> {
    fn origin(&self, offset: usize) -> Origin {
        let (line, column) = place_at(self.text, offset);
        Origin::File { file: self.name.into(), line, column }
    }

    fn fail<T>(&self, offset: usize, error: impl Into<LookError>) -> Result<T, LookError> {
        Err(LookError::At { origin: self.origin(offset), error: Box::new(error.into()) })
    }

    /// Checks that a table has no other fields than these.
    fn known(&self, table: &dyn TableLike, names: &[&str]) -> Result<(), LookError> {
        match table.iter().find(|(key, _)| !names.contains(key)) {
            Some((key, _)) => self.fail(
                key_offset(table, key),
                TimelineError::UnknownField { field: key.into(), expected: names.join(", ") },
            ),
            None => Ok(()),
        }
    }

    /// A number of a field, with or without its unit.
    fn quantity(
        &self,
        (table, key): (&dyn TableLike, &str),
        unit: &str,
        accepts: &Accepts,
        expected: &str,
    ) -> Result<Option<f64>, LookError> {
        let Some(item) = table.get(key) else { return Ok(None) };
        let text = text_of(item);
        match number(&in_unit(&text, unit), accepts) {
            Some(number) => Ok(Some(number)),
            None => {
                let (field, expected) = (key.to_owned(), expected.to_owned());
                let error = TimelineError::Value { field, value: text, expected };
                self.fail(key_offset(table, key), error)
            }
        }
    }

    /// Seconds of a field.
    fn seconds(&self, table: &dyn TableLike, key: &str) -> Result<Option<f64>, LookError> {
        let accepts = Accepts::Range { min: 0.0, max: MAX_SECONDS, integer: false };
        self.quantity((table, key), "s", &accepts, "seconds from 0 to 1e9, e.g. \"1.5 s\"")
    }

    /// The tracks of a table: of a path in quotes, or of nested tables.
    fn tracks(
        &mut self,
        (parent, key): (&dyn TableLike, &str),
        path: &str,
        item: &Item,
    ) -> Result<Vec<TimelineTrack>, LookError> {
        let offset = key_offset(parent, key);
        let Some(table) = item.as_table_like() else {
            let expected = "a table of a property's path with keys".to_owned();
            return self.fail(offset, TimelineError::UnknownField { field: path.into(), expected });
        };
        let is_track = ["keys", "loop", "space"].iter().any(|name| table.contains_key(name));
        if is_track || property(path).is_some() || table.is_empty() {
            return Ok(vec![self.track(offset, path, table)?]);
        }
        let mut tracks = Vec::new();
        for (inner, item) in table.iter() {
            tracks.extend(self.tracks((table, inner), &format!("{path}.{inner}"), item)?);
        }
        Ok(tracks)
    }

    fn track(
        &mut self,
        offset: usize,
        written: &str,
        table: &dyn TableLike,
    ) -> Result<TimelineTrack, LookError> {
        let path = current_path(written).unwrap_or_else(|| written.to_owned());
        let Some(known) = property(&path) else {
            return self.fail(offset, unknown_property(written));
        };
        if FIXED.contains(&known.path) {
            return self.fail(offset, TimelineError::Fixed { path });
        }
        self.known(table, &["keys", "loop", "space"])?;
        let repeat = self.choice(table, "loop", &TimelineLoop::ALL)?.unwrap_or_default();
        let stated = self.choice(table, "space", &TimelineSpace::ALL)?;
        let space = stated.unwrap_or_else(|| TimelineSpace::of(&path));
        let keys = self.keys(offset, (&path, &known), table)?;
        if stated.is_some()
            && let Some(held) = keys.iter().find(|key| key.numbers.is_none())
        {
            let (path, value) = (path, held.value.clone());
            return self.fail(
                key_offset(table, "space"),
                TimelineError::Holds { path, value, field: "space" },
            );
        }
        let outside = keys.iter().find(|key| {
            let numbers = key.numbers.iter().flat_map(|numbers| &numbers.values);
            numbers.into_iter().any(|&number| !space.takes(number))
        });
        if let Some(key) = outside {
            let (value, expected) = (key.value.clone(), space.expected());
            let error = TimelineError::Space { path, value, space: space.name(), expected };
            return self.fail(key_offset(table, "keys"), error);
        }
        let folder = self.folder.to_path_buf();
        let track = TimelineTrack { path: path.clone(), keys, repeat, space, folder };
        // Frames and seconds in one track are compared when the rate is known.
        let is_frame = |key: &TimelineKey| matches!(key.time, KeyTime::Frame(_));
        let frames = track.keys.iter().filter(|key| is_frame(key)).count();
        if (frames == 0 || frames == track.keys.len())
            && let Err(error) = track.check_order(if frames == 0 { 1.0 } else { 24.0 })
        {
            return self.fail(key_offset(table, "keys"), error);
        }
        self.read.origins.push((path, self.origin(offset)));
        Ok(track)
    }

    fn keys(
        &mut self,
        offset: usize,
        known: (&str, &Property),
        table: &dyn TableLike,
    ) -> Result<Vec<TimelineKey>, LookError> {
        let tables: Option<Vec<(&dyn TableLike, usize)>> = match table.get("keys") {
            Some(Item::ArrayOfTables(list)) => {
                let start = |table: &toml_edit::Table| table.span().map_or(offset, |at| at.start);
                Some(list.iter().map(|table| (table as &dyn TableLike, start(table))).collect())
            }
            Some(Item::Value(Value::Array(list))) => {
                let one = |value| {
                    let inline = Value::as_inline_table(value)?;
                    let start = inline.span().map_or(offset, |at| at.start);
                    Some((inline as &dyn TableLike, start))
                };
                list.iter().map(one).collect()
            }
            _ => None,
        };
        let Some(tables) = tables.filter(|tables| !tables.is_empty()) else {
            let expected = "keys = [{ time = \"0 s\", value = ... }, ...]".to_owned();
            let item = known.0.to_owned();
            return self.fail(offset, TimelineError::Fields { item, expected });
        };
        tables.into_iter().map(|(table, place)| self.key(place, known, table)).collect()
    }

    fn key(
        &mut self,
        offset: usize,
        (path, known): (&str, &Property),
        table: &dyn TableLike,
    ) -> Result<TimelineKey, LookError> {
        self.known(table, &["time", "frame", "value", "ease"])?;
        let missing = |expected: &str| TimelineError::Fields {
            item: format!("a key of {path}"),
            expected: expected.into(),
        };
        let frame = Accepts::Range { min: 0.0, max: MAX_FRAME as f64, integer: true };
        let expected = "a whole number of frames from 0 to 1000000";
        let frame = self.quantity((table, "frame"), "", &frame, expected)?;
        if let Some(frame) = frame.filter(|frame| frame.fract() != 0.0) {
            let (field, value) = ("frame".to_owned(), frame.to_string());
            let error = TimelineError::Value { field, value, expected: expected.into() };
            return self.fail(key_offset(table, "frame"), error);
        }
        let time = match (self.seconds(table, "time")?, frame) {
            (Some(seconds), None) => KeyTime::Seconds(seconds),
            (None, Some(frame)) => KeyTime::Frame(frame as u32),
            _ => return self.fail(offset, missing("either time or frame")),
        };
        let Some(item) = table.get("value") else { return self.fail(offset, missing("a value")) };
        let value = text_of(item);
        let origin = self.origin(key_offset(table, "value"));
        self.read.values.push(KeyValue { path: path.into(), value: value.clone(), origin });
        let numbers = Numbers::parse(known, &value);
        let ease = self.ease(table)?;
        if numbers.is_none() && !matches!(ease, None | Some(Easing::Hold)) {
            let path = path.to_owned();
            let error = TimelineError::Holds { path, value, field: "ease" };
            return self.fail(key_offset(table, "ease"), error);
        }
        Ok(TimelineKey { time, value, numbers, ease: ease.unwrap_or_default() })
    }

    fn ease(&self, table: &dyn TableLike) -> Result<Option<Easing>, LookError> {
        let Some(item) = table.get("ease") else { return Ok(None) };
        let (offset, text) = (key_offset(table, "ease"), text_of(item));
        if item.as_array().is_some() {
            let points: Option<Vec<f64>> = text.split(',').map(|part| part.parse().ok()).collect();
            let points = points.and_then(|points| <[f64; 4]>::try_from(points).ok());
            let Some(bezier) = points.and_then(Easing::bezier) else {
                let expected = "two control points of a Bezier curve as [x1, y1, x2, y2], x1 and x2 from 0 \
                     to 1";
                let (field, expected) = ("ease".to_owned(), expected.to_owned());
                return self.fail(offset, TimelineError::Value { field, value: text, expected });
            };
            return Ok(Some(bezier));
        }
        let Some(ease) = Easing::named(&text) else {
            let names: Vec<String> = Easing::all().map(|(name, _)| name).collect();
            let nearest = are_nearest(&text, names.iter().map(String::as_str));
            return self.fail(offset, TimelineError::UnknownEasing { name: text, nearest });
        };
        Ok(Some(ease))
    }

    /// A field that is chosen by name.
    fn choice<T: Copy>(
        &self,
        table: &dyn TableLike,
        key: &str,
        all: &[(&str, T)],
    ) -> Result<Option<T>, LookError> {
        let Some(item) = table.get(key) else { return Ok(None) };
        let value = text_of(item);
        if let Some((_, chosen)) = all.iter().find(|(name, _)| *name == value) {
            return Ok(Some(*chosen));
        }
        let expected = all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
        let field = key.to_owned();
        self.fail(key_offset(table, key), TimelineError::Value { field, value, expected })
    }

    fn segments(&mut self, parent: &dyn TableLike, item: &Item) -> Result<(), LookError> {
        let Some(all) = item.as_table_like() else {
            let (field, value) = (SEGMENTS.to_owned(), text_of(item));
            let expected = "a table: [timeline.segments.NAME]".to_owned();
            let error = TimelineError::Value { field, value, expected };
            return self.fail(key_offset(parent, SEGMENTS), error);
        };
        for (name, item) in all.iter() {
            let (offset, path) = (key_offset(all, name), segment_path(name));
            let Some(table) = item.as_table_like() else {
                let expected = "after or when, and tracks".to_owned();
                return self.fail(offset, TimelineError::Fields { item: path, expected });
            };
            let start = match (self.seconds(table, "after")?, table.get("when")) {
                (Some(time), None) => Condition::After(time),
                (None, Some(when)) => self.condition(key_offset(table, "when"), &path, when)?,
                _ => {
                    let expected = "either after = \"2 s\" or when = { ... }".to_owned();
                    return self.fail(offset, TimelineError::Fields { item: path, expected });
                }
            };
            let mut tracks = Vec::new();
            for (key, item) in table.iter().filter(|(key, _)| !["after", "when"].contains(key)) {
                tracks.extend(self.tracks((table, key), key, item)?);
            }
            if tracks.is_empty() {
                let expected = "at least one property to animate".to_owned();
                return self.fail(offset, TimelineError::Fields { item: path, expected });
            }
            self.read.origins.push((path, self.origin(offset)));
            let segment = TimelineSegment { name: name.into(), start, tracks };
            self.read.timeline.segments.push(segment);
        }
        for segment in &self.read.timeline.segments {
            let Condition::Passes { path, .. } = &segment.start else { continue };
            if !self.read.timeline.all_tracks().any(|track| track.path == *path) {
                let (name, path) = (segment_path(&segment.name), path.clone());
                let offset = key_offset(all, &segment.name);
                let error = TimelineError::Unanimated { segment: name, path };
                return self.fail(offset, error);
            }
        }
        Ok(())
    }

    fn condition(&self, offset: usize, segment: &str, item: &Item) -> Result<Condition, LookError> {
        let forms = "when = { within = \"3 m\", node = \"NAME\" } or when = { property = \
                     \"PATH\", passes = VALUE }";
        let invalid = || TimelineError::Fields { item: segment.into(), expected: forms.into() };
        let Some(table) = item.as_table_like() else { return self.fail(offset, invalid()) };
        self.known(table, &["within", "node", "property", "passes"])?;
        let text = |key: &str| table.get(key).map(text_of);
        let above = Accepts::Above { min: 0.0, max: 1e9 };
        let expected = "meters above 0 to 1e9, e.g. \"3 m\"";
        let distance = self.quantity((table, "within"), "m", &above, expected)?;
        match (distance, text("node"), text("property"), text("passes")) {
            (Some(distance), Some(node), None, None) => Ok(Condition::Within { distance, node }),
            (None, None, Some(written), Some(value)) => {
                let path = current_path(&written).unwrap_or_else(|| written.clone());
                let Some(known) = property(&path) else {
                    let offset = key_offset(table, "property");
                    return self.fail(offset, unknown_property(&written));
                };
                let numbers = Numbers::parse(&known, &value).map(|numbers| numbers.values);
                match numbers.as_deref() {
                    Some(&[value]) if value.is_finite() => Ok(Condition::Passes { path, value }),
                    _ => {
                        let expected = format!("a number of {path}: {}", known.description);
                        let field = "passes".to_owned();
                        let error = TimelineError::Value { field, value, expected };
                        self.fail(key_offset(table, "passes"), error)
                    }
                }
            }
            _ => self.fail(offset, invalid()),
        }
    }

    /// Checks that no light has tracks of two strengths.
    fn check_strengths(&self, offset: usize) -> Result<(), LookError> {
        let paths = self.read.timeline.all_tracks().map(|track| track.path.as_str());
        match lights::rivals(paths) {
            Some(rivals) => {
                self.fail(offset, LookError::Contradiction(lights::two_strengths(rivals)))
            }
            None => Ok(()),
        }
    }
}
