//! Ghosts: the light of bright sources that two surfaces of a lens reflect on to the sensor.
//!
//! A parallel beam enters through a plane across it. Of each path with two reflections some part of
//! that plane reaches the sensor past every rim and every blade; a mesh over that part, carried to
//! the sensor, is the ghost. Its light is exact by construction: what enters a cell leaves it. Two
//! tiers make the mesh: matrices (`Tier::Paraxial`, Lee and Eisemann, "Practical Real-Time
//! Lens-Flare Rendering", EGSR 2013) and exact rays (`Tier::Traced`, Hullin, Eisemann, Seidel and
//! Lee, "Physically-Based Real-Time Lens Flare Rendering", SIGGRAPH 2011). `referee` counts random
//! rays instead and shares neither.
//!
//! Amounts are per illuminance (lx) on a plane across the beam: illuminance is then a plain ratio,
//! light (lm) an area (m2).

mod mesh;
mod paraxial;
pub mod reference_tracer;

use std::sync::Arc;

use glam::{DVec2, DVec3};

pub use mesh::{EntranceWindow, GhostMesh, GhostMeshNode};
pub use paraxial::{Crossing, ParaxialGhost};

use super::{lens::Lens, paraxial::ReflectionPair, trace::Losses};

/// Light from one far source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    direction: DVec3,
    radius: f64,
}

impl Beam {
    /// Of light that travels along a direction (toward +Z, any length) from a disc of an angular
    /// radius (rad). `None` where it does not come from before the lens, or is not finite.
    #[must_use]
    pub fn new(direction: DVec3, radius: f64) -> Option<Self> {
        let unit = direction.try_normalize()?;
        (unit.is_finite() && unit.z > 1e-3 && (0.0..1.0).contains(&radius))
            .then_some(Self { direction: unit, radius })
    }

    /// Of a source at an angle (rad) from the axis, seen to the right at an azimuth of 0 and above
    /// at a quarter turn.
    #[must_use]
    pub fn from_angles(field: f64, azimuth: f64, radius: f64) -> Option<Self> {
        let (sine, cosine) = field.sin_cos();
        Self::new(DVec3::new(-sine * azimuth.cos(), -sine * azimuth.sin(), cosine), radius)
    }

    /// Where the light goes, a unit vector.
    #[must_use]
    pub const fn direction(&self) -> DVec3 {
        self.direction
    }

    /// The angular radius (rad) of the source.
    #[must_use]
    pub const fn radius(&self) -> f64 {
        self.radius
    }

    /// Slopes `dx/dz` and `dy/dz`.
    #[must_use]
    pub fn slope(&self) -> DVec2 {
        self.direction.truncate() / self.direction.z
    }

    /// Unit vectors across the beam: the first in the plane of the beam and the axis, or as level
    /// as can be.
    fn across(&self, level: bool) -> [DVec3; 2] {
        let aside = self
            .direction
            .truncate()
            .try_normalize()
            .filter(|_| !level)
            .unwrap_or(DVec2::X)
            .extend(0.0);
        let first = (aside - self.direction * aside.dot(self.direction)).normalize();
        [first, self.direction.cross(first)]
    }
}

/// How a ghost is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GhostMethod {
    /// By matrices: right near the axis.
    Paraxial,
    /// By exact rays.
    #[default]
    Traced,
}

/// What films a lens has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LensCoatings {
    /// Those of its prescription.
    #[default]
    Prescribed,
    /// None.
    Bare,
    /// Those of its prescription, and magnesium fluoride on all other surfaces toward air.
    Single,
}

impl LensCoatings {
    /// For which wavelength (m) a single layer is a quarter wave thick.
    pub const SINGLE: f64 = 550e-9;

    /// A lens with these.
    #[must_use]
    pub fn on(self, lens: Lens) -> Lens {
        match self {
            Self::Prescribed => lens,
            Self::Bare => lens.bare(),
            Self::Single => lens.single_coated(Self::SINGLE),
        }
    }
}

/// Which ghosts are drawn, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct LensGhosts {
    /// The lens as set.
    pub lens: Arc<Lens>,
    /// Width and height (m) of the sensor's part that the picture shows.
    pub gate: [f64; 2],
    /// By matrices or by exact rays.
    pub tier: GhostMethod,
    /// Ghosts whose greatest luminance is below this part of white under the exposure are left out;
    /// 0 draws all.
    pub cull: f64,
}

/// The part of white below which a ghost is left out if nobody says otherwise: half a step of eight
/// bits.
pub const CULL: f64 = 1.0 / 512.0;

/// A ghost on the sensor, by its moments. Lengths in metres on the sensor, whose middle is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GhostSpot {
    /// Its light: lumens per lux (m2).
    pub flux: f64,
    /// Its middle, weighted by light.
    pub center: DVec2,
    /// Root mean square distance from the middle along x and y, the source's disc counted.
    pub extent: DVec2,
    /// The greatest illuminance over that across the beam, the source's disc counted: finite only
    /// with a disc where the mesh is folded to nothing.
    pub peak: f64,
}

impl GhostSpot {
    /// From sums of light, light times place and light times squared place; a disc of a radius (m)
    /// by which all is blurred.
    fn of(flux: f64, first: DVec2, second: DVec2, peak: f64, blur: DVec2) -> Self {
        if flux.is_nan() || flux <= 0.0 {
            return Self::default();
        }
        let center = first / flux;
        let variance = (second / flux - center * center).max(DVec2::ZERO);
        // A disc of radius r has a variance of r^2 / 4 along each axis, and spreads the light over
        // pi r^2 at least.
        let extent = (variance + blur * blur / 4.0).map(f64::sqrt);
        let spread = std::f64::consts::PI * blur.x * blur.y;
        Self {
            flux,
            center,
            extent,
            peak: if spread > 0.0 { peak.min(flux / spread) } else { peak },
        }
    }
}

/// One ghost of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ghost {
    /// Its path.
    pub bounces: ReflectionPair,
    /// What of it reaches the plane of the sensor, also beside the picture.
    pub spot: GhostSpot,
}

/// A ghost that is drawn stays until its greatest luminance falls below this part of the bound at
/// which it came: lights that flicker around the bound do not make ghosts come and go.
pub const HYSTERESIS: f64 = 0.5;

/// Whether a ghost is drawn: its greatest luminance over white, the bound, and whether it was drawn
/// in the last frame.
#[must_use]
pub fn is_drawn(peak: f64, least: f64, was_drawn: bool) -> bool {
    peak >= if was_drawn { least * HYSTERESIS } else { least }
}

/// Ghosts counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GhostStats {
    /// Ghosts that are drawn.
    pub drawn: usize,
    /// Ghosts that have light and are not.
    pub dropped: usize,
    /// Light (lm per lx) of those that are.
    pub flux: f64,
    /// Light of those that are not.
    pub flux_dropped: f64,
}

impl GhostStats {
    /// Counts one.
    pub fn count(&mut self, spot: &GhostSpot, drawn: bool) {
        if drawn {
            self.drawn += 1;
            self.flux += spot.flux;
        } else if spot.flux > 0.0 {
            self.dropped += 1;
            self.flux_dropped += spot.flux;
        }
    }

    /// The part of the light that is not drawn, 0 to 1.
    #[must_use]
    pub fn dropped_fraction(&self) -> f64 {
        let all = self.flux + self.flux_dropped;
        if all > 0.0 { self.flux_dropped / all } else { 0.0 }
    }
}

impl Lens {
    /// All ghosts of a beam at a wavelength (m), in the order of `ghosts`.
    #[must_use]
    pub fn survey(&self, tier: GhostMethod, beam: &Beam, wavelength: f64) -> Vec<Ghost> {
        let spot = |bounces| {
            self.adaptive_ghost_mesh(tier, bounces, beam, wavelength)
                .map_or_else(GhostSpot::default, |grid| grid.spot())
        };
        self.reflection_pairs().map(|bounces| Ghost { bounces, spot: spot(bounces) }).collect()
    }

    /// The luminance (nit) that a pixel means per illuminance (lx) that ghosts add to the sensor
    /// there, at a wavelength (m): one over the illuminance that a scene of luminance 1 gives the
    /// sensor's middle past all rims, blades and glass. 0 where no light gets there.
    ///
    /// Cameras here are exposed, and white is balanced, behind the glass: a pixel means L whatever
    /// that illuminance is. So ghosts count relative to light that took the direct way. By rays
    /// over the pupil, not by the `pi T a / 4 N^2` of the iris's area a: of an open lens a rim may
    /// hide the blades, and aberrations of its pupil are worth up to 5 %.
    #[must_use]
    pub fn luminance_per_illuminance(&self, wavelength: f64) -> f64 {
        let scale = self.illuminance(DVec2::ZERO, wavelength, Losses::Counted).recip();
        if scale.is_finite() { scale } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
