//! Linearly transformed cosines (LTC) for the BRDF's specular lobe, and their fit.
//!
//! Heitz, Dupuy, Hill and Neubelt 2016, "Real-Time Polygonal-Light Shading with Linearly
//! Transformed Cosines". The LTC is a sampling density here: `integrate_brdf` evaluates the true
//! BRDF at a few directions distributed by it, so an approximate fit is enough. The map preserves
//! the horizon, so one clip of the outline serves both spaces.

use std::f64::consts::PI;

use glam::{DVec3, dvec3};
pub use sunny16::photometry::ltc::SIZE;
use sunny16::photometry::ltc::table;

use super::brdf::{self, view_direction};

/// Minimum alpha, as in the shader (`MIN_ALPHA`).
pub const MIN_ALPHA: f64 = 0.002;

/// Cosine of the table's first column, in place of 0.
const MIN_COSINE: f64 = 1e-3;

/// Smooth parameters of a table entry, all near 1 for a mirror.
///
/// With `alpha` of the BRDF and `n.v` of the view the inverse map is `x' = (A^2 x + B A sin z) / (2
/// alpha)`, `y' = C y / (2 alpha)`, `z' = z`. For a mirror-like surface `A` is `n.v`, and `B` and
/// `C` are 1: a half vector that tilts by `alpha` turns the reflected direction by `2 alpha` in the
/// plane of incidence and by `2 alpha cos` across.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LtcEntry {
    /// Root of the scale in the plane of incidence.
    pub a: f64,
    /// Direction of the lobe relative to the mirror direction.
    pub b: f64,
    /// Scale across.
    pub c: f64,
}

/// An inverse map: from directions to cosine space, where the lobe is a cosine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ltc {
    xx: f64,
    xz: f64,
    yy: f64,
}

impl Ltc {
    /// The map of a table entry.
    #[must_use]
    pub fn new(entry: LtcEntry, alpha: f64, view: DVec3) -> Self {
        let scale = 0.5 / alpha;
        Self {
            xx: entry.a * entry.a * scale,
            xz: entry.b * entry.a * view.x.abs() * scale,
            yy: entry.c * scale,
        }
    }

    /// The map for a roughness and a view, from the table.
    #[must_use]
    pub fn lookup(roughness: f64, view: DVec3) -> Self {
        Self::new(interpolate(roughness, view.z), (roughness * roughness).max(MIN_ALPHA), view)
    }

    /// A world direction of any length in cosine space.
    #[must_use]
    pub fn to_cosine(self, p: DVec3) -> DVec3 {
        dvec3(self.xx * p.x + self.xz * p.z, self.yy * p.y, p.z)
    }

    /// The inverse of `to_cosine`: a world direction, of any length.
    #[must_use]
    pub fn to_world(self, p: DVec3) -> DVec3 {
        dvec3((p.x - self.xz * p.z) / self.xx, p.y / self.yy, p.z)
    }

    /// The map's determinant.
    #[must_use]
    pub fn determinant(&self) -> f64 {
        self.xx * self.yy
    }

    /// The lobe's density (1/sr) at a unit world direction; it integrates to 1 over the hemisphere.
    #[must_use]
    pub fn density(&self, l: DVec3) -> f64 {
        let q = self.to_cosine(l).length_squared();
        l.z.max(0.0) * self.determinant() / (PI * q * q)
    }
}

/// The table at a roughness and a cosine to the viewer, each 0 to 1, bilinear.
#[must_use]
pub fn interpolate(roughness: f64, cosine: f64) -> LtcEntry {
    let place = |x: f64| {
        let x = x.clamp(0.0, 1.0) * (SIZE - 1) as f64;
        let low = (x.floor() as usize).min(SIZE - 2);
        (low, x - low as f64)
    };
    let ((row, v), (column, u)) = (place(roughness), place(cosine));
    let at = |r: usize, c: usize| table()[r * SIZE + c].map(f64::from);
    let mix = |k: usize| {
        let upper = at(row, column)[k] * (1.0 - u) + at(row, column + 1)[k] * u;
        let lower = at(row + 1, column)[k] * (1.0 - u) + at(row + 1, column + 1)[k] * u;
        upper * (1.0 - v) + lower * v
    };
    LtcEntry { a: mix(0), b: mix(1), c: mix(2) }
}

/// The roughness and the cosine of a table entry.
#[must_use]
pub fn grid(row: usize, column: usize) -> (f64, f64) {
    let cosine = column as f64 / (SIZE - 1) as f64;
    (row as f64 / (SIZE - 1) as f64, cosine.max(MIN_COSINE))
}

/// Cosine-distributed directions on a polar grid.
fn cosine_grid(rings: usize) -> Vec<DVec3> {
    let spokes = 2 * rings;
    let mut all = Vec::with_capacity(rings * spokes);
    for i in 0..rings {
        for j in 0..spokes {
            let u = (i as f64 + 0.5) / rings as f64;
            let (sin, cos) = ((j as f64 + 0.5) / spokes as f64 * 2.0 * PI).sin_cos();
            all.push(dvec3(u.sqrt() * cos, u.sqrt() * sin, (1.0 - u).sqrt()));
        }
    }
    all
}

/// Quality of a fit: the directional albedo of the lobe with F = 1, and the chi-square divergence.
/// The latter is the variance of BRDF over density under the density, relative to the squared mean;
/// 0 for a perfect fit.
#[must_use]
pub fn quality(ltc: &Ltc, alpha: f64, view: DVec3, rings: usize) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    let points = cosine_grid(rings);
    for p in &points {
        let l = ltc.to_world(*p).normalize_or(DVec3::Z);
        let ratio = brdf::specular(view, l, alpha).specular / ltc.density(l).max(1e-300);
        sum += ratio;
        squares += ratio * ratio;
    }
    let n = points.len() as f64;
    let mean = sum / n;
    (mean, squares / n / (mean * mean).max(1e-300) - 1.0)
}

/// Fits the map for a roughness and a cosine to the viewer: minimizes chi-square by the simplex
/// method of Nelder and Mead (1965), from the mirror's map. Deterministic.
#[must_use]
pub fn fit(roughness: f64, cosine: f64) -> LtcEntry {
    let alpha = (roughness * roughness).max(MIN_ALPHA);
    let view = view_direction(cosine);
    let entry = |x: [f64; 3]| LtcEntry { a: x[0].exp(), b: x[1], c: x[2].exp() };
    let start = [cosine.max(0.5 * alpha).ln(), 1.0, 0.0];
    // Regularization towards the mirror's map, for lobes finer than the grid of directions.
    let away = |x: [f64; 3]| 1e-3 * (0..3).map(|k| (x[k] - start[k]).powi(2)).sum::<f64>();
    let cost = |x: [f64; 3]| quality(&Ltc::new(entry(x), alpha, view), alpha, view, 20).1 + away(x);
    let mut fitted = entry(nelder_mead(cost, nelder_mead(cost, start, 0.2), 0.05));
    if view.x < 1e-6 {
        // At normal incidence the lobe points along the normal.
        fitted.b = 1.0;
    }
    fitted
}

fn nelder_mead(cost: impl Fn([f64; 3]) -> f64, start: [f64; 3], size: f64) -> [f64; 3] {
    let mut simplex = vec![(start, cost(start))];
    for axis in 0..3 {
        let mut x = start;
        x[axis] += size;
        simplex.push((x, cost(x)));
    }
    for _ in 0..120 {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        if simplex[3].1 - simplex[0].1 < 1e-10 {
            break;
        }
        let worst = simplex[3];
        let along = |t: f64| {
            let mut x = [0.0; 3];
            for (k, x) in x.iter_mut().enumerate() {
                let middle = (simplex[0].0[k] + simplex[1].0[k] + simplex[2].0[k]) / 3.0;
                *x = middle + t * (middle - worst.0[k]);
            }
            (x, cost(x))
        };
        let reflected = along(1.0);
        if reflected.1 < simplex[0].1 {
            let expanded = along(2.0);
            simplex[3] = if expanded.1 < reflected.1 { expanded } else { reflected };
        } else if reflected.1 < simplex[2].1 {
            simplex[3] = reflected;
        } else {
            let contracted = along(-0.5);
            if contracted.1 < worst.1 {
                simplex[3] = contracted;
            } else {
                let best = simplex[0].0;
                for vertex in &mut simplex[1..] {
                    for (x, best) in vertex.0.iter_mut().zip(best) {
                        *x = 0.5 * (*x + best);
                    }
                    vertex.1 = cost(vertex.0);
                }
            }
        }
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex[0].0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_the_fit_gives() {
        assert_eq!(table().len(), SIZE * SIZE);
        for (row, column) in [(0, 31), (3, 9), (9, 20), (16, 4), (24, 15), (31, 31), (12, 0)] {
            let (roughness, cosine) = grid(row, column);
            let fitted = fit(roughness, cosine);
            let stored = table()[row * SIZE + column].map(f64::from);
            for (got, want) in [fitted.a, fitted.b, fitted.c].into_iter().zip(stored) {
                assert!(
                    (got - want).abs() < 1e-4 * want.abs().max(1.0),
                    "{row} {column}: {got} for {want}"
                );
            }
        }
    }

    /// Every entry's lobe reaches wherever the BRDF has light: the mean of their ratio is the
    /// directional albedo.
    #[test]
    fn every_entry_keeps_the_energy() {
        for row in 0..SIZE {
            for column in 0..SIZE {
                let (roughness, cosine) = grid(row, column);
                let (alpha, view) =
                    ((roughness * roughness).max(MIN_ALPHA), view_direction(cosine));
                let [a, b, c] = table()[row * SIZE + column].map(f64::from);
                assert!(a > 0.0 && c > 0.0 && a.is_finite() && b.is_finite() && c.is_finite());
                let (by_map, _) =
                    quality(&Ltc::new(LtcEntry { a, b, c }, alpha, view), alpha, view, 48);
                // The mirror's map, by far more directions, where it resolves the lobe.
                if cosine > 4.0 * alpha || roughness > 0.7 {
                    let mirror =
                        Ltc::new(LtcEntry { a: cosine.max(alpha), b: 1.0, c: 1.0 }, alpha, view);
                    let (want, _) = quality(&mirror, alpha, view, 96);
                    assert!(
                        (by_map / want - 1.0).abs() < 0.02,
                        "{row} {column}: {by_map} for {want}"
                    );
                }
                assert!(by_map > 0.2 && by_map < 1.02, "{row} {column}: {by_map}");
            }
        }
    }

    #[test]
    fn the_map_and_its_inverse_agree() {
        let view = view_direction(0.6);
        let ltc = Ltc::lookup(0.35, view);
        let p = dvec3(0.2, -0.5, 0.7);
        assert!(ltc.to_cosine(ltc.to_world(p)).distance(p) < 1e-12);
        assert!(ltc.determinant() > 0.0 && ltc.density(dvec3(0.0, 0.6, 0.8)) > 0.0);
    }
}
