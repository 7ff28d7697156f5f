//! Lens flare ghosts: light of bright sources that two surfaces of a lens reflect to the sensor.
//!
//! A parallel beam enters through a perpendicular plane. For each path with two reflections, part
//! of that plane reaches the sensor past all rims and blades. A mesh over that part, traced to the
//! sensor, is the ghost. Energy is exact by construction: the light that enters a cell leaves it.
//! Two methods trace the mesh: matrices (`GhostMethod::Paraxial`, Lee and Eisemann, "Practical
//! Real-Time Lens-Flare Rendering", EGSR 2013) and exact rays (`GhostMethod::Traced`, Hullin,
//! Eisemann, Seidel and Lee, "Physically-Based Real-Time Lens Flare Rendering", SIGGRAPH 2011).
//! `reference_tracer` counts random rays instead and shares neither.
//!
//! Quantities are relative to the illuminance (lx) on a plane perpendicular to the beam:
//! illuminance is a ratio, flux (lm) an area (m2).

mod beam;
mod mesh;
mod node;
mod paraxial;
pub mod reference_tracer;
mod spot;

use std::sync::Arc;

use glam::DVec2;

pub use beam::Beam;
pub use mesh::{GhostMesh, GhostMethod};
pub use node::{EntranceWindow, GhostMeshNode};
pub use paraxial::{Crossing, ParaxialGhost};
pub use spot::GhostSpot;

use super::{lens::Lens, paraxial::ReflectionPair, trace::Losses};

/// Anti-reflection coatings of a lens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LensCoatings {
    /// Coatings of its prescription.
    #[default]
    Prescribed,
    /// No coatings.
    Bare,
    /// Coatings of its prescription, and magnesium fluoride on all other surfaces to air.
    Single,
}

impl LensCoatings {
    /// Design wavelength (m) of single-layer coatings, where they are a quarter wave thick.
    pub const SINGLE: f64 = 550e-9;

    /// Applies the coatings to a lens.
    #[must_use]
    pub fn on(self, lens: Lens) -> Lens {
        match self {
            Self::Prescribed => lens,
            Self::Bare => lens.bare(),
            Self::Single => lens.single_coated(Self::SINGLE),
        }
    }
}

/// Settings of ghost rendering.
#[derive(Clone, Debug, PartialEq)]
pub struct LensGhosts {
    /// The lens as set.
    pub lens: Arc<Lens>,
    /// Width and height (m) of the sensor area of the image.
    pub gate: [f64; 2],
    /// Paraxial or exact rays.
    pub method: GhostMethod,
    /// Ghosts whose maximum luminance is below this fraction of exposed white are culled; 0 draws
    /// all.
    pub cull_threshold: f64,
}

/// Default of `LensGhosts::cull_threshold`, a fraction of white: half of an 8-bit step.
pub const DEFAULT_CULL_THRESHOLD: f64 = 1.0 / 512.0;

/// One ghost of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ghost {
    /// Surfaces that reflect it.
    pub bounces: ReflectionPair,
    /// Its moments in the sensor plane, including light outside of the image.
    pub spot: GhostSpot,
}

/// A drawn ghost stays until its maximum luminance falls below this fraction of the threshold. The
/// hysteresis keeps ghosts of flickering lights from popping.
pub const HYSTERESIS: f64 = 0.5;

/// True if a ghost is drawn, from its maximum luminance relative to white, the threshold, and
/// whether the last frame drew it.
#[must_use]
pub fn is_drawn(peak: f64, least: f64, was_drawn: bool) -> bool {
    peak >= if was_drawn { least * HYSTERESIS } else { least }
}

/// Counts of drawn and culled ghosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GhostStats {
    /// Number of drawn ghosts.
    pub drawn: usize,
    /// Number of culled ghosts that have light.
    pub dropped: usize,
    /// Flux (lm per lx) of drawn ghosts.
    pub flux: f64,
    /// Flux (lm per lx) of culled ghosts.
    pub flux_dropped: f64,
}

impl GhostStats {
    /// Adds a ghost to the counts.
    pub fn count(&mut self, spot: &GhostSpot, drawn: bool) {
        if drawn {
            self.drawn += 1;
            self.flux += spot.flux;
        } else if spot.flux > 0.0 {
            self.dropped += 1;
            self.flux_dropped += spot.flux;
        }
    }

    /// Culled fraction of the flux, 0 to 1.
    #[must_use]
    pub fn dropped_fraction(&self) -> f64 {
        let all = self.flux + self.flux_dropped;
        if all > 0.0 { self.flux_dropped / all } else { 0.0 }
    }
}

impl Lens {
    /// All ghosts of a beam at a wavelength (m), in the order of `reflection_pairs`.
    #[must_use]
    pub fn survey(&self, tier: GhostMethod, beam: &Beam, wavelength: f64) -> Vec<Ghost> {
        let spot = |bounces| {
            self.adaptive_ghost_mesh(tier, bounces, beam, wavelength)
                .map_or_else(GhostSpot::default, |grid| grid.spot())
        };
        self.reflection_pairs().map(|bounces| Ghost { bounces, spot: spot(bounces) }).collect()
    }

    /// Pixel luminance (nit) per ghost illuminance (lx) on the sensor at a wavelength (m). It is
    /// the reciprocal of the illuminance at the sensor's center from a scene of luminance 1,
    /// through all rims, blades and glass. 0 if no light gets there.
    ///
    /// Exposure and white balance apply behind the glass: a pixel means scene luminance L whatever
    /// that illuminance is. Ghosts therefore count relative to light on the direct path. Integrates
    /// rays over the pupil instead of `pi T a / 4 N^2` with the iris area a: in an open lens a rim
    /// may hide the blades, and pupil aberrations contribute up to 5 %.
    #[must_use]
    pub fn luminance_per_illuminance(&self, wavelength: f64) -> f64 {
        let scale = self.illuminance(DVec2::ZERO, wavelength, Losses::Counted).recip();
        if scale.is_finite() { scale } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
