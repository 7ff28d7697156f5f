//! Visibility, in reflections, of emission that does not illuminate.

use glam::DVec3;

use super::{parameters::Bsdf, value::BsdfValue};

/// Perceptual roughness from which emission that does not illuminate is no longer visible in
/// reflections, and the fraction of the range below it over which they fade. Equal to the raster
/// renderer's (`shaders/passes/gi.comp`; default of `passes.ssr.max_roughness`, `lib/ssr.glsl`).
const EMISSION_VISIBILITY_MAX_ROUGHNESS: f64 = 0.6;
const EMISSION_VISIBILITY_FADE: f64 = 0.2;

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
}
