//! Progress of the path tracer.

use crate::{
    cli::progress_line::ProgressLine,
    reference::{Film, World},
};

pub struct Progress {
    line: ProgressLine,
    /// Samples and rays at the start (those of a resumed film).
    before: (u64, u64),
}

impl Progress {
    pub fn new(quiet: bool, film: &Film, world: &World<'_>) -> Self {
        let before = (film.total_samples(), world.rays());
        Self { line: ProgressLine::new(quiet), before }
    }

    pub fn show(&mut self, film: &Film, world: &World<'_>, spp: u32) {
        let (samples, rays) = self.before;
        self.line.show(|seconds| {
            let (width, height) = film.size();
            let all = (width * height) as f64;
            let added = film.total_samples().saturating_sub(samples) as f64;
            // An upper bound: converged tiles take no more samples, and further tiles may converge.
            let more = f64::from(spp.saturating_sub(film.samples()));
            let left = (1.0 - film.converged()) * all * more;
            let text = format!(
                "{} of {spp} samples, {:.2} million rays a second, error {:.2} %{}",
                film.samples(),
                world.rays().saturating_sub(rays) as f64 / seconds.max(1e-9) / 1e6,
                film.relative_error() * 100.0,
                match film.settings().target_error {
                    Some(_) => format!(" ({:.0} % of the picture done)", film.converged() * 100.0),
                    None => String::new(),
                },
            );
            (added / (added + left).max(1.0), text)
        });
    }

    /// Clears the bar. Returns the seconds since the start.
    pub fn finish(self) -> f64 {
        self.line.clear();
        self.line.seconds()
    }
}
