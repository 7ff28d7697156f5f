//! Series of measured times.

use crate::gpu::PassTime;

/// Times of one name in ms, one a frame.
pub struct Series {
    pub name: String,
    pub ms: Vec<f64>,
}

impl Series {
    /// Appends a frame's pass times to the series of each pass.
    pub fn record_passes(passes: &mut Vec<Self>, times: &[PassTime]) {
        for time in times {
            match passes.iter_mut().find(|series| series.name == time.name) {
                Some(series) => series.ms.push(time.ms),
                None => passes.push(Self { name: time.name.clone(), ms: vec![time.ms] }),
            }
        }
    }

    pub fn percentile(&self, fraction: f64) -> f64 {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get((fraction * last as f64).round() as usize).copied().unwrap_or(0.0)
    }
}
