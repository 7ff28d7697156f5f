//! Which tiles have enough samples.
//!
//! The error of a pixel is told from the two halves of its first 2^k samples. Each half is a Sobol
//! net by itself, and they complement each other, so that half the difference of their means,
//! squared, is at least the squared error of the whole in expectation: for independent samples it
//! is just that; for points whose error falls as n^-3/4 (edges) it is 1.4 times as much in the root
//! or less. The variance of the samples would overrate it by far more.
//!
//! One pixel's difference says little: it is small by chance as often as not. So errors are means
//! over tiles of 256 pixels, and a tile stops only where its neighbours are not far from the target
//! either; what shines into a corner of it seldom and strongly mostly shines into theirs too.
//! Errors are looked at from 64 samples on and only at powers of two, because each look is another
//! chance to stop for a lucky reading.
//!
//! What remains is the bias of every rule that stops where the error seems small: tiles that have
//! missed rare bright paths stop early and stay dark. Without a target error there is none.

use super::film::Tile;

/// Samples a pixel before the first look.
pub const FIRST_LOOK: u32 = 64;

/// Where a tile is darker than this part of the picture's mean, its error counts as though it were
/// that bright.
pub const LEAST_BRIGHTNESS: f64 = 0.1;

/// How much greater than the target the root mean square of the relative errors of a tile and its
/// neighbours may be.
const NEIGHBOURS: f64 = 2.0;

/// Mean over a tile's pixels of the squared error of their mean luminance (nits squared), from its
/// last power of two of samples on.
pub(super) fn mean_squared_error(tile: &Tile) -> f64 {
    if tile.count == 0 || tile.sums.is_empty() {
        return 0.0;
    }
    // Samples since then lower it at least as independent ones do.
    let last = 1u32 << tile.count.ilog2();
    let since = f64::from(last) / f64::from(tile.count);
    tile.sums.iter().map(|sum| sum.half_difference * sum.half_difference).sum::<f64>()
        / tile.sums.len() as f64
        * since
}

/// Marks tiles that have reached the target at `count` samples, which all that are not done have.
/// `mean` is the picture's mean luminance (nits).
pub(super) fn look(tiles: &mut [Tile], across: usize, count: u32, target: f64, mean: f64) {
    let squared = |tile: &Tile| {
        let own: f64 = tile.sums.iter().map(|sum| sum.luminance).sum();
        let brightness = own / f64::from(tile.count.max(1)) / tile.sums.len().max(1) as f64;
        let against = brightness.max(LEAST_BRIGHTNESS * mean);
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
            errors[number] <= target * target && sum / met <= (NEIGHBOURS * target).powi(2);
    }
}
