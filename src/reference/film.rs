//! Progressive film: sums over samples, tile by tile, that can be stopped, saved (`resume`) and
//! continued.
//!
//! The result depends only on the settings and the samples: not on threads, batches, stops, or on
//! how the samples are split between films that are joined (`sample_blocks`). The error of tiles is
//! tested at fixed numbers of samples.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    adaptive,
    camera::CameraModel,
    cancel_token::CancelToken,
    film_settings::FilmSettings,
    light_components::LightComponents,
    sample_blocks::{NUMBERS, PixelSums, SampleBlock},
    sample_range::SampleRange,
    tile::{TILE, Tile, pixels},
    world::World,
};
use crate::photometry::Nit;

/// Maximum number of blocks of samples of a tile, if numbers of samples have at most three set bits
/// ([`Film::few_blocks`]).
const MAX_BLOCKS: u64 = 3;

/// Why a film cannot be appended to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The films have different sizes.
    #[error("the pictures have different sizes")]
    Size,
    /// The samples do not follow those of the film.
    #[error("the samples do not follow the earlier ones")]
    Order,
}

/// A progressive picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Number of the first sample.
    pub(super) first: u32,
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
        Self::starting_at(0, (width, height), settings)
    }

    /// An empty film, whose first sample has number `first` in the sample sequence.
    #[must_use]
    pub fn starting_at(
        first: u32,
        (width, height): (usize, usize),
        settings: FilmSettings,
    ) -> Self {
        let across = width.div_ceil(TILE);
        let tile =
            |tile| Tile { pixels: pixels(tile, across, width, height).count(), ..Tile::default() };
        let tiles = (0..across * height.div_ceil(TILE)).map(tile).collect();
        Self {
            width,
            height,
            first,
            tiles,
            settings,
            last_error_check: 0,
            mean_at_first_check: 0.0,
        }
    }

    /// Maximum memory of a film of this many pixels in bytes while a range of samples is traced: on
    /// the way the numbers of samples have at most three set bits ([`Self::few_blocks`]).
    #[must_use]
    pub fn bytes(pixels: u64, range: SampleRange) -> u64 {
        let blocks = MAX_BLOCKS.max(range.blocks().count() as u64);
        pixels.saturating_mul(blocks * size_of::<PixelSums>() as u64)
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
        self.tiles.iter().map(|tile| u64::from(tile.count) * tile.pixels as u64).sum()
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
            self.tiles.iter().filter(|tile| tile.converged).map(|tile| tile.pixels).sum();
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
            let (across, width, height) = (self.width.div_ceil(TILE), self.width, self.height);
            let (settings, first) = (self.settings, self.first);
            let complete = self
                .tiles
                .par_iter_mut()
                .enumerate()
                .filter(|(_, tile)| !tile.converged)
                .map(|(number, tile)| {
                    let pixels: Vec<_> = pixels(number, across, width, height).collect();
                    let view = (world, camera);
                    tile.advance(view, &settings, &pixels, (first, next), cancel_token)
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

    /// Rounds a number of samples down so that few blocks hold them ([`Film::bytes`]): to its three
    /// highest bits.
    #[must_use]
    pub const fn few_blocks(samples: u32) -> u32 {
        let low = (u32::BITS - samples.leading_zeros()).saturating_sub(3);
        samples >> low << low
    }

    /// Ranges of samples that each pixel has. `None` if the pixels have different samples, as after
    /// a cancellation or with a target error.
    #[must_use]
    pub fn ranges(&self) -> Option<Vec<SampleRange>> {
        let mut ranges: Vec<SampleRange> = Vec::new();
        for block in self.block_ranges()? {
            match ranges.last_mut().filter(|last| last.end == block.first) {
                Some(last) => last.end = block.end,
                None => ranges.push(block),
            }
        }
        Some(ranges)
    }

    /// Blocks of samples that each pixel has, in order; `None` as for [`Self::ranges`].
    #[must_use]
    pub fn block_ranges(&self) -> Option<Vec<SampleRange>> {
        let ranges = |tile: &Tile| tile.blocks.iter().map(|b| b.range).collect::<Vec<_>>();
        let first = self.tiles.first().map(ranges).unwrap_or_default();
        self.tiles.iter().all(|tile| ranges(tile) == first).then_some(first)
    }

    /// Sums over block number `block`, as images row by row: one of each number of
    /// [`Self::plane_names`]. Empty if there is no such block.
    #[must_use]
    pub fn planes(&self, block: usize) -> Vec<Vec<f64>> {
        let mut planes = vec![vec![0.0; self.width * self.height]; NUMBERS];
        let across = self.width.div_ceil(TILE);
        for (number, tile) in self.tiles.iter().enumerate() {
            let Some(block) = tile.blocks.get(block) else { return Vec::new() };
            for ((x, y), sum) in pixels(number, across, self.width, self.height).zip(&block.sums) {
                for (plane, value) in planes.iter_mut().zip(sum.numbers()) {
                    plane[y * self.width + x] = value;
                }
            }
        }
        planes
    }

    /// Names of the sums of a pixel, in the order of [`Self::planes`]: light components by channel
    /// (nits), unlit color, luminance (nits), squared luminance, and half the difference of the
    /// means of both halves (nits).
    #[must_use]
    pub fn plane_names() -> Vec<String> {
        let lights = LightComponents::NAMES.into_iter().chain(["unlit"]);
        let colors = lights.flat_map(|name| ["R", "G", "B"].map(|c| format!("{name}.{c}")));
        let rest = ["luminance", "squares", "half_difference"].map(str::to_owned);
        colors.chain(rest).collect()
    }

    /// Appends a block of later samples by its sums, as of [`Self::planes`].
    ///
    /// # Errors
    /// [`AppendError::Size`] if a plane is missing or has another number of pixels, or the range is
    /// no aligned block; [`AppendError::Order`] if its samples do not follow the earlier ones.
    pub fn append_planes(
        &mut self,
        range: SampleRange,
        planes: &[Vec<f64>],
    ) -> Result<(), AppendError> {
        let planes: &[Vec<f64>; NUMBERS] = planes.try_into().map_err(|_| AppendError::Size)?;
        let count = self.width * self.height;
        if planes.iter().any(|plane| plane.len() != count) || range.blocks().ne([range]) {
            return Err(AppendError::Size);
        }
        if !self.is_followed_by(range.first) {
            return Err(AppendError::Order);
        }
        let (across, width, height) = (self.width.div_ceil(TILE), self.width, self.height);
        for (number, tile) in self.tiles.iter_mut().enumerate() {
            let sums = pixels(number, across, width, height)
                .map(|(x, y)| {
                    let at = y * width + x;
                    PixelSums::from_numbers(&std::array::from_fn(|i| planes[i][at]))
                })
                .collect();
            tile.append(SampleBlock { range, sums });
        }
        Ok(())
    }

    /// Counts further paths that returned NaN or infinity and were counted as black.
    pub fn add_non_finite_paths(&mut self, count: u64) {
        if let Some(tile) = self.tiles.first_mut() {
            tile.non_finite_paths = tile.non_finite_paths.saturating_add(count);
        }
    }

    /// True if all pixels' samples have lower numbers than `first`.
    fn is_followed_by(&self, first: u32) -> bool {
        let ends = self.tiles.iter().filter_map(|tile| tile.blocks.last());
        ends.map(|block| block.range.end).all(|end| end <= first)
    }

    /// Appends later samples. Adjacent ranges give the film of the whole range, bit for bit.
    ///
    /// # Errors
    /// [`AppendError`]; the film is then unchanged.
    pub fn append(&mut self, later: Self) -> Result<(), AppendError> {
        if later.size() != self.size() {
            return Err(AppendError::Size);
        }
        let firsts = later.tiles.iter().filter_map(|tile| tile.blocks.first());
        if firsts.map(|block| block.range.first).min().is_some_and(|f| !self.is_followed_by(f)) {
            return Err(AppendError::Order);
        }
        for (tile, later) in self.tiles.iter_mut().zip(later.tiles) {
            later.blocks.into_iter().for_each(|block| tile.append(block));
            tile.non_finite_paths += later.non_finite_paths;
        }
        Ok(())
    }

    fn mean_luminance(&self) -> f64 {
        let of = |tile: &Tile| tile.mean_luminance() * tile.pixels as f64;
        self.tiles.iter().map(of).sum::<f64>() / (self.width * self.height).max(1) as f64
    }

    /// Maps each pixel's sums and its tile to a value, row by row.
    fn each<T: Clone + Default>(&self, of: impl Fn(&PixelSums, &Tile) -> T) -> Vec<T> {
        let mut out = vec![T::default(); self.width * self.height];
        let across = self.width.div_ceil(TILE);
        for (number, tile) in self.tiles.iter().enumerate() {
            let places = pixels(number, across, self.width, self.height);
            for ((x, y), sum) in places.zip(tile.totals()) {
                out[y * self.width + x] = of(&sum, tile);
            }
        }
        out
    }

    /// Mean radiance of each pixel (nits per channel), of one component or of the total.
    #[must_use]
    pub fn mean(&self, part: impl Fn(&LightComponents) -> DVec3) -> Vec<DVec3> {
        self.each(|sum, tile| part(&sum.parts) / f64::from(tile.count.max(1)))
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
        self.each(|_, tile| tile.count)
    }

    /// Variance of each pixel's mean luminance (nits squared), estimated as for independent
    /// samples. The error of Sobol points is less; see `relative_error`.
    #[must_use]
    pub fn variance(&self) -> Vec<f64> {
        self.each(|sum, tile| sum.variance(tile.count))
    }

    /// Estimated error of each pixel's mean luminance (nits, signed): half the difference of the
    /// means of its two halves of samples, at the last power of two (with a gap: of the greatest
    /// aligned block). It has size and pattern of the error of Sobol points, which `variance`
    /// overstates, but not its sign. 0 with one sample.
    #[must_use]
    pub fn half_difference(&self) -> Vec<f64> {
        self.each(|sum, tile| {
            // Further samples reduce the error at least as independent ones do.
            let compared = f64::from(tile.compared_samples());
            sum.half_difference * (compared / f64::from(tile.count.max(1))).sqrt()
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
        let has_halves = self.tiles.iter().all(|tile| tile.compared_samples() >= 4);
        let squares: f64 = if has_halves {
            let of = |tile: &Tile| adaptive::mean_squared_error(tile) * tile.pixels as f64;
            self.tiles.iter().map(of).sum()
        } else {
            let of = |tile: &Tile| tile.totals().map(|sum| sum.variance(tile.count)).sum::<f64>();
            self.tiles.iter().map(of).sum()
        };
        let mean = self.mean_luminance();
        if mean > 0.0 { (squares / pixels).sqrt() / mean } else { 0.0 }
    }
}
