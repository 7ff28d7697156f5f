//! Sample sequences in [0, 1) for the integrator: Owen-scrambled Sobol points whose error is
//! distributed over the picture as blue noise, or independent numbers as their control.
//!
//! Burley, "Practical Hash-based Owen Scrambling" (JCGT 9(4), 2020): each group of four dimensions
//! takes the Sobol points in its own order (a scrambled index), and each dimension is scrambled
//! independently.
//!
//! The pixels of a block of 8x8 share order and scramble, and each applies its own digital shift,
//! so that the points of neighbors complement each other. The idea is that of Ahmed and Wonka,
//! "Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling Error via Hierarchical Ordering of
//! Pixels" (SIGGRAPH Asia 2020). Theirs cuts one sequence into the pixels' parts, whose length must
//! be known in advance. Here the shifts work at every power of two of samples. For a pair of
//! dimensions, the first 2^j points of all pixels of each aligned square of 2x2, 4x4 or 8x8
//! together are stratified as finely as a (0, m, 2)-net (`SHIFTS`). A pixel by itself has the same
//! Owen-scrambled points as with its own seed: its estimate has the same mean and the same
//! variance.

use glam::DVec2;

use crate::sobol::{DIRECTIONS, laine_karras};

/// Type of the sample sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerKind {
    /// Owen-scrambled Sobol points.
    #[default]
    Sobol,
    /// Independent random numbers.
    Independent,
}

/// Increment of the generator of independent numbers: Steele, Lea and Flood 2014, section 4, the
/// golden ratio's odd integer.
const INDEPENDENT_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Pairs of dimensions that are cached from sample to sample; paths seldom need more.
const REMEMBERED: usize = 64;

/// The numbers of one path, that is of one sample of one pixel. It caches data shared by the
/// pixel's samples and by the pixels of its block; the results do not depend on the order of
/// samples.
#[derive(Clone, Debug)]
pub struct Sampler {
    kind: SamplerKind,
    seeded: u64,
    /// Hash of the pixel's block.
    block: u64,
    /// Hash of the pixel.
    pixel: u64,
    /// Pixel coordinates.
    at: [u32; 2],
    /// Sample index with reversed bits.
    reversed: u32,
    dimension: u32,
    /// State of the independent generator.
    state: u64,
    /// Group and pair of the next two dimensions.
    pair: u32,
    current: Pair,
    /// Index in the order of the group, with reversed bits.
    ordered: u32,
    /// Cached pairs: data shared by all pixels of the block, and data of this one.
    shared: Vec<Shared>,
    own: Vec<Pair>,
}

/// A pair of dimensions, as shared by a block of pixels.
#[derive(Clone, Debug)]
struct Shared {
    /// Seed of the order of the pair's group.
    order: u32,
    /// Seeds of the scrambles.
    seeds: [u32; 2],
    /// Shift indices of the pixels, row by row.
    codes: [u8; 64],
}

/// A pair of dimensions of a pixel.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    order: u32,
    seeds: [u32; 2],
    /// The pixel's shifts, with reversed bits.
    shifts: [u32; 2],
}

/// Tables of Sobol points by the bytes of the index: the points of each byte's 256 values, for four
/// dimensions. Index and point have reversed bits, as the scrambles before and after require.
static BYTES: [[[u32; 256]; 4]; 4] = bytes();

const fn bytes() -> [[[u32; 256]; 4]; 4] {
    let mut out = [[[0; 256]; 4]; 4];
    let mut d = 0;
    while d < 4 {
        let mut byte = 0;
        while byte < 4 {
            let mut value = 1;
            while value < 256usize {
                // The point of the value without its highest bit, combined with that bit's
                // direction.
                let high = value.ilog2() as usize;
                let direction = DIRECTIONS[d][31 - (byte * 8 + high)];
                out[d][byte][value] = out[d][byte][value ^ (1 << high)] ^ direction.reverse_bits();
                value += 1;
            }
            byte += 1;
        }
        d += 1;
    }
    out
}

/// The Sobol point of an index, both with reversed bits.
fn sobol(reversed: u32, dimension: usize) -> u32 {
    let [a, b, c, d] = reversed.to_le_bytes().map(usize::from);
    let table = &BYTES[dimension % 4];
    table[0][a] ^ table[1][b] ^ table[2][c] ^ table[3][d]
}

/// The first 16 digits of the pixels' shifts in each dimension, as rows of a matrix over GF(2): a
/// digit is the parity of the bits of the pixel's shift index that the row selects.
///
/// The index's six bits are those of the Morton code, finest first. The matrices were found by
/// simulated annealing over the bits of a pair's matrices. Its cost counts the elementary intervals
/// that lack or repeat a point, for 2^0 to 2^10 samples and 2^1 to 2^6 pixels. The first pair has
/// no such defects for 4, 16 and 64 pixels. Some remain for 2, 8 and 32, and for the second pair,
/// whose Sobol points are no such net by themselves.
const SHIFTS: [[u8; 16]; 4] = [
    [21, 34, 63, 49, 58, 51, 53, 18, 47, 17, 10, 35, 54, 20, 59, 16],
    [46, 33, 39, 18, 57, 19, 14, 49, 23, 50, 41, 35, 13, 43, 29, 28],
    [51, 57, 54, 61, 31, 42, 17, 55, 5, 27, 57, 47, 4, 55, 30, 38],
    [61, 38, 19, 1, 62, 43, 41, 54, 45, 7, 37, 43, 31, 41, 38, 33],
];

/// The shifts of all 64 indices.
static SHIFT_OF: [[u32; 64]; 4] = shifts();

const fn shifts() -> [[u32; 64]; 4] {
    let mut out = [[0; 64]; 4];
    let mut d = 0;
    while d < 4 {
        let mut code = 0;
        while code < 64 {
            let mut row = 0;
            while row < 16 {
                let digit = (SHIFTS[d][row] as u32 & code as u32).count_ones() & 1;
                out[d][code] |= digit << (31 - row);
                row += 1;
            }
            code += 1;
        }
        d += 1;
    }
    out
}

/// Side of a block in pixels, as a power of two.
pub(super) const BLOCK: u32 = 3;
const SIDE: usize = 1 << BLOCK;

/// Hash of two words.
fn mix(a: u64, b: u64) -> u64 {
    // Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014), figure 13:
    // the finalizer.
    let mut z =
        a.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Sampler {
    /// The sequence of sample `index` of the pixel (x, y).
    #[must_use]
    pub fn new(kind: SamplerKind, seed: u32, x: u32, y: u32, index: u32) -> Self {
        let seeded = mix(0x5000, u64::from(seed));
        let mut sampler = Self {
            kind,
            seeded,
            block: block_of(seeded, x, y),
            pixel: pixel_of(seeded, x, y),
            at: [x, y],
            reversed: 0,
            dimension: 0,
            state: 0,
            pair: u32::MAX,
            current: Pair::default(),
            ordered: 0,
            shared: Vec::new(),
            own: Vec::new(),
        };
        sampler.begin(x, y, index);
        sampler
    }

    /// Restarts for sample `index` of the pixel (x, y). The numbers are those of a new sampler, but
    /// faster for the same pixel or block of 8x8 as before.
    pub fn begin(&mut self, x: u32, y: u32, index: u32) {
        if self.at != [x, y] {
            if self.at.map(|side| side >> BLOCK) != [x, y].map(|side| side >> BLOCK) {
                self.block = block_of(self.seeded, x, y);
                self.shared.clear();
            }
            self.pixel = pixel_of(self.seeded, x, y);
            self.at = [x, y];
            self.own.clear();
        }
        self.reversed = index.reverse_bits();
        self.dimension = 0;
        self.pair = u32::MAX;
        if self.kind == SamplerKind::Independent {
            self.state = mix(self.pixel, u64::from(index));
        }
    }

    /// The next number, in [0, 1).
    pub fn next_1d(&mut self) -> f64 {
        let dimension = self.dimension;
        self.dimension += 1;
        let bits = match self.kind {
            SamplerKind::Sobol => self.point(dimension),
            SamplerKind::Independent => {
                self.state = self.state.wrapping_add(INDEPENDENT_STEP);
                mix(self.pixel, self.state) as u32
            }
        };
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    }

    /// Skips the next number and returns 0; the numbers after it are unchanged.
    pub fn skip_1d(&mut self) -> f64 {
        self.dimension += 1;
        if self.kind == SamplerKind::Independent {
            self.state = self.state.wrapping_add(INDEPENDENT_STEP);
        }
        0.0
    }

    /// The next two numbers, of one pair of dimensions, so that they are jointly stratified.
    pub fn next_2d(&mut self) -> DVec2 {
        self.dimension += self.dimension % 2;
        let x = self.next_1d();
        DVec2::new(x, self.next_1d())
    }

    fn point(&mut self, dimension: u32) -> u32 {
        if self.pair != dimension / 2 {
            self.pair = dimension / 2;
            self.current = self.remembered(self.pair);
            // Both pairs of a group share its order.
            self.ordered = laine_karras(self.reversed, self.current.order);
        }
        let (group, side) = ((dimension % 4) as usize, (dimension % 2) as usize);
        let shifted = sobol(self.ordered, group) ^ self.current.shifts[side];
        laine_karras(shifted, self.current.seeds[side]).reverse_bits()
    }

    /// A cached pair; computes it and the skipped ones before it if needed.
    fn remembered(&mut self, pair: u32) -> Pair {
        let index = pair as usize;
        if index >= REMEMBERED {
            return self.own(pair, &self.shared(pair));
        }
        while self.own.len() <= index {
            let next = self.own.len();
            if self.shared.len() <= next {
                self.shared.push(self.shared(next as u32));
            }
            let own = self.shared.get(next).map(|shared| self.own(next as u32, shared));
            self.own.push(own.unwrap_or_default());
        }
        self.own.get(index).copied().unwrap_or_default()
    }

    fn shared(&self, pair: u32) -> Shared {
        let (group, first) = (u64::from(pair / 2), u64::from(pair) * 2);
        let seed = |dimension: u64| mix(self.block, dimension << 8 | 3) as u32;
        Shared {
            order: mix(self.block, group << 8 | 1) as u32,
            seeds: [seed(first), seed(first + 1)],
            codes: self.codes(pair),
        }
    }

    fn own(&self, pair: u32, shared: &Shared) -> Pair {
        let [x, y] = self.at.map(|side| side as usize & (SIDE - 1));
        let code = usize::from(shared.codes[y << BLOCK | x]);
        let shift = |side: u32| {
            let dimension = pair * 2 + side;
            // The shift's lower digits are independent: from 2^16 samples on the error is white
            // noise.
            let below = mix(self.pixel, u64::from(dimension) << 8 | 2) as u32 >> 16;
            (SHIFT_OF[(dimension % 4) as usize][code & 63] | below).reverse_bits()
        };
        Pair { order: shared.order, seeds: shared.seeds, shifts: [shift(0), shift(1)] }
    }

    /// Shift indices of the pixels in their block: Morton codes with the four quarters of each
    /// square shuffled independently, as in Ahmed and Wonka 2020, section 4.
    fn codes(&self, pair: u32) -> [u8; 64] {
        let mut codes = [0; 64];
        for level in 0..BLOCK {
            let squares = SIDE as u64 >> level >> 1;
            for (above, left) in
                (0..squares).flat_map(|above| (0..squares).map(move |left| (above, left)))
            {
                let square = left << 8 | above << 4 | u64::from(level);
                let order = shuffled(mix(self.block, u64::from(pair) << 32 | square << 8 | 4));
                let width = 2usize << level;
                for place in 0..width * width {
                    let (x, y) = (place % width, place / width);
                    let quarter = (x >> level & 1) | (y >> level & 1) << 1;
                    let pixel = (above as usize * width + y) << BLOCK | (left as usize * width + x);
                    codes[pixel & 63] |= order[quarter] << (2 * level);
                }
            }
        }
        codes
    }
}

fn block_of(seeded: u64, x: u32, y: u32) -> u64 {
    mix(seeded, u64::from(x >> BLOCK) << 32 | u64::from(y >> BLOCK))
}

fn pixel_of(seeded: u64, x: u32, y: u32) -> u64 {
    mix(!seeded, u64::from(x) << 32 | u64::from(y))
}

/// One of the 24 permutations of four.
fn shuffled(order: u64) -> [u8; 4] {
    let mut places = [0, 1, 2, 3];
    let mut left = order % 24;
    for i in (1..4u64).rev() {
        places.swap(i as usize, (left % (i + 1)) as usize);
        left /= i + 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_elementary_interval_has_one_point() {
        // A (0, 4, 2)-net in base 2, which Owen's scramble preserves.
        for seed in 0..20 {
            let points: Vec<DVec2> = (0..16)
                .map(|i| Sampler::new(SamplerKind::Sobol, seed, 3, 5, i).next_2d())
                .collect();
            for log in 0..=4u32 {
                let (across, down) = (1 << log, 16 >> log);
                let mut met = [false; 16];
                for p in &points {
                    let cell = (p.x * f64::from(across)) as usize
                        + (p.y * f64::from(down)) as usize * across as usize;
                    assert!(!met[cell], "{points:?}");
                    met[cell] = true;
                }
            }
        }
    }

    #[test]
    fn skipped_dimensions_change_no_later_sample() {
        for kind in [SamplerKind::Sobol, SamplerKind::Independent] {
            let mut kept = Sampler::new(kind, 4, 0, 0, 0);
            // Pixels of one block and of the next; the skipped numbers differ from sample to
            // sample.
            for (x, index) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (9, 0), (9, 1), (8, 0)] {
                for pattern in [0u64, 0x0f0f_3c3c, 0xffff_fff0, 0xaaaa_aaaa, 0xffff_ffff_ffff_0000]
                {
                    kept.begin(x, 2, index);
                    let mut fresh = Sampler::new(kind, 4, x, 2, index);
                    for number in 0..60 {
                        let expected = fresh.next_1d();
                        if pattern >> number & 1 == 1 {
                            kept.skip_1d();
                        } else {
                            assert_eq!(
                                kept.next_1d(),
                                expected,
                                "{kind:?} {x} {index} {pattern:x} {number}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn means_and_correlations_are_those_of_even_numbers() {
        for kind in [SamplerKind::Sobol, SamplerKind::Independent] {
            let count = 4096;
            let (mut sums, mut products) = ([0.0; 12], 0.0);
            for i in 0..count {
                let mut sampler = Sampler::new(kind, 1, 7, 9, i);
                let values: [f64; 12] = std::array::from_fn(|_| sampler.next_1d());
                assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
                for (sum, v) in sums.iter_mut().zip(values) {
                    *sum += v;
                }
                products += (values[1] - 0.5) * (values[9] - 0.5);
            }
            for sum in sums {
                assert!((sum / f64::from(count) - 0.5).abs() < 0.02, "{kind:?} {sum}");
            }
            assert!((products / f64::from(count)).abs() < 5e-3, "{kind:?} {products}");
        }
    }

    #[test]
    fn sobol_integrates_a_smooth_function_better_than_independent_numbers() {
        let error = |kind| {
            let mut squares = 0.0;
            for pixel in 0..64 {
                let sum: f64 = (0..256)
                    .map(|i| {
                        let p = Sampler::new(kind, 0, pixel, 0, i).next_2d();
                        (p.x * 3.0).sin() * p.y * p.y
                    })
                    .sum();
                let exact = (1.0 - 3f64.cos()) / 9.0;
                squares += (sum / 256.0 - exact).powi(2);
            }
            (squares / 64.0).sqrt()
        };
        assert!(error(SamplerKind::Sobol) * 8.0 < error(SamplerKind::Independent));
    }

    /// Number of elementary intervals of `all` points that hold none or several.
    fn defects(points: &[DVec2]) -> usize {
        let log = points.len().ilog2();
        (0..=log)
            .map(|across| {
                let mut counts = vec![0; points.len()];
                for p in points {
                    let x = (p.x * f64::from(1 << across)) as usize;
                    let y = (p.y * f64::from(1 << (log - across))) as usize;
                    counts[y << across | x] += 1;
                }
                counts.iter().filter(|count| **count != 1).count()
            })
            .sum()
    }

    #[test]
    fn pixels_of_a_square_complement_each_other() {
        for seed in 0..3 {
            for (side, samples) in
                [(2, 1), (2, 4), (2, 8), (4, 1), (4, 2), (4, 16), (8, 1), (8, 4), (8, 32)]
            {
                for (left, top) in [(0, 0), (8, 16), (72, 8)] {
                    let mut points = Vec::new();
                    for (y, x) in
                        (top..top + side).flat_map(|y| (left..left + side).map(move |x| (y, x)))
                    {
                        points
                            .extend((0..samples).map(|i| {
                                Sampler::new(SamplerKind::Sobol, seed, x, y, i).next_2d()
                            }));
                    }
                    assert_eq!(defects(&points), 0, "{side}x{side} pixels of {samples} samples");
                }
            }
        }
    }

    /// Errors of 64x64 pixels after a number of samples. `apart` puts each pixel into its own
    /// block, as if pixels were independent.
    fn errors(
        f: fn(DVec2, DVec2) -> f64,
        exact: f64,
        samples: u32,
        apart: u32,
        seed: u32,
    ) -> Vec<f64> {
        (0..64 * 64)
            .map(|pixel| {
                let (x, y) = (pixel % 64, pixel / 64);
                let sum: f64 = (0..samples)
                    .map(|i| {
                        let mut sampler =
                            Sampler::new(SamplerKind::Sobol, seed, x * apart, y * apart, i);
                        f(sampler.next_2d(), sampler.next_2d())
                    })
                    .sum();
                sum / f64::from(samples) - exact
            })
            .collect()
    }

    fn rms(values: &[f64]) -> f64 {
        (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
    }

    /// Gaussian blur with a standard deviation of 1.5 pixels.
    fn blurred(values: &[f64]) -> Vec<f64> {
        let weight = |d: i32| (-f64::from(d * d) / 4.5).exp() / (4.5 * std::f64::consts::PI).sqrt();
        let once = |values: &[f64], across: bool| -> Vec<f64> {
            (0..64 * 64)
                .map(|i| {
                    let (x, y) = (i % 64, i / 64);
                    let at = |d: i32| {
                        let moved = |c: i32| (c + d).rem_euclid(64);
                        let (x, y) = if across { (moved(x), y) } else { (x, moved(y)) };
                        values[(y * 64 + x) as usize] * weight(d)
                    };
                    (-6..=6).map(at).sum()
                })
                .collect()
        };
        once(&once(values, true), false)
    }

    #[test]
    fn errors_are_blue_noise_and_no_greater_than_white_ones() {
        // A quarter disk in one pair, and a smooth function of both.
        let disk = |a: DVec2, _: DVec2| f64::from(a.length_squared() < 0.8);
        let both = |a: DVec2, b: DVec2| (a.x + 0.3 * b.x) * (0.5 + a.y * a.y) * (1.0 + b.y);
        let mean = (0.5 + 0.3 * 0.5) * (0.5 + 1.0 / 3.0) * 1.5;
        type Integrand = fn(DVec2, DVec2) -> f64;
        // For one pair, at most half of the error's power at low frequencies remains. A function of
        // two pairs improves while samples are few, and is never worse than white noise.
        let cases: [(&str, Integrand, f64, [f64; 4]); 2] = [
            ("disk", disk, 0.2 * std::f64::consts::PI, [0.7; 4]),
            ("both", both, mean, [0.6, 0.7, 0.85, 1.03]),
        ];
        for (name, f, exact, bounds) in cases {
            for (samples, bound) in [1, 2, 4, 16].into_iter().zip(bounds) {
                let [mut ours, mut ours_blurred, mut white, mut white_blurred] = [0.0; 4];
                for seed in 0..4 {
                    let (a, b) =
                        (errors(f, exact, samples, 1, seed), errors(f, exact, samples, 8, seed));
                    ours += rms(&a).powi(2);
                    white += rms(&b).powi(2);
                    ours_blurred += rms(&blurred(&a)).powi(2);
                    white_blurred += rms(&blurred(&b)).powi(2);
                }
                let (error, low) = ((ours / white).sqrt(), (ours_blurred / white_blurred).sqrt());
                println!(
                    "{name}, {samples} samples: error {error:.3}, after a blur {low:.3} of white noise"
                );
                assert!((error - 1.0).abs() < 0.05, "{name} {samples}: {error}");
                assert!(low < bound, "{name} {samples}: {low}");
            }
        }
    }

    #[test]
    fn each_pixel_is_unbiased_over_seeds() {
        // Mean over seeds of a function of few samples, at pixels whose shifts differ.
        for (x, y) in [(0, 0), (3, 5), (7, 7), (12, 1)] {
            let count = 1 << 14;
            let mean = (0..count)
                .map(|seed| {
                    let p = Sampler::new(SamplerKind::Sobol, seed, x, y, 2).next_2d();
                    f64::from(p.length_squared() < 0.5)
                })
                .sum::<f64>()
                / f64::from(count);
            // pi / 8 within four standard deviations of independent numbers.
            let want = std::f64::consts::FRAC_PI_8;
            let deviation = (want * (1.0 - want) / f64::from(count)).sqrt();
            assert!((mean - want).abs() < 4.0 * deviation, "{x} {y}: {mean}");
        }
    }

    #[test]
    fn the_rate_of_a_pixel_is_that_of_owen_scrambled_points() {
        // Owen 1997: the deviation for a smooth function falls as n^-3/2, against n^-1/2 of
        // independent numbers.
        let error = |samples: u32| {
            let squares: f64 = (0..64u32)
                .map(|pixel| {
                    let sum: f64 = (0..samples)
                        .map(|i| {
                            let p = Sampler::new(SamplerKind::Sobol, 3, pixel % 8, pixel / 8, i)
                                .next_2d();
                            (p.x * 2.0).exp() * (1.0 + p.y)
                        })
                        .sum();
                    (sum / f64::from(samples) - 1.5 * (2f64.exp() - 1.0) / 2.0).powi(2)
                })
                .sum();
            (squares / 64.0).sqrt()
        };
        let exponent = (error(16) / error(1024)).log2() / 6.0;
        assert!(exponent > 1.2, "{exponent}");
    }
}
