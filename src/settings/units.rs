//! Units of numbers as text: their names, and conversion between those of one quantity.

use std::borrow::Cow;

/// How a number in a unit becomes one in the quantity's base unit.
#[derive(Clone, Copy)]
enum Scale {
    /// Times the first over the second number, which keeps decimals such as 3 ft exact.
    Ratio(f64, f64),
    /// This number over it.
    Over(f64),
}

/// A unit of a quantity.
struct Unit {
    /// Name in messages and declarations of properties, then other spellings.
    names: &'static [&'static str],
    scale: Scale,
}

const fn unit(names: &'static [&'static str], times: f64, over: f64) -> Unit {
    Unit { names, scale: Scale::Ratio(times, over) }
}

/// Prefixes of numbers, in place of units: f-number and T-number, ISO speed.
const PREFIXES: [&[&str]; 3] = [&["f/", "F/", "f", "F"], &["T/", "T"], &["ISO", "iso"]];

/// Quantities with several units. Factors: NIST SP 811 (2008), appendix B; a footlambert is
/// 1/pi candela per square foot.
const QUANTITIES: [&[Unit]; 8] = [
    &[
        unit(&["m"], 1.0, 1.0),
        unit(&["cm"], 1.0, 100.0),
        unit(&["mm"], 1.0, 1e3),
        unit(&["um", "\u{b5}m", "\u{3bc}m"], 1.0, 1e6),
        unit(&["ft", "'"], 3048.0, 1e4),
        unit(&["in", "\""], 254.0, 1e4),
    ],
    &[unit(&["deg", "degrees", "\u{b0}"], 1.0, 1.0), unit(&["rad"], 180.0, std::f64::consts::PI)],
    &[
        unit(&["s"], 1.0, 1.0),
        unit(&["ms"], 1.0, 1e3),
        unit(&["us", "\u{b5}s", "\u{3bc}s"], 1.0, 1e6),
        unit(&["min"], 60.0, 1.0),
        unit(&["h"], 3600.0, 1.0),
    ],
    &[unit(&["K"], 1.0, 1.0), Unit { names: &["mired"], scale: Scale::Over(1e6) }],
    &[unit(&["lm"], 1.0, 1.0), unit(&["klm"], 1e3, 1.0)],
    &[unit(&["cd"], 1.0, 1.0), unit(&["kcd"], 1e3, 1.0)],
    &[
        unit(&["lx", "lux"], 1.0, 1.0),
        unit(&["klx"], 1e3, 1.0),
        // One lumen per square foot.
        unit(&["fc"], 1e8, 3048.0 * 3048.0),
    ],
    &[
        unit(&["nit", "nits", "nt", "cd/m2", "cd/m\u{b2}"], 1.0, 1.0),
        unit(&["fL"], 1e8, 3048.0 * 3048.0 * std::f64::consts::PI),
    ],
];

/// The quantity of a unit, by the name of properties; empty if it has no other units.
fn quantity(name: &str) -> &'static [Unit] {
    let has = |units: &&&[Unit]| units.iter().any(|unit| unit.names.first() == Some(&name));
    QUANTITIES.iter().find(has).copied().unwrap_or_default()
}

/// The number before a unit, as text; `None` if the unit does not follow a number.
fn before<'a>(text: &'a str, unit: &str) -> Option<&'a str> {
    let number = text.strip_suffix(unit)?.trim_end();
    number.ends_with(|c: char| c.is_ascii_digit() || c == '.').then_some(number)
}

/// A text without the unit of its property, converted from another unit of the same quantity:
/// `3ft` is `0.9144` in `m`, `1/125 s` is `1/125` in `s`, `f/2.8` is `2.8` in `f/`. Other texts are
/// unchanged.
#[must_use]
pub fn in_unit<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    if let Some(prefixes) = PREFIXES.iter().find(|prefixes| prefixes.first() == Some(&name)) {
        let bare = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
        return Cow::Borrowed(bare.map_or(text, str::trim_start));
    }
    let units = quantity(name);
    if units.is_empty() {
        // `0.51/m` is 0.51, not 0.5 and the unit.
        let own = name.strip_prefix('1').unwrap_or(name);
        let bare = if own.is_empty() { None } else { before(text, own) };
        return Cow::Borrowed(bare.unwrap_or(text));
    }
    let named =
        |unit: &'static Unit| unit.names.iter().find_map(|name| Some((unit, before(text, name)?)));
    let own = units.iter().find(|unit| unit.names.first() == Some(&name));
    match (units.iter().find_map(named), own) {
        (Some((unit, number)), Some(own)) if !std::ptr::eq(unit, own) => {
            match number.parse().ok().and_then(|number: f64| converted(number, unit, own)) {
                Some(number) => Cow::Owned(number.to_string()),
                None => Cow::Borrowed(text),
            }
        }
        (Some((_, number)), _) => Cow::Borrowed(number),
        (None, _) => Cow::Borrowed(text),
    }
}

/// A number in another unit of the same quantity; `None` if it is infinite there.
fn converted(number: f64, from: &Unit, to: &Unit) -> Option<f64> {
    let result = match (from.scale, to.scale) {
        (Scale::Ratio(times, over), Scale::Ratio(to_times, to_over)) => {
            number * (times * to_over) / (over * to_times)
        }
        (Scale::Over(above), Scale::Ratio(times, over)) => above / number * over / times,
        (Scale::Ratio(times, over), Scale::Over(above)) => above / (number * times / over),
        (Scale::Over(_), Scale::Over(_)) => number,
    };
    result.is_finite().then_some(result)
}

/// A finite number in a unit, with or without it or another unit of its quantity.
#[must_use]
pub fn number_in(text: &str, unit: &str) -> Option<f64> {
    in_unit(text.trim(), unit).parse().ok().filter(|number: &f64| number.is_finite())
}

/// The unit that follows a number; `None` without one.
#[must_use]
pub fn unit_of(text: &str) -> Option<&str> {
    let text = text.trim();
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || ".+-".contains(c));
    let mut ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.rfind(|&end| starts && text[..end].parse::<f64>().is_ok())?;
    let (_, unit) = text.split_at(end);
    let unit = unit.trim();
    let is_unit = |c: char| !c.is_ascii_digit() && (!c.is_ascii_punctuation() || "'\"".contains(c));
    unit.starts_with(is_unit).then_some(unit)
}

/// Names of the units that a property takes, whose own unit this is.
#[must_use]
pub fn units(own: &str) -> Vec<&str> {
    let all: Vec<&str> =
        quantity(own).iter().filter_map(|unit| unit.names.first().copied()).collect();
    if all.is_empty() && !own.is_empty() { vec![own] } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_convert_within_their_quantity() {
        for (text, unit, number) in [
            ("3ft", "m", 0.9144),
            ("12 in", "mm", 304.8),
            ("6\"", "m", 0.1524),
            ("85mm", "m", 0.085),
            ("8.5cm", "mm", 85.0),
            ("550 um", "mm", 0.55),
            ("2 m", "um", 2e6),
            ("200mired", "K", 5000.0),
            ("4000K", "K", 4000.0),
            ("8ms", "s", 0.008),
            ("90 min", "h", 1.5),
            ("1.5klm", "lm", 1500.0),
            ("2kcd", "cd", 2000.0),
            ("300 nt", "nit", 300.0),
            ("300cd/m2", "nit", 300.0),
            ("f/2.8", "f/", 2.8),
            ("T3.1", "T/", 3.1),
            ("ISO 100", "ISO", 100.0),
            ("0.51/m", "1/m", 0.51),
            ("1e3", "lm", 1000.0),
        ] {
            assert_eq!(number_in(text, unit), Some(number), "{text} in {unit}");
        }
        for (text, unit, number) in
            [("1fc", "lx", 10.763_910), ("1fL", "nit", 3.426_259), ("1rad", "deg", 57.295_780)]
        {
            let got = number_in(text, unit).unwrap();
            assert!((got / number - 1.0).abs() < 1e-6, "{text} in {unit}: {got}");
        }
    }

    #[test]
    fn other_units_are_no_numbers() {
        for (text, unit) in [
            ("20kg", "m"),
            ("5k", "K"),
            ("2000cd", "lm"),
            ("ft", "m"),
            ("0mired", "K"),
            ("1 2 ft", "m"),
            ("3m", ""),
            ("f/", "f/"),
            ("T4", "f/"),
            ("f/4", "T/"),
            ("", "m"),
        ] {
            assert_eq!(number_in(text, unit), None, "{text} in {unit}");
        }
        assert_eq!(unit_of("20 kg"), Some("kg"));
        assert_eq!(unit_of("1e3lm"), Some("lm"));
        assert_eq!(unit_of("-5\u{b0}"), Some("\u{b0}"));
        for text in ["20", "warm K", "1/125", "1 2 3", "", "inf"] {
            assert_eq!(unit_of(text), None, "{text}");
        }
        assert_eq!(units("m"), ["m", "cm", "mm", "um", "ft", "in"]);
        assert_eq!((units("EV"), units("")), (vec!["EV"], vec![]));
    }
}
