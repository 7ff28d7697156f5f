//! Warm-up: work that is repeated until its times are stable, and not measured.

use serde_json::{Value, json};

/// Minimum work in s: graphics cards leave their idle clock rates within it.
const MIN_SECONDS: f64 = 0.2;
/// Work in s after which unstable times are accepted.
const MAX_SECONDS: f64 = 1.0;
/// Number of last times that are compared.
const COMPARED: usize = 3;
/// Maximum ratio of the longest to the shortest of them.
const MAX_RATIO: f64 = 1.05;

/// State of a warm-up.
#[derive(Default)]
pub struct WarmUp {
    seconds: Vec<f64>,
}

impl WarmUp {
    /// Adds the time of a repetition in s. True if the warm-up is complete: after 0.2 s if the last
    /// three times differ by at most 5 %, at the latest after 1 s.
    pub fn is_complete_after(&mut self, seconds: f64) -> bool {
        self.seconds.push(seconds);
        let total: f64 = self.seconds.iter().sum();
        let last = self.seconds.get(self.seconds.len().saturating_sub(COMPARED)..);
        let last = last.unwrap_or_default();
        let (min, max) = last.iter().fold((f64::INFINITY, 0.0), |(min, max), &time| {
            (f64::min(min, time), f64::max(max, time))
        });
        let stable = last.len() == COMPARED && max <= min * MAX_RATIO;
        (total >= MIN_SECONDS && stable) || total >= MAX_SECONDS || self.seconds.len() >= 10_000
    }
}

/// JSON of a warm-up by [`WarmUp`] and `frames` further frames.
pub fn json(frames: u32) -> Value {
    json!({"min_seconds": MIN_SECONDS, "frames": frames})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of repetitions that a warm-up takes.
    fn repetitions(time: impl Fn(usize) -> f64) -> usize {
        let mut warm_up = WarmUp::default();
        (0..).position(|number| warm_up.is_complete_after(time(number))).unwrap_or(0) + 1
    }

    #[test]
    fn a_warm_up_ends_when_times_are_stable() {
        assert_eq!(repetitions(|_| 0.01), 20);
        // Three long times are compared even beyond the minimum.
        assert_eq!(repetitions(|_| 0.3), 3);
        // Clocks that rise until the tenth repetition: it and the next two are compared.
        assert_eq!(
            repetitions(|number| if number < 9 { 0.04 - 0.003 * number as f64 } else { 0.01 }),
            12
        );
        // Times that never settle: 1 s.
        assert_eq!(repetitions(|number| if number % 2 == 0 { 0.1 } else { 0.15 }), 8);
    }
}
