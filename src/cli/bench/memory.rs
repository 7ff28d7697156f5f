//! Device memory in `sunny16 bench`: of the scene and of frames, by name, and bytes a pixel.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::units::mib;
use crate::{gpu::Gpu, gpu_scene::View};

/// Rows printed of each list; the rest is summed.
const MAX_ROWS: usize = 10;

type Bytes = BTreeMap<String, u64>;

/// Device memory at the stages of a measurement.
pub struct Memory {
    /// Memory of the scene's upload.
    scene: Bytes,
    /// All memory after the upload.
    uploaded: Bytes,
    /// Pixels and total bytes of the small frame.
    small: (f64, u64),
    /// Memory of the frames, beyond `uploaded`.
    frame: Bytes,
    /// Bytes for each additional pixel.
    bytes_per_pixel: f64,
}

impl Memory {
    /// Records the upload; `before` is the memory before it.
    pub fn new(gpu: &Gpu, before: Bytes) -> Self {
        let uploaded = gpu.memory_by_name();
        let scene = memory_delta(&uploaded, &before);
        Self { scene, uploaded, small: (0.0, 0), frame: Bytes::new(), bytes_per_pixel: 0.0 }
    }

    /// Records a frame smaller than the measured ones.
    pub fn small_frame(&mut self, gpu: &Gpu, view: &View) {
        self.small = (pixels(view), gpu.memory_in_use().0);
    }

    /// Records the measured frames.
    pub fn frame(&mut self, gpu: &Gpu, view: &View) {
        self.frame = memory_delta(&gpu.memory_by_name(), &self.uploaded);
        let (more, bytes) =
            (pixels(view) - self.small.0, gpu.memory_in_use().0.saturating_sub(self.small.1));
        self.bytes_per_pixel = if more > 0.0 { bytes as f64 / more } else { 0.0 };
    }

    pub fn print(&self) {
        println!("  the scene: {:.1} MiB", mib(self.scene.values().sum()));
        rows(&self.scene);
        let bytes_per_pixel = self.bytes_per_pixel;
        println!(
            "  frames: {:.1} MiB; {bytes_per_pixel:.1} MB for each additional megapixel",
            mib(self.frame.values().sum())
        );
        rows(&self.frame);
    }

    pub fn json(&self) -> Value {
        json!({"scene": self.scene, "frame": self.frame, "bytes_per_pixel": self.bytes_per_pixel})
    }
}

fn pixels(view: &View) -> f64 {
    f64::from(view.width) * f64::from(view.height)
}

/// Growth by name from `before` to `now`.
fn memory_delta(now: &Bytes, before: &Bytes) -> Bytes {
    now.iter()
        .map(|(name, bytes)| {
            (name.clone(), bytes.saturating_sub(before.get(name).copied().unwrap_or(0)))
        })
        .filter(|(_, bytes)| *bytes > 0)
        .collect()
}

fn rows(bytes: &Bytes) {
    let mut sorted: Vec<_> = bytes.iter().collect();
    sorted.sort_by_key(|(name, bytes)| (std::cmp::Reverse(**bytes), *name));
    for (name, bytes) in sorted.iter().take(MAX_ROWS) {
        println!("{:>10.2}  {name}", mib(**bytes));
    }
    let rest = sorted.get(MAX_ROWS..).unwrap_or_default();
    if !rest.is_empty() {
        println!(
            "{:>10.2}  {} others",
            mib(rest.iter().map(|(_, bytes)| **bytes).sum()),
            rest.len()
        );
    }
}
