//! Reflection probes: boxes whose incident light is captured at one position, for reflections and
//! diffuse light inside.

use glam::DVec3;

/// Maximum number of probes of a scene.
pub const MAX_PROBES: usize = 16;

/// A reflection probe: incident light is captured at one position and lights surfaces in a box
/// (docs/environment.md).
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name from the look.
    pub name: String,
    /// Center of the box (m), world space.
    pub center: DVec3,
    /// Side lengths of the box along the world axes (m), above 0.
    pub size: DVec3,
    /// Capture position (m), world space, inside the box.
    pub position: DVec3,
    /// Distance inside the faces (m) at which the probe has full weight; 0 for a box that ends at
    /// walls.
    pub blend: f64,
    /// Resolution of each cube face in pixels.
    pub resolution: u32,
    /// Maximum number of bounces of the captured light, at least 1.
    pub bounces: u32,
    /// Parallax correction: reflections are looked up where they intersect the box, not at
    /// infinity.
    pub parallax: bool,
}
