//! Fourier transforms in single precision. `rustfft` is generic over the number type: a crate that
//! plans a transform compiles all of its algorithms.

use std::sync::Arc;

use rustfft::FftPlanner;
pub use rustfft::{Fft, num_complex};

/// Plans forward transforms of a length in samples, above 0.
#[must_use]
pub fn plan_forward(length: usize) -> Arc<dyn Fft<f32>> {
    FftPlanner::new().plan_fft_forward(length)
}
