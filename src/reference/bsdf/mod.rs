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
mod emission_visibility;
mod layered;
mod microfacet;
mod parameters;
mod sheen;
mod thin_film;
mod value;

pub use self::{
    coat::{Coat, coat_reflectance},
    layered::BsdfEvaluator,
    microfacet::{
        Alpha, MIN_ALPHA, fresnel, refract, sample_cosine_hemisphere, sample_visible_normal,
    },
    parameters::{Bsdf, GlassInterface},
    sheen::{MIN_SHEEN_ROUGHNESS, Sheen},
    thin_film::ThinFilm,
    value::{BsdfSample, BsdfValue},
};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_lobes;
