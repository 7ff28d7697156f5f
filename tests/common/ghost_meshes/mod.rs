//! Meshes of lens flare ghosts on the host, in double precision, and a reference by counted rays.
//!
//! A mesh over the part of the entrance plane from which light reaches the sensor is the ghost.
//! Energy is exact by construction: the light that enters a cell leaves it.
//!
//! Quantities are relative to the illuminance (lx) on a plane perpendicular to the beam:
//! illuminance is a ratio, flux (lm) an area (m2).
#![allow(dead_code, unused_imports)]

mod beam;
mod mesh;
mod node;
mod paraxial;
mod reference_tracer;
mod spot;

use sunny16::optics::{Lens, ReflectionPair, ghosts::GhostMethod};

pub use beam::Beam;
pub use mesh::GhostMeshes;
pub use paraxial::ParaxialTracing;
pub use reference_tracer::{ReferenceGhosts, SensorFilm};
pub use spot::GhostSpot;

/// One ghost of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ghost {
    /// Surfaces that reflect it.
    pub bounces: ReflectionPair,
    /// Its moments in the sensor plane, including light outside of the image.
    pub spot: GhostSpot,
}

/// All ghosts of a lens.
pub trait GhostSurvey: GhostMeshes {
    /// All ghosts of a beam at a wavelength (m), in the order of `reflection_pairs`.
    fn survey(&self, tier: GhostMethod, beam: &Beam, wavelength: f64) -> Vec<Ghost> {
        let spot = |bounces| {
            self.adaptive_ghost_mesh(tier, bounces, beam, wavelength)
                .map_or_else(GhostSpot::default, |grid| grid.spot())
        };
        self.lens()
            .reflection_pairs()
            .map(|bounces| Ghost { bounces, spot: spot(bounces) })
            .collect()
    }
}

impl GhostSurvey for Lens {}
