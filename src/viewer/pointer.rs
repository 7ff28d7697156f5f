//! The pointer in the picture, and the readings taken with it.

use glam::{DVec2, DVec3};

use crate::photometry::Lux;

/// A point on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Position (m, world).
    pub point: DVec3,
    /// Normal.
    pub normal: DVec3,
}

/// State of the pointer.
#[derive(Clone, Debug, Default)]
pub struct Pointer {
    /// Position in the picture, 0 to 1 right and down; none outside.
    pub image_position: Option<DVec2>,
    /// The surface there, if known.
    pub surface: Option<SurfacePoint>,
    /// The shadow's occluder, after the first click.
    pub occluder: Option<DVec3>,
    /// The last reading of incident light.
    pub incident: Option<IncidentReading>,
}

/// A reading of incident light.
#[derive(Clone, Debug, PartialEq)]
pub struct IncidentReading {
    /// Illuminance.
    pub lux: Lux,
    /// As text, with its position.
    pub text: String,
}
