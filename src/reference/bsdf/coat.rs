//! Clearcoat: KHR_materials_clearcoat. As in the extension, its Fresnel term uses the view angle to
//! the coat's normal, not the microfacets, so that the layers below get the complement. The lobe is
//! therefore not reciprocal.

use glam::{DVec2, DVec3};

use super::microfacet::{
    Alpha, MIN_ALPHA, ggx, lambda, sample_visible_normal, schlick, visible_normal_pdf,
};

/// Reflectance of index 1.5 at normal incidence.
const F0: f64 = 0.04;

/// Fresnel reflectance of a coat of this weight at an angle of this cosine, which also attenuates
/// the layers below.
#[must_use]
pub fn coat_reflectance(factor: f64, cos: f64) -> f64 {
    factor * (F0 + (1.0 - F0) * schlick(cos.abs()))
}

/// A clearcoat layer over all other lobes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coat {
    /// Weight of the coat, 0 to 1.
    pub factor: f64,
    /// Alpha: roughness squared, 0 to 1.
    pub alpha: f64,
    /// The coat's own normal, in the shading frame.
    pub normal: DVec3,
}

impl Coat {
    /// Fraction of the light from below that the coat takes towards `v`.
    #[must_use]
    pub fn reflectance(&self, v: DVec3) -> f64 {
        coat_reflectance(self.factor, v.dot(self.normal))
    }

    fn spread(&self) -> Alpha {
        Alpha::isotropic(self.alpha.max(MIN_ALPHA))
    }

    /// Transforms a direction to the coat's own frame.
    fn inside(&self, d: DVec3) -> DVec3 {
        let (x, y) = self.normal.any_orthonormal_pair();
        DVec3::new(d.dot(x), d.dot(y), d.dot(self.normal))
    }

    /// The view in the coat's frame; a view below the coat's horizon becomes a grazing one.
    fn view(&self, v: DVec3) -> DVec3 {
        let v = self.inside(v);
        if v.z >= 1e-4 { v } else { DVec3::new(v.x, v.y, 1e-4).normalize() }
    }

    /// The lobe times the light's cosine, with reflectance 1.
    pub(super) fn evaluate(&self, v: DVec3, l: DVec3) -> f64 {
        let (v, l) = (self.view(v), self.inside(l));
        let sum = v + l;
        if l.z <= 0.0 || sum.length_squared() < 1e-24 {
            return 0.0;
        }
        let alpha = self.spread();
        let g = 1.0 / (1.0 + lambda(v, alpha) + lambda(l, alpha));
        ggx(sum.normalize(), alpha) * g / (4.0 * v.z)
    }

    /// Density (1/sr) of `l` in `sample`. Under a tilted coat `l` may lie so far below the coat's
    /// horizon that the half vector does too. No microfacet faces that way, although GGX, being
    /// even, has a value there.
    pub(super) fn pdf(&self, v: DVec3, l: DVec3) -> f64 {
        let (v, l) = (self.view(v), self.inside(l));
        let sum = v + l;
        if sum.z <= 0.0 || sum.length_squared() < 1e-24 {
            return 0.0;
        }
        visible_normal_pdf(v, sum.normalize(), self.spread()) / 4.0
    }

    pub(super) fn sample(&self, v: DVec3, u: DVec2) -> DVec3 {
        let v = self.view(v);
        let h = sample_visible_normal(v, self.spread(), u);
        let l = 2.0 * v.dot(h) * h - v;
        let (x, y) = self.normal.any_orthonormal_pair();
        x * l.x + y * l.y + self.normal * l.z
    }
}
