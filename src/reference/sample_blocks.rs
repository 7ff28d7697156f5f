//! Sums over the samples of pixels, added in an order that does not depend on how the samples are
//! split.
//!
//! Floating-point addition is not associative, so the order is fixed: samples [k 2^n, (k + 1) 2^n)
//! of a pixel form a block, whose sums are those of its first half plus those of its second. This
//! is pairwise summation (Higham, "The Accuracy of Floating Point Summation", SIAM J. Sci. Comput.
//! 14(4), 1993), whose rounding error grows with the logarithm of the number of samples. A range of
//! samples is kept as its greatest blocks; those of adjacent ranges join to the blocks of the
//! whole, bit for bit.

use glam::DVec3;

use super::{
    light_components::{LIGHT_COMPONENTS, LightComponents},
    sample_range::SampleRange,
};
use crate::photometry::color::luminance;

/// Sums over a block of samples of one pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PixelSums {
    /// Light by component (nits per channel), and unlit color.
    pub parts: LightComponents,
    /// Luminance (nits).
    pub luminance: f64,
    /// Squared luminance (nits squared).
    pub squares: f64,
    /// Half the difference between the means of the block's two halves (`adaptive`); 0 with one
    /// sample.
    pub half_difference: f64,
}

/// Numbers per pixel and block.
pub(super) const NUMBERS: usize = LIGHT_COMPONENTS * 3 + 6;

impl PixelSums {
    /// Variance of the mean luminance, as for independent samples (nits squared).
    pub(super) fn variance(&self, count: u32) -> f64 {
        let n = f64::from(count.max(2));
        let mean = self.luminance / n;
        ((self.squares / n - mean * mean) / (n - 1.0)).max(0.0)
    }

    /// The sums of one path. `None` if its light is NaN or infinite, which would spoil the pixel.
    pub(super) fn of_path(parts: &LightComponents, weight: DVec3) -> Option<Self> {
        let (total, unlit) = (parts.total() * weight, parts.unlit * weight);
        if !(total.is_finite() && unlit.is_finite()) {
            return None;
        }
        let l = luminance(total);
        let weighted = parts.to_array().map(|part| part * weight);
        Some(Self {
            parts: LightComponents { unlit, ..LightComponents::from_array(weighted) },
            luminance: l,
            squares: l * l,
            half_difference: 0.0,
        })
    }

    /// Adds the sums of later samples.
    fn add(&mut self, later: &Self) {
        let (own, more) = (self.parts.to_array(), later.parts.to_array());
        let sums = std::array::from_fn(|at| own[at] + more[at]);
        self.parts = LightComponents {
            unlit: self.parts.unlit + later.parts.unlit,
            ..LightComponents::from_array(sums)
        };
        self.luminance += later.luminance;
        self.squares += later.squares;
    }

    pub(super) fn numbers(&self) -> [f64; NUMBERS] {
        let mut out = [0.0; NUMBERS];
        for (slot, part) in out.chunks_exact_mut(3).zip(self.parts.to_array()) {
            slot.copy_from_slice(&part.to_array());
        }
        let [r, g, b] = self.parts.unlit.to_array();
        let rest = [r, g, b, self.luminance, self.squares, self.half_difference];
        out[LIGHT_COMPONENTS * 3..].copy_from_slice(&rest);
        out
    }

    pub(super) fn from_numbers(numbers: &[f64; NUMBERS]) -> Self {
        let at = |i: usize| DVec3::new(numbers[i * 3], numbers[i * 3 + 1], numbers[i * 3 + 2]);
        let parts = LightComponents::from_array(std::array::from_fn(at));
        let [luminance, squares, half_difference] =
            std::array::from_fn(|i| numbers[LIGHT_COMPONENTS * 3 + 3 + i]);
        Self {
            parts: LightComponents { unlit: at(LIGHT_COMPONENTS), ..parts },
            luminance,
            squares,
            half_difference,
        }
    }
}

/// A block of samples with the sums of some pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SampleBlock<S> {
    pub range: SampleRange,
    pub sums: S,
}

/// Appends a block of later samples, and joins pairs of blocks.
pub(super) fn append<S: AsRef<[PixelSums]> + AsMut<[PixelSums]>>(
    blocks: &mut Vec<SampleBlock<S>>,
    mut block: SampleBlock<S>,
) {
    while let Some(mut left) = blocks.pop_if(|left| left.range.is_paired_with(block.range)) {
        left.range.end = block.range.end;
        let count = f64::from(left.range.count());
        for (sum, later) in left.sums.as_mut().iter_mut().zip(block.sums.as_ref()) {
            sum.half_difference = (sum.luminance - later.luminance) / count;
            sum.add(later);
        }
        block = left;
    }
    blocks.push(block);
}

/// The first of the greatest blocks: its two halves give the estimate of the error.
pub(super) fn greatest<S>(blocks: &[SampleBlock<S>]) -> Option<&SampleBlock<S>> {
    blocks.iter().rev().max_by_key(|block| block.range.count())
}

/// The sums of pixel number `at` over all blocks; the half difference is that of the greatest.
pub(super) fn total(blocks: &[SampleBlock<Vec<PixelSums>>], at: usize) -> PixelSums {
    let mut sums = blocks.iter().filter_map(|block| block.sums.get(at));
    let mut total = sums.next().copied().unwrap_or_default();
    sums.for_each(|later| total.add(later));
    let halves = greatest(blocks).and_then(|block| block.sums.get(at));
    total.half_difference = halves.map_or(0.0, |sum| sum.half_difference);
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(number: u32) -> SampleBlock<[PixelSums; 1]> {
        // Values whose sum depends on the order.
        let light = DVec3::new(0.1, 1.0 / 3.0, 1e9 / f64::from(number + 3));
        let parts = LightComponents { emission: light, unlit: light, ..LightComponents::default() };
        let sums = PixelSums::of_path(&parts, DVec3::ONE).unwrap();
        SampleBlock { range: SampleRange::one(number), sums: [sums] }
    }

    fn blocks(range: std::ops::Range<u32>) -> Vec<SampleBlock<[PixelSums; 1]>> {
        let mut out = Vec::new();
        range.for_each(|number| append(&mut out, leaf(number)));
        out
    }

    #[test]
    fn blocks_do_not_depend_on_the_split() {
        for end in [1, 7, 64, 100] {
            let whole = blocks(0..end);
            let ranges: Vec<SampleRange> = whole.iter().map(|block| block.range).collect();
            let expected: Vec<_> = SampleRange { first: 0, end }.blocks().collect();
            assert_eq!(ranges, expected);
            for cut in 0..end {
                let mut joined = blocks(0..cut);
                blocks(cut..end).into_iter().for_each(|block| append(&mut joined, block));
                assert_eq!(joined, whole, "{end} cut at {cut}");
            }
        }
        let sequential: f64 = blocks(0..1)[0].sums[0].luminance
            + (1..64).map(|n| leaf(n).sums[0].luminance).sum::<f64>();
        let pairwise = blocks(0..64)[0].sums[0].luminance;
        assert!((pairwise / sequential - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_half_difference_is_that_of_the_greatest_block() {
        let made = blocks(0..4);
        let mean =
            |from: u32| (leaf(from).sums[0].luminance + leaf(from + 1).sums[0].luminance) / 2.0;
        let half = (mean(0) - mean(2)) / 2.0;
        assert!((made[0].sums[0].half_difference / half - 1.0).abs() < 1e-12);
        assert_eq!(blocks(0..1)[0].sums[0].half_difference, 0.0);
        assert_eq!(greatest(&blocks(3..12)).unwrap().range, SampleRange { first: 4, end: 8 });
        let vectors: Vec<_> = blocks(0..6)
            .into_iter()
            .map(|block| SampleBlock { range: block.range, sums: block.sums.to_vec() })
            .collect();
        let all = total(&vectors, 0);
        assert_eq!(all.half_difference, made[0].sums[0].half_difference);
        assert_eq!(all.luminance, vectors[0].sums[0].luminance + vectors[1].sums[0].luminance);
        assert_eq!(total(&[], 0), PixelSums::default());
    }

    #[test]
    fn numbers_hold_all_sums() {
        let sums = blocks(0..2)[0].sums[0];
        assert_eq!(PixelSums::from_numbers(&sums.numbers()), sums);
        let bad = LightComponents { emission: DVec3::NAN, ..LightComponents::default() };
        assert_eq!(PixelSums::of_path(&bad, DVec3::ONE), None);
    }
}
