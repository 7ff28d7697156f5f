//! Coefficients of participating media.

use glam::DVec3;

/// Maximum absorption and scattering coefficient (1/m): 37 % transmittance per micrometer.
pub const MAX_COEFFICIENT: f64 = 1e6;
/// Maximum emission (nits per meter).
pub const MAX_EMISSION: f64 = 1e12;
/// Maximum magnitude of the anisotropy: beyond it phase function samples degenerate to a mirror
/// direction.
pub const MAX_ANISOTROPY: f64 = 0.999;

/// Coefficients of a participating medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediumCoefficients {
    /// Absorption coefficient (1/m per channel), 0 to `MAX_COEFFICIENT`.
    pub absorption: DVec3,
    /// Scattering coefficient (1/m per channel), 0 to `MAX_COEFFICIENT`.
    pub scattering: DVec3,
    /// Mean cosine of the scattering angle, -1 to 1 exclusive: g of the Henyey-Greenstein phase
    /// function.
    pub anisotropy: f64,
    /// Emission (nits per meter, per channel), 0 to `MAX_EMISSION`.
    pub emission: DVec3,
}

impl Default for MediumCoefficients {
    /// Vacuum.
    fn default() -> Self {
        Self {
            absorption: DVec3::ZERO,
            scattering: DVec3::ZERO,
            anisotropy: 0.0,
            emission: DVec3::ZERO,
        }
    }
}

impl MediumCoefficients {
    /// Extinction coefficient (1/m per channel): absorption + scattering.
    #[must_use]
    pub fn extinction(&self) -> DVec3 {
        self.absorption + self.scattering
    }

    /// The first coefficient out of range: property name and expected range.
    #[must_use]
    pub fn range_error(&self) -> Option<(&'static str, String)> {
        let within = |v: DVec3, most: f64| v.to_array().iter().all(|x| (0.0..=most).contains(x));
        if !within(self.absorption, MAX_COEFFICIENT) {
            return Some(("absorption", format!("1/m from 0 to {MAX_COEFFICIENT:e} by channel")));
        }
        if !within(self.scattering, MAX_COEFFICIENT) {
            return Some(("scattering", format!("1/m from 0 to {MAX_COEFFICIENT:e} by channel")));
        }
        if !within(self.emission, MAX_EMISSION) {
            return Some((
                "emission",
                format!("nits per meter from 0 to {MAX_EMISSION:e} by channel"),
            ));
        }
        let fits = (-MAX_ANISOTROPY..=MAX_ANISOTROPY).contains(&self.anisotropy);
        (!fits)
            .then(|| ("anisotropy", format!("a number from -{MAX_ANISOTROPY} to {MAX_ANISOTROPY}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_out_of_range_are_named() {
        let fine = MediumCoefficients {
            scattering: DVec3::ONE,
            anisotropy: 0.8,
            ..MediumCoefficients::default()
        };
        assert_eq!(fine.range_error(), None);
        for (bad, name) in [
            (MediumCoefficients { absorption: DVec3::new(0.0, -1.0, 0.0), ..fine }, "absorption"),
            (MediumCoefficients { scattering: DVec3::NAN, ..fine }, "scattering"),
            (MediumCoefficients { anisotropy: 1.0, ..fine }, "anisotropy"),
            (MediumCoefficients { anisotropy: f64::NAN, ..fine }, "anisotropy"),
            (MediumCoefficients { emission: DVec3::INFINITY, ..fine }, "emission"),
        ] {
            assert_eq!(bad.range_error().unwrap().0, name);
        }
    }
}
