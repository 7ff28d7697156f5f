//! Noise of a path traced reference, by the difference of two halves of its samples.

use serde::Serialize;

use super::{
    linear_image::{LinearImage, luminance},
    metrics::{BLOCK, BLOCK_FLOOR, ImagePair},
    robust::median,
    summary::{self, CompareSettings},
};

/// Estimated noise of a reference. Standard deviations come from medians, as those of normal
/// distributions: a few bright pixels do not decide them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReferenceNoise {
    /// Standard deviation of a pixel's luminance over that luminance.
    pub pixel_median: f64,
    /// Root mean square of the pixels' errors over the mean luminance. A few bright pixels can
    /// decide it.
    pub pixel_rms: f64,
    /// Standard deviation of the mean of a block of 8x8 pixels over that mean.
    pub block_median: f64,
    /// Mean LDR-FLIP of the reference against a copy with another error of the same size and
    /// pattern: what remains for a test without any error.
    pub flip: f64,
}

/// Smallest divisor of a pixel's error, as a fraction of the mean luminance: that of stops.
const PIXEL_FLOOR: f64 = 1e-3;

/// Standard deviation of a normal distribution over the median of its absolute values.
const DEVIATION: f64 = 1.4826;

impl ReferenceNoise {
    /// Estimates the noise of a picture from an error of each pixel's luminance, signed, in the
    /// picture's unit: the layer `half_difference` of the path tracer.
    ///
    /// `None` for a black picture, errors of another size, or errors that are 0 everywhere.
    #[must_use]
    pub fn of(reference: &LinearImage, errors: &[f32], settings: &CompareSettings) -> Option<Self> {
        let luminances: Vec<f64> =
            reference.pixels().iter().map(|pixel| luminance(*pixel)).collect();
        let count = luminances.len() as f64;
        let mean = luminances.iter().sum::<f64>() / count;
        if errors.len() != luminances.len()
            || !(mean > 0.0 && mean.is_finite())
            || !errors.iter().all(|error| error.is_finite())
            || errors.iter().all(|error| *error == 0.0)
        {
            return None;
        }
        let relative = |(error, y): (&f32, &f64)| f64::from(*error) / y.max(PIXEL_FLOOR * mean);
        let squares: f64 = errors.iter().map(|error| f64::from(*error).powi(2)).sum();
        let noisy = with_errors(reference, &luminances, errors);
        let pair = ImagePair::new(&noisy, reference).ok()?;
        Some(Self {
            pixel_median: deviation(errors.iter().zip(&luminances).map(relative).collect()),
            pixel_rms: (squares / count).sqrt() / mean,
            block_median: deviation(block_errors(reference.width(), &luminances, errors, mean)),
            flip: pair.mean(&summary::ldr_flip(&pair, settings))?,
        })
    }
}

/// Relative error of each block's mean luminance.
fn block_errors(width: usize, luminances: &[f64], errors: &[f32], mean: f64) -> Vec<f64> {
    let across = width.div_ceil(BLOCK);
    let down = (luminances.len() / width).div_ceil(BLOCK);
    let mut sums = vec![(0.0, 0.0, 0.0); across * down];
    for (index, (y, error)) in luminances.iter().zip(errors).enumerate() {
        let sum: &mut (f64, f64, f64) =
            &mut sums[index / width / BLOCK * across + index % width / BLOCK];
        *sum = (sum.0 + y, sum.1 + f64::from(*error), sum.2 + 1.0);
    }
    sums.iter().map(|&(y, error, n)| error / y.max(BLOCK_FLOOR * mean * n)).collect()
}

/// The picture with errors of luminance added. Colors keep their hue; light stays at least 0.
fn with_errors(picture: &LinearImage, luminances: &[f64], errors: &[f32]) -> LinearImage {
    picture.map(|index, pixel| {
        let (y, error) = (luminances[index], f64::from(errors[index]));
        if y > 0.0 {
            let factor = (1.0 + error / y).max(0.0);
            pixel.map(|channel| (f64::from(channel) * factor) as f32)
        } else {
            [error.max(0.0) as f32; 3]
        }
    })
}

/// Standard deviation from the median of absolute values.
fn deviation(values: Vec<f64>) -> f64 {
    DEVIATION * median(values.into_iter().map(f64::abs).collect())
}
