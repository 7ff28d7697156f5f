//! Tables of directional albedo, computed by quadrature on first use.

use std::{num::NonZero, sync::LazyLock, thread};

use glam::{DVec2, DVec3};

use super::microfacet::{Alpha, MIN_ALPHA, lambda, sample_visible_normal};

/// A bilinear table over cosine and roughness, each 0 to 1. Samples are uniform in the square root
/// of the cosine: denser at grazing angles.
pub(super) struct AlbedoTable {
    /// Samples per axis.
    size: usize,
    cells: Vec<f64>,
}

impl AlbedoTable {
    /// Tabulates a function of cosine and roughness on dedicated threads. A waiting worker of
    /// rayon's pool takes up other work, which may request the very table under construction: a
    /// deadlock.
    pub(super) fn of(size: usize, value: impl Fn(f64, f64) -> f64 + Sync) -> Self {
        let step = |i: usize| i as f64 / (size - 1) as f64;
        let mut cells = vec![0.0; size * size];
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let rows = size.div_ceil(threads);
        thread::scope(|scope| {
            for (part, cells) in cells.chunks_mut(rows * size).enumerate() {
                let value = &value;
                scope.spawn(move || {
                    for (i, cell) in cells.iter_mut().enumerate() {
                        *cell = value(step(i % size).powi(2), step(part * rows + i / size));
                    }
                });
            }
        });
        Self { size, cells }
    }

    pub(super) fn at(&self, cos: f64, roughness: f64) -> f64 {
        let last = (self.size - 1) as f64;
        let place = |x: f64| {
            let x = x.clamp(0.0, 1.0) * last;
            let low = x.floor().min(last - 1.0);
            (low as usize, x - low)
        };
        let ((i, x), (j, y)) = (place(cos.clamp(0.0, 1.0).sqrt()), place(roughness));
        let cell = |i: usize, j: usize| self.cells.get(j * self.size + i).copied().unwrap_or(1.0);
        let row = |j: usize| cell(i, j) + (cell(i + 1, j) - cell(i, j)) * x;
        row(j) + (row(j + 1) - row(j)) * y
    }
}

/// Single-scattering GGX albedo with Smith's height-correlated shadowing and reflectance 1.
static GGX: LazyLock<AlbedoTable> = LazyLock::new(|| {
    AlbedoTable::of(112, |cos, roughness| {
        ggx_by_quadrature(
            cos.max(1e-4),
            Alpha::isotropic((roughness * roughness).max(MIN_ALPHA)),
            0.0,
        )
    })
});

/// Mean of G2 / G1 over visible normals at midpoints: the single-scattering albedo towards a view
/// of this cosine and azimuth (rad).
pub(super) fn ggx_by_quadrature(cos: f64, alpha: Alpha, azimuth: f64) -> f64 {
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    let v = DVec3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
    let (rows, columns) = (48, 24);
    let mut sum = 0.0;
    for row in 0..rows {
        // Steps become small where normals are steep: GGX has a long tail.
        let rest = 1.0 - (f64::from(row) + 0.5) / f64::from(rows);
        let weight = 3.0 * rest * rest;
        for column in 0..columns {
            let u = DVec2::new((f64::from(column) + 0.5) / f64::from(columns), 1.0 - rest.powi(3));
            let h = sample_visible_normal(v, alpha, u);
            let l = 2.0 * v.dot(h) * h - v;
            if l.z > 0.0 {
                sum +=
                    weight * (1.0 + lambda(v, alpha)) / (1.0 + lambda(v, alpha) + lambda(l, alpha));
            }
        }
    }
    sum / f64::from(rows * columns)
}

/// Multiple-scattering gain of a rough lobe for a view of this cosine: Turquin, "Practical multiple
/// scattering compensation for microfacet models" (2019), equation 16. `f0` is the reflectance at
/// normal incidence. Anisotropic roughness counts as its geometric mean.
pub(super) fn multiscatter_gain(f0: DVec3, cos: f64, alpha: Alpha) -> DVec3 {
    let roughness = (alpha.x * alpha.y).sqrt().sqrt();
    let albedo = GGX.at(cos, roughness).max(0.1);
    DVec3::ONE + f0 * ((1.0 - albedo) / albedo)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    /// On rayon's workers, the construction of a table could wait for itself.
    #[test]
    fn a_table_may_first_be_asked_for_by_many_workers() {
        let pause = || thread::sleep(Duration::from_millis(1));
        static TABLE: LazyLock<AlbedoTable> = LazyLock::new(|| {
            AlbedoTable::of(16, |cos, _| {
                thread::sleep(Duration::from_millis(1));
                cos
            })
        });
        let (done, result) = mpsc::channel();
        thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
            // Most workers do other work, so that some are free to join the construction, and work
            // is left for those that wait.
            pool.scope(|scope| {
                for task in 0..800 {
                    scope.spawn(move |_| {
                        pause();
                        if task % 8 == 0 {
                            TABLE.at(0.5, 0.5);
                        }
                    });
                }
            });
            done.send(TABLE.at(0.5, 0.5))
        });
        // The limit detects a deadlock, not slowness.
        let made = result.recv_timeout(Duration::from_secs(120)).expect("the table is made");
        assert!((made - 0.5).abs() < 0.01, "{made}");
    }
}
