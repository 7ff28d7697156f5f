//! Types of properties, and their values as text.

use std::path::Path;

use super::property::Accepts;

/// Text of a value.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The text, without quotes.
    pub text: &'a str,
    /// Folder that file names are relative to.
    pub folder: &'a Path,
}

/// A value that its property does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value")]
pub struct InvalidValue;

/// A type of property.
pub trait Setting: Sized {
    /// Type of an override: the value itself, or what an `Option` holds.
    type Override: Clone + PartialEq;

    /// Values of the type, unless the property has a range.
    const ACCEPTS: Accepts = Accepts::Described;

    /// True if ranges of the type consist of whole numbers.
    const INTEGER: bool = false;

    /// Parses a value; `None` if it is not accepted.
    fn parse(input: &Input<'_>, accepts: &Accepts) -> Option<Self::Override>;

    /// The value of an override, else the default.
    fn resolve(value: Option<Self::Override>, default: Self) -> Self;

    /// The value as text that `parse` reads; `None` for an absent one.
    fn print(&self) -> Option<String>;
}

impl Setting for bool {
    type Override = Self;
    const ACCEPTS: Accepts = Accepts::Bool;

    fn parse(input: &Input<'_>, _: &Accepts) -> Option<Self> {
        input.text.parse().ok()
    }

    fn resolve(value: Option<Self>, default: Self) -> Self {
        value.unwrap_or(default)
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Setting for u32 {
    type Override = Self;
    const INTEGER: bool = true;

    fn parse(input: &Input<'_>, accepts: &Accepts) -> Option<Self> {
        input.text.parse().ok().filter(|&number| accepts.includes(f64::from(number)))
    }

    fn resolve(value: Option<Self>, default: Self) -> Self {
        value.unwrap_or(default)
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Setting for f64 {
    type Override = Self;

    fn parse(input: &Input<'_>, accepts: &Accepts) -> Option<Self> {
        let number = input.text.parse().ok().filter(|number: &Self| number.is_finite())?;
        accepts.includes(number).then_some(number)
    }

    fn resolve(value: Option<Self>, default: Self) -> Self {
        value.unwrap_or(default)
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Setting for f32 {
    type Override = Self;

    fn parse(input: &Input<'_>, accepts: &Accepts) -> Option<Self> {
        f64::parse(input, accepts).map(|number| number as Self)
    }

    fn resolve(value: Option<Self>, default: Self) -> Self {
        value.unwrap_or(default)
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl<T: Setting<Override = T> + Clone + PartialEq> Setting for Option<T> {
    type Override = T;
    const ACCEPTS: Accepts = T::ACCEPTS;
    const INTEGER: bool = T::INTEGER;

    fn parse(input: &Input<'_>, accepts: &Accepts) -> Option<T> {
        T::parse(input, accepts)
    }

    fn resolve(value: Option<T>, default: Self) -> Self {
        value.or(default)
    }

    fn print(&self) -> Option<String> {
        self.as_ref().and_then(T::print)
    }
}
