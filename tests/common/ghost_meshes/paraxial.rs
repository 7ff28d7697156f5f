//! Rays of paraxial ghosts.

use glam::DVec2;
use sunny16::optics::ghosts::ParaxialGhost;

use super::{
    beam::Beam,
    node::{EntranceWindow, GhostMeshNode},
};

/// Light through a paraxial ghost.
pub trait ParaxialTracing {
    /// The ghost.
    fn ghost(&self) -> &ParaxialGhost;

    /// True if light crosses the iris only once: both reflections are on the same side of it.
    fn same_side(&self) -> bool {
        self.ghost().crossings.iter().filter(|crossing| crossing.stop).count() == 1
    }

    /// Rectangle at the first vertex outside of which no light of a beam passes all rims and the
    /// corners of the iris.
    fn window(&self, beam: &Beam) -> Option<EntranceWindow> {
        let u = beam.slope();
        let mut window = EntranceWindow { min: DVec2::NEG_INFINITY, max: DVec2::INFINITY };
        for crossing in &self.ghost().crossings {
            let middle = -crossing.slope * u;
            let (a, b) = (
                (middle - crossing.radius) / crossing.height,
                (middle + crossing.radius) / crossing.height,
            );
            // Light through a focus: all passes or none.
            let any = |value: DVec2, otherwise: f64| {
                value.map(|v| if v.is_nan() { otherwise } else { v })
            };
            window.min = window.min.max(any(a.min(b), f64::NEG_INFINITY));
            window.max = window.max.min(any(a.max(b), f64::INFINITY));
        }
        (window.min.cmplt(window.max).all() && window.min.is_finite() && window.max.is_finite())
            .then_some(window)
    }

    /// Traces light of a beam from a position (m, at the first vertex) to the sensor, rims and
    /// iris.
    fn node(&self, p: DVec2, beam: &Beam) -> GhostMeshNode {
        let u = beam.slope();
        let along = |axis: usize, p: f64, u: f64| self.ghost().matrices[axis].apply(p, u).0;
        let place = DVec2::new(along(0, p.x, u.x), along(1, p.y, u.y));
        let mut node = GhostMeshNode {
            sensor_position: place,
            weight: self.ghost().part,
            rim: 0.0,
            iris: [DVec2::ZERO; 3],
            crossings: 0,
        };
        for crossing in &self.ghost().crossings {
            let relative = (crossing.height * p + crossing.slope * u) / crossing.radius;
            if !crossing.stop {
                node.rim = node.rim.max(relative.length());
            } else if let Some(slot) = node.iris.get_mut(node.crossings) {
                *slot = relative;
                node.crossings += 1;
            }
        }
        node
    }
}

impl ParaxialTracing for ParaxialGhost {
    fn ghost(&self) -> &ParaxialGhost {
        self
    }
}
