//! Photographic values as text: exposure times, focus distances.

use crate::settings::{Accepts, Input, number};

/// A time in seconds above 0, or a fraction of a second.
pub(super) const SECONDS: Accepts =
    Accepts::OneOf(&[Accepts::POSITIVE, Accepts::Pattern("^[^/,]+/[^/,]+$")]);

/// A distance in meters above 0, or infinity.
pub(super) const DISTANCE: Accepts =
    Accepts::OneOf(&[Accepts::POSITIVE, Accepts::Pattern("^(inf|infinity|[0-9.eE+-]+ *m?)$")]);

/// A time (s), as a number or as a fraction.
pub(super) fn seconds(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    let Some((above, below)) = input.text.split_once('/') else {
        return number(input.text, accepts);
    };
    let part = |text: &str| number(text.trim(), &Accepts::POSITIVE);
    Some(part(above)? / part(below)?).filter(|&time| accepts.includes(time))
}

/// A distance (m), with or without the unit; may be infinite.
pub(super) fn distance(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    if matches!(input.text, "infinity" | "inf") {
        return Some(f64::INFINITY);
    }
    number(input.text.strip_suffix('m').unwrap_or(input.text).trim(), accepts)
}

/// Micrometers as meters.
pub(super) fn micrometers(input: &Input<'_>, accepts: &Accepts) -> Option<f64> {
    number(input.text, accepts).map(|micrometers| micrometers * 1e-6)
}
