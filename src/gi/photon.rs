//! Photons at emission.

use glam::DVec3;

/// A photon at emission, relative to the anchor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Photon {
    pub origin: DVec3,
    /// Unit direction.
    pub direction: DVec3,
    /// Unit normal of the surface that the photon leaves; zero in free space.
    pub offset_normal: DVec3,
    /// Flux relative to an even share of the source's flux, per channel; the mean is 1.
    pub weight: DVec3,
    /// Range (m) at which the light ends (glTF), measured from the origin.
    pub range: Option<f64>,
    /// Occluders are ignored: the light casts no shadows.
    pub unshadowed: bool,
}
