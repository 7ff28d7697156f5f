//! Starburst of an aperture in white light: the point spread function from the Airy disk to the
//! ends of its spikes.
//!
//! One table serves all f-numbers and sensors. Lengths are in steps of half a cycle at 550 nm, `550
//! nm N / 2`, so that the f-number only scales it. Levels are squares with equal texel counts, each
//! twice as wide as the previous one. A texel holds the fraction of the light that falls on it, in
//! linear Rec.709, so that sums are energies at every scale.

use std::f64::consts::LN_2;

use glam::{DVec3, dvec3};
use rayon::prelude::*;

use super::{aperture::Aperture, diffraction::Diffraction, thin_lens::LensError};
use crate::photometry::color::{C2, XYZ_TO_REC709, luminance, spectrum_to_xyz};

/// Reference wavelength (m) of lengths.
pub const WAVELENGTH: f64 = 550e-9;
/// Cycles (`lambda N`) per step.
pub const STEP: f64 = 0.5;
/// Texels from the center to a level's border. The center is the common corner of four texels.
pub const HALF: i64 = 256;
/// Texels along a level's side.
pub const SIDE: usize = 2 * HALF as usize;
/// Levels that the transform covers; further levels extrapolate the last of them.
const COMPUTED: u32 = 3;

/// Integration range of wavelengths (m): the observer's sensitivity is negligible outside.
const BAND: [f64; 2] = [380e-9, 780e-9];
/// Color temperature (K) of the light. Its color is normalized to white; the shape of the spectrum
/// remains.
const LIGHT: f64 = 6504.0;
/// Samples across the aperture. In a window of twice that, the transform has two samples per cycle;
/// the range of 512 cycles from the center is kept.
const DIAMETER: usize = 2048;
/// Number of wavelengths up to each distance from the center (texels): steps of about a texel,
/// which avoids separate colors.
const SUMS: [(f32, u32); 4] = [(20.0, 20), (40.0, 40), (90.0, 64), (f32::INFINITY, 80)];
/// In the last computed level, fringes are finer than texels.
const MAX_LAST_LEVEL_WAVELENGTHS: u32 = 40;
/// Radius (texels) within which texels of the finest level average 4 by 4 positions.
const CORE: f32 = 12.0;

type Level = Vec<[f32; 3]>;

/// The point spread function.
pub struct StarburstPattern {
    levels: Vec<Level>,
    found: DVec3,
    /// Fraction of the light beyond each computed level.
    beyond: Vec<f64>,
    spike: f64,
}

/// A wavelength, or a narrow band.
struct Line {
    /// Ratio of 550 nm to the wavelength.
    shrink: f32,
    /// Share of the light per channel of linear Rec.709.
    share: [f32; 3],
}

fn index(x: i64, y: i64) -> usize {
    ((y + HALF) * SIDE as i64 + x + HALF) as usize
}

/// Bands of the spectrum. Shares sum to 1 in each channel.
fn lines(count: u32) -> Vec<Line> {
    let planck = |wavelength: f64| wavelength.powi(-5) / (C2 / (wavelength * LIGHT)).exp_m1();
    let scale = 1.0 / planck(WAVELENGTH);
    let width = (BAND[1] - BAND[0]) / f64::from(count);
    let shares: Vec<DVec3> = (0..count)
        .map(|band| {
            let low = BAND[0] + width * f64::from(band);
            // The observer's table has one value per nanometer, which represents half a nanometer
            // on either side.
            let part =
                |at: f64| ((low + width).min(at + 0.5e-9) - low.max(at - 0.5e-9)).max(0.0) * 1e9;
            XYZ_TO_REC709 * spectrum_to_xyz(|at| part(at) * planck(at) * scale)
        })
        .collect();
    let sum: DVec3 = shares.iter().sum();
    let of = |(band, share): (u32, &DVec3)| Line {
        shrink: (WAVELENGTH / (BAND[0] + width * (f64::from(band) + 0.5))) as f32,
        share: (*share / sum).as_vec3().to_array(),
    };
    (0..count).zip(&shares).map(of).collect()
}

/// Texel coordinates of a level, the lowest row first.
fn places() -> impl Iterator<Item = (i64, i64)> {
    (-HALF..HALF).flat_map(|y| (-HALF..HALF).map(move |x| (x, y)))
}

/// True if a texel is outside of the next finer level.
fn is_outer((x, y): (i64, i64)) -> bool {
    let inner = -HALF / 2..HALF / 2;
    !(inner.contains(&x) && inner.contains(&y))
}

/// Levels in light of 550 nm: those that the transform covers, and one more.
fn single_color(light: &Diffraction) -> Vec<Vec<f32>> {
    let mut levels: Vec<Vec<f32>> = (0..COMPUTED)
        .into_par_iter()
        .map(|level| {
            let wide = 1i64 << level;
            let at = |(x, y): (i64, i64)| {
                let within = (0..wide).flat_map(|dy| (0..wide).map(move |dx| (dx, dy)));
                within.map(|(dx, dy)| light.part(x * wide + dx, y * wide + dy)).sum::<f32>()
            };
            places().map(at).collect()
        })
        .collect();
    let last = levels.last().map_or(&[][..], Vec::as_slice);
    let next = wider(last, |[a, b, c, d]| a + b + c + d, |value| value * 0.5);
    levels.push(next);
    levels
}

/// The next level: inside, sums of this level's texels; outside, half of this level's value at the
/// same texel.
///
/// Far from the center, the light beyond a distance is inversely proportional to it for any
/// aperture shape: Clark, Howard and Freniere 1984, "Asymptotic approximation to the encircled
/// energy function for arbitrary aperture shapes", Applied Optics 23. A spike narrower than a texel
/// falls off with the square of the distance along it, the light of a round edge with the cube.
/// Texels twice as long and twice as far get half of the light in both cases.
fn wider<T: Copy>(level: &[T], add: impl Fn([T; 4]) -> T, halved: impl Fn(T) -> T) -> Vec<T> {
    let next = |(x, y): (i64, i64)| {
        if is_outer((x, y)) {
            return halved(level[index(x, y)]);
        }
        let first = index(2 * x, 2 * y);
        add([level[first], level[first + 1], level[first + SIDE], level[first + SIDE + 1]])
    };
    places().map(next).collect()
}

fn wider_color(level: &[[f32; 3]]) -> Level {
    let add = |texels: [[f32; 3]; 4]| {
        [0, 1, 2].map(|c| texels[0][c] + texels[1][c] + texels[2][c] + texels[3][c])
    };
    wider(level, add, |value| value.map(|v| v * 0.5))
}

/// Light of 550 nm on a texel's area around a position (texels of the level from the center).
fn interpolated(levels: &[Vec<f32>], mut level: usize, mut x: f32, mut y: f32) -> f32 {
    let mut scale = 1.0;
    while x.abs().max(y.abs()) >= HALF as f32 - 0.5 && level + 1 < levels.len() {
        (x, y, level, scale) = (x * 0.5, y * 0.5, level + 1, scale * 0.25);
    }
    let values = &levels[level];
    let last = (SIDE - 2) as f32;
    let (x, y) = (x + HALF as f32 - 0.5, y + HALF as f32 - 0.5);
    let (column, row) = (x.clamp(0.0, last) as u32, y.clamp(0.0, last) as u32);
    let (fx, fy) = (x - column as f32, y - row as f32);
    let at = row as usize * SIDE + column as usize;
    let (below, above) = (&values[at..at + 2], &values[at + SIDE..at + SIDE + 2]);
    let low = below[0] + (below[1] - below[0]) * fx;
    scale * (low + (above[0] + (above[1] - above[0]) * fx - low) * fy)
}

/// As `interpolated`, in the finest level near the center, where two samples per cycle are few.
/// Keys 1981, "Cubic Convolution Interpolation for Digital Image Processing", equation 15 with a =
/// -1/2.
fn interpolated_core(levels: &[Vec<f32>], x: f32, y: f32) -> f32 {
    let weights = |f: f32| {
        let [a, b, c] = [f, f * f, f * f * f];
        [
            -0.5 * a + b - 0.5 * c,
            1.0 - 2.5 * b + 1.5 * c,
            0.5 * a + 2.0 * b - 1.5 * c,
            -0.5 * b + 0.5 * c,
        ]
    };
    let (x, y) = (x - 0.5, y - 0.5);
    let (column, row) = (x.floor(), y.floor());
    let (across, along) = (weights(x - column), weights(y - row));
    let mut sum = 0.0;
    for (dy, weight_y) in (-1..3).zip(along) {
        for (dx, weight_x) in (-1..3).zip(across) {
            let light = levels[0][index(column as i64 + dx, row as i64 + dy)];
            sum += weight_x * weight_y * light;
        }
    }
    sum
}

/// Sum over the spectrum. Each wavelength scales the pattern in proportion and its light by the
/// inverse square, the `1 / lambda^2` of the diffraction integral. `light` is that of 550 nm at a
/// position divided by that ratio.
fn in_color(lines: &[Line], light: impl Fn(f32) -> f32) -> [f32; 3] {
    let mut sum = [0f32; 3];
    for line in lines {
        let light = light(line.shrink) * (line.shrink * line.shrink);
        for (sum, share) in sum.iter_mut().zip(line.share) {
            *sum += light * share;
        }
    }
    sum
}

/// Nearest Rec.709 color of equal luminance, toward gray.
fn in_gamut(color: [f32; 3]) -> [f32; 3] {
    let least = color[0].min(color[1]).min(color[2]);
    if least >= 0.0 {
        return color;
    }
    let gray =
        luminance(dvec3(f64::from(color[0]), f64::from(color[1]), f64::from(color[2]))) as f32;
    if gray <= 0.0 {
        return [0.0; 3];
    }
    color.map(|value| (gray + (value - gray) * (gray / (gray - least))).max(0.0))
}

fn sum(texels: impl Iterator<Item = [f32; 3]>) -> DVec3 {
    texels.fold(DVec3::ZERO, |sum, [r, g, b]| sum + dvec3(f64::from(r), f64::from(g), f64::from(b)))
}

/// Texels outside of the next finer level.
fn outer() -> impl Iterator<Item = (i64, i64)> {
    places().filter(|&place| is_outer(place))
}

impl StarburstPattern {
    /// Computes the starburst of an aperture.
    ///
    /// # Errors
    /// An invalid aperture (`Aperture::checked`).
    pub fn new(aperture: &Aperture) -> Result<Self, LensError> {
        let light = Diffraction::new(&aperture.raster(DIAMETER)?, 2);
        let plain = single_color(&light);
        drop(light);
        let sums = SUMS.map(|(reach, count)| (reach, lines(count)));
        let mut levels: Vec<Level> = Vec::new();
        for level in 0..COMPUTED as usize {
            let inside = levels.last().map(|finer| wider_color(finer));
            // Rows from the center up; the others are their mirror images.
            let rows: Vec<Level> = (0..HALF)
                .into_par_iter()
                .map(|y| {
                    (-HALF..HALF)
                        .map(|x| texel(&plain, level, (x, y), &sums, inside.as_deref()))
                        .collect()
                })
                .collect();
            let mut whole = Level::with_capacity(SIDE * SIDE);
            for row in rows.iter().rev() {
                whole.extend(row.iter().rev());
            }
            whole.extend(rows.iter().flatten());
            levels.push(whole);
        }
        Ok(Self::scaled(levels))
    }

    /// Normalizes the total light to 1 in each channel: the light within the last level, plus as
    /// much as in its outer part, since each further level has half of it.
    fn scaled(mut levels: Vec<Level>) -> Self {
        let last = levels.last().map_or(&[][..], Vec::as_slice);
        let found = sum(last.iter().copied()) + sum(outer().map(|(x, y)| last[index(x, y)]));
        let scale = (1.0 / found).as_vec3().to_array();
        levels
            .iter_mut()
            .flatten()
            .flatten()
            .enumerate()
            .for_each(|(i, value)| *value *= scale[i % 3]);
        let beyond =
            levels.iter().map(|level| 1.0 - luminance(sum(level.iter().copied()))).collect();
        let last = levels.last().map_or(&[][..], Vec::as_slice);
        let border = places().filter(|(x, y)| x.abs().max(y.abs()) > HALF - 8).map(|(x, y)| {
            let light = last[index(x, y)].map(f64::from);
            // Along the spike, as if it crossed the border at its center.
            let far = (x as f64).hypot(y as f64) / HALF as f64;
            luminance(DVec3::from_array(light)) * far * far
        });
        let spike = border.fold(0.0, f64::max) / f64::from(1 << (COMPUTED - 1));
        Self { levels, found, beyond, spike }
    }

    /// A level: `SIDE` by `SIDE` texels of `2^level` steps, the lowest row first; the point is at
    /// the common corner of the four central texels.
    #[must_use]
    pub fn level(&self, level: u32) -> Vec<[f32; 3]> {
        let at = (level as usize).min(self.levels.len() - 1);
        let mut out = self.levels[at].clone();
        for _ in at as u32..level {
            out = wider_color(&out);
        }
        out
    }

    /// All levels from 0 to `last`.
    #[must_use]
    pub fn levels(&self, last: u32) -> Vec<Vec<[f32; 3]>> {
        let mut out = self.levels.clone();
        out.truncate(last as usize + 1);
        while out.len() <= last as usize {
            let next = out.last().map(|level| wider_color(level)).unwrap_or_default();
            out.push(next);
        }
        out
    }

    /// Total light per channel before normalization, from the sums and the far-field law.
    #[must_use]
    pub const fn found(&self) -> DVec3 {
        self.found
    }

    /// Fraction of the light (luminance) outside of a square with a given half side (steps), from
    /// 256 on; smaller ones count as 256.
    #[must_use]
    pub fn beyond(&self, half_side: f64) -> f64 {
        let widths = (half_side / HALF as f64).max(1.0).ln() / LN_2;
        let last = self.beyond.len() - 1;
        if widths >= last as f64 {
            return self.beyond[last] * (last as f64 - widths).exp2();
        }
        let level = widths as usize;
        let part = widths - level as f64;
        self.beyond[level].max(1e-12).powf(1.0 - part)
            * self.beyond[level + 1].max(1e-12).powf(part)
    }

    /// Light (luminance) per step of the brightest spike, 1024 steps from the center, where it is
    /// about as wide as a texel of four steps. It falls off with the square of the distance.
    #[must_use]
    pub const fn spike(&self) -> f64 {
        self.spike
    }

    /// Light on a square around a position, both in steps: the value of a pixel.
    ///
    /// Uses texels as large as the square, and smaller ones near the center, where light varies
    /// within a texel.
    #[must_use]
    pub fn on_square(&self, center: [f64; 2], side: f64) -> DVec3 {
        let reach = center[0].abs().max(center[1].abs());
        let mut level = (side * fineness(reach, side)).max(1.0).log2().floor();
        while reach + side.max(level.exp2()) / 2.0 > HALF as f64 * level.exp2() {
            level += 1.0;
        }
        let texel = level.exp2();
        // A square smaller than a texel gets a part of a texel-sized one, interpolated linearly
        // between texels.
        let wide = side.max(texel);
        let texels = self.level(level as u32);
        let span = |at: f64| ((at - wide / 2.0) / texel, (at + wide / 2.0) / texel);
        let overlap = |(low, high): (f64, f64), k: i64| {
            (high.min(k as f64 + 1.0) - low.max(k as f64)).max(0.0)
        };
        let range = |(low, high): (f64, f64)| {
            (low.floor() as i64).max(-HALF)..(high.ceil() as i64).min(HALF)
        };
        let (across, along) = (span(center[0]), span(center[1]));
        let mut light = DVec3::ZERO;
        for y in range(along) {
            for x in range(across) {
                let [r, g, b] = texels[index(x, y)].map(f64::from);
                light += dvec3(r, g, b) * (overlap(across, x) * overlap(along, y));
            }
        }
        light * (side / wide).powi(2)
    }
}

/// Ratio of texel size to square size in the sum, by distance from the center.
fn fineness(reach: f64, side: f64) -> f64 {
    if reach < 2.5 * side {
        1.0 / 8.0
    } else if reach < 10.0 * side {
        0.5
    } else {
        1.0
    }
}

/// Steps of a distance (m) on the sensor at an effective f-number.
#[must_use]
pub fn steps(distance: f64, f_number: f64) -> f64 {
    distance / (STEP * WAVELENGTH * f_number)
}

fn texel(
    plain: &[Vec<f32>],
    level: usize,
    (x, y): (i64, i64),
    sums: &[(f32, Vec<Line>)],
    inside: Option<&[[f32; 3]]>,
) -> [f32; 3] {
    if let Some(inside) = inside.filter(|_| !is_outer((x, y))) {
        return inside[index(x, y)];
    }
    let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
    let far = x.hypot(y);
    let most = if level + 1 < COMPUTED as usize { u32::MAX } else { MAX_LAST_LEVEL_WAVELENGTHS };
    let wanted = sums.iter().position(|(reach, _)| far <= *reach).unwrap_or_default();
    let lines = (0..=wanted).rev().map(|i| &sums[i].1).find(|lines| lines.len() as u32 <= most);
    let lines = lines.map_or(&[][..], Vec::as_slice);
    if level > 0 || far > CORE {
        return in_gamut(in_color(lines, |shrink| {
            interpolated(plain, level, x * shrink, y * shrink)
        }));
    }
    let mut mean = [0f32; 3];
    for (dx, dy) in (0..16u8).map(|i| (f32::from(i % 4), f32::from(i / 4))) {
        let (x, y) = (x + (dx - 1.5) / 4.0, y + (dy - 1.5) / 4.0);
        let part = in_color(lines, |shrink| interpolated_core(plain, x * shrink, y * shrink));
        mean.iter_mut().zip(part).for_each(|(mean, part)| *mean += part / 16.0);
    }
    in_gamut(mean)
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::optics::Iris;

    fn of(blades: u32) -> StarburstPattern {
        let iris = Iris { blades, curvature: 0.0, rotation: 0.3 };
        StarburstPattern::new(&Aperture { iris, ..Aperture::default() }).unwrap()
    }

    fn round() -> &'static StarburstPattern {
        static ROUND: OnceLock<StarburstPattern> = OnceLock::new();
        ROUND.get_or_init(|| of(0))
    }

    fn six() -> &'static StarburstPattern {
        static SIX: OnceLock<StarburstPattern> = OnceLock::new();
        SIX.get_or_init(|| of(6))
    }

    /// Number of spikes: directions in which the ring between two distances (texels of a level) has
    /// local peaks far above the light between them.
    pub fn spikes(level: &[[f32; 3]]) -> usize {
        const BINS: usize = 360;
        let (mut light, mut count) = (vec![0f64; BINS], vec![0f64; BINS]);
        for (x, y) in outer() {
            let (far, angle) = (
                (x as f64).hypot(y as f64),
                (y as f64).atan2(x as f64).rem_euclid(std::f64::consts::TAU),
            );
            if (150.0..250.0).contains(&far) {
                let bin = (angle / std::f64::consts::TAU * BINS as f64) as usize % BINS;
                light[bin] += f64::from(level[index(x, y)][1]) * far * far;
                count[bin] += 1.0;
            }
        }
        let mean: Vec<f64> =
            light.iter().zip(&count).map(|(light, count)| light / count.max(1.0)).collect();
        let mut sorted = mean.clone();
        sorted.sort_by(f64::total_cmp);
        let threshold = 4.0 * sorted[BINS / 2];
        let peak = |bin: usize| {
            let around = (1..=4).flat_map(|d| [(bin + d) % BINS, (bin + BINS - d) % BINS]);
            mean[bin] > threshold
                && around.enumerate().all(|(i, other)| {
                    mean[bin] > mean[other] || i % 2 == 1 && mean[bin] >= mean[other]
                })
        };
        (0..BINS).filter(|&bin| peak(bin)).count()
    }

    #[test]
    fn blades_make_spikes() {
        for (burst, blades, want) in [(&of(5), 5, 10), (six(), 6, 6), (&of(8), 8, 8)] {
            for level in [1, 2, 4] {
                assert_eq!(spikes(&burst.level(level)), want, "{blades} blades, level {level}");
            }
        }
        assert_eq!(spikes(&round().level(2)), 0);
    }

    #[test]
    fn light_is_kept_at_every_scale() {
        for (burst, blades) in [(round(), 0), (six(), 6)] {
            // Transform and far-field law together account for all light before normalization.
            assert!((burst.found() - 1.0).abs().max_element() < 6e-3, "{}", burst.found());
            for level in 0..10u32 {
                let all = sum(burst.level(level).iter().copied());
                let half = HALF as f64 * f64::from(1 << level);
                let beyond = burst.beyond(half);
                assert!((luminance(all) + beyond - 1.0).abs() < 2e-5, "{level}: {all} {beyond}");
                // Clark, Howard and Freniere: perimeter over pi^2 and area; for a square of half
                // side r the mean of one over the distance, 2 sqrt(2) / (pi r), replaces 1 / r.
                if blades == 0 && level >= 2 {
                    let law = 2.0 / std::f64::consts::PI.powi(2) / (half * STEP) * 8f64.sqrt()
                        / std::f64::consts::PI;
                    assert!((beyond / law - 1.0).abs() < 0.05, "{level}: {beyond} for {law}");
                }
            }
            // Adjacent squares.
            let mut tiled = DVec3::ZERO;
            for i in 0..100 {
                tiled += burst.on_square(
                    [f64::from(i % 10) * 7.3 - 32.0, f64::from(i / 10) * 7.3 - 33.0],
                    7.3,
                );
            }
            let one = burst.on_square([0.85, -0.15], 73.0);
            assert!((tiled / one - 1.0).abs().max_element() < 2e-3, "{tiled} {one}");
        }
    }

    #[test]
    fn white_stays_white_and_the_core_is_airys() {
        let burst = round();
        // Encircled energy of the Airy pattern within a square, in white light: most of it is
        // within a few cycles.
        let core = burst.on_square([0.0; 2], 2.0 * 8.0 / STEP);
        assert!(core.min_element() > 0.95 && core.max_element() < 0.99, "{core}");
        // Red light spreads farther.
        let far = DVec3::ONE - core;
        assert!(far.x > far.y && far.y > far.z, "{far}");
        // Half a cycle to each side, by Airy's formula for each wavelength.
        let airy = |cycles: f64| {
            let x = std::f64::consts::PI * cycles;
            let j1 = (0..60)
                .map(|i| (f64::from(i) + 0.5) * std::f64::consts::PI / 60.0)
                .map(|t| (t - x * t.sin()).cos());
            std::f64::consts::FRAC_PI_4 * (2.0 * j1.sum::<f64>() / 60.0 / x).powi(2)
        };
        let within = |half: f64| {
            let at = |i: i32| (f64::from(i) + 0.5) / 12.0 * half;
            let all = (0..144).map(|i| airy(at(i % 12).hypot(at(i / 12)))).sum::<f64>();
            4.0 * all * (half / 12.0).powi(2)
        };
        let want: f64 = lines(20)
            .iter()
            .map(|line| f64::from(line.share[1]) * within(0.5 * f64::from(line.shrink)))
            .sum();
        let got = burst.on_square([0.0; 2], 2.0).y;
        assert!((got / want - 1.0).abs() < 0.03, "{got} for {want}");
        assert!((steps(5.368e-6, 8.0) * STEP - 1.22).abs() < 1e-3);
        for count in [20, 80] {
            let all = lines(count).iter().fold([0f32; 3], |sum, line| {
                [sum[0] + line.share[0], sum[1] + line.share[1], sum[2] + line.share[2]]
            });
            assert!(all.iter().all(|v| (v - 1.0).abs() < 1e-5), "{all:?}");
        }
    }

    #[test]
    fn each_wavelength_has_the_same_light_and_a_peak_by_its_square() {
        let light = Diffraction::new(&Aperture::default().raster(DIAMETER).unwrap(), 2);
        let plain = single_color(&light);
        let mut peaks = Vec::new();
        for wavelength in [450e-9, 550e-9, 650e-9] {
            let line = [Line { shrink: (WAVELENGTH / wavelength) as f32, share: [1.0; 3] }];
            let places =
                (-80..80).flat_map(|y| (-80..80).map(move |x| (x as f32 + 0.5, y as f32 + 0.5)));
            let all: f32 = places
                .map(|(x, y)| {
                    in_color(&line, |s| interpolated_core(&plain, x / 4.0 * s, y / 4.0 * s))[0]
                        / 16.0
                })
                .sum();
            // Airy pattern within 10 cycles of 550 nm: all but about 2 / (pi^2 10).
            assert!((0.975..0.995).contains(&all), "{wavelength}: {all}");
            peaks.push(
                f64::from(in_color(&line, |_| interpolated(&plain, 0, 0.0, 0.0))[0])
                    * wavelength
                    * wavelength,
            );
        }
        assert!(
            (peaks[0] / peaks[1] - 1.0).abs() < 1e-6 && (peaks[2] / peaks[1] - 1.0).abs() < 1e-6,
            "{peaks:?}"
        );
    }

    #[test]
    fn cylinders_stretch_the_pattern_across_what_they_squeeze() {
        let squeezed =
            StarburstPattern::new(&Aperture { squeeze: 0.5, ..Aperture::default() }).unwrap();
        // An ellipse twice as wide as high contains as much as a circle of its height.
        let within = |burst: &StarburstPattern, [a, b]: [f64; 2]| {
            let level = burst.level(0);
            let inside =
                places().filter(|&(x, y)| ((x as f64 + 0.5) / a).hypot((y as f64 + 0.5) / b) < 1.0);
            inside.map(|(x, y)| f64::from(level[index(x, y)][1])).sum::<f64>()
        };
        for radius in [8.0, 20.0, 60.0] {
            let want = within(round(), [radius; 2]);
            let got = within(&squeezed, [2.0 * radius, radius]);
            assert!((got / want - 1.0).abs() < 2e-3, "{radius}: {got} {want}");
            assert!(within(&squeezed, [radius, 2.0 * radius]) < got - 0.08 / radius, "{radius}");
        }
    }

    #[test]
    fn dust_scatters_and_impossible_apertures_are_refused() {
        let clean = six();
        let iris = Iris { blades: 6, curvature: 0.0, rotation: 0.3 };
        let dusty = StarburstPattern::new(&Aperture {
            iris,
            dust: 1.0,
            scratches: 1.0,
            ..Aperture::default()
        })
        .unwrap();
        assert!(
            dusty.beyond(256.0) > 1.3 * clean.beyond(256.0),
            "{} {}",
            dusty.beyond(256.0),
            clean.beyond(256.0)
        );
        assert!(dusty.level(2).iter().flatten().all(|value| value.is_finite() && *value >= 0.0));
        assert!(
            StarburstPattern::new(&Aperture { dust: f64::NAN, ..Aperture::default() }).is_err()
        );
    }
}
