//! Parser of lens prescriptions: JSON by `assets/lens.schema.json`.
//!
//! Lengths in files are millimeters, coatings nanometers. Files are untrusted: text and counts are
//! bounded, every number is validated, and each error names the element.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{
    coating::{Coating, MAGNESIUM_FLUORIDE},
    glass::{ABBE_LIMITS, Glass, INDEX_LIMITS, LINE_D},
    lens::{Axis, Lens},
    lens_settings::LensSettings,
    prescription::{
        Element, ElementKind, Focusing, LENGTH_LIMIT, MAX_ELEMENTS, MAX_ZOOMS, Prescription,
        PrescriptionError, ROUNDING, SurfaceShape, TOLERANCE, Zoom,
    },
    thin_lens::F_STOP_LIMITS,
};

/// Maximum length of the text, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// Format name, in `schema`.
const SCHEMA: &str = "lens-prescription/1";

/// Keys of the top level. The parser reads `KEYS` and ignores `UNREAD_KEYS`; it rejects all others
/// as mistakes.
const KEYS: &[&str] = &[
    "schema",
    "name",
    "source",
    "units",
    "focal_length_mm",
    "f_number",
    "elements",
    "zoom",
    "focus_group",
];
const UNREAD_KEYS: &[&str] = &["notes", "convention", "computed", "full_fov_deg", "$schema"];
const ELEMENT_KEYS: &[&str] = &[
    "radius_mm",
    "thickness_mm",
    "ior",
    "abbe",
    "semi_aperture_mm",
    "is_stop",
    "surface",
    "coating_nm",
    "coating_ior",
    "coating_offset_nm",
];
const UNREAD_ELEMENT_KEYS: &[&str] = &["glass", "thickness_note", "semi_aperture_note"];

/// Maximum excess over 1 of an index that counts as air: 1.00028 in standard air.
const AIR_ROUNDING: f64 = 1e-3;

type Parsed<T> = Result<T, PrescriptionError>;

impl Prescription {
    /// Parses a prescription.
    ///
    /// # Errors
    /// `PrescriptionError` if the text is not JSON of the schema, a value is missing, mistyped or
    /// out of range, or there is not exactly one stop. Also if the lens does not focus, or its
    /// focal length or back focus differs from the stated one.
    pub fn parse(text: &str) -> Parsed<Self> {
        if text.len() > MAX_BYTES {
            let value = format!("{} bytes long", text.len());
            return Err(PrescriptionError::Value {
                what: "the file",
                value,
                allowed: "a prescription of at most 1 MiB",
            });
        }
        let value = read(text)?;
        let Value::Object(whole) = value else {
            return Err(wrong("the file", &value, "an object with \"elements\""));
        };
        known(&whole, KEYS, UNREAD_KEYS, None)?;
        for (key, must) in [("schema", SCHEMA), ("units", "mm")] {
            match whole.get(key) {
                None if key == "units" => {}
                Some(Value::String(is)) if is == must => {}
                other => {
                    let allowed = if key == "units" { "\"mm\"" } else { "\"lens-prescription/1\"" };
                    return Err(wrong(key_name(key), other.unwrap_or(&Value::Null), allowed));
                }
            }
        }
        let Some(Value::Array(rows)) = whole.get("elements") else {
            return Err(wrong(
                "\"elements\"",
                whole.get("elements").unwrap_or(&Value::Null),
                "a list of surfaces",
            ));
        };
        if rows.is_empty() || rows.len() > MAX_ELEMENTS {
            return Err(PrescriptionError::Count(rows.len()));
        }
        let (elements, notes) = elements(rows)?;
        let stops: Vec<usize> =
            (0..elements.len()).filter(|&i| elements[i].kind == ElementKind::Stop).collect();
        if stops.len() != 1 {
            return Err(PrescriptionError::Stops(stops));
        }
        // Texts are displayed as they are: strip control characters that would move a terminal's
        // cursor.
        let text = |key: &str, what: &'static str| match whole.get(key) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => {
                Ok(text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(1000).collect())
            }
            Some(other) => Err(wrong(what, other, "a text in quotes")),
        };
        let prescription = Self {
            name: text("name", "\"name\"")?,
            source: text("source", "\"source\"")?,
            focal_length: optional(&whole, "focal_length_mm", "\"focal_length_mm\"", [1e-3, 1e5])?
                .map(|mm| mm * 1e-3),
            f_number: optional(&whole, "f_number", "\"f_number\"", [0.3, 1e4])?,
            zooms: zooms(&whole, elements.len())?,
            focusing: focus_group(&whole, elements.len())?,
            elements,
            notes,
        };
        prescription.focuses()?;
        Ok(prescription)
    }

    /// Checks that every zoom position focuses, with the stated focal length and back focus.
    fn focuses(&self) -> Parsed<()> {
        let positions: Vec<Option<f64>> = match self.zooms.as_slice() {
            [] => vec![None],
            zooms => zooms.iter().map(|zoom| Some(zoom.focal_length)).collect(),
        };
        let last = (0..self.elements.len()).rev();
        let powered = last.clone().find(|&i| match self.elements[i].kind {
            ElementKind::Refracting { shape, .. } => shape.curvature() != 0.0,
            ElementKind::Stop => false,
        });
        let no_focus = |how: String| {
            PrescriptionError::NoFocus(how, powered.unwrap_or(self.elements.len() - 1))
        };
        for position in positions {
            let lens = Lens::new(
                self,
                &LensSettings { focal_length: position, ..LensSettings::default() },
            )
            .map_err(|error| no_focus(error.to_string()))?;
            let found = [Axis::Y, Axis::X].map(|axis| lens.cardinal(axis, LINE_D));
            let usable = |f: f64, back: f64| {
                (1e-6..LENGTH_LIMIT).contains(&f) && (1e-7..LENGTH_LIMIT).contains(&back)
            };
            for cardinal in found {
                let (f, back) = (cardinal.focal_length, cardinal.back_focus);
                if !usable(f, back) {
                    let how = if f.is_finite() && f <= 0.0 {
                        "leaves it diverging".to_owned()
                    } else if !f.is_finite() {
                        "leaves it parallel".to_owned()
                    } else {
                        format!(
                            "meets {:.4} mm behind the last element at a focal length of {:.4} mm",
                            back * 1e3,
                            f * 1e3
                        )
                    };
                    return Err(no_focus(how));
                }
            }
            let pupils = [found[0].entrance, found[0].exit];
            if !pupils
                .iter()
                .all(|pupil| pupil.z.is_finite() && pupil.radius.is_finite() && pupil.radius > 0.0)
            {
                return Err(no_focus("has no finite pupil: the stop lies in a focal plane".into()));
            }
            let n = lens.f_number();
            if !(F_STOP_LIMITS[0]..=F_STOP_LIMITS[1]).contains(&n) {
                // The stop, or the rim that is narrowest for axial light.
                let radius = |i: &usize| {
                    self.elements[*i].semi_aperture / lens.matrix_to(*i, Axis::Y, LINE_D).a.abs()
                };
                let narrowest =
                    (0..self.elements.len()).min_by(|a, b| radius(a).total_cmp(&radius(b)));
                return Err(PrescriptionError::Element {
                    element: narrowest.unwrap_or(lens.stop()),
                    what: "semi_aperture_mm",
                    value: format!("so small or so large that the lens opens to f/{n:.4}"),
                    allowed: "a radius that gives an f-number from 0.5 to 1024",
                });
            }
            let off = |stated: f64, found: f64| (found / stated - 1.0).abs();
            let stated_back = self.gaps(position).last().copied().unwrap_or_default();
            if off(stated_back, found[0].back_focus) > TOLERANCE {
                return Err(PrescriptionError::Contradiction {
                    what: format!(
                        "the distance from the last element ({}) to the sensor",
                        self.elements.len() - 1
                    ),
                    stated: stated_back * 1e3,
                    found: found[0].back_focus * 1e3,
                });
            }
            // The stated focal length of an anamorphic lens may refer to either plane.
            let marked = position.or(self.focal_length);
            if let Some(marked) =
                marked.filter(|&f| found.iter().all(|c| off(f, c.focal_length) > TOLERANCE))
            {
                return Err(PrescriptionError::Contradiction {
                    what: "the focal length".to_owned(),
                    stated: marked * 1e3,
                    found: found[0].focal_length * 1e3,
                });
            }
        }
        Ok(())
    }
}

fn key_name(key: &str) -> &'static str {
    if key == "units" { "\"units\"" } else { "\"schema\"" }
}

/// Formats a value for a message, at most one line long.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "missing".into(),
        Value::Object(_) => "an object".into(),
        Value::Array(list) => format!("a list of {}", list.len()),
        other => {
            let text = other.to_string();
            if text.chars().count() > 40 {
                format!("{}...", text.chars().take(40).collect::<String>())
            } else {
                text
            }
        }
    }
}

fn wrong(what: &'static str, value: &Value, allowed: &'static str) -> PrescriptionError {
    PrescriptionError::Value { what, value: shown(value), allowed }
}

/// Rejects unknown keys, which would hide a typing error.
fn known(
    map: &Map<String, Value>,
    read: &[&str],
    unread: &[&str],
    element: Option<usize>,
) -> Parsed<()> {
    let Some(key) =
        map.keys().find(|key| !read.contains(&key.as_str()) && !unread.contains(&key.as_str()))
    else {
        return Ok(());
    };
    let place = element.map_or_else(String::new, |i| format!("element {i}: "));
    let key: String = key.chars().take(40).collect();
    Err(PrescriptionError::Text(format!(
        "{place}\"{key}\" is unknown; the keys are {}",
        read.join(", ")
    )))
}

/// A number within limits; `None` if missing or null.
fn optional(
    map: &Map<String, Value>,
    key: &str,
    what: &'static str,
    [least, most]: [f64; 2],
) -> Parsed<Option<f64>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64().filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(what, value, "a number within the limits of the schema")),
        },
    }
}

/// Accessor of an element's values.
struct Row<'a> {
    map: &'a Map<String, Value>,
    index: usize,
}

impl Row<'_> {
    fn wrong(&self, what: &'static str, value: &Value, allowed: &'static str) -> PrescriptionError {
        PrescriptionError::Element { element: self.index, what, value: shown(value), allowed }
    }

    fn value(&self, key: &str) -> &Value {
        self.map.get(key).unwrap_or(&Value::Null)
    }

    /// A number within limits; `None` if null or missing.
    fn optional(
        &self,
        key: &'static str,
        [least, most]: [f64; 2],
        allowed: &'static str,
    ) -> Parsed<Option<f64>> {
        match self.value(key) {
            Value::Null => Ok(None),
            value => match value.as_f64().filter(|number| (least..=most).contains(number)) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(key, value, allowed)),
            },
        }
    }

    fn number(&self, key: &'static str, limits: [f64; 2], allowed: &'static str) -> Parsed<f64> {
        self.optional(key, limits, allowed)?
            .ok_or_else(|| self.wrong(key, self.value(key), allowed))
    }

    fn is_stop(&self) -> Parsed<bool> {
        match self.value("is_stop") {
            Value::Null => Ok(false),
            Value::Bool(stop) => Ok(*stop),
            other => Err(self.wrong("is_stop", other, "true or false")),
        }
    }

    fn shape(&self) -> Parsed<SurfaceShape> {
        let limit = LENGTH_LIMIT * 1e3;
        let allowed = "a number of millimeters, 0 for a plane (-100000 to 100000)";
        let radius = self.number("radius_mm", [-limit, limit], allowed)? * 1e-3;
        let shape = match self.value("surface") {
            Value::Null => SurfaceShape::Sphere,
            Value::String(s) if s == "sphere" => SurfaceShape::Sphere,
            Value::String(s) if s == "cylinder_x" => SurfaceShape::CylinderX,
            Value::String(s) if s == "cylinder_y" => SurfaceShape::CylinderY,
            other => {
                return Err(self.wrong(
                    "surface",
                    other,
                    "\"sphere\", \"cylinder_x\" or \"cylinder_y\"",
                ));
            }
        };
        if radius == 0.0 {
            return Ok(SurfaceShape::Plane);
        }
        if radius.abs() < 1e-7 {
            return Err(self.wrong(
                "radius_mm",
                self.value("radius_mm"),
                "0 or at least 0.0001 millimeters",
            ));
        }
        Ok(shape(radius))
    }

    fn glass(&self, notes: &mut Vec<String>) -> Parsed<Glass> {
        let [least, most] = INDEX_LIMITS;
        let near = [least * (1.0 - ROUNDING), most];
        let ior =
            self.number("ior", near, "the refractive index behind the surface, 1 (air) to 4.1")?;
        if ior < least {
            notes.push(format!(
                "element {}: ior {ior} counts as {least}, which nothing is below",
                self.index
            ));
        }
        let ior = ior.max(least);
        let abbe = self.optional("abbe", ABBE_LIMITS, "null or an Abbe number from 5 to 200")?;
        Glass::new(ior, abbe)
            .ok_or_else(|| self.wrong("ior", self.value("ior"), "an index of glass"))
    }

    fn coating(&self) -> Parsed<Option<Coating>> {
        let allowed = "null or nanometers from 100 to 5000";
        let Some(nanometers) = self.optional("coating_nm", [100.0, 5000.0], allowed)? else {
            return Ok(None);
        };
        let index =
            self.optional("coating_ior", [1.0, 4.1], "the film's refractive index, 1 to 4.1")?;
        let offset =
            self.optional("coating_offset_nm", [-1000.0, 1000.0], "nanometers from -1000 to 1000")?;
        let coating = Coating {
            index: index.unwrap_or(MAGNESIUM_FLUORIDE),
            wavelength: nanometers * 1e-9,
            offset: offset.unwrap_or(0.0) * 1e-9,
        };
        if coating.wavelength / (4.0 * coating.index) + coating.offset < 0.0 {
            let allowed = "at least minus the film's own thickness, coating_nm / (4 coating_ior)";
            return Err(self.wrong("coating_offset_nm", self.value("coating_offset_nm"), allowed));
        }
        Ok(Some(coating))
    }

    /// Rejects values that would make a stop refract or reflect light; they would have no effect.
    fn is_bare_stop(&self) -> Parsed<()> {
        self.optional("radius_mm", [0.0, 0.0], "0 or left out; a stop bends no light")?;
        for key in ["surface", "abbe", "coating_nm", "coating_ior", "coating_offset_nm"] {
            if self.value(key) != &Value::Null {
                return Err(self.wrong(
                    key,
                    self.value(key),
                    "left out; a stop has neither glass nor film",
                ));
            }
        }
        Ok(())
    }
}

/// Parses text as JSON. Rejects duplicate keys, which hide typing errors: JSON parsers silently
/// keep the last. Skips a byte order mark, as RFC 8259, section 8.1, allows. `serde_json` bounds
/// nesting (128).
fn read(text: &str) -> Parsed<Value> {
    let mut reader =
        serde_json::Deserializer::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let value = Unrepeated.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| {
        let what = if error.is_data() { "it cannot be taken" } else { "it is no JSON" };
        PrescriptionError::Text(format!(
            "{what}: {error}; a prescription is described by lens.schema.json"
        ))
    })
}

/// A JSON value without duplicate keys.
#[derive(Clone, Copy)]
struct Unrepeated;

impl<'de> DeserializeSeed<'de> for Unrepeated {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unrepeated {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = pairs.next_key::<String>()? {
            if map.contains_key(&key) {
                let key: String = key.chars().take(40).collect();
                return Err(de::Error::custom(format_args!(
                    "{key:?} stands twice in an object; leave one"
                )));
            }
            map.insert(key, pairs.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

/// The elements, and notes on numbers that were adjusted.
fn elements(rows: &[Value]) -> Parsed<(Vec<Element>, Vec<String>)> {
    let mut notes = Vec::new();
    let mut medium = Glass::AIR;
    let mut found = Vec::with_capacity(rows.len());
    for (index, value) in rows.iter().enumerate() {
        let Value::Object(map) = value else {
            let value = shown(value);
            return Err(PrescriptionError::Element {
                element: index,
                what: "it",
                value,
                allowed: "an object",
            });
        };
        known(map, ELEMENT_KEYS, UNREAD_ELEMENT_KEYS, Some(index))?;
        let row = Row { map, index };
        let limit = LENGTH_LIMIT * 1e3;
        let gap = row.number(
            "thickness_mm",
            [0.0, limit],
            "a number of millimeters, 0 or more (to 100000)",
        )? * 1e-3;
        let allowed = "the clear radius, 0.0001 to 100000 millimeters";
        let mut semi_aperture = row.number("semi_aperture_mm", [1e-4, limit], allowed)? * 1e-3;
        let kind = if row.is_stop()? {
            // Some tables repeat the medium at the stop.
            if let Some(ior) =
                row.optional("ior", INDEX_LIMITS, "null or the index around the stop")?
                && (ior - medium.index(LINE_D)).abs() > 1e-9
            {
                let before = medium.index(LINE_D);
                if (ior / before - 1.0).abs() > ROUNDING {
                    let allowed = "that of the medium before it; a stop bends no light";
                    return Err(row.wrong("ior", row.value("ior"), allowed));
                }
                notes.push(format!(
                    "element {index}: the stop's ior {ior} counts as {before}, as before it"
                ));
            }
            row.is_bare_stop()?;
            ElementKind::Stop
        } else {
            let (shape, after, coating) = (row.shape()?, row.glass(&mut notes)?, row.coating()?);
            let over = shape.curvature().abs() * semi_aperture;
            if over > 1.0 + ROUNDING {
                let allowed = "at most the radius of curvature (2 % more is taken for rounding)";
                return Err(row.wrong("semi_aperture_mm", row.value("semi_aperture_mm"), allowed));
            }
            if over > 1.0 {
                // Slightly less than the half sphere, so that its rim has a height.
                let rim = (1.0 - 1e-9) / shape.curvature().abs();
                notes.push(format!(
                    "element {index}: semi_aperture_mm {} counts as {:.4}, the radius of curvature",
                    shown(row.value("semi_aperture_mm")),
                    rim * 1e3
                ));
                semi_aperture = rim;
            }
            medium = after;
            ElementKind::Refracting { shape, after, coating }
        };
        found.push(Element { kind, gap, semi_aperture });
    }
    // The last medium is air, even if its index is written with more digits.
    if let Some(Element { kind: ElementKind::Refracting { after, .. }, .. }) =
        found.iter_mut().rev().find(|element| element.kind != ElementKind::Stop)
        && !after.is_air()
        && after.index(LINE_D) - 1.0 < AIR_ROUNDING
    {
        notes.push(format!(
            "the last ior {} counts as 1: the sensor stands in air",
            after.index(LINE_D)
        ));
        (*after, medium) = (Glass::AIR, Glass::AIR);
    }
    if !medium.is_air() {
        let element = found.iter().rposition(|e| e.kind != ElementKind::Stop).unwrap_or(0);
        let value = format!("{}", medium.index(LINE_D));
        let allowed = "1: the sensor stands in air";
        return Err(PrescriptionError::Element { element, what: "ior", value, allowed });
    }
    Ok((found, notes))
}

/// An element number below the number of elements.
fn element_number(value: Option<&Value>, count: usize) -> Option<usize> {
    value.and_then(Value::as_u64).and_then(|i| usize::try_from(i).ok()).filter(|i| *i < count)
}

fn zooms(whole: &Map<String, Value>, count: usize) -> Parsed<Vec<Zoom>> {
    const POSITION: &str =
        "an object with \"focal_length_mm\" and \"thickness_mm\", the gaps by element number";
    let list = match whole.get("zoom") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if !list.is_empty() && list.len() <= MAX_ZOOMS => list,
        Some(other) => return Err(wrong("\"zoom\"", other, "a list of 1 to 64 positions")),
    };
    let mut zooms: Vec<Zoom> = Vec::with_capacity(list.len());
    for value in list {
        let Value::Object(map) = value else {
            return Err(wrong("a position of \"zoom\"", value, POSITION));
        };
        known(map, &["focal_length_mm", "thickness_mm"], &["notes"], None)?;
        let focal_length = optional(map, "focal_length_mm", "a zoom's focal length", [1e-3, 1e5])?
            .ok_or_else(|| wrong("a zoom's focal length", &Value::Null, "given in millimeters"))?;
        let Some(Value::Object(changed)) = map.get("thickness_mm") else {
            return Err(wrong("a position of \"zoom\"", value, POSITION));
        };
        let mut gaps = Vec::with_capacity(changed.len().min(count));
        for (key, gap) in changed {
            let element = key.parse::<usize>().ok().filter(|i| *i < count);
            let element = element.ok_or_else(|| {
                wrong(
                    "an element of \"zoom\"",
                    &Value::String(key.clone()),
                    "the number of an element",
                )
            })?;
            let row = Row { map: changed, index: element };
            let gap =
                gap.as_f64().filter(|mm| (0.0..=LENGTH_LIMIT * 1e3).contains(mm)).ok_or_else(
                    || row.wrong("the zoomed thickness", gap, "a number of millimeters, 0 or more"),
                )?;
            gaps.push((element, gap * 1e-3));
        }
        zooms.push(Zoom { focal_length: focal_length * 1e-3, gaps });
    }
    if zooms.windows(2).any(|pair| pair[0].focal_length >= pair[1].focal_length) {
        return Err(wrong(
            "\"zoom\"",
            &Value::String("not in order".into()),
            "sorted by growing focal length",
        ));
    }
    Ok(zooms)
}

fn focus_group(whole: &Map<String, Value>, count: usize) -> Parsed<Focusing> {
    let group = match whole.get("focus_group") {
        None | Some(Value::Null) => return Ok(Focusing::Unit),
        Some(group) => group,
    };
    let ends = group.as_array().filter(|ends| ends.len() == 2);
    let ends = ends.and_then(|ends| {
        Some([element_number(ends.first(), count)?, element_number(ends.get(1), count)?])
    });
    match ends {
        Some([first, last]) if first <= last => Ok(Focusing::Group(first, last)),
        _ => Err(wrong(
            "\"focus_group\"",
            group,
            "the first and the last element that move, as [3, 7]",
        )),
    }
}
