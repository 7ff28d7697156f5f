//! The whole BSDF: the base below sheen and clearcoat, evaluated and sampled.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::{
    base_lobes::{BaseEvaluator, BaseSample},
    microfacet::sample_uniform_hemisphere,
    parameters::{Bsdf, GlassInterface},
    value::{BsdfSample, BsdfValue},
};

/// Sampling probabilities of the layers; the rest is the base's.
#[derive(Clone, Copy)]
struct Layers {
    sheen: f64,
    coat: f64,
}

impl Layers {
    fn base(self) -> f64 {
        1.0 - self.sheen - self.coat
    }
}

impl Bsdf {
    /// Fraction of light that passes straight through a smooth thin wall, for shadow rays too.
    /// `evaluate` and `sample` exclude it: the surface acts as if partly absent.
    #[must_use]
    pub fn straight_through(&self, v: DVec3) -> DVec3 {
        let through = self.base_straight_through(v);
        if self.is_bare() || through == DVec3::ZERO {
            through
        } else {
            through * self.layer_transmittance(v, -v)
        }
    }

    /// True if no layer lies over the base.
    const fn is_bare(&self) -> bool {
        self.sheen.is_none() && self.coat.is_none()
    }

    /// Transmittance of the layers over the base. KHR_materials_clearcoat uses only the view's
    /// term.
    fn layer_transmittance(&self, v: DVec3, l: DVec3) -> f64 {
        let below_coat = self.coat.map_or(1.0, |coat| 1.0 - coat.reflectance(v));
        below_coat * self.sheen.map_or(1.0, |sheen| sheen.transmittance(v, l))
    }

    /// Prepares evaluation for a view direction `v` (z > 0, a unit vector): terms that do not
    /// depend on the light are computed once.
    #[must_use]
    pub fn evaluator(&self, v: DVec3) -> BsdfEvaluator<'_> {
        let layers = (!self.is_bare()).then(|| self.layers(v));
        BsdfEvaluator { bsdf: self, v, base: self.base_seen(v), layers }
    }

    fn layers(&self, v: DVec3) -> Layers {
        Layers {
            sheen: self.sheen.map_or(0.0, |sheen| sheen.albedo(v.z).clamp(0.05, 0.4)),
            coat: self.coat.map_or(0.0, |coat| coat.reflectance(v).clamp(0.1, 0.5)),
        }
    }

    /// BSDF times cosine for view `v` (z > 0) and light `l` (unit vectors), without the delta lobes
    /// of smooth glass.
    #[must_use]
    pub fn evaluate(&self, v: DVec3, l: DVec3) -> BsdfValue {
        self.evaluator(v).evaluate(l).0
    }

    /// Density (1/sr) of `l` in `sample`, without the delta lobes of smooth glass.
    #[must_use]
    pub fn pdf(&self, v: DVec3, l: DVec3) -> f64 {
        self.evaluator(v).evaluate(l).1
    }

    /// Samples a direction approximately in proportion to the BSDF towards `v`; `None` if it falls
    /// on the wrong side.
    #[must_use]
    pub fn sample(&self, v: DVec3, lobe: f64, u: DVec2) -> Option<BsdfSample> {
        self.evaluator(v).sample(lobe, u)
    }
}

/// A BSDF prepared for one view direction.
#[derive(Clone, Copy)]
pub struct BsdfEvaluator<'a> {
    bsdf: &'a Bsdf,
    v: DVec3,
    base: BaseEvaluator,
    /// Sampling probabilities of the layers; `None` without layers.
    layers: Option<Layers>,
}

impl BsdfEvaluator<'_> {
    /// BSDF times cosine for light from `l`, and the density (1/sr) of `l` in `sample`; both
    /// without the delta lobes of smooth glass.
    #[must_use]
    pub fn evaluate(&self, l: DVec3) -> (BsdfValue, f64) {
        let (bsdf, v) = (self.bsdf, self.v);
        let (base, base_density) = bsdf.evaluate_base(&self.base, v, l);
        let Some(chances) = self.layers else { return (base, base_density) };
        let mut all = base.scaled(bsdf.layer_transmittance(v, l));
        if v.z <= 0.0 {
            return (all, 0.0);
        }
        let mut density = chances.base() * base_density;
        if l.z <= 0.0 {
            return (all, density);
        }
        density += chances.sheen / (2.0 * PI);
        let mut below_coat = 1.0;
        if let Some(coat) = bsdf.coat {
            let share = coat.reflectance(v);
            below_coat -= share;
            all.specular += share * coat.evaluate(v, l);
            density += chances.coat * coat.pdf(v, l);
        }
        if let Some(sheen) = bsdf.sheen {
            all.specular += below_coat * sheen.evaluate(v, l);
        }
        (all, density)
    }

    /// Samples a direction approximately in proportion to the BSDF towards the view; `None` if it
    /// falls on the wrong side.
    #[must_use]
    pub fn sample(&self, lobe: f64, u: DVec2) -> Option<BsdfSample> {
        let (bsdf, v) = (self.bsdf, self.v);
        if v.z <= 0.0 {
            return None;
        }
        let mut below = 1.0;
        let l = match self.layers {
            None => bsdf.sample_base(&self.base, v, lobe, u)?,
            Some(chances) => {
                below = chances.base();
                if lobe < below {
                    // The remainder of the number is uniform again.
                    bsdf.sample_base(&self.base, v, lobe / below, u)?
                } else {
                    let l = match bsdf.coat {
                        Some(coat) if lobe >= below + chances.sheen => coat.sample(v, u),
                        _ => sample_uniform_hemisphere(u),
                    };
                    (l.z > 0.0).then_some(BaseSample::Direction(l))?
                }
            }
        };
        match l {
            BaseSample::Delta(mut sampled) => {
                if self.layers.is_some() {
                    sampled.weight =
                        sampled.weight.scaled(bsdf.layer_transmittance(v, sampled.l) / below);
                }
                Some(sampled)
            }
            BaseSample::Direction(l) => {
                let (scattered, density) = self.evaluate(l);
                let bent = match bsdf.interface {
                    GlassInterface::VolumeBoundary { eta } if l.z < 0.0 && bsdf.glass() > 0.0 => {
                        eta * eta
                    }
                    _ => 1.0,
                };
                (density > 0.0).then(|| BsdfSample {
                    l,
                    weight: scattered.over(density),
                    pdf: Some(density),
                    eta_scale: bent,
                })
            }
        }
    }
}
