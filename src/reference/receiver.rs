//! Estimate of what a scattering point reflects of light from a direction: for the choice of
//! lights.

use std::f64::consts::{FRAC_1_PI, PI};

use glam::DVec3;

use super::{
    bsdf::{Bsdf, GlassInterface, MIN_ALPHA},
    volumes::henyey_greenstein,
};
use crate::photometry::color::luminance;

/// Minimum diffuse reflectance in the estimate: it covers lobes that the estimate leaves out.
const MIN_DIFFUSE: f64 = 0.02;

/// A cone of directions about a light, given by its half angle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subtended {
    pub(super) sine: f64,
    pub(super) cosine: f64,
}

impl Subtended {
    /// A single direction.
    pub(super) const POINT: Self = Self { sine: 0.0, cosine: 1.0 };
    /// All directions.
    pub(super) const ALL: Self = Self { sine: 0.0, cosine: -1.0 };
}

/// Cosine of the smallest angle between a cone and a direction that is apart from its axis by the
/// angle of this cosine (0 to pi).
pub(super) fn nearest_cosine(cosine: f64, cone: Subtended) -> f64 {
    if cosine >= cone.cosine {
        return 1.0;
    }
    cosine * cone.cosine + sine_of(cosine) * cone.sine
}

/// Sine of an angle of 0 to pi from its cosine.
pub(super) fn sine_of(cosine: f64) -> f64 {
    (1.0 - cosine * cosine).max(0.0).sqrt()
}

/// A point that scatters light: a surface, or a position in a volume.
#[derive(Clone, Copy, Debug, Default)]
pub struct Receiver {
    /// Position relative to the eye (m).
    pub position: DVec3,
    scattering: Scattering,
}

#[derive(Clone, Copy, Debug, Default)]
enum Scattering {
    /// The same from all directions.
    #[default]
    Uniform,
    /// An opaque surface.
    Opaque {
        normal: DVec3,
        /// Unit direction to the viewer.
        view: DVec3,
        /// Diffuse BRDF (1/sr).
        diffuse: f64,
        /// Highlights of the base and of the coat.
        highlights: [Highlight; 2],
    },
    /// A volume: the path's direction before scattering, and anisotropy.
    Phase { along: DVec3, anisotropy: f64 },
}

/// A GGX lobe.
#[derive(Clone, Copy, Debug, Default)]
struct Highlight {
    alpha: f64,
    /// Reflectance at normal incidence (luminance); a lobe of 0 is absent.
    f0: f64,
    /// Factor of the reflectance.
    weight: f64,
}

impl Receiver {
    /// A point that scatters light from all directions equally.
    #[must_use]
    pub const fn at(position: DVec3) -> Self {
        Self { position, scattering: Scattering::Uniform }
    }

    /// A position in a volume, by the path's direction before it and the anisotropy of its phase
    /// function.
    #[must_use]
    pub const fn in_volume(position: DVec3, along: DVec3, anisotropy: f64) -> Self {
        Self { position, scattering: Scattering::Phase { along, anisotropy } }
    }

    /// A surface point with its unit shading normal, and the unit direction to the viewer.
    #[must_use]
    pub fn on_surface(position: DVec3, normal: DVec3, view: DVec3, bsdf: &Bsdf) -> Self {
        let rough_glass = bsdf.transmission > 0.0
            && matches!(bsdf.interface, GlassInterface::VolumeBoundary { .. });
        if rough_glass || bsdf.has_rough_transmission() {
            return Self::at(position);
        }
        let color = luminance(bsdf.base_color);
        let dielectric = 1.0 - bsdf.metallic;
        let sheen = if bsdf.sheen.is_some() { 0.2 } else { 0.0 };
        let diffuse = color * dielectric * (1.0 - bsdf.transmission) + sheen;
        let own = bsdf.f0 * luminance(bsdf.specular_color) * bsdf.specular;
        let base = Highlight {
            // The rougher of two axes.
            alpha: bsdf.alpha + (1.0 - bsdf.alpha) * bsdf.anisotropy * bsdf.anisotropy,
            f0: (own * dielectric + color * bsdf.metallic).min(1.0),
            weight: 1.0,
        };
        let coat = bsdf.coat.map_or_else(Highlight::default, |coat| Highlight {
            alpha: coat.alpha,
            f0: 0.04,
            weight: coat.factor,
        });
        Self {
            position,
            scattering: Scattering::Opaque {
                normal,
                view,
                diffuse: diffuse.max(MIN_DIFFUSE) * FRAC_1_PI,
                highlights: [base, coat],
            },
        }
    }

    /// Unit normal and diffuse BRDF (1/sr) of an opaque surface.
    pub(super) const fn diffuse(&self) -> Option<(DVec3, f64)> {
        match self.scattering {
            Scattering::Opaque { normal, diffuse, .. } => Some((normal, diffuse)),
            Scattering::Uniform | Scattering::Phase { .. } => None,
        }
    }

    /// Estimate of BSDF times cosine, or of the phase function (1/sr), for the direction of the
    /// cone about a unit direction that reflects most. 0 only where no direction of the cone
    /// reaches the front of the surface.
    pub(super) fn response(&self, towards: DVec3, cone: Subtended) -> f64 {
        match &self.scattering {
            Scattering::Uniform => 0.25 * FRAC_1_PI,
            Scattering::Phase { along, anisotropy } => {
                let cosine = along.dot(towards) * anisotropy.signum();
                henyey_greenstein(
                    nearest_cosine(cosine.clamp(-1.0, 1.0), cone) * anisotropy.signum(),
                    *anisotropy,
                )
            }
            Scattering::Opaque { normal, view, diffuse, highlights } => {
                let cosine = nearest_cosine(normal.dot(towards).clamp(-1.0, 1.0), cone);
                if cosine <= 0.0 {
                    return 0.0;
                }
                let view_cosine = normal.dot(*view).max(1e-4);
                let half = (*view + towards).normalize_or(*normal);
                let half_cosine = nearest_cosine(normal.dot(half).clamp(-1.0, 1.0), cone).max(0.0);
                let grazing = (1.0 - half.dot(*view)).clamp(0.0, 1.0).powi(5);
                let mut sum = *diffuse;
                for lobe in highlights {
                    if lobe.weight > 0.0 && lobe.f0 > 0.0 {
                        let fresnel = lobe.f0 + (1.0 - lobe.f0) * grazing;
                        sum += lobe.weight
                            * fresnel
                            * ggx(lobe.alpha.max(MIN_ALPHA), half_cosine, view_cosine, cosine);
                    }
                }
                sum * cosine
            }
        }
    }
}

/// GGX distribution times height-correlated Smith visibility, as in the BSDF (Heitz 2014,
/// "Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs", section 5).
fn ggx(alpha: f64, half: f64, view: f64, light: f64) -> f64 {
    let a2 = alpha * alpha;
    let slope = half * half * (a2 - 1.0) + 1.0;
    let smith = |a: f64, b: f64| a * (a2 + (1.0 - a2) * b * b).sqrt();
    let visibility = 0.5 / (smith(light, view) + smith(view, light)).max(1e-9);
    a2 / (PI * slope * slope).max(1e-300) * visibility
}
