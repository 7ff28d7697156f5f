//! Progress with the time left on standard error: a bar on a terminal, else a line every 10 s.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

/// Characters of the bar.
const CELLS: usize = 20;

/// Interval between updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(200);

/// Interval between lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// A line of progress.
pub struct ProgressLine {
    is_quiet: bool,
    is_terminal: bool,
    started: Instant,
    shown: Instant,
}

impl ProgressLine {
    pub fn new(is_quiet: bool) -> Self {
        Self::since(Instant::now(), is_quiet)
    }

    /// Progress of work that began earlier.
    pub fn since(started: Instant, is_quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { is_quiet, is_terminal, started, shown: Instant::now() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Shows the done part of the work (0 to 1) and a text, made from the seconds since the start,
    /// if the last update is old enough.
    pub fn show(&mut self, state: impl FnOnce(f64) -> (f64, String)) {
        let every = if self.is_terminal { BAR_INTERVAL } else { LINE_INTERVAL };
        if self.is_quiet || self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let seconds = self.seconds();
        let (done, text) = state(seconds);
        let line = line(done, &text, seconds);
        // A closed terminal does not stop the render.
        let _ = if self.is_terminal {
            write!(std::io::stderr(), "\r{line}\x1b[K")
        } else {
            writeln!(std::io::stderr(), "{line}")
        };
    }

    /// Clears the bar, for other lines.
    pub fn clear(&self) {
        if self.is_terminal && !self.is_quiet {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// `[#####...............] text, 20 s left`, after this many seconds.
fn line(done: f64, text: &str, seconds: f64) -> String {
    let done = done.clamp(0.0, 1.0);
    let full = (done * CELLS as f64) as usize;
    let (full, empty) = ("#".repeat(full), ".".repeat(CELLS - full));
    let left = if done > 0.0 { duration(seconds * (1.0 - done) / done) } else { "?".into() };
    format!("[{full}{empty}] {text}, {left} left")
}

/// `42 s`, `3 min 20 s`, `2 h 05 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_at_a_glance() {
        let shown = [0.4, 59.2, 200.0, 7_500.0, f64::INFINITY].map(duration);
        assert_eq!(shown[..4], ["0 s", "59 s", "3 min 20 s", "2 h 05 min"]);
    }

    #[test]
    fn the_bar_is_as_long_as_the_done_part() {
        let quarter = line(0.25, "4 of 16 samples", 20.0);
        assert_eq!(quarter, "[#####...............] 4 of 16 samples, 1 min 00 s left");
        assert!(line(0.0, "x", 3.0).ends_with("x, ? left"));
        assert!(line(1.5, "x", 3.0).starts_with(&format!("[{}]", "#".repeat(CELLS))));
    }
}
