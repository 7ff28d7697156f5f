//! Text of scopes: short numbers, and the size of letters.

/// Formats three significant digits with K, M, G for thousands, millions and billions, and powers
/// of ten below 0.01.
#[must_use]
pub fn short(value: f64) -> String {
    let digits = |v: f64| {
        let places = if v >= 99.95 {
            0
        } else if v >= 9.995 {
            1
        } else {
            2
        };
        format!("{v:.places$}")
    };
    if value == 0.0 {
        return "0".into();
    }
    match value.abs() {
        v if v < 0.01 => format!("{value:.1E}"),
        v if v < 999.5 => digits(value),
        v if v < 999.5e3 => digits(value / 1e3) + "K",
        v if v < 999.5e6 => digits(value / 1e6) + "M",
        _ => digits(value / 1e9) + "G",
    }
}

/// Size of a font dot in pixels for a picture height.
pub(super) fn text_scale(height: usize) -> usize {
    (height / 400).clamp(0, 7) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, want) in [
            (0.0, "0"),
            (0.00123, "1.2E-3"),
            (0.125, "0.12"),
            (9.999, "10.0"),
            (12.34, "12.3"),
            (999.4, "999"),
            (999.7, "1.00K"),
            (4096.0, "4.10K"),
            (1.4702e9, "1.47G"),
        ] {
            assert_eq!(short(value), want);
        }
    }
}
