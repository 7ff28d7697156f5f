//! Optical glass by catalog numbers: refractive index at the helium d line and Abbe number.

/// Wavelengths (m) of the Fraunhofer lines of glass catalogs (ISO 7944, Schott TIE-29): blue F.
pub const LINE_F: f64 = 486.1327e-9;
/// Yellow d.
pub const LINE_D: f64 = 587.5618e-9;
/// Red C.
pub const LINE_C: f64 = 656.2725e-9;

/// Valid refractive indices: from vacuum to germanium.
pub const INDEX_LIMITS: [f64; 2] = [1.0, 4.1];
/// Valid Abbe numbers: catalogs hold 15 (dense plastics) to 100 (fluorite has 95).
pub const ABBE_LIMITS: [f64; 2] = [5.0, 200.0];

/// A transparent medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glass {
    /// Constant term of Cauchy's formula.
    a: f64,
    /// Second term of Cauchy's formula (m2); 0 without dispersion.
    b: f64,
}

impl Glass {
    /// Air, by catalog convention: indices of glass are relative to it.
    pub const AIR: Self = Self { a: 1.0, b: 0.0 };

    /// A glass from its index at the d line and its Abbe number `(nd - 1) / (nF - nC)`; no Abbe
    /// number means no dispersion. `None` outside of `INDEX_LIMITS` and `ABBE_LIMITS`.
    ///
    /// Cauchy's formula with two terms, `n = A + B / lambda^2` (Born and Wolf, "Principles of
    /// Optics", 7th ed., section 2.3.4), through nd and `nF - nC`. Catalog glasses differ from it
    /// by about 1e-3 in the violet.
    #[must_use]
    pub fn new(nd: f64, abbe: Option<f64>) -> Option<Self> {
        let within = |value: f64, [min, max]: [f64; 2]| (min..=max).contains(&value);
        if !within(nd, INDEX_LIMITS) || abbe.is_some_and(|v| !within(v, ABBE_LIMITS)) {
            return None;
        }
        let spread = LINE_F.powi(-2) - LINE_C.powi(-2);
        let b = abbe.map_or(0.0, |v| (nd - 1.0) / (v * spread));
        Some(Self { a: nd - b / (LINE_D * LINE_D), b })
    }

    /// Refractive index at a wavelength (m).
    #[must_use]
    pub fn index(self, wavelength: f64) -> f64 {
        self.a + self.b / (wavelength * wavelength)
    }

    /// True if the medium is air.
    #[must_use]
    pub fn is_air(self) -> bool {
        self == Self::AIR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalog_numbers_come_back() {
        let bk7 = Glass::new(1.5168, Some(64.17)).unwrap();
        assert!((bk7.index(LINE_D) - 1.5168).abs() < 1e-12);
        let spread = bk7.index(LINE_F) - bk7.index(LINE_C);
        assert!((spread - 0.008_054).abs() < 1e-6, "{spread}");
        // Catalog indices at the blue and red lines: nF 1.52238, nC 1.51432 (Schott N-BK7).
        assert!(
            (bk7.index(LINE_F) - 1.522_38).abs() < 2e-4
                && (bk7.index(LINE_C) - 1.514_32).abs() < 2e-4
        );
        assert_eq!(Glass::new(1.0, None), Some(Glass::AIR));
        assert_eq!(Glass::AIR.index(400e-9), 1.0);
    }

    #[test]
    fn impossible_glass_is_refused() {
        for (nd, abbe) in [
            (0.9, None),
            (f64::NAN, None),
            (1.5, Some(0.0)),
            (1.5, Some(f64::NAN)),
            (9.0, Some(50.0)),
        ] {
            assert_eq!(Glass::new(nd, abbe), None);
        }
    }
}
