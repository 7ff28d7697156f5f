//! Numbers of photometric files: parsing, intensities below 0, angles near the ends of a range.

/// Negative candela values count as 0 if within this fraction of the maximum: photometer noise or
/// rounding.
const NEGATIVE_TOLERANCE: f64 = 0.02;
/// Tolerance in degrees for angles at the end of a range, which snap to it: 180.01, or 89.99 for a
/// quadrant.
const ANGLE_SLACK: f64 = 0.1;

/// An intensity too far below 0 for noise or rounding.
pub(super) struct TooLow {
    /// Line of the value.
    pub(super) line: usize,
    /// The value, in the unit of the file.
    pub(super) value: f64,
}

/// Parses a finite number. Rust also parses "nan" and "inf", which no edition of the standard has.
pub(super) fn finite(token: &str) -> Option<f64> {
    token.parse().ok().filter(|x: &f64| x.is_finite() && x.abs() < 1e15)
}

/// Listed intensities; slightly negative ones count as 0.
#[derive(Default)]
pub(super) struct Listed {
    values: Vec<f64>,
    below: usize,
    /// The lowest value and its line.
    lowest: f64,
    line: usize,
}

impl Listed {
    pub(super) fn push(&mut self, value: f64, line: usize) {
        if value < self.lowest {
            (self.lowest, self.line) = (value, line);
        }
        self.below += usize::from(value < 0.0);
        self.values.push(value.max(0.0));
    }

    /// The values times a factor.
    ///
    /// # Errors
    /// The lowest value is too far below 0.
    pub(super) fn times(self, factor: f64, notes: &mut Vec<String>) -> Result<Vec<f64>, TooLow> {
        let peak = self.values.iter().copied().fold(0.0, f64::max);
        if -self.lowest > NEGATIVE_TOLERANCE * peak {
            return Err(TooLow { line: self.line, value: self.lowest });
        }
        if self.below > 0 {
            let (count, lowest, line) = (self.below, self.lowest, self.line);
            notes.push(format!("candela values below 0: {count}, the lowest {lowest} in line {line}; they count as 0"));
        }
        Ok(self.values.into_iter().map(|value| value * factor).collect())
    }
}

/// Snaps the ends of an ascending list to these angles, within the tolerance.
pub(super) fn snapped(
    mut angles: Vec<f64>,
    ends: &[f64],
    what: &str,
    notes: &mut Vec<String>,
) -> Vec<f64> {
    let last = angles.len().saturating_sub(1);
    for at in [0, last] {
        let Some(&value) = angles.get(at) else { continue };
        let Some(&end) =
            ends.iter().find(|&&end| end != value && (end - value).abs() <= ANGLE_SLACK)
        else {
            continue;
        };
        let before = at
            .checked_sub(1)
            .and_then(|before| angles.get(before))
            .copied()
            .unwrap_or(f64::NEG_INFINITY);
        let after = angles.get(at + 1).copied().unwrap_or(f64::INFINITY);
        if before < end && end < after {
            notes.push(format!("{what} {value} counts as {end}"));
            angles[at] = end;
        }
    }
    angles
}
