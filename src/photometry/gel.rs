//! Gels: color filters in front of lights.
//!
//! A gel is a conversion filter (`CTO`, daylight to tungsten; `CTB`, tungsten to daylight; with
//! `1/2`, `1/4` or `1/8` before it), a neutral density filter (`0.3 ND`), a color compensating
//! filter (`CC30M`: density 0.30, magenta) or the transmittances of red, green and blue
//! (`0.9 0.5 0.2`). `+` stacks gels; the light passes the first one first.

use glam::{DVec3, dvec3};

use super::{
    color::{
        Chromaticity, KELVIN_LIMITS, REC709_TO_XYZ, correlated_temperature, kelvin_to_rgb,
        light_color, luminance, planckian_tinted,
    },
    units::Kelvin,
};

/// Color temperature (K) at which a conversion filter acts on light that has none: white.
const WHITE: f64 = 6504.0;

/// Minimum color temperature (K) at which a conversion filter acts by temperature: colder light has
/// no blue in Rec.709.
const MIN_KELVIN: f64 = 1900.0;

/// Reciprocal temperatures (mired) of the sources of published transmittances: CIE illuminants C
/// (6774 K) and A (2856 K).
const SOURCES: [f64; 2] = [1e6 / 6774.0, 1e6 / 2856.0];

/// Filters by name: mired shift, and luminous transmittance of illuminants C and A.
///
/// LEE Filters, technical data of the filters 204, 205, 206, 223 (CTO), 201, 202, 203, 218 (CTB),
/// 298, 209, 210 and 211 (ND). Filter 211 has no consistent value for illuminant A; that for C
/// stands for both.
const FILTERS: [(&str, f64, [f64; 2]); 12] = [
    ("CTO", 159.0, [0.554, 0.628]),
    ("1/2 CTO", 109.0, [0.708, 0.745]),
    ("1/4 CTO", 64.0, [0.791, 0.826]),
    ("1/8 CTO", 26.0, [0.852, 0.850]),
    ("CTB", -137.0, [0.340, 0.350]),
    ("1/2 CTB", -78.0, [0.549, 0.532]),
    ("1/4 CTB", -35.0, [0.693, 0.705]),
    ("1/8 CTB", -18.0, [0.813, 0.802]),
    ("0.15 ND", 0.0, [0.693, 0.711]),
    ("0.3 ND", 0.0, [0.512, 0.500]),
    ("0.6 ND", 0.0, [0.235, 0.245]),
    ("0.9 ND", 0.0, [0.137, 0.137]),
];

/// Color compensating filters: letter, and the channels that they absorb.
const COMPENSATING: [(char, DVec3); 6] = [
    ('C', dvec3(1.0, 0.0, 0.0)),
    ('M', dvec3(0.0, 1.0, 0.0)),
    ('Y', dvec3(0.0, 0.0, 1.0)),
    ('R', dvec3(0.0, 1.0, 1.0)),
    ('G', dvec3(1.0, 0.0, 1.0)),
    ('B', dvec3(1.0, 1.0, 0.0)),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Filter {
    /// Mired shift, and luminous transmittance of the illuminants C and A.
    Conversion(f64, [f64; 2]),
    /// Transmittances of red, green and blue.
    Channels(DVec3),
}

/// A gel, or a stack of gels.
#[derive(Clone, Debug, PartialEq)]
pub struct Gel(Vec<Filter>);

impl Gel {
    /// Parses a gel (see the module); `None` for an unknown name or a transmittance outside of 0 to
    /// 1. Letters may be upper or lower case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.split('+').map(|part| filter(part.trim())).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Color of light behind the gel: linear Rec.709, in the unit of the channels.
    ///
    /// A conversion filter adds its mired shift to the light's reciprocal correlated color
    /// temperature and keeps its Duv. It transmits the published part of the luminance,
    /// interpolated between both illuminants by reciprocal temperature. Light below 1900 K, or too
    /// colored for a color temperature, is filtered channel by channel as white is.
    #[must_use]
    pub fn filtered(&self, color: DVec3) -> DVec3 {
        self.0.iter().fold(color, |color, filter| match *filter {
            Filter::Channels(transmittance) => color * transmittance,
            Filter::Conversion(shift, transmittances) => converted(color, shift, transmittances),
        })
    }
}

fn filter(text: &str) -> Option<Filter> {
    let named = FILTERS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(text));
    if let Some((_, shift, transmittances)) = named {
        return Some(Filter::Conversion(*shift, *transmittances));
    }
    let upper = text.to_ascii_uppercase();
    if let Some(rest) = upper.strip_prefix("CC") {
        let (_, absorbed) = COMPENSATING.iter().find(|(letter, _)| rest.ends_with(*letter))?;
        let digits = rest.get(..rest.len() - 1)?;
        let is_density =
            (2..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        // The digits follow the decimal point: 30 is 0.30, 025 is 0.025.
        let density: f64 = is_density.then(|| format!("0.{digits}").parse().ok()).flatten()?;
        return Some(Filter::Channels((*absorbed * -density).map(|power| 10f64.powf(power))));
    }
    let numbers = text.split([' ', ',']).filter(|part| !part.is_empty());
    let numbers: Vec<f64> = numbers.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let channels = DVec3::from_array(numbers.try_into().ok()?);
    let is_passive = channels.to_array().iter().all(|channel| (0.0..=1.0).contains(channel));
    is_passive.then_some(Filter::Channels(channels))
}

/// Luminous transmittance at a reciprocal temperature (mired).
fn transmittance([daylight, tungsten]: [f64; 2], mired: f64) -> f64 {
    let part = ((mired - SOURCES[0]) / (SOURCES[1] - SOURCES[0])).clamp(0.0, 1.0);
    daylight + (tungsten - daylight) * part
}

/// Color temperature (K) after a mired shift, within the limits.
fn shifted(kelvin: f64, shift: f64) -> Kelvin {
    let mired = (1e6 / kelvin + shift).max(1e6 / KELVIN_LIMITS[1]);
    Kelvin((1e6 / mired).clamp(KELVIN_LIMITS[0], KELVIN_LIMITS[1]))
}

fn converted(color: DVec3, shift: f64, transmittances: [f64; 2]) -> DVec3 {
    let chromaticity = Chromaticity::from_xyz(REC709_TO_XYZ * color);
    let temperature = chromaticity
        .and_then(|of| correlated_temperature(of).ok())
        .filter(|(kelvin, _)| kelvin.get() >= MIN_KELVIN);
    let kelvin = temperature.map_or(WHITE, |(kelvin, _)| kelvin.get());
    let part = transmittance(transmittances, 1e6 / kelvin);
    if shift == 0.0 {
        return color * part;
    }
    let to = shifted(kelvin, shift);
    let filtered = temperature.and_then(|(_, duv)| {
        let rgb = planckian_tinted(to, duv).and_then(light_color).ok()?;
        Some(rgb * (luminance(color) * part / luminance(rgb)))
    });
    filtered.unwrap_or_else(|| {
        let [white, behind] = [Kelvin(WHITE), shifted(WHITE, shift)]
            .map(|kelvin| kelvin_to_rgb(kelvin).unwrap_or(DVec3::ONE));
        color * behind / white * part
    })
}
