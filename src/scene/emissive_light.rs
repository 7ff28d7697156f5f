//! Flat area lights that stand for emissive triangles.

use glam::{DVec3, Vec3};

use crate::photometry::color;

/// A flat area light that stands for emissive triangles, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmissiveLight {
    /// One corner (m).
    pub corner: DVec3,
    /// The two edges from the corner (m), counterclockwise seen from the front.
    pub sides: [DVec3; 2],
    /// A rectangle; else the triangle that is half of the parallelogram.
    pub rectangle: bool,
    /// Mean emitted luminance by channel (nits).
    pub luminance: Vec3,
    /// True if both faces emit.
    pub two_sided: bool,
    /// True if the mesh is alpha-blended.
    pub blended: bool,
}

impl EmissiveLight {
    /// Area (m2) of one face.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.sides[0].cross(self.sides[1]).length() * if self.rectangle { 1.0 } else { 0.5 }
    }

    /// World position (m) of the centroid.
    #[must_use]
    pub fn center(&self) -> DVec3 {
        self.corner + (self.sides[0] + self.sides[1]) / if self.rectangle { 2.0 } else { 3.0 }
    }

    /// Luminance times area, of one face (lm / pi).
    pub(super) fn strength(&self) -> f64 {
        color::luminance(self.luminance.as_dvec3()) * self.area()
    }
}
