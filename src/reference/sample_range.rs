//! Ranges of a pixel's samples, by their numbers in its sample sequence.

use std::fmt;

/// Consecutive samples of each pixel of a film: their numbers in the sample sequence, from 0. The
/// range is half-open; its text names the first and the last sample, as in `32-63`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleRange {
    /// Number of the first sample.
    pub first: u32,
    /// Number after that of the last sample.
    pub end: u32,
}

impl SampleRange {
    /// The range of one sample.
    #[must_use]
    pub(super) const fn one(number: u32) -> Self {
        Self { first: number, end: number.saturating_add(1) }
    }

    /// Number of samples.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.end.saturating_sub(self.first)
    }

    /// True without samples.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count() == 0
    }

    /// True if both ranges have a sample in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.first.max(other.first) < self.end.min(other.end)
    }

    /// The greatest aligned blocks of the range in order: each has 2^n samples, and its first
    /// number is a multiple of 2^n.
    pub fn blocks(self) -> impl Iterator<Item = Self> {
        let mut first = u64::from(self.first);
        std::iter::from_fn(move || {
            let rest = u64::from(self.end).checked_sub(first).filter(|rest| *rest > 0)?;
            let aligned = if first == 0 { rest } else { 1 << first.trailing_zeros() };
            let count = (1u64 << rest.ilog2()).min(aligned);
            let count = 1u64 << count.ilog2();
            let block = Self { first: first as u32, end: (first + count) as u32 };
            first += count;
            Some(block)
        })
    }

    /// True if `self` and the next range are the two halves of an aligned block.
    pub(super) fn is_paired_with(self, next: Self) -> bool {
        let count = u64::from(self.count());
        self.end == next.first
            && self.count() == next.count()
            && count.is_power_of_two()
            && u64::from(self.first).is_multiple_of(2 * count)
    }
}

impl fmt::Display for SampleRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.end.saturating_sub(1))
    }
}

/// The parts of `whole` that no range covers, in order; the ranges are sorted.
#[must_use]
pub fn missing_samples(ranges: &[SampleRange], whole: SampleRange) -> Vec<SampleRange> {
    let ends = ranges.iter().map(|range| (range.first, range.end)).chain([(whole.end, whole.end)]);
    let mut next = whole.first;
    let mut missing = Vec::new();
    for (first, end) in ends {
        if first > next {
            missing.push(SampleRange { first: next, end: first.min(whole.end) });
        }
        next = next.max(end);
    }
    missing.retain(|range| !range.is_empty());
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u32, end: u32) -> SampleRange {
        SampleRange { first, end }
    }

    #[test]
    fn a_range_is_cut_into_aligned_blocks() {
        let text = |first, end| {
            range(first, end).blocks().map(|block| block.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(0, 256), "0-255");
        assert_eq!(text(0, 7), "0-3 4-5 6-6");
        assert_eq!(text(3, 21), "3-3 4-7 8-15 16-19 20-20");
        assert_eq!(text(32, 64), "32-63");
        assert_eq!(text(32, 96), "32-63 64-95");
        assert_eq!(text(5, 5), "");
        for (first, end) in [(0, 1000), (17, 999), (1 << 20, 1 << 24)] {
            let mut next = first;
            for block in range(first, end).blocks() {
                assert_eq!(block.first, next);
                assert!(block.count().is_power_of_two() && block.first % block.count() == 0);
                next = block.end;
            }
            assert_eq!(next, end);
        }
        assert!(range(32, 48).is_paired_with(range(48, 64)));
        assert!(!range(16, 32).is_paired_with(range(32, 48)), "they are no halves of one block");
        assert!(!range(0, 16).is_paired_with(range(17, 33)));
    }

    #[test]
    fn missing_samples_are_named() {
        let whole = range(0, 64);
        let missing = |ranges: &[SampleRange]| missing_samples(ranges, whole);
        assert_eq!(missing(&[]), [whole]);
        assert_eq!(missing(&[range(0, 32), range(32, 64)]), []);
        assert_eq!(
            missing(&[range(8, 16), range(24, 32)]),
            [range(0, 8), range(16, 24), range(32, 64)]
        );
        assert_eq!(missing(&[range(0, 128)]), []);
        assert!(range(0, 8).overlaps(range(7, 9)) && !range(0, 8).overlaps(range(8, 9)));
    }
}
