//! Color of light: Rec.709, the Planckian and the daylight locus, tint, chromatic adaptation,
//! white balance.
//!
//! Colors are linear Rec.709 triples in double precision. The color of a light always has
//! luminance 1, so a light's lumens do not depend on its kelvins.

use std::sync::OnceLock;

use glam::{DMat3, DVec2, DVec3, dvec2, dvec3};

use super::units::Kelvin;

/// Second radiation constant `h c / k` in m K: CODATA 2018.
pub const C2: f64 = 1.438_776_877e-2;

/// Valid color temperatures in K.
pub const KELVIN_LIMITS: [f64; 2] = [500.0, 1e6];

/// Color temperatures (K) for which the daylight locus is defined: CIE 15:2004, section 3.1.
const DAYLIGHT_LIMITS: [f64; 2] = [4000.0, 25_000.0];

/// Maximum distance from the Planckian locus (CIE 1960 uv) for which a correlated color temperature
/// is defined: CIE 15:2004, section 9.5.
pub const DUV_LIMIT: f64 = 0.05;

/// Invalid color input. Each message states the value and its valid range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ColorError {
    /// The color temperature is not within `KELVIN_LIMITS`.
    #[error("the color temperature is {0} K; it must lie between {min} and {max} K", min = KELVIN_LIMITS[0], max = KELVIN_LIMITS[1])]
    Kelvin(f64),
    /// The color temperature is not within `DAYLIGHT_LIMITS`.
    #[error("daylight of {0} K is not defined; it must lie between {min} and {max} K", min = DAYLIGHT_LIMITS[0], max = DAYLIGHT_LIMITS[1])]
    Daylight(f64),
    /// The tint is farther than `DUV_LIMIT` from zero or not a number.
    #[error("the tint is Duv {0}; it must lie between -{DUV_LIMIT} and {DUV_LIMIT}")]
    Duv(f64),
    /// The chromaticity is not physically possible.
    #[error("no light has the chromaticity x {x}, y {y}")]
    Chromaticity {
        /// CIE x.
        x: f64,
        /// CIE y.
        y: f64,
    },
    /// The picked sample is black, negative or not finite.
    #[error(
        "the picked color ({0}, {1}, {2}) has no white to balance to; pick a lit, neutral gray"
    )]
    Sample(f64, f64, f64),
}

/// A chromaticity in CIE 1931 xy.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Chromaticity {
    /// CIE x.
    pub x: f64,
    /// CIE y.
    pub y: f64,
}

/// The white of Rec.709 and sRGB: ITU-R BT.709-6, table 1 item 1.4; IEC 61966-2-1, section 4.
pub const D65: Chromaticity = Chromaticity { x: 0.3127, y: 0.3290 };

/// The primaries of Rec.709 and sRGB: ITU-R BT.709-6, table 1 item 1.3.
pub const REC709_PRIMARIES: [Chromaticity; 3] = [
    Chromaticity { x: 0.64, y: 0.33 },
    Chromaticity { x: 0.30, y: 0.60 },
    Chromaticity { x: 0.15, y: 0.06 },
];

/// Linear Rec.709 to CIE XYZ, as columns: `rgb_to_xyz_matrix` of the primaries and D65 (0.3127,
/// 0.3290).
pub const REC709_TO_XYZ: DMat3 = DMat3::from_cols(
    dvec3(0.412_390_799_265_959_4, 0.212_639_005_871_510_3, 0.019_330_818_715_591_82),
    dvec3(0.357_584_339_383_877_96, 0.715_168_678_767_755_9, 0.119_194_779_794_625_96),
    dvec3(0.180_480_788_401_834_3, 0.072_192_315_360_733_71, 0.950_532_152_249_660_7),
);

/// CIE XYZ to linear Rec.709, as columns: the inverse of `REC709_TO_XYZ`.
pub const XYZ_TO_REC709: DMat3 = DMat3::from_cols(
    dvec3(3.240_969_941_904_521_3, -0.969_243_636_280_879_4, 0.055_630_079_696_993_59),
    dvec3(-1.537_383_177_570_093_2, 1.875_967_501_507_720_2, -0.203_976_958_888_976_46),
    dvec3(-0.498_610_760_293_003_2, 0.041_555_057_407_175_56, 1.056_971_514_242_878_4),
);

impl Chromaticity {
    /// CIE XYZ of this chromaticity at the luminance `luminance`. Zero where y is zero.
    #[must_use]
    pub fn to_xyz(self, luminance: f64) -> DVec3 {
        if self.y == 0.0 {
            return DVec3::ZERO;
        }
        dvec3(self.x / self.y, 1.0, (1.0 - self.x - self.y) / self.y) * luminance
    }

    /// The chromaticity of an XYZ triple; `None` unless X + Y + Z is finite and above 0.
    #[must_use]
    pub fn from_xyz(xyz: DVec3) -> Option<Self> {
        let sum = xyz.element_sum();
        (sum.is_finite() && sum > 0.0).then(|| Self { x: xyz.x / sum, y: xyz.y / sum })
    }

    /// CIE 1960 uv: `u = 4x / (-2x + 12y + 3)`, `v = 6y / (-2x + 12y + 3)`. CIE 15:2004, section
    /// 9.5.
    #[must_use]
    pub fn to_uv(self) -> DVec2 {
        let d = -2.0 * self.x + 12.0 * self.y + 3.0;
        dvec2(4.0 * self.x / d, 6.0 * self.y / d)
    }

    /// From CIE 1960 uv: the inverse of `to_uv`, `x = 3u / (2u - 8v + 4)`, `y = 2v / (2u - 8v +
    /// 4)`.
    #[must_use]
    fn from_uv(uv: DVec2) -> Self {
        let d = 2.0 * uv.x - 8.0 * uv.y + 4.0;
        Self { x: 3.0 * uv.x / d, y: 2.0 * uv.y / d }
    }

    /// Validates this chromaticity: finite, x and y above 0 with a sum of at most 1.
    ///
    /// # Errors
    /// `ColorError::Chromaticity` otherwise.
    pub fn checked(self) -> Result<Self, ColorError> {
        if self.x > 0.0 && self.y > 1e-6 && self.x + self.y <= 1.0 {
            Ok(self)
        } else {
            Err(ColorError::Chromaticity { x: self.x, y: self.y })
        }
    }
}

/// The matrix from linear RGB of the given primaries (red, green, blue) and white (XYZ) to XYZ.
///
/// SMPTE RP 177:1993, section 3.3. The primaries must not lie on one line.
#[must_use]
pub fn rgb_to_xyz_matrix(primaries: [Chromaticity; 3], white: DVec3) -> DMat3 {
    let [r, g, b] = primaries.map(|p| p.to_xyz(1.0));
    let columns = DMat3::from_cols(r, g, b);
    columns * DMat3::from_diagonal(columns.inverse() * white)
}

/// Weights of linear Rec.709 red, green and blue in luminance.
///
/// ITU-R BT.709-6, table 1 item 3.2; the four digits differ from the Y row of `REC709_TO_XYZ` by
/// 4e-5.
pub const LUMINANCE_WEIGHTS: DVec3 = dvec3(0.2126, 0.7152, 0.0722);

/// Luminance of a linear Rec.709 color, in the unit of the channels.
#[must_use]
pub fn luminance(rgb: DVec3) -> f64 {
    rgb.dot(LUMINANCE_WEIGHTS)
}

/// Display-linear to sRGB code value, 0 to 1 each; odd beyond. IEC 61966-2-1:1999, section 5.2.
#[must_use]
pub fn srgb_oetf(linear: f64) -> f64 {
    let a = linear.abs();
    let code = if a <= 0.003_130_8 { 12.92 * a } else { 1.055 * a.powf(1.0 / 2.4) - 0.055 };
    code.copysign(linear)
}

/// sRGB code value to display-linear, 0 to 1 each; odd beyond. IEC 61966-2-1:1999, section 5.2.
#[must_use]
pub fn srgb_eotf(code: f64) -> f64 {
    let a = code.abs();
    let linear = if a <= 0.040_45 { a / 12.92 } else { ((a + 0.055) / 1.055).powf(2.4) };
    linear.copysign(code)
}

/// [`srgb_oetf`] in single precision, clamped to 0 to 1.
#[must_use]
pub fn srgb_oetf_f32(linear: f32) -> f32 {
    let linear = linear.clamp(0.0, 1.0);
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// [`srgb_eotf`] in single precision, clamped to 0 to 1.
#[must_use]
pub fn srgb_eotf_f32(code: f32) -> f32 {
    let code = code.clamp(0.0, 1.0);
    if code <= 0.040_45 { code / 12.92 } else { ((code + 0.055) / 1.055).powf(2.4) }
}

/// The CIE 1931 2-degree color matching functions: wavelength in meters and x, y, z bar, every
/// nanometer.
///
/// ISO/CIE 11664-1; origin of the file in `assets/README.md`.
fn observer() -> &'static [(f64, DVec3)] {
    static TABLE: OnceLock<Vec<(f64, DVec3)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        include_str!("../../assets/cie1931/xyz_1nm_360_830.csv")
            .lines()
            .filter_map(|line| {
                let mut numbers = line.split(',').map(|field| field.trim().parse::<f64>().ok());
                let mut next = || numbers.next().flatten();
                Some((next()? * 1e-9, dvec3(next()?, next()?, next()?)))
            })
            .collect()
    })
}

/// CIE XYZ, at an arbitrary scale, of a spectrum given by its power at a wavelength in meters.
///
/// ISO/CIE 11664-3, equation 1, summed every nanometer from 360 to 830 nm.
#[must_use]
pub fn spectrum_to_xyz(power: impl Fn(f64) -> f64) -> DVec3 {
    observer().iter().fold(DVec3::ZERO, |sum, &(wavelength, bar)| sum + bar * power(wavelength))
}

/// Chromaticity of a black body, 500 to 1 000 000 K.
///
/// Planck's law, `M ~ lambda^-5 / (exp(c2 / (lambda T)) - 1)`, with the CIE 1931 2-degree observer.
///
/// # Errors
/// A temperature outside of `KELVIN_LIMITS` or not a number.
pub fn planckian(temperature: Kelvin) -> Result<Chromaticity, ColorError> {
    let t = temperature.0;
    if !(KELVIN_LIMITS[0]..=KELVIN_LIMITS[1]).contains(&t) {
        return Err(ColorError::Kelvin(t));
    }
    // Scaled to about 1 near 560 nm at any temperature.
    let scale = (C2 / (560e-9 * t)).exp_m1();
    let xyz =
        spectrum_to_xyz(|lambda| (560e-9 / lambda).powi(5) * scale / (C2 / (lambda * t)).exp_m1());
    Chromaticity::from_xyz(xyz).ok_or(ColorError::Kelvin(t))
}

/// Chromaticity of a phase of daylight (CIE D series), 4000 to 25 000 K.
///
/// CIE 15:2004, section 3.1. D65 is 6504 K here, since c2 was revised after its definition.
///
/// # Errors
/// A temperature outside of `DAYLIGHT_LIMITS` or not a number.
pub fn daylight(temperature: Kelvin) -> Result<Chromaticity, ColorError> {
    let t = temperature.0;
    if !(DAYLIGHT_LIMITS[0]..=DAYLIGHT_LIMITS[1]).contains(&t) {
        return Err(ColorError::Daylight(t));
    }
    let u = 1e3 / t;
    let x = if t <= 7000.0 {
        ((-4.6070 * u + 2.9678) * u + 0.099_11) * u + 0.244_063
    } else {
        ((-2.0064 * u + 1.9018) * u + 0.247_48) * u + 0.237_040
    };
    Ok(Chromaticity { x, y: (-3.0 * x + 2.870) * x - 0.275 })
}

/// The unit normal of the Planckian locus in CIE 1960 uv at a temperature, towards green (greater
/// v).
fn locus_normal(t: f64) -> Result<DVec2, ColorError> {
    // Two temperatures 0.2 % apart, kept within the limits.
    let (low, high) = ((t * 0.999).max(KELVIN_LIMITS[0]), (t * 1.001).min(KELVIN_LIMITS[1]));
    let tangent = planckian(Kelvin(high))?.to_uv() - planckian(Kelvin(low))?.to_uv();
    let normal = tangent.perp().normalize_or_zero();
    Ok(if normal.y < 0.0 { -normal } else { normal })
}

/// Chromaticity of a black body with a tint: `duv` is the offset perpendicular to the locus in CIE
/// 1960 uv, at most `DUV_LIMIT`; positive is greener, negative more magenta.
///
/// ANSI C78.377-2017, annex; Ohno, "Practical use and calculation of CCT and Duv", Leukos 10
/// (2014).
///
/// # Errors
/// A temperature outside of `KELVIN_LIMITS`, or a tint outside of `DUV_LIMIT`, or not numbers.
pub fn planckian_tinted(temperature: Kelvin, duv: f64) -> Result<Chromaticity, ColorError> {
    // This form also rejects NaN.
    if !(-DUV_LIMIT..=DUV_LIMIT).contains(&duv) {
        return Err(ColorError::Duv(duv));
    }
    let on_locus = planckian(temperature)?;
    if duv == 0.0 {
        return Ok(on_locus);
    }
    Chromaticity::from_uv(on_locus.to_uv() + locus_normal(temperature.0)? * duv).checked()
}

/// Chromaticity of a phase of daylight with a tint, the offset `duv` along the same normal as
/// `planckian_tinted`'s.
///
/// # Errors
/// A temperature outside of `DAYLIGHT_LIMITS`, or a tint outside of `DUV_LIMIT`, or not numbers.
pub fn daylight_tinted(temperature: Kelvin, duv: f64) -> Result<Chromaticity, ColorError> {
    if !(-DUV_LIMIT..=DUV_LIMIT).contains(&duv) {
        return Err(ColorError::Duv(duv));
    }
    let on_locus = daylight(temperature)?;
    if duv == 0.0 {
        return Ok(on_locus);
    }
    Chromaticity::from_uv(on_locus.to_uv() + locus_normal(temperature.0)? * duv).checked()
}

/// Correlated color temperature and Duv of a chromaticity, by the nearest point of the locus in
/// CIE 1960 uv.
///
/// CIE 15:2004, section 9.5. Searched from 1000 to 100 000 K.
///
/// # Errors
/// An impossible chromaticity, or one farther than `DUV_LIMIT` from the locus.
pub fn correlated_temperature(chromaticity: Chromaticity) -> Result<(Kelvin, f64), ColorError> {
    let target = chromaticity.checked()?.to_uv();
    // Equal steps of reciprocal temperature (mired) are nearly equal steps along the locus.
    let at =
        |mired: f64| planckian(Kelvin(1e6 / mired)).map(|c| (c.to_uv() - target).length_squared());
    let (first, last, steps) = (10.0, 1000.0, 99);
    let step = (last - first) / f64::from(steps);
    let mut best = (f64::INFINITY, first);
    for i in 0..=steps {
        let mired = first + step * f64::from(i);
        let distance = at(mired)?;
        if distance < best.0 {
            best = (distance, mired);
        }
    }
    // Golden section around the best step.
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = ((best.1 - step).max(first), (best.1 + step).min(last));
    for _ in 0..48 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if at(a)? < at(b)? {
            high = b;
        } else {
            low = a;
        }
    }
    let kelvin = 2e6 / (low + high);
    let offset = target - planckian(Kelvin(kelvin))?.to_uv();
    let duv = offset.length().copysign(offset.dot(locus_normal(kelvin)?));
    if duv.abs() <= DUV_LIMIT { Ok((Kelvin(kelvin), duv)) } else { Err(ColorError::Duv(duv)) }
}

/// Linear Rec.709 color of a light with that chromaticity, at luminance 1. Negative channels (blue
/// below about 1900 K) are clamped to 0 and the rest rescaled to luminance 1.
///
/// # Errors
/// An impossible chromaticity.
pub fn light_color(chromaticity: Chromaticity) -> Result<DVec3, ColorError> {
    let rgb = (XYZ_TO_REC709 * chromaticity.checked()?.to_xyz(1.0)).max(DVec3::ZERO);
    // By the exact Y row, so that colors inside the gamut are unchanged.
    let y = (REC709_TO_XYZ * rgb).y;
    if y > 0.0 {
        Ok(rgb / y)
    } else {
        Err(ColorError::Chromaticity { x: chromaticity.x, y: chromaticity.y })
    }
}

/// True if `light_color` clips this chromaticity: a Rec.709 channel is negative.
///
/// # Errors
/// An impossible chromaticity.
pub fn outside_rec709(chromaticity: Chromaticity) -> Result<bool, ColorError> {
    // Tolerance for rounding of colors on the gamut boundary.
    Ok((XYZ_TO_REC709 * chromaticity.checked()?.to_xyz(1.0)).min_element() < -1e-4)
}

/// Linear Rec.709 color of a black body at luminance 1: `planckian`, then `light_color`.
///
/// # Errors
/// A temperature outside of `KELVIN_LIMITS` or not a number.
pub fn kelvin_to_rgb(temperature: Kelvin) -> Result<DVec3, ColorError> {
    light_color(planckian(temperature)?)
}

/// A cone-like space in which chromatic adaptation scales channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adaptation {
    /// CAT16: Li et al., "Comprehensive color solutions: CAM16, CAT16, and CAM16-UCS", Color Res.
    /// Appl. 42 (2017), eq. 7.
    #[default]
    Cat16,
    /// Bradford, linearized: ICC.1:2022, annex E.
    Bradford,
}

impl Adaptation {
    /// XYZ to this space, as columns.
    #[must_use]
    pub const fn matrix(self) -> DMat3 {
        match self {
            Self::Cat16 => DMat3::from_cols(
                dvec3(0.401_288, -0.250_268, -0.002_079),
                dvec3(0.650_173, 1.204_414, 0.048_952),
                dvec3(-0.051_461, 0.045_854, 0.953_127),
            ),
            Self::Bradford => DMat3::from_cols(
                dvec3(0.8951, -0.7502, 0.0389),
                dvec3(0.2664, 1.7135, -0.0685),
                dvec3(-0.1614, 0.0367, 1.0296),
            ),
        }
    }

    /// The matrix on XYZ that makes the white `from` into the white `to` (both XYZ), full
    /// adaptation.
    #[must_use]
    pub fn adapt_xyz(self, from: DVec3, to: DVec3) -> DMat3 {
        let m = self.matrix();
        m.inverse() * DMat3::from_diagonal((m * to) / (m * from)) * m
    }

    /// The matrix on linear Rec.709 that shows light of chromaticity `scene_white` as neutral
    /// (D65), luminance kept.
    ///
    /// # Errors
    /// An impossible chromaticity, or one so saturated that a cone response is not above 0.
    pub fn white_balance(self, scene_white: Chromaticity) -> Result<DMat3, ColorError> {
        let from = scene_white.checked()?.to_xyz(1.0);
        if (self.matrix() * from).min_element() <= 1e-4 {
            return Err(ColorError::Chromaticity { x: scene_white.x, y: scene_white.y });
        }
        Ok(XYZ_TO_REC709 * self.adapt_xyz(from, D65.to_xyz(1.0)) * REC709_TO_XYZ)
    }
}

/// White balance setting: the chromaticity that the camera renders neutral.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhiteBalance {
    /// The white of Rec.709: no change.
    #[default]
    Neutral,
    /// Incandescent lamps: a black body of 3000 K.
    Incandescent,
    /// Cool white fluorescent lamps: CIE illuminant F2, 4230 K (CIE 15:2004).
    Fluorescent,
    /// Direct sunlight: the daylight locus at 5200 K.
    Daylight,
    /// Flash: the daylight locus at 5400 K.
    Flash,
    /// An overcast sky: the daylight locus at 6000 K.
    Cloudy,
    /// Shade under a blue sky: the daylight locus at 8000 K.
    Shade,
    /// A black body with a tint.
    Temperature {
        /// Correlated color temperature.
        kelvin: Kelvin,
        /// Offset from the locus in CIE 1960 uv; positive is a greener light.
        duv: f64,
    },
    /// A chromaticity, such as that of a picked gray card.
    White(Chromaticity),
}

impl WhiteBalance {
    /// The presets by their names on cameras.
    pub const PRESETS: [(&'static str, Self); 6] = [
        ("incandescent", Self::Incandescent),
        ("fluorescent", Self::Fluorescent),
        ("daylight", Self::Daylight),
        ("flash", Self::Flash),
        ("cloudy", Self::Cloudy),
        ("shade", Self::Shade),
    ];

    /// From a picked sample of a neutral card: its linear Rec.709 color before any white balance,
    /// at any exposure.
    ///
    /// # Errors
    /// A sample that is black, not finite, or not the color of a light.
    pub fn from_gray_card(sample: DVec3) -> Result<Self, ColorError> {
        let refuse = || ColorError::Sample(sample.x, sample.y, sample.z);
        if !sample.is_finite() || luminance(sample) <= 0.0 {
            return Err(refuse());
        }
        let white = Chromaticity::from_xyz(REC709_TO_XYZ * sample).ok_or_else(refuse)?.checked()?;
        Ok(Self::White(white))
    }

    /// The white chromaticity. The presets' temperatures are those of Nikon's
    /// reference manuals (D850, "White Balance": 3000, 4200, 5200, 5400, 6000, 8000 K).
    ///
    /// # Errors
    /// A temperature, tint or chromaticity out of range.
    pub fn white(self) -> Result<Chromaticity, ColorError> {
        match self {
            Self::Neutral => Ok(D65),
            Self::Incandescent => planckian(Kelvin(3000.0)),
            Self::Fluorescent => Ok(Chromaticity { x: 0.3721, y: 0.3751 }),
            Self::Daylight => daylight(Kelvin(5200.0)),
            Self::Flash => daylight(Kelvin(5400.0)),
            Self::Cloudy => daylight(Kelvin(6000.0)),
            Self::Shade => daylight(Kelvin(8000.0)),
            Self::Temperature { kelvin, duv } => planckian_tinted(kelvin, duv),
            Self::White(white) => white.checked(),
        }
    }

    /// White balance matrix on exposed linear Rec.709: makes this white neutral and keeps its
    /// luminance.
    ///
    /// # Errors
    /// As `white`, and a white too saturated to adapt to.
    pub fn matrix(self, adaptation: Adaptation) -> Result<DMat3, ColorError> {
        match self {
            Self::Neutral => Ok(DMat3::IDENTITY),
            _ => adaptation.white_balance(self.white()?),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    fn near(got: DVec3, want: [f64; 3], tolerance: f64) {
        let want = DVec3::from_array(want);
        assert!(
            (got - want).abs().max_element() <= tolerance,
            "{got} is not {want} within {tolerance}"
        );
    }

    fn near_xy(got: Chromaticity, x: f64, y: f64, tolerance: f64) {
        near(dvec3(got.x, got.y, 0.0), [x, y, 0.0], tolerance);
    }

    #[test]
    fn the_observer_is_whole() {
        let table = observer();
        assert_eq!(table.len(), 471);
        for (i, row) in table.iter().enumerate() {
            assert!((row.0 * 1e9 - (360.0 + i as f64)).abs() < 1e-6);
        }
        near(spectrum_to_xyz(|_| 1.0), [106.865_469, 106.856_917, 106.892_251], 1e-6);
    }

    #[test]
    fn planckian_locus() {
        for (t, x, y) in [
            (2000.0, 0.5267, 0.4133),
            (2700.0, 0.4599, 0.4106),
            (4000.0, 0.3804, 0.3767),
            (5000.0, 0.3451, 0.3516),
            (6500.0, 0.3135, 0.3236),
            (10_000.0, 0.2806, 0.2883),
        ] {
            near_xy(planckian(Kelvin(t)).unwrap(), x, y, 6e-5);
        }
        // CIE illuminant A is a black body of 2856 K: 0.44758, 0.40745 (CIE 15:2004).
        near_xy(planckian(Kelvin(2855.5)).unwrap(), 0.44758, 0.40745, 2e-5);
        near_xy(planckian(Kelvin(1e6)).unwrap(), 0.240_134, 0.234_419, 1e-6);
    }

    #[test]
    fn kelvin_in_rgb() {
        // With the white (0.95047, 1, 1.08883) that many tables use: the published digits.
        let rounded = rgb_to_xyz_matrix(REC709_PRIMARIES, dvec3(0.95047, 1.0, 1.08883)).inverse();
        // With D65 = (0.3127, 0.3290) as BT.709 has it, computed by a separate script.
        for (t, published, exact) in [
            (2000.0, [2.5199, 0.6469, 0.0204], [2.520_271_6, 0.646_864_9, 0.020_424_3]),
            (2700.0, [1.9348, 0.8036, 0.1918], [1.935_100_1, 0.803_553_1, 0.191_796_3]),
            (4000.0, [1.4138, 0.9240, 0.5335], [1.413_998_3, 0.924_006_0, 0.533_417_4]),
            (6500.0, [1.0432, 0.9836, 1.0352], [1.043_383_4, 0.983_570_6, 1.034_972_6]),
            (10_000.0, [0.8718, 0.9946, 1.4310], [0.871_960_7, 0.994_595_6, 1.430_672_1]),
        ] {
            let rgb = kelvin_to_rgb(Kelvin(t)).unwrap();
            near(rgb, exact, 1e-6);
            near(rgb, published, 4e-4);
            near(rounded * planckian(Kelvin(t)).unwrap().to_xyz(1.0), published, 7e-5);
        }
    }

    #[test]
    fn luminance_does_not_depend_on_kelvin() {
        for t in [500.0, 1000.0, 1500.0, 1850.0, 2700.0, 6504.0, 20_000.0, 1e6] {
            let rgb = kelvin_to_rgb(Kelvin(t)).unwrap();
            assert!(rgb.min_element() >= 0.0);
            assert!(((REC709_TO_XYZ * rgb).y - 1.0).abs() < 1e-12);
            assert!((luminance(rgb) - 1.0).abs() < 3e-4);
        }
        // The blue that is clamped at 1850 K.
        let raw = XYZ_TO_REC709 * planckian(Kelvin(1850.0)).unwrap().to_xyz(1.0);
        assert!((raw.z + 0.0098).abs() < 5e-5);
        assert_eq!(kelvin_to_rgb(Kelvin(1850.0)).unwrap().z, 0.0);
    }

    #[test]
    fn d65_is_not_a_black_body() {
        near_xy(daylight(Kelvin(6504.0)).unwrap(), D65.x, D65.y, 1.5e-4);
        near(light_color(D65).unwrap(), [1.0; 3], 1e-12);
        let (cct, duv) = correlated_temperature(D65).unwrap();
        assert!((cct.0 - 6504.0).abs() < 3.0, "{cct}");
        assert!((duv - 0.0032).abs() < 1e-4, "{duv}");
        // D50 and D75 (CIE 15:2004); both halves of the locus meet at 7000 K.
        near_xy(daylight(Kelvin(5003.0)).unwrap(), 0.3457, 0.3585, 1e-4);
        near_xy(daylight(Kelvin(7504.0)).unwrap(), 0.2990, 0.3149, 1e-4);
        let (a, b) = (daylight(Kelvin(7000.0)).unwrap(), daylight(Kelvin(7000.001)).unwrap());
        near_xy(a, b.x, b.y, 1e-4);
    }

    #[test]
    fn matrices() {
        let derived = rgb_to_xyz_matrix(REC709_PRIMARIES, D65.to_xyz(1.0));
        assert!(derived.abs_diff_eq(REC709_TO_XYZ, 1e-14));
        assert!((REC709_TO_XYZ * XYZ_TO_REC709).abs_diff_eq(DMat3::IDENTITY, 1e-14));
        assert!((luminance(DVec3::ONE) - 1.0).abs() < 1e-12);
        // The row of luminance to the digits of BT.709.
        near(REC709_TO_XYZ.row(1), [0.2126, 0.7152, 0.0722], 5e-5);
    }

    #[test]
    fn transfer() {
        for i in -20..=1020 {
            let x = f64::from(i) / 1000.0;
            assert!((srgb_eotf(srgb_oetf(x)) - x).abs() < 1e-6, "{x}");
        }
        assert!((srgb_oetf(0.18) - 0.461_356).abs() < 1e-6);
        assert!((srgb_eotf(0.5) - 0.214_041).abs() < 1e-6);
        assert_eq!((srgb_oetf(0.0), srgb_eotf(0.0), srgb_eotf(1.0)), (0.0, 0.0, 1.0));
    }

    #[test]
    fn tint() {
        for t in [2856.0, 4000.0, 6500.0, 15_000.0] {
            for duv in [-0.02, -0.005, 0.0, 0.005, 0.02] {
                let c = planckian_tinted(Kelvin(t), duv).unwrap();
                let (back, back_duv) = correlated_temperature(c).unwrap();
                assert!((back.0 / t - 1.0).abs() < 2e-3, "{t} {duv}: {back}");
                assert!((back_duv - duv).abs() < 2e-5, "{t} {duv}: {back_duv}");
            }
            let green = light_color(planckian_tinted(Kelvin(t), 0.01).unwrap()).unwrap();
            let plain = kelvin_to_rgb(Kelvin(t)).unwrap();
            assert!(green.y > plain.y && green.x < plain.x);
        }
        // So warm and so green that no light has that color.
        assert!(matches!(
            planckian_tinted(Kelvin(1500.0), 0.02),
            Err(ColorError::Chromaticity { .. })
        ));
    }

    #[test]
    fn adaptation() {
        // Lindbloom, "Chromatic Adaptation": Bradford from D65 to D50.
        let (d65, d50) = (dvec3(0.95047, 1.0, 1.08883), dvec3(0.96422, 1.0, 0.82521));
        let m = Adaptation::Bradford.adapt_xyz(d65, d50);
        near(m.row(0), [1.047_811_2, 0.022_886_6, -0.050_127_0], 1e-6);
        near(m.row(1), [0.029_542_4, 0.990_484_4, -0.017_049_1], 1e-6);
        near(m.row(2), [-0.009_234_5, 0.015_043_6, 0.752_131_6], 1e-6);
        let m = Adaptation::Cat16.adapt_xyz(d65, d50);
        near(m.row(0), [1.010_822_6, 0.040_599_1, -0.034_106_0], 1e-6);
        near(m.row(2), [0.000_250_8, -0.011_480_2, 0.768_211_5], 1e-6);
        for method in [Adaptation::Cat16, Adaptation::Bradford] {
            near(method.adapt_xyz(d65, d50) * d65, d50.to_array(), 1e-12);
            let there_and_back = method.adapt_xyz(d50, d65) * method.adapt_xyz(d65, d50);
            assert!(there_and_back.abs_diff_eq(DMat3::IDENTITY, 1e-12));
        }
    }

    #[test]
    fn balanced_whites_are_neutral() {
        for method in [Adaptation::Cat16, Adaptation::Bradford] {
            for (name, preset) in WhiteBalance::PRESETS {
                let light = XYZ_TO_REC709 * preset.white().unwrap().to_xyz(1.0);
                let seen = preset.matrix(method).unwrap() * light;
                assert!((seen - DVec3::ONE).abs().max_element() < 1e-9, "{name}: {seen}");
            }
            let custom = WhiteBalance::Temperature { kelvin: Kelvin(3200.0), duv: 0.004 };
            let light = light_color(custom.white().unwrap()).unwrap();
            near(custom.matrix(method).unwrap() * light, [1.0; 3], 1e-9);
            // A gray card under tungsten, at any exposure.
            let card = kelvin_to_rgb(Kelvin(2700.0)).unwrap() * 0.18 * 37.0;
            let seen = WhiteBalance::from_gray_card(card).unwrap().matrix(method).unwrap() * card;
            near(seen / (0.18 * 37.0), [1.0; 3], 1e-9);
        }
        assert_eq!(WhiteBalance::default().matrix(Adaptation::Cat16).unwrap(), DMat3::IDENTITY);
    }

    #[test]
    fn presets_have_their_published_chromaticities() {
        // Planck: Wyszecki and Stiles, "Color Science", 2nd ed., table 1(3.11), 3000 K. F2: CIE
        // 15:2004, table T.6.1. The daylight locus: table 1(3.3.4) there, at 6000 and 8000 K; at
        // 5200 and 5400 K by the equations of CIE 15:2004, 3.1, with a pocket calculator.
        for (preset, x, y) in [
            (WhiteBalance::Neutral, 0.3127, 0.3290),
            (WhiteBalance::Incandescent, 0.4369, 0.4041),
            (WhiteBalance::Fluorescent, 0.3721, 0.3751),
            (WhiteBalance::Daylight, 0.3401, 0.3541),
            (WhiteBalance::Flash, 0.3349, 0.3497),
            (WhiteBalance::Cloudy, 0.3217, 0.3378),
            (WhiteBalance::Shade, 0.2938, 0.3092),
        ] {
            let white = preset.white().unwrap();
            assert!(
                (white.x - x).abs() < 1.5e-4 && (white.y - y).abs() < 1.5e-4,
                "{preset:?}: {white:?}"
            );
        }
    }

    #[test]
    fn bad_input_is_named() {
        for bad in [0.0, -5.0, 499.0, 2e6, f64::NAN, f64::INFINITY] {
            assert!(matches!(planckian(Kelvin(bad)), Err(ColorError::Kelvin(_))));
            assert!(matches!(daylight(Kelvin(bad)), Err(ColorError::Daylight(_))));
        }
        assert!(matches!(planckian_tinted(Kelvin(4000.0), f64::NAN), Err(ColorError::Duv(_))));
        assert!(matches!(planckian_tinted(Kelvin(4000.0), 0.06), Err(ColorError::Duv(_))));
        for bad in [DVec3::ZERO, DVec3::NAN, -DVec3::ONE, DVec3::INFINITY] {
            assert!(WhiteBalance::from_gray_card(bad).is_err());
        }
        for (x, y) in [(0.0, 0.0), (f64::NAN, 0.3), (0.7, 0.7), (-0.1, 0.5)] {
            let white = Chromaticity { x, y };
            assert!(
                light_color(white).is_err()
                    && WhiteBalance::White(white).matrix(Adaptation::Cat16).is_err()
            );
            assert!(correlated_temperature(white).is_err());
        }
        assert!(matches!(
            correlated_temperature(Chromaticity { x: 0.2, y: 0.7 }),
            Err(ColorError::Duv(_))
        ));
    }
}
