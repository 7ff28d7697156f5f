//! Importance sampling of an environment map in proportion to its interpolated luminance.
//!
//! The density is bilinear between the centers of the texels, in azimuth and in the sine of the
//! elevation, the coordinates of equal solid angle. It is 0 exactly where the interpolated map is
//! black. The sine comes from the two-dimensional marginal, the azimuth from the conditional
//! density of its row (Pharr, Jakob and Humphreys, "Physically Based Rendering", fourth edition,
//! section A.5), each by inversion. The mapping is continuous and keeps stratification.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::receiver::Receiver;
use crate::{photometry::color::luminance, scene::Environment};

/// An environment with its sampling density.
#[derive(Clone, Debug)]
pub(super) struct EnvironmentSampler {
    environment: Environment,
    /// For each row of texels, the integral of luminance from the first center up to each texel's
    /// center in units of texels, once around.
    rows: Vec<f64>,
    /// Sines of the elevations at which strips between row centers begin, and -1 at the end.
    sines: Vec<f64>,
    /// Integral of luminance over the strips up to each one's beginning (nit sr).
    strips: Vec<f64>,
    /// Integral of luminance over all directions (nit sr).
    total: f64,
    /// Irradiance by the normal: coefficients of spherical harmonics up to degree 2 (lx).
    irradiance: [f64; 9],
}

/// A strip between the centers of two rows, and a position in it.
struct Strip {
    above: usize,
    below: usize,
    /// 0 at the upper row, 1 at the lower one.
    down: f64,
}

impl EnvironmentSampler {
    /// Prepares sampling; `None` for a black environment.
    pub(super) fn new(environment: &Environment) -> Option<Self> {
        let map = &environment.map;
        let (width, height) = (map.width(), map.height());
        let mut rows = Vec::with_capacity((width + 1) * height);
        for row in map.texels().chunks_exact(width) {
            let value = |column: usize| luminance(row[column % width].as_dvec3());
            let mut sum = 0.0;
            rows.push(sum);
            for column in 0..width {
                sum += 0.5 * (value(column) + value(column + 1));
                rows.push(sum);
            }
        }
        let mut sampler = Self {
            environment: environment.clone(),
            rows,
            sines: Vec::with_capacity(height + 2),
            strips: vec![0.0],
            total: 0.0,
            irradiance: [0.0; 9],
        };
        sampler.sines.push(1.0);
        sampler.sines.extend((0..height).map(|row| map.row_center_sine(row)));
        sampler.sines.push(-1.0);
        for strip in 0..=height {
            let (above, below) = sampler.rows_of(strip);
            let mean = 0.5 * (sampler.row_sum(above) + sampler.row_sum(below)) / width as f64;
            let height = sampler.sines[strip] - sampler.sines[strip + 1];
            sampler.total += mean * height * TAU;
            sampler.strips.push(sampler.total);
        }
        sampler.irradiance = sampler.irradiance_harmonics();
        (sampler.total > 0.0 && sampler.total.is_finite()).then_some(sampler)
    }

    /// Rows above and below a strip; those of the poles are constant in elevation.
    fn rows_of(&self, strip: usize) -> (usize, usize) {
        let last = self.environment.map.height() - 1;
        (strip.saturating_sub(1), strip.min(last))
    }

    /// Integral of a row, in units of texels.
    fn row_sum(&self, row: usize) -> f64 {
        self.row(row, self.environment.map.width())
    }

    /// Integral of a row from the first center to the center of a column.
    fn row(&self, row: usize, column: usize) -> f64 {
        self.rows[row * (self.environment.map.width() + 1) + column]
    }

    /// Luminance at the center of a column, interpolated over a strip.
    fn value(&self, strip: &Strip, column: usize) -> f64 {
        let map = &self.environment.map;
        let width = map.width();
        let at = |row: usize| luminance(map.texels()[row * width + column % width].as_dvec3());
        at(strip.above) + (at(strip.below) - at(strip.above)) * strip.down
    }

    /// Interpolated luminance (nits per channel) of a world direction.
    pub(super) fn luminance(&self, direction: DVec3) -> DVec3 {
        self.environment.map.sample(self.rotated(direction, 1.0)).as_dvec3()
    }

    /// Rotates a world direction to the map's axes (`sign` 1), or back (-1).
    fn rotated(&self, d: DVec3, sign: f64) -> DVec3 {
        let (sin, cos) = (sign * self.environment.rotation).sin_cos();
        DVec3::new(d.x * cos + d.z * sin, d.y, d.z * cos - d.x * sin)
    }

    /// Density by solid angle of a world direction in `sample`.
    pub(super) fn pdf(&self, direction: DVec3) -> f64 {
        let d = self.rotated(direction, 1.0);
        let index = self.sines.partition_point(|&sine| sine > d.y).max(1) - 1;
        let index = index.min(self.environment.map.height());
        let strip = self.strip(index, d.y);
        let width = self.environment.map.width();
        let turn = if d.x == 0.0 && d.z == 0.0 { 0.0 } else { d.x.atan2(-d.z) };
        let x = (turn / TAU + 0.5) * width as f64 - 0.5;
        let column = x.floor();
        let left = (column as i64).rem_euclid(width as i64) as usize;
        let (a, b) = (self.value(&strip, left), self.value(&strip, left + 1));
        (a + (b - a) * (x - column)) / self.total
    }

    fn strip(&self, index: usize, sine: f64) -> Strip {
        let (above, below) = self.rows_of(index);
        let (top, bottom) = (self.sines[index], self.sines[index + 1]);
        let down = if top > bottom { ((top - sine) / (top - bottom)).clamp(0.0, 1.0) } else { 0.5 };
        Strip { above, below, down }
    }

    /// Samples a world direction by a pair of numbers. Returns it with luminance over density, and
    /// the density by solid angle; `None` where rounding leaves no density.
    pub(super) fn sample(&self, u: DVec2) -> Option<(DVec3, DVec3, f64)> {
        let (width, height) = (self.environment.map.width(), self.environment.map.height());
        let target = u.y * self.total;
        let index = (self.strips.partition_point(|&sum| sum <= target).max(1) - 1).min(height);
        let (above, below) = self.rows_of(index);
        let (begin, end) = (self.strips[index], self.strips[index + 1]);
        let part = if end > begin { (target - begin) / (end - begin) } else { 0.5 };
        let down = invert_linear(self.row_sum(above), self.row_sum(below), part);
        let sine = self.sines[index] + (self.sines[index + 1] - self.sines[index]) * down;
        let strip = Strip { above, below, down };

        let cumulative = |column: usize| {
            let (a, b) = (self.row(above, column), self.row(below, column));
            a + (b - a) * down
        };
        let target = u.x * cumulative(width);
        let (mut low, mut high) = (0, width);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if cumulative(middle) <= target {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (begin, end) = (cumulative(low), cumulative(high));
        let part = if end > begin { (target - begin) / (end - begin) } else { 0.5 };
        let (a, b) = (self.value(&strip, low), self.value(&strip, low + 1));
        let across = (low as f64 + 0.5 + invert_linear(a, b, part)) / width as f64;

        let (sin, cos) = ((across - 0.5) * TAU).sin_cos();
        let level = (1.0 - sine * sine).max(0.0).sqrt();
        let direction = self.rotated(DVec3::new(level * sin, sine, -level * cos), -1.0);
        let density = self.pdf(direction);
        let weight = self.luminance(direction) / density;
        (density > 0.0 && weight.is_finite()).then_some((direction, weight, density))
    }

    /// Estimate of what the environment contributes at a receiver, unoccluded (nits).
    pub(super) fn estimate(&self, receiver: &Receiver) -> f64 {
        match receiver.diffuse() {
            Some((normal, diffuse)) => {
                let n = self.rotated(normal, 1.0);
                let irradiance: f64 =
                    harmonics(n).iter().zip(self.irradiance).map(|(y, c)| y * c).sum();
                // Degree 2 may undershoot.
                diffuse * irradiance.max(0.05 * self.total)
            }
            None => self.total / (4.0 * PI),
        }
    }

    /// Ramamoorthi and Hanrahan, "An Efficient Representation for Irradiance Environment Maps"
    /// (2001), equations 8 and 9.
    fn irradiance_harmonics(&self) -> [f64; 9] {
        let map = &self.environment.map;
        let width = map.width();
        let columns: Vec<DVec2> = (0..width)
            .map(|x| DVec2::from_angle(((x as f64 + 0.5) / width as f64 - 0.5) * TAU))
            .collect();
        let rows: Vec<[f64; 9]> = map
            .texels()
            .par_chunks(width)
            .enumerate()
            .map(|(y, row)| {
                let (sine, solid_angle) = (map.row_center_sine(y), map.texel_solid_angle(y));
                let level = (1.0 - sine * sine).max(0.0).sqrt();
                let mut sums = [0.0; 9];
                for (texel, turn) in row.iter().zip(&columns) {
                    let value = luminance(texel.as_dvec3()) * solid_angle;
                    let basis = harmonics(DVec3::new(level * turn.y, sine, -level * turn.x));
                    for (sum, y) in sums.iter_mut().zip(basis) {
                        *sum += y * value;
                    }
                }
                sums
            })
            .collect();
        // In the order of rows, so that threads do not change the sum.
        let sums: [f64; 9] = std::array::from_fn(|i| rows.iter().map(|row| row[i]).sum());
        let factors = [PI, 2.0 * PI / 3.0, PI / 4.0];
        std::array::from_fn(|i| sums[i] * factors[[0, 1, 1, 1, 2, 2, 2, 2, 2][i]])
    }
}

/// Real spherical harmonics up to degree 2 of a unit vector.
fn harmonics(d: DVec3) -> [f64; 9] {
    [
        0.282_095,
        0.488_603 * d.y,
        0.488_603 * d.z,
        0.488_603 * d.x,
        1.092_548 * d.x * d.y,
        1.092_548 * d.y * d.z,
        0.315_392 * (3.0 * d.z * d.z - 1.0),
        1.092_548 * d.x * d.z,
        0.546_274 * (d.x * d.x - d.y * d.y),
    ]
}

/// Position, 0 to 1, below which a density that is linear from `a` to `b` has the fraction `u` of
/// its integral.
fn invert_linear(a: f64, b: f64, u: f64) -> f64 {
    // Without cancellation for equal ends.
    let root = (a * a + (b * b - a * a) * u).max(0.0).sqrt();
    let sum = a + root;
    if sum > 0.0 { (u * (a + b) / sum).clamp(0.0, 1.0) } else { u }
}
