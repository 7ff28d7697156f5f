//! Lens flare ghosts: light of bright sources that two surfaces of a lens reflect to the sensor.
//!
//! A parallel beam enters through a perpendicular plane. For each path with two reflections, part
//! of that plane reaches the sensor past all rims and blades. A mesh over that part, traced to the
//! sensor, is the ghost. Energy is exact by construction: the light that enters a cell leaves it.
//! Two methods trace the mesh: matrices (`GhostMethod::Paraxial`, Lee and Eisemann, "Practical
//! Real-Time Lens-Flare Rendering", EGSR 2013) and exact rays (`GhostMethod::Traced`, Hullin,
//! Eisemann, Seidel and Lee, "Physically-Based Real-Time Lens Flare Rendering", SIGGRAPH 2011).
//! The device traces them (`passes::lens_ghosts`); `tests/common/ghost_meshes` has both methods on
//! the host, and counts random rays as a reference that shares neither.
//!
//! Quantities are relative to the illuminance (lx) on a plane perpendicular to the beam:
//! illuminance is a ratio, flux (lm) an area (m2).

mod paraxial;
pub mod reference_tracer;

use std::sync::Arc;

use glam::DVec2;

pub use paraxial::{Crossing, ParaxialGhost};

use super::{lens::Lens, trace::Losses};

/// Tracing method of ghosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GhostMethod {
    /// Ray transfer matrices: accurate near the axis.
    Paraxial,
    /// Exact rays.
    #[default]
    Traced,
}

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

/// A drawn ghost stays until its maximum luminance falls below this fraction of the threshold. The
/// hysteresis keeps ghosts of flickering lights from popping.
pub const HYSTERESIS: f64 = 0.5;

impl Lens {
    /// Radius (m) of a sphere around the first surface, and z (m) of its center.
    #[must_use]
    pub fn front(&self) -> (f64, f64) {
        let Some(first) = self.surfaces().first() else { return (0.0, 0.0) };
        let bent = (first.curvature * first.semi_aperture).clamp(-1.0, 1.0);
        let sag = first.semi_aperture * bent / (1.0 + (1.0 - bent * bent).sqrt());
        (first.semi_aperture.hypot(sag / 2.0), first.vertex + sag / 2.0)
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
