//! Error metrics between an image and its reference. Pure functions of linear pixels.
//!
//! A mask selects the pixels that count (`true`); all count without one. A metric is `None` if it
//! is undefined: no pixel counts, or a difference is relative to a black reference. Equal images
//! have an error of 0 in every metric, whatever the reference is. Sums have a fixed order and
//! double precision, so that equal images give equal bits. docs/compare.md describes the use and
//! limits of each metric.

use super::linear_image::{Encoding, LinearImage, luminance};
use crate::photometry::color;

/// Side length of a block in pixels.
pub const BLOCK: usize = 8;
/// Luminance floor for `stops`, as a fraction of the reference's mean luminance.
const STOPS_FLOOR: f64 = 1e-3;
/// Floor of the divisor for `blocks`, as a fraction of the reference's mean luminance.
pub(super) const BLOCK_FLOOR: f64 = 0.01;
/// Epsilon of `relative_mse`, in squares of the reference's mean: Rousselle, Knaus and Zwicker,
/// "Adaptive Sampling and Reconstruction using Greedy Error Minimization", ACM Trans. Graph. 30(6),
/// 2011, section 5, use 0.01 for images exposed to a mean of about 1.
const RELATIVE_MSE_EPSILON: f64 = 0.01;

/// Images that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The images differ in size.
    #[error(
        "the test has {}x{} pixels, the reference {}x{}; render or scale both to the same size",
        .test[0], .test[1], .reference[0], .reference[1]
    )]
    Size {
        /// Test width and height in pixels.
        test: [usize; 2],
        /// Reference width and height in pixels.
        reference: [usize; 2],
    },
    /// One image is scene light and the other display light.
    #[error(
        "the {scene} holds scene light (EXR, HDR), the {display} display light (PNG, JPEG); \
         compare two of the same kind, or give an exposure for the {scene}"
    )]
    Encoding {
        /// The scene-light image: test or reference.
        scene: &'static str,
        /// The display-light image: test or reference.
        display: &'static str,
    },
    /// The mask differs in size.
    #[error("the mask has {mask} pixels, the images {pixels}; expected equal sizes")]
    Mask {
        /// Number of pixels of the mask.
        mask: usize,
        /// Number of pixels of each image.
        pixels: usize,
    },
}

/// A test image and its reference, of equal size and encoding.
#[derive(Clone, Copy, Debug)]
pub struct ImagePair<'a> {
    test: &'a LinearImage,
    reference: &'a LinearImage,
    mask: Option<&'a [bool]>,
}

impl<'a> ImagePair<'a> {
    /// Creates a pair to compare.
    ///
    /// # Errors
    /// [`CompareError`] if sizes or encodings differ.
    pub fn new(test: &'a LinearImage, reference: &'a LinearImage) -> Result<Self, CompareError> {
        let size = |picture: &LinearImage| [picture.width(), picture.height()];
        if size(test) != size(reference) {
            return Err(CompareError::Size { test: size(test), reference: size(reference) });
        }
        match (test.encoding(), reference.encoding()) {
            (Encoding::Scene, Encoding::Display) => {
                Err(CompareError::Encoding { scene: "test", display: "reference" })
            }
            (Encoding::Display, Encoding::Scene) => {
                Err(CompareError::Encoding { scene: "reference", display: "test" })
            }
            _ => Ok(Self { test, reference, mask: None }),
        }
    }

    /// The same pair with a mask: only pixels with `true` count.
    ///
    /// # Errors
    /// [`CompareError::Mask`] if the mask differs in size.
    pub fn masked(self, mask: &'a [bool]) -> Result<Self, CompareError> {
        let pixels = self.test.pixels().len();
        if mask.len() != pixels {
            return Err(CompareError::Mask { mask: mask.len(), pixels });
        }
        Ok(Self { mask: Some(mask), ..self })
    }

    /// The same test and mask with another reference; `None` if its size or encoding differs.
    #[must_use]
    pub fn with_reference(self, reference: &'a LinearImage) -> Option<Self> {
        Self::new(self.test, reference).ok().map(|pair| Self { mask: self.mask, ..pair })
    }

    /// The test image.
    #[must_use]
    pub const fn test(&self) -> &'a LinearImage {
        self.test
    }

    /// The reference image.
    #[must_use]
    pub const fn reference(&self) -> &'a LinearImage {
        self.reference
    }

    /// True if a pixel, by its index, counts.
    pub(super) fn counts(&self, index: usize) -> bool {
        self.mask.is_none_or(|mask| mask[index])
    }

    /// Pixels that count, as (test, reference).
    fn pixels(&self) -> impl Iterator<Item = ([f32; 3], [f32; 3])> + '_ {
        let both = self.test.pixels().iter().zip(self.reference.pixels());
        both.enumerate()
            .filter(|(index, _)| self.counts(*index))
            .map(|(_, (test, reference))| (*test, *reference))
    }

    /// Channels of the pixels that count, as (test, reference).
    fn channels(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.pixels().flat_map(|(test, reference)| {
            std::array::from_fn::<_, 3, _>(|i| (f64::from(test[i]), f64::from(reference[i])))
        })
    }

    /// Number of pixels that count.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.mask
            .map_or(self.test.pixels().len(), |mask| mask.iter().filter(|counts| **counts).count())
    }

    /// Mean luminance of test and reference, in the unit of the channels.
    #[must_use]
    pub fn means(&self) -> Option<[f64; 2]> {
        let both = self.pixels().map(|(test, reference)| (luminance(test), luminance(reference)));
        mean_of(both).map(|(test, reference)| [test, reference])
    }

    /// Signed relative bias of mean luminance: `mean(test) / mean(reference) - 1`; 0 for equal
    /// means.
    #[must_use]
    pub fn bias(&self) -> Option<f64> {
        let [test, reference] = self.means()?;
        if test == reference {
            Some(0.0)
        } else {
            quotient(test, reference).map(|ratio| ratio - 1.0)
        }
    }

    /// Mean square error over pixels and channels, in squares of the channels' unit.
    #[must_use]
    pub fn mse(&self) -> Option<f64> {
        mean_of(self.channels().map(|(test, reference)| ((test - reference).powi(2), 0.0)))
            .map(|(mse, _)| mse)
    }

    /// Root mean square error over pixels and channels, in the channels' unit.
    #[must_use]
    pub fn rmse(&self) -> Option<f64> {
        self.mse().map(f64::sqrt)
    }

    /// `rmse` over the mean of the reference's channels; 0 for equal images.
    #[must_use]
    pub fn relative_rmse(&self) -> Option<f64> {
        match self.rmse()? {
            0.0 => Some(0.0),
            rmse => quotient(rmse, self.channel_mean()?),
        }
    }

    fn channel_mean(&self) -> Option<f64> {
        mean_of(self.channels().map(|(_, reference)| (reference, 0.0))).map(|(mean, _)| mean)
    }

    /// Mean over pixels and channels of `(test - reference)^2 / (reference^2 + epsilon)`. Epsilon
    /// is `RELATIVE_MSE_EPSILON` times the square of the reference's mean, so that the unit does
    /// not matter.
    #[must_use]
    pub fn relative_mse(&self) -> Option<f64> {
        if self.mse()? == 0.0 {
            return Some(0.0);
        }
        let mean = self.channel_mean()?;
        let epsilon = RELATIVE_MSE_EPSILON * mean * mean;
        if mean <= 0.0 || epsilon <= 0.0 {
            return None;
        }
        let terms = self.channels().map(|(test, reference)| {
            ((test - reference).powi(2) / (reference.powi(2) + epsilon), 0.0)
        });
        mean_of(terms).map(|(mean, _)| mean)
    }

    /// Peak signal-to-noise ratio in dB, `10 log10(peak^2 / mse)`; infinite for equal images. Scene
    /// light is compared linearly, with `peak` in its unit. Display light is compared as sRGB codes
    /// with a peak of 1, and `peak` is ignored.
    #[must_use]
    pub fn psnr(&self, peak: f64) -> Option<f64> {
        let (mse, peak) = match self.test.encoding() {
            Encoding::Scene => (self.mse()?, peak),
            Encoding::Display => {
                let codes = self.channels().map(|(test, reference)| {
                    ((color::srgb_oetf(test) - color::srgb_oetf(reference)).powi(2), 0.0)
                });
                (mean_of(codes)?.0, 1.0)
            }
        };
        let finite = peak > 0.0 && peak.is_finite();
        finite.then(|| if mse > 0.0 { 10.0 * (peak * peak / mse).log10() } else { f64::INFINITY })
    }

    /// Symmetric mean absolute percentage error (SMAPE), 0 to 2. Mean over pixels and channels of
    /// `2 |test - reference| / (|test| + |reference|)`, which is 0 where both are black.
    #[must_use]
    pub fn smape(&self) -> Option<f64> {
        let terms = self.channels().map(|(test, reference)| {
            (
                quotient(2.0 * (test - reference).abs(), test.abs() + reference.abs())
                    .unwrap_or(0.0),
                0.0,
            )
        });
        mean_of(terms).map(|(mean, _)| mean)
    }

    /// Signed differences in stops: `log2(test / reference)` of luminance. Luminances are clamped
    /// to at least `STOPS_FLOOR` of the reference's mean, so that blacks are equal and noise in the
    /// dark stays finite. If the reference's mean is not above 0, equal luminances give 0 and
    /// others make the metric undefined.
    #[must_use]
    pub fn stops(&self) -> Option<Stops> {
        let [_, mean] = self.means()?;
        let floor = mean * STOPS_FLOOR;
        let both = self.test.pixels().iter().zip(self.reference.pixels());
        let both = both.map(|(test, reference)| (luminance(*test), luminance(*reference)));
        if !(floor > 0.0 && floor.is_finite()) {
            if self.pixels().any(|(test, reference)| luminance(test) != luminance(reference)) {
                return None;
            }
            // Masked pixels may differ.
            let tiny = f64::from(f32::MIN_POSITIVE);
            let map = both
                .map(|(test, reference)| (test.max(tiny) / reference.max(tiny)).log2() as f32)
                .collect();
            return Some(Stops { floor: 0.0, mean: 0.0, map });
        }
        let map: Vec<f32> = both
            .map(|(test, reference)| (test.max(floor) / reference.max(floor)).log2() as f32)
            .collect();
        let mean = self.mean(&map)?;
        Some(Stops { floor, mean, map })
    }

    /// Relative bias of blocks of `BLOCK` pixels per side. Blocks of equal means have 0, whatever
    /// the reference is.
    #[must_use]
    pub fn blocks(&self) -> Option<Blocks> {
        let [_, mean] = self.means()?;
        let floor = mean * BLOCK_FLOOR;
        let divides = floor > 0.0 && floor.is_finite();
        let (width, height) = (self.test.width(), self.test.height());
        let (across, down) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        let mut sums = vec![(0.0f64, 0.0f64, 0usize); across * down];
        for (index, (test, reference)) in
            self.test.pixels().iter().zip(self.reference.pixels()).enumerate()
        {
            if self.counts(index) {
                let sum = &mut sums[index / width / BLOCK * across + index % width / BLOCK];
                *sum = (sum.0 + luminance(*test), sum.1 + luminance(*reference), sum.2 + 1);
            }
        }
        if !divides && sums.iter().any(|(test, reference, _)| test != reference) {
            return None;
        }
        let bias: Vec<Option<f32>> = sums
            .iter()
            .map(|&(test, reference, count)| {
                let count = (count > 0).then_some(count as f64)?;
                let bias = || (test - reference) / count / (reference / count).max(floor);
                Some(if test == reference { 0.0 } else { bias() as f32 })
            })
            .collect();
        let counted: Vec<(usize, f64)> = bias
            .iter()
            .enumerate()
            .filter_map(|(index, bias)| bias.map(|bias| (index, f64::from(bias))))
            .collect();
        let (square, _) = mean_of(counted.iter().map(|(_, bias)| (bias * bias, 0.0)))?;
        let worst = counted.iter().fold((0, 0.0f64), |worst, &(index, bias)| {
            if bias.abs() > worst.1.abs() { (index, bias) } else { worst }
        });
        Some(Blocks {
            across,
            down,
            rms: square.sqrt(),
            worst: worst.1,
            worst_at: [worst.0 % across * BLOCK, worst.0 / across * BLOCK],
            bias,
        })
    }

    /// Mean of a map of the pair's size over the pixels that count.
    #[must_use]
    pub fn mean(&self, map: &[f32]) -> Option<f64> {
        mean_of(self.counted_values(map).map(|value| (f64::from(value), 0.0))).map(|(mean, _)| mean)
    }

    /// Percentiles (0 to 100) of a map of the pair's size over the pixels that count, interpolated
    /// linearly between ranks.
    #[must_use]
    pub fn percentiles<const N: usize>(&self, map: &[f32], percents: [f64; N]) -> Option<[f64; N]> {
        let mut values: Vec<f32> = self.counted_values(map).collect();
        values.sort_unstable_by(f32::total_cmp);
        let last = values.len().checked_sub(1)?;
        Some(percents.map(|percent| {
            let place = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
            let (low, high) = (place.floor() as usize, place.ceil() as usize);
            let (a, b) = (f64::from(values[low]), f64::from(values[high]));
            a + (b - a) * (place - low as f64)
        }))
    }

    fn counted_values<'b>(&'b self, map: &'b [f32]) -> impl Iterator<Item = f32> + 'b {
        let counts =
            |index: usize| self.mask.is_none_or(|mask| mask.get(index).copied().unwrap_or(false));
        map.iter().enumerate().filter(move |(index, _)| counts(*index)).map(|(_, value)| *value)
    }
}

/// Signed differences in stops.
#[derive(Clone, Debug, PartialEq)]
pub struct Stops {
    /// Luminance floor, in the unit of the channels.
    pub floor: f64,
    /// Mean over the pixels that count: the mean of logarithms, not the logarithm of means.
    pub mean: f64,
    /// One value per pixel, masked pixels included.
    pub map: Vec<f32>,
}

impl Stops {
    /// Absolute values of the map.
    #[must_use]
    pub fn unsigned(&self) -> Vec<f32> {
        self.map.iter().map(|stops| stops.abs()).collect()
    }
}

/// Relative bias of blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// Blocks per row.
    pub across: usize,
    /// Blocks per column.
    pub down: usize,
    /// Root mean square of the biases.
    pub rms: f64,
    /// The bias farthest from 0, with its sign.
    pub worst: f64,
    /// Upper left pixel of that block.
    pub worst_at: [usize; 2],
    /// Per block `(mean(test) - mean(reference)) / max(mean(reference), floor)` of luminance. The
    /// floor is `BLOCK_FLOOR` of the whole reference's mean. `None` for blocks where no pixel
    /// counts.
    pub bias: Vec<Option<f32>>,
}

/// Mask of pixels without edges, including shadow edges: luminance in each pixel's neighborhood
/// differs by at most 10 percent.
#[must_use]
pub fn edge_free_mask(picture: &LinearImage) -> Vec<bool> {
    smooth_mask(picture, 1, 0.1)
}

/// Mask of smooth pixels: `false` if the luminances within `radius` pixels to each side differ by
/// more than `most` times the greatest magnitude there (0.1: 10 percent). Excludes edges and shadow
/// edges.
#[must_use]
pub fn smooth_mask(picture: &LinearImage, radius: usize, most: f64) -> Vec<bool> {
    let (width, height) = (picture.width(), picture.height());
    let luminance = picture.luminance();
    // Minimum and maximum along rows, then across them.
    let extremes = |least: &[f32], greatest: &[f32], across: bool| -> (Vec<f32>, Vec<f32>) {
        (0..luminance.len())
            .map(|index| {
                let (x, y) = (index % width, index / width);
                let (at, end) = if across { (x, width) } else { (y, height) };
                let range = at.saturating_sub(radius)..(at + radius + 1).min(end);
                range.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), i| {
                    let neighbor = if across { y * width + i } else { i * width + x };
                    (low.min(least[neighbor]), high.max(greatest[neighbor]))
                })
            })
            .unzip()
    };
    let (least, greatest) = extremes(&luminance, &luminance, true);
    let (least, greatest) = extremes(&least, &greatest, false);
    let flat = |(low, high): (&f32, &f32)| {
        f64::from(*high) - f64::from(*low) <= most * f64::from(high.max(-*high))
    };
    least.iter().zip(&greatest).map(flat).collect()
}

/// Means of both components; `None` without values.
fn mean_of(values: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    let (mut a, mut b, mut count) = (0.0, 0.0, 0usize);
    for (x, y) in values {
        a += x;
        b += y;
        count += 1;
    }
    (count > 0).then(|| (a / count as f64, b / count as f64))
}

/// `a / b` if b is above 0 and the result is finite.
fn quotient(a: f64, b: f64) -> Option<f64> {
    let ratio = a / b;
    (b > 0.0 && ratio.is_finite()).then_some(ratio)
}
