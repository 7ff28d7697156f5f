//! Pearson's chi-square test of a sampler against its density.
//!
//! Cells of low expectation are pooled, and the level of significance is corrected for the number
//! of tests (Sidak 1967), as Pharr, Jakob and Humphreys do in the tests of pbrt.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::sampler::{Sampler, SamplerKind};

/// Probability that a correct family of tests fails.
const SIGNIFICANCE: f64 = 0.01;
/// Cells with a lower expected count are pooled.
const MIN_EXPECTED: f64 = 5.0;

/// Random numbers of one trial.
pub(super) struct TrialSampler(Sampler);

impl TrialSampler {
    pub(super) fn next_1d(&mut self) -> f64 {
        self.0.next_1d()
    }

    pub(super) fn next_2d(&mut self) -> DVec2 {
        self.0.next_2d()
    }
}

/// Cells on the sphere or on a cap of it, uniform in the angle from the axis and about it.
pub(super) struct Cells {
    axis: DVec3,
    across: (DVec3, DVec3),
    /// Maximum angle (rad) from the axis.
    widest: f64,
    rows: usize,
    columns: usize,
    /// Number of times that cells are halved for their integrals.
    depth: u32,
}

impl Cells {
    /// Over all directions.
    pub(super) fn sphere() -> Self {
        Self::cap(DVec3::Z, PI)
    }

    /// Over directions up to `widest` (rad) from an axis.
    pub(super) fn cap(axis: DVec3, widest: f64) -> Self {
        Self { axis, across: axis.any_orthonormal_pair(), widest, rows: 16, columns: 20, depth: 9 }
    }

    /// For densities with edges, where subdivision helps little.
    pub(super) fn with_edges(self) -> Self {
        Self { depth: 5, ..self }
    }

    /// A direction by the angle to the axis and the azimuth, both normalized to 0 to 1; and
    /// steradians per unit of both.
    fn direction(&self, tilt: f64, turn: f64) -> (DVec3, f64) {
        let (sin, cos) = (tilt * self.widest).sin_cos();
        let (s, c) = (2.0 * PI * turn).sin_cos();
        (
            self.axis * cos + (self.across.0 * c + self.across.1 * s) * sin,
            2.0 * PI * self.widest * sin,
        )
    }

    fn cell(&self, d: DVec3) -> Option<usize> {
        // Accurate for small and for large angles.
        let tilt = 2.0 * (d - self.axis).length().atan2((d + self.axis).length());
        let turn = d.dot(self.across.1).atan2(d.dot(self.across.0)) / (2.0 * PI);
        let row = (tilt / self.widest * self.rows as f64) as usize;
        let row = if self.widest < PI { row } else { row.min(self.rows - 1) };
        let column = ((turn.rem_euclid(1.0) * self.columns as f64) as usize).min(self.columns - 1);
        (row < self.rows).then_some(row * self.columns + column)
    }

    /// The integral of a density over a cell.
    fn integral(&self, cell: usize, density: &dyn Fn(DVec3) -> f64) -> f64 {
        let (row, column) = ((cell / self.columns) as f64, (cell % self.columns) as f64);
        let (h, w) = (1.0 / self.rows as f64, 1.0 / self.columns as f64);
        let f = |y: f64, x: f64| {
            let (direction, solid_angle) = self.direction(y, x);
            density(direction) * solid_angle
        };
        adaptive(&f, [row * h, column * w], [h, w], f64::INFINITY, 1e-6, self.depth)
    }
}

/// Gauss-Legendre quadrature with 3x3 points over a rectangle.
fn gauss(f: &dyn Fn(f64, f64) -> f64, [y, x]: [f64; 2], [h, w]: [f64; 2]) -> f64 {
    const POINTS: [(f64, f64); 3] = [
        (0.112_701_665_379_258_3, 5.0 / 18.0),
        (0.5, 8.0 / 18.0),
        (0.887_298_334_620_741_7, 5.0 / 18.0),
    ];
    let mut sum = 0.0;
    for (a, wa) in POINTS {
        for (b, wb) in POINTS {
            sum += wa * wb * f(y + a * h, x + b * w);
        }
    }
    sum * h * w
}

fn adaptive(
    f: &dyn Fn(f64, f64) -> f64,
    [y, x]: [f64; 2],
    [h, w]: [f64; 2],
    whole: f64,
    tolerance: f64,
    depth: u32,
) -> f64 {
    let (h, w) = (h / 2.0, w / 2.0);
    let corners = [[y, x], [y, x + w], [y + h, x], [y + h, x + w]];
    let parts = corners.map(|corner| gauss(f, corner, [h, w]));
    let sum: f64 = parts.iter().sum();
    if depth == 0 || (sum - whole).abs() < tolerance {
        return sum;
    }
    corners
        .iter()
        .zip(parts)
        .map(|(&corner, part)| adaptive(f, corner, [h, w], part, tolerance / 2.0, depth - 1))
        .sum()
}

/// The regularized upper incomplete gamma function Q(a, x): series and continued fraction of
/// Abramowitz and Stegun 6.5.29 and 6.5.31.
fn upper_gamma(a: f64, x: f64) -> f64 {
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x <= 0.0 {
        return 1.0;
    }
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-15 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // Lentz's method.
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..10_000 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        let step = d * c;
        h *= step;
        if (step - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front * h
}

/// Stirling's series after shifting the argument up (Abramowitz and Stegun 6.1.41).
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 12.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let (i, i3) = (1.0 / x, 1.0 / (x * x * x));
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + i / 12.0 - i3 / 360.0
        + i3 * i * i / 1260.0
}

/// One test.
pub(super) struct Test<'a> {
    pub(super) name: String,
    pub(super) cells: Cells,
    /// Density (1/sr).
    pub(super) density: &'a dyn Fn(DVec3) -> f64,
    /// Samples a direction; `None` where the sampler fails.
    pub(super) sample: &'a dyn Fn(&mut TrialSampler) -> Option<DVec3>,
}

/// Tests `count` samples against the density, as one of `family` tests that must all pass. Returns
/// the integral of the density, the expected fraction of successful samples.
pub(super) fn check(test: &Test<'_>, count: u32, family: usize) -> f64 {
    let cells = test.cells.rows * test.cells.columns;
    let mut counts = vec![0.0; cells];
    let (mut elsewhere, mut impossible) = (0.0, 0);
    for index in 0..count {
        let mut numbers = TrialSampler(Sampler::new(SamplerKind::Independent, 11, 5, 7, index));
        let sample = (test.sample)(&mut numbers);
        impossible += u32::from(sample.is_some_and(|d| (test.density)(d) <= 0.0));
        match sample.and_then(|d| test.cells.cell(d)) {
            Some(cell) => counts[cell] += 1.0,
            None => elsewhere += 1.0,
        }
    }
    // Rounding may miss the very edge of a light.
    assert!(
        impossible <= count / 1000,
        "{}: {impossible} samples where the density is 0",
        test.name
    );
    let all = f64::from(count);
    let expected: Vec<f64> =
        (0..cells).map(|cell| test.cells.integral(cell, test.density)).collect();
    let integral: f64 = expected.iter().sum();
    assert!(integral < 1.0 + 2e-3, "{}: the density's integral is {integral}", test.name);
    let (mut chi2, mut freedom) = (0.0, -1.0);
    let mut add = |counted: f64, want: f64| {
        chi2 += (counted - want).powi(2) / want;
        freedom += 1.0;
    };
    // Samples outside the cells, and cells of low expectation, together.
    let mut pool = (elsewhere, (1.0 - integral).max(0.0) * all);
    for (counted, share) in counts.iter().zip(&expected) {
        let want = share * all;
        if want < MIN_EXPECTED {
            pool = (pool.0 + counted, pool.1 + want);
        } else {
            add(*counted, want);
        }
    }
    if pool.1 >= MIN_EXPECTED {
        add(pool.0, pool.1);
    } else {
        // Poisson: such an excess over the expected count does not occur.
        assert!(
            pool.0 < pool.1 + 25.0,
            "{}: {} samples where {} are expected",
            test.name,
            pool.0,
            pool.1
        );
    }
    assert!(freedom >= 1.0, "{}: too few cells", test.name);
    let p = upper_gamma(freedom / 2.0, chi2 / 2.0);
    let level = 1.0 - (1.0 - SIGNIFICANCE).powf(1.0 / family as f64);
    assert!(
        p > level,
        "{}: chi-square {chi2:.1}, {freedom} degrees of freedom, p = {p:.2e}, level {level:.2e}",
        test.name
    );
    integral
}

#[test]
fn the_test_itself_finds_faults() {
    // Table 26.8 of Abramowitz and Stegun: the upper 1 % of chi-square with 10 and 100 degrees of
    // freedom.
    for (freedom, chi2) in [(10.0, 23.2093), (100.0, 135.807)] {
        assert!((upper_gamma(freedom / 2.0, chi2 / 2.0) - 0.01).abs() < 1e-6);
    }
    assert!((upper_gamma(0.5, 0.5) - 0.317_310_5).abs() < 1e-6);
    let even = |numbers: &mut TrialSampler| {
        let u = numbers.next_2d();
        Some(super::bsdf::sample_cosine_hemisphere(u))
    };
    let run = |density: &dyn Fn(DVec3) -> f64| {
        let test = Test { name: "cosine".into(), cells: Cells::sphere(), density, sample: &even };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&test, 100_000, 1))).is_ok()
    };
    assert!(run(&|d| d.z.max(0.0) / PI));
    // An excess of 5 % on one side.
    assert!(!run(&|d| d.z.max(0.0) / PI * (1.0 + 0.05 * d.x)));
}
