//! Places on Earth: atmospheric refraction, and bodies as seen from there.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{
    coordinates::{Ecliptic, HorizontalCoordinates, Nutation},
    time::{self, Moment},
};

/// Earth's equatorial radius in meters, as NREL/TP-560-34302, section 3.12.
pub const EARTH_RADIUS: f64 = 6_378_140.0;

/// Invalid place.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the {what} is {value}; it must lie between {low} and {high} {unit}")]
pub struct GeoLocationError {
    /// Name of the parameter.
    pub what: &'static str,
    /// The invalid value.
    pub value: f64,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
    /// Its unit.
    pub unit: &'static str,
}

/// A place on Earth, with its air pressure and temperature for refraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeoLocation {
    latitude: f64,
    longitude: f64,
    altitude: f64,
    pressure: f64,
    temperature: f64,
}

impl GeoLocation {
    /// At a latitude (radians, north positive) and longitude (radians, east positive), at sea
    /// level, with the pressure 1010 mbar and 10 degrees C for which the refraction formula is
    /// given.
    ///
    /// # Errors
    /// A latitude beyond 90 degrees, a longitude beyond 180, or not numbers.
    pub fn new(latitude: f64, longitude: f64) -> Result<Self, GeoLocationError> {
        check("latitude", latitude.to_degrees(), -90.0, 90.0, "degrees")?;
        check("longitude", longitude.to_degrees(), -180.0, 180.0, "degrees")?;
        Ok(Self { latitude, longitude, altitude: 0.0, pressure: 1010.0, temperature: 10.0 })
    }

    /// At an altitude in meters above the sea, -500 to 9000, with the pressure of the standard
    /// atmosphere there (ICAO Doc 7488: `1013.25 (1 - 2.25577e-5 h)^5.2559`).
    ///
    /// # Errors
    /// An altitude outside of that.
    pub fn at_altitude(self, altitude: f64) -> Result<Self, GeoLocationError> {
        check("altitude", altitude, -500.0, 9000.0, "m")?;
        let pressure = 1013.25 * (1.0 - 2.255_77e-5 * altitude).powf(5.2559);
        Ok(Self { altitude, pressure, ..self })
    }

    /// With a pressure in mbar (0 to 1200; 0 bends nothing) and a temperature in degrees C (-100 to
    /// 60).
    ///
    /// # Errors
    /// Numbers outside of that.
    pub fn with_air(self, pressure: f64, temperature: f64) -> Result<Self, GeoLocationError> {
        check("pressure", pressure, 0.0, 1200.0, "mbar")?;
        check("temperature", temperature, -100.0, 60.0, "degrees C")?;
        Ok(Self { pressure, temperature, ..self })
    }

    /// Latitude in rad, north positive.
    #[must_use]
    pub const fn latitude(self) -> f64 {
        self.latitude
    }

    /// Longitude in rad, east positive.
    #[must_use]
    pub const fn longitude(self) -> f64 {
        self.longitude
    }

    /// Altitude in meters above sea level.
    #[must_use]
    pub const fn altitude(self) -> f64 {
        self.altitude
    }

    /// Atmospheric refraction in rad at the true `elevation` (rad): the lift of a body's apparent
    /// position.
    ///
    /// Above -0.575 degrees by Saemundsson, Sky and Telescope 72 (1986), p. 70, which
    /// NREL/TP-560-34302 uses (equation 42); below by the NOAA Solar Calculator's continuation,
    /// `-20.772" / tan e`, so that it is continuous at sunset.
    #[must_use]
    pub fn refraction(self, elevation: f64) -> f64 {
        let degrees = elevation.to_degrees();
        let air = self.pressure / 1010.0 * 283.0 / (273.0 + self.temperature);
        let lifted = if degrees > -0.575 {
            1.02 / (60.0 * (degrees + 10.3 / (degrees + 5.11)).to_radians().tan())
        } else {
            -20.772 / 3600.0 / elevation.max(-FRAC_PI_2 + 1e-6).tan()
        };
        // At the zenith the formula goes to -0.0014 minutes.
        (lifted.max(0.0) * air).to_radians()
    }
}

fn check(
    what: &'static str,
    value: f64,
    low: f64,
    high: f64,
    unit: &'static str,
) -> Result<(), GeoLocationError> {
    // This form also rejects NaN.
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(GeoLocationError { what, value, low, high, unit })
    }
}

/// From Earth's center to an observer: true elevation and azimuth, with parallax, without
/// refraction.
///
/// NREL/TP-560-34302, sections 3.8 to 3.15, for any distance.
pub(super) fn topocentric(
    moment: Moment,
    place: GeoLocation,
    body: Ecliptic,
    nutation: Nutation,
) -> HorizontalCoordinates {
    let (sin_e, cos_e) = nutation.obliquity.sin_cos();
    let (sin_l, cos_l) = body.longitude.sin_cos();
    let (sin_b, cos_b) = body.latitude.sin_cos();
    let ascension = (sin_l * cos_e - sin_b / cos_b * sin_e).atan2(cos_l);
    let declination = (sin_b * cos_e + cos_b * sin_e * sin_l).asin();
    let (days, t) = (moment.julian_day() - time::J2000, moment.centuries());
    let sidereal =
        280.460_618_37 + 360.985_647_366_29 * days + t * t * (0.000_387_933 - t / 38_710_000.0);
    let hour =
        sidereal.rem_euclid(360.0).to_radians() + nutation.longitude * cos_e + place.longitude
            - ascension;
    let parallax = EARTH_RADIUS / body.distance;
    let u = (0.996_647_19 * place.latitude.tan()).atan();
    let height = place.altitude / EARTH_RADIUS;
    let x = u.cos() + height * place.latitude.cos();
    let y = 0.996_647_19 * u.sin() + height * place.latitude.sin();
    let (sin_d, cos_d) = declination.sin_cos();
    let denominator = cos_d - x * parallax * hour.cos();
    let shift = (-x * parallax * hour.sin()).atan2(denominator);
    let declination = ((sin_d - y * parallax) * shift.cos()).atan2(denominator);
    let hour = hour - shift;
    let (sin_p, cos_p) = place.latitude.sin_cos();
    let elevation = (sin_p * declination.sin() + cos_p * declination.cos() * hour.cos())
        .clamp(-1.0, 1.0)
        .asin();
    let azimuth = hour.sin().atan2(hour.cos() * sin_p - declination.tan() * cos_p) + PI;
    HorizontalCoordinates { elevation, azimuth: azimuth.rem_euclid(TAU) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refraction_lifts_and_never_jumps() {
        let place = GeoLocation::new(0.0, 0.0).unwrap();
        let at = |degrees: f64| place.refraction(degrees.to_radians()).to_degrees() * 60.0;
        // Meeus, Astronomical Algorithms, chapter 16: 28 to 29 minutes at true elevation 0, 5.3
        // minutes at 10 degrees.
        assert!((28.0..30.0).contains(&at(0.0)), "{}", at(0.0));
        assert!((5.2..5.5).contains(&at(10.0)), "{}", at(10.0));
        assert!(at(90.0).abs() < 0.01);
        let mut last = at(-90.0);
        for step in -8999..=9000 {
            let here = at(f64::from(step) / 100.0);
            assert!(
                here.is_finite() && (here - last).abs() < 0.7,
                "jump at {step}: {last} to {here}"
            );
            last = here;
        }
        assert_eq!(place.with_air(0.0, 10.0).unwrap().refraction(0.0), 0.0);
    }

    #[test]
    fn impossible_places_are_refused() {
        assert!(GeoLocation::new(f64::NAN, 0.0).is_err());
        let message = GeoLocation::new(2.0, 0.0).unwrap_err().to_string();
        assert!(message.contains("latitude") && message.contains("-90"), "{message}");
        assert!(GeoLocation::new(0.0, 0.0).unwrap().at_altitude(f64::INFINITY).is_err());
    }
}
