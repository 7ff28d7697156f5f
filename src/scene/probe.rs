//! Places from which a scene's own light is captured, for reflections and diffuse light near them.

use glam::DVec3;

/// The most probes of a scene.
pub const MOST_PROBES: usize = 16;

/// A box whose surroundings are captured from one place and light what stands in the box
/// (docs/environment.md).
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The look's name for it.
    pub name: String,
    /// Middle of the box in the world (m).
    pub center: DVec3,
    /// Lengths of the box's sides along the world's axes (m), above 0.
    pub size: DVec3,
    /// Where it is captured (m), within the box.
    pub position: DVec3,
    /// How far inside of its faces (m) it has its full weight; 0 for a box that ends at walls.
    pub blend: f64,
    /// Pixels across each of the six pictures.
    pub resolution: u32,
    /// How often light was reflected, at most, before it is captured; at least 1.
    pub bounces: u32,
    /// Reflections are looked up where they meet the box, not infinitely far away.
    pub parallax: bool,
}
