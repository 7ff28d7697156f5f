//! Optics of water: Fresnel reflectance, absorption and scattering (docs/water.md).
//!
//! Coefficients are those of three wavelengths, [`WAVELENGTHS`], one for each primary of Rec.709.
//! Scattering is reduced to isotropic scattering, b' = b (1 - g), because particles scatter mostly
//! forward (similarity of van de Hulst, "Multiple Light Scattering", 1980, chapter 14).

use glam::DVec3;

/// Index of refraction of fresh water at 20 degrees Celsius for 589 nm (Hale and Querry, Applied
/// Optics 12, 1973, table 1).
pub const IOR: f64 = 1.333;

/// Wavelengths (nm) of the red, green and blue coefficients: the peaks of the Rec.709 primaries.
pub const WAVELENGTHS: [f64; 3] = [610.0, 545.0, 465.0];

/// Absorption (1/m) of pure water at [`WAVELENGTHS`]: Pope and Fry, "Absorption spectrum (380-700
/// nm) of pure water", Applied Optics 36, 1997, table 3, interpolated.
const PURE_ABSORPTION: [f64; 3] = [0.2644, 0.0520, 0.0102];
/// The same at 514 nm.
const PURE_ABSORPTION_514: f64 = 0.0358;

/// Absorption and reduced scattering of water by channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaterCoefficients {
    /// Absorption coefficient in 1/m, at least 0.
    pub absorption: DVec3,
    /// Isotropic scattering coefficient in 1/m, at least 0.
    pub scattering: DVec3,
}

impl WaterCoefficients {
    /// Extinction coefficient in 1/m.
    #[must_use]
    pub fn extinction(&self) -> DVec3 {
        self.absorption + self.scattering
    }

    /// Transmittance over a distance (m), by the Beer-Lambert law; 0 to 1.
    #[must_use]
    pub fn transmittance(&self, distance: f64) -> DVec3 {
        (-self.extinction() * distance.max(0.0)).map(f64::exp)
    }
}

/// Water presets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaterKind {
    /// Pure water: a spring, a pool.
    #[default]
    Clear,
    /// Off the coast of San Diego.
    Coastal,
    /// The harbour of San Diego.
    Turbid,
}

impl WaterKind {
    /// All presets by their names in a look.
    pub const ALL: [(&'static str, Self); 3] =
        [("clear", Self::Clear), ("coastal", Self::Coastal), ("turbid", Self::Turbid)];

    /// Absorption and scattering at 514 nm (1/m): Petzold, "Volume Scattering Functions for
    /// Selected Ocean Waters", Scripps Institution of Oceanography 72-78, 1972, as in Mobley,
    /// "Light and Water", 1994, table 3.10; none for pure water.
    const fn measured(self) -> Option<(f64, f64)> {
        match self {
            Self::Clear => None,
            Self::Coastal => Some((0.179, 0.219)),
            Self::Turbid => Some((0.366, 1.824)),
        }
    }

    /// Absorption and scattering by channel.
    ///
    /// Pure water scatters by Morel, "Optical Properties of Pure Water and Pure Sea Water", 1974:
    /// 0.00288 (lambda / 500)^-4.32 per meter, nearly isotropic. Other constituents are measured at
    /// one wavelength and extrapolated: dissolved matter absorbs as exp(-0.014 (lambda - 514))
    /// (Bricaud, Morel and Prieur, Limnology and Oceanography 26, 1981), particles scatter as 514 /
    /// lambda (Gordon and Morel 1983) with a mean cosine of 0.924 (Petzold's mean particles, Mobley
    /// 1994, section 3.8).
    #[must_use]
    pub fn coefficients(self) -> WaterCoefficients {
        let pure = |wavelength: f64| 0.00288 * (wavelength / 500.0f64).powf(-4.32);
        let mut absorption = DVec3::from_array(PURE_ABSORPTION);
        let mut scattering = DVec3::from_array(WAVELENGTHS.map(pure));
        if let Some((a, b)) = self.measured() {
            let (dissolved, particles) = (a - PURE_ABSORPTION_514, b - pure(514.0));
            absorption +=
                dissolved * DVec3::from_array(WAVELENGTHS.map(|nm| (-0.014 * (nm - 514.0)).exp()));
            scattering +=
                particles * (1.0 - 0.924) * DVec3::from_array(WAVELENGTHS.map(|nm| 514.0 / nm));
        }
        WaterCoefficients { absorption, scattering }
    }
}

/// Fresnel reflectance of a smooth dielectric interface for unpolarized light, at the cosine of the
/// angle of incidence. `eta` is the index beyond over the index here. 1 beyond the critical angle.
/// Fresnel 1823.
#[must_use]
pub fn fresnel(cosine: f64, eta: f64) -> f64 {
    let c = cosine.clamp(0.0, 1.0);
    let inside = 1.0 - (1.0 - c * c) / (eta * eta);
    if inside <= 0.0 {
        return 1.0;
    }
    let t = inside.sqrt();
    let (s, p) = ((c - eta * t) / (c + eta * t), (eta * c - t) / (eta * c + t));
    0.5 * (s * s + p * p)
}

/// Sunlight below a level surface: cosine of the refracted angle in the water, and transmittance of
/// the surface. `cosine` is that of the angle in air.
#[must_use]
pub fn refract_sunlight(cosine: f64, ior: f64) -> (f64, f64) {
    let c = cosine.clamp(0.0, 1.0);
    ((1.0 - (1.0 - c * c) / (ior * ior)).max(0.0).sqrt(), 1.0 - fresnel(c, ior))
}

/// Beckmann alpha for a standard deviation of slopes along each axis. The slopes' density is a
/// Gaussian exp(-tan^2 / alpha^2), so alpha = sqrt(2) sigma (Walter et al. 2007, section 5.2). GGX
/// of the same alpha has the same density of level facets, which sets the luminance in the middle
/// of a glitter path; its tails are longer.
#[must_use]
pub fn alpha_of_slopes(deviation: f64) -> f64 {
    (std::f64::consts::SQRT_2 * deviation).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surface_reflects_what_the_formulas_say() {
        assert!((fresnel(1.0, IOR) - 0.020_373).abs() < 1e-6, "formulas, section 8");
        // Brewster's angle: tan = n, where one polarization is not reflected; the other is
        // ((n^2-1)/(n^2+1))^2.
        let brewster = 1.0 / (1.0 + IOR * IOR).sqrt();
        let s = ((IOR * IOR - 1.0) / (IOR * IOR + 1.0)).powi(2);
        assert!((fresnel(brewster, IOR) - 0.5 * s).abs() < 1e-12);
        assert_eq!(fresnel(0.0, IOR), 1.0);
        // Beyond the critical angle nothing leaves the water.
        assert_eq!(fresnel(0.6, 1.0 / IOR), 1.0);
        assert!(fresnel(0.7, 1.0 / IOR) < 1.0);
    }

    #[test]
    fn both_sides_exchange_the_same_light() {
        // Hemispherical reflectance: even in the squared cosine is even in projected solid angle.
        let hemispherical = |eta: f64| {
            let cosine = |i: i32| ((f64::from(i) + 0.5) / 4096.0).sqrt();
            (0..4096).map(|i| fresnel(cosine(i), eta)).sum::<f64>() / 4096.0
        };
        // Even light is in balance: n^2 (1 - R inside) = 1 - R outside.
        let (outside, inside) = (hemispherical(IOR), hemispherical(1.0 / IOR));
        assert!((IOR * IOR * (1.0 - inside) - (1.0 - outside)).abs() < 1e-4, "{outside} {inside}");
        // Preisendorfer and Mobley 1986: 0.066 from above.
        assert!((outside - 0.066).abs() < 1e-3, "{outside}");
    }

    #[test]
    fn named_waters_are_what_was_measured() {
        for (name, kind) in WaterKind::ALL {
            let of = kind.coefficients();
            assert!(
                of.absorption.min_element() > 0.0 && of.scattering.min_element() > 0.0,
                "{name}"
            );
        }
        let [clear, coastal, turbid] = WaterKind::ALL.map(|(_, kind)| kind.coefficients());
        // Pure water is blue, and each is dimmer than the one before.
        assert!(clear.absorption.x > 20.0 * clear.absorption.z);
        assert!(coastal.extinction().cmpgt(clear.extinction()).all());
        assert!(turbid.extinction().cmpgt(coastal.extinction()).all());
        // Harbour water absorbs green least.
        assert!(
            turbid.absorption.y < turbid.absorption.x && turbid.absorption.y < turbid.absorption.z
        );
        // Table 3.10, carried from 514 to 545 nm.
        let expected = PURE_ABSORPTION[1] + (0.179 - 0.0358) * (-0.014f64 * 31.0).exp();
        assert!((coastal.absorption.y - expected).abs() < 1e-12);
    }

    #[test]
    fn beams_fade_by_the_law() {
        let of = WaterCoefficients {
            absorption: DVec3::new(0.1, 0.2, 0.0),
            scattering: DVec3::new(0.0, 0.1, 0.0),
        };
        let two = of.transmittance(2.0);
        assert!((two - DVec3::new((-0.2f64).exp(), (-0.6f64).exp(), 1.0)).length() < 1e-15);
        assert_eq!(of.transmittance(-1.0), DVec3::ONE);
    }

    #[test]
    fn the_sun_stands_higher_below_the_surface() {
        let (cosine, through) = refract_sunlight(0.5, IOR);
        assert!((cosine - (1.0f64 - 0.75 / (IOR * IOR)).sqrt()).abs() < 1e-12);
        assert!((through - 0.940).abs() < 2e-3, "60 degrees: {through}");
        assert_eq!(alpha_of_slopes(10.0), 1.0);
    }
}
