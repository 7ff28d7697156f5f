//! Sample sequence of photons: Owen-scrambled Sobol points, whose prefixes of any length are well
//! distributed.
//!
//! Scrambled by hashing and padded: Burley, "Practical Hash-based Owen Scrambling" (JCGT 9(4),
//! 2020). A photon's numbers depend only on its light and its index: it takes the same path in
//! every frame, and more photons extend the existing ones.

use crate::sobol::{DIMENSIONS, DIRECTIONS, laine_karras};

fn sobol(index: u32, dimension: usize) -> u32 {
    let mut rest = index;
    let mut value = 0;
    while rest != 0 {
        value ^= DIRECTIONS[dimension][rest.trailing_zeros() as usize];
        rest &= rest - 1;
    }
    value
}

/// Hash of a word: the finalizer of MurmurHash3 (Appleby 2011).
pub(super) fn mixed(word: u32) -> u32 {
    let mut z = word;
    z = (z ^ z >> 16).wrapping_mul(0x85eb_ca6b);
    z = (z ^ z >> 13).wrapping_mul(0xc2b2_ae35);
    z ^ z >> 16
}

/// Hash of two words.
pub(super) fn joined(a: u32, b: u32) -> u32 {
    mixed(a.wrapping_mul(0x9e37_79b9) ^ mixed(b.wrapping_add(0x7f4a_7c15)))
}

/// Owen's nested scramble of a binary fraction: a hash of the preceding digits decides whether each
/// digit is flipped.
fn scrambled(value: u32, seed: u32) -> u32 {
    laine_karras(value.reverse_bits(), seed).reverse_bits()
}

/// The sample sequence of one light's photons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    seed: u32,
}

impl Sequence {
    /// The sequence of a light, by its seed.
    pub fn new(seed: u32) -> Self {
        Self { seed: mixed(seed ^ 0x51ed_270b) }
    }

    /// The first `N` dimensions of a group, each strictly between 0 and 1. Points of one group are
    /// jointly stratified; those of different groups are independent.
    pub fn point<const N: usize>(self, group: u32, photon: u32) -> [f64; N] {
        let of_group = joined(self.seed, group);
        // The photon order differs from group to group; aligned blocks of a power of two stay
        // together.
        let index = if group == 0 { photon } else { scrambled(photon, mixed(of_group)) };
        std::array::from_fn(|dimension| {
            let seed = joined(of_group, dimension as u32 + 1);
            (f64::from(scrambled(sobol(index, dimension % DIMENSIONS), seed)) + 0.5)
                / 4_294_967_296.0
        })
    }

    /// An independent number, for a choice that few photons make.
    pub fn single(self, photon: u32, choice: u32) -> f64 {
        (f64::from(joined(joined(self.seed, photon), choice ^ 0xa511_e9b3)) + 0.5) / 4_294_967_296.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each dimension has one point in each of `n` equal parts, and the first two have one in each
    /// elementary box.
    #[test]
    fn points_are_stratified() {
        for seed in 0..8 {
            let sequence = Sequence::new(seed);
            for group in 0..3 {
                for bits in [4, 8] {
                    let n = 1u32 << bits;
                    let points: Vec<[f64; 5]> = (0..n).map(|i| sequence.point(group, i)).collect();
                    for dimension in 0..5 {
                        let mut seen = vec![false; n as usize];
                        for point in &points {
                            let slot = (point[dimension] * f64::from(n)) as usize;
                            assert!(
                                !std::mem::replace(&mut seen[slot], true),
                                "{seed} {group} {dimension}"
                            );
                        }
                    }
                    for split in 0..=bits {
                        let mut seen = vec![false; n as usize];
                        for point in &points {
                            let (x, y) = (f64::from(1 << split), f64::from(1 << (bits - split)));
                            let slot = (point[0] * x) as usize * (1 << (bits - split))
                                + (point[1] * y) as usize;
                            assert!(
                                !std::mem::replace(&mut seen[slot], true),
                                "{seed} {group} split {split}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// For a smooth function of four dimensions, 1024 points estimate the integral a hundred times
    /// better than independent ones.
    #[test]
    fn four_dimensions_together() {
        let value = |p: &[f64; 5]| p[..4].iter().map(|x| 1.0 + (x - 0.5)).product::<f64>();
        let mut sum = 0.0;
        for seed in 0..16 {
            let sequence = Sequence::new(100 + seed);
            let mean = (0..1024).map(|i| value(&sequence.point(0, i))).sum::<f64>() / 1024.0;
            sum += (mean - 1.0).powi(2);
        }
        let error = (sum / 16.0).sqrt();
        // Independent samples: the deviation is 0.6 / 32 = 0.02.
        assert!(error < 1e-3, "{error}");
    }
}
