//! `settings!`, `section!` and `fields!` declare properties; `settings_group!` joins sections.

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
/// overrides (`section!`) with `resolve`. A property reads
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
                $Look::default().resolve()
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
                    $(, in $min ..= $max)?
                    $(, unit $unit)?
                    , $description, affects $affects;
                )+
            }
        }

        impl $Look {
            /// The settings: defaults with these overrides.
            #[must_use]
            pub fn resolve(&self) -> $Settings {
                $Settings {
                    $( $field: self.$field(), )+
                    $($( $own: $own_default, )+)?
                }
            }
        }
    };
}

/// Declares a struct of overrides. Properties read as those of `settings!`, except that the default
/// may be absent, where it depends on other properties or on the scene; `accepts` may stand in
/// place of a range; and a change affects the scene unless stated otherwise.
macro_rules! section {
    (
        $(#[$meta:meta])*
        pub struct $Look:ident in $section:literal {
            $(
                $field:ident $(at $path:literal)? : $ty:ty $(= $default:expr)?
                $(, in $min:literal ..= $max:literal)?
                $(, accepts $accepts:expr)?
                $(, unit $unit:literal)?
                , $description:literal $(, affects $affects:ident)?;
            )+
        }
        $(and { $( $(#[$own_doc:meta])* $own:ident : $own_ty:ty; )+ })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $Look {
            $(
                #[doc = concat!(
                    "`", $crate::settings::define::path_of!($section, $field $(, $path)?), "`: ",
                    $description, "."
                )]
                pub $field: Option<<$ty as $crate::settings::value::Setting>::Override>,
            )+
            $($( $(#[$own_doc])* pub $own: $own_ty, )+)?
        }

        impl $Look {
            /// The properties.
            pub const PROPERTIES: &'static [$crate::settings::property::Property] = &[
                $( $crate::settings::property::Property {
                    path: $crate::settings::define::path_of!($section, $field $(, $path)?),
                    description: $description,
                    unit: concat!($($unit)?),
                    accepts: $crate::settings::define::accepts!(
                        $ty $(, in $min, $max)? $(, $accepts)?
                    ),
                    default: $crate::settings::define::default_of!($ty $(, $default)?),
                    affects: $crate::settings::define::affects!($($affects)?),
                }, )+
            ];

            $($(
                #[doc = concat!("`", stringify!($field), "`, or its default.")]
                #[must_use]
                pub fn $field(&self) -> $ty {
                    <$ty as $crate::settings::value::Setting>::resolve(
                        self.$field.as_ref(),
                        $default,
                    )
                }
            )?)+
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
                        const ACCEPTS: $crate::settings::property::Accepts =
                            $crate::settings::define::accepts!(
                                $ty $(, in $min, $max)? $(, $accepts)?
                            );
                        let text = $crate::settings::units::in_unit(input.text, concat!($($unit)?));
                        let input = $crate::settings::value::Input { text: &text, ..*input };
                        let value =
                            <$ty as $crate::settings::value::Setting>::parse(&input, &ACCEPTS)
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

/// Declares the properties of a struct whose fields hold the values, plain or as `Option`.
/// Properties read as those of `section!`, after a field and its path; `by` is a parser in place of
/// the type's, whose result converts into the field.
macro_rules! fields {
    (
        impl $Owner:ty {
            $(
                $($field:ident).+ at $path:literal : $ty:ty $(= $default:expr)?
                $(, in $min:literal ..= $max:literal)?
                $(, accepts $accepts:expr)?
                $(, by $parse:ident)?
                $(, unit $unit:literal)?
                , $description:literal $(, affects $affects:ident)?;
            )+
        }
    ) => {
        impl $crate::settings::define::Section for $Owner {
            fn properties() -> Vec<$crate::settings::property::Property> {
                vec![$( $crate::settings::property::Property {
                    path: $path,
                    description: $description,
                    unit: concat!($($unit)?),
                    accepts: $crate::settings::define::accepts!(
                        $ty $(, in $min, $max)? $(, $accepts)?
                    ),
                    default: $crate::settings::define::default_of!($ty $(, $default)?),
                    affects: $crate::settings::define::affects!($($affects)?),
                }, )+]
            }

            fn set(
                &mut self,
                path: &str,
                input: &$crate::settings::value::Input<'_>,
            ) -> Result<bool, $crate::settings::value::InvalidValue> {
                match path {
                    $( $path => {
                        let accepts = $crate::settings::define::accepts!(
                            $ty $(, in $min, $max)? $(, $accepts)?
                        );
                        let text = $crate::settings::units::in_unit(input.text, concat!($($unit)?));
                        let input = $crate::settings::value::Input { text: &text, ..*input };
                        let value =
                            $crate::settings::define::parser!($ty $(, $parse)?)(&input, &accepts)
                                .ok_or($crate::settings::value::InvalidValue)?;
                        self.$($field).+ = value.into();
                    } )+
                    _ => return Ok(false),
                }
                Ok(true)
            }

            fn changed(&self, other: &Self) -> Vec<$crate::settings::property::Property> {
                let differs = [$( self.$($field).+ != other.$($field).+, )+];
                $crate::settings::property::Property::those_that(&Self::properties(), &differs)
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
                Ok($( $crate::settings::define::Section::set(&mut self.$field, path, input)? || )+
                    false)
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

/// Values that a property accepts: in a range, as given, or by its type.
macro_rules! accepts {
    ($ty:ty) => {
        <$ty as $crate::settings::value::Setting>::ACCEPTS
    };
    ($ty:ty, in $min:literal, $max:literal) => {
        $crate::settings::property::Accepts::Range {
            min: $min as f64,
            max: $max as f64,
            integer: <$ty as $crate::settings::value::Setting>::INTEGER,
        }
    };
    ($ty:ty, $accepts:expr) => {
        $accepts
    };
}

/// Parser of a property: as given, or of its type.
macro_rules! parser {
    ($ty:ty) => {
        <$ty as $crate::settings::value::Setting>::parse
    };
    ($ty:ty, $parse:ident) => {
        $parse
    };
}

/// Prints the default of a property, if it is declared.
macro_rules! default_of {
    ($ty:ty) => {
        || None
    };
    ($ty:ty, $default:expr) => {
        || <$ty as $crate::settings::value::Setting>::print(&$default)
    };
}

/// What a change of a property affects: the scene, unless declared.
macro_rules! affects {
    () => {
        $crate::settings::property::Affects::Scene
    };
    ($affects:ident) => {
        $crate::settings::property::Affects::$affects
    };
}

pub(crate) use {
    accepts, affects, default_of, fields, parser, path_of, section, settings, settings_group,
};
