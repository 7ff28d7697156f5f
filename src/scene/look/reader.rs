//! Values of properties as text, with their path for messages.

use std::{collections::BTreeMap, path::Path};

use super::{LookError, suggestions::close_name};
use crate::settings::{
    Input, Section,
    units::{number_in, unit_of, units},
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
    /// Names that the property accepts; empty if it is not chosen by name.
    pub choices: &'static [&'static str],
    /// Maximum of a number.
    pub max: f64,
    /// Unit of a number; empty without one.
    pub unit: &'static str,
}

impl Reader<'_> {
    pub fn bad_value(&self) -> LookError {
        let close = close_name(self.value, self.choices);
        let number = self.value.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
        let unit = unit_of(self.value).filter(|_| !self.unit.is_empty());
        let foreign = unit.filter(|_| number_in(self.value, self.unit).is_none());
        let hint = match close {
            Some(name) => format!("; did you mean {name}?"),
            None if let Some(unit) = foreign => {
                format!("; unknown unit '{unit}', expected {}", units(self.unit).join(", "))
            }
            // Descriptions leave out maxima that no scene meets.
            None if number.is_some_and(|number| number > self.max) && self.max > 1e9 => {
                format!("; at most {:e}", self.max)
            }
            None => String::new(),
        };
        LookError::BadValue {
            path: self.path.into(),
            value: self.value.into(),
            expected: format!("expected {}{hint}", self.expected),
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
}
