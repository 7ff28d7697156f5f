//! All metrics of a pair, as `compare` prints them.

use glam::Mat3;
use serde::Serialize;

use super::{
    flip,
    linear_image::{Encoding, LinearImage},
    metrics::{Blocks, ImagePair, Stops},
    robust::{DominantPixels, WorstPixel},
};
use crate::camera::{
    Exposure,
    metering::{self, MeterMode},
    tonemap::ToneMapper,
};

/// Viewing conditions of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct CompareSettings {
    /// Exposure of scene light for LDR-FLIP; its saturation luminance is the peak of PSNR.
    pub exposure: Exposure,
    /// White balance: matrix of exposed linear Rec.709, before the tone mapper.
    pub white_balance: Mat3,
    /// Tone mapper after the exposure.
    pub mapper: ToneMapper,
    /// Pixels per degree of visual angle, for FLIP.
    pub pixels_per_degree: f32,
}

impl Default for CompareSettings {
    /// Sunny 16 exposure, clipping, and FLIP's default viewing distance.
    fn default() -> Self {
        Self {
            exposure: Exposure::default(),
            white_balance: Mat3::IDENTITY,
            mapper: ToneMapper::Linear,
            pixels_per_degree: flip::PIXELS_PER_DEGREE,
        }
    }
}

/// HDR-FLIP map and its exposures.
pub type HdrFlip = (Vec<f32>, Option<flip::Exposures>);

/// LDR-FLIP of a pair as displayed.
#[must_use]
pub fn ldr_flip(pair: &ImagePair<'_>, settings: &CompareSettings) -> Vec<f32> {
    let CompareSettings { exposure, white_balance, mapper, pixels_per_degree } = *settings;
    let show = |picture: &LinearImage| picture.displayed(exposure, white_balance, mapper);
    let [test, reference] = [pair.test(), pair.reference()].map(show);
    flip::ldr(test.pixels(), reference.pixels(), test.width(), pixels_per_degree)
}

/// LDR-FLIP of a pair as displayed, and for scene light HDR-FLIP with its exposures.
#[must_use]
pub fn flips(pair: &ImagePair<'_>, settings: &CompareSettings) -> (Vec<f32>, Option<HdrFlip>) {
    let (test, reference) = (pair.test(), pair.reference());
    let is_scene = test.encoding() == Encoding::Scene;
    let hdr = is_scene.then(|| {
        flip::hdr(test.pixels(), reference.pixels(), test.width(), settings.pixels_per_degree)
    });
    (ldr_flip(pair, settings), hdr)
}

/// Distribution of an error map over its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorStats {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

impl ErrorStats {
    fn of(pair: &ImagePair<'_>, map: &[f32]) -> Option<Self> {
        let mean = pair.mean(map)?;
        let [p50, p95, p99, max] = pair.percentiles(map, [50.0, 95.0, 99.0, 100.0])?;
        Some(Self { mean, p50, p95, p99, max })
    }
}

/// Metrics of a pair. `None` marks undefined ones, such as the bias against a black reference;
/// equal images have all metrics.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Number of pixels that count.
    pub counted: usize,
    /// Number of pixels with NaN or infinity in test and reference.
    pub not_finite: [usize; 2],
    /// True if these are the same pixels with the same values in both.
    pub same_not_finite: bool,
    /// Mean luminance of test and reference: nits (or the files' unit) for scene light, fraction of
    /// white for display light.
    pub mean: Option<[f64; 2]>,
    /// Relative bias of luminance: `mean(test) / mean(reference) - 1`.
    pub bias: Option<f64>,
    /// [`ImagePair::trimmed_bias`].
    pub bias_trimmed: Option<f64>,
    /// [`ImagePair::dominant_pixels`].
    pub dominant: DominantPixels,
    /// [`ImagePair::worst_pixel`].
    pub worst_pixel: Option<WorstPixel>,
    /// Root mean square error over channels, in their unit.
    pub rmse: Option<f64>,
    /// `rmse` over the mean of the reference's channels.
    pub relative_rmse: Option<f64>,
    /// `ImagePair::relative_mse`.
    pub relative_mse: Option<f64>,
    /// Symmetric mean absolute percentage error, 0 to 2.
    pub smape: Option<f64>,
    /// Peak signal-to-noise ratio in dB; `None` for equal images.
    pub psnr: Option<f64>,
    /// Peak of `psnr`: nits, or 1 for display codes.
    pub psnr_peak: f64,
    /// Mean signed difference in stops.
    pub stops_mean: Option<f64>,
    /// 5th, 50th and 95th percentile of signed differences in stops.
    pub stops_percentiles: Option<[f64; 3]>,
    /// Absolute differences in stops.
    pub stops: Option<ErrorStats>,
    /// Root mean square of the relative bias of 8x8 blocks.
    pub block_rms: Option<f64>,
    /// [`Blocks::trimmed_rms`].
    pub block_rms_trimmed: Option<f64>,
    /// [`Blocks::median`].
    pub block_median: Option<f64>,
    /// Relative bias of the worst block, with its sign.
    pub block_worst: Option<f64>,
    /// Upper left pixel of the worst block.
    pub block_worst_at: Option<[usize; 2]>,
    /// Pixels per degree of visual angle, for FLIP.
    pub pixels_per_degree: f32,
    /// EV100 of scene light for LDR-FLIP; `None` for display light.
    pub ev100: Option<f64>,
    /// LDR-FLIP.
    pub flip: Option<ErrorStats>,
    /// HDR-FLIP; `None` for display light.
    pub flip_hdr: Option<ErrorStats>,
    /// First and last exposure in stops, and the number of exposures of HDR-FLIP.
    pub flip_hdr_exposures: Option<(f32, f32, usize)>,
}

/// Error maps of a summary, one value per pixel.
#[derive(Clone, Debug)]
pub struct Maps {
    /// LDR-FLIP error, 0 to 1.
    pub flip: Vec<f32>,
    /// HDR-FLIP error, 0 to 1, for scene light.
    pub flip_hdr: Option<Vec<f32>>,
    /// Signed differences in stops.
    pub stops: Option<Stops>,
}

impl Summary {
    /// Computes all metrics. Masked pixels influence FLIP's filters, but do not count.
    #[must_use]
    pub fn of(pair: &ImagePair<'_>, settings: &CompareSettings) -> (Self, Maps) {
        let (test, reference) = (pair.test(), pair.reference());
        let width = test.width();
        let scene = test.encoding() == Encoding::Scene;
        let density = settings.pixels_per_degree;
        let (flip, hdr) = flips(pair, settings);
        let exposures = hdr.as_ref().and_then(|(_, exposures)| *exposures);
        let flip_hdr = hdr.map(|(map, _)| map);
        let stops = pair.stops();
        let unsigned = stops.as_ref().map(Stops::unsigned);
        let blocks = pair.blocks();
        let psnr_peak = if scene { settings.exposure.saturation_luminance().get() } else { 1.0 };
        let summary = Self {
            size: [width, test.height()],
            counted: pair.counted(),
            not_finite: [test.not_finite(), reference.not_finite()],
            same_not_finite: test.same_not_finite(reference),
            mean: pair.means(),
            bias: pair.bias(),
            bias_trimmed: pair.trimmed_bias(),
            dominant: pair.dominant_pixels(),
            worst_pixel: pair.worst_pixel(),
            rmse: pair.rmse(),
            relative_rmse: pair.relative_rmse(),
            relative_mse: pair.relative_mse(),
            smape: pair.smape(),
            psnr: pair.psnr(psnr_peak).filter(|psnr| psnr.is_finite()),
            psnr_peak,
            stops_mean: stops.as_ref().map(|stops| stops.mean),
            stops_percentiles: stops
                .as_ref()
                .and_then(|stops| pair.percentiles(&stops.map, [5.0, 50.0, 95.0])),
            stops: unsigned.and_then(|map| ErrorStats::of(pair, &map)),
            block_rms: blocks.as_ref().map(|blocks| blocks.rms),
            block_rms_trimmed: blocks.as_ref().map(Blocks::trimmed_rms),
            block_median: blocks.as_ref().map(Blocks::median),
            block_worst: blocks.as_ref().map(|blocks| blocks.worst),
            block_worst_at: blocks.as_ref().map(|blocks| blocks.worst_at),
            pixels_per_degree: density,
            ev100: scene.then(|| settings.exposure.ev100().get()),
            flip: ErrorStats::of(pair, &flip),
            // Defined for scene light alone, but equal pictures have no error of any kind.
            flip_hdr: flip_hdr
                .as_ref()
                .or_else(|| Some(&flip).filter(|map| map.iter().all(|error| *error == 0.0)))
                .and_then(|map| ErrorStats::of(pair, map)),
            flip_hdr_exposures: exposures
                .map(|exposures| (exposures.start, exposures.stop, exposures.count)),
        };
        (summary, Maps { flip, flip_hdr, stops })
    }
}

/// Exposure from the log-average luminance of scene light; sunny 16 if the image is black or
/// display light.
#[must_use]
pub fn metered_exposure(picture: &LinearImage) -> Exposure {
    let metered = match picture.encoding() {
        Encoding::Scene => metering::meter(
            &picture.luminance(),
            picture.width(),
            picture.height(),
            MeterMode::LogAverage,
        )
        .ok(),
        Encoding::Display => None,
    };
    metered.and_then(|nits| Exposure::from_luminance(nits).ok()).unwrap_or_default()
}
