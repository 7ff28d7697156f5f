//! Numbers that single pixels cannot spoil, and the pixels that spoil the others.

use serde::Serialize;

use super::{
    linear_image::luminance,
    metrics::{Blocks, ImagePair},
};

/// Part of the pixels, those with the largest differences, that the trimmed bias leaves out.
const TRIMMED_PIXELS: f64 = 0.001;
/// Part of the blocks, those with the largest bias, that the trimmed RMS leaves out.
const TRIMMED_BLOCKS: f64 = 0.01;
/// Part of the reference's light that the difference of a dominant pixel has at least.
const DOMINANT_SHARE: f64 = 0.002;
/// Part of the bias that it has at least.
const DOMINANT_PART_OF_BIAS: f64 = 0.1;
/// Multiple of the mean absolute difference that it has at least: an outlier, not one of a few
/// pixels.
const OUTLIER: f64 = 50.0;
/// Maximum number of dominant pixels.
const MAX_DOMINANT: usize = 3;

/// A pixel that decides the bias.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DominantPixel {
    /// Column and row.
    pub at: [usize; 2],
    /// Its part of the test's light.
    pub test_share: f64,
    /// Its part of the reference's light.
    pub reference_share: f64,
    /// Its part of the bias: difference of luminance over the sum of the reference.
    pub bias: f64,
}

/// The pixels that decide the bias, largest part first, and the bias without them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DominantPixels {
    /// The pixels, at most three.
    pub pixels: Vec<DominantPixel>,
    /// Bias without these pixels; `None` if there are none, or the rest is black.
    pub bias_without: Option<f64>,
}

/// The pixel with the largest squared error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorstPixel {
    /// Column and row.
    pub at: [usize; 2],
    /// Its part of the sum of squared errors, 0 to 1.
    pub share: f64,
}

/// Number of values that a trimmed mean leaves out: at least one, but not all.
fn trimmed(part: f64, count: usize) -> usize {
    ((part * count as f64).ceil() as usize).min(count.saturating_sub(1))
}

impl ImagePair<'_> {
    /// Index, test and reference luminance of the pixels that count, by descending absolute
    /// difference.
    fn by_difference(&self) -> Vec<(usize, f64, f64)> {
        let both = self.test().pixels().iter().zip(self.reference().pixels());
        let mut all: Vec<(usize, f64, f64)> = both
            .enumerate()
            .filter(|(index, _)| self.counts(*index))
            .map(|(index, (test, reference))| (index, luminance(*test), luminance(*reference)))
            .collect();
        // The index makes the order unique.
        all.sort_unstable_by(|a, b| {
            (b.1 - b.2).abs().total_cmp(&(a.1 - a.2).abs()).then(a.0.cmp(&b.0))
        });
        all
    }

    /// Bias over all but the 0.1 % of the pixels (at least one) with the largest absolute
    /// differences of luminance.
    #[must_use]
    pub fn trimmed_bias(&self) -> Option<f64> {
        let all = self.by_difference();
        bias_of(all.get(trimmed(TRIMMED_PIXELS, all.len())..)?)
    }

    /// The pixels that decide the bias: outliers whose difference is at least 0.2 % of the
    /// reference's light and a tenth of the bias.
    #[must_use]
    pub fn dominant_pixels(&self) -> DominantPixels {
        let all = self.by_difference();
        let sum = |value: fn(&(usize, f64, f64)) -> f64| all.iter().map(value).sum::<f64>();
        let (tests, references) = (sum(|pixel| pixel.1), sum(|pixel| pixel.2));
        let mean = sum(|pixel| (pixel.1 - pixel.2).abs()) / all.len().max(1) as f64;
        let bias = (tests - references).abs() / references;
        if !(references > 0.0 && bias.is_finite()) {
            return DominantPixels::default();
        }
        let width = self.test().width();
        let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        let pixels: Vec<DominantPixel> = all
            .iter()
            .take(MAX_DOMINANT)
            .take_while(|(_, test, reference)| {
                let difference = (test - reference).abs();
                difference > OUTLIER * mean
                    && difference / references >= DOMINANT_SHARE.max(DOMINANT_PART_OF_BIAS * bias)
            })
            .map(|&(index, test, reference)| DominantPixel {
                at: [index % width, index / width],
                test_share: share(test, tests),
                reference_share: share(reference, references),
                bias: (test - reference) / references,
            })
            .collect();
        let rest = all.get(pixels.len()..).filter(|_| !pixels.is_empty());
        DominantPixels { bias_without: rest.and_then(bias_of), pixels }
    }

    /// The pixel with the largest squared error over channels; `None` for equal pictures.
    #[must_use]
    pub fn worst_pixel(&self) -> Option<WorstPixel> {
        let both = self.test().pixels().iter().zip(self.reference().pixels());
        let squares = both.enumerate().filter(|(index, _)| self.counts(*index)).map(
            |(index, (test, reference))| {
                let square = |i: usize| (f64::from(test[i]) - f64::from(reference[i])).powi(2);
                (index, square(0) + square(1) + square(2))
            },
        );
        let (mut sum, mut worst) = (0.0, (0, 0.0));
        for (index, square) in squares {
            sum += square;
            if square > worst.1 {
                worst = (index, square);
            }
        }
        let width = self.test().width();
        (sum > 0.0 && sum.is_finite())
            .then(|| WorstPixel { at: [worst.0 % width, worst.0 / width], share: worst.1 / sum })
    }
}

/// Bias of (index, test, reference) luminances; 0 if both have equal sums.
fn bias_of(pixels: &[(usize, f64, f64)]) -> Option<f64> {
    let (test, reference) = pixels.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.1, sum.1 + p.2));
    if test == reference {
        return Some(0.0);
    }
    let bias = test / reference - 1.0;
    (reference > 0.0 && bias.is_finite()).then_some(bias)
}

/// Median; 0 without values.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl Blocks {
    /// Absolute biases of the blocks that count.
    fn magnitudes(&self) -> Vec<f64> {
        self.bias.iter().flatten().map(|bias| f64::from(bias.abs())).collect()
    }

    /// Root mean square of the biases of all but the 1 % of the blocks (at least one) with the
    /// largest.
    #[must_use]
    pub fn trimmed_rms(&self) -> f64 {
        let mut sorted = self.magnitudes();
        sorted.sort_unstable_by(f64::total_cmp);
        let kept = sorted.len() - trimmed(TRIMMED_BLOCKS, sorted.len());
        let squares: f64 = sorted.iter().take(kept).map(|bias| bias * bias).sum();
        (squares / kept.max(1) as f64).sqrt()
    }

    /// Median of the absolute biases.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(self.magnitudes())
    }
}
