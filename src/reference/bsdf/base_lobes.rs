//! Base lobes below the layers: metal, opaque dielectric and glass.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::{
    albedo::multiscatter_gain,
    microfacet::{
        Alpha, MIN_ALPHA, fresnel, ggx, lambda, refract, refracting_normal,
        sample_cosine_hemisphere, sample_visible_normal, schlick, visible_normal_pdf,
    },
    parameters::{Bsdf, GlassInterface},
    value::{BsdfSample, BsdfValue},
};

/// Relative difference of indices below which rough glass does not bend light visibly and counts as
/// smooth.
const SAME_INDEX: f64 = 1e-3;

/// Reflection across the surface plane.
const MIRROR: DVec3 = DVec3::new(1.0, 1.0, -1.0);

/// Sampling probabilities of the lobes.
#[derive(Clone, Copy)]
struct LobeProbabilities {
    glass: f64,
    specular: f64,
    /// Diffuse reflection or transmission.
    diffuse: f64,
    /// Fraction of diffuse samples that are transmitted.
    through: f64,
}

/// Sample of the base.
pub(super) enum BaseSample {
    /// One of the two directions of smooth glass.
    Delta(BsdfSample),
    /// Any other direction.
    Direction(DVec3),
}

/// Terms of the base that do not depend on the light.
#[derive(Clone, Copy)]
pub(super) struct BaseEvaluator {
    chances: LobeProbabilities,
    /// Alpha of metal and opaque dielectric.
    specular_alpha: Alpha,
    /// Smith's Lambda of the view.
    lambda: f64,
    /// Multiple-scattering gains of the dielectric and of metal; `None` without multiple
    /// scattering.
    gains: Option<[DVec3; 2]>,
}

impl Bsdf {
    /// KHR_materials_anisotropy: rougher along the tangent, by the square of the strength.
    fn roughness(&self) -> Alpha {
        let stretch = self.anisotropy * self.anisotropy;
        Alpha { x: self.alpha + (1.0 - self.alpha) * stretch, y: self.alpha }
    }

    /// Alpha of metal and opaque dielectric.
    fn specular_alpha(&self) -> Alpha {
        self.roughness().at_least(MIN_ALPHA)
    }

    /// Weight of glass in the whole.
    pub(super) fn glass(&self) -> f64 {
        (1.0 - self.metallic) * self.transmission
    }

    /// Weight of the opaque dielectric in the whole.
    fn opaque(&self) -> f64 {
        (1.0 - self.metallic) * (1.0 - self.transmission)
    }

    /// True if glass scatters only into the mirror and the refracted direction.
    fn is_smooth(&self) -> bool {
        self.alpha < MIN_ALPHA
            || matches!(self.interface, GlassInterface::VolumeBoundary { eta } if (eta - 1.0).abs() < SAME_INDEX)
    }

    fn has_rough_glass(&self) -> bool {
        self.glass() > 0.0 && !self.is_smooth()
    }

    fn lets_diffuse_through(&self) -> bool {
        self.diffuse_transmission > 0.0 && self.opaque() > 0.0
    }

    /// True if light from the other side is not a delta lobe.
    #[must_use]
    pub fn has_rough_transmission(&self) -> bool {
        self.has_rough_glass() || self.lets_diffuse_through()
    }

    /// Tinted reflectance at normal incidence of a dielectric whose index gives `f0`
    /// (KHR_materials_specular).
    fn tinted(&self, f0: f64) -> DVec3 {
        (f0 * self.specular_color).min(DVec3::ONE)
    }

    /// Reflectance with the thin film, given the reflectance `bare` without it.
    fn filmed(&self, bare: DVec3, cos: f64, f0: DVec3) -> DVec3 {
        self.thin_film.map_or(bare, |film| bare.lerp(film.reflectance(cos, f0), film.factor))
    }

    /// Reflectance of the opaque dielectric at an angle of this cosine.
    fn dielectric(&self, cos: f64) -> DVec3 {
        let f0 = self.tinted(self.f0);
        let bare = if self.f0 > 0.0 {
            (f0 + (DVec3::ONE - f0) * schlick(cos)) * self.specular
        } else {
            DVec3::ZERO
        };
        self.filmed(bare, cos, f0 * self.specular)
    }

    fn metal(&self, cos: f64) -> DVec3 {
        self.filmed(self.base_color.lerp(DVec3::ONE, schlick(cos)), cos, self.base_color)
    }

    /// Reflectance of glass. KHR_materials_specular states it for Schlick's approximation between
    /// F0 and F90; here the exact Fresnel curve replaces Schlick's. Beyond the critical angle all
    /// light is reflected.
    fn glass_fresnel(&self, cos: f64) -> DVec3 {
        let (GlassInterface::ThinWalled { eta } | GlassInterface::VolumeBoundary { eta }) =
            self.interface;
        let exact = fresnel(cos, eta);
        if exact >= 1.0 {
            return DVec3::ONE;
        }
        let mut bare = DVec3::splat(exact);
        let r0 = ((eta - 1.0) / (eta + 1.0)).powi(2);
        let f0 = self.tinted(r0);
        if self.specular != 1.0 || self.specular_color != DVec3::ONE {
            bare = (f0 + (DVec3::ONE - f0) * ((exact - r0) / (1.0 - r0)).clamp(0.0, 1.0))
                * self.specular;
            if r0 <= 0.0 {
                bare = DVec3::ZERO;
            }
        }
        let Some(film) = self.thin_film else { return bare };
        // A non-absorbing film reflects the same from both sides: the angle outside counts.
        let outside =
            if film.inside { (1.0 - (1.0 - cos * cos) / (eta * eta)).max(0.0).sqrt() } else { cos };
        self.filmed(bare, outside, f0 * self.specular)
    }

    pub(super) fn base_straight_through(&self, v: DVec3) -> DVec3 {
        let glass = self.glass();
        if glass <= 0.0
            || self.alpha >= MIN_ALPHA
            || !matches!(self.interface, GlassInterface::ThinWalled { .. })
        {
            return DVec3::ZERO;
        }
        glass * (1.0 - self.glass_fresnel(v.z).max_element()) * self.base_color
    }

    /// Evaluates the light-independent terms for a view direction `v`.
    pub(super) fn base_seen(&self, v: DVec3) -> BaseEvaluator {
        let spread = self.specular_alpha();
        // Multiple-scattering gain of a rough lobe.
        let gain = |part: f64, f0: DVec3| {
            if part > 0.0 { multiscatter_gain(f0, v.z, spread) } else { DVec3::ONE }
        };
        let gains = self.multiscatter.then(|| {
            [
                gain(self.opaque(), self.tinted(self.f0) * self.specular),
                gain(self.metallic, self.base_color),
            ]
        });
        BaseEvaluator {
            chances: self.chances(v),
            specular_alpha: spread,
            lambda: lambda(v, spread),
            gains,
        }
    }

    /// BSDF times cosine for light from `l` and view `v`, and the density (1/sr) of `l` in
    /// `sample_base`.
    pub(super) fn evaluate_base(
        &self,
        seen: &BaseEvaluator,
        v: DVec3,
        l: DVec3,
    ) -> (BsdfValue, f64) {
        if v.z <= 0.0 {
            return (BsdfValue::default(), 0.0);
        }
        let chances = &seen.chances;
        if l.z <= 0.0 {
            let transmitted = self.rough_glass_through(v, l) + self.diffuse_through(v, l);
            let diffuse = chances.diffuse * chances.through * -l.z / PI;
            let density = self.rough_glass_density(v, l, chances.glass) + diffuse;
            return (BsdfValue { transmitted, ..BsdfValue::default() }, density);
        }
        let sum = v + l;
        if sum.length_squared() < 1e-24 {
            return (BsdfValue::default(), 0.0);
        }
        let h = sum.normalize();
        let vh = v.dot(h);
        let opaque = self.opaque();
        let [dielectric_gain, metal_gain] = seen.gains.unwrap_or([DVec3::ONE; 2]);
        let mut f = DVec3::ZERO;
        let mut diffuse = 0.0;
        if opaque > 0.0 {
            let fd = self.dielectric(vh);
            f = opaque * fd * dielectric_gain;
            diffuse = opaque * (1.0 - fd.max_element()) * (1.0 - self.diffuse_transmission);
        }
        if self.metallic > 0.0 {
            f += self.metallic * self.metal(vh) * metal_gain;
        }
        let mut reflects = chances.specular;
        if self.has_rough_glass() {
            let fg = self.glass_fresnel(vh);
            f += self.glass() * fg;
            reflects += chances.glass * self.reflection_chance(fg);
        }
        let d = ggx(h, seen.specular_alpha);
        let g = 1.0 / (1.0 + seen.lambda + lambda(l, seen.specular_alpha));
        let scattered = BsdfValue {
            diffuse: diffuse / PI * l.z * self.base_color,
            // D G2 / (4 n.v n.l) times n.l.
            specular: d * g / (4.0 * v.z) * f,
            transmitted: DVec3::ZERO,
        };
        // Density of visible normals over the Jacobian of the half vector: Heitz 2018, equation 17.
        let normals = d / (v.z * (1.0 + seen.lambda));
        (scattered, reflects * normals / 4.0 + chances.diffuse * (1.0 - chances.through) * l.z / PI)
    }

    /// Transmission of rough glass.
    fn rough_glass_through(&self, v: DVec3, l: DVec3) -> DVec3 {
        if v.z <= 0.0 || l.z >= 0.0 || !self.has_rough_glass() {
            return DVec3::ZERO;
        }
        let alpha = self.roughness();
        let g = 1.0 / (1.0 + lambda(v, alpha) + lambda(l, alpha));
        let (h, shape) = match self.interface {
            // The reflection lobe, mirrored to the other side.
            GlassInterface::ThinWalled { .. } => ((v + l * MIRROR).normalize_or(DVec3::Z), 0.25),
            // Walter et al. 2007, equation 21, for light from the other side: radiance shrinks by
            // the square of the ratio of indices.
            GlassInterface::VolumeBoundary { eta } => {
                let Some(h) = refracting_normal(v, l, eta) else { return DVec3::ZERO };
                let (vh, lh) = (v.dot(h), l.dot(h));
                (h, vh * -lh / (eta * lh + vh).powi(2))
            }
        };
        let through = self.glass() * (1.0 - self.glass_fresnel(v.dot(h)).max_element());
        ggx(h, alpha) * g * shape / v.z * through * self.base_color
    }

    /// Lambertian transmission. Surface reflection is evaluated at the half vector of the mirrored
    /// light, which makes the lobe reciprocal.
    fn diffuse_through(&self, v: DVec3, l: DVec3) -> DVec3 {
        if v.z <= 0.0 || l.z >= 0.0 || !self.lets_diffuse_through() {
            return DVec3::ZERO;
        }
        let h = (v + l * MIRROR).normalize_or(DVec3::Z);
        let through = self.opaque()
            * self.diffuse_transmission
            * (1.0 - self.dielectric(v.dot(h)).max_element());
        through / PI * -l.z * self.diffuse_transmission_color
    }

    fn chances(&self, v: DVec3) -> LobeProbabilities {
        let dielectric = self.dielectric(v.z).max_element();
        let metal = self.metal(v.z).max_element();
        let max = self.base_color.max_element();
        let opaque = self.opaque();
        let specular = dielectric * opaque + metal * self.metallic;
        let crossing = self.diffuse_transmission * self.diffuse_transmission_color.max_element();
        let staying = (1.0 - self.diffuse_transmission) * max;
        let diffuse = opaque * (staying + crossing) * (1.0 - dielectric);
        // A minimum probability for each lobe bounds the weights where the lobe is strong.
        let share = if diffuse <= 0.0 {
            1.0
        } else if specular <= 0.0 {
            0.0
        } else {
            (specular / (specular + diffuse)).clamp(0.1, 0.9)
        };
        let glass = self.glass();
        let glass = if glass <= 0.0 {
            0.0
        } else if specular + diffuse <= 0.0 {
            1.0
        } else {
            let f = self.glass_fresnel(v.z).max_element();
            let through = if self.is_smooth()
                && matches!(self.interface, GlassInterface::ThinWalled { .. })
            {
                0.0
            } else {
                max
            };
            let glass = glass * (f + (1.0 - f) * through);
            (glass / (glass + specular + diffuse)).clamp(0.1, 0.9)
        };
        let through = if crossing > 0.0 { crossing / (crossing + staying) } else { 0.0 };
        LobeProbabilities {
            glass,
            specular: (1.0 - glass) * share,
            diffuse: (1.0 - glass) * (1.0 - share),
            through,
        }
    }

    /// Probability of sampling reflection for glass of reflectance `f`.
    fn reflection_chance(&self, f: DVec3) -> f64 {
        let f = f.max_element();
        let through = (1.0 - f) * self.base_color.max_element();
        if through > 0.0 { f / (f + through) } else { 1.0 }
    }

    fn rough_glass_density(&self, v: DVec3, l: DVec3, glass: f64) -> f64 {
        if l.z >= 0.0 || glass <= 0.0 || !self.has_rough_glass() {
            return 0.0;
        }
        let (h, change) = match self.interface {
            GlassInterface::ThinWalled { .. } => ((v + l * MIRROR).normalize_or(DVec3::Z), 0.25),
            // Walter et al. 2007, equation 17.
            GlassInterface::VolumeBoundary { eta } => {
                let Some(h) = refracting_normal(v, l, eta) else { return 0.0 };
                let (vh, lh) = (v.dot(h), l.dot(h));
                (h, vh * eta * eta * -lh / (eta * lh + vh).powi(2))
            }
        };
        let through = 1.0 - self.reflection_chance(self.glass_fresnel(v.dot(h)));
        glass * through * visible_normal_pdf(v, h, self.roughness()) * change
    }

    pub(super) fn sample_base(
        &self,
        seen: &BaseEvaluator,
        v: DVec3,
        lobe: f64,
        u: DVec2,
    ) -> Option<BaseSample> {
        let chances = &seen.chances;
        let l = if lobe < chances.glass {
            // The remainder of the number is uniform again.
            let lobe = lobe / chances.glass;
            if self.is_smooth() {
                return self.sample_smooth(v, lobe, chances.glass).map(BaseSample::Delta);
            }
            let h = sample_visible_normal(v, self.roughness(), u);
            let reflects = lobe < self.reflection_chance(self.glass_fresnel(v.dot(h)));
            let mirrored = 2.0 * v.dot(h) * h - v;
            let l = match self.interface {
                _ if reflects => mirrored,
                GlassInterface::ThinWalled { .. } => mirrored * MIRROR,
                GlassInterface::VolumeBoundary { eta } => refract(v, h, eta)?,
            };
            return ((l.z > 0.0) == reflects && l.z != 0.0).then_some(BaseSample::Direction(l));
        } else if lobe < chances.glass + chances.specular {
            let h = sample_visible_normal(v, seen.specular_alpha, u);
            2.0 * v.dot(h) * h - v
        } else if chances.through > 0.0 {
            let rest = (lobe - chances.glass - chances.specular) / chances.diffuse;
            let l = sample_cosine_hemisphere(u);
            let l = if rest < chances.through { l * MIRROR } else { l };
            return (l.z != 0.0).then_some(BaseSample::Direction(l));
        } else {
            sample_cosine_hemisphere(u)
        };
        (l.z > 0.0).then_some(BaseSample::Direction(l))
    }

    /// Samples one of the two directions of smooth glass.
    fn sample_smooth(&self, v: DVec3, lobe: f64, chance: f64) -> Option<BsdfSample> {
        let f = self.glass_fresnel(v.z);
        let glass = self.glass() / chance;
        let up = |weight: DVec3| BsdfSample {
            l: DVec3::new(-v.x, -v.y, v.z),
            weight: BsdfValue { specular: weight, ..BsdfValue::default() },
            pdf: None,
            eta_scale: 1.0,
        };
        let GlassInterface::VolumeBoundary { eta } = self.interface else {
            // Straight transmission is no scattering, see `straight_through`.
            return Some(up(glass * f));
        };
        let reflects = self.reflection_chance(f);
        if lobe < reflects {
            return Some(up(glass * f / reflects));
        }
        let l = refract(v, DVec3::Z, eta).filter(|l| l.z < 0.0)?;
        let bent = eta * eta;
        let transmitted =
            self.base_color * (glass * (1.0 - f.max_element()) / ((1.0 - reflects) * bent));
        Some(BsdfSample {
            l,
            weight: BsdfValue { transmitted, ..BsdfValue::default() },
            pdf: None,
            eta_scale: bent,
        })
    }
}
