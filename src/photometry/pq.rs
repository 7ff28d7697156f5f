//! The perceptual quantizer (PQ) of HDR10: display luminance to code values.

use super::Nit;

/// The luminance of code 1.
const PEAK: Nit = Nit(10_000.0);

// SMPTE ST 2084:2014, section 5; the same in ITU-R BT.2100-2, table 4.
const M1: f64 = 2610.0 / 16384.0;
const M2: f64 = 2523.0 / 32.0;
const C1: f64 = 3424.0 / 4096.0;
const C2: f64 = 2413.0 / 128.0;
const C3: f64 = 2392.0 / 128.0;

/// The code, 0 to 1, of a luminance. 0 nit gives 0 (the formula's 7e-7 is below a 12-bit code), and
/// luminances beyond the peak give 1.
///
/// SMPTE ST 2084:2014, equation 5.2.
#[must_use]
pub fn encode(luminance: Nit) -> f64 {
    // Not `clamp`, which lets NaN through.
    let part =
        if luminance.get() > 0.0 { (luminance.get() / PEAK.get()).min(1.0) } else { return 0.0 };
    let y = part.powf(M1);
    ((C1 + C2 * y) / (1.0 + C3 * y)).powf(M2)
}

/// The luminance of a code, 0 to 1.
///
/// SMPTE ST 2084:2014, equation 4.1.
#[must_use]
pub fn decode(code: f64) -> Nit {
    let e = code.clamp(0.0, 1.0).powf(1.0 / M2);
    Nit(((e - C1).max(0.0) / (C2 - C3 * e)).powf(1.0 / M1) * PEAK.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // ITU-R BT.2408-7, tables 1 and 2: 58 % for 203 nit, 75 % for 1000; ST 2084 in three and
        // four digits.
        for (nits, code, tolerance) in [
            (0.0, 0.0, 0.0),
            (0.1, 0.0623, 5e-4),
            (1.0, 0.1500, 5e-4),
            (100.0, 0.508, 5e-4),
            (203.0, 0.5807, 1e-4),
            (1000.0, 0.7518, 1e-4),
            (4000.0, 0.9026, 1e-4),
            (10_000.0, 1.0, 1e-12),
            (20_000.0, 1.0, 1e-12),
            (f64::NAN, 0.0, 0.0),
            (-1.0, 0.0, 0.0),
        ] {
            let got = encode(Nit(nits));
            assert!((got - code).abs() <= tolerance, "{nits} nit: {got} is not {code}");
        }
    }

    #[test]
    fn codes_and_luminances_are_inverse() {
        for step in 1..=1023 {
            let code = f64::from(step) / 1023.0;
            let back = encode(decode(code));
            assert!((back - code).abs() < 1e-9, "{code}: {back}");
        }
        assert_eq!(decode(0.0).get(), 0.0);
        assert!((decode(1.0).get() - 10_000.0).abs() < 1e-6);
    }
}
