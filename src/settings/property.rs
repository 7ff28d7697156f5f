//! Descriptions of properties.

use crate::photometry::lights::STRENGTH_LIMIT;

/// Kinds of values in a look file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Bool,
    /// A number, without quotes.
    Number,
    /// Text in quotes.
    Text,
    /// A list.
    List,
}

impl ValueKind {
    /// Kinds that a description states.
    const ALL: [Self; 4] = [Self::Number, Self::Text, Self::Bool, Self::List];

    /// The kind for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "true or false, without quotes",
            Self::Number => "a number without quotes",
            Self::Text => "text in quotes",
            Self::List => "a list",
        }
    }
}

/// Values that a property accepts.
#[derive(Clone, Copy, Debug)]
pub enum Accepts {
    /// `true` or `false`.
    Bool,
    /// A number in a range, inclusive.
    Range {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
        /// Whole numbers only.
        integer: bool,
    },
    /// A finite number.
    Number,
    /// A number above a minimum, up to a maximum, inclusive.
    Above {
        /// Minimum, exclusive.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// An angle in degrees in a range, inclusive. Its value is in radians.
    Angle {
        /// Minimum (degrees).
        min: f64,
        /// Maximum (degrees).
        max: f64,
    },
    /// A number of 0 or more: a strength of light.
    NonNegative,
    /// Numbers, separated by spaces or commas, each in a range, inclusive.
    Components {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
        /// One number stands for all.
        one: bool,
    },
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A file, relative to the look file.
    File,
    /// A name, not empty.
    Name,
    /// Text that passes a check.
    Checked(fn(&str) -> bool),
    /// Text that matches a regular expression (ECMA-262).
    Pattern(&'static str),
    /// A list of so many values, as text separated by commas.
    List(u32),
    /// One of these forms; the first states the range of numbers.
    OneOf(&'static [Self]),
    /// Values that the description states.
    Described,
}

impl Accepts {
    /// A number above 0.
    pub const POSITIVE: Self = Self::Above { min: 0.0, max: f64::MAX };

    /// True if a number is in the range; also for kinds without one.
    #[must_use]
    pub fn includes(&self, number: f64) -> bool {
        match self {
            Self::Range { min, max, .. }
            | Self::Angle { min, max }
            | Self::Components { min, max, .. } => (*min..=*max).contains(&number),
            Self::Above { min, max } => *min < number && number <= *max,
            Self::OneOf(forms) => forms.first().is_some_and(|form| form.includes(number)),
            Self::NonNegative => (0.0..=STRENGTH_LIMIT).contains(&number),
            _ => true,
        }
    }

    /// The kinds of values that a look file may hold, each once. `--set` takes all values as text.
    #[must_use]
    pub fn kinds(&self) -> Vec<ValueKind> {
        use ValueKind::{Bool, List, Number, Text};
        match self {
            Self::Bool => vec![Bool],
            Self::Number
            | Self::Range { .. }
            | Self::Above { .. }
            | Self::Angle { .. }
            | Self::NonNegative => vec![Number],
            Self::Components { one: true, .. } => vec![Text, List, Number],
            Self::Components { .. } => vec![Text, List],
            // A name may be a number, such as that of an item.
            Self::Name => vec![Text, Number],
            Self::Choice(_) | Self::File | Self::Checked(_) | Self::Pattern(_) => vec![Text],
            Self::List(_) => vec![List],
            Self::OneOf(forms) => {
                let mut kinds = Vec::new();
                for kind in forms.iter().flat_map(Self::kinds) {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                kinds
            }
            Self::Described => ValueKind::ALL.to_vec(),
        }
    }

    /// The names to choose from; empty for other kinds.
    #[must_use]
    pub const fn choices(&self) -> &'static [&'static str] {
        match self {
            Self::Choice(names) | Self::OneOf([Self::Choice(names), ..]) => names,
            _ => &[],
        }
    }

    /// Minimum and maximum of a number; `None` for kinds without.
    #[must_use]
    pub const fn range(&self) -> Option<[f64; 2]> {
        match self {
            Self::Range { min, max, .. }
            | Self::Angle { min, max }
            | Self::Components { min, max, .. } => Some([*min, *max]),
            Self::Above { min, max } => Some([min.next_up(), *max]),
            Self::NonNegative => Some([0.0, STRENGTH_LIMIT]),
            Self::OneOf([first, ..]) => first.range(),
            _ => None,
        }
    }
}

/// What a change of a property affects besides the frames that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affects {
    /// Nothing else.
    Frame,
    /// Readings of the light meter.
    Meter,
    /// The uploaded scene, if it changes whether bright sources outside of the picture are needed
    /// (`EffectSettings::needs_flare_sources`).
    FlareSources,
    /// The VPLs of indirect light, and the light meter.
    Vpls,
    /// Reflection probes, which are captured when the scene is uploaded, and the light meter.
    Probes,
    /// Strength and color of lights, which need no upload of a scene without probes, and the light
    /// meter.
    Lights,
    /// The uploaded scene, and the light meter.
    Scene,
}

/// A property of the look.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Path, such as `passes.ao.radius`; `*` stands for an address.
    pub path: &'static str,
    /// Meaning, unit, range.
    pub description: &'static str,
    /// Unit of a number, such as `m`; empty without one.
    pub unit: &'static str,
    /// Values that it accepts.
    pub accepts: Accepts,
    /// Text of the default; `None` if the default depends on other properties or on the scene.
    pub default: fn() -> Option<String>,
    /// What a change of it affects.
    pub affects: Affects,
}

impl Property {
    /// The properties whose mark, at the same index, is true.
    pub(crate) fn those_that(properties: &[Self], marked: &[bool]) -> Vec<Self> {
        let marked = properties.iter().zip(marked).filter(|(_, marked)| **marked);
        marked.map(|(property, _)| *property).collect()
    }
}
