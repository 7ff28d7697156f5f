//! Tiles of a film: the sums over the samples of their pixels.

use glam::{DVec2, DVec3};

use super::{
    camera::CameraModel,
    cancel_token::CancelToken,
    film_settings::FilmSettings,
    light_components::LightComponents,
    sampler::{BLOCK, Sampler},
    world::World,
};
use crate::photometry::color::luminance;

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

impl Tile {
    pub(super) fn advance(
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
    pub(super) fn variance(&self, count: u32) -> f64 {
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
