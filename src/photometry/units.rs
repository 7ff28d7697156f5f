//! Photometric quantities as types.

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// Symbol of the unit.
            pub const UNIT: &'static str = $unit;

            /// The number, in the unit of the type.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match f.precision() {
                    Some(precision) => write!(f, "{:.*} {}", precision, self.0, $unit),
                    None => write!(f, "{} {}", self.0, $unit),
                }
            }
        }
    };
}

macro_rules! linear_quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        quantity!($(#[$doc])* $name, $unit);

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self(0.0), |a, b| a + b)
            }
        }
    };
}

linear_quantity!(
    /// Luminous flux, in lumens.
    Lumen, "lm"
);
linear_quantity!(
    /// Luminous intensity: flux in a direction, per solid angle, in candelas (lm/sr).
    Candela, "cd"
);
linear_quantity!(
    /// Illuminance: flux that arrives on a surface, per area, in lux (lm/m2).
    Lux, "lx"
);
linear_quantity!(
    /// Luminance: intensity of a surface per projected area, in nits (cd/m2).
    Nit, "nit"
);
linear_quantity!(
    /// Solid angle in steradians.
    Steradian, "sr"
);
quantity!(
    /// Correlated color temperature in kelvins.
    Kelvin, "K"
);
quantity!(
    /// Exposure value at ISO 100: `log2(N^2/t * 100/S)`; one unit is one photographic stop.
    Ev100, "EV"
);
