//! Tiles of a film: the sums over the samples of their pixels.

use glam::DVec2;

use super::{
    camera::CameraModel,
    cancel_token::CancelToken,
    film_settings::FilmSettings,
    light_components::LightComponents,
    sample_blocks::{PixelSums, SampleBlock, append, greatest, total},
    sample_range::SampleRange,
    sampler::{BLOCK, Sampler},
    world::World,
};

/// Pixels on each side of a tile, the unit of work of one core.
pub(super) const TILE: usize = 16;

/// Sampler blocks on each side of a tile.
const BLOCKS: usize = TILE >> BLOCK;

/// Samples per pixel between two pause checks of a tile. Batches also speed up the sampler.
const CHUNK: u32 = 16;

/// A square of pixels with the same samples each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tile {
    /// Number of pixels.
    pub pixels: usize,
    /// Samples of each pixel.
    pub count: u32,
    /// True if the tile has reached the target error.
    pub converged: bool,
    /// Paths that returned NaN or infinity.
    pub non_finite_paths: u64,
    /// Sums of the pixels, in blocks of samples.
    pub blocks: Vec<SampleBlock<Vec<PixelSums>>>,
}

impl Tile {
    /// The sums of each pixel over all samples.
    pub(super) fn totals(&self) -> impl Iterator<Item = PixelSums> {
        (0..self.pixels).map(|at| total(&self.blocks, at))
    }

    /// Mean over the pixels of the luminance of their samples (nits).
    pub(super) fn mean_luminance(&self) -> f64 {
        let sum: f64 = self.totals().map(|sum| sum.luminance).sum();
        sum / f64::from(self.count.max(1)) / self.pixels.max(1) as f64
    }

    /// Samples of the greatest block, from whose halves the error is estimated; 0 without samples.
    pub(super) fn compared_samples(&self) -> u32 {
        greatest(&self.blocks).map_or(0, |block| block.range.count())
    }

    /// Adds a block of later samples.
    pub(super) fn append(&mut self, block: SampleBlock<Vec<PixelSums>>) {
        self.count += block.range.count();
        append(&mut self.blocks, block);
    }

    /// Adds samples until each pixel has `goal` of them; `first` is the number of the first sample.
    pub(super) fn advance(
        &mut self,
        (world, camera): (&World<'_>, &impl CameraModel),
        settings: &FilmSettings,
        pixels: &[(usize, usize)],
        (first, goal): (u32, u32),
        cancel_token: &impl CancelToken,
    ) -> bool {
        while self.count < goal {
            if cancel_token.pause() {
                return false;
            }
            let first = self.blocks.last().map_or(first, |block| block.range.end);
            // Aligned batches are whole blocks.
            let aligned = (first / CHUNK).saturating_add(1).saturating_mul(CHUNK);
            let end = first.saturating_add(goal - self.count).min(aligned);
            let range = SampleRange { first, end };
            let empty =
                |range| SampleBlock { range, sums: vec![PixelSums::default(); pixels.len()] };
            let mut added: Vec<_> = range.blocks().map(empty).collect();
            let mut dropped = self.non_finite_paths;
            let mut sampler = Sampler::new(settings.sampler, settings.seed, 0, 0, 0);
            let mut own: Vec<SampleBlock<[PixelSums; 1]>> = Vec::new();
            // Block by block: pixels of a block share much of their sample sequence.
            for block in 0..BLOCKS * BLOCKS {
                let inside = |x: usize, y: usize| {
                    (y >> BLOCK) % BLOCKS * BLOCKS + (x >> BLOCK) % BLOCKS == block
                };
                for (at, &(x, y)) in pixels.iter().enumerate().filter(|(_, (x, y))| inside(*x, *y))
                {
                    own.clear();
                    for index in first..end {
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
                        // A path of NaN or infinity counts as a black sample.
                        let sums = PixelSums::of_path(&parts, ray.weight);
                        dropped += u64::from(sums.is_none());
                        let sums = [sums.unwrap_or_default()];
                        append(&mut own, SampleBlock { range: SampleRange::one(index), sums });
                    }
                    for (block, own) in added.iter_mut().zip(&own) {
                        if let Some(sum) = block.sums.get_mut(at) {
                            [*sum] = own.sums;
                        }
                    }
                }
            }
            added.into_iter().for_each(|block| self.append(block));
            self.non_finite_paths = dropped;
        }
        true
    }
}

/// The pixels of a tile, in the order of its sums.
pub(super) fn pixels(
    tile: usize,
    across: usize,
    width: usize,
    height: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let (left, top) = (tile % across.max(1) * TILE, tile / across.max(1) * TILE);
    (top..(top + TILE).min(height))
        .flat_map(move |y| (left..(left + TILE).min(width)).map(move |x| (x, y)))
}
