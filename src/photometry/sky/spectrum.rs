//! The solar spectrum outside of the atmosphere and the optical depths of the air, in bands.
//!
//! Bird and Riordan, "Simple Solar Spectral Model for Direct and Diffuse Irradiance on Horizontal
//! and Tilted Planes at the Earth's Surface for Cloudless Atmospheres", SERI/TR-215-2436 (1984),
//! table 2-1: the Sun's spectrum (revised Neckel and Labs, WRC scale) and the absorption of ozone.

use std::sync::OnceLock;

use glam::DVec3;

use crate::photometry::{
    Lux,
    color::{XYZ_TO_REC709, spectrum_to_xyz},
};

/// Number of wavelength bands.
pub const BANDS: usize = 12;
/// One number per band.
pub type Spectrum = [f64; BANDS];

/// Luminous efficacy of 540 THz in lm/W: the SI's K_cd with the CIE's V at 555.0 nm (CIE 18:2019,
/// 683.002).
const EFFICACY: f64 = 683.002;
/// Start of the first band and width of each band in nm. Light beyond the ends counts to the end
/// bands.
const START: f64 = 380.0;
const WIDTH: f64 = 30.0;

/// Wavelength (nm), irradiance of the Sun at 1 au (W/m2/nm), absorption of ozone (1/cm).
const TABLE: [[f64; 3]; 40] = [
    [350.0, 0.9755, 0.007],
    [360.0, 0.9759, 0.0],
    [370.0, 1.1199, 0.0],
    [380.0, 1.1038, 0.0],
    [390.0, 1.0338, 0.0],
    [400.0, 1.4791, 0.0],
    [410.0, 1.7013, 0.0],
    [420.0, 1.7404, 0.0],
    [430.0, 1.5872, 0.0],
    [440.0, 1.837, 0.0],
    [450.0, 2.005, 0.003],
    [460.0, 2.043, 0.006],
    [470.0, 1.987, 0.009],
    [480.0, 2.027, 0.014],
    [490.0, 1.896, 0.021],
    [500.0, 1.909, 0.03],
    [510.0, 1.927, 0.04],
    [520.0, 1.831, 0.048],
    [530.0, 1.891, 0.063],
    [540.0, 1.898, 0.075],
    [550.0, 1.892, 0.085],
    [570.0, 1.84, 0.12],
    [593.0, 1.768, 0.119],
    [610.0, 1.728, 0.12],
    [630.0, 1.658, 0.09],
    [656.0, 1.524, 0.065],
    [667.6, 1.531, 0.051],
    [690.0, 1.42, 0.028],
    [710.0, 1.399, 0.018],
    [718.0, 1.374, 0.015],
    [724.4, 1.373, 0.012],
    [740.0, 1.298, 0.01],
    [752.5, 1.269, 0.008],
    [757.5, 1.245, 0.007],
    [762.5, 1.223, 0.006],
    [767.5, 1.205, 0.005],
    [780.0, 1.183, 0.0],
    [800.0, 1.148, 0.0],
    [816.0, 1.091, 0.0],
    [823.7, 1.062, 0.0],
];

fn interpolate(nanometers: f64, column: usize) -> f64 {
    let after = TABLE.partition_point(|row| row[0] <= nanometers).clamp(1, TABLE.len() - 1);
    let (a, b) = (TABLE[after - 1], TABLE[after]);
    let t = ((nanometers - a[0]) / (b[0] - a[0])).clamp(0.0, 1.0);
    a[column] + (b[column] - a[column]) * t
}

/// The Sun's irradiance at 1 au in W/m2/nm.
#[must_use]
pub fn solar_irradiance(nanometers: f64) -> f64 {
    interpolate(nanometers, 1)
}

/// Vertical optical depth of clean air at sea level: Leckner 1978, as Bird and Riordan's equation
/// 2-4.
#[must_use]
pub fn rayleigh_depth(nanometers: f64) -> f64 {
    let l2 = (nanometers * 1e-3).powi(2);
    1.0 / (l2 * l2 * (115.6406 - 1.335 / l2))
}

/// Vertical optical depth of 1 atm-cm (1000 Dobson units) of ozone.
#[must_use]
pub fn ozone_depth(nanometers: f64) -> f64 {
    interpolate(nanometers, 2)
}

/// Vertical optical depth of aerosol by Angstrom's formula, `b l^-1.3` with l in micrometers.
///
/// The relation of b with turbidity is Preetham, Shirley and Smits, "A Practical Analytic Model for
/// Daylight" (1999), appendix 3: `b = 0.04608 T - 0.04586`; about 0 at turbidity 1.
#[must_use]
pub fn aerosol_depth(nanometers: f64, turbidity: f64) -> f64 {
    (0.046_08 * turbidity - 0.045_86).max(0.0) * (nanometers * 1e-3).powf(-1.3)
}

/// Single scattering albedo of rural aerosol: `0.945 exp(-0.095 ln(l / 0.4)^2)`.
///
/// Bird and Riordan, equation 3-16.
#[must_use]
pub fn aerosol_albedo(nanometers: f64) -> f64 {
    0.945 * (-0.095 * (nanometers * 1e-3 / 0.4).ln().powi(2)).exp()
}

/// Spectrum of the light source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkySource {
    /// The Sun's spectrum.
    Sun,
    /// The Sun's, reddened by the Moon's soil, whose reflectance grows by about 0.13 % of its value
    /// at 555 nm a nanometer: the slope of the disk's mean between 440 and 870 nm in Kieffer and
    /// Stone, "The Spectral Irradiance of the Moon", Astronomical Journal 129 (2005).
    Moon,
}

/// The bands.
#[derive(Clone, Debug)]
pub struct Bands {
    /// Wavelength (nm) of each band: the mean, weighted with the Sun's spectrum and the eye's
    /// responses.
    pub wavelength: Spectrum,
    /// Linear Rec.709 in lux of each band of the Sun at 1 au.
    rgb: [DVec3; BANDS],
}

impl Bands {
    /// The bands, computed once.
    #[must_use]
    pub fn get() -> &'static Self {
        static BANDS_ONCE: OnceLock<Bands> = OnceLock::new();
        BANDS_ONCE.get_or_init(Self::compute)
    }

    fn compute() -> Self {
        let index = |nm: f64| (((nm - START) / WIDTH).floor().max(0.0) as usize).min(BANDS - 1);
        let mut wavelength = [0.0; BANDS];
        let mut rgb = [DVec3::ZERO; BANDS];
        for (band, (wavelength, rgb)) in wavelength.iter_mut().zip(&mut rgb).enumerate() {
            let within = |meters: f64| {
                if index(meters * 1e9) == band { solar_irradiance(meters * 1e9) } else { 0.0 }
            };
            let xyz = spectrum_to_xyz(within);
            let moment = spectrum_to_xyz(|meters| within(meters) * meters * 1e9);
            *wavelength = moment.element_sum() / xyz.element_sum();
            *rgb = XYZ_TO_REC709 * xyz * EFFICACY;
        }
        Self { wavelength, rgb }
    }

    /// Linear Rec.709 in lux (or in nits, for radiance over irradiance) of `factor` times the
    /// source's light outside of the atmosphere, per band. Colors outside of the gamut are clipped
    /// to it at constant luminance.
    #[must_use]
    pub fn to_rgb(&self, factor: &Spectrum, source: SkySource) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for ((rgb, factor), wavelength) in self.rgb.iter().zip(factor).zip(&self.wavelength) {
            let soil = match source {
                SkySource::Sun => 1.0,
                SkySource::Moon => 1.0 + 0.0013 * (wavelength - 555.0),
            };
            sum += *rgb * (*factor * soil);
        }
        let luminance = crate::photometry::color::luminance(sum);
        let inside = sum.max(DVec3::ZERO);
        let grown = crate::photometry::color::luminance(inside);
        if grown > 0.0 && luminance > 0.0 { inside * (luminance / grown) } else { DVec3::ZERO }
    }

    /// A value for each band from its wavelength in nanometers.
    #[must_use]
    pub fn map(&self, value: impl Fn(f64) -> f64) -> Spectrum {
        self.wavelength.map(value)
    }
}

/// Illuminance of the Sun at 1 au on a plane that faces it: the integral of its spectrum.
///
/// 133 klx; Darula, Kittler and Gueymard, "Reference luminous solar constant and solar luminance
/// for illuminance calculations", Solar Energy 79 (2005), has 133.3. Older books (IES Lighting
/// Handbook) have 127.5.
#[must_use]
pub fn solar_illuminance() -> Lux {
    Lux(spectrum_to_xyz(|meters| solar_irradiance(meters * 1e9)).y * EFFICACY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::color::{
        Chromaticity, REC709_TO_XYZ, correlated_temperature, luminance,
    };

    #[test]
    fn the_sun_outside_of_the_air() {
        let lux = solar_illuminance().0;
        assert!((lux / 133_300.0 - 1.0).abs() < 0.01, "{lux}");
        let rgb = Bands::get().to_rgb(&[1.0; BANDS], SkySource::Sun);
        assert!((luminance(rgb) / lux - 1.0).abs() < 2e-4, "{rgb}");
        // ASTM E490 and most handbooks: about 5900 K outside of the air.
        let white = Chromaticity::from_xyz(REC709_TO_XYZ * rgb).map(correlated_temperature);
        assert!(
            matches!(white, Some(Ok((kelvin, _))) if (5700.0..6100.0).contains(&kelvin.0)),
            "{white:?}"
        );
        let moon = Chromaticity::from_xyz(
            REC709_TO_XYZ * Bands::get().to_rgb(&[1.0; BANDS], SkySource::Moon),
        );
        let kelvin = moon.map(correlated_temperature);
        assert!(
            matches!(kelvin, Some(Ok((kelvin, _))) if (4000.0..5200.0).contains(&kelvin.0)),
            "{kelvin:?}"
        );
    }

    /// Few bands stand for the whole spectrum: luminance and chromaticity of the beam against every
    /// nanometer.
    #[test]
    fn bands_are_enough() {
        let bands = Bands::get();
        for (mass, turbidity) in [(1.0, 2.0), (2.0, 3.0), (5.6, 2.0), (10.3, 4.0), (38.0, 2.0)] {
            let depth = |nm: f64| {
                mass * (rayleigh_depth(nm) + 0.3 * ozone_depth(nm) + aerosol_depth(nm, turbidity))
            };
            let fine =
                spectrum_to_xyz(|m| solar_irradiance(m * 1e9) * (-depth(m * 1e9)).exp()) * EFFICACY;
            let rgb = bands.to_rgb(&bands.map(|nm| (-depth(nm)).exp()), SkySource::Sun);
            let coarse = REC709_TO_XYZ * rgb;
            let error = coarse.y / fine.y - 1.0;
            println!(
                "air mass {mass}, turbidity {turbidity}: {:.1} lx, bands {:+.2} %",
                fine.y,
                error * 100.0
            );
            let bound = if mass < 20.0 { 0.003 } else { 0.02 };
            assert!(error.abs() < bound, "{mass} {turbidity}: {error}");
            let (a, b) = (Chromaticity::from_xyz(coarse), Chromaticity::from_xyz(fine));
            let shift = a.zip(b).map_or(1.0, |(a, b)| (a.to_uv() - b.to_uv()).length());
            // The setting Sun's red lies outside of the gamut.
            assert!(shift < 0.006 || mass > 20.0, "{mass} {turbidity}: {shift}");
        }
    }
}
