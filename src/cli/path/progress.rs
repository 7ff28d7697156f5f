//! Progress of the path tracer: a bar on a terminal, else a line every 10 s.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use crate::reference::{Film, World};

/// Characters of the progress bar.
const CELLS: usize = 20;

pub struct Progress {
    quiet: bool,
    terminal: bool,
    started: Instant,
    shown: Instant,
    /// Samples and rays at the start (those of a resumed film).
    before: (u64, u64),
}

impl Progress {
    pub fn new(quiet: bool, film: &Film, world: &World<'_>) -> Self {
        let now = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        Self {
            quiet,
            terminal,
            started: now,
            shown: now,
            before: (film.total_samples(), world.rays()),
        }
    }

    pub fn show(&mut self, film: &Film, world: &World<'_>, spp: u32) {
        let every =
            if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(10) };
        if self.quiet || self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let text = self.text(film, world.rays(), spp);
        // A closed terminal does not stop the render.
        let _ = if self.terminal {
            write!(std::io::stderr(), "\r{text}\x1b[K")
        } else {
            writeln!(std::io::stderr(), "{text}")
        };
    }

    fn text(&self, film: &Film, rays: u64, spp: u32) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        let (width, height) = film.size();
        let all = (width * height) as f64;
        let have = film.total_samples() as f64;
        // An upper bound: converged tiles take no more samples, and further tiles may converge.
        let left = (1.0 - film.converged()) * all * f64::from(spp.saturating_sub(film.samples()));
        let share = (have / (have + left).max(1.0)).clamp(0.0, 1.0);
        let rate = (have - self.before.0 as f64) / seconds.max(1e-9);
        let full = (share * CELLS as f64) as usize;
        format!(
            "[{}{}] {} of {spp} samples, {:.2} million rays a second, error {:.2} %{}, {} left",
            "#".repeat(full),
            ".".repeat(CELLS - full),
            film.samples(),
            rays.saturating_sub(self.before.1) as f64 / seconds.max(1e-9) / 1e6,
            film.relative_error() * 100.0,
            match film.settings().target_error {
                Some(_) => format!(" ({:.0} % of the picture done)", film.converged() * 100.0),
                None => String::new(),
            },
            if rate > 0.0 { time(left / rate) } else { "?".into() },
        )
    }

    /// Clears the bar. Returns the seconds since the start.
    pub fn finish(self) -> f64 {
        if self.terminal && !self.quiet {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        self.started.elapsed().as_secs_f64()
    }
}

/// `42 s`, `3 min 20 s`, `2 h 05 min`.
fn time(seconds: f64) -> String {
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
        let shown = [0.4, 59.2, 200.0, 7_500.0, f64::INFINITY].map(time);
        assert_eq!(shown[..4], ["0 s", "59 s", "3 min 20 s", "2 h 05 min"]);
    }
}
