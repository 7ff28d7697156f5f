//! Fraunhofer diffraction of an aperture in monochromatic light: the squared magnitude of its
//! Fourier transform.
//!
//! Lengths in the image are in cycles, multiples of the wavelength times the effective f-number,
//! `lambda N`. One cycle corresponds to one period across the diameter of the circle through the
//! iris' corners.

use rayon::prelude::*;
use sunny16_fft::{Fft, num_complex::Complex, plan_forward};

use super::aperture::ApertureMask;

/// Columns transformed together: their complex samples fill a cache line.
const BATCH: usize = 8;

/// Distribution of the light that passes an aperture, in the image plane.
///
/// Goodman, "Introduction to Fourier Optics", 3rd ed., section 4.4: irradiance is the squared
/// magnitude of the aperture's transform at position / (wavelength * distance). With the diameter
/// as the unit of length, that is position / `lambda N`. Samples are offset by half a sample, so
/// that the center is the common corner of four samples.
pub struct Diffraction {
    /// Samples per cycle along each side.
    per_cycle: f64,
    /// Number of samples kept from the center in each direction.
    half: usize,
    /// Columns x = 0 to `half`, each from y = -half to half, ends excluded: fraction of the light
    /// per sample.
    parts: Vec<f32>,
    /// Fraction of the light in the full height of these columns and their mirror images.
    total: f64,
}

impl Diffraction {
    /// Computes the diffraction pattern of a mask in a window of `padding` times its diameter, at
    /// least twice. A smaller window samples the squared magnitude below its Nyquist rate: its
    /// transform, the autocorrelation, is twice as wide as the aperture (Goodman, section 2.4.1).
    ///
    /// Keeps half of the transform's range; aliasing of the mask's samples is too large beyond.
    /// Divides by the transform of a square sample (sinc).
    #[must_use]
    pub fn new(mask: &ApertureMask, padding: usize) -> Self {
        let diameter = mask.diameter;
        let window = diameter * padding.max(2);
        let half = window / 4;
        let fft = plan_forward(window);
        let turns = half_turns(diameter, window);
        let rows = transform_rows(mask, &*fft, &turns, (window, half));
        // The sum over all samples is that of the squared amplitudes times the window's area
        // (Parseval).
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

    /// Samples per cycle (`lambda N`).
    #[must_use]
    pub const fn per_cycle(&self) -> f64 {
        self.per_cycle
    }

    /// Number of samples from the center in each direction.
    #[must_use]
    pub const fn half(&self) -> usize {
        self.half
    }

    /// Fraction of the light on the sample from x to x + 1 and from y to y + 1 (samples from the
    /// center); 0 beyond `half`.
    #[must_use]
    pub fn part(&self, x: i64, y: i64) -> f32 {
        // A mask without phase has a point-symmetric pattern.
        let (x, y) = if x < 0 { (-1 - x, -1 - y) } else { (x, y) };
        let half = self.half as i64;
        if x >= half || !(-half..half).contains(&y) {
            return 0.0;
        }
        self.parts[x as usize * 2 * self.half + (y + half) as usize]
    }

    /// Fraction of the light within half of the transform's width horizontally; at most 1.
    #[must_use]
    pub const fn total(&self) -> f64 {
        self.total
    }
}

/// Phase factors that shift a transform by half a sample.
fn half_turns(count: usize, window: usize) -> Vec<Complex<f32>> {
    let turn =
        |x: usize| Complex::from_polar(1.0, -std::f64::consts::PI * x as f64 / window as f64);
    (0..count).map(turn).map(|turn| Complex::new(turn.re as f32, turn.im as f32)).collect()
}

/// Transforms of the mask's rows, `half` samples each.
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
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::optics::{Iris, aperture::Aperture};

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
        // 24 samples per cycle.
        let mask = Aperture::default().raster(256).unwrap();
        let airy = Diffraction::new(&mask, 24);
        assert_eq!(airy.per_cycle(), 24.0);
        // The peak: open area over the square of a cycle, except for partially open samples.
        let peak = mask.open().powi(2) / mask.power() / (256f64 * 24.0).powi(2);
        assert!((peak / (PI / 4.0) * 576.0 - 1.0).abs() < 4e-3, "{peak}");
        for x in 0..(5 * 24) {
            for (x, y) in [(x, 0), (-1, -x - 1), (x, x)] {
                let cycles = (x as f64 + 0.5).hypot(y as f64 + 0.5) / 24.0;
                let want = (2.0 * bessel(PI * cycles) / (PI * cycles)).powi(2);
                let got = f64::from(airy.part(x, y)) / peak;
                assert!(
                    (got - want).abs() < 5e-4 * want + 2e-5,
                    "{cycles}: {got}, expected {want}"
                );
            }
        }
        // The first zero, with subsample precision by a parabola.
        let dark = (20..40).min_by(|&a, &b| airy.part(a, 0).total_cmp(&airy.part(b, 0))).unwrap();
        let [a, b, c] = [-1, 0, 1].map(|d| f64::from(airy.part(dark + d, 0)));
        let zero = (dark as f64 + 0.5 + 0.5 * (a - c) / (a - 2.0 * b + c)) / 24.0;
        assert!((zero - 1.21967).abs() < 0.004, "{zero}");
        for (f_number, micrometers) in [(8.0, 5.368), (22.0, 14.762)] {
            let got = zero * 0.55 * f_number;
            assert!((got / micrometers - 1.0).abs() < 0.004, "{got}, expected {micrometers}");
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
            // Every sample against the direct sum.
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
            // Each sample on its own, except for the sample's sinc.
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
