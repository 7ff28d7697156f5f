//! A clear coat: KHR_materials_clearcoat. Its Fresnel term is that of the whole coat, at the angle
//! of the view, and not of the facets: the extension has it so, that what the coat leaves is simply
//! the rest. Swapping view and light thus gives another value.

use glam::{DVec2, DVec3};

use super::{
    MIN_ALPHA,
    microfacet::{Alpha, ggx, lambda, sample_visible_normal, schlick, visible_normal_pdf},
};

/// Reflectance of the index 1.5 along the normal.
const F0: f64 = 0.04;

/// How much a coat of this strength takes from what lies below, and reflects, at an angle of this
/// cosine.
#[must_use]
pub fn coat_reflectance(factor: f64, cos: f64) -> f64 {
    factor * (F0 + (1.0 - F0) * schlick(cos.abs()))
}

/// A layer over everything else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coat {
    /// How much of it there is, 0 to 1.
    pub factor: f64,
    /// Roughness squared, 0 to 1.
    pub alpha: f64,
    /// Its own normal, in the frame of the surface.
    pub normal: DVec3,
}

impl Coat {
    /// What it takes from below of light that leaves towards `v`.
    #[must_use]
    pub fn reflectance(&self, v: DVec3) -> f64 {
        coat_reflectance(self.factor, v.dot(self.normal))
    }

    fn spread(&self) -> Alpha {
        Alpha::isotropic(self.alpha.max(MIN_ALPHA))
    }

    /// In the coat's own frame.
    fn inside(&self, d: DVec3) -> DVec3 {
        let (x, y) = self.normal.any_orthonormal_pair();
        DVec3::new(d.dot(x), d.dot(y), d.dot(self.normal))
    }

    /// A view that the coat's normal turns away is a grazing one.
    fn view(&self, v: DVec3) -> DVec3 {
        let v = self.inside(v);
        if v.z >= 1e-4 { v } else { DVec3::new(v.x, v.y, 1e-4).normalize() }
    }

    /// The lobe with the light's cosine, reflectance 1.
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

    /// Density (1/sr) with which `sample` gives `l`. Under a tilted coat `l` may lie so far below
    /// the coat's own horizon that the half vector does too: no facet faces that way, though GGX,
    /// being even, has a value there.
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
