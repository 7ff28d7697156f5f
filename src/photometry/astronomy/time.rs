//! Moments: calendar dates and Julian days.

/// The Julian day of 2000 January 1, 12 h.
pub const J2000: f64 = 2_451_545.0;
/// Valid years. The theories are valid from -2000 to 6000; Earth's rotation is known well from 1800
/// on.
const YEARS: [i32; 2] = [1800, 2200];

/// Invalid date or time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// Not a date of the form.
    #[error("invalid date \"{0}\": expected year-month-day, such as 2026-06-21")]
    Date(String),
    /// Not a time of the form.
    #[error(
        "\"{0}\" is no time of day; write hours:minutes or hours:minutes:seconds, such as 12:30"
    )]
    Time(String),
    /// A year outside of `YEARS`.
    #[error("the year is {0}; it must lie between {first} and {last}", first = YEARS[0], last = YEARS[1])]
    Year(i32),
    /// An offset to UTC out of range.
    #[error("the offset to UTC is {0} h; it must lie between -14 and 14")]
    Offset(f64),
}

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    julian_day: f64,
    delta_t: f64,
}

/// Days in a month of the Gregorian calendar.
fn days_in(year: i32, month: u32) -> u32 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Moment {
    /// From a Julian day in universal time.
    ///
    /// # Errors
    /// A year outside of `YEARS`, or NaN.
    pub fn from_julian_day(julian_day: f64) -> Result<Self, TimeError> {
        let year = 2000.0 + (julian_day - J2000) / 365.25;
        if !(f64::from(YEARS[0])..=f64::from(YEARS[1] + 1)).contains(&year) {
            return Err(TimeError::Year(year as i32));
        }
        Ok(Self { julian_day, delta_t: delta_t(year) })
    }

    /// From a Gregorian date, hours since midnight of the clock there, and that clock's hours ahead
    /// of UTC.
    ///
    /// Meeus, Astronomical Algorithms, equation 7.1. UTC counts as UT1 (they differ by less than
    /// 0.9 s: 0.004 degrees).
    ///
    /// # Errors
    /// A date, time or offset that does not exist.
    pub fn new(
        year: i32,
        month: u32,
        day: u32,
        hours: f64,
        utc_offset: f64,
    ) -> Result<Self, TimeError> {
        if !(YEARS[0]..=YEARS[1]).contains(&year) {
            return Err(TimeError::Year(year));
        }
        if !(1..=12).contains(&month) || day == 0 || day > days_in(year, month) {
            return Err(TimeError::Date(format!("{year}-{month:02}-{day:02}")));
        }
        if !(0.0..=24.0).contains(&hours) {
            return Err(TimeError::Time(format!("{hours} h")));
        }
        if !(-14.0..=14.0).contains(&utc_offset) {
            return Err(TimeError::Offset(utc_offset));
        }
        let (y, m) = if month <= 2 { (year - 1, month + 12) } else { (year, month) };
        let century = y.div_euclid(100);
        let gregorian = 2 - century + century.div_euclid(4);
        let days = (365.25 * f64::from(y + 4716)).floor() + (30.6001 * f64::from(m + 1)).floor();
        let fraction = f64::from(day) + (hours - utc_offset) / 24.0;
        Self::from_julian_day(days + fraction + f64::from(gregorian) - 1524.5)
    }

    /// From texts: `2026-06-21` and `12:30` or `12:30:15`.
    ///
    /// # Errors
    /// As `new`; malformed text.
    pub fn parse(date: &str, time: &str, utc_offset: f64) -> Result<Self, TimeError> {
        let bad_date = || TimeError::Date(date.chars().take(32).collect());
        let bad_time = || TimeError::Time(time.chars().take(32).collect());
        let mut parts = date.trim().splitn(3, '-');
        let mut next = || parts.next().and_then(|part| part.parse::<u32>().ok());
        let (Some(year), Some(month), Some(day)) = (next(), next(), next()) else {
            return Err(bad_date());
        };
        let fields: Vec<f64> = time.trim().split(':').map_while(|part| part.parse().ok()).collect();
        let hours = match *fields.as_slice() {
            _ if fields.len() != time.split(':').count() => return Err(bad_time()),
            [h, m] if in_day(h, m, 0.0) => h + m / 60.0,
            [h, m, s] if in_day(h, m, s) => h + m / 60.0 + s / 3600.0,
            _ => return Err(bad_time()),
        };
        let year = i32::try_from(year).map_err(|_| bad_date())?;
        Self::new(year, month, day, hours, utc_offset)
    }

    /// Sets the difference of terrestrial and universal time (s), which `delta_t` otherwise
    /// estimates.
    #[must_use]
    pub const fn with_delta_t(self, seconds: f64) -> Self {
        Self { delta_t: seconds, ..self }
    }

    /// Days since noon of 1 January 4713 BC, universal time.
    #[must_use]
    pub const fn julian_day(self) -> f64 {
        self.julian_day
    }

    /// Julian centuries since J2000 in universal time.
    #[must_use]
    pub fn centuries(self) -> f64 {
        (self.julian_day - J2000) / 36_525.0
    }

    /// Julian centuries since J2000 in terrestrial time, for planetary theories.
    #[must_use]
    pub fn ephemeris_centuries(self) -> f64 {
        self.centuries() + self.delta_t / 86_400.0 / 36_525.0
    }
}

fn in_day(h: f64, m: f64, s: f64) -> bool {
    (0.0..24.0).contains(&h)
        && h.fract() == 0.0
        && (0.0..60.0).contains(&m)
        && (0.0..60.0).contains(&s)
}

/// Terrestrial minus universal time in seconds in a year.
///
/// Espenak and Meeus, "Five Millennium Canon of Solar Eclipses", NASA/TP-2006-214141, section 2.7:
/// for 1986 to 2050 by its polynomials, else by its parabola, which is off by up to some 40 s
/// (0.0005 degrees of the Sun, 0.006 of the Moon).
fn delta_t(year: f64) -> f64 {
    let t = year - 2000.0;
    if (1986.0..2005.0).contains(&year) {
        63.86
            + t * (0.3345
                + t * (-0.060_374 + t * (0.001_727_5 + t * (0.000_651_814 + t * 0.000_023_735_99))))
    } else if (2005.0..2050.0).contains(&year) {
        62.92 + t * (0.322_17 + t * 0.005_589)
    } else {
        let u = (year - 1820.0) / 100.0;
        -20.0 + 32.0 * u * u
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn julian_days() {
        // Meeus, Astronomical Algorithms, chapter 7.
        assert_eq!(Moment::new(2000, 1, 1, 12.0, 0.0).unwrap().julian_day(), J2000);
        assert_eq!(Moment::new(1999, 1, 1, 0.0, 0.0).unwrap().julian_day(), 2_451_179.5);
        assert_eq!(Moment::new(1988, 6, 19, 12.0, 0.0).unwrap().julian_day(), 2_447_332.0);
        assert_eq!(Moment::new(1900, 1, 1, 0.0, 0.0).unwrap().julian_day(), 2_415_020.5);
        let zone = Moment::parse("2003-10-17", "12:30:30", -7.0).unwrap();
        assert!((zone.julian_day() - 2_452_930.312_847).abs() < 1e-6);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for (date, time, offset) in [
            ("2023-02-29", "12:00", 0.0),
            ("2023-13-01", "12:00", 0.0),
            ("2023-01-00", "12:00", 0.0),
            ("yesterday", "12:00", 0.0),
            ("2023-01-01", "24:30", 0.0),
            ("2023-01-01", "12:60", 0.0),
            ("2023-01-01", "12", 0.0),
            ("2023-01-01", "12:00:nan", 0.0),
            ("2023-01-01", "12:00", f64::NAN),
            ("99999-01-01", "12:00", 0.0),
            ("", "", 0.0),
        ] {
            let error = Moment::parse(date, time, offset).unwrap_err().to_string();
            assert!(!error.is_empty(), "{date} {time} {offset}");
        }
        assert!(Moment::parse("2024-02-29", "23:59:59.5", 5.75).is_ok());
        assert!(Moment::from_julian_day(f64::NAN).is_err());
    }
}
