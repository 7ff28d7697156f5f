//! The metallic/roughness material of glTF 2.0 (Appendix B) with the extensions of Khronos that
//! change how it scatters light, and its sampling (docs/materials.md). Directions are in a frame
//! whose z is the shading normal on the side of the view and whose x is the tangent.
//!
//! What lies below is a mix (`base`): with weight `metallic` a metal; of the rest, `transmission`
//! glass and else an opaque dielectric, of whose diffuse light a part may leave on the other side.
//! Metal and opaque dielectric are those of the raster renderer (`shaders/lib/brdf.glsl`), with
//! Schlick's approximation of Fresnel's equations. Glass has Fresnel's equations themselves: they
//! alone agree with Snell's law about the critical angle, and with themselves from both sides. Over
//! it lies sheen, over that a clear coat.
//!
//! Glass is either the border of a volume, where light is refracted (Walter et al. 2007), or a thin
//! wall, where it goes straight on and roughness spreads it as it spreads the reflection
//! (KHR_materials_transmission). The base colour is a factor at every crossing, as the extensions
//! have it.

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

/// Below this alpha a highlight of a point-like source is narrower than a pixel ever is
/// (`shaders/lib/brdf.glsl`): reflection from metal and opaque dielectrics is spread that wide at
/// least, and glass is smooth.
pub const MIN_ALPHA: f64 = 0.002;

/// What lies beyond glass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GlassInterface {
    /// The same as on this side: nothing is bent.
    ThinWalled {
        /// Index of refraction of the wall over that around it.
        eta: f64,
    },
    /// A volume, or the outside of one.
    VolumeBoundary {
        /// Index of refraction beyond over that on the side of the view.
        eta: f64,
    },
}

/// What light does at a point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsdf {
    /// Linear base colour, 0 to 1.
    pub base_color: DVec3,
    /// 0 dielectric to 1 metal.
    pub metallic: f64,
    /// Roughness squared, 0 to 1.
    pub alpha: f64,
    /// Reflectance of the opaque dielectric along the normal: 0.04 for an index of 1.5. 0, for an
    /// index of 1, is no border at all: nothing is reflected at any angle, and what is left is
    /// Lambert's law.
    pub f0: f64,
    /// The part of the dielectric that is glass, 0 to 1.
    pub transmission: f64,
    /// What lies beyond the glass.
    pub interface: GlassInterface,
    /// Strength of the dielectric's reflection at every angle, 0 to 1 (KHR_materials_specular).
    pub specular: f64,
    /// A factor of its reflectance along the normal, at least 0.
    pub specular_color: DVec3,
    /// How much rougher it is along the tangent, 0 to 1 (KHR_materials_anisotropy).
    pub anisotropy: f64,
    /// A film on it.
    pub thin_film: Option<ThinFilm>,
    /// The part of diffuse light that leaves on the other side, 0 to 1
    /// (KHR_materials_diffuse_transmission).
    pub diffuse_transmission: f64,
    /// Its colour, 0 to 1.
    pub diffuse_transmission_color: DVec3,
    /// Fibres over all that.
    pub sheen: Option<Sheen>,
    /// A coat over everything.
    pub coat: Option<Coat>,
    /// Metal and opaque dielectric do not lose what facets pass on to each other.
    pub multiscatter: bool,
}

impl Default for Bsdf {
    /// White, matte as can be, of index 1.5.
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

/// The perceptual roughness from which reflections no longer show what glows and lights nothing,
/// and the last part of the way there over which they fade: as the raster renderer's reflections do
/// (`passes.ssr.max_roughness`, `shaders/lib/ssr.glsl`).
const EMISSION_VISIBILITY_MAX_ROUGHNESS: f64 = 0.6;
const EMISSION_VISIBILITY_FADE: f64 = 0.2;

/// Radiance that leaves over irradiance on a plane facing the light, with the cosine (1/sr); or
/// that over the density of a sample (no unit).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BsdfValue {
    /// Reflected diffusely.
    pub diffuse: DVec3,
    /// Reflected specularly.
    pub specular: DVec3,
    /// From the other side.
    pub transmitted: DVec3,
}

impl BsdfValue {
    /// All of it.
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

/// A chosen direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BsdfSample {
    /// Towards the light, a unit vector; below the surface (z < 0) where the light comes from the
    /// other side.
    pub l: DVec3,
    /// What leaves of the radiance from there, over the density.
    pub weight: BsdfValue,
    /// Density (1/sr); none for a direction that smooth glass dictates, which no other way finds.
    pub pdf: Option<f64>,
    /// Square of the ratio of indices by which radiance grew when it was bent: how little the
    /// weight says of what will come.
    pub eta_scale: f64,
}

/// Chances of the layers; the rest is the base's.
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
    /// Of what a sample carries, the share by channel that shows things instead of being lit by
    /// them: reflection and refraction by lobes that are narrow enough, and nothing that is
    /// diffuse. What glows but lights nothing is seen by it.
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

    /// How much of light goes straight through a smooth thin wall. `evaluate` and `sample` leave it
    /// out: it is as if the surface were partly not there, for shadows too.
    #[must_use]
    pub fn straight_through(&self, v: DVec3) -> DVec3 {
        let through = self.base_straight_through(v);
        if self.is_bare() || through == DVec3::ZERO {
            through
        } else {
            through * self.layer_transmittance(v, -v)
        }
    }

    /// Nothing lies over the base.
    const fn is_bare(&self) -> bool {
        self.sheen.is_none() && self.coat.is_none()
    }

    /// What the layers leave of what the base does. KHR_materials_clearcoat takes the view's share
    /// alone.
    fn layer_transmittance(&self, v: DVec3, l: DVec3) -> f64 {
        let below_coat = self.coat.map_or(1.0, |coat| 1.0 - coat.reflectance(v));
        below_coat * self.sheen.map_or(1.0, |sheen| sheen.transmittance(v, l))
    }

    /// The point as seen from `v` (z > 0, a unit vector): what does not depend on the light is
    /// found once.
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

    /// What leaves towards `v` (z > 0) of light from `l`, but for what smooth glass does. Both are
    /// unit vectors.
    #[must_use]
    pub fn evaluate(&self, v: DVec3, l: DVec3) -> BsdfValue {
        self.evaluator(v).evaluate(l).0
    }

    /// Density (1/sr) with which `sample` gives `l`, but for the directions of smooth glass.
    #[must_use]
    pub fn pdf(&self, v: DVec3, l: DVec3) -> f64 {
        self.evaluator(v).evaluate(l).1
    }

    /// A direction in proportion to the light that leaves towards `v`, about; none where it falls
    /// on the wrong side.
    #[must_use]
    pub fn sample(&self, v: DVec3, lobe: f64, u: DVec2) -> Option<BsdfSample> {
        self.evaluator(v).sample(lobe, u)
    }
}

/// A point of a surface as seen from one direction.
#[derive(Clone, Copy)]
pub struct BsdfEvaluator<'a> {
    bsdf: &'a Bsdf,
    v: DVec3,
    base: BaseEvaluator,
    /// Chances of what lies over the base; none where nothing does.
    layers: Option<Layers>,
}

impl BsdfEvaluator<'_> {
    /// What leaves towards the view of light from `l`, and the density (1/sr) with which `sample`
    /// gives `l`; both but for what smooth glass does.
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

    /// A direction in proportion to the light that leaves towards the view, about; none where it
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
                    // The rest of the number is as even as the whole.
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

/// What the base was sampled to do.
enum BaseSample {
    /// Smooth glass: one of two directions.
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
