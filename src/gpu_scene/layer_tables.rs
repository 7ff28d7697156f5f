//! Albedo tables of the forward pass's lobes over view angle and perceptual roughness.

use std::{f64::consts::PI, sync::OnceLock};

use glam::Vec3;

use crate::{
    photometry::environment::{DFG_SIZE, dfg_table},
    scene::MIN_SHEEN_ROUGHNESS,
};

/// The table: rows of roughness, columns of the cosine to the view, both in `DFG_SIZE` equal steps
/// from 0 to 1. Each entry holds scale and bias of F0 of GGX
/// (`photometry::environment::dfg_table`), and the directional albedo of white sheen.
pub fn table() -> &'static [Vec3] {
    static TABLE: OnceLock<Vec<Vec3>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let step = |i: usize| i as f64 / (DFG_SIZE - 1) as f64;
        dfg_table()
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                let (x, y) = (index % DFG_SIZE, index / DFG_SIZE);
                Vec3::new(entry.x, entry.y, sheen_albedo(step(x), step(y), 32) as f32)
            })
            .collect()
    })
}

/// Charlie distribution of fiber normals (1/sr). Estevez and Kulla, "Production Friendly Microfacet
/// Sheen BRDF" (2017), equation 2.
fn charlie(sine: f64, alpha: f64) -> f64 {
    (2.0 + 1.0 / alpha) * sine.powf(1.0 / alpha) / (2.0 * PI)
}

/// Masking curve. Estevez and Kulla 2017, equation 3 and table 1.
fn curve(x: f64, alpha: f64) -> f64 {
    let t = (1.0 - alpha) * (1.0 - alpha);
    let between = |smooth: f64, rough: f64| t * smooth + (1.0 - t) * rough;
    let (a, b) = (between(25.3245, 21.5473), between(3.32435, 3.82987));
    let (c, d, e) =
        (between(0.16801, 0.19823), between(-1.27393, -1.97760), between(-4.85967, -4.32054));
    a / (1.0 + b * x.powf(c)) + d * x + e
}

fn lambda(cosine: f64, alpha: f64) -> f64 {
    if cosine < 0.5 {
        curve(cosine, alpha).exp()
    } else {
        (2.0 * curve(0.5, alpha) - curve(1.0 - cosine, alpha)).exp()
    }
}

/// Directional albedo of white sheen at the view cosine `nv`, integrated over `n * 2n` directions.
#[must_use]
pub fn sheen_albedo(nv: f64, roughness: f64, n: u32) -> f64 {
    let nv = nv.max(1e-3);
    let alpha = roughness.max(MIN_SHEEN_ROUGHNESS).powi(2);
    let view = [(1.0 - nv * nv).max(0.0).sqrt(), nv];
    let masked = lambda(nv, alpha);
    let mut sum = 0.0;
    for i in 0..n {
        // Even steps of the squared angle from the horizon, where the lobe is strongest.
        let u = (f64::from(i) + 0.5) / f64::from(n);
        let elevation = 0.5 * PI * u * u;
        let (nl, sine) = elevation.sin_cos();
        let width = PI * u / f64::from(n) * sine;
        let shadowed = lambda(nl, alpha);
        for j in 0..2 * n {
            let azimuth = PI * (f64::from(j) + 0.5) / f64::from(2 * n);
            let (hx, hy, hz) = (view[0] + sine * azimuth.cos(), sine * azimuth.sin(), nv + nl);
            let nh = hz / (hx * hx + hy * hy + hz * hz).sqrt();
            let d = charlie((1.0 - nh * nh).max(0.0).sqrt(), alpha);
            sum += d / ((1.0 + masked + shadowed) * 4.0 * nv) * width;
        }
    }
    (sum * 2.0 * PI / f64::from(2 * n)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheen_reflects_no_more_than_all() {
        let table = table();
        assert_eq!(table.len(), DFG_SIZE * DFG_SIZE);
        assert!(table.iter().all(|entry| (0.0..=1.0).contains(&entry.z)));
    }

    #[test]
    fn the_table_agrees_with_a_finer_integral() {
        let mut worst = 0.0_f64;
        for roughness in [0.2, 0.4, 0.7, 1.0] {
            for nv in [0.1, 0.3, 0.6, 1.0] {
                let (coarse, fine) =
                    (sheen_albedo(nv, roughness, 32), sheen_albedo(nv, roughness, 200));
                worst = worst.max((coarse - fine).abs());
            }
        }
        println!("maximum error of the sheen albedo: {worst:.5}");
        assert!(worst < 0.01, "{worst}");
    }
}
