//! Thin film: KHR_materials_iridescence, after Belcour and Barla, "A Practical Extension to
//! Microfacet Theory for the Modeling of Varying Iridescence" (ACM TOG 36(4), 2017), in the
//! approximation of the extension: Schlick's reflectances, no polarization, no extinction in the
//! base, two reflections within the film beside the direct one.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DVec3};

use super::microfacet::schlick;

/// A thin film on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinFilm {
    /// Weight of the film, 0 to 1.
    pub factor: f64,
    /// Index of refraction of the film over that of air.
    pub ior: f64,
    /// Thickness (nm), above 0.
    pub thickness: f64,
    /// True if the view is inside the glass that carries the film.
    pub inside: bool,
}

/// Reflectance at normal incidence between two indices.
fn along_normal(a: f64, b: f64) -> f64 {
    ((a - b) / (a + b)).powi(2)
}

/// Index against air with this reflectance at normal incidence; clamped below 1, which no index
/// reaches.
fn index_of(f0: f64) -> f64 {
    let root = f0.clamp(0.0, 0.9999).sqrt();
    (1.0 + root) / (1.0 - root)
}

impl ThinFilm {
    /// Reflectance of film and base (per channel, 0 to 1) for light in air at an angle of this
    /// cosine. The base reflects `f0` at normal incidence without the film.
    #[must_use]
    pub fn reflectance(&self, cos: f64, f0: DVec3) -> DVec3 {
        let cos = cos.clamp(0.0, 1.0);
        // Snell's law into the film.
        let cos2 = 1.0 - (1.0 - cos * cos) / (self.ior * self.ior);
        if cos2 <= 0.0 {
            return DVec3::ONE;
        }
        let cos2 = cos2.sqrt();
        let r0 = along_normal(self.ior, 1.0);
        let r12 = r0 + (1.0 - r0) * schlick(cos);
        let t121 = 1.0 - r12;
        let path = 2.0 * self.ior * self.thickness * cos2;
        let mut r23 = [0.0; 3];
        let mut shift = [PI; 3];
        for channel in 0..3 {
            let base = index_of(f0[channel]);
            let r1 = along_normal(base, self.ior);
            r23[channel] = r1 + (1.0 - r1) * schlick(cos2);
            if base < self.ior {
                shift[channel] += PI;
            }
        }
        let (r23, shift) = (DVec3::from_array(r23), DVec3::from_array(shift));
        let r123 = (r12 * r23).clamp(DVec3::splat(1e-5), DVec3::splat(0.9999));
        let root = DVec3::from_array(r123.to_array().map(f64::sqrt));
        let rs = t121 * t121 * r23 / (DVec3::ONE - r123);
        let mut sum = rs + r12;
        let mut amplitude = rs - t121;
        for order in [1.0, 2.0] {
            amplitude *= root;
            sum += amplitude * 2.0 * sensitivity(order * path, order * shift);
        }
        // Out-of-gamut colors: the extension clips below 0; above 1 energy would be created.
        sum.clamp(DVec3::ZERO, DVec3::ONE)
    }
}

/// Fourier transform of the color matching functions, as Rec.709: section 4 and the Gaussian fits
/// of the paper's supplement. `path` is the optical path difference (nm).
fn sensitivity(path: f64, shift: DVec3) -> DVec3 {
    let phase = TAU * path * 1e-9;
    // Amplitude, center (1/m) and variance (1/m^2) of a Gaussian for each of X, Y, Z; X has a
    // second one.
    let lobe = |amplitude: f64, center: f64, variance: f64, shift: f64| {
        amplitude
            * (TAU * variance).sqrt()
            * (center * phase + shift).cos()
            * (-phase * phase * variance).exp()
    };
    let x = lobe(5.4856e-13, 1.6810e6, 4.3278e9, shift.x)
        + lobe(9.7470e-14, 2.2399e6, 4.5282e9, shift.x);
    let y = lobe(4.4201e-13, 1.7953e6, 9.3046e9, shift.y);
    let z = lobe(5.2481e-13, 2.2084e6, 6.6121e9, shift.z);
    let to_rec709 = DMat3::from_cols_array(&[
        3.240_454_2,
        -0.969_266,
        0.055_643_4,
        -1.537_138_5,
        1.876_010_8,
        -0.204_025_9,
        -0.498_531_4,
        0.041_556,
        1.057_225_2,
    ]);
    to_rec709 * DVec3::new(x, y, z) / 1.0685e-7
}
