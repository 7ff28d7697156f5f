//! Progress with the time left on standard error: a bar on a terminal, else a line every 10 s; in a
//! job of Open Job Description, lines on standard output.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use super::job_template::PROGRESS;

/// Characters of the bar.
const CELLS: usize = 20;

/// Interval between updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(200);

/// Interval between lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Interval between updates in a job.
const JOB_INTERVAL: Duration = Duration::from_secs(2);

/// True in a task of Open Job Description, whose template sets the variable.
fn is_in_job() -> bool {
    std::env::var_os(PROGRESS.0).is_some_and(|value| value == PROGRESS.1)
}

/// Reports the error that ends a task ("How Jobs Are Run", `openjd_fail`).
pub fn report_failure(error: &str) {
    if is_in_job() {
        println!("openjd_fail: {error}");
    }
}

/// A line of progress.
pub struct ProgressLine {
    is_quiet: bool,
    is_in_job: bool,
    is_terminal: bool,
    started: Instant,
    /// True after the first message of a task.
    has_shown: bool,
    shown: Instant,
}

impl ProgressLine {
    pub fn new(is_quiet: bool) -> Self {
        Self::since(Instant::now(), is_quiet)
    }

    /// Progress of work that began earlier.
    pub fn since(started: Instant, is_quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let (is_in_job, shown) = (is_in_job(), Instant::now());
        Self { is_quiet, is_in_job, is_terminal, started, has_shown: false, shown }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Shows the done part of the work (0 to 1) and a text, made from the seconds since the start,
    /// if the last update is old enough.
    pub fn show(&mut self, state: impl FnOnce(f64) -> (f64, String)) {
        if self.is_in_job {
            self.show_in_job(state);
            return;
        }
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

    /// Shows progress as messages of a task ("How Jobs Are Run", `openjd_progress` and
    /// `openjd_status`).
    fn show_in_job(&mut self, state: impl FnOnce(f64) -> (f64, String)) {
        if self.has_shown && self.shown.elapsed() < JOB_INTERVAL {
            return;
        }
        (self.has_shown, self.shown) = (true, Instant::now());
        let (done, text) = state(self.seconds());
        println!("openjd_progress: {:.1}", done.clamp(0.0, 1.0) * 100.0);
        println!("openjd_status: {text}");
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
