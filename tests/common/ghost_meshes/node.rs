//! Rays of a ghost, and the window that they enter through.

use glam::DVec2;
use sunny16::optics::Iris;

/// A rectangle in the entrance plane (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntranceWindow {
    /// Minimum corner.
    pub min: DVec2,
    /// Maximum corner.
    pub max: DVec2,
}

impl EntranceWindow {
    pub(super) fn at(&self, part: DVec2) -> DVec2 {
        self.min + (self.max - self.min) * part
    }
}

/// A traced ray of a ghost mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GhostMeshNode {
    /// Position on the sensor (m).
    pub sensor_position: DVec2,
    /// Fraction of the ray's light that takes this path.
    pub weight: f64,
    /// Maximum distance from the axis relative to the clear radius: 1 is the rim.
    pub rim: f64,
    /// Positions in the stop (in radii of its corners).
    pub iris: [DVec2; 3],
    /// Number of stop crossings: one or three.
    pub crossings: usize,
}

impl GhostMeshNode {
    /// Maximum relative distance to rims and blades: beyond 1 the ray is blocked.
    #[must_use]
    pub fn worst(&self, iris: Iris) -> f64 {
        let blades = |q: &DVec2| q.length() / iris.edge(q.y.atan2(q.x));
        self.iris[..self.crossings].iter().map(blades).fold(self.rim, f64::max)
    }

    /// Interpolates between three nodes of the same path.
    pub(super) fn between(nodes: [&Self; 3], parts: [f64; 3]) -> Self {
        let sum =
            |f: fn(&Self) -> f64| nodes.iter().zip(parts).map(|(node, part)| f(node) * part).sum();
        let places = |f: &dyn Fn(&Self) -> DVec2| {
            nodes.iter().zip(parts).map(|(node, part)| f(node) * part).sum()
        };
        Self {
            sensor_position: places(&|node| node.sensor_position),
            weight: sum(|node| node.weight),
            rim: sum(|node| node.rim),
            iris: [0, 1, 2].map(|i| places(&|node| node.iris[i])),
            crossings: nodes[0].crossings,
        }
    }
}
