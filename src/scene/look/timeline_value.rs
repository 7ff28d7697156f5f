//! Values of a timeline as text: their numbers, and interpolation between them.

use crate::settings::{Accepts, Property, units::in_unit};

/// Space in which numbers of a property are interpolated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimelineSpace {
    /// `a + (b - a) u`.
    #[default]
    Linear,
    /// `a (b / a)^u`: equal ratios in equal times, as f-stops, shutter times and focal lengths are
    /// marked.
    Stops,
    /// `1 / ((1 - u) / a + u / b)`: diopters of a focus distance, mireds of a color temperature.
    Reciprocal,
}

impl TimelineSpace {
    /// All spaces with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("linear", Self::Linear), ("stops", Self::Stops), ("reciprocal", Self::Reciprocal)];

    /// The space of a property, unless its track states another.
    #[must_use]
    pub fn of(path: &str) -> Self {
        match path.rsplit('.').next().unwrap_or(path) {
            "f_stop" | "t_stop" | "iso" | "shutter" | "focal_length" | "max_aperture" => {
                Self::Stops
            }
            "focus" | "min_focus_distance" | "kelvin" | "white_balance" | "white" => {
                Self::Reciprocal
            }
            _ => Self::Linear,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Stops => "stops",
            Self::Reciprocal => "reciprocal",
        }
    }

    /// True for numbers with which the interpolation is defined.
    pub(super) fn takes(self, number: f64) -> bool {
        match self {
            Self::Linear => number.is_finite(),
            Self::Stops => number.is_finite() && number > 0.0,
            Self::Reciprocal => number > 0.0,
        }
    }

    /// The numbers that `takes` accepts, in words.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Linear => "finite numbers",
            Self::Stops => "finite numbers above 0",
            Self::Reciprocal => "numbers above 0",
        }
    }

    /// Interpolates from `a` to `b` at progress `u`, which may be outside of 0 to 1.
    fn mix(self, a: f64, b: f64, u: f64) -> f64 {
        match self {
            Self::Linear => a + (b - a) * u,
            Self::Stops => a * (b / a).powf(u),
            // Progress beyond the ends would turn the sign.
            Self::Reciprocal => (1.0 / a + (1.0 / b - 1.0 / a) * u).max(0.0).recip(),
        }
    }
}

/// The numbers of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Numbers {
    /// The numbers.
    pub values: Vec<f64>,
    /// Text after each number: `%` or nothing.
    suffix: &'static str,
    /// Text between two numbers.
    separator: &'static str,
}

impl Numbers {
    /// The numbers of a value of a property; `None` if the property or the value is no number.
    pub fn parse(property: &Property, text: &str) -> Option<Self> {
        if !blends(&property.accepts) {
            return None;
        }
        let text = &*in_unit(text, property.unit);
        let separator = if text.contains(',') { "," } else { " " };
        let parts = text.split([' ', ',']).filter(|part| !part.is_empty());
        // A photographer's f/2.8, T3.1 and ISO 100, in all spellings that the property reads.
        let parts: Vec<&str> = match parts.clone().next() {
            Some("ISO" | "iso") => parts.skip(1).collect(),
            _ => parts.collect(),
        };
        let is_percent = !parts.is_empty() && parts.iter().all(|part| part.ends_with('%'));
        if !is_percent && parts.iter().any(|part| part.ends_with('%')) {
            return None;
        }
        let number = |part: &&str| {
            let part = part.trim_end_matches('%');
            let part = part.strip_prefix("ISO").or(part.strip_prefix("iso")).unwrap_or(part);
            let part = match part.strip_prefix(['f', 'F', 'T']) {
                Some(stop) => stop.strip_prefix('/').unwrap_or(stop),
                None => part,
            };
            let part = part.strip_suffix(property.unit).unwrap_or(part);
            match part.split_once('/') {
                Some((above, below)) => {
                    Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?)
                }
                None => part.parse().ok(),
            }
        };
        let values: Vec<f64> = parts.iter().map(number).collect::<Option<_>>()?;
        let is_number = !values.is_empty() && values.iter().all(|value| !value.is_nan());
        is_number.then_some(Self { values, suffix: if is_percent { "%" } else { "" }, separator })
    }

    /// True if values blend from these numbers to others: both have equally many.
    pub fn fits(&self, to: &Self) -> bool {
        self.values.len() == to.values.len() && self.suffix == to.suffix
    }

    /// Text of the value at progress `u` to other numbers, within the range of the property.
    pub fn mix(&self, to: &Self, u: f64, space: TimelineSpace, property: &Property) -> String {
        let range = property.accepts.range();
        let mixed = self.values.iter().zip(&to.values).map(|(&a, &b)| {
            let mut value = space.mix(a, b, u);
            // Easings with an overshoot: what neither end is, infinity included, is out of range.
            if value.is_infinite() && a.is_finite() && b.is_finite() {
                value = if space == TimelineSpace::Reciprocal { a.max(b) } else { b };
            }
            if let Some([min, max]) = range
                && value.is_finite()
            {
                value = value.clamp(min, max);
            }
            if self.suffix == "%" {
                value = value.clamp(0.0, 100.0);
            }
            if is_whole(property) {
                value = value.round();
            }
            match value.is_finite() {
                true => format!("{value}{}", self.suffix),
                false => "infinity".to_owned(),
            }
        });
        mixed.collect::<Vec<_>>().join(self.separator)
    }
}

/// True if numbers of a property blend: it is not a name, a file or a choice.
fn blends(accepts: &Accepts) -> bool {
    match accepts {
        Accepts::Number
        | Accepts::Range { .. }
        | Accepts::Above { .. }
        | Accepts::Angle { .. }
        | Accepts::NonNegative
        | Accepts::Components { .. }
        | Accepts::List(_)
        // Positions in a picture.
        | Accepts::Pattern(_) => true,
        Accepts::OneOf(forms) => forms.iter().any(blends),
        // Described values are names, which may be numbers.
        Accepts::Bool
        | Accepts::Choice(_)
        | Accepts::File
        | Accepts::Name
        | Accepts::Checked(_)
        | Accepts::Described => false,
    }
}

/// True for properties of whole numbers.
fn is_whole(property: &Property) -> bool {
    match property.accepts {
        Accepts::Range { integer, .. } => integer,
        Accepts::OneOf([Accepts::Range { integer, .. }, ..]) => *integer,
        // A grid of cells.
        _ => property.path == "volumes.*.dimensions",
    }
}
