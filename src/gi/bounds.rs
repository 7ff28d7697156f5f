//! Bounds of a scene, into which suns and environments emit.

use glam::{DVec2, DVec3};

use crate::bvh::SceneBvh;

/// World-space bounds of a scene (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    low: DVec3,
    high: DVec3,
}

impl Extent {
    /// `None` for an empty scene and for bounds without size. Returns `before` while it still
    /// contains the scene and is less than a tenth too large. So an object that moves to and fro
    /// soon leaves the photons of suns and environments on the same paths in every frame.
    pub fn new(bvh: &SceneBvh, before: Option<Self>) -> Option<Self> {
        let (low, high) = bvh.bounds()?;
        let now = Self { low, high };
        let size = (high - low).max_element();
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let holds = |last: &Self| {
            last.low.cmple(low).all()
                && last.high.cmpge(high).all()
                && last.area() <= 1.1 * now.area()
        };
        Some(before.filter(holds).unwrap_or(now))
    }

    /// Surface area (m2).
    fn area(&self) -> f64 {
        let s = self.high - self.low;
        2.0 * (s.x * s.y + s.y * s.z + s.z * s.x)
    }

    pub fn middle(&self) -> DVec3 {
        self.low * 0.5 + self.high * 0.5
    }

    /// Bounds relative to the anchor, slightly enlarged so that surfaces in their faces are inside.
    pub fn relative_to(&self, anchor: DVec3) -> Bounds {
        let half = (self.high - self.low) * 0.5;
        Bounds { middle: self.middle() - anchor, half: half * 1.0001 + 1e-4 * half.max_element() }
    }
}

/// Bounds of a scene relative to the anchor, slightly enlarged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    middle: DVec3,
    half: DVec3,
}

impl Bounds {
    /// Areas (m2) of the faces across x, y and z.
    pub fn sides(&self) -> DVec3 {
        let s = self.half * 2.0;
        DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y)
    }

    /// Projected area (m2) along a unit direction.
    pub fn shadow(&self, direction: DVec3) -> f64 {
        self.sides().dot(direction.abs())
    }

    /// Entry point of parallel light along a direction, uniform over the projected area of the box.
    pub fn entry(&self, direction: DVec3, u: DVec2) -> DVec3 {
        let areas = self.sides() * direction.abs();
        let mut chosen = u.x * areas.element_sum();
        let mut axis = 0;
        while axis < 2 && chosen >= areas[axis] {
            chosen -= areas[axis];
            axis += 1;
        }
        let rest = (chosen / areas[axis].max(1e-300)).clamp(0.0, 1.0);
        let mut place = DVec3::ZERO;
        place[axis] = -direction[axis].signum();
        place[(axis + 1) % 3] = 2.0 * rest - 1.0;
        place[(axis + 2) % 3] = 2.0 * u.y - 1.0;
        self.middle + place * self.half
    }

    /// Radius (m) of the bounding sphere.
    pub fn radius(&self) -> f64 {
        self.half.length()
    }
}
