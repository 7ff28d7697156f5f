//! Adaptive sampling: decides which tiles have enough samples.
//!
//! The error of a pixel is estimated from the two halves of its first 2^k samples (of a part of the
//! samples: of its greatest aligned block, `sample_blocks`). Each half is a
//! Sobol net by itself, and they complement each other. So half the difference of their means,
//! squared, is in expectation at least the squared error of the whole. For independent samples it
//! is equal. For points whose error falls as n^-3/4 (edges) its root is at most 1.4 times too
//! large. The variance of the samples would overestimate the error by far more.
//!
//! The difference of one pixel says little: it is often small by chance. So errors are means over
//! tiles of 256 pixels, and a tile stops only where its neighbors are also near the target: rare
//! bright paths in a corner of a tile mostly reach its neighbors too. Errors are tested from 64
//! samples on and only at powers of two, because each test is another chance to stop at a low
//! estimate.
//!
//! The bias of every such stopping rule remains: tiles that have missed rare bright paths stop
//! early and stay dark. Without a target error there is none.

use super::tile::Tile;

/// Samples per pixel before the first error test.
pub const MIN_SAMPLES: u32 = 64;

/// Minimum brightness of a tile in relative errors, as a fraction of the picture's mean luminance.
const MIN_BRIGHTNESS: f64 = 0.1;

/// Maximum root mean square of the relative errors of a tile and its neighbors, relative to the
/// target.
const NEIGHBORS: f64 = 2.0;

/// Mean over a tile's pixels of the squared error of their mean luminance (nits squared), estimated
/// from the halves of its greatest block of samples: at its last power of two, if the samples begin
/// with the first.
pub(super) fn mean_squared_error(tile: &Tile) -> f64 {
    if tile.count == 0 || tile.pixels == 0 {
        return 0.0;
    }
    // Further samples reduce it at least as independent ones do.
    let further = f64::from(tile.compared_samples()) / f64::from(tile.count);
    tile.totals().map(|sum| sum.half_difference * sum.half_difference).sum::<f64>()
        / tile.pixels as f64
        * further
}

/// Marks tiles that have reached the target at `count` samples, the count of all unfinished ones.
/// `mean` is the picture's mean luminance (nits).
pub(super) fn mark_converged(
    tiles: &mut [Tile],
    across: usize,
    count: u32,
    target: f64,
    mean: f64,
) {
    let squared = |tile: &Tile| {
        let against = tile.mean_luminance().max(MIN_BRIGHTNESS * mean);
        let error = mean_squared_error(tile);
        // A black picture has no error.
        if error > 0.0 { error / (against * against) } else { 0.0 }
    };
    let errors: Vec<f64> = tiles.iter().map(squared).collect();
    let down = tiles.len() / across.max(1);
    for (number, tile) in
        tiles.iter_mut().enumerate().filter(|(_, tile)| !tile.converged && tile.count == count)
    {
        let (x, y) = (number % across, number / across);
        let (mut sum, mut met) = (0.0, 0.0);
        for y in y.saturating_sub(1)..(y + 2).min(down) {
            for x in x.saturating_sub(1)..(x + 2).min(across) {
                sum += errors[y * across + x];
                met += 1.0;
            }
        }
        tile.converged =
            errors[number] <= target * target && sum / met <= (NEIGHBORS * target).powi(2);
    }
}
