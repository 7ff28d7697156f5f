//! Values and samples of a BSDF.

use glam::DVec3;

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

    pub(crate) fn over(self, density: f64) -> Self {
        Self {
            diffuse: self.diffuse / density,
            specular: self.specular / density,
            transmitted: self.transmitted / density,
        }
    }

    pub(super) fn scaled(self, factor: f64) -> Self {
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
