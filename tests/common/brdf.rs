//! The BRDF of glTF in double precision.

use std::f64::consts::PI;

use glam::DVec3;
use sunny16::scene::Material;

/// The metallic/roughness BRDF of glTF 2.0 (Appendix B) in double precision, written from the
/// formulas and not from the shader: `(1-m)(F_d D V + (1-F_d) base/pi) + m F_m D V`.
#[derive(Clone, Copy, Debug)]
pub struct Brdf {
    pub base: DVec3,
    pub metallic: f64,
    pub roughness: f64,
}

/// Walter et al. 2007, equation 33 (GGX).
pub fn distribution(nh: f64, alpha: f64) -> f64 {
    let a2 = alpha * alpha;
    let q = nh * nh * (a2 - 1.0) + 1.0;
    a2 / (PI * q * q)
}

/// Heitz 2014, equation 99, over 4 n.l n.v.
pub fn visibility(nl: f64, nv: f64, alpha: f64) -> f64 {
    let a2 = alpha * alpha;
    0.5 / (nl * (nv * nv * (1.0 - a2) + a2).sqrt() + nv * (nl * nl * (1.0 - a2) + a2).sqrt())
}

/// Schlick 1994 with F90 = 1.
pub fn schlick(f0: f64, vh: f64) -> f64 {
    f0 + (1.0 - f0) * (1.0 - vh).powi(5)
}

/// The dielectric Fresnel reflectance, at the half angle between view and light.
pub fn dielectric_fresnel(l: DVec3, v: DVec3) -> f64 {
    schlick(0.04, v.dot((l + v).normalize()))
}

impl Brdf {
    pub fn diffuse(reflectance: f64) -> Self {
        Self { base: DVec3::splat(reflectance), metallic: 0.0, roughness: 1.0 }
    }

    /// Quantized as in the G-buffer: base color 12 bits of the square root, metallic 8 bits,
    /// roughness 12 bits.
    pub fn of(material: &Material) -> Self {
        // In single precision as on the device, so that rounding agrees.
        let quantize = |x: f32, steps: f32| f64::from((x * steps + 0.5).floor()) / f64::from(steps);
        let root = |x: f32| quantize(x.sqrt(), 4095.0).powi(2);
        let base = material.base_color;
        Self {
            base: DVec3::new(root(base.x), root(base.y), root(base.z)),
            metallic: quantize(material.metallic, 255.0),
            roughness: quantize(material.roughness, 4095.0),
        }
    }

    /// Diffuse and specular reflected radiance per irradiance on a plane that faces the light,
    /// cosine included (1/sr).
    pub fn evaluate(&self, n: DVec3, l: DVec3, v: DVec3) -> (DVec3, DVec3) {
        let (nl, nv) = (n.dot(l), n.dot(v));
        if nl <= 0.0 {
            return (DVec3::ZERO, DVec3::ZERO);
        }
        let h = (l + v).normalize();
        let alpha = (self.roughness * self.roughness).max(0.002);
        let dv = distribution(n.dot(h), alpha) * visibility(nl, nv, alpha);
        let vh = v.dot(h);
        let fd = schlick(0.04, vh);
        let fm = DVec3::new(
            schlick(self.base.x, vh),
            schlick(self.base.y, vh),
            schlick(self.base.z, vh),
        );
        let m = self.metallic;
        (
            (1.0 - m) * (1.0 - fd) / PI * self.base * nl,
            ((1.0 - m) * DVec3::splat(fd * dv) + m * fm * dv) * nl,
        )
    }

    pub fn total(&self, n: DVec3, l: DVec3, v: DVec3) -> DVec3 {
        let (diffuse, specular) = self.evaluate(n, l, v);
        diffuse + specular
    }
}
