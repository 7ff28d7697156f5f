//! Directional albedos as tables, made by quadrature when they are first needed.

use std::sync::LazyLock;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::microfacet::{Alpha, lambda, visible_normal};

/// A function of cosine and roughness, each 0 to 1, between whose points it is bilinear. Points lie at even steps of the cosine's
/// square root: closer at grazing angles.
pub(super) struct Table(Vec<f64>);

impl Table {
    /// Points each way.
    pub(super) const SIZE: usize = 64;

    pub(super) const fn new(cells: Vec<f64>) -> Self {
        Self(cells)
    }

    /// Cosine and roughness of a point.
    pub(super) fn place(index: usize) -> (f64, f64) {
        let step = |i: usize| i as f64 / (Self::SIZE - 1) as f64;
        (step(index % Self::SIZE).powi(2), step(index / Self::SIZE))
    }

    pub(super) fn at(&self, cos: f64, roughness: f64) -> f64 {
        let last = (Self::SIZE - 1) as f64;
        let place = |x: f64| {
            let x = x.clamp(0.0, 1.0) * last;
            let low = x.floor().min(last - 1.0);
            (low as usize, x - low)
        };
        let ((i, x), (j, y)) = (place(cos.clamp(0.0, 1.0).sqrt()), place(roughness));
        let cell = |i: usize, j: usize| self.0.get(j * Self::SIZE + i).copied().unwrap_or(1.0);
        let row = |j: usize| cell(i, j) + (cell(i + 1, j) - cell(i, j)) * x;
        row(j) + (row(j + 1) - row(j)) * y
    }
}

/// Of GGX with Smith's height-correlated shadowing and reflectance 1, in one bounce.
static GGX: LazyLock<Table> = LazyLock::new(|| {
    let cells: Vec<f64> = (0..Table::SIZE * Table::SIZE)
        .into_par_iter()
        .map(|i| {
            let (cos, roughness) = Table::place(i);
            ggx_by_quadrature(cos.max(1e-4), Alpha::round((roughness * roughness).max(super::MIN_ALPHA)), 0.0)
        })
        .collect();
    Table::new(cells)
});

/// The mean of G2 / G1 over visible normals at midpoints: what one bounce reflects of all light towards a view of this cosine
/// and azimuth (rad).
pub(super) fn ggx_by_quadrature(cos: f64, alpha: Alpha, azimuth: f64) -> f64 {
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    let v = DVec3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
    let count = 40;
    let mut sum = 0.0;
    for i in 0..count * count {
        let u = DVec2::new(f64::from(i % count) + 0.5, f64::from(i / count) + 0.5) / f64::from(count);
        let h = visible_normal(v, alpha, u);
        let l = 2.0 * v.dot(h) * h - v;
        if l.z > 0.0 {
            sum += (1.0 + lambda(v, alpha)) / (1.0 + lambda(v, alpha) + lambda(l, alpha));
        }
    }
    sum / f64::from(count * count)
}

/// By how much what a rough lobe reflects towards a view of this cosine grows, if facets passed on to each other what single
/// scattering loses: Turquin, "Practical multiple scattering compensation for microfacet models" (2019), equation 16. `f0` is
/// the reflectance along the normal. Roughness along two axes counts as its geometric mean.
pub(super) fn multiscatter_gain(f0: DVec3, cos: f64, alpha: Alpha) -> DVec3 {
    let roughness = (alpha.x * alpha.y).sqrt().sqrt();
    let albedo = GGX.at(cos, roughness).max(0.1);
    DVec3::ONE + f0 * ((1.0 - albedo) / albedo)
}
