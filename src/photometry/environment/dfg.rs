//! DFG table: split-sum reflectance under uniform light over view angle and roughness.

use std::{f64::consts::PI, sync::OnceLock};

use glam::Vec3;

use crate::photometry::fresnel::schlick_weight;

/// Entries on each side of the table; the first is at 0, the last at 1.
pub const DFG_SIZE: usize = 32;
/// Minimum alpha, as `MIN_ALPHA` in `shaders/lib/brdf.glsl`.
const MIN_ALPHA: f64 = 0.002;

/// The table, rows of roughness, columns of the cosine to the view, both in `DFG_SIZE` equal steps
/// from 0 to 1: scale and bias of F0 in the specular reflectance, and the reflectance of the
/// diffuse part for a white base color.
///
/// Scale and bias: Karis, "Real Shading in Unreal Engine 4" (2013), equation 8, for the BRDF of
/// `shaders/lib/brdf.glsl` (GGX, height-correlated Smith, Schlick with F90 = 1). The diffuse part
/// there is `(1 - F(v.h)) / pi` with F0 = 0.04, whose integral depends on the view alone.
#[must_use]
pub fn dfg_table() -> &'static [Vec3] {
    static TABLE: OnceLock<Vec<Vec3>> = OnceLock::new();
    TABLE.get_or_init(compute_table)
}

fn compute_table() -> Vec<Vec3> {
    let step = |i: usize| i as f64 / (DFG_SIZE - 1) as f64;
    let diffuse: Vec<f64> = (0..DFG_SIZE).map(|x| diffuse_reflectance(step(x))).collect();
    let entry = |i: usize| {
        let (x, y) = (i % DFG_SIZE, i / DFG_SIZE);
        let (scale, bias) = specular_scale_bias(step(x), step(y), 64);
        Vec3::new(scale as f32, bias as f32, diffuse[x] as f32)
    };
    // On one thread: a worker that waits for others here may take a task that needs the table.
    (0..DFG_SIZE * DFG_SIZE).map(entry).collect()
}

/// Scale and bias at a cosine to the view and a roughness, from `n * n` visible half vectors.
///
/// Heitz, "Sampling the GGX Distribution of Visible Normals", JCGT 7 (2018): the weight of each
/// sample is G2 / G1, at most 1.
#[must_use]
pub fn specular_scale_bias(nv: f64, roughness: f64, n: u32) -> (f64, f64) {
    let nv = nv.max(1e-4);
    let alpha = (roughness * roughness).max(MIN_ALPHA);
    let a2 = alpha * alpha;
    let view = [(1.0 - nv * nv).max(0.0).sqrt(), nv];
    // The view in the space stretched to roughness 1 (section 3.1); the second axis is +Y.
    let stretched = (alpha * view[0]).hypot(view[1]);
    let (vx, vz) = (alpha * view[0] / stretched, view[1] / stretched);
    let masking = nv + (a2 + (1.0 - a2) * nv * nv).sqrt();
    let (mut scale, mut bias) = (0.0, 0.0);
    for i in 0..n {
        let r = ((f64::from(i) + 0.5) / f64::from(n)).sqrt();
        for j in 0..n {
            let (sin, cos) = (2.0 * PI * (f64::from(j) + 0.5) / f64::from(n)).sin_cos();
            // Section 3.2: a disk whose lower half is foreshortened.
            let t1 = r * cos;
            let s = f64::midpoint(1.0, vz);
            let t2 = (1.0 - s) * (1.0 - t1 * t1).max(0.0).sqrt() + s * r * sin;
            let t3 = (1.0 - t1 * t1 - t2 * t2).max(0.0).sqrt();
            // T1 = Y, T2 = V x T1 = (-vz, 0, vx).
            let (hx, hy, hz) =
                (alpha * (t3 * vx - t2 * vz), alpha * t1, (t3 * vz + t2 * vx).max(0.0));
            let length = (hx * hx + hy * hy + hz * hz).sqrt();
            let vh = (view[0] * hx + view[1] * hz) / length;
            let nl = 2.0 * vh * hz / length - nv;
            if nl <= 0.0 || vh <= 0.0 {
                continue;
            }
            // G2 = 2 n.l n.v / (...), G1 = 2 n.v / (...): Heitz 2014, equation 99.
            let both =
                nl * (nv * nv * (1.0 - a2) + a2).sqrt() + nv * (nl * nl * (1.0 - a2) + a2).sqrt();
            let weight = nl * masking / both;
            let fresnel = schlick_weight(vh);
            scale += (1.0 - fresnel) * weight;
            bias += fresnel * weight;
        }
    }
    let count = f64::from(n) * f64::from(n);
    (scale / count, bias / count)
}

/// The integral of `(1 - F(v.h)) / pi` times the cosine over the hemisphere of light.
fn diffuse_reflectance(nv: f64) -> f64 {
    let n = 64;
    let view = [(1.0 - nv * nv).max(0.0).sqrt(), nv];
    let mut sum = 0.0;
    for i in 0..n {
        // By the cosine.
        let u = (f64::from(i) + 0.5) / f64::from(n);
        let (cos, sin) = ((1.0 - u).sqrt(), u.sqrt());
        for j in 0..n {
            let azimuth = PI * (f64::from(j) + 0.5) / f64::from(n);
            let vl = view[0] * sin * azimuth.cos() + view[1] * cos;
            let vh = ((1.0 + vl) / 2.0).max(0.0).sqrt();
            sum += 1.0 - (0.04 + 0.96 * schlick_weight(vh));
        }
    }
    sum / f64::from(n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_known_values() {
        // Directional albedo with F = 1 is scale + bias; these were computed apart from this code,
        // those of cosine 0.1 and roughness below 1 by Gauss-Legendre in the light's cosine (4000
        // nodes) and 2000 steps of azimuth.
        for (roughness, at) in [
            (1.0, [(1.0, 1.0 - std::f64::consts::LN_2), (0.5, 0.4507), (0.1, 0.7604)]),
            (0.7, [(1.0, 0.6977), (0.5, 0.7040), (0.1, 0.8619)]),
            (0.5, [(1.0, 0.9158), (0.5, 0.8573), (0.1, 0.8916)]),
            (0.3, [(1.0, 0.991), (0.5, 0.976), (0.1, 0.8843)]),
        ] {
            for (nv, want) in at {
                let (scale, bias) = specular_scale_bias(nv, roughness, 256);
                assert!(
                    (scale + bias - want).abs() < 1.5e-3,
                    "{roughness} {nv}: {}, not {want}",
                    scale + bias
                );
            }
        }
        for (roughness, scale, bias) in
            [(0.1, 0.968, 0.0314), (0.5, 0.8350, 0.0223), (1.0, 0.4477, 0.0030)]
        {
            let got = specular_scale_bias(0.5, roughness, 256);
            assert!(
                (got.0 - scale).abs() < 1e-3 && (got.1 - bias).abs() < 1e-3,
                "{roughness}: {got:?}"
            );
        }
    }

    #[test]
    fn the_table_is_fine_enough() {
        let table = dfg_table();
        let mut worst = 0.0_f64;
        for y in 0..DFG_SIZE - 1 {
            for x in 0..DFG_SIZE - 1 {
                let at = |x: usize, y: usize| {
                    table.get(y * DFG_SIZE + x).copied().unwrap_or_default().as_dvec3()
                };
                let between = (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4.0;
                let (nv, roughness) = ((x as f64 + 0.5) / 31.0, (y as f64 + 0.5) / 31.0);
                let (scale, bias) = specular_scale_bias(nv, roughness, 96);
                // Below a cosine of 0.06 surfaces are seen edge on.
                if x >= 2 {
                    worst = worst.max((between.x + between.y - scale - bias).abs());
                }
                assert!((0.0..=1.001).contains(&(between.x + between.y)) && between.z < 0.97);
            }
        }
        println!("greatest error of the interpolated albedo: {worst:.4}");
        assert!(worst < 0.01, "{worst}");
    }
}
