//! Microfacet distributions and interface optics. Directions are unit vectors in the shading frame:
//! z is the shading normal, x the tangent.

pub(super) use crate::photometry::fresnel::schlick_weight as schlick;
use std::f64::consts::PI;

use glam::{DVec2, DVec3};

/// Alpha below which the highlight of a point-like source is always narrower than a pixel
/// (`shaders/lib/brdf.glsl`). Metal and opaque dielectrics are clamped to it, and glass is smooth
/// below it.
pub const MIN_ALPHA: f64 = 0.002;

/// GGX alpha along the tangent and across it; equal for isotropic roughness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alpha {
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
}

impl Alpha {
    /// Isotropic roughness.
    #[must_use]
    pub const fn isotropic(alpha: f64) -> Self {
        Self { x: alpha, y: alpha }
    }

    /// Clamps both to a minimum.
    pub(super) const fn at_least(self, min: f64) -> Self {
        Self { x: self.x.max(min), y: self.y.max(min) }
    }
}

/// Distribution of normals (1/sr). Walter et al. 2007, equation 33; anisotropic: Heitz 2014,
/// equation 85.
pub(super) fn ggx(h: DVec3, alpha: Alpha) -> f64 {
    let Alpha { x, y } = alpha;
    let k = 1.0 / (h.x * h.x * (y / x) + h.y * h.y * (x / y) + h.z * h.z * (x * y));
    x * y * k * k / PI
}

/// Smith's Lambda of GGX, for directions on either side. Heitz 2014, equations 72 and 80.
pub(super) fn lambda(v: DVec3, alpha: Alpha) -> f64 {
    let (x, y) = (alpha.x * v.x, alpha.y * v.y);
    0.5 * ((1.0 + (x * x + y * y) / (v.z * v.z)).sqrt() - 1.0)
}

/// Density (1/sr) of the normals visible from `v`, over `v.h`. Heitz 2014, equation 19.
pub(super) fn visible_normal_pdf(v: DVec3, h: DVec3, alpha: Alpha) -> f64 {
    ggx(h, alpha) / (v.z * (1.0 + lambda(v, alpha)))
}

/// Fresnel reflectance of a smooth dielectric interface for unpolarized light (Born and Wolf,
/// section 1.5.2). `eta` is the index beyond over the one on the side of the light. The result is 1
/// beyond the critical angle, and for an invalid index (0 or infinite).
#[must_use]
pub fn fresnel(cos: f64, eta: f64) -> f64 {
    if eta <= 0.0 || !eta.is_finite() {
        return 1.0;
    }
    let cos = cos.clamp(0.0, 1.0);
    let sin2 = (1.0 - cos * cos) / (eta * eta);
    if sin2 >= 1.0 {
        return 1.0;
    }
    let beyond = (1.0 - sin2).sqrt();
    let along = (eta * cos - beyond) / (eta * cos + beyond);
    let across = (cos - eta * beyond) / (cos + eta * beyond);
    0.5 * (along * along + across * across)
}

/// Refracted direction of light from `v` through an interface with the normal `h` (`v.h` above 0),
/// by Snell's law; `None` beyond the critical angle.
#[must_use]
pub fn refract(v: DVec3, h: DVec3, eta: f64) -> Option<DVec3> {
    let cos = v.dot(h);
    let sin2 = (1.0 - cos * cos).max(0.0) / (eta * eta);
    (sin2 < 1.0).then(|| (h * (cos / eta - (1.0 - sin2).sqrt()) - v / eta).normalize())
}

/// Normal, on the side of `v`, of a microfacet that refracts light between `v` and `l`, which is on
/// the other side; `None` if there is none. Walter et al. 2007, equation 16.
pub(super) fn refracting_normal(v: DVec3, l: DVec3, eta: f64) -> Option<DVec3> {
    let h = (v + eta * l).try_normalize()?;
    let h = if h.z < 0.0 { -h } else { h };
    (v.dot(h) > 0.0 && l.dot(h) < 0.0).then_some(h)
}

/// Cosine-weighted direction with density cos/pi: Malley's method.
#[must_use]
pub fn sample_cosine_hemisphere(u: DVec2) -> DVec3 {
    let (r, phi) = (u.x.sqrt(), 2.0 * PI * u.y);
    DVec3::new(r * phi.cos(), r * phi.sin(), (1.0 - u.x).max(0.0).sqrt())
}

/// Uniform direction on the hemisphere, with density 1/(2 pi).
pub(super) fn sample_uniform_hemisphere(u: DVec2) -> DVec3 {
    let (sin, phi) = ((1.0 - u.x * u.x).max(0.0).sqrt(), 2.0 * PI * u.y);
    DVec3::new(sin * phi.cos(), sin * phi.sin(), u.x)
}

/// Samples a normal visible from `v`. Heitz, "Sampling the GGX Distribution of Visible Normals"
/// (JCGT 7(4), 2018), section 3.2, in the form of Dupuy and Benyoub, "Sampling Visible GGX Normals
/// with Spherical Caps" (2023), section 3.
#[must_use]
pub fn sample_visible_normal(v: DVec3, alpha: Alpha, u: DVec2) -> DVec3 {
    let stretched = DVec3::new(alpha.x * v.x, alpha.y * v.y, v.z).normalize();
    let phi = 2.0 * PI * u.x;
    let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
    let sin = (1.0 - z * z).max(0.0).sqrt();
    let h = DVec3::new(sin * phi.cos(), sin * phi.sin(), z) + stretched;
    DVec3::new(alpha.x * h.x, alpha.y * h.y, h.z).normalize_or(DVec3::Z)
}
