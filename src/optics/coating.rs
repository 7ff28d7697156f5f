//! Fresnel reflectance of an interface, bare or with a single thin-film coating.

use std::f64::consts::TAU;

use sunny16_fft::num_complex::Complex64;

/// Refractive index of magnesium fluoride, the most common single-layer coating (Hecht, "Optics",
/// 5th ed., section 9.7).
pub const MAGNESIUM_FLUORIDE: f64 = 1.38;

/// A single thin film: quarter-wave thickness plus an offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coating {
    /// Refractive index of the film, constant over wavelengths.
    pub index: f64,
    /// Wavelength (m) at which the film is a quarter wave thick at normal incidence.
    pub wavelength: f64,
    /// Thickness offset (m): the tolerance of a real film.
    pub offset: f64,
}

impl Coating {
    /// Magnesium fluoride, a quarter wave thick at a wavelength (m).
    #[must_use]
    pub const fn quarter_wave(wavelength: f64) -> Self {
        Self { index: MAGNESIUM_FLUORIDE, wavelength, offset: 0.0 }
    }

    /// Thickness (m), at least 0: `lambda / 4n` plus the offset.
    #[must_use]
    pub fn thickness(self) -> f64 {
        (self.wavelength / (4.0 * self.index) + self.offset).max(0.0)
    }
}

/// Cosine from a squared sine. It is imaginary beyond the critical angle, where the wave is
/// evanescent.
fn cosine(squared_sine: f64) -> Complex64 {
    let c2 = 1.0 - squared_sine;
    if c2 >= 0.0 { Complex64::new(c2.sqrt(), 0.0) } else { Complex64::new(0.0, (-c2).sqrt()) }
}

/// Fresnel amplitude `(a - b) / (a + b)`, given the admittance of one polarization on both sides.
fn amplitude(a: Complex64, b: Complex64) -> Complex64 {
    let sum = a + b;
    // Both vanish only for grazing rays between equal media, which reflect nothing.
    if sum.norm_sqr() > 0.0 { (a - b) / sum } else { Complex64::ZERO }
}

/// Reflectance of unpolarized light, 0 to 1, from a medium of index `n0` onto one of index `n2`, at
/// the cosine of the angle of incidence (0 to 1) and a wavelength (m).
///
/// The mean of both polarizations. Transmittance is the rest; nothing is absorbed. A film uses
/// Airy's sum over its internal reflections, `(r01 + r12 e^(i phi)) / (1 + r01 r12 e^(i phi))` with
/// `phi = 4 pi n1 d cos(theta1) / lambda`: Born and Wolf, "Principles of Optics", 7th ed., section
/// 1.6.4, equations 55 to 59.
#[must_use]
pub fn reflectance(n0: f64, n2: f64, coating: Option<Coating>, cos0: f64, wavelength: f64) -> f64 {
    let cos0 = cos0.clamp(0.0, 1.0);
    let squared_sine = (1.0 - cos0 * cos0) * n0 * n0;
    let c0 = Complex64::new(cos0, 0.0);
    let c2 = cosine(squared_sine / (n2 * n2));
    if c2.im > 0.0 {
        return 1.0;
    }
    let polarized = |parallel: bool| {
        // Admittance: n cos for s polarization, cos / n for p polarization.
        let counts = |n: f64, c: Complex64| c * if parallel { 1.0 / n } else { n };
        let (first, last) = (counts(n0, c0), counts(n2, c2));
        let Some(film) = coating else { return amplitude(first, last).norm_sqr() };
        let c1 = cosine(squared_sine / (film.index * film.index));
        let middle = counts(film.index, c1);
        let (r01, r12) = (amplitude(first, middle), amplitude(middle, last));
        let k = 2.0 * TAU * film.index * film.thickness() / wavelength;
        let back = r12 * (Complex64::I * k * c1).exp();
        ((r01 + back) / (r01 * back + 1.0)).norm_sqr()
    };
    (0.5 * (polarized(false) + polarized(true))).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    const FILM: Option<Coating> = Some(Coating::quarter_wave(550e-9));

    fn at(coating: Option<Coating>, degrees: f64, nanometers: f64) -> f64 {
        reflectance(1.0, 1.5, coating, degrees.to_radians().cos(), nanometers * 1e-9)
    }

    /// Magnesium fluoride on glass of index 1.5, and bare glass.
    #[test]
    fn known_values() {
        for (degrees, nanometers, want) in [
            (0.0, 400.0, 0.022_25),
            (0.0, 550.0, 0.014_11),
            (0.0, 700.0, 0.017_00),
            (45.0, 400.0, 0.023_14),
            (45.0, 550.0, 0.022_22),
            (45.0, 700.0, 0.028_05),
            (60.0, 550.0, 0.055_07),
        ] {
            near(at(FILM, degrees, nanometers), want, 6e-6);
        }
        near(at(None, 0.0, 550.0), 0.04, 1e-12);
        near(reflectance(1.0, 1.8, None, 1.0, 550e-9), 0.081_633, 1e-6);
        let ideal = Coating { index: 1.5_f64.sqrt(), ..Coating::quarter_wave(550e-9) };
        near(at(Some(ideal), 0.0, 550.0), 0.0, 1e-12);
    }

    #[test]
    fn brewster_and_total_reflection() {
        // At Brewster's angle p polarization reflects nothing: the mean is half of s polarization.
        let angle = 1.5_f64.atan();
        let crossed = ((angle.cos() - 1.5 * (0.5 * std::f64::consts::PI - angle).cos())
            / (angle.cos() + 1.5 * (0.5 * std::f64::consts::PI - angle).cos()))
        .powi(2);
        near(reflectance(1.0, 1.5, None, angle.cos(), 550e-9), 0.5 * crossed, 1e-12);
        near(reflectance(1.5, 1.0, None, 0.5, 550e-9), 1.0, 0.0);
        near(reflectance(1.5, 1.0, FILM, 0.5, 550e-9), 1.0, 0.0);
        near(reflectance(1.0, 1.5, FILM, 0.0, 550e-9), 1.0, 1e-12);
    }

    /// A film of the index of either side has no effect at any thickness, and neither has a film of
    /// zero thickness.
    #[test]
    fn films_that_are_not_there() {
        for degrees in [0.0, 30.0, 70.0, 89.0] {
            for index in [1.0, 1.5] {
                let film = Coating { index, ..Coating::quarter_wave(500e-9) };
                near(at(Some(film), degrees, 610.0), at(None, degrees, 610.0), 1e-12);
            }
            let none = Coating { offset: -1.0, ..Coating::quarter_wave(500e-9) };
            near(at(Some(none), degrees, 610.0), at(None, degrees, 610.0), 1e-12);
        }
    }

    /// Both directions through an interface reflect equally (Stokes relations), also with an
    /// evanescent wave in the film.
    #[test]
    fn reversible() {
        for n0 in [1.0, 1.6, 1.9] {
            for n2 in [1.5, 1.75] {
                for degrees in [0.0, 20.0, 50.0, 60.0_f64] {
                    let sine = n0 * degrees.to_radians().sin() / n2;
                    if sine < 1.0 {
                        let there = reflectance(n0, n2, FILM, degrees.to_radians().cos(), 520e-9);
                        let back = reflectance(n2, n0, FILM, (1.0 - sine * sine).sqrt(), 520e-9);
                        near(there, back, 1e-9);
                    }
                }
            }
        }
    }
}
