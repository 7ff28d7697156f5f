//! Evaluation of a validation case: rows with metric, limit and verdict.

use std::collections::BTreeMap;

use super::{
    case::{ALL, Bound, Case, Expectation, Metric},
    flip::{self, PIXELS_PER_DEGREE},
    linear_image::LinearImage,
    metrics::{self, ImagePair},
};
use crate::{camera::Exposure, photometry::color::luminance};

/// An image of a case, with its noise if known.
#[derive(Clone, Debug)]
pub struct CaseImage {
    /// Scene-linear image in nits.
    pub image: LinearImage,
    /// Variance of each pixel's luminance in nits squared; `None` for images without noise or of
    /// unknown noise.
    pub variance: Option<Vec<f64>>,
}

/// Images of a case by name.
pub type CaseImages = BTreeMap<String, CaseImage>;

/// Limit of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// The metric must be at most this.
    AtMost(f64),
    /// The metric must be at least this.
    AtLeast(f64),
}

impl Limit {
    /// True if a value meets the limit; NaN never does.
    #[must_use]
    pub fn keeps(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// Name of the tested image.
    pub test: String,
    /// Name of the reference: an image, or `closed form`.
    pub against: String,
    /// Name of the metric.
    pub metric: &'static str,
    /// Name of the region.
    pub region: String,
    /// Measured value; relative errors keep their sign.
    pub figure: f64,
    /// Standard deviation of the value due to the image's noise; `None` if unknown.
    pub noise: Option<f64>,
    /// Limit of the value.
    pub limit: Limit,
    /// True if the value is a fraction, which is printed in percent.
    pub share: bool,
    /// Explanation from the case.
    pub why: String,
}

impl CheckResult {
    /// True if the value meets the limit.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self.limit {
            Limit::AtMost(_) => self.limit.keeps(self.figure.abs()),
            Limit::AtLeast(_) => self.limit.keeps(self.figure),
        }
    }

    /// Used fraction of the limit; above 1 it is exceeded.
    #[must_use]
    pub fn strain(&self) -> f64 {
        let strain = match self.limit {
            Limit::AtMost(limit) => self.figure.abs() / limit,
            Limit::AtLeast(limit) => limit / self.figure,
        };
        if strain.is_nan() { f64::INFINITY } else { strain }
    }

    /// The value, formatted.
    #[must_use]
    pub fn shown(&self) -> String {
        let noise =
            self.noise.map_or_else(String::new, |noise| format!(" ± {}", self.number(noise)));
        let signed = if self.share && self.figure > 0.0 { "+" } else { "" };
        format!("{signed}{}{noise}", self.number(self.figure))
    }

    /// The limit, formatted.
    #[must_use]
    pub fn shown_limit(&self) -> String {
        match self.limit {
            Limit::AtMost(limit) => format!("≤ {}", self.number(limit)),
            Limit::AtLeast(limit) => format!("≥ {}", self.number(limit)),
        }
    }

    fn number(&self, value: f64) -> String {
        if self.share { format!("{:.3} %", value * 100.0) } else { format!("{value:.4}") }
    }
}

/// Mean of each channel over a mask.
fn mean(picture: &LinearImage, mask: Option<&[bool]>) -> [f64; 3] {
    let (mut sum, mut count) = ([0.0; 3], 0.0f64);
    for (index, pixel) in picture.pixels().iter().enumerate() {
        if mask.is_some_and(|mask| !mask.get(index).copied().unwrap_or(false)) {
            continue;
        }
        for (sum, value) in sum.iter_mut().zip(pixel) {
            *sum += f64::from(*value);
        }
        count += 1.0;
    }
    sum.map(|sum| sum / count.max(1.0))
}

/// Standard deviation of the mean luminance over a mask, relative to that mean.
fn noise_of_mean(shot: &CaseImage, mask: Option<&[bool]>) -> Option<f64> {
    let variance = shot.variance.as_ref()?;
    let inside = |index: usize| mask.is_none_or(|mask| mask.get(index).copied().unwrap_or(false));
    let count = (0..variance.len()).filter(|index| inside(*index)).count().max(1) as f64;
    let sum: f64 =
        variance.iter().enumerate().filter(|(index, _)| inside(*index)).map(|(_, v)| v).sum();
    let level = luminance(mean(&shot.image, mask).into());
    (level > 0.0).then(|| sum.sqrt() / count / level)
}

/// A failed check for each image with NaN or infinite pixels, which count as black in other checks.
#[must_use]
pub fn not_finite(shots: &CaseImages) -> Vec<CheckResult> {
    let broken = shots.iter().filter(|(_, shot)| shot.image.not_finite() > 0);
    broken
        .map(|(name, shot)| CheckResult {
            test: name.clone(),
            against: "numbers".into(),
            metric: "not finite",
            region: ALL.into(),
            figure: shot.image.not_finite() as f64,
            noise: None,
            limit: Limit::AtMost(0.0),
            share: false,
            why: "pixels with NaN or infinity".into(),
        })
        .collect()
}

/// Checks the mean over a region against its closed form.
///
/// # Errors
/// An expression has no value; `Case::read` has excluded this.
pub fn expected(
    case: &Case,
    expect: &Expectation,
    shot: &CaseImage,
) -> Result<CheckResult, String> {
    let wanted = expect.expected_values(&case.values()?)?;
    let mask = case.mask(&expect.region);
    let rgb = mean(&shot.image, mask.as_deref());
    let got: Vec<f64> = if wanted.len() == 1 { vec![luminance(rgb.into())] } else { rgb.to_vec() };
    let scale = wanted.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let worst = got.iter().zip(&wanted).map(|(got, wanted)| (got - wanted) / scale).fold(
        0.0f64,
        |worst, error| {
            // NaN counts as the worst error.
            if error.abs() > worst.abs() || error.is_nan() { error } else { worst }
        },
    );
    let changed =
        if expect.set.is_empty() { String::new() } else { format!(" ({})", expect.set.join(", ")) };
    Ok(CheckResult {
        test: expect.test.clone(),
        against: "closed form".into(),
        metric: if wanted.len() == 1 { "luminance" } else { "rgb" },
        region: format!("{}{changed}", expect.region),
        figure: worst,
        noise: noise_of_mean(shot, mask.as_deref()),
        limit: Limit::AtMost(expect.within),
        share: true,
        why: expect.why.clone(),
    })
}

/// Checks a bound: one row per region. `exposure` is the camera's, for metrics of displayed images.
///
/// # Errors
/// One line: an image is missing, or the sizes differ.
pub fn bounded(
    case: &Case,
    bound: &Bound,
    shots: &CaseImages,
    exposure: Exposure,
) -> Result<Vec<CheckResult>, String> {
    let shot = |name: &str| shots.get(name).ok_or_else(|| format!("image '{name}' not found"));
    let (test, against) = (shot(&bound.test)?, shot(&bound.against)?);
    let whole = [ALL.to_string()];
    let regions: &[String] = if bound.regions.is_empty() { &whole } else { &bound.regions };
    let limit = |mask: Option<&[bool]>| match (
        bound.at_most,
        bound.at_least,
        bound.times_reference_difference,
    ) {
        (Some(most), ..) => Ok(Limit::AtMost(most)),
        (_, Some(least), _) => Ok(Limit::AtLeast(least)),
        (_, _, Some(times)) => {
            let [first, second, ..] = case.references.as_slice() else {
                return Err("times_reference_difference needs two references".into());
            };
            let (first, second) = (shot(&first.name)?, shot(&second.name)?);
            Ok(Limit::AtMost(times * measure(bound, first, second, mask, exposure)?.abs()))
        }
        _ => Err("the bound has no limit".to_string()),
    };
    regions
        .iter()
        .map(|region| {
            let mask = case.mask(region);
            let noise = match (bound.metric, noise_of_mean(test, mask.as_deref())) {
                (Metric::Mean, Some(noise)) => {
                    let other = noise_of_mean(against, mask.as_deref()).unwrap_or(0.0);
                    Some(noise.hypot(other))
                }
                _ => None,
            };
            Ok(CheckResult {
                test: bound.test.clone(),
                against: bound.against.clone(),
                metric: bound.metric.name(),
                region: region.clone(),
                figure: measure(bound, test, against, mask.as_deref(), exposure)?,
                noise,
                limit: limit(mask.as_deref())?,
                share: bound.metric.is_share(),
                why: bound.why.clone(),
            })
        })
        .collect()
}

fn measure(
    bound: &Bound,
    test: &CaseImage,
    against: &CaseImage,
    mask: Option<&[bool]>,
    exposure: Exposure,
) -> Result<f64, String> {
    let (test, right) = (&test.image, &against.image);
    let mask = match (mask, bound.skip_edges.then(|| metrics::edge_free_mask(right))) {
        (Some(mask), Some(flat)) => Some(mask.iter().zip(&flat).map(|(a, b)| *a && *b).collect()),
        (mask, flat) => flat.or_else(|| mask.map(<[bool]>::to_vec)),
    };
    let names = |error: metrics::CompareError| {
        format!("'{}' against '{}': {error}", bound.test, bound.against)
    };
    let mut pair = ImagePair::new(test, right).map_err(names)?;
    if let Some(mask) = &mask {
        pair = pair.masked(mask).map_err(names)?;
    }
    let multiplier = exposure.multiplier();
    let seen = |picture: &LinearImage| -> Vec<[f32; 3]> {
        picture
            .pixels()
            .iter()
            .map(|pixel| pixel.map(|channel| (f64::from(channel) * multiplier) as f32))
            .collect()
    };
    let figure = match bound.metric {
        Metric::Mean => pair.bias(),
        Metric::Rmse => pair.relative_rmse(),
        Metric::BlockRms => pair.blocks().map(|blocks| blocks.rms),
        Metric::BlockWorst => pair.blocks().map(|blocks| blocks.worst),
        Metric::Flip => {
            pair.mean(&flip::ldr(&seen(test), &seen(right), test.width(), PIXELS_PER_DEGREE))
        }
        Metric::FlipHdr => {
            pair.mean(&flip::hdr(test.pixels(), right.pixels(), test.width(), PIXELS_PER_DEGREE).0)
        }
        Metric::Psnr => pair.psnr(exposure.saturation_luminance().get()),
        Metric::Stops => pair.stops().and_then(|stops| pair.mean(&stops.unsigned())),
    };
    figure.ok_or_else(|| {
        format!(
            "{} of {names} is undefined: '{}' is black there",
            bound.metric.name(),
            bound.against,
            names = bound.test
        )
    })
}
