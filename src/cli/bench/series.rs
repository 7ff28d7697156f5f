//! Series of measured times.

use serde_json::{Value, json};

use crate::{gpu::PassTime, graph::DeclaredBytes};

/// Times of one name in ms, one a frame.
pub struct Series {
    pub name: String,
    pub ms: Vec<f64>,
}

impl Series {
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), ms: Vec::new() }
    }

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
        percentile(&self.ms, fraction)
    }

    /// Median and 95th percentile.
    pub fn json(&self) -> Value {
        json!({
            "name": self.name, "median_ms": self.percentile(0.5), "p95_ms": self.percentile(0.95),
        })
    }
}

/// The value below which a fraction of the values lies; 0 of no values.
fn percentile(values: &[f64], fraction: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((fraction * last as f64).round() as usize).copied().unwrap_or(0.0)
}

/// The median; 0 of no values.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// JSON of the declared bytes of passes; of several passes of one name, the sum.
pub fn declared_json(passes: &[DeclaredBytes]) -> Value {
    let rows = summed(passes).into_iter().map(|pass| {
        json!({
            "name": pass.pass,
            "image_bytes_read": pass.images_read, "image_bytes_written": pass.images_written,
            "buffer_bytes_read": pass.buffers_read, "buffer_bytes_written": pass.buffers_written,
        })
    });
    rows.collect()
}

/// Declared bytes by name of the pass, in the order of the first pass of each name.
pub fn summed(passes: &[DeclaredBytes]) -> Vec<DeclaredBytes> {
    let mut sums: Vec<DeclaredBytes> = Vec::new();
    for pass in passes {
        match sums.iter_mut().find(|sum| sum.pass == pass.pass) {
            Some(sum) => {
                sum.images_read += pass.images_read;
                sum.images_written += pass.images_written;
                sum.buffers_read += pass.buffers_read;
                sum.buffers_written += pass.buffers_written;
            }
            None => sums.push(pass.clone()),
        }
    }
    sums
}
