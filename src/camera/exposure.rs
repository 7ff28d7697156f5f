//! Exposure: converts scene luminance in nits to display-referred values.
//!
//! An [`Exposure`] holds an `Ev100` from the dials of a camera, a reflected-light reading (nits) or
//! an incident-light reading (lux). [`Exposure::multiplier`] scales luminance.

use crate::photometry::{Ev100, Lux, Nit};

/// Reflected-light meter calibration constant `K`, in cd/m2 * s * ISO.
///
/// ISO 2720:1974 allows 10.6 to 13.4; 12.5 is what Canon, Nikon and Sekonic use.
pub const REFLECTED_CALIBRATION_K: f64 = 12.5;

/// Incident-light meter calibration constant `C` of a flat (cosine) receptor, in lx * s * ISO.
///
/// ISO 2720:1974 allows 240 to 400 for a flat receptor; 250 is the usual choice. With `K` = 12.5 it
/// agrees with a reflected reading of a Lambertian card of reflectance `pi K / C` = 0.157.
pub const INCIDENT_CALIBRATION_C_FLAT: f64 = 250.0;

/// Incident-light meter calibration constant `C` of a hemispherical (cardioid) receptor, in lx * s
/// * ISO.
///
/// ISO 2720:1974 allows 320 to 540 for a hemisphere; 340 is what Sekonic uses. A flat receptor has
/// another constant.
pub const INCIDENT_CALIBRATION_C_DOME: f64 = 340.0;

/// Saturation luminance over `2^EV100`, in nits: `78 / (100 q)` with `q` = 0.65.
///
/// ISO 12232:2006 section 6.1 (saturation-based speed, 78) as used by Lagarde and de Rousiers,
/// "Moving Frostbite to PBR" (2014), section 5.1.
pub const SATURATION_FACTOR: f64 = 1.2;

/// Maximum absolute EV100 in stops; within it every multiplier is a normal `f32`.
pub const EV100_LIMIT: f64 = 64.0;

/// Invalid exposure input. Each message states the value and its valid range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ExposureError {
    /// The f-number is zero, negative, infinite or not a number.
    #[error("the f-number is {0}; it must be a finite number above 0, such as 2.8")]
    FStop(f64),
    /// The exposure time is zero, negative, infinite or not a number.
    #[error(
        "the shutter time is {0} s; it must be a finite number of seconds above 0, such as 0.01"
    )]
    Shutter(f64),
    /// The ISO speed is zero, negative, infinite or not a number.
    #[error("the ISO speed is {0}; it must be a finite number above 0, such as 100")]
    Iso(f64),
    /// The metered luminance is zero, negative, infinite or not a number.
    #[error("the metered luminance is {0} nit; a meter needs a finite luminance above 0")]
    Luminance(f64),
    /// The metered illuminance is zero, negative, infinite or not a number.
    #[error("the metered illuminance is {0} lx; a meter needs a finite illuminance above 0")]
    Illuminance(f64),
    /// The compensation is infinite or not a number.
    #[error(
        "the exposure compensation is {0} EV; it must be a finite number of stops, such as -0.7"
    )]
    Compensation(f64),
    /// The exposure value is not a number or farther from zero than `EV100_LIMIT`.
    #[error(
        "the exposure value is {0} EV100; it must lie between -{EV100_LIMIT} and {EV100_LIMIT}"
    )]
    ExposureValue(f64),
    /// The metered light gives an exposure value farther from zero than `EV100_LIMIT`.
    #[error(
        "the metered light is out of range: EV100 {0:.2}, expected -{EV100_LIMIT} to \
         {EV100_LIMIT}; check the strengths of the lights and emissive materials"
    )]
    MeterReading(f64),
}

/// Receptor of an incident-light meter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receptor {
    /// A flat disc that follows the cosine law: illuminance as this renderer computes it. `C` =
    /// 250.
    #[default]
    Flat,
    /// A dome with a cardioid response, `(1 + cos) / 2`. `C` = 340.
    Dome,
}

impl Receptor {
    /// The calibration constant `C` of ISO 2720:1974 for this receptor, in lx * s * ISO.
    #[must_use]
    pub const fn calibration(self) -> f64 {
        match self {
            Self::Flat => INCIDENT_CALIBRATION_C_FLAT,
            Self::Dome => INCIDENT_CALIBRATION_C_DOME,
        }
    }
}

/// An exposure, which scales scene luminance (nits) to display-referred values.
///
/// Its exposure value is finite and within `EV100_LIMIT`, so its multiplier is never zero, infinite
/// or NaN.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Ev100", into = "Ev100")]
pub struct Exposure {
    ev100: f64,
}

impl Default for Exposure {
    /// Sunny 16: f/16, 1/100 s, ISO 100, which is EV100 14.64.
    fn default() -> Self {
        Self { ev100: 8.0 + 100.0_f64.log2() }
    }
}

impl TryFrom<Ev100> for Exposure {
    type Error = ExposureError;
    fn try_from(ev: Ev100) -> Result<Self, ExposureError> {
        Self::from_ev100(ev)
    }
}

impl From<Exposure> for Ev100 {
    fn from(exposure: Exposure) -> Self {
        exposure.ev100()
    }
}

impl Exposure {
    /// From the dials: f-number, shutter time in seconds, ISO speed; each finite and above 0.
    ///
    /// `EV100 = log2(N^2 / t * 100 / S)`: Lagarde and de Rousiers 2014, section 5.1; ISO 2720:1974.
    ///
    /// # Errors
    /// The dial that is zero, negative, infinite or not a number; or a result beyond `EV100_LIMIT`.
    pub fn from_dials(f_stop: f64, shutter_s: f64, iso: f64) -> Result<Self, ExposureError> {
        let f_stop = positive(f_stop, ExposureError::FStop)?;
        let shutter_s = positive(shutter_s, ExposureError::Shutter)?;
        let iso = positive(iso, ExposureError::Iso)?;
        // A sum of logarithms: extreme dials cannot overflow.
        Self::from_ev100(Ev100(
            2.0 * f_stop.log2() - shutter_s.log2() + (100.0_f64.log2() - iso.log2()),
        ))
    }

    /// From an exposure value at ISO 100, within `EV100_LIMIT` of zero.
    ///
    /// # Errors
    /// An exposure value that is not a number or lies beyond `EV100_LIMIT`.
    pub fn from_ev100(ev: Ev100) -> Result<Self, ExposureError> {
        if ev.0.abs() <= EV100_LIMIT {
            Ok(Self { ev100: ev.0 })
        } else {
            Err(ExposureError::ExposureValue(ev.0))
        }
    }

    /// From the average luminance read by a reflected-light meter; finite and above 0.
    ///
    /// `EV100 = log2(L * 100 / K)`, `K` = 12.5: ISO 2720:1974; Lagarde and de Rousiers 2014,
    /// section 5.1.
    ///
    /// # Errors
    /// A luminance that is zero, negative, infinite or not a number; or a result beyond
    /// `EV100_LIMIT`.
    pub fn from_luminance(average: Nit) -> Result<Self, ExposureError> {
        let luminance = positive(average.0, ExposureError::Luminance)?;
        Self::from_reading(luminance.log2() + (100.0 / REFLECTED_CALIBRATION_K).log2())
    }

    /// From the illuminance on an incident-light meter with the given receptor; finite and above 0.
    ///
    /// `EV100 = log2(E * 100 / C)`: ISO 2720:1974, with `C` by receptor.
    ///
    /// # Errors
    /// An illuminance that is zero, negative, infinite or not a number; or a result beyond
    /// `EV100_LIMIT`.
    pub fn from_illuminance(incident: Lux, receptor: Receptor) -> Result<Self, ExposureError> {
        let illuminance = positive(incident.0, ExposureError::Illuminance)?;
        Self::from_reading(illuminance.log2() + (100.0 / receptor.calibration()).log2())
    }

    fn from_reading(ev: f64) -> Result<Self, ExposureError> {
        Self::from_ev100(Ev100(ev)).map_err(|_| ExposureError::MeterReading(ev))
    }

    /// This exposure with compensation in stops: positive is a brighter picture, so it is
    /// subtracted from the value.
    ///
    /// Lagarde and de Rousiers 2014, section 5.1: `EV' = EV - EC`.
    ///
    /// # Errors
    /// A compensation that is not finite, or a result beyond `EV100_LIMIT`.
    pub fn compensated(self, stops: f64) -> Result<Self, ExposureError> {
        if !stops.is_finite() {
            return Err(ExposureError::Compensation(stops));
        }
        Self::from_ev100(Ev100(self.ev100 - stops))
    }

    /// The exposure value at ISO 100.
    #[must_use]
    pub const fn ev100(self) -> Ev100 {
        Ev100(self.ev100)
    }

    /// Multiplier of luminance: `1 / (1.2 * 2^EV100)`, in 1/nit; always finite and above 0.
    ///
    /// Lagarde and de Rousiers 2014, section 5.1 (`convertEV100ToExposure`).
    #[must_use]
    pub fn multiplier(self) -> f64 {
        1.0 / self.saturation_luminance().0
    }

    /// The luminance that maps to 1, where a sensor saturates: `1.2 * 2^EV100`.
    ///
    /// ISO 12232:2006 section 6.1; Lagarde and de Rousiers 2014, section 5.1.
    #[must_use]
    pub fn saturation_luminance(self) -> Nit {
        Nit(SATURATION_FACTOR * self.ev100.exp2())
    }

    /// The average luminance for which a reflected-light meter gives this exposure: `K / 100 *
    /// 2^EV100`.
    ///
    /// It maps to `K / 120` = 0.1042, not to 0.18. ISO 2720:1974.
    #[must_use]
    pub fn metered_luminance(self) -> Nit {
        Nit(REFLECTED_CALIBRATION_K / 100.0 * self.ev100.exp2())
    }

    /// Stops by which this exposure renders the same scene brighter than `other`.
    #[must_use]
    pub fn stops_above(self, other: Self) -> f64 {
        other.ev100 - self.ev100
    }

    /// Factor that converts values pre-exposed with `previous`, in a history or cache, to this
    /// exposure: `multiplier / previous multiplier`, finite and above 0.
    ///
    /// Lagarde and de Rousiers 2014, section 5.1 (pre-exposed lighting).
    #[must_use]
    pub fn rescale_from(self, previous: Self) -> f64 {
        (previous.ev100 - self.ev100).exp2()
    }
}

/// `value` where it is finite and above zero, else the error.
fn positive(value: f64, error: fn(f64) -> ExposureError) -> Result<f64, ExposureError> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(error(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    #[test]
    fn sunny_16() {
        let e = Exposure::from_dials(16.0, 0.01, 100.0).unwrap();
        near(e.ev100().0, 14.643_856, 5e-7);
        near(e.saturation_luminance().0, 30_720.0, 1e-6);
        near(e.multiplier(), 3.255_208e-5, 5e-12);
        near(Exposure::default().ev100().0, e.ev100().0, 1e-12);
        near(78.0 / (100.0 * 0.65), SATURATION_FACTOR, 1e-12);
    }

    #[test]
    fn indoors() {
        let e = Exposure::from_dials(2.8, 1.0 / 60.0, 400.0).unwrap();
        near(e.ev100().0, 6.877_744, 5e-7);
        near(e.saturation_luminance().0, 141.12, 1e-9);
    }

    #[test]
    fn meters() {
        near(Exposure::from_luminance(Nit(4096.0)).unwrap().ev100().0, 15.0, 1e-12);
        let ev15 = Exposure::from_ev100(Ev100(15.0)).unwrap();
        near(ev15.metered_luminance().0, 4096.0, 1e-9);
        near(ev15.metered_luminance().0 * ev15.multiplier(), 12.5 / 120.0, 1e-12);
        near(Exposure::from_illuminance(Lux(2.5), Receptor::Flat).unwrap().ev100().0, 0.0, 1e-12);
        near(Exposure::from_illuminance(Lux(3.4), Receptor::Dome).unwrap().ev100().0, 0.0, 1e-12);
        // A card of reflectance pi K / C reads the same through either meter.
        let card = std::f64::consts::PI * REFLECTED_CALIBRATION_K / INCIDENT_CALIBRATION_C_FLAT;
        let lux = 10_000.0;
        near(
            Exposure::from_luminance(Nit(lux * card / std::f64::consts::PI)).unwrap().ev100().0,
            Exposure::from_illuminance(Lux(lux), Receptor::Flat).unwrap().ev100().0,
            1e-12,
        );
    }

    #[test]
    fn one_stop_is_one_ev() {
        let base = Exposure::from_dials(5.6, 1.0 / 125.0, 200.0).unwrap().ev100().0;
        let stop = |n, t, s| Exposure::from_dials(n, t, s).unwrap().ev100().0 - base;
        near(stop(5.6 * std::f64::consts::SQRT_2, 1.0 / 125.0, 200.0), 1.0, 1e-12);
        near(stop(5.6, 1.0 / 250.0, 200.0), 1.0, 1e-12);
        near(stop(5.6, 1.0 / 125.0, 100.0), 1.0, 1e-12);
    }

    #[test]
    fn compensation_brightens() {
        let e = Exposure::default();
        let brighter = e.compensated(1.0).unwrap();
        near(brighter.ev100().0, e.ev100().0 - 1.0, 1e-12);
        near(brighter.multiplier() / e.multiplier(), 2.0, 1e-12);
        near(brighter.stops_above(e), 1.0, 1e-12);
        near(brighter.rescale_from(e), 2.0, 1e-12);
    }

    #[test]
    fn bad_dials_are_named() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Exposure::from_dials(bad, 0.01, 100.0), Err(ExposureError::FStop(_))));
            assert!(matches!(
                Exposure::from_dials(8.0, bad, 100.0),
                Err(ExposureError::Shutter(_))
            ));
            assert!(matches!(Exposure::from_dials(8.0, 0.01, bad), Err(ExposureError::Iso(_))));
            assert!(matches!(Exposure::from_luminance(Nit(bad)), Err(ExposureError::Luminance(_))));
            assert!(matches!(
                Exposure::from_illuminance(Lux(bad), Receptor::Flat),
                Err(ExposureError::Illuminance(_))
            ));
        }
        assert!(matches!(
            Exposure::default().compensated(f64::NAN),
            Err(ExposureError::Compensation(_))
        ));
        assert!(matches!(
            Exposure::from_ev100(Ev100(f64::NAN)),
            Err(ExposureError::ExposureValue(_))
        ));
        assert!(matches!(
            Exposure::from_dials(1e-300, 1e300, 1e300),
            Err(ExposureError::ExposureValue(_))
        ));
        let bright = Exposure::from_luminance(Nit(1e30)).unwrap_err();
        assert!(matches!(bright, ExposureError::MeterReading(_)));
        assert!(bright.to_string().contains("EV100 102.66, expected -64 to 64"), "{bright}");
        assert!(matches!(
            Exposure::from_illuminance(Lux(1e30), Receptor::Flat),
            Err(ExposureError::MeterReading(_))
        ));
        let text = Exposure::from_dials(0.0, 0.01, 100.0).unwrap_err().to_string();
        assert!(text.contains("f-number is 0"), "{text}");
    }

    #[test]
    fn every_valid_exposure_survives_f32() {
        for ev in [-EV100_LIMIT, -20.0, 0.0, 14.6, EV100_LIMIT] {
            let m = Exposure::from_ev100(Ev100(ev)).unwrap().multiplier() as f32;
            assert!(m.is_normal() && m > 0.0);
        }
    }

    /// A half float holds the exposed disk of a 100 klx sun, 1.4702e9 nit, at sunny 16.
    #[test]
    fn the_sun_disk_just_fits_a_half_float() {
        let disk = 1.4702e9;
        near(disk * Exposure::default().multiplier(), 47_857.0, 2.0);
        let fits = |ev| disk * Exposure::from_ev100(Ev100(ev)).unwrap().multiplier() < 65_504.0;
        assert!(fits(14.2) && !fits(14.15));
    }

    #[test]
    fn serde_refuses_what_the_constructor_refuses() {
        let e: Exposure = serde_json::from_str("12.5").unwrap();
        near(e.ev100().0, 12.5, 0.0);
        assert_eq!(serde_json::to_string(&e).unwrap(), "12.5");
        assert!(serde_json::from_str::<Exposure>("1e9").is_err());
    }
}
