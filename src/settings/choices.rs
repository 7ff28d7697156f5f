//! Enums whose values are chosen by name.

use crate::{
    camera::{ExposureControl, GateFit, MeteringMode, ToneMapper, body::ShutterType},
    optics::ghosts::{GhostMethod, LensCoatings},
    photometry::{Sides, SpotFlux, color::Adaptation, water::WaterKind},
};

/// A value that is chosen by name.
pub trait Choice: Copy + PartialEq + Sized + 'static {
    /// All names, in the order in which they are offered.
    const NAMES: &'static [&'static str];

    /// The value of a name; `None` for an unknown one.
    fn from_name(name: &str) -> Option<Self>;

    /// The value's name.
    fn name(self) -> &'static str;
}

/// Declares an enum with the names of its values, or (`impl`) the names of an enum's values.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident {
            $( $(#[$doc:meta])* $Variant:ident = $name:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name {
            $( $(#[$doc])* $Variant, )+
        }

        $crate::settings::choices::choices! {
            impl $Name { $( $Variant = $name, )+ }
        }
    };
    (impl $Name:ident { $( $Variant:ident = $name:literal, )+ }) => {
        impl $crate::settings::choices::Choice for $Name {
            const NAMES: &'static [&'static str] = &[$($name),+];

            fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( $name => Some(Self::$Variant), )+
                    _ => None,
                }
            }

            fn name(self) -> &'static str {
                match self { $( Self::$Variant => $name, )+ }
            }
        }

        $crate::settings::choices::setting_by_name!($Name);
    };
}

/// Makes types with names types of properties.
macro_rules! setting_by_name {
    ($Name:ty) => {
        impl $crate::settings::value::Setting for $Name {
            type Override = Self;
            const ACCEPTS: $crate::settings::property::Accepts =
                $crate::settings::property::Accepts::Choice(
                    <Self as $crate::settings::choices::Choice>::NAMES,
                );

            fn parse(
                input: &$crate::settings::value::Input<'_>,
                _: &$crate::settings::property::Accepts,
            ) -> Option<Self> {
                <Self as $crate::settings::choices::Choice>::from_name(input.text)
            }

            fn resolve(value: Option<&Self>, default: Self) -> Self {
                value.copied().unwrap_or(default)
            }

            fn print(&self) -> Option<String> {
                Some($crate::settings::choices::Choice::name(*self).to_owned())
            }
        }
    };
}

pub(crate) use {choices, setting_by_name};

impl Choice for ToneMapper {
    const NAMES: &'static [&'static str] = {
        let [linear, aces, agx, pbr_neutral] = Self::ALL;
        &[linear.name(), aces.name(), agx.name(), pbr_neutral.name()]
    };

    fn from_name(name: &str) -> Option<Self> {
        Self::from_name(name)
    }

    fn name(self) -> &'static str {
        self.name()
    }
}

setting_by_name!(ToneMapper);

/// Types with a table of values by name.
macro_rules! named {
    ($($Name:ident),+) => { $(
        impl Choice for $Name {
            const NAMES: &'static [&'static str] = &names(Self::ALL);

            fn from_name(name: &str) -> Option<Self> {
                Self::from_name(name)
            }

            fn name(self) -> &'static str {
                self.name()
            }
        }

        setting_by_name!($Name);
    )+ };
}

named!(ExposureControl, MeteringMode);

/// The names of a table.
pub(crate) const fn names<T: Copy, const N: usize>(
    table: [(&'static str, T); N],
) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = table[index].0;
        index += 1;
    }
    names
}

choices! {
    impl GateFit {
        Fill = "fill",
        Horizontal = "horizontal",
        Vertical = "vertical",
        Overscan = "overscan",
    }
}

choices! {
    impl ShutterType {
        Global = "global",
        FocalPlane = "focal-plane",
        Rolling = "rolling",
    }
}

choices! {
    impl Adaptation {
        Cat16 = "cat16",
        Bradford = "bradford",
    }
}

choices! {
    impl Sides {
        One = "one",
        Two = "two",
    }
}

choices! {
    impl SpotFlux {
        Exact = "exact",
        ApexCone = "apex-cone",
        PhiOverPi = "phi-over-pi",
    }
}

choices! {
    impl GhostMethod {
        Traced = "traced",
        Paraxial = "paraxial",
    }
}

choices! {
    impl LensCoatings {
        Prescribed = "prescription",
        Bare = "bare",
        Single = "single",
    }
}

impl Choice for WaterKind {
    const NAMES: &'static [&'static str] = &names(Self::ALL);

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

setting_by_name!(WaterKind);
