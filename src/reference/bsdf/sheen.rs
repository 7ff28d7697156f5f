//! Sheen: KHR_materials_sheen, after Estevez and Kulla, "Production Friendly Microfacet Sheen BRDF"
//! (SIGGRAPH 2017). It uses their distribution ("Charlie", section 3) and their fit of Smith's
//! Lambda (section 4), not Ashikhmin's term. The base below is attenuated by the sheen's
//! directional albedo, the greater one of view and light (the extension's "albedo-scaling
//! technique").

use std::{f64::consts::PI, sync::LazyLock};

use glam::DVec3;

use super::albedo::AlbedoTable;

pub use crate::scene::MIN_SHEEN_ROUGHNESS;

/// A sheen layer of fibers on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheen {
    /// Color and strength, 0 to 1.
    pub color: DVec3,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f64,
}

/// Directional albedo by cosine and roughness.
static ALBEDO: LazyLock<AlbedoTable> = LazyLock::new(|| {
    AlbedoTable::of(64, |cos, roughness| {
        albedo_by_quadrature(cos.max(1e-3), roughness.max(MIN_SHEEN_ROUGHNESS))
    })
});

/// Integral of the lobe of color 1 over all light directions, at midpoints.
pub(super) fn albedo_by_quadrature(cos: f64, roughness: f64) -> f64 {
    let sheen = Sheen { color: DVec3::ONE, roughness };
    let v = DVec3::new((1.0 - cos * cos).max(0.0).sqrt(), 0.0, cos);
    let (rows, columns) = (64, 32);
    let mut sum = 0.0;
    for row in 0..rows {
        // Equal steps of the angle: the lobe is narrow at the horizon.
        let tilt = (f64::from(row) + 0.5) / f64::from(rows) * (PI / 2.0);
        for column in 0..columns {
            let (s, c) = (PI * (f64::from(column) + 0.5) / f64::from(columns)).sin_cos();
            let l = DVec3::new(tilt.sin() * c, tilt.sin() * s, tilt.cos());
            sum += sheen.lobe(v, l) * tilt.sin();
        }
    }
    // By symmetry, half of the circle represents the whole.
    sum * (PI / 2.0 / f64::from(rows)) * (2.0 * PI / f64::from(columns))
}

/// Smith's Lambda in the paper's fit: equation 3 and table 1.
fn lambda(cos: f64, alpha: f64) -> f64 {
    let t = (1.0 - alpha) * (1.0 - alpha);
    let mix = |rough: f64, smooth: f64| rough + (smooth - rough) * t;
    let (a, b, c) = (mix(21.5473, 25.3245), mix(3.82987, 3.32435), mix(0.19823, 0.16801));
    let (d, e) = (mix(-1.97760, -1.27393), mix(-4.32054, -4.85967));
    let l = |x: f64| a / (1.0 + b * x.powf(c)) + d * x + e;
    if cos < 0.5 { l(cos).exp() } else { (2.0 * l(0.5) - l(1.0 - cos)).exp() }
}

impl Sheen {
    fn alpha(&self) -> f64 {
        let roughness = self.roughness.clamp(MIN_SHEEN_ROUGHNESS, 1.0);
        roughness * roughness
    }

    /// The lobe of color 1 times the light's cosine; both directions are above the surface.
    fn lobe(&self, v: DVec3, l: DVec3) -> f64 {
        let sum = v + l;
        if v.z <= 0.0 || l.z <= 0.0 || sum.length_squared() < 1e-24 {
            return 0.0;
        }
        let alpha = self.alpha();
        let h = sum.normalize();
        let sin2 = (h.x * h.x + h.y * h.y).min(1.0);
        let d = (2.0 + 1.0 / alpha) * sin2.powf(0.5 / alpha) / (2.0 * PI);
        let visibility = 1.0 / ((1.0 + lambda(v.z, alpha) + lambda(l.z, alpha)) * 4.0 * v.z);
        d * visibility
    }

    pub(super) fn evaluate(&self, v: DVec3, l: DVec3) -> DVec3 {
        self.color * self.lobe(v, l)
    }

    /// Directional albedo of the strongest channel, at an angle of this cosine.
    #[must_use]
    pub fn albedo(&self, cos: f64) -> f64 {
        self.color.max_element() * ALBEDO.at(cos.abs(), self.roughness.max(MIN_SHEEN_ROUGHNESS))
    }

    /// Transmittance of the layer for light between two directions.
    pub(super) fn transmittance(&self, v: DVec3, l: DVec3) -> f64 {
        (1.0 - self.albedo(v.z).max(self.albedo(l.z))).max(0.0)
    }
}
