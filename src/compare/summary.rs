//! All numbers of a pair at once, as `compare` prints them.

use serde::Serialize;

use super::{
    flip,
    linear_image::{Encoding, LinearImage},
    metrics::{ImagePair, Stops},
};
use crate::camera::{
    Exposure,
    metering::{self, MeterMode},
    tonemap::ToneMapper,
};

/// How a pair is looked at.
#[derive(Clone, Copy, Debug)]
pub struct CompareSettings {
    /// What scenes are shown with for LDR-FLIP, and whose saturation luminance is the peak of PSNR.
    pub exposure: Exposure,
    /// What follows the exposure.
    pub mapper: ToneMapper,
    /// For FLIP: pixels a degree of the observer's view.
    pub pixels_per_degree: f32,
}

impl Default for CompareSettings {
    /// Sunny 16, clipped, at the distance that FLIP's authors have.
    fn default() -> Self {
        Self {
            exposure: Exposure::default(),
            mapper: ToneMapper::Linear,
            pixels_per_degree: flip::PIXELS_PER_DEGREE,
        }
    }
}

/// An HDR-FLIP map, and the exposures it was taken at.
pub type HdrFlip = (Vec<f32>, Option<flip::Exposures>);

/// LDR-FLIP of a pair as it is shown, and of scenes HDR-FLIP with its exposures.
#[must_use]
pub fn flips(pair: &ImagePair<'_>, settings: &CompareSettings) -> (Vec<f32>, Option<HdrFlip>) {
    let (test, reference) = (pair.test(), pair.reference());
    let (width, density) = (test.width(), settings.pixels_per_degree);
    if test.encoding() == Encoding::Display {
        return (flip::ldr(test.pixels(), reference.pixels(), width, density), None);
    }
    let show = |picture: &LinearImage| picture.displayed(settings.exposure, settings.mapper);
    let ldr = flip::ldr(show(test).pixels(), show(reference).pixels(), width, density);
    (ldr, Some(flip::hdr(test.pixels(), reference.pixels(), width, density)))
}

/// How a map of errors is spread over its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorStats {
    /// Mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 95 of 100 pixels are below.
    pub p95: f64,
    /// 99 of 100 pixels are below.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl ErrorStats {
    fn of(pair: &ImagePair<'_>, map: &[f32]) -> Option<Self> {
        let mean = pair.mean(map)?;
        let [p50, p95, p99, max] = pair.percentiles(map, [50.0, 95.0, 99.0, 100.0])?;
        Some(Self { mean, p50, p95, p99, max })
    }
}

/// The numbers of a pair. None is what has no meaning there, such as the bias of light against a
/// black reference; equal pictures have all numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Pixels across and down.
    pub size: [usize; 2],
    /// Pixels that count.
    pub counted: usize,
    /// Pixels of test and reference that were infinite or no numbers.
    pub not_finite: [usize; 2],
    /// Whether these are the same pixels with the same values in both.
    pub same_not_finite: bool,
    /// Mean luminance of test and reference: nits (or the files' unit), or parts of a display's
    /// white.
    pub mean: Option<[f64; 2]>,
    /// `mean(test) / mean(reference) - 1` of luminance.
    pub bias: Option<f64>,
    /// Root mean square error over channels, in their unit.
    pub rmse: Option<f64>,
    /// The same over the mean of the reference's channels.
    pub relative_rmse: Option<f64>,
    /// `Pair::relative_mse`.
    pub relative_mse: Option<f64>,
    /// Symmetric mean absolute error, 0 to 2.
    pub smape: Option<f64>,
    /// Peak signal to noise ratio (dB); none where nothing differs.
    pub psnr: Option<f64>,
    /// Its peak: nits, or 1 for codes of a display.
    pub psnr_peak: f64,
    /// Mean signed difference (stops).
    pub stops_mean: Option<f64>,
    /// Signed differences below which 5, 50 and 95 of 100 pixels are (stops).
    pub stops_percentiles: Option<[f64; 3]>,
    /// The difference without its sign (stops).
    pub stops: Option<ErrorStats>,
    /// 8x8 blocks: root mean square of their relative bias.
    pub block_rms: Option<f64>,
    /// The block farthest off, with its sign.
    pub block_worst: Option<f64>,
    /// Its upper left pixel.
    pub block_worst_at: Option<[usize; 2]>,
    /// Pixels a degree, for FLIP.
    pub pixels_per_degree: f32,
    /// The exposure (EV100) of scenes for LDR-FLIP; none for pictures of a display.
    pub ev100: Option<f64>,
    /// LDR-FLIP.
    pub flip: Option<ErrorStats>,
    /// HDR-FLIP; none for pictures of a display.
    pub flip_hdr: Option<ErrorStats>,
    /// The first and last exposure (stops) and the number of exposures of HDR-FLIP.
    pub flip_hdr_exposures: Option<(f32, f32, usize)>,
}

/// The maps behind a summary, one value a pixel.
#[derive(Clone, Debug)]
pub struct Maps {
    /// LDR-FLIP.
    pub flip: Vec<f32>,
    /// HDR-FLIP, of scenes.
    pub flip_hdr: Option<Vec<f32>>,
    /// Signed stops.
    pub stops: Option<Stops>,
}

impl Summary {
    /// Computes everything; pixels that a mask leaves out are still seen by FLIP's filters, but do
    /// not count.
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
            block_worst: blocks.as_ref().map(|blocks| blocks.worst),
            block_worst_at: blocks.as_ref().map(|blocks| blocks.worst_at),
            pixels_per_degree: density,
            ev100: scene.then(|| settings.exposure.ev100().get()),
            flip: ErrorStats::of(pair, &flip),
            flip_hdr: flip_hdr.as_ref().and_then(|map| ErrorStats::of(pair, map)),
            flip_hdr_exposures: exposures
                .map(|exposures| (exposures.start, exposures.stop, exposures.count)),
        };
        (summary, Maps { flip, flip_hdr, stops })
    }
}

/// The exposure that a meter chooses for a scene, by the mean of the logarithm of luminance; sunny
/// 16 if it is black or not a scene.
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
