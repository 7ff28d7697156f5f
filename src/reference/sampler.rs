//! Numbers in [0, 1) for the integrator: Owen-scrambled Sobol points, or independent ones as their control.
//!
//! Burley, "Practical Hash-based Owen Scrambling" (JCGT 9(4), 2020): each group of four dimensions takes the Sobol points
//! in an order of its own (a scrambled index), and each dimension is scrambled by itself.

use glam::DVec2;

/// Which numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerKind {
    /// Owen-scrambled Sobol points.
    #[default]
    Sobol,
    /// Independent numbers.
    Independent,
}

/// The numbers of one path: those of one sample of one pixel.
#[derive(Clone, Debug)]
pub struct Sampler {
    kind: SamplerKind,
    seed: u32,
    index: u32,
    dimension: u32,
    state: u64,
}

/// Direction numbers of the first four dimensions: Joe and Kuo, "Constructing Sobol Sequences with Better Two-Dimensional
/// Projections" (2008), table of primitive polynomials: degrees 0, 1, 2, 3 with initial numbers 1; 1; 1, 3; 1, 3, 1.
const DIRECTIONS: [[u32; 32]; 4] =
    [van_der_corput(), directions(1, 0, [1, 0, 0]), directions(2, 1, [1, 3, 0]), directions(3, 1, [1, 3, 1])];

const fn van_der_corput() -> [u32; 32] {
    let mut out = [0; 32];
    let mut i = 0;
    while i < 32 {
        out[i] = 1 << (31 - i);
        i += 1;
    }
    out
}

/// Bratley and Fox, "Algorithm 659" (1988), section 3: the recurrence by a primitive polynomial of this degree, whose
/// inner coefficients are the bits of `inner`.
const fn directions(degree: usize, inner: u32, first: [u32; 3]) -> [u32; 32] {
    let mut out = [0u32; 32];
    let mut i = 0;
    while i < 32 {
        if i < degree {
            out[i] = first[i] << (31 - i);
        } else {
            let mut v = out[i - degree] ^ (out[i - degree] >> degree);
            let mut k = 1;
            while k < degree {
                if (inner >> (degree - 1 - k)) & 1 == 1 {
                    v ^= out[i - k];
                }
                k += 1;
            }
            out[i] = v;
        }
        i += 1;
    }
    out
}

fn sobol(mut index: u32, dimension: usize) -> u32 {
    let mut out = 0;
    for direction in DIRECTIONS[dimension % 4] {
        if index & 1 == 1 {
            out ^= direction;
        }
        index >>= 1;
    }
    out
}

/// A permutation of the bits that only lets lower bits act on higher ones: Laine and Karras, "Stratified Sampling for
/// Stochastic Transparency" (2011), section 3.1, with the constants that Burley 2020, section 2.2, gives.
fn laine_karras(mut x: u32, seed: u32) -> u32 {
    x = x.wrapping_add(seed);
    x ^= x.wrapping_mul(0x6c50_b47c);
    x ^= x.wrapping_mul(0xb82f_1e52);
    x ^= x.wrapping_mul(0xc7af_e638);
    x ^= x.wrapping_mul(0x8d22_f6e6);
    x
}

/// Owen's nested scramble in base 2: Burley 2020, section 2.2.
fn scramble(x: u32, seed: u32) -> u32 {
    laine_karras(x.reverse_bits(), seed).reverse_bits()
}

/// A number that depends on all bits of both.
fn mix(a: u32, b: u32) -> u32 {
    // Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014), figure 13: the finaliser.
    let mut z = (u64::from(a) << 32 | u64::from(b)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u32
}

impl Sampler {
    /// The numbers of sample `index` of the pixel (x, y).
    #[must_use]
    pub fn new(kind: SamplerKind, seed: u32, x: u32, y: u32, index: u32) -> Self {
        let seed = mix(mix(x, y), seed);
        let state = u64::from(mix(seed, index)) << 32 | u64::from(mix(index, seed));
        Self { kind, seed, index, dimension: 0, state }
    }

    /// The next number, in [0, 1).
    pub fn next_1d(&mut self) -> f64 {
        let dimension = self.dimension;
        self.dimension += 1;
        let bits = match self.kind {
            SamplerKind::Sobol => {
                let (group, inside) = (dimension / 4, dimension % 4);
                let index = scramble(self.index, mix(self.seed, group));
                scramble(sobol(index, inside as usize), mix(self.seed, 0x5000_0000 ^ dimension))
            }
            SamplerKind::Independent => {
                self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                mix((self.state >> 32) as u32, self.state as u32)
            }
        };
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    }

    /// The next two numbers, both of one group, so that the pair is well spread too.
    pub fn next_2d(&mut self) -> DVec2 {
        if self.dimension % 4 == 3 {
            self.dimension += 1;
        }
        let x = self.next_1d();
        DVec2::new(x, self.next_1d())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_elementary_interval_has_one_point() {
        // A (0, 4, 2)-net in base 2: Owen's scramble keeps it.
        for seed in 0..20 {
            let points: Vec<DVec2> =
                (0..16).map(|i| Sampler::new(SamplerKind::Sobol, seed, 3, 5, i).next_2d()).collect();
            for log in 0..=4u32 {
                let (across, down) = (1 << log, 16 >> log);
                let mut met = [false; 16];
                for p in &points {
                    let cell = (p.x * f64::from(across)) as usize + (p.y * f64::from(down)) as usize * across as usize;
                    assert!(!met[cell], "{points:?}");
                    met[cell] = true;
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
}
