//! Built-in lenses from patents and textbooks (`assets/lenses`, each with its source).

use super::prescription::{Prescription, PrescriptionError};

macro_rules! lenses {
    ($($name:literal),* $(,)?) => {
        /// Names of the built-in lenses.
        pub const NAMES: &[&str] = &[$($name),*];

        fn text(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../../assets/lenses/", $name, ".json"))),)*
                _ => None,
            }
        }
    };
}

lenses!(
    "angenieux-100-f1.1",
    "biotar-100-f1.4",
    "canon-35-f1.8",
    "canon-70-200-f2.8",
    "cooke-opic-25.4-f2",
    "cooke-triplet-50-f5",
    "dgauss-50-f2",
    "fisheye-10",
    "flektagon-100",
    "heliar-100-f3.5",
    "itoh-zoom-100-f2.8",
    "kodak-petzval-100-f2.2",
    "kreitzer-tele-400-f2.8",
    "nikon-28-75-f2.8-wide",
    "nikon-51.6-f1.25",
    "nikon-retrofocus-100-f2.8",
    "primoplan-100-f1.5",
    "schneider-anamorphic-31",
    "takumar-100-f1.25",
    "tele-250-f5.6",
    "wide-22",
);

impl Prescription {
    /// Prescription of a built-in lens; `None` if the name is unknown.
    ///
    /// # Errors
    /// `PrescriptionError` if the asset is invalid; a test parses all of them.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Result<Self, PrescriptionError>> {
        text(name).map(Self::parse)
    }
}
