//! Repeating patterns: ripple slopes, foam, and phase noise. Generated once, from fixed seeds.

use std::{f64::consts::TAU, sync::OnceLock};

use glam::DVec2;

use crate::scene::procedural::random::{SplitMix64, fractal_noise};

/// Texels along each side of a pattern.
pub const SIZE: usize = 256;
/// Standard deviation of the pattern's slopes along each axis.
pub const DEVIATION: f64 = 0.2;
/// Waves per tile: of the longest and the shortest wavelength.
const WAVES: (f64, f64) = (3.0, 36.0);
/// Number of waves in the sum.
const COUNT: usize = 240;
/// Phase noise cells across the flow map's rectangle.
const NOISE_CELLS: u32 = 2;
/// Foam noise cells across a tile.
const FOAM_CELLS: u32 = 6;

/// Slopes (dh/dx, dh/dz) on a repeating tile.
pub struct Slopes {
    texels: Vec<DVec2>,
}

impl Slopes {
    /// Slope at a position (in tiles), bilinear.
    #[must_use]
    pub fn at(&self, place: DVec2) -> DVec2 {
        let p = place * SIZE as f64 - 0.5;
        let low = p.floor();
        let f = p - low;
        let texel = |dx: f64, dy: f64| {
            let wrap = |v: f64| v.rem_euclid(SIZE as f64) as usize % SIZE;
            self.texels.get(wrap(low.y + dy) * SIZE + wrap(low.x + dx)).copied().unwrap_or_default()
        };
        let row = |dy: f64| texel(0.0, dy).lerp(texel(1.0, dy), f.x);
        row(0.0).lerp(row(1.0), f.y)
    }

    /// Encodes as 8-bit unit normals: (-dh/dx, -dh/dz, 1), normalized.
    #[must_use]
    pub fn normals(&self) -> Vec<u8> {
        let byte = |x: f64| ((x * 0.5 + 0.5) * 255.0).round() as u8;
        let texel = |slope: &DVec2| {
            let n = (-*slope).extend(1.0).normalize();
            [byte(n.x), byte(n.y), byte(n.z), 255]
        };
        self.texels.iter().flat_map(texel).collect()
    }
}

/// Ripple slopes: a sum of waves of all directions and random phases, each with an equal share of
/// the slope variance. This is the spectrum of short wind waves (Phillips 1958: heights as the wave
/// number to the -4, so that octaves have equal slopes). Half of the waves change sign over half a
/// tile, along one or both axes; the others do not. This decorrelates the pattern from itself half
/// a tile away (`flow::LAYER_SHIFT`).
#[must_use]
pub fn slopes() -> &'static Slopes {
    static MADE: OnceLock<Slopes> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut random = SplitMix64::new(0x77a7e5);
        let mut texels = vec![DVec2::ZERO; SIZE * SIZE];
        let mut used = Vec::with_capacity(COUNT);
        for wave in 0..COUNT {
            let k = loop {
                let length = WAVES.0 * (WAVES.1 / WAVES.0).powf(random.unit());
                let k = (DVec2::from_angle(random.unit() * TAU) * length).round();
                // Each wave vector once: waves that differ only in phase are not independent.
                let fresh = !used.contains(&k) && !used.contains(&-k);
                let class = k.x.rem_euclid(2.0) + 2.0 * k.y.rem_euclid(2.0);
                if class == (wave % 4) as f64 && fresh {
                    used.push(k);
                    break k;
                }
            };
            let phase = random.unit() * TAU;
            let along = k.normalize();
            let turn = |k: f64, i: usize| (TAU * k * (i as f64 + 0.5) / SIZE as f64).sin_cos();
            let columns: Vec<(f64, f64)> = (0..SIZE).map(|x| turn(k.x, x)).collect();
            for (y, row) in texels.chunks_exact_mut(SIZE).enumerate() {
                let (s, c) = (TAU * k.y * (y as f64 + 0.5) / SIZE as f64 + phase).sin_cos();
                for (texel, (sx, cx)) in row.iter_mut().zip(&columns) {
                    *texel += along * (sx * c + cx * s);
                }
            }
        }
        // Each wave has variance 1/2 along its direction, and all directions are equally likely:
        // 1/4 along each axis.
        let variance = texels.iter().map(|slope| slope.length_squared()).sum::<f64>()
            / (2.0 * texels.len() as f64);
        let scale = DEVIATION / variance.sqrt();
        texels.iter_mut().for_each(|slope| *slope *= scale);
        Slopes { texels }
    })
}

/// Phase at a position on the flow map's rectangle, 0 to 1 in x and y. Phases are uniform in 0 to
/// 1, continuous, and smooth: neighbors have nearly equal displacements.
#[must_use]
pub fn phase_noise(x: f32, y: f32) -> f32 {
    // A folded ramp is uniform under any distortion that is smaller than its slope.
    let bend = fractal_noise(x, y, [NOISE_CELLS; 2], 2, 0xf10);
    let ramp = (x * 1.5 + y + bend).rem_euclid(1.0);
    1.0 - (2.0 * ramp - 1.0).abs()
}

/// Foam on a repeating tile: 8-bit RGBA, white, with the coverage in alpha.
#[must_use]
pub fn foam() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(make_foam)
}

/// Foam coverage, 0 to 1, at a position (in tiles): nearest texel.
#[must_use]
pub fn foam_at(place: DVec2) -> f64 {
    let p = (place * SIZE as f64).floor();
    let (x, y) =
        (p.x.rem_euclid(SIZE as f64) as usize % SIZE, p.y.rem_euclid(SIZE as f64) as usize % SIZE);
    foam().get((y * SIZE + x) * 4 + 3).map_or(0.0, |opacity| f64::from(*opacity) / 255.0)
}

fn make_foam() -> Vec<u8> {
    let mut texels = Vec::with_capacity(SIZE * SIZE * 4);
    for y in 0..SIZE {
        for x in 0..SIZE {
            let (u, v) = (x as f32 / SIZE as f32, y as f32 / SIZE as f32);
            let a = fractal_noise(u, v, [FOAM_CELLS; 2], 4, 0xf0a);
            let b = fractal_noise(u, v, [FOAM_CELLS * 2; 2], 3, 0xf0b);
            // Veins: where the first noise is near the middle of its range.
            let vein = 1.0 - ((a - 0.5).abs() * 5.0).min(1.0);
            let opacity = (vein * (0.4 + 1.2 * b)).clamp(0.0, 1.0);
            texels.extend([255, 255, 255, (opacity * 255.0).round() as u8]);
        }
    }
    texels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_have_the_deviation_that_they_claim_and_repeat() {
        let tile = slopes();
        let mean = tile.texels.iter().sum::<DVec2>() / (SIZE * SIZE) as f64;
        assert!(mean.length() < 1e-12, "the mean surface is level: {mean}");
        let square: DVec2 =
            tile.texels.iter().map(|s| *s * *s).sum::<DVec2>() / (SIZE * SIZE) as f64;
        assert!((square.element_sum() / 2.0 - DEVIATION * DEVIATION).abs() < 1e-12);
        assert!((square.x / square.y - 1.0).abs() < 0.2, "no direction is preferred: {square}");
        let place = DVec2::new(0.37, 0.81);
        assert!((tile.at(place) - tile.at(place + DVec2::new(3.0, -2.0))).length() < 1e-9);
    }

    #[test]
    fn half_a_tile_on_is_another_pattern() {
        let tile = slopes();
        for (dx, dy) in [(SIZE / 2, SIZE / 2), (SIZE / 2, 0), (0, SIZE / 2)] {
            let mut common = 0.0;
            for y in 0..SIZE {
                for x in 0..SIZE {
                    let other = (y + dy) % SIZE * SIZE + (x + dx) % SIZE;
                    common += tile.texels[y * SIZE + x].dot(tile.texels[other]);
                }
            }
            let correlation = common / (SIZE * SIZE) as f64 / (2.0 * DEVIATION * DEVIATION);
            assert!(correlation.abs() < 1e-9, "{correlation}");
        }
    }

    #[test]
    fn normals_say_the_slopes() {
        let bytes = slopes().normals();
        for (texel, slope) in bytes.chunks_exact(4).zip(&slopes().texels).step_by(97) {
            let [x, y, z] = [0, 1, 2].map(|i| f64::from(texel[i]) / 127.5 - 1.0);
            assert!((DVec2::new(-x, -y) / z - *slope).length() < 0.02, "{texel:?} {slope}");
        }
    }

    #[test]
    fn phases_are_even_and_smooth() {
        let mut counts = [0; 10];
        let mut steepest = 0f32;
        for i in 0..256 {
            for j in 0..256 {
                let at = |i: i32, j: i32| phase_noise(i as f32 / 256.0, j as f32 / 256.0);
                counts[(at(i, j) * 10.0) as usize % 10] += 1;
                steepest = steepest.max((at(i + 1, j) - at(i, j)).abs());
            }
        }
        assert!(counts.iter().all(|&n| (4000..9500).contains(&n)), "{counts:?}");
        assert!(steepest < 0.1, "{steepest}");
    }

    #[test]
    fn foam_covers_some_of_its_tile() {
        let mean = foam().chunks_exact(4).map(|t| f64::from(t[3]) / 255.0).sum::<f64>()
            / (SIZE * SIZE) as f64;
        assert!((0.05..0.6).contains(&mean), "{mean}");
    }
}
