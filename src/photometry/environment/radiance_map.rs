//! Luminance maps by direction, and their illuminance.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec3, Vec3, dvec3};
use rayon::prelude::*;

use crate::photometry::{Lux, color};

/// Maximum texels of a map.
pub const MAX_TEXELS: usize = 64 << 20;
/// Maximum luminance of a texel in nits, a thousand Suns; texels are clamped to it.
pub const MAX_NITS: f32 = 1e12;

/// Mapping of a map's rows to elevations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowMapping {
    /// Equal steps: equirectangular maps.
    Linear,
    /// Square root of the elevation, dense at the horizon: Hillaire 2020, section 5.3.
    SquareRoot,
}

/// Environment map: luminance by direction in linear Rec.709 nits; the top row is the zenith.
///
/// The middle column is -Z (north), columns to its right turn to +X (east): seen from inside.
#[derive(Clone, Debug, PartialEq)]
pub struct RadianceMap {
    width: usize,
    height: usize,
    rows: RowMapping,
    texels: Vec<Vec3>,
}

/// Error of an environment map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MapError {
    /// No texels, or another number than width times height, or too many.
    #[error(
        "a map of {width}x{height} pixels cannot be used; it needs at least 2x2 and at most {MAX_TEXELS} pixels"
    )]
    Size {
        /// Across.
        width: usize,
        /// Down.
        height: usize,
    },
    /// It gives no light on level ground, so no factor scales it to an illuminance.
    #[error(
        "the map's upper half is black, so that it cannot be scaled to {0}; use environment.scale or another map"
    )]
    Black(Lux),
}

impl RadianceMap {
    /// From texels, row by row. Negative values and NaN count as 0, infinity as `MAX_NITS`.
    ///
    /// # Errors
    /// An invalid size.
    pub fn new(
        width: usize,
        height: usize,
        rows: RowMapping,
        mut texels: Vec<Vec3>,
    ) -> Result<Self, MapError> {
        let count =
            width.checked_mul(height).filter(|&count| count <= MAX_TEXELS && count == texels.len());
        if width < 2 || height < 2 || count.is_none() {
            return Err(MapError::Size { width, height });
        }
        for texel in &mut texels {
            *texel = texel.map(sound);
        }
        Ok(Self { width, height, rows, texels })
    }

    /// From a function of the direction, evaluated at the center of each texel.
    ///
    /// # Errors
    /// An invalid size.
    pub fn from_fn(
        width: usize,
        height: usize,
        rows: RowMapping,
        nits: impl Fn(DVec3) -> DVec3 + Sync,
    ) -> Result<Self, MapError> {
        if width.saturating_mul(height) > MAX_TEXELS {
            return Err(MapError::Size { width, height });
        }
        let texels = (0..width * height)
            .into_par_iter()
            .map(|i| {
                let (x, y) = ((i % width) as f64 + 0.5, (i / width) as f64 + 0.5);
                nits(direction(rows, x / width as f64, y / height as f64)).as_vec3()
            })
            .collect();
        Self::new(width, height, rows, texels)
    }

    /// Width in texels.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Height in texels.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Mapping of rows to elevations.
    #[must_use]
    pub const fn rows(&self) -> RowMapping {
        self.rows
    }

    /// Nits by channel, top row first.
    #[must_use]
    pub fn texels(&self) -> &[Vec3] {
        &self.texels
    }

    /// Unit vector to the middle of a texel.
    #[must_use]
    pub fn texel_direction(&self, x: usize, y: usize) -> DVec3 {
        direction(
            self.rows,
            (x as f64 + 0.5) / self.width as f64,
            (y as f64 + 0.5) / self.height as f64,
        )
    }

    /// Solid angle (sr) of a texel of a row: exact, so that all together are 4 pi.
    #[must_use]
    pub fn texel_solid_angle(&self, y: usize) -> f64 {
        let sine = |row: usize| elevation(self.rows, row as f64 / self.height as f64).sin();
        TAU / self.width as f64 * (sine(y) - sine(y + 1))
    }

    /// Integral of the unit direction over a texel, in sr: luminance times this vector, summed over
    /// texels, is the irradiance on a plane that all of them light. Exact.
    #[must_use]
    pub fn texel_vector(&self, x: usize, y: usize) -> DVec3 {
        let [top, bottom] = [y, y + 1].map(|y| elevation(self.rows, y as f64 / self.height as f64));
        let [left, right] = [x, x + 1].map(|x| (x as f64 / self.width as f64 - 0.5) * TAU);
        let level = |e: f64| e / 2.0 + (2.0 * e).sin() / 4.0;
        let level = level(top) - level(bottom);
        let height = (top.sin().powi(2) - bottom.sin().powi(2)) / 2.0;
        dvec3(
            level * (left.cos() - right.cos()),
            height * (right - left),
            level * (left.sin() - right.sin()),
        )
    }

    /// Sine of the elevation of a row's middle.
    #[must_use]
    pub fn row_center_sine(&self, y: usize) -> f64 {
        elevation(self.rows, (y as f64 + 0.5) / self.height as f64).sin()
    }

    /// Unit vector to a position in a texel, `across` and `down` from 0 to 1; equal areas of the
    /// texel have equal solid angles.
    #[must_use]
    pub fn direction_in_texel(&self, x: usize, y: usize, across: f64, down: f64) -> DVec3 {
        let sine = |row: usize| elevation(self.rows, row as f64 / self.height as f64).sin();
        let (above, below) = (sine(y), sine(y + 1));
        let height = above + (below - above) * down;
        let level = direction(RowMapping::Linear, (x as f64 + across) / self.width as f64, 0.5);
        let flat = (1.0 - height * height).max(0.0).sqrt();
        dvec3(level.x * flat, height, level.z * flat)
    }

    /// Luminance of a direction (unit), interpolated linearly between texels.
    #[must_use]
    pub fn sample(&self, direction: DVec3) -> Vec3 {
        let (u, v) = coordinates(self.rows, direction);
        let (x, y) = (
            u * self.width as f64 - 0.5,
            (v * self.height as f64 - 0.5).clamp(0.0, (self.height - 1) as f64),
        );
        let (x0, y0) = (x.floor(), y.floor());
        let at = |x: f64, y: f64| {
            let column = (x as i64).rem_euclid(self.width as i64) as usize;
            self.texels
                .get((y as usize).min(self.height - 1) * self.width + column)
                .copied()
                .unwrap_or_default()
        };
        let (fx, fy) = ((x - x0) as f32, (y - y0) as f32);
        at(x0, y0)
            .lerp(at(x0 + 1.0, y0), fx)
            .lerp(at(x0, y0 + 1.0).lerp(at(x0 + 1.0, y0 + 1.0), fx), fy)
    }

    /// Illuminance on level ground: the cosine integral of the upper half.
    #[must_use]
    pub fn illuminance(&self) -> Lux {
        let mut sum = 0.0;
        for y in 0..self.height {
            // A row's mean cosine to the zenith over its part above the horizon, exactly: (sin^2 a
            // - sin^2 b) / 2.
            let sine =
                |row: usize| elevation(self.rows, row as f64 / self.height as f64).sin().max(0.0);
            let weight = (sine(y).powi(2) - sine(y + 1).powi(2)) / 2.0 * TAU / self.width as f64;
            if weight <= 0.0 {
                break;
            }
            let row = self.texels.get(y * self.width..(y + 1) * self.width).unwrap_or_default();
            sum += weight * row.iter().map(|t| color::luminance(t.as_dvec3())).sum::<f64>();
        }
        Lux(sum)
    }

    /// Scales all luminances by a factor of at least 0.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        for texel in &mut self.texels {
            *texel = (texel.as_dvec3() * factor).as_vec3().map(sound);
        }
        self
    }

    /// Scales the map to an illuminance on level ground (lx).
    ///
    /// # Errors
    /// The map gives no light on level ground.
    pub fn scaled_to(self, lux: Lux) -> Result<Self, MapError> {
        let factor = lux.0 / self.illuminance().0;
        if factor.is_finite() { Ok(self.scaled(factor)) } else { Err(MapError::Black(lux)) }
    }

    /// Downsamples by 2 with solid angle weights, odd edges included; `None` below 4 rows.
    #[must_use]
    pub fn halved(&self) -> Option<Self> {
        if self.width < 4 || self.height < 4 {
            return None;
        }
        let (width, height) = (self.width / 2, self.height / 2);
        let range = |i: usize, count: usize, all: usize| {
            i * all / count..((i + 1) * all / count).max(i * all / count + 1)
        };
        let mut texels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (mut sum, mut weight) = (DVec3::ZERO, 0.0);
                for sy in range(y, height, self.height) {
                    let angle = self.texel_solid_angle(sy);
                    for sx in range(x, width, self.width) {
                        if let Some(texel) = self.texels.get(sy * self.width + sx) {
                            sum += texel.as_dvec3() * angle;
                            weight += angle;
                        }
                    }
                }
                texels.push((sum / weight).as_vec3());
            }
        }
        Self::new(width, height, self.rows, texels).ok()
    }
}

/// Clamps a channel to 0 to `MAX_NITS`; NaN becomes 0, unlike with `clamp`.
#[allow(clippy::manual_clamp)]
fn sound(channel: f32) -> f32 {
    channel.max(0.0).min(MAX_NITS)
}

/// Elevation (rad) at a height `v` of the map, 0 top to 1 bottom.
fn elevation(rows: RowMapping, v: f64) -> f64 {
    let s = 1.0 - 2.0 * v;
    match rows {
        RowMapping::Linear => s * FRAC_PI_2,
        RowMapping::SquareRoot => s * s.abs() * FRAC_PI_2,
    }
}

fn direction(rows: RowMapping, u: f64, v: f64) -> DVec3 {
    let (sin_e, cos_e) = elevation(rows, v).sin_cos();
    let (sin_a, cos_a) = ((u - 0.5) * TAU).sin_cos();
    dvec3(cos_e * sin_a, sin_e, -cos_e * cos_a)
}

/// Map coordinates of a direction, 0 to 1 each.
fn coordinates(rows: RowMapping, d: DVec3) -> (f64, f64) {
    let s = d.y.clamp(-1.0, 1.0).asin() / FRAC_PI_2;
    let s = match rows {
        RowMapping::Linear => s,
        RowMapping::SquareRoot => s.abs().sqrt().copysign(s),
    };
    let turn = if d.x == 0.0 && d.z == 0.0 { 0.0 } else { d.x.atan2(-d.z) };
    (turn / (2.0 * PI) + 0.5, 0.5 - 0.5 * s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_go_there_and_back() {
        for rows in [RowMapping::Linear, RowMapping::SquareRoot] {
            let map = RadianceMap::from_fn(64, 32, rows, |d| d.abs()).unwrap();
            let mut angle = 0.0;
            for y in 0..32 {
                angle += map.texel_solid_angle(y) * 64.0;
                for x in 0..64 {
                    let d = map.texel_direction(x, y);
                    assert!(
                        (map.sample(d) - d.abs().as_vec3()).length() < 1e-5,
                        "{rows:?} {x} {y}"
                    );
                }
            }
            assert!((angle - 4.0 * PI).abs() < 1e-9);
        }
        let map =
            RadianceMap::from_fn(256, 128, RowMapping::Linear, |d| dvec3(d.x, d.y, -d.z)).unwrap();
        assert!(
            map.sample(DVec3::X).x > 0.99
                && map.sample(DVec3::Y).y > 0.99
                && map.sample(DVec3::NEG_Z).z > 0.99
        );
        // The middle of the picture is -Z, its right half +X.
        assert!(map.texel_direction(128, 64).z < -0.99 && map.texel_direction(192, 64).x > 0.99);
    }

    #[test]
    fn measured_lux() {
        for rows in [RowMapping::Linear, RowMapping::SquareRoot] {
            let map = RadianceMap::from_fn(64, 31, rows, |_| DVec3::splat(100.0)).unwrap();
            assert!(
                (map.illuminance().0 / (100.0 * PI) - 1.0).abs() < 1e-6,
                "{:?}",
                map.illuminance()
            );
            // Luminance 1 + sin(elevation): pi + 2 pi / 3.
            let map = RadianceMap::from_fn(512, 256, rows, |d| DVec3::splat(1.0 + d.y)).unwrap();
            assert!((map.illuminance().0 / (PI + TAU / 3.0) - 1.0).abs() < 1e-4);
            let scaled = map.scaled_to(Lux(12_345.0)).unwrap();
            assert!((scaled.illuminance().0 / 12_345.0 - 1.0).abs() < 1e-6);
        }
        let black = RadianceMap::from_fn(8, 4, RowMapping::Linear, |_| DVec3::ZERO).unwrap();
        assert!(matches!(black.scaled_to(Lux(1.0)), Err(MapError::Black(_))));
    }

    #[test]
    fn hostile_numbers_and_sizes() {
        let texels = vec![Vec3::new(f32::NAN, -1.0, f32::INFINITY); 8];
        let map = RadianceMap::new(4, 2, RowMapping::Linear, texels).unwrap();
        assert_eq!(map.texels()[0], Vec3::new(0.0, 0.0, MAX_NITS));
        assert!(RadianceMap::new(4, 2, RowMapping::Linear, vec![]).is_err());
        assert!(RadianceMap::new(usize::MAX, 2, RowMapping::Linear, vec![]).is_err());
        assert!(RadianceMap::new(1, 1, RowMapping::Linear, vec![Vec3::ONE]).is_err());
        assert!(map.sample(DVec3::Y).is_finite() && map.illuminance().0.is_finite());
    }

    #[test]
    fn halving_keeps_the_light() {
        let map = RadianceMap::from_fn(100, 50, RowMapping::Linear, |d| {
            DVec3::splat(2.0 + d.x + d.y * d.z)
        })
        .unwrap();
        let total = |map: &RadianceMap| -> f64 {
            (0..map.height())
                .map(|y| {
                    let row = &map.texels()[y * map.width()..(y + 1) * map.width()];
                    row.iter().map(|t| f64::from(t.x)).sum::<f64>() * map.texel_solid_angle(y)
                })
                .sum()
        };
        let half = map.halved().unwrap();
        assert_eq!((half.width(), half.height()), (50, 25));
        assert!((total(&half) / total(&map) - 1.0).abs() < 1e-6);
        assert!(half.halved().unwrap().halved().unwrap().halved().unwrap().halved().is_none());
    }
}
