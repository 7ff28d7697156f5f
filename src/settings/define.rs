//! `settings!` declares properties; `settings_group!` joins sections.

use super::{
    property::Property,
    value::{Input, InvalidValue},
};

/// Overrides of properties; absent ones keep their default.
pub trait Section {
    /// Its properties, in the order of the reference.
    fn properties() -> Vec<Property>;

    /// Sets a property by its path, where an address is `*`; false if there is none of this path.
    ///
    /// # Errors
    /// A value that the property does not accept.
    fn set(&mut self, path: &str, input: &Input<'_>) -> Result<bool, InvalidValue>;

    /// The properties whose overrides differ.
    fn changed(&self, other: &Self) -> Vec<Property>;
}

/// Declares the settings of a pass: a struct of their values with its `Default`, and a struct of
/// overrides (`Section`) with `resolve`. A property reads
///
/// ```text
/// /// Details beyond the description (optional).
/// name: type = default, in min..=max, unit "m", "description", affects Frame;
/// ```
///
/// Range and unit may be absent. `name at "path"` puts a property into another section. `and`
/// introduces fields that are no properties.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $Settings:ident / $Look:ident in $section:literal {
            $(
                $(#[$doc:meta])*
                $field:ident $(at $path:literal)? : $ty:ty = $default:expr
                $(, in $min:literal ..= $max:literal)?
                $(, unit $unit:literal)?
                , $description:literal, affects $affects:ident;
            )+
        }
        $(and { $( $(#[$own_doc:meta])* $own:ident : $own_ty:ty = $own_default:expr; )+ })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Settings {
            $(
                #[doc = concat!(
                    "`", $crate::settings::define::path_of!($section, $field $(, $path)?), "`: ",
                    $description, "."
                )]
                #[doc = ""]
                $(#[$doc])*
                pub $field: $ty,
            )+
            $($( $(#[$own_doc])* pub $own: $own_ty, )+)?
        }

        impl Default for $Settings {
            fn default() -> Self {
                Self {
                    $( $field: $default, )+
                    $($( $own: $own_default, )+)?
                }
            }
        }

        impl $Settings {
            /// The properties whose values differ.
            #[must_use]
            pub fn changed(&self, other: &Self) -> Vec<$crate::settings::property::Property> {
                let differs = [$( self.$field != other.$field, )+];
                $crate::settings::property::Property::those_that($Look::PROPERTIES, &differs)
            }
        }

        $crate::settings::define::section! {
            #[doc = concat!("Overrides of [`", stringify!($Settings), "`].")]
            #[derive(Copy)]
            pub struct $Look in $section {
                $(
                    $field $(at $path)? : $ty = $default
                    , accepts $crate::settings::define::accepts!($ty $(, $min, $max)?)
                    $(, unit $unit)?
                    , $description, affects $affects;
                )+
            }
        }

        impl $Look {
            /// The settings: defaults with these overrides.
            #[must_use]
            pub fn resolve(&self) -> $Settings {
                let default = $Settings::default();
                $Settings {
                    $(
                        $field: <$ty as $crate::settings::value::Setting>::resolve(
                            self.$field,
                            default.$field,
                        ),
                    )+
                    $($( $own: default.$own, )+)?
                }
            }
        }
    };
}

/// Declares a struct of overrides: `settings!` without the resolved struct.
macro_rules! section {
    (
        $(#[$meta:meta])*
        pub struct $Look:ident in $section:literal {
            $(
                $field:ident $(at $path:literal)? : $ty:ty = $default:expr
                , accepts $accepts:expr
                $(, unit $unit:literal)?
                , $description:literal, affects $affects:ident;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $Look {
            $(
                #[doc = concat!(
                    "`", $crate::settings::define::path_of!($section, $field $(, $path)?), "`."
                )]
                pub $field: Option<<$ty as $crate::settings::value::Setting>::Override>,
            )+
        }

        impl $Look {
            /// The properties.
            pub const PROPERTIES: &'static [$crate::settings::property::Property] = &[
                $( $crate::settings::property::Property {
                    path: $crate::settings::define::path_of!($section, $field $(, $path)?),
                    description: $description,
                    unit: concat!($($unit)?),
                    accepts: $accepts,
                    default: || <$ty as $crate::settings::value::Setting>::print(&$default),
                    affects: $crate::settings::property::Affects::$affects,
                }, )+
            ];
        }

        impl $crate::settings::define::Section for $Look {
            fn properties() -> Vec<$crate::settings::property::Property> {
                Self::PROPERTIES.to_vec()
            }

            fn set(
                &mut self,
                path: &str,
                input: &$crate::settings::value::Input<'_>,
            ) -> Result<bool, $crate::settings::value::InvalidValue> {
                $(
                    if path == $crate::settings::define::path_of!($section, $field $(, $path)?) {
                        let value =
                            <$ty as $crate::settings::value::Setting>::parse(input, &$accepts)
                                .ok_or($crate::settings::value::InvalidValue)?;
                        self.$field = Some(value);
                        return Ok(true);
                    }
                )+
                Ok(false)
            }

            fn changed(&self, other: &Self) -> Vec<$crate::settings::property::Property> {
                let differs = [$( self.$field != other.$field, )+];
                $crate::settings::property::Property::those_that(Self::PROPERTIES, &differs)
            }
        }
    };
}

/// Joins sections: a struct of their settings, and one of their overrides.
macro_rules! settings_group {
    (
        $(#[$meta:meta])*
        pub struct $Settings:ident / $Look:ident {
            $( $(#[$doc:meta])* $field:ident : $Part:ident / $PartLook:ident, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $Settings {
            $( $(#[$doc])* pub $field: $Part, )+
        }

        #[doc = concat!("Overrides of [`", stringify!($Settings), "`].")]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $Look {
            $( $(#[$doc])* pub $field: $PartLook, )+
        }

        impl $Look {
            /// The settings: defaults with these overrides.
            #[must_use]
            pub fn resolve(&self) -> $Settings {
                $Settings { $( $field: self.$field.resolve(), )+ }
            }
        }

        impl $crate::settings::define::Section for $Look {
            fn properties() -> Vec<$crate::settings::property::Property> {
                [$( $PartLook::PROPERTIES, )+].concat()
            }

            fn set(
                &mut self,
                path: &str,
                input: &$crate::settings::value::Input<'_>,
            ) -> Result<bool, $crate::settings::value::InvalidValue> {
                Ok($( $crate::settings::define::Section::set(&mut self.$field, path, input)? || )+ false)
            }

            fn changed(&self, other: &Self) -> Vec<$crate::settings::property::Property> {
                [$( $crate::settings::define::Section::changed(&self.$field, &other.$field), )+]
                    .concat()
            }
        }
    };
}

/// Path of a property: of its section and name, unless it is given.
macro_rules! path_of {
    ($section:literal, $field:ident) => {
        concat!($section, ".", stringify!($field))
    };
    ($section:literal, $field:ident, $path:literal) => {
        $path
    };
}

/// Values that a property accepts: by its type, or in a range.
macro_rules! accepts {
    ($ty:ty) => {
        <$ty as $crate::settings::value::Setting>::ACCEPTS
    };
    ($ty:ty, $min:literal, $max:literal) => {
        $crate::settings::property::Accepts::Range {
            min: $min as f64,
            max: $max as f64,
            integer: <$ty as $crate::settings::value::Setting>::INTEGER,
        }
    };
}

pub(crate) use {accepts, path_of, section, settings, settings_group};
