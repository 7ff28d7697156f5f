//! What the border of two media reflects, bare or with one thin film on it.

use std::f64::consts::TAU;

use rustfft::num_complex::Complex64;

/// The index of magnesium fluoride, the film of most single-layer coatings (Hecht, "Optics", 5th
/// ed., section 9.7).
pub const MAGNESIUM_FLUORIDE: f64 = 1.38;

/// One thin film, a quarter of a wavelength thick but for an offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coating {
    /// The film's refractive index, the same at all wavelengths.
    pub index: f64,
    /// The wavelength (m) at which it is a quarter wave thick for light along the normal.
    pub wavelength: f64,
    /// What its thickness (m) has more than that: the tolerance of a real film.
    pub offset: f64,
}

impl Coating {
    /// Magnesium fluoride, a quarter wave at a wavelength (m).
    #[must_use]
    pub const fn quarter_wave(wavelength: f64) -> Self {
        Self { index: MAGNESIUM_FLUORIDE, wavelength, offset: 0.0 }
    }

    /// Thickness (m), at least 0: `lambda / 4n` and the offset.
    #[must_use]
    pub fn thickness(self) -> f64 {
        (self.wavelength / (4.0 * self.index) + self.offset).max(0.0)
    }
}

/// The cosine for a squared sine. Behind the angle of total reflection it is imaginary, and the
/// wave decays.
fn cosine(squared_sine: f64) -> Complex64 {
    let c2 = 1.0 - squared_sine;
    if c2 >= 0.0 { Complex64::new(c2.sqrt(), 0.0) } else { Complex64::new(0.0, (-c2).sqrt()) }
}

/// Amplitude reflected where `a` meets `b`, given what each polarisation counts on both sides: the
/// Fresnel formula `(a - b) / (a + b)`.
fn amplitude(a: Complex64, b: Complex64) -> Complex64 {
    let sum = a + b;
    // Both vanish only for grazing rays between equal media, through which light passes unhindered.
    if sum.norm_sqr() > 0.0 { (a - b) / sum } else { Complex64::ZERO }
}

/// The part of unpolarised light that is reflected, 0 to 1, from a medium of index `n0` onto one of
/// index `n2`, at the cosine of the angle of incidence (0 to 1) and a wavelength (m).
///
/// The mean of both polarisations. The rest is transmitted; nothing is absorbed. With a film, by
/// Airy's sum over all reflections in it, `(r01 + r12 e^(i phi)) / (1 + r01 r12 e^(i phi))` with
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
    let polarised = |parallel: bool| {
        // Across the plane of incidence n cos counts, along it cos / n.
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
    (0.5 * (polarised(false) + polarised(true))).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILM: Option<Coating> = Some(Coating::quarter_wave(550e-9));

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want} within {tolerance}");
    }

    fn at(coating: Option<Coating>, degrees: f64, nanometres: f64) -> f64 {
        reflectance(1.0, 1.5, coating, degrees.to_radians().cos(), nanometres * 1e-9)
    }

    /// Magnesium fluoride on glass of index 1.5, and bare glass.
    #[test]
    fn known_values() {
        for (degrees, nanometres, want) in [
            (0.0, 400.0, 0.022_25),
            (0.0, 550.0, 0.014_11),
            (0.0, 700.0, 0.017_00),
            (45.0, 400.0, 0.023_14),
            (45.0, 550.0, 0.022_22),
            (45.0, 700.0, 0.028_05),
            (60.0, 550.0, 0.055_07),
        ] {
            near(at(FILM, degrees, nanometres), want, 6e-6);
        }
        near(at(None, 0.0, 550.0), 0.04, 1e-12);
        near(reflectance(1.0, 1.8, None, 1.0, 550e-9), 0.081_633, 1e-6);
        let ideal = Coating { index: 1.5_f64.sqrt(), ..Coating::quarter_wave(550e-9) };
        near(at(Some(ideal), 0.0, 550.0), 0.0, 1e-12);
    }

    #[test]
    fn brewster_and_total_reflection() {
        // At Brewster's angle nothing of the parallel half is reflected: the mean is half of the
        // crossed one.
        let angle = 1.5_f64.atan();
        let crossed = ((angle.cos() - 1.5 * (0.5 * std::f64::consts::PI - angle).cos())
            / (angle.cos() + 1.5 * (0.5 * std::f64::consts::PI - angle).cos()))
        .powi(2);
        near(reflectance(1.0, 1.5, None, angle.cos(), 550e-9), 0.5 * crossed, 1e-12);
        near(reflectance(1.5, 1.0, None, 0.5, 550e-9), 1.0, 0.0);
        near(reflectance(1.5, 1.0, FILM, 0.5, 550e-9), 1.0, 0.0);
        near(reflectance(1.0, 1.5, FILM, 0.0, 550e-9), 1.0, 1e-12);
    }

    /// A film of the index of either side does nothing, whatever its thickness; one of no thickness
    /// neither.
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

    /// Both ways through a border reflect the same (Stokes's relations), also where the film is
    /// crossed by a decaying wave.
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
