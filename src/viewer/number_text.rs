//! Numbers in the syntax of the look.

use glam::DVec3;

/// A number in a property's syntax: as short as seven significant digits allow.
pub(super) fn short(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-4 || !value.is_finite()) {
        let text = format!("{value:.6e}");
        return match text.split_once('e').filter(|(digits, _)| digits.contains('.')) {
            Some((digits, power)) => {
                format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
            }
            None => text,
        };
    }
    let text = format!("{value:.*}", decimals(value));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Decimals that give seven significant digits.
pub(super) fn decimals(value: f64) -> usize {
    let power = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    (6.0 - power).clamp(0.0, 12.0) as usize
}

/// A position (m) in the look's syntax.
pub(super) fn place_text(place: DVec3) -> String {
    format!("{:.5} {:.5} {:.5}", place.x, place.y, place.z)
}

/// A camera's position or target (m) in the look's syntax: a micrometer turns the view by less than
/// a pixel.
pub(super) fn view_text(place: DVec3) -> String {
    format!("{:.6} {:.6} {:.6}", place.x, place.y, place.z)
}

/// True if two numbers differ at this many decimals, so that leaving a field unedited changes
/// nothing.
pub(super) fn differs(now: f64, value: f64, decimals: usize) -> bool {
    format!("{now:.decimals$}") != format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_seven_digits_whatever_their_size() {
        for (value, text) in [
            (0.0, "0"),
            (2.8, "2.8"),
            (0.1 + 0.2, "0.3"),
            (1200.0, "1200"),
            (0.000_123_45, "0.00012345"),
            (-0.000_012_345_6, "-1.23456e-5"),
            (1e12, "1000000000000"),
            (3999.8612, "3999.861"),
            (5e-7, "5e-7"),
        ] {
            assert_eq!(short(value), text);
            assert!((short(value).parse::<f64>().unwrap() - value).abs() <= 1e-6 * value.abs());
        }
        assert!(!differs(15.299_437, 15.299, 3) && differs(15.299, 15.3, 3));
    }
}
