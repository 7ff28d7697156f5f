//! Types of properties, and their values as text.

use std::path::{Path, PathBuf};

use glam::{DVec2, DVec3};

use super::property::Accepts;

/// Prefix of names that stand for built-in files.
pub const BUILTIN: &str = "builtin:";

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
    fn resolve(value: Option<&Self::Override>, default: Self) -> Self;

    /// The value as text that `parse` reads; `None` for an absent one.
    fn print(&self) -> Option<String>;
}

/// Types whose overrides are values.
macro_rules! setting {
    (
        $ty:ty, $accepts:expr, $integer:literal,
        |$input:ident, $rule:ident| $parse:expr, $print:expr
    ) => {
        impl Setting for $ty {
            type Override = Self;
            const ACCEPTS: Accepts = $accepts;
            const INTEGER: bool = $integer;

            fn parse($input: &Input<'_>, $rule: &Accepts) -> Option<Self> {
                $parse
            }

            fn resolve(value: Option<&Self>, default: Self) -> Self {
                value.cloned().unwrap_or(default)
            }

            fn print(&self) -> Option<String> {
                let print: fn(&Self) -> String = $print;
                Some(print(self))
            }
        }
    };
}

setting!(bool, Accepts::Bool, false, |input, _rule| input.text.parse().ok(), Self::to_string);
setting!(
    u32,
    Accepts::Described,
    true,
    |input, rule| input.text.parse().ok().filter(|&number| rule.includes(f64::from(number))),
    Self::to_string
);
setting!(f64, Accepts::Described, false, |input, rule| number(input.text, rule), Self::to_string);
setting!(
    f32,
    Accepts::Described,
    false,
    |input, rule| number(input.text, rule).map(|number| number as Self),
    Self::to_string
);
setting!(
    String,
    Accepts::Described,
    false,
    |input, rule| {
        let fits = match rule {
            Accepts::Name => !input.text.is_empty(),
            Accepts::Checked(check) => check(input.text),
            _ => true,
        };
        fits.then(|| input.text.to_owned())
    },
    Self::clone
);
setting!(
    PathBuf,
    Accepts::File,
    false,
    |input, _rule| match input.text {
        "" => None,
        own if own.starts_with(BUILTIN) => Some(own.into()),
        file => Some(input.folder.join(file)),
    },
    |path| path.display().to_string()
);
setting!(
    DVec2,
    Accepts::Described,
    false,
    |input, rule| components(input.text, rule).map(Self::from_array),
    |v| format!("{} {}", v.x, v.y)
);
setting!(
    DVec3,
    Accepts::Described,
    false,
    |input, rule| components(input.text, rule).map(Self::from_array),
    |v| format!("{} {} {}", v.x, v.y, v.z)
);
setting!([f64; 2], Accepts::Described, false, |input, rule| components(input.text, rule), |pair| {
    pair.map(|value| value.to_string()).join(",")
});
setting!(
    [u32; 3],
    Accepts::Described,
    true,
    |input, rule| {
        let numbers = components::<3>(input.text, rule)?;
        let whole = numbers.iter().all(|number| number.fract() == 0.0);
        whole.then(|| numbers.map(|number| number as u32))
    },
    |[x, y, z]| format!("{x} {y} {z}")
);

/// A finite number that is accepted; an angle in radians.
pub(crate) fn number(text: &str, accepts: &Accepts) -> Option<f64> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let value = if let Accepts::Angle { .. } = accepts { number.to_radians() } else { number };
    accepts.includes(number).then_some(value)
}

/// Finite numbers that are accepted.
fn components<const N: usize>(text: &str, accepts: &Accepts) -> Option<[f64; N]> {
    if let Accepts::Components { one: true, .. } = accepts
        && let Some(number) = number(text, accepts)
    {
        return Some([number; N]);
    }
    let parts = text.split([' ', ',']).filter(|part| !part.is_empty());
    let numbers: Vec<f64> = parts.map(|part| number(part, accepts)).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

impl<T: Setting<Override = T> + Clone + PartialEq> Setting for Option<T> {
    type Override = T;
    const ACCEPTS: Accepts = T::ACCEPTS;
    const INTEGER: bool = T::INTEGER;

    fn parse(input: &Input<'_>, accepts: &Accepts) -> Option<T> {
        T::parse(input, accepts)
    }

    fn resolve(value: Option<&T>, default: Self) -> Self {
        value.cloned().or(default)
    }

    fn print(&self) -> Option<String> {
        self.as_ref().and_then(T::print)
    }
}
