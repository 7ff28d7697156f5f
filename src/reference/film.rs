//! Progressive film: sums over samples, tile by tile, that can be stopped, saved (`resume`) and
//! continued.
//!
//! The result depends only on the settings and the number of samples: not on threads, batches or
//! stops. A pixel's samples are added in order, and the error of tiles is tested at fixed numbers
//! of samples.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::{
    adaptive,
    camera::CameraModel,
    integrator::{LightComponents, PathSettings},
    sampler::{BLOCK, Sampler, SamplerKind},
    world::World,
};
use crate::photometry::{Nit, color::luminance};

/// Pixels on each side of a tile, the unit of work of one core.
pub(super) const TILE: usize = 16;

/// Sampler blocks on each side of a tile.
const BLOCKS: usize = TILE >> BLOCK;

/// Samples per pixel between two pause checks of a tile. Batches also speed up the sampler.
const CHUNK: u32 = 16;

/// Sums over the samples of one pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PixelSums {
    /// Light by component (nits per channel), and unlit color.
    pub parts: LightComponents,
    /// Luminance (nits).
    pub luminance: f64,
    /// Squared luminance (nits squared).
    pub squares: f64,
    /// Sum of luminance at the last power of two of samples.
    pub luminance_at_power_of_two: f64,
    /// Half the difference between the means of the two halves of those samples (`adaptive`).
    pub half_difference: f64,
}

/// A square of pixels with the same number of samples each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tile {
    pub count: u32,
    /// True if the tile has reached the target error.
    pub converged: bool,
    /// Paths that returned NaN or infinity.
    pub non_finite_paths: u64,
    pub sums: Vec<PixelSums>,
}

/// Settings of a film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSettings {
    /// Settings of the paths.
    pub path: PathSettings,
    /// Type of the sample sequence.
    pub sampler: SamplerKind,
    /// Seed of the sample sequence.
    pub seed: u32,
    /// Jitters samples over the pixel; otherwise rays pass through its center, as in the raster
    /// renderer.
    pub pixel_jitter: bool,
    /// Relative error below which a tile gets no more samples (0.01 is 1 %); `None`: uniform
    /// sampling.
    pub target_error: Option<f64>,
}

impl Default for FilmSettings {
    fn default() -> Self {
        Self {
            path: PathSettings::default(),
            sampler: SamplerKind::Sobol,
            seed: 0,
            pixel_jitter: true,
            target_error: None,
        }
    }
}

/// Cancellation of sampling.
pub trait CancelToken: Sync {
    /// Stops at once and drops unfinished batches. Checked before each path.
    fn should_stop(&self) -> bool;

    /// Stops soon, after the current batches. Checked between the batches of a tile.
    fn pause(&self) -> bool {
        self.should_stop()
    }
}

impl CancelToken for AtomicBool {
    fn should_stop(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

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

impl Tile {
    fn advance(
        &mut self,
        world: &World<'_>,
        camera: &impl CameraModel,
        settings: &FilmSettings,
        pixels: &[(usize, usize)],
        goal: u32,
        cancel_token: &impl CancelToken,
    ) -> bool {
        while self.count < goal {
            if cancel_token.pause() {
                return false;
            }
            let end = goal.min(self.count.saturating_add(CHUNK));
            let (mut sums, mut dropped) = (self.sums.clone(), self.non_finite_paths);
            let mut sampler = Sampler::new(settings.sampler, settings.seed, 0, 0, 0);
            // Block by block: pixels of a block share much of their sample sequence.
            for block in 0..BLOCKS * BLOCKS {
                let inside = |x: usize, y: usize| {
                    (y >> BLOCK) % BLOCKS * BLOCKS + (x >> BLOCK) % BLOCKS == block
                };
                for (sum, &(x, y)) in
                    sums.iter_mut().zip(pixels).filter(|(_, (x, y))| inside(*x, *y))
                {
                    for index in self.count..end {
                        if cancel_token.should_stop() {
                            return false;
                        }
                        sampler.begin(x as u32, y as u32, index);
                        let place = sampler.next_2d();
                        let place = if settings.pixel_jitter { place } else { DVec2::splat(0.5) };
                        let (lens, time) = (sampler.next_2d(), sampler.next_1d());
                        let ray = camera.ray(DVec2::new(x as f64, y as f64) + place, lens, time);
                        let parts = if ray.weight.max_element() > 0.0 {
                            world.trace_path(
                                ray.origin,
                                ray.direction,
                                &settings.path,
                                &mut sampler,
                            )
                        } else {
                            LightComponents::default()
                        };
                        dropped += u64::from(!sum.add_path(&parts, ray.weight, index + 1));
                    }
                }
            }
            (self.sums, self.count, self.non_finite_paths) = (sums, end, dropped);
        }
        true
    }
}

impl PixelSums {
    /// Variance of the mean luminance, as for independent samples (nits squared).
    fn variance(&self, count: u32) -> f64 {
        let n = f64::from(count.max(2));
        let mean = self.luminance / n;
        ((self.squares / n - mean * mean) / (n - 1.0)).max(0.0)
    }

    /// Adds a path's light as sample number `count`. Returns false if it is NaN or infinite.
    fn add_path(&mut self, parts: &LightComponents, weight: DVec3, count: u32) -> bool {
        let (total, unlit) = (parts.total() * weight, parts.unlit * weight);
        // NaN or infinity would spoil the pixel: such a path counts as a black sample.
        let finite = total.is_finite() && unlit.is_finite();
        if finite {
            let l = luminance(total);
            self.luminance += l;
            self.squares += l * l;
            let (mut sums, parts) = (self.parts.to_array(), parts.to_array());
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum += part * weight;
            }
            self.parts = LightComponents {
                unlit: self.parts.unlit + unlit,
                ..LightComponents::from_array(sums)
            };
        }
        if count.is_power_of_two() {
            self.half_difference =
                (2.0 * self.luminance_at_power_of_two - self.luminance) / f64::from(count);
            self.luminance_at_power_of_two = self.luminance;
        }
        finite
    }
}

/// The pixels of a tile, in the order of its sums.
fn pixels(
    tile: usize,
    across: usize,
    width: usize,
    height: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let (left, top) = (tile % across.max(1) * TILE, tile / across.max(1) * TILE);
    (top..(top + TILE).min(height))
        .flat_map(move |y| (left..(left + TILE).min(width)).map(move |x| (x, y)))
}
