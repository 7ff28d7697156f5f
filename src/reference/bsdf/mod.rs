//! BSDF of the glTF 2.0 metallic-roughness material (Appendix B) with the Khronos extensions that
//! change scattering, and its sampling (docs/materials.md). Directions are in the shading frame: z
//! is the shading normal on the side of the view, x the tangent.
//!
//! The base is a mix (`base_lobes`): metal with weight `metallic`; of the rest, glass with weight
//! `transmission`, else an opaque dielectric whose diffuse light may be partly transmitted. Metal
//! and opaque dielectric are those of the raster renderer (`shaders/lib/brdf.glsl`), with Schlick's
//! approximation. Glass uses the exact Fresnel equations: only they agree with Snell's law about
//! the critical angle and are consistent from both sides. Sheen lies over the base, a clearcoat
//! over both.
//!
//! Glass is either the boundary of a volume, which refracts light (Walter et al. 2007), or a thin
//! wall, which transmits it straight with the roughness of the reflection
//! (KHR_materials_transmission). The base color is a factor at every crossing, as in the
//! extensions.

mod albedo;
mod base_lobes;
mod coat;
mod microfacet;
mod sheen;
mod thin_film;

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use self::{base_lobes::BaseEvaluator, microfacet::sample_uniform_hemisphere};
pub use self::{
    coat::{Coat, coat_reflectance},
    microfacet::{Alpha, fresnel, refract, sample_cosine_hemisphere, sample_visible_normal},
    sheen::{MIN_SHEEN_ROUGHNESS, Sheen},
    thin_film::ThinFilm,
};

/// Alpha below which the highlight of a point-like source is always narrower than a pixel
/// (`shaders/lib/brdf.glsl`). Metal and opaque dielectrics are clamped to it, and glass is smooth
/// below it.
pub const MIN_ALPHA: f64 = 0.002;

/// The far side of glass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GlassInterface {
    /// A thin wall with the same medium on both sides: no refraction.
    ThinWalled {
        /// Index of refraction of the wall over that of its environment.
        eta: f64,
    },
    /// The boundary of a volume, from either side.
    VolumeBoundary {
        /// Index of refraction beyond the surface over that on the side of the view.
        eta: f64,
    },
}

/// Scattering parameters at a point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsdf {
    /// Linear base color, 0 to 1.
    pub base_color: DVec3,
    /// Metalness: 0 dielectric to 1 metal.
    pub metallic: f64,
    /// Alpha: roughness squared, 0 to 1.
    pub alpha: f64,
    /// Reflectance of the opaque dielectric at normal incidence: 0.04 for an index of 1.5. With 0,
    /// for an index of 1, there is no interface: no reflection at any angle, and only Lambert's law
    /// remains.
    pub f0: f64,
    /// Fraction of the dielectric that is glass, 0 to 1.
    pub transmission: f64,
    /// The far side of the glass.
    pub interface: GlassInterface,
    /// Strength of the dielectric's reflection at every angle, 0 to 1 (KHR_materials_specular).
    pub specular: f64,
    /// Tint of the dielectric's reflectance at normal incidence, at least 0.
    pub specular_color: DVec3,
    /// Strength of anisotropy along the tangent, 0 to 1 (KHR_materials_anisotropy).
    pub anisotropy: f64,
    /// Thin film on the surface (KHR_materials_iridescence).
    pub thin_film: Option<ThinFilm>,
    /// Fraction of diffuse light that is transmitted, 0 to 1 (KHR_materials_diffuse_transmission).
    pub diffuse_transmission: f64,
    /// Color of diffuse transmission, 0 to 1.
    pub diffuse_transmission_color: DVec3,
    /// Sheen over the base (KHR_materials_sheen).
    pub sheen: Option<Sheen>,
    /// Clearcoat over all other lobes.
    pub coat: Option<Coat>,
    /// Metal and opaque dielectric include multiple scattering between microfacets.
    pub multiscatter: bool,
}

impl Default for Bsdf {
    /// White, fully rough, of index 1.5.
    fn default() -> Self {
        Self {
            base_color: DVec3::ONE,
            metallic: 0.0,
            alpha: 1.0,
            f0: 0.04,
            transmission: 0.0,
            interface: GlassInterface::ThinWalled { eta: 1.5 },
            specular: 1.0,
            specular_color: DVec3::ONE,
            anisotropy: 0.0,
            thin_film: None,
            diffuse_transmission: 0.0,
            diffuse_transmission_color: DVec3::ONE,
            sheen: None,
            coat: None,
            multiscatter: false,
        }
    }
}

/// Perceptual roughness from which emission that does not illuminate is no longer visible in
/// reflections, and the fraction of the range below it over which they fade. Equal to the raster
/// renderer's reflections (`passes.ssr.max_roughness`, `shaders/lib/ssr.glsl`).
const EMISSION_VISIBILITY_MAX_ROUGHNESS: f64 = 0.6;
const EMISSION_VISIBILITY_FADE: f64 = 0.2;

/// BSDF times the cosine to the light (1/sr); or that over the density of a sample (dimensionless).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BsdfValue {
    /// Diffuse reflection.
    pub diffuse: DVec3,
    /// Specular reflection.
    pub specular: DVec3,
    /// Transmission from the other side.
    pub transmitted: DVec3,
}

impl BsdfValue {
    /// Sum of all components.
    #[must_use]
    pub fn total(self) -> DVec3 {
        self.diffuse + self.specular + self.transmitted
    }

    pub(super) fn over(self, density: f64) -> Self {
        Self {
            diffuse: self.diffuse / density,
            specular: self.specular / density,
            transmitted: self.transmitted / density,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            diffuse: self.diffuse * factor,
            specular: self.specular * factor,
            transmitted: self.transmitted * factor,
        }
    }
}

/// A sampled direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BsdfSample {
    /// Unit vector towards the light; below the surface (z < 0) for transmission.
    pub l: DVec3,
    /// BSDF times cosine over density: the factor of the radiance from there.
    pub weight: BsdfValue,
    /// Density (1/sr); `None` for a delta lobe of smooth glass.
    pub pdf: Option<f64>,
    /// Squared ratio of indices by which refraction scaled the radiance; excluded from Russian
    /// roulette.
    pub eta_scale: f64,
}

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
    /// Fraction of a sample's weight, per channel, in which emission that does not illuminate is
    /// visible: reflection and refraction by sufficiently narrow lobes, and no diffuse lobe.
    #[must_use]
    pub fn emission_visibility(&self, weight: &BsdfValue) -> DVec3 {
        let of = |alpha: f64| {
            ((EMISSION_VISIBILITY_MAX_ROUGHNESS - alpha.sqrt())
                / (EMISSION_VISIBILITY_MAX_ROUGHNESS * EMISSION_VISIBILITY_FADE))
                .clamp(0.0, 1.0)
        };
        let (base, coat) = (of(self.alpha), self.coat.map_or(0.0, |coat| of(coat.alpha)));
        let leaf = (1.0 - self.transmission) * self.diffuse_transmission;
        let glass = if leaf > 0.0 { self.transmission / (self.transmission + leaf) } else { 1.0 };
        let shown = weight.specular * base.max(coat) + weight.transmitted * (glass * base);
        let total = weight.total();
        DVec3::from_array(std::array::from_fn(|i| {
            if total[i] > 0.0 { shown[i] / total[i] } else { 0.0 }
        }))
    }

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

/// Sample of the base.
enum BaseSample {
    /// One of the two directions of smooth glass.
    Delta(BsdfSample),
    /// Any other direction.
    Direction(DVec3),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests_lobes;
