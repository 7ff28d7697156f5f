//! Values of properties: numbers, vectors, lengths, times and file names from text.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::LookError;
use crate::{
    photometry::lights::STRENGTH_LIMIT,
    settings::{Accepts, Input, Section, Setting},
};

/// One value with its path, for checks whose messages name both.
pub(super) struct Reader<'a> {
    /// Path as written.
    pub path: &'a str,
    /// Value as written, without quotes.
    pub value: &'a str,
    /// Folder that file names are relative to.
    pub folder: &'a Path,
    /// Expected values: the property's description.
    pub expected: &'a str,
}

impl Reader<'_> {
    pub fn bad_value(&self) -> LookError {
        LookError::BadValue {
            path: self.path.into(),
            value: self.value.into(),
            expected: format!("expected {}", self.expected),
        }
    }

    /// Sets the property in a section; false if the section has none of this path.
    pub fn set(&self, section: &mut impl Section) -> Result<bool, LookError> {
        self.set_at(self.path, section)
    }

    /// Sets the property of a path, where an address is `*`.
    pub fn set_at(&self, path: &str, section: &mut impl Section) -> Result<bool, LookError> {
        let input = Input { text: self.value, folder: self.folder };
        section.set(path, &input).map_err(|_| self.bad_value())
    }

    /// Address and property of a path in a section of addresses.
    pub fn addressed(&self, section: &str) -> Option<(&str, &str)> {
        let rest = self.path.strip_prefix(section)?.strip_prefix('.')?;
        rest.rsplit_once('.').filter(|(address, _)| !address.is_empty())
    }

    /// Sets the property of an address; false if the section has none of this path.
    pub fn set_addressed<S: Section + Clone + Default>(
        &self,
        section: &str,
        all: &mut BTreeMap<String, S>,
    ) -> Result<bool, LookError> {
        let Some((address, property)) = self.addressed(section) else { return Ok(false) };
        let mut item = all.get(address).cloned().unwrap_or_default();
        let set = self.set_at(&format!("{section}.*.{property}"), &mut item)?;
        if set {
            all.insert(address.into(), item);
        }
        Ok(set)
    }

    pub fn number(&self) -> Result<f64, LookError> {
        self.value.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| self.bad_value())
    }

    pub fn positive(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|&v| v > 0.0).ok_or_else(|| self.bad_value())
    }

    pub fn non_negative(&self) -> Result<f64, LookError> {
        self.number()
            .ok()
            .filter(|v| (0.0..=STRENGTH_LIMIT).contains(v))
            .ok_or_else(|| self.bad_value())
    }

    pub fn fraction(&self) -> Result<f64, LookError> {
        self.number().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or_else(|| self.bad_value())
    }

    pub fn seconds(&self) -> Result<f64, LookError> {
        let Some((above, below)) = self.value.split_once('/') else { return self.positive() };
        let part =
            |value: &str| value.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
        match (part(above), part(below)) {
            (Some(above), Some(below)) => Ok(above / below),
            _ => Err(self.bad_value()),
        }
    }

    /// A number from `least` to `most`, inclusive.
    pub fn in_range(&self, least: f64, most: f64) -> Result<f64, LookError> {
        self.number().ok().filter(|v| (least..=most).contains(v)).ok_or_else(|| self.bad_value())
    }

    /// A file name, relative to the look file; `builtin:NAME` stays as it is.
    pub fn file(&self) -> Result<PathBuf, LookError> {
        let input = Input { text: self.value, folder: self.folder };
        PathBuf::parse(&input, &Accepts::File).ok_or_else(|| self.bad_value())
    }

    /// Millimeters in range, with or without the unit, as meters.
    pub fn millimeters(&self, least: f64, most: f64) -> Result<f64, LookError> {
        let value = self.value.strip_suffix("mm").unwrap_or(self.value).trim();
        Ok(Reader { value, ..*self }.in_range(least, most).map_err(|_| self.bad_value())? * 1e-3)
    }

    /// Meters above 0, with or without the unit, or infinity.
    pub fn distance(&self) -> Result<f64, LookError> {
        if matches!(self.value, "infinity" | "inf") {
            return Ok(f64::INFINITY);
        }
        let value = self.value.strip_suffix('m').unwrap_or(self.value).trim();
        Reader { value, ..*self }.positive().map_err(|_| self.bad_value())
    }

    /// Three numbers, separated by spaces or commas.
    pub fn vector(&self) -> Result<glam::DVec3, LookError> {
        let parts = self.value.split([' ', ',']).filter(|part| !part.is_empty());
        let numbers: Option<Vec<f64>> =
            parts.map(|part| part.parse().ok().filter(|v: &f64| v.is_finite())).collect();
        match numbers.as_deref() {
            Some(&[x, y, z]) => Ok(glam::DVec3::new(x, y, z)),
            _ => Err(self.bad_value()),
        }
    }

    /// World position (m), within the range of single precision.
    pub fn place(&self) -> Result<glam::DVec3, LookError> {
        self.vector()
            .ok()
            .filter(|place| place.abs().max_element() <= 1e9)
            .ok_or_else(|| self.bad_value())
    }

    pub fn boolean(&self) -> Result<bool, LookError> {
        self.value.parse().map_err(|_| self.bad_value())
    }
}
