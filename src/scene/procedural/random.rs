//! Deterministic pseudo-random numbers and lattice noise: equal on every run and machine.

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// An independent sequence for each seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// The next number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next number in [from, to).
    pub fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }
}

const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Value noise in [0, 1] that repeats after `period` lattice cells in x and y.
#[must_use]
pub fn noise(x: f32, y: f32, period: [u32; 2], seed: u64) -> f32 {
    let (column, row) = (x.floor(), y.floor());
    let (u, v) = (x - column, y - row);
    let corner = |dx: i64, dy: i64| {
        let wrapped_x = (column as i64 + dx).rem_euclid(i64::from(period[0].max(1))) as u64;
        let wrapped_y = (row as i64 + dy).rem_euclid(i64::from(period[1].max(1))) as u64;
        let key = seed ^ (wrapped_x << 32 | wrapped_y).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mix(mix(key)) >> 40) as f32 / (1_u32 << 24) as f32
    };
    let ease = |t: f32| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let (s, t) = (ease(u), ease(v));
    let upper = corner(0, 0) * (1.0 - s) + corner(1, 0) * s;
    let lower = corner(0, 1) * (1.0 - s) + corner(1, 1) * s;
    upper * (1.0 - t) + lower * t
}

/// Fractal noise of several octaves in [0, 1]. (u, v) is in the unit square, `cells` is the lattice
/// of the first octave, and each octave doubles the frequency.
#[must_use]
pub fn fractal_noise(u: f32, v: f32, cells: [u32; 2], octaves: u32, seed: u64) -> f32 {
    let (mut sum, mut weight, mut total) = (0.0, 1.0, 0.0);
    for octave in 0..octaves.max(1) {
        let period = cells.map(|cell| cell << octave);
        sum += weight
            * noise(
                u * period[0] as f32,
                v * period[1] as f32,
                period,
                seed.wrapping_add(u64::from(octave)),
            );
        total += weight;
        weight *= 0.5;
    }
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // The first outputs of SplitMix64 from the seed 0.
        let mut random = SplitMix64::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn noise_repeats_and_stays_in_range() {
        for step in 0..200 {
            let (u, v) = (step as f32 * 0.013, step as f32 * 0.029);
            let here = fractal_noise(u, v, [4, 8], 4, 7);
            assert!((0.0..=1.0).contains(&here));
            assert!((here - fractal_noise(u + 1.0, v + 1.0, [4, 8], 4, 7)).abs() < 1e-3);
        }
    }
}
