//! Noise of a path traced reference, by its variance layer.

use serde::Serialize;

use super::{
    linear_image::{LinearImage, luminance},
    metrics::{BLOCK, BLOCK_FLOOR, ImagePair},
    summary::{self, CompareSettings},
};

/// Expected noise of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReferenceNoise {
    /// Median over the pixels of the standard deviation of luminance, over the luminance.
    pub pixel_median: f64,
    /// Root mean square of the standard deviations over the mean luminance. A few bright pixels
    /// can decide it.
    pub pixel_rms: f64,
    /// Median over the blocks of 8x8 pixels of the standard deviation of a block's mean, over that
    /// mean.
    pub block_median: f64,
    /// Mean LDR-FLIP of the reference against a copy with further noise of the same variance: what
    /// remains for a test without any error.
    pub flip: f64,
}

/// Smallest divisor of a pixel's deviation, as a fraction of the mean luminance: that of stops.
const PIXEL_FLOOR: f64 = 1e-3;

impl ReferenceNoise {
    /// Estimates the noise of a picture from the variance of each pixel's mean luminance, in the
    /// square of the picture's unit. The pixels are taken as independent, as are the variances:
    /// well distributed samples have less noise, so the result is an upper bound.
    ///
    /// `None` for a black picture, a variance of another size, or one that is 0 everywhere.
    #[must_use]
    pub fn of(
        reference: &LinearImage,
        variance: &[f32],
        settings: &CompareSettings,
    ) -> Option<Self> {
        let luminances: Vec<f64> =
            reference.pixels().iter().map(|pixel| luminance(*pixel)).collect();
        let count = luminances.len() as f64;
        let mean = luminances.iter().sum::<f64>() / count;
        let valid = |variance: &f32| variance.is_finite() && *variance >= 0.0;
        if variance.len() != luminances.len()
            || !(mean > 0.0 && mean.is_finite())
            || !variance.iter().all(valid)
            || variance.iter().all(|variance| *variance == 0.0)
        {
            return None;
        }
        let deviation = |index: usize| f64::from(variance[index]).sqrt();
        let relative = |(index, y): (usize, &f64)| deviation(index) / y.max(PIXEL_FLOOR * mean);
        let sum: f64 = variance.iter().map(|variance| f64::from(*variance)).sum();
        let noisy = with_noise(reference, &luminances, deviation);
        let pair = ImagePair::new(&noisy, reference).ok()?;
        Some(Self {
            pixel_median: median(luminances.iter().enumerate().map(relative).collect()),
            pixel_rms: (sum / count).sqrt() / mean,
            block_median: median(block_deviations(reference.width(), &luminances, variance, mean)),
            flip: pair.mean(&summary::ldr_flip(&pair, settings))?,
        })
    }
}

/// Relative standard deviation of each block's mean luminance.
fn block_deviations(width: usize, luminances: &[f64], variance: &[f32], mean: f64) -> Vec<f64> {
    let across = width.div_ceil(BLOCK);
    let down = (luminances.len() / width).div_ceil(BLOCK);
    let mut sums = vec![(0.0, 0.0, 0.0); across * down];
    for (index, (y, variance)) in luminances.iter().zip(variance).enumerate() {
        let sum: &mut (f64, f64, f64) =
            &mut sums[index / width / BLOCK * across + index % width / BLOCK];
        *sum = (sum.0 + y, sum.1 + f64::from(*variance), sum.2 + 1.0);
    }
    sums.iter().map(|&(y, variance, n)| variance.sqrt() / y.max(BLOCK_FLOOR * mean * n)).collect()
}

/// The picture with Gaussian noise of a standard deviation of luminance by pixel. Colors keep
/// their hue; light stays at least 0.
fn with_noise(
    picture: &LinearImage,
    luminances: &[f64],
    deviation: impl Fn(usize) -> f64,
) -> LinearImage {
    picture.map(|index, pixel| {
        let noise = deviation(index) * gaussian(index as u64);
        let y = luminances[index];
        if y > 0.0 {
            let factor = (1.0 + noise / y).max(0.0);
            pixel.map(|channel| (f64::from(channel) * factor) as f32)
        } else {
            [noise.max(0.0) as f32; 3]
        }
    })
}

/// A standard normal number by its index: Box and Muller, "A Note on the Generation of Random
/// Normal Deviates", 1958, on hashes by the finalizer of SplitMix64 (Steele et al., "Fast
/// Splittable Pseudorandom Number Generators", 2014).
fn gaussian(index: u64) -> f64 {
    let uniform = |seed: u64| {
        let mut x = (2 * index + seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Above 0, for the logarithm.
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + 0.5 / (1u64 << 53) as f64
    };
    (-2.0 * uniform(0).ln()).sqrt() * (std::f64::consts::TAU * uniform(1)).cos()
}

/// Median; 0 without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
