//! Progressive film: sums over samples, tile by tile, that can be stopped, saved (`resume`) and
//! continued.
//!
//! The result depends only on the settings and the number of samples: not on threads, batches or
//! stops. A pixel's samples are added in order, and the error of tiles is tested at fixed numbers
//! of samples.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    adaptive,
    camera::CameraModel,
    cancel_token::CancelToken,
    film_settings::FilmSettings,
    light_components::LightComponents,
    tile::{PixelSums, TILE, Tile, pixels},
    world::World,
};
use crate::photometry::Nit;

/// A progressive picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) tiles: Vec<Tile>,
    pub(super) settings: FilmSettings,
    /// Number of samples at the last error test; 0 before the first.
    pub(super) last_error_check: u32,
    /// Mean luminance of the picture (nits) at the first error test.
    pub(super) mean_at_first_check: f64,
}

impl Film {
    /// An empty film.
    #[must_use]
    pub fn new(width: usize, height: usize, settings: FilmSettings) -> Self {
        let across = width.div_ceil(TILE);
        let tile = |tile| Tile {
            sums: vec![PixelSums::default(); pixels(tile, across, width, height).count()],
            ..Tile::default()
        };
        let tiles = (0..across * height.div_ceil(TILE)).map(tile).collect();
        Self { width, height, tiles, settings, last_error_check: 0, mean_at_first_check: 0.0 }
    }

    /// Memory of a film of this many pixels, in bytes.
    #[must_use]
    pub const fn bytes(pixels: u64) -> u64 {
        pixels.saturating_mul(size_of::<PixelSums>() as u64)
    }

    /// Width and height in pixels.
    #[must_use]
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Settings of the film.
    #[must_use]
    pub const fn settings(&self) -> &FilmSettings {
        &self.settings
    }

    /// Samples of every pixel that has not reached the target error.
    #[must_use]
    pub fn samples(&self) -> u32 {
        let min = self.tiles.iter().filter(|tile| !tile.converged).map(|tile| tile.count).min();
        min.unwrap_or_else(|| self.tiles.iter().map(|tile| tile.count).max().unwrap_or(0))
    }

    /// Total number of samples of all pixels.
    #[must_use]
    pub fn total_samples(&self) -> u64 {
        self.tiles.iter().map(|tile| u64::from(tile.count) * tile.sums.len() as u64).sum()
    }

    /// Paths that returned NaN or infinity and were counted as black.
    #[must_use]
    pub fn non_finite_paths(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.non_finite_paths).sum()
    }

    /// Fraction of the pixels that has reached the target error, 0 to 1.
    #[must_use]
    pub fn converged(&self) -> f64 {
        let done: usize =
            self.tiles.iter().filter(|tile| tile.converged).map(|tile| tile.sums.len()).sum();
        done as f64 / (self.width * self.height).max(1) as f64
    }

    /// Adds `count` samples to each pixel that has not reached the target error, on all cores.
    /// Returns true if all were added. After a cancellation the film holds the completed batches,
    /// and another call continues from there.
    pub fn add(
        &mut self,
        world: &World<'_>,
        camera: &impl CameraModel,
        count: u32,
        stop: &impl CancelToken,
    ) -> bool {
        self.advance(world, camera, self.samples().saturating_add(count), stop)
    }

    /// Continues until each pixel has `goal` samples or has reached the target error. Returns false
    /// after a cancellation.
    pub fn advance(
        &mut self,
        world: &World<'_>,
        camera: &impl CameraModel,
        goal: u32,
        cancel_token: &impl CancelToken,
    ) -> bool {
        loop {
            let have = self.samples();
            self.check_errors(have);
            if have >= goal || self.tiles.iter().all(|tile| tile.converged) {
                return true;
            }
            // Up to the next error test.
            let next = have
                .saturating_add(1)
                .checked_next_power_of_two()
                .map_or(goal, |look| look.min(goal));
            let (across, width, height, settings) =
                (self.width.div_ceil(TILE), self.width, self.height, self.settings);
            let complete = self
                .tiles
                .par_iter_mut()
                .enumerate()
                .filter(|(_, tile)| !tile.converged)
                .map(|(number, tile)| {
                    let pixels: Vec<_> = pixels(number, across, width, height).collect();
                    tile.advance(world, camera, &settings, &pixels, next, cancel_token)
                })
                // Runs all tiles even after one was stopped: others may be about to finish.
                .fold(|| true, |a, b| a & b)
                .reduce(|| true, |a, b| a & b);
            if !complete {
                return false;
            }
        }
    }

    /// Marks tiles that have enough samples, once at each power of two.
    fn check_errors(&mut self, count: u32) {
        let Some(target) = self.settings.target_error else { return };
        if count >= adaptive::MIN_SAMPLES
            && count.is_power_of_two()
            && count > self.last_error_check
        {
            if self.last_error_check == 0 {
                self.mean_at_first_check = self.mean_luminance();
            }
            self.last_error_check = count;
            let across = self.width.div_ceil(TILE);
            adaptive::mark_converged(
                &mut self.tiles,
                across,
                count,
                target,
                self.mean_at_first_check,
            );
        }
    }

    fn mean_luminance(&self) -> f64 {
        let of = |tile: &Tile| {
            tile.sums.iter().map(|sum| sum.luminance).sum::<f64>() / f64::from(tile.count.max(1))
        };
        self.tiles.iter().map(of).sum::<f64>() / (self.width * self.height).max(1) as f64
    }

    /// Maps each pixel's sums and number of samples to a value, row by row.
    fn each<T: Clone + Default>(&self, of: impl Fn(&PixelSums, u32) -> T) -> Vec<T> {
        let mut out = vec![T::default(); self.width * self.height];
        let across = self.width.div_ceil(TILE);
        for (number, tile) in self.tiles.iter().enumerate() {
            for ((x, y), sum) in pixels(number, across, self.width, self.height).zip(&tile.sums) {
                out[y * self.width + x] = of(sum, tile.count);
            }
        }
        out
    }

    /// Mean radiance of each pixel (nits per channel), of one component or of the total.
    #[must_use]
    pub fn mean(&self, part: impl Fn(&LightComponents) -> DVec3) -> Vec<DVec3> {
        self.each(|sum, count| part(&sum.parts) / f64::from(count.max(1)))
    }

    /// Displayed luminance of each pixel (nits per channel): its light, plus unlit surfaces, whose
    /// base color is a fraction of `white` (glTF's KHR_materials_unlit has no unit). `white` is the
    /// luminance that the camera renders white.
    #[must_use]
    pub fn displayed(&self, white: Nit) -> Vec<DVec3> {
        self.mean(|parts| parts.total() + parts.unlit * white.get())
    }

    /// Number of samples of each pixel.
    #[must_use]
    pub fn counts(&self) -> Vec<u32> {
        self.each(|_, count| count)
    }

    /// Variance of each pixel's mean luminance (nits squared), estimated as for independent
    /// samples. The error of Sobol points is less; see `relative_error`.
    #[must_use]
    pub fn variance(&self) -> Vec<f64> {
        self.each(|sum, count| sum.variance(count))
    }

    /// Estimated error of each pixel's mean luminance (nits, signed): half the difference of the
    /// means of its two halves of samples, at the last power of two. It has size and pattern of the
    /// error of Sobol points, which `variance` overstates, but not its sign. 0 with one sample.
    #[must_use]
    pub fn half_difference(&self) -> Vec<f64> {
        self.each(|sum, count| {
            // Further samples reduce the error at least as independent ones do.
            let last = count.checked_ilog2().map_or(0.0, |log2| f64::from(1u32 << log2));
            sum.half_difference * (last / f64::from(count.max(1))).sqrt()
        })
    }

    /// Relative error of the picture: the root of the mean squared error of its pixels over their
    /// mean luminance.
    ///
    /// Estimated from the two halves of each pixel's samples (`adaptive`). With Sobol points this
    /// is closer to the true error than the variance of samples, and still conservative. With fewer
    /// than 4 samples it comes from that variance.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        let pixels = (self.width * self.height).max(1) as f64;
        let squares: f64 = if self.samples() < 4 {
            let of =
                |tile: &Tile| tile.sums.iter().map(|sum| sum.variance(tile.count)).sum::<f64>();
            self.tiles.iter().map(of).sum()
        } else {
            let of = |tile: &Tile| adaptive::mean_squared_error(tile) * tile.sums.len() as f64;
            self.tiles.iter().map(of).sum()
        };
        let mean = self.mean_luminance();
        if mean > 0.0 { (squares / pixels).sqrt() / mean } else { 0.0 }
    }
}
