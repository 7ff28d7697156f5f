//! Fraunhofer diffraction of an aperture in light of one wavelength: the squared magnitude of its
//! Fourier transform.
//!
//! Lengths in the image are cycles: multiples of the wavelength times the effective f-number,
//! `lambda N`, which is what one cycle across the diameter of the circle through the iris' corners
//! comes to.

use rayon::prelude::*;
use rustfft::{Fft, FftPlanner, num_complex::Complex};

use super::aperture::ApertureMask;

/// Columns that are gathered at once: their complex samples fill a line of the cache.
const BATCH: usize = 8;

/// The light that passes an aperture, by where it goes.
///
/// Goodman, "Introduction to Fourier Optics", 3rd ed., section 4.4: the irradiance is the squared
/// magnitude of the aperture's transform at the place over the wavelength and the distance; with
/// the diameter as the unit of length, at the place over `lambda N`. Samples lie half a sample
/// beside the centre, so that the centre is a corner that four of them share.
pub struct Diffraction {
    /// Samples a cycle along each side.
    per_cycle: f64,
    /// Samples from the centre that are kept.
    half: usize,
    /// Columns x = 0 to `half`, each from y = -half to half, the ends not counted: the part of the
    /// light on a sample.
    parts: Vec<f32>,
    /// The part of the light in these columns and their mirror images, whole.
    total: f64,
}

impl Diffraction {
    /// Of a mask in a window `padding` times its diameter, at least twice: below that the squared
    /// magnitude is sampled too coarsely to be what lies between the samples too (Goodman, section
    /// 2.4.1; its transform, the autocorrelation, is twice as wide as the aperture).
    ///
    /// Kept is half of what the transform tells of: beyond, what the mask's samples fold over is no
    /// longer small. That a sample is a square and no point is divided out.
    #[must_use]
    pub fn new(mask: &ApertureMask, padding: usize) -> Self {
        let diameter = mask.diameter;
        let window = diameter * padding.max(2);
        let half = window / 4;
        let fft = FftPlanner::<f32>::new().plan_fft_forward(window);
        let turns = half_turns(diameter, window);
        let rows = transform_rows(mask, &*fft, &turns, (window, half));
        // Over all samples the sum is that of the squared amplitudes (Parseval), and the window's
        // area.
        let scale = 1.0 / (mask.power().max(f64::MIN_POSITIVE) * (window as f64).powi(2));
        let squares: Vec<f64> = (0..half)
            .map(|cycles| std::f64::consts::PI * (cycles as f64 + 0.5) / window as f64)
            .map(|x| (x.sin() / x).powi(2))
            .collect();
        let per_column = 2 * half;
        let mut parts = vec![0f32; half * per_column];
        let sums: Vec<f64> = parts
            .par_chunks_mut(per_column * BATCH)
            .enumerate()
            .map(|(batch, out)| {
                let first = batch * BATCH;
                let count = out.len() / per_column;
                let mut columns = vec![Complex::new(0f32, 0.0); window * count];
                for (y, row) in rows.chunks_exact(half).enumerate() {
                    for (k, &value) in row[first..first + count].iter().enumerate() {
                        columns[k * window + y] = value * turns[y];
                    }
                }
                fft.process(&mut columns);
                let mut sum = 0.0;
                for (k, column) in columns.chunks_exact(window).enumerate() {
                    let power = |y: usize| {
                        f64::from(column[y].re).powi(2) + f64::from(column[y].im).powi(2)
                    };
                    sum += (0..window).map(power).sum::<f64>();
                    for (index, out) in out[k * per_column..][..per_column].iter_mut().enumerate() {
                        let from_middle =
                            if index < half { half - 1 - index } else { index - half };
                        let square = squares[first + k] * squares[from_middle];
                        *out = (power((index + window - half) % window) * scale / square) as f32;
                    }
                }
                sum
            })
            .collect();
        let total = 2.0 * sums.iter().sum::<f64>() * scale;
        Self { per_cycle: window as f64 / diameter as f64, half, parts, total }
    }

    /// Samples a cycle (`lambda N`).
    #[must_use]
    pub const fn per_cycle(&self) -> f64 {
        self.per_cycle
    }

    /// Samples from the centre that there are in each direction.
    #[must_use]
    pub const fn half(&self) -> usize {
        self.half
    }

    /// The part of the light that falls on the sample from x to x + 1 and from y to y + 1 (samples
    /// from the centre); 0 beyond `half`.
    #[must_use]
    pub fn part(&self, x: i64, y: i64) -> f32 {
        // The transform of what has no phase: the same on both sides of the centre.
        let (x, y) = if x < 0 { (-1 - x, -1 - y) } else { (x, y) };
        let half = self.half as i64;
        if x >= half || !(-half..half).contains(&y) {
            return 0.0;
        }
        self.parts[x as usize * 2 * self.half + (y + half) as usize]
    }

    /// The part of the light that lies within half of the transform sideways; at most 1.
    #[must_use]
    pub const fn total(&self) -> f64 {
        self.total
    }
}

/// What moves a transform by half a sample.
fn half_turns(count: usize, window: usize) -> Vec<Complex<f32>> {
    let turn =
        |x: usize| Complex::from_polar(1.0, -std::f64::consts::PI * x as f64 / window as f64);
    (0..count).map(turn).map(|turn| Complex::new(turn.re as f32, turn.im as f32)).collect()
}

/// The transforms of the mask's rows, `half` samples each.
fn transform_rows(
    mask: &ApertureMask,
    fft: &dyn Fft<f32>,
    turns: &[Complex<f32>],
    (window, half): (usize, usize),
) -> Vec<Complex<f32>> {
    let mut out = vec![Complex::new(0f32, 0.0); half * mask.diameter];
    out.par_chunks_mut(half * BATCH).zip(mask.values.par_chunks(mask.diameter * BATCH)).for_each(
        |(out, rows)| {
            let mut scratch = vec![Complex::new(0f32, 0.0); fft.get_inplace_scratch_len()];
            let mut line = vec![Complex::new(0f32, 0.0); window];
            for (out, row) in out.chunks_exact_mut(half).zip(rows.chunks_exact(mask.diameter)) {
                line.fill(Complex::new(0.0, 0.0));
                for ((value, &open), turn) in line.iter_mut().zip(row).zip(turns) {
                    *value = turn * open;
                }
                fft.process_with_scratch(&mut line, &mut scratch);
                out.copy_from_slice(&line[..half]);
            }
        },
    );
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::{camera::lens::Iris, optics::aperture::Aperture};

    /// J1 by its integral (Abramowitz and Stegun, 9.1.21).
    fn bessel(x: f64) -> f64 {
        let n = 400;
        (0..n)
            .map(|i| (f64::from(i) + 0.5) * PI / f64::from(n))
            .map(|t| (t - x * t.sin()).cos())
            .sum::<f64>()
            / f64::from(n)
    }

    #[test]
    fn a_circle_gives_airys_pattern() {
        // 24 samples a cycle.
        let mask = Aperture::default().raster(256).unwrap();
        let airy = Diffraction::new(&mask, 24);
        assert_eq!(airy.per_cycle(), 24.0);
        // The peak: the open area over the square of a cycle, but for samples that are open in
        // part.
        let peak = mask.open().powi(2) / mask.power() / (256f64 * 24.0).powi(2);
        assert!((peak / (PI / 4.0) * 576.0 - 1.0).abs() < 4e-3, "{peak}");
        for x in 0..(5 * 24) {
            for (x, y) in [(x, 0), (-1, -x - 1), (x, x)] {
                let cycles = (x as f64 + 0.5).hypot(y as f64 + 0.5) / 24.0;
                let want = (2.0 * bessel(PI * cycles) / (PI * cycles)).powi(2);
                let got = f64::from(airy.part(x, y)) / peak;
                assert!((got - want).abs() < 5e-4 * want + 2e-5, "{cycles}: {got} for {want}");
            }
        }
        // The first zero, between samples by a parabola.
        let dark = (20..40).min_by(|&a, &b| airy.part(a, 0).total_cmp(&airy.part(b, 0))).unwrap();
        let [a, b, c] = [-1, 0, 1].map(|d| f64::from(airy.part(dark + d, 0)));
        let zero = (dark as f64 + 0.5 + 0.5 * (a - c) / (a - 2.0 * b + c)) / 24.0;
        assert!((zero - 1.21967).abs() < 0.004, "{zero}");
        for (f_number, micrometres) in [(8.0, 5.368), (22.0, 14.762)] {
            let got = zero * 0.55 * f_number;
            assert!((got / micrometres - 1.0).abs() < 0.004, "{got} for {micrometres}");
        }
    }

    #[test]
    fn all_the_light_is_there() {
        for aperture in [
            Aperture::default(),
            Aperture {
                iris: Iris { blades: 5, curvature: 0.2, rotation: 0.1 },
                ..Aperture::default()
            },
            Aperture { dust: 1.0, scratches: 1.0, squeeze: 0.5, ..Aperture::default() },
        ] {
            let mask = aperture.raster(32).unwrap();
            // Every sample by the plain sum.
            let window = 64i64;
            let power = |x: i64, y: i64| {
                let turn =
                    |at: usize, k: i64| -2.0 * PI * at as f64 * (k as f64 + 0.5) / window as f64;
                let mut sum = [0f64; 2];
                for (index, &value) in mask.values.iter().enumerate() {
                    let phase = turn(index % 32, x) + turn(index / 32, y);
                    sum[0] += f64::from(value) * phase.cos();
                    sum[1] += f64::from(value) * phase.sin();
                }
                sum[0] * sum[0] + sum[1] * sum[1]
            };
            let columns = |range: std::ops::Range<i64>| {
                range
                    .flat_map(|x| (0..window).map(move |y| (x, y)))
                    .map(|(x, y)| power(x, y))
                    .sum::<f64>()
            };
            let (kept, others) = (columns(0..16), columns(16..32));
            let all = 2.0 * (kept + others);
            // Parseval.
            assert!((all / ((window * window) as f64 * mask.power()) - 1.0).abs() < 1e-9);
            let found = Diffraction::new(&mask, 2);
            assert!(
                (found.total() - 2.0 * kept / all).abs() < 1e-6,
                "{} {}",
                found.total(),
                2.0 * kept / all
            );
            // Each sample by itself, but for the sample's own shape.
            let sinc = |k: i64| PI * (k as f64 + 0.5) / 64.0;
            for (x, y) in [(0, 0), (3, 5), (7, -9), (-11, 2), (15, -16), (-16, 15)] {
                let square = [x, y].map(|k| (sinc(k).sin() / sinc(k)).powi(2));
                let want = power(x, y) / all / (square[0] * square[1]);
                let got = f64::from(found.part(x, y));
                assert!(
                    (got - want).abs() < 1e-6 * f64::from(found.part(0, 0)),
                    "{x} {y}: {got} {want}"
                );
            }
            assert_eq!(found.part(16, 0), 0.0);
        }
    }
}
