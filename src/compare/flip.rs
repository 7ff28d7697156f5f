//! FLIP: the perceived difference per pixel when flipping between two images, 0 (equal) to 1.
//!
//! LDR-FLIP: Andersson, Nilsson, Akenine-Möller, Oskarsson, Åström and Fairchild, "FLIP: A
//! Difference Evaluator for Alternating Images", Proc. ACM Comput. Graph. Interact. Tech. 3(2),
//! 2020. HDR-FLIP: Andersson, Nilsson, Shirley and Akenine-Möller, "Visualizing Errors in Rendered
//! High Dynamic Range Images", Eurographics Short Papers 2021. Section and equation numbers refer
//! to the first unless noted.
//!
//! Computations are in single precision, without quantization to eight bits. Images are processed
//! in bands of rows to limit memory. Each pixel is computed independently, so any number of threads
//! gives the same bits.

use glam::{DMat3, DVec3, Mat3, Vec3};
use rayon::prelude::*;

use crate::photometry::color::{REC709_PRIMARIES, rgb_to_xyz_matrix};

/// Default pixels per degree of visual angle: a display 0.7 m wide with 3840 pixels, viewed from
/// 0.7 m (section 5).
pub const PIXELS_PER_DEGREE: f32 = 67.0;
/// Accepted range of pixels per degree: fewer resolve nothing, more need filters larger than
/// images.
pub const PIXELS_PER_DEGREE_LIMITS: [f32; 2] = [1.0, 1000.0];

/// White point in XYZ: D65 for the 2-degree observer, with the digits of the authors' program.
const WHITE: DVec3 = DVec3::new(0.950_428_545, 1.0, 1.088_900_371);

/// Exponent and knee of the remapping of color differences (section 4.1.3): `q_c`, `p_c`, `p_t`.
const COLOR_EXPONENT: f32 = 0.7;
const KNEE_IN: f32 = 0.4;
const KNEE_OUT: f32 = 0.95;
/// Width of the feature detectors in degrees, and the exponent `q_f` of feature differences
/// (section 4.2).
const FEATURE_WIDTH: f32 = 0.082;
const FEATURE_EXPONENT: f32 = 0.5;

/// Rows per band.
const BAND: usize = 48;

/// Gaussians of the contrast sensitivity functions (section 4.1.1, table 1): weight and width, one
/// list per channel of the opponent space: achromatic, red-green, blue-yellow.
const SENSITIVITY: [&[(f32, f32)]; 3] =
    [&[(1.0, 0.0047)], &[(1.0, 0.0053)], &[(34.1, 0.04), (13.5, 0.025)]];

/// A separable filter along one axis: weights from `-radius` to `radius`.
#[derive(Clone, Debug)]
struct Kernel {
    radius: usize,
    weights: Vec<f32>,
}

impl Kernel {
    fn new(radius: usize, value: impl Fn(f64) -> f64) -> (Self, f64) {
        let reach = radius as i64;
        let weights: Vec<f64> = (-reach..=reach).map(|x| value(x as f64)).collect();
        let sum = weights.iter().sum();
        (Self { radius, weights: weights.into_iter().map(|weight| weight as f32).collect() }, sum)
    }

    fn scaled(mut self, factor: f64) -> Self {
        for weight in &mut self.weights {
            *weight = (f64::from(*weight) * factor) as f32;
        }
        self
    }

    /// Normalizes positive weights to a sum of 1 and negative ones to -1 (section 4.2).
    fn balanced(mut self) -> Self {
        let sum = |sign: f32| {
            self.weights
                .iter()
                .filter(|w| **w * sign > 0.0)
                .map(|w| f64::from(w.abs()))
                .sum::<f64>()
        };
        let (above, below) = (sum(1.0), sum(-1.0));
        for weight in &mut self.weights {
            *weight = (f64::from(*weight) / if *weight > 0.0 { above } else { below }) as f32;
        }
        self
    }

    /// Filters along a row whose ends are replicated. `padded` is scratch memory for the row with
    /// its ends.
    fn along(&self, row: &[f32], padded: &mut Vec<f32>, out: &mut [f32]) {
        let (Some(first), Some(last)) = (row.first(), row.last()) else { return };
        padded.clear();
        padded.extend(std::iter::repeat_n(*first, self.radius));
        padded.extend_from_slice(row);
        padded.extend(std::iter::repeat_n(*last, self.radius));
        out.fill(0.0);
        for (weight, shifted) in self.weights.iter().zip(0..) {
            for (out, value) in out.iter_mut().zip(&padded[shifted..]) {
                *out += weight * value;
            }
        }
    }

    /// Filters across rows; `row` is the center.
    fn across(&self, plane: &[f32], width: usize, row: usize, out: &mut [f32]) {
        for (weight, shifted) in self.weights.iter().zip(row - self.radius..) {
            let line = &plane[shifted * width..(shifted + 1) * width];
            for (out, value) in out.iter_mut().zip(line) {
                *out += weight * value;
            }
        }
    }
}

/// Filters for one pixel density.
struct Filters {
    /// Per opponent channel: Gaussians along a row, and across rows including the channel's weight.
    sensitivity: [Vec<(Kernel, Kernel)>; 3],
    /// A Gaussian and its first and second derivatives.
    smooth: Kernel,
    edge: Kernel,
    point: Kernel,
    /// The greatest radius.
    reach: usize,
}

impl Filters {
    fn new(pixels_per_degree: f32) -> Self {
        let [least, most] = PIXELS_PER_DEGREE_LIMITS;
        // `clamp` would let NaN through.
        let density = if pixels_per_degree >= least {
            f64::from(pixels_per_degree.min(most))
        } else {
            f64::from(least)
        };
        let square = std::f64::consts::PI * std::f64::consts::PI;
        // Three standard deviations of the widest Gaussian (section 4.1.1).
        let widest = (3.0 * (0.04 / (2.0 * square)).sqrt() * density).ceil() as usize;
        let sensitivity = SENSITIVITY.map(|gaussians| {
            let kernels: Vec<(Kernel, f64)> = gaussians
                .iter()
                .map(|&(weight, width)| {
                    let (weight, width) = (f64::from(weight), f64::from(width));
                    let deviation = (width / (2.0 * square)).sqrt() * density;
                    // Beyond six standard deviations weights vanish in single precision.
                    let radius = widest.min((6.0 * deviation).ceil() as usize);
                    let (kernel, sum) =
                        Kernel::new(radius, |x| (-square * (x / density).powi(2) / width).exp());
                    (
                        kernel.scaled(1.0 / sum),
                        weight * (std::f64::consts::PI / width).sqrt() * sum * sum,
                    )
                })
                .collect();
            let total: f64 = kernels.iter().map(|(_, volume)| volume).sum();
            kernels
                .into_iter()
                .map(|(kernel, volume)| (kernel.clone(), kernel.scaled(volume / total)))
                .collect()
        });
        let deviation = 0.5 * f64::from(FEATURE_WIDTH) * density;
        let radius = (3.0 * deviation).ceil() as usize;
        let gauss = |x: f64| (-x * x / (2.0 * deviation * deviation)).exp();
        let (smooth, sum) = Kernel::new(radius, gauss);
        let edge = Kernel::new(radius, |x| -x * gauss(x)).0.balanced();
        let point = Kernel::new(radius, |x| (x * x / (deviation * deviation) - 1.0) * gauss(x))
            .0
            .balanced();
        Self {
            sensitivity,
            smooth: smooth.scaled(1.0 / sum),
            edge,
            point,
            reach: widest.max(radius),
        }
    }
}

/// Conversions between linear RGB, the opponent space YyCxCz (section 4.1.1) and CIELAB.
struct Space {
    /// Linear RGB to XYZ relative to white.
    to_relative: Mat3,
    from_relative: Mat3,
    /// The greatest color difference, after the exponent (section 4.1.3).
    largest: f32,
}

impl Space {
    fn new() -> Self {
        let to_relative =
            DMat3::from_diagonal(1.0 / WHITE) * rgb_to_xyz_matrix(REC709_PRIMARIES, WHITE);
        let mut space = Self {
            to_relative: to_relative.as_mat3(),
            from_relative: to_relative.inverse().as_mat3(),
            largest: 1.0,
        };
        // Green to blue is the greatest distance in the gamut.
        space.largest = hyab(space.hunt(Vec3::Y), space.hunt(Vec3::Z)).powf(COLOR_EXPONENT);
        space
    }

    fn opponent(&self, rgb: Vec3) -> Vec3 {
        let v = self.to_relative * rgb;
        Vec3::new(116.0 * v.y - 16.0, 500.0 * (v.x - v.y), 200.0 * (v.y - v.z))
    }

    /// Converts from the opponent space to linear RGB within the display's gamut.
    fn displayable(&self, opponent: Vec3) -> Vec3 {
        let y = (opponent.x + 16.0) / 116.0;
        let v = Vec3::new(y + opponent.y / 500.0, y, y - opponent.z / 200.0);
        (self.from_relative * v).clamp(Vec3::ZERO, Vec3::ONE)
    }

    /// CIELAB (CIE 15:2004, section 8.2.1) with chroma scaled by lightness for the Hunt effect
    /// (section 4.1.2).
    fn hunt(&self, rgb: Vec3) -> Vec3 {
        const DELTA: f32 = 6.0 / 29.0;
        let curve = |t: f32| {
            if t > DELTA * DELTA * DELTA {
                t.cbrt()
            } else {
                t / (3.0 * DELTA * DELTA) + 4.0 / 29.0
            }
        };
        let v = self.to_relative * rgb;
        let (x, y, z) = (curve(v.x), curve(v.y), curve(v.z));
        let lightness = 116.0 * y - 16.0;
        Vec3::new(lightness, 0.01 * lightness * 500.0 * (x - y), 0.01 * lightness * 200.0 * (y - z))
    }

    /// The color difference, remapped to 0 to 1 (section 4.1.3).
    fn color_difference(&self, a: Vec3, b: Vec3) -> f32 {
        let error = hyab(a, b).powf(COLOR_EXPONENT);
        let knee = KNEE_IN * self.largest;
        if error < knee {
            error * KNEE_OUT / knee
        } else {
            KNEE_OUT + (error - knee) / (self.largest - knee) * (1.0 - KNEE_OUT)
        }
    }
}

/// HyAB distance, city-block in lightness and Euclidean in chroma: Abasi, Tehran and Fairchild,
/// "Distance Metrics for Very Large Color Differences", Color Research and Application 45(2), 2020.
fn hyab(a: Vec3, b: Vec3) -> f32 {
    let d = a - b;
    d.x.abs() + d.y.hypot(d.z)
}

/// Filter results for a band of an image.
struct Seen {
    /// Filtered colors in CIELAB with the Hunt effect.
    colors: Vec<Vec3>,
    /// Magnitudes of edges and points.
    features: Vec<[f32; 2]>,
}

/// An input image of FLIP: pixels, and the mapping to display light that is applied to each.
struct Side<'a> {
    pixels: &'a [[f32; 3]],
    width: usize,
    height: usize,
}

impl Side<'_> {
    /// Filters the rows `first..last`.
    fn look(
        &self,
        filters: &Filters,
        space: &Space,
        shown: &(impl Fn([f32; 3]) -> Vec3 + Sync),
        first: usize,
        last: usize,
    ) -> Seen {
        let width = self.width;
        let reach = filters.reach;
        let rows = last - first + 2 * reach;
        let plane = || vec![0.0f32; rows * width];
        let mut smoothed: [Vec<Vec<f32>>; 3] = std::array::from_fn(|channel| {
            filters.sensitivity[channel].iter().map(|_| plane()).collect()
        });
        let mut detected = [plane(), plane(), plane()];
        let mut line: [Vec<f32>; 3] = std::array::from_fn(|_| vec![0.0; width]);
        let mut luminance = vec![0.0; width];
        let mut padded = Vec::new();
        for row in 0..rows {
            // Rows above the first and below the last are replicated.
            let y = (first + row).saturating_sub(reach).min(self.height - 1);
            for (x, pixel) in self.pixels[y * width..(y + 1) * width].iter().enumerate() {
                let opponent = space.opponent(shown(*pixel));
                for (channel, value) in line.iter_mut().zip(opponent.to_array()) {
                    channel[x] = value;
                }
                luminance[x] = (opponent.x + 16.0) / 116.0;
            }
            let here = row * width..(row + 1) * width;
            for (channel, planes) in smoothed.iter_mut().enumerate() {
                for (plane, (along, _)) in planes.iter_mut().zip(&filters.sensitivity[channel]) {
                    along.along(&line[channel], &mut padded, &mut plane[here.clone()]);
                }
            }
            for (plane, kernel) in
                detected.iter_mut().zip([&filters.smooth, &filters.edge, &filters.point])
            {
                kernel.along(&luminance, &mut padded, &mut plane[here.clone()]);
            }
        }
        let mut seen = Seen {
            colors: Vec::with_capacity((last - first) * width),
            features: Vec::with_capacity((last - first) * width),
        };
        let [smooth, edge, point] = &detected;
        let mut sums: [Vec<f32>; 4] = std::array::from_fn(|_| vec![0.0; width]);
        for row in reach..rows - reach {
            for (channel, line) in line.iter_mut().enumerate() {
                line.fill(0.0);
                for (plane, (_, across)) in
                    smoothed[channel].iter().zip(&filters.sensitivity[channel])
                {
                    across.across(plane, width, row, line);
                }
            }
            for (x, ((&a, &b), &c)) in line[0].iter().zip(&line[1]).zip(&line[2]).enumerate() {
                debug_assert!(x < width);
                seen.colors.push(space.hunt(space.displayable(Vec3::new(a, b, c))));
            }
            for (out, (plane, kernel)) in sums.iter_mut().zip([
                (edge, &filters.smooth),
                (smooth, &filters.edge),
                (point, &filters.smooth),
                (smooth, &filters.point),
            ]) {
                out.fill(0.0);
                kernel.across(plane, width, row, out);
            }
            let [edge_x, edge_y, point_x, point_y] = &sums;
            for x in 0..width {
                seen.features.push([edge_x[x].hypot(edge_y[x]), point_x[x].hypot(point_y[x])]);
            }
        }
        seen
    }
}

/// Clamps a value to 0 to `most`; NaN becomes 0, which `clamp` would let through.
fn within(value: f32, most: f32) -> f32 {
    if value > 0.0 { value.min(most) } else { 0.0 }
}

/// LDR-FLIP of linear RGB after `shown`, which maps each pixel to display light.
fn ldr_of(
    test: &[[f32; 3]],
    reference: &[[f32; 3]],
    width: usize,
    filters: &Filters,
    shown: impl Fn([f32; 3]) -> Vec3 + Sync,
) -> Vec<f32> {
    let pixels = width * (test.len().min(reference.len()) / width.max(1));
    if pixels == 0 {
        return Vec::new();
    }
    let height = pixels / width;
    let space = Space::new();
    let mut map = vec![0.0f32; pixels];
    map.par_chunks_mut(BAND * width).enumerate().for_each(|(band, out)| {
        let (first, last) = (band * BAND, band * BAND + out.len() / width);
        let look =
            |pixels| Side { pixels, width, height }.look(filters, &space, &shown, first, last);
        let (a, b) = (look(test), look(reference));
        for (i, out) in out.iter_mut().enumerate() {
            let color = space.color_difference(a.colors[i], b.colors[i]);
            let [edge_a, point_a] = a.features[i];
            let [edge_b, point_b] = b.features[i];
            let feature = (edge_a - edge_b).abs().max((point_a - point_b).abs());
            // The detectors' response is at most the square root of 2 (section 4.2).
            let feature =
                (feature * std::f32::consts::FRAC_1_SQRT_2).powf(FEATURE_EXPONENT).min(1.0);
            // Section 4.3: feature differences amplify color differences.
            *out = color.powf(1.0 - feature).clamp(0.0, 1.0);
        }
    });
    map
}

/// LDR-FLIP of images in display-linear Rec.709, 0 to 1, of equal width: an error of 0 to 1 per
/// pixel.
///
/// Values are clamped to 0 to 1. Rows that only one image has are ignored. `pixels_per_degree` is
/// clamped to `PIXELS_PER_DEGREE_LIMITS`.
#[must_use]
pub fn ldr(
    test: &[[f32; 3]],
    reference: &[[f32; 3]],
    width: usize,
    pixels_per_degree: f32,
) -> Vec<f32> {
    let clamped = |pixel: [f32; 3]| Vec3::from_array(pixel.map(|channel| within(channel, 1.0)));
    ldr_of(test, reference, width, &Filters::new(pixels_per_degree), clamped)
}

/// The exposures of HDR-FLIP in stops: the image is multiplied by two to their power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposures {
    /// The darkest exposure, which maps the reference's brightest pixel to the tone curve's upper
    /// bend.
    pub start: f32,
    /// The brightest exposure, which does so for the reference's median.
    pub stop: f32,
    /// Number of exposures, evenly spaced, including both ends; at least 2.
    pub count: usize,
}

/// The tone curve of HDR-FLIP, `(k0 x^2 + k1 x + k2) / (k3 x^2 + k4 x + k5)`: Narkowicz, "ACES
/// Filmic Tone Mapping Curve", 2015, without its exposure of 0.6 (Andersson et al. 2021, section
/// 3).
const CURVE: [f32; 6] = [0.6 * 0.6 * 2.51, 0.6 * 0.03, 0.0, 0.6 * 0.6 * 2.43, 0.6 * 0.59, 0.14];
/// Value of the brightest pixel at the first exposure (Andersson et al. 2021, section 3).
const BEND: f32 = 0.85;
/// Maximum stops from the brightest pixel down to the median: a black median would make the range
/// of exposures infinite.
pub const MAX_STOPS: f32 = 24.0;

fn curve(pixel: [f32; 3], exposure: f32) -> Vec3 {
    let [k0, k1, k2, k3, k4, k5] = CURVE;
    Vec3::from_array(pixel.map(|channel| {
        // Beyond this value the curve is flat; the square of a greater one could overflow.
        let x = within(channel * exposure, 1e6);
        within((k0 * x * x + k1 * x + k2) / (k3 * x * x + k4 * x + k5), 1.0)
    }))
}

impl Exposures {
    /// Exposures by Andersson et al. 2021, section 3: from the reference's brightest pixel to its
    /// median. `None` if the reference is black.
    #[must_use]
    pub fn of(reference: &[[f32; 3]]) -> Option<Self> {
        let mut luminances: Vec<f32> =
            reference.iter().map(|pixel| super::linear_image::luminance(*pixel) as f32).collect();
        let half = luminances.len() / 2;
        let brightest = luminances.iter().copied().fold(0.0, f32::max);
        if !(brightest > 0.0 && brightest.is_finite()) {
            return None;
        }
        // The upper median for an even number of pixels, as in the authors' program (1.7).
        let (_, median, _) = luminances.select_nth_unstable_by(half, f32::total_cmp);
        let median = median.max(brightest * (-MAX_STOPS).exp2());
        // The exposure at which the curve reaches the bend: the greater root of a quadratic.
        let [a, b, c] = std::array::from_fn(|i| CURVE[i] - BEND * CURVE[i + 3]);
        let middle = -0.5 * b / a;
        let root = middle + (middle * middle - c / a).sqrt();
        let (start, stop) = ((root / brightest).log2(), (root / median).log2());
        if !(start.is_finite() && stop.is_finite()) {
            return None;
        }
        Some(Self { start, stop, count: ((stop - start).ceil() as usize).max(2) })
    }

    /// True if the median is darker than the range of exposures reaches.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        // Both ends are rounded to single precision.
        self.stop - self.start > MAX_STOPS - 1e-4
    }

    /// Exposure number `index`, in stops.
    #[must_use]
    pub fn stops(&self, index: usize) -> f32 {
        self.start + index as f32 * (self.stop - self.start) / (self.count.max(2) - 1) as f32
    }
}

/// HDR-FLIP of images in linear Rec.709 of any scale: the greatest LDR-FLIP over the reference's
/// exposures, 0 to 1 per pixel. Also returns the exposures. If the reference is black they come
/// from the other image; they are `None`, and errors 0, if both are black.
#[must_use]
pub fn hdr(
    test: &[[f32; 3]],
    reference: &[[f32; 3]],
    width: usize,
    pixels_per_degree: f32,
) -> (Vec<f32>, Option<Exposures>) {
    let Some(exposures) = Exposures::of(reference).or_else(|| Exposures::of(test)) else {
        return (vec![0.0; test.len().min(reference.len())], None);
    };
    let filters = Filters::new(pixels_per_degree);
    let mut worst: Vec<f32> = Vec::new();
    for index in 0..exposures.count {
        let exposure = exposures.stops(index).exp2();
        let map = ldr_of(test, reference, width, &filters, |pixel| curve(pixel, exposure));
        if worst.is_empty() {
            worst = map;
        } else {
            for (worst, value) in worst.iter_mut().zip(map) {
                *worst = worst.max(value);
            }
        }
    }
    (worst, Some(exposures))
}
