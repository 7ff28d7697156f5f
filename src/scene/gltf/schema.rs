//! The shape of a glTF document as tables, and a check of a document against them.
//!
//! An invalid optional property is removed (its default applies), a number out of range is clamped,
//! an integer written as a float is made an integer, `null` counts as absent; each is noted. An
//! invalid required property breaks the object that holds it: the object is emptied and its error
//! is kept ([`ImportReport::broken`]). It is an error only if the shown scene needs the object. An
//! empty object (no elements, no bytes) cannot be invalid. After the check each property is absent
//! or of the right type and range.

mod tables;

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    json::{entries, index, items},
    report::{At, ImportReport, one_line},
};
use tables::{
    ANIMATIONS, EXTENSIONS, Field,
    Kind::{
        self, Attributes, Bool, Count, Int, IntOf, List, Num, Obj, Pointer, Ref, Stride, Text,
        TextOf, Version,
    },
    MAX_INTEGER,
    Need::{Expected, Optional, Required, Stated, Vital},
    Object, ROOT,
};

/// Checks a document against the tables and repairs it to fit them.
pub(super) fn check(root: &mut Value, report: &mut ImportReport) {
    let lengths = Lengths::of(root);
    let used = root
        .get("extensionsUsed")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    let Some(map) = root.as_object_mut() else {
        report.error(
            At::ROOT,
            format!("expected an object as the document, found {}; export it again", type_of(root)),
        );
        return;
    };
    let walked = Walk { lengths, used, report: &mut *report }.object(map, &ROOT, &At::ROOT);
    if let Err(problem) = walked {
        report.error(At::ROOT, format!("{problem}; export the file again"));
    }
}

/// The shown part of a document that fits the schema.
pub(super) struct Shown {
    /// The nodes of the shown scene, their descendants, and the joints of their skins.
    pub(super) nodes: HashSet<usize>,
    /// Extensions of these, of what they refer to, of the animations and of the document itself.
    pub(super) extensions: HashSet<String>,
}

/// Index of the shown scene: the default one, else the first; `None` if there are no scenes.
pub(super) fn shown_scene(root: &Value) -> Option<usize> {
    let first = || items(root, "scenes").first().map(|_| 0);
    index(root, "scene").or_else(first)
}

/// Follows all references from the shown scene; without scenes all nodes are shown.
pub(super) fn shown(root: &Value) -> Shown {
    let mut reach = Reach {
        follow: true,
        seen: HashSet::new(),
        queue: VecDeque::new(),
        extensions: HashSet::new(),
    };
    match shown_scene(root) {
        Some(scene) => reach.element("scenes", scene),
        None => (0..items(root, "nodes").len()).for_each(|node| reach.element("nodes", node)),
    }
    while let Some((collection, number)) = reach.queue.pop_front() {
        let kind = ROOT.fields.iter().find(|field| field.0 == collection).map(|field| &field.2);
        let value = root.get(collection).and_then(|list| list.get(number));
        if let (Some(List { item, .. }), Some(value)) = (kind, value) {
            reach.value(value, item);
        }
    }
    let nodes = reach
        .seen
        .iter()
        .filter(|(collection, _)| *collection == "nodes")
        .map(|&(_, node)| node)
        .collect();
    // Animations make no nodes visible, but their extensions count.
    reach.follow = false;
    items(root, "animations").iter().for_each(|animation| reach.value(animation, &ANIMATIONS));
    reach.extensions(root, &ROOT);
    Shown { nodes, extensions: reach.extensions }
}

/// A traversal along the references between the elements of a document.
struct Reach {
    follow: bool,
    seen: HashSet<(&'static str, usize)>,
    queue: VecDeque<(&'static str, usize)>,
    extensions: HashSet<String>,
}

impl Reach {
    fn element(&mut self, collection: &'static str, number: usize) {
        if self.follow && self.seen.insert((collection, number)) {
            self.queue.push_back((collection, number));
        }
    }

    fn value(&mut self, value: &Value, kind: &Kind) {
        let number = |value: &Value| value.as_u64().and_then(|x| usize::try_from(x).ok());
        match kind {
            Ref(collection) => {
                if let Some(number) = number(value) {
                    self.element(collection, number);
                }
            }
            Obj(object) => {
                for Field(name, _, kind) in object.fields {
                    if let Some(value) = value.get(name) {
                        self.value(value, kind);
                    }
                }
                self.extensions(value, object);
            }
            List { item, .. } => {
                value.as_array().into_iter().flatten().for_each(|value| self.value(value, item))
            }
            Attributes => {
                let accessors =
                    value.as_object().into_iter().flatten().filter_map(|(_, value)| number(value));
                accessors.for_each(|number| self.element("accessors", number));
            }
            _ => {}
        }
    }

    fn extensions(&mut self, value: &Value, object: &Object) {
        for (name, value) in entries(value, "extensions") {
            if !self.extensions.contains(name) {
                self.extensions.insert(name.to_owned());
            }
            let known = EXTENSIONS
                .iter()
                .find(|(known, parent, _)| *known == name && *parent == object.name);
            if let Some((.., extension)) = known {
                for Field(name, _, kind) in extension.fields {
                    if let Some(value) = value.get(name) {
                        self.value(value, kind);
                    }
                }
            }
        }
    }
}

/// Lengths of the arrays that indices refer to.
struct Lengths(Vec<(&'static str, usize)>);

impl Lengths {
    fn of(root: &Value) -> Self {
        let len = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
        let mut lengths: Vec<(&'static str, usize)> =
            ROOT.fields.iter().map(|field| (field.0, len(root.get(field.0)))).collect();
        lengths.push(("lights", len(root.pointer("/extensions/KHR_lights_punctual/lights"))));
        lengths.push(("IES profiles", len(root.pointer("/extensions/EXT_lights_ies/lights"))));
        lengths
            .push(("variants", len(root.pointer("/extensions/KHR_materials_variants/variants"))));
        Self(lengths)
    }

    fn get(&self, name: &str) -> usize {
        self.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, len)| *len)
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A non-negative integer, also one written as 2.0 or 2e0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn integer(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let x = value.as_f64()?;
        ((0.0..=9e15).contains(&x) && x.fract() == 0.0).then_some(x as u64)
    })
}

struct Walk<'a> {
    lengths: Lengths,
    used: HashSet<String>,
    report: &'a mut ImportReport,
}

impl Walk<'_> {
    /// Returns the first error that breaks the object, if any.
    fn object(
        &mut self,
        map: &mut Map<String, Value>,
        object: &Object,
        at: &At<'_>,
    ) -> Result<(), String> {
        let size = |size| map.get(size).and_then(integer) == Some(0);
        let empty = object.size().is_some_and(size) || object.may_be_absent() && map.is_empty();
        let mut broken = Ok(());
        let mut fail = |problem: String| {
            if broken.is_ok() {
                broken = Err(problem);
            }
        };
        for Field(name, need, kind) in object.fields {
            let place = at.key(name);
            if map.get(*name).is_some_and(Value::is_null) {
                self.report.repair(place, "null, which counts as absent");
                map.shift_remove(*name);
            }
            let Some(value) = map.get_mut(*name) else {
                match need {
                    Optional | Vital => {}
                    Expected => self
                        .report
                        .repair(at, format!("'{name}' is missing; the object is ignored")),
                    Stated => self.report.repair(at, format!("'{name}' is missing; read anyway")),
                    Required if empty => {
                        self.report.repair(at, format!("'{name}' is missing; ignored"))
                    }
                    Required => fail(format!("'{name}' is missing")),
                }
                continue;
            };
            let Err(problem) = self.value(value, kind, &place) else { continue };
            // An empty list means none.
            let none = matches!(value, Value::Array(list) if list.is_empty());
            if empty || none || !matches!(need, Vital | Required) {
                self.report.repair(place, format!("{problem}; ignored"));
            } else {
                fail(format!("{name}: {problem}"));
            }
            map.shift_remove(*name);
        }
        self.extensions(map, object, at);
        broken
    }

    fn extensions(&mut self, map: &mut Map<String, Value>, object: &Object, at: &At<'_>) {
        let Some(value) = map.get_mut("extensions") else { return };
        let place = at.key("extensions");
        let Some(extensions) = value.as_object_mut() else {
            self.report
                .repair(place, format!("expected an object, found {}; ignored", type_of(value)));
            map.shift_remove("extensions");
            return;
        };
        extensions.retain(|name, value| {
            let place = place.key(name);
            let known = EXTENSIONS.iter().any(|(known, ..)| known == name);
            if !self.used.contains(name) {
                self.report
                    .repair(place, "the extension is not listed in extensionsUsed; read anyway");
            }
            let Some(properties) = value.as_object_mut() else {
                self.report.repair(
                    place,
                    format!("expected an object, found {}; ignored", type_of(value)),
                );
                return false;
            };
            match EXTENSIONS
                .iter()
                .find(|(known, parent, _)| known == name && *parent == object.name)
            {
                Some((.., extension)) => {
                    if let Err(problem) = self.object(properties, extension, &place) {
                        self.report.repair(place, format!("{problem}; ignored"));
                        return false;
                    }
                }
                None if known => {
                    self.report.repair(
                        place,
                        "the extension is not allowed on this kind of object; ignored",
                    );
                    return false;
                }
                None => {}
            }
            true
        });
    }

    fn value(&mut self, value: &mut Value, kind: &Kind, at: &At<'_>) -> Result<(), String> {
        let wrong =
            |value: &Value, what: &str| Err(format!("expected {what}, found {}", type_of(value)));
        match kind {
            Text if value.is_string() => Ok(()),
            Text => wrong(value, "text"),
            Bool if value.is_boolean() => Ok(()),
            Bool => wrong(value, "a boolean"),
            Version => match value.as_str() {
                Some(text) if version(text).is_some() => Ok(()),
                Some(text) => Err(format!("'{}' is not a version such as 2.0", one_line(text))),
                // A number has lost its zeros: 2.0 may read 2.
                None if value.as_f64().is_some_and(|x| (0.0..=1e6).contains(&x)) => {
                    let number = value.as_f64().map(|x| format!("{x:?}")).unwrap_or_default();
                    self.report.repair(
                        at,
                        format!("expected text, found the number {number}; read anyway"),
                    );
                    *value = Value::String(number);
                    Ok(())
                }
                None => wrong(value, "text"),
            },
            Pointer => match value.as_str() {
                Some(text) if pointer(text) => Ok(()),
                Some(text) => Err(format!("'{text}' is not a JSON pointer")),
                None => wrong(value, "text"),
            },
            Count | Stride => match integer(value).filter(|x| *x <= MAX_INTEGER) {
                Some(x) => {
                    let note = match (kind, x) {
                        (Count, 0) => Some("0 is less than 1; it is empty"),
                        (Stride, 0) => {
                            Some("0 is not within 4 to 252; the elements follow each other")
                        }
                        (Stride, ..4 | 253..) => Some("it is not within 4 to 252; read anyway"),
                        _ => None,
                    };
                    if let Some(note) = note {
                        self.report.repair(at, note);
                    }
                    *value = x.into();
                    Ok(())
                }
                None if value.is_number() => {
                    Err(format!("{value} is not an integer of at least 1"))
                }
                None => wrong(value, "an integer"),
            },
            Int { min, max } => match integer(value) {
                Some(x) if (*min..=*max).contains(&x) => {
                    *value = x.into();
                    Ok(())
                }
                Some(x) => Err(format!("{x} is not within {min} to {max}")),
                None if value.is_number() => {
                    Err(format!("{value} is not an integer of at least {min}"))
                }
                None => wrong(value, "an integer"),
            },
            IntOf(known) => match integer(value) {
                Some(x) => {
                    *value = x.into();
                    if !known.contains(&x) {
                        self.report.unsupported(at, format!("{x} is not a known value"));
                    }
                    Ok(())
                }
                None => wrong(value, "a known integer"),
            },
            TextOf(known) => match value.as_str() {
                Some(text) => {
                    if !known.contains(&text) {
                        self.report
                            .unsupported(at, format!("'{}' is not a known value", one_line(text)));
                    }
                    Ok(())
                }
                None => wrong(value, "text"),
            },
            Num { min, max, above } => match value.as_f64() {
                Some(x) if x >= *min && x <= *max && !(*above && x <= *min) => Ok(()),
                Some(x) if *above && x <= *min => Err(format!("{x} is not above {min}")),
                Some(x) => {
                    let near = x.clamp(*min, *max);
                    let side = if x < *min { "less" } else { "more" };
                    self.report.repair(at, format!("{x:?} is {side} than {near:?}, which is used"));
                    *value = near.into();
                    Ok(())
                }
                None => wrong(value, "a number"),
            },
            Ref(collection) => match integer(value) {
                Some(x) if usize::try_from(x).is_ok_and(|x| x < self.lengths.get(collection)) => {
                    *value = x.into();
                    Ok(())
                }
                Some(x) => Err(format!("there is no element {x} in {collection}")),
                None => wrong(value, &format!("an index of {collection}")),
            },
            Obj(object) => match value.as_object_mut() {
                Some(map) => self.object(map, object, at),
                None => wrong(value, "an object"),
            },
            List { item, min, max, unique } => match value.as_array_mut() {
                Some(list) => self.list(list, (item, *min, *max, *unique), at),
                None => wrong(value, "an array"),
            },
            Attributes => match value.as_object_mut() {
                Some(map) => {
                    self.attributes(map, at);
                    Ok(())
                }
                None => wrong(value, "an object"),
            },
        }
    }

    fn list(
        &mut self,
        list: &mut Vec<Value>,
        (item, min, max, unique): (&Kind, usize, usize, bool),
        at: &At<'_>,
    ) -> Result<(), String> {
        if list.is_empty() && min > 0 {
            return Err("an empty array".into());
        }
        if !(min..=max).contains(&list.len()) {
            return Err(format!("an array of {} elements", list.len()));
        }
        let mut index = 0;
        let mut seen = HashSet::new();
        let mut failed = Ok(());
        list.retain_mut(|value| {
            let place = at.index(index);
            index += 1;
            match (self.value(value, item, &place), item) {
                (Ok(()), _) => {}
                // Indices into a list must stay valid, so a broken object leaves an empty one in
                // its place.
                (Err(problem), Obj(_) | Attributes) => {
                    self.report.broken(place, problem);
                    *value = Value::Object(Map::new());
                }
                (Err(problem), Ref(_) | Text) => {
                    self.report.repair(place, format!("{problem}; ignored"));
                    return false;
                }
                (Err(problem), _) => {
                    failed = Err(problem);
                    return true;
                }
            }
            if unique && !seen.insert(value.to_string()) {
                self.report.repair(place, "the same element again; ignored");
                return false;
            }
            true
        });
        failed
    }

    fn attributes(&mut self, map: &mut Map<String, Value>, at: &At<'_>) {
        if map.is_empty() {
            self.report.repair(at, "an empty object; ignored");
        }
        map.retain(|name, value| {
            let place = at.key(name);
            match self.value(value, &Ref("accessors"), &place) {
                Ok(()) => true,
                Err(problem) => {
                    self.report.broken(place, problem);
                    false
                }
            }
        });
    }
}

/// Major and minor number of a version such as 2.0.
pub(super) fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    let digits = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    Some((digits(major)?, digits(minor)?))
}

fn pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/'))
        && text.split('~').skip(1).all(|rest| rest.starts_with('0') || rest.starts_with('1'))
}

#[cfg(test)]
mod tests;
